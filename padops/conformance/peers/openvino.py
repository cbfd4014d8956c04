"""OpenVINO's Pad-1 and Pad-12 on its CPU device."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from padops.conformance.divergences import Divergence
from padops.conformance.peers.request import Request, Unsupported
from padops.deferred import import_openvino
from padops.spec.bits import dtype_of

import_openvino()  # the next line finds it without its telemetry
import openvino  # noqa: E402

if not hasattr(openvino, "opset1"):  # before 2025 these were elsewhere
    runtime = import_module("openvino.runtime")
    openvino.op, openvino.opset1, openvino.opset12 = runtime.op, runtime.opset1, runtime.opset12

PACKAGES = ("openvino",)
REFUSALS = (RuntimeError,)

# fmt: off
ELEMENTS = {  # by ONNX's names
    "bool": "boolean", "bfloat16": "bf16", "float16": "f16", "float": "f32", "double": "f64",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "float8e4m3fn": "f8e4m3", "float8e5m2": "f8e5m2", "float8e8m0": "f8e8m0", "float4e2m1": "f4e2m1",
    "int4": "i4", "uint4": "u4", "string": "string",
}
# fmt: on
UNSUPPORTED = ("Unsupported padding mode", "Only CONSTANT pad mode is supported for element::string", "Unknown type")


@cache
def core() -> Any:
    """The runtime. With a thread of its own the plugin reports errors that are lost with one."""
    made = openvino.Core()
    made.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return made


def pad_model(
    tensors: Sequence[Any], mode: str, version: int, constants: Collection[int] = (), static: bool = True
) -> tuple[Any, list[Any]]:
    """A model of OpenVINO's Pad 1 or 12, and the tensors to feed it with.

    ``tensors`` are the inputs of the Pad; those at the positions ``constants`` are constants. ``static``: the model
    declares the shape of the data.
    """
    nodes, parameters, fed = [], [], []
    for i, tensor in enumerate(tensors):
        if i in constants:
            nodes.append(openvino.op.Constant(tensor))
            continue
        shape = list(tensor.shape) if i or static else [-1] * len(tensor.shape)
        parameters.append(openvino.opset12.parameter(openvino.PartialShape(shape), tensor.element_type))
        nodes.append(parameters[-1])
        fed.append(tensor)
    node = (openvino.opset1 if version == 1 else openvino.opset12).pad(*nodes[:3], mode, *nodes[3:])
    return openvino.Model([node], parameters, "pad"), fed


def infer(model: Any, tensors: Sequence[Any], element: str, dtype: np.dtype) -> np.ndarray:
    """The first output of an ``openvino.Model`` on the CPU device, fed in the order of its inputs.

    ``element`` is OpenVINO's name of the output's type, ``dtype`` that of the array: of ml_dtypes, or object for
    strings.

    Raises:
        TypeError: The output is of another type.
    """
    request = core().compile_model(model, "CPU").create_infer_request()
    request.infer(tensors)
    tensor = request.get_output_tensor(0)
    shape = list(tensor.shape)
    if element == "string":
        return np.asarray(tensor.str_data).astype(object).reshape(shape)
    if tensor.element_type != getattr(openvino.Type, element):
        raise TypeError(f"an output of {tensor.element_type}")
    raw = np.frombuffer(tensor.data.tobytes() if tensor.byte_size else b"", np.uint8)
    if element in ("i4", "u4", "f4e2m1"):
        raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[: np.prod(shape, dtype=int)]
    return raw.view(dtype).reshape(shape)


def tensor_of(array: np.ndarray, element: str) -> Any:
    """A tensor with the bits of an array; 4-bit elements lie two to a byte, the first in the low bits."""
    if element == "string":
        return openvino.Tensor(array.astype(str))
    tensor = openvino.Tensor(getattr(openvino.Type, element), openvino.Shape(array.shape))
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if element in ("i4", "u4", "f4e2m1"):
        raw = np.append(raw & 15, np.zeros(raw.size % 2, np.uint8))
        raw = raw[::2] | raw[1::2] << 4
    if raw.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = raw
    return tensor


def element_of(array: np.ndarray) -> str:
    """OpenVINO's name of an array's type.

    Raises:
        Unsupported: It has none.
    """
    name = dtype_of(array).name
    if name not in ELEMENTS:
        raise Unsupported(f"OpenVINO has no {name}")
    return ELEMENTS[name]


def pad(
    inputs: Sequence[np.ndarray],
    elements: Sequence[str],
    mode: str,
    version: int,
    constants: Collection[int],
    static: bool,
) -> np.ndarray:
    """The output of OpenVINO's own operator for the inputs, of these types; the rest is as of ``pad_model``."""
    tensors = [tensor_of(array, element) for array, element in zip(inputs, elements)]
    model, fed = pad_model(tensors, mode, version, constants, static)
    return infer(model, fed, elements[0], inputs[0].dtype)


def arguments(request: Request) -> tuple[list[np.ndarray], list[str], str, int, tuple[int, ...], bool]:
    """Those of ``pad``; what a model holds as constants is constant here too.

    Raises:
        Unsupported: OpenVINO has no such operator or type.
    """
    name, version = request.op.split("_")
    if name != "OpenVINOPad":
        raise Unsupported(f"OpenVINO has no operator like {request.op}")
    inputs = [array for array in request.inputs if array is not None]
    mode, elements = request.attributes["pad_mode"], [element_of(array) for array in inputs]
    return inputs, elements, mode, int(version), request.constant_inputs, request.static


RECORDED = ">=2026.4.1,<=2026.4.1"
EXTENDS = ("edge", "reflect", "symmetric", "wrap")
_SMALL = ("float16", "bfloat16", "float8e4m3fn", "float8e5m2", "float8e8m0", "float4e2m1")


def cpu_device(peer: str) -> tuple[Divergence, ...]:
    """What the operators have in common, and ONNX's by way of the frontend."""
    row = partial(Divergence, peer=peer, versions=RECORDED)
    return (
        row(f"{peer}-rank-0", ("differ", "error", "crash"), "P5",
            "a tensor of rank 0 is refused where the amounts are constant, and comes out as garbage elsewhere",
            expected="output", tags={"rank-0"}),
        row(f"{peer}-overcropped", ("crash", "differ", "error"), "P3",
            "a crop longer than its axis reads and writes beyond the data: a crash, garbage or a wrong shape",
            tags={"overcropped"}),
        row(f"{peer}-narrow", "differ", "P7",
            "the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as float and int32",
            dtypes=("double", "int64", "uint64", "uint32"), expected="output"),
        row(f"{peer}-int32-fill", "differ", "P7", "the fill goes through float, which has 24 bits of an int32",
            modes=("constant",), dtypes=("int32",), expected="output", tags={"fill", "grows"}),
        row(f"{peer}-small-floats", "differ", "P7",
            "elements are converted on the way, so that NaNs and negative zeros may lose their bits", dtypes=_SMALL,
            expected="output"),
        row(f"{peer}-empty", ("differ", "crash"), "P5",
            "extending an axis without elements gives elements from nowhere instead of an error", modes=EXTENDS,
            expected="error", rules=("P5",), tags={"empty-axis-padded"}),
        row(f"{peer}-empty-data", ("differ", "error"), "P5",
            "extensions of data without elements are refused, or get a wrong shape, though the output has no elements "
            "either", modes=EXTENDS, expected="output", tags={"empty-data", "empty-output"}),
        row(f"{peer}-huge", ("differ", "crash"), "P10", "amounts beyond 32 bits wrap around", expected="error",
            tags={"huge"}),
        row(f"{peer}-negative-output", ("differ", "error", "crash"), "P1",
            "a negative output dim is neither clamped, as the Pad-12 text says, nor refused", tags={"negative-output"}),
    )  # fmt: skip


def _own(peer: str) -> tuple[Divergence, ...]:
    """What is about the operators of OpenVINO alone."""
    row = partial(Divergence, peer=peer, versions=RECORDED)
    return (
        row(f"{peer}-limits", ("differ", "crash"), "P4",
            "limits are checked at compile time only, where the shape and the amounts are constants",
            modes=("reflect", "symmetric"), expected="error", rules=("P4",)),
        row(f"{peer}-fill-shape", "error", "P7", "a fill of shape [1] is refused", modes=("constant",),
            expected="output", tags={"fill-not-scalar"}, says="Argument for padding value is not a scalar"),
        row(f"{peer}-mode-case", "differ", "P9", "modes are taken in any case of letters", modes=("constant",),
            expected="error", tags={"mode-unknown"}),
    )  # fmt: skip


KNOWN = (
    *cpu_device("openvino-1"),
    *_own("openvino-1"),
    *cpu_device("openvino-12"),
    *_own("openvino-12"),
    Divergence("openvino-12-empty-fill", "crash", "P7",
               "a fill without elements crashes the process, even if it is not used; a constant one of float type "
               "does not", "openvino-12", RECORDED, tags={"fill-empty"}),
)  # fmt: skip
