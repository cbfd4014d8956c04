"""OpenVINO's Pad-1 and Pad-12 on its CPU device."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from padops.conformance.peers.request import Request, Unsupported
from padops.deferred import import_openvino
from padops.spec.dtypes import dtype_of

import_openvino()  # after this call, the next line imports OpenVINO without its telemetry
import openvino  # noqa: E402

if not hasattr(openvino, "opset1"):  # before OpenVINO 2025, another module had the opsets
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
HALVES = ("i4", "u4", "f4e2m1")
UNSUPPORTED = ("Unsupported padding mode", "Only CONSTANT pad mode is supported for element::string", "Unknown type")


@cache
def core() -> Any:
    """Return the runtime with one thread; OpenVINO then reports fewer errors than with the default threads."""
    made = openvino.Core()
    made.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return made


def pad_model(
    tensors: Sequence[Any], mode: str, version: int, constants: Collection[int] = (), static: bool = True
) -> tuple[Any, list[Any]]:
    """Return a model of Pad 1 or 12, and the tensors to feed; with ``static``, the model declares the data's shape."""
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
    """Return the first output of a model on the CPU device; ``tensors`` are in the order of the model's inputs."""
    request = core().compile_model(model, "CPU").create_infer_request()
    request.infer(tensors)
    tensor = request.get_output_tensor(0)
    shape = list(tensor.shape)
    if element == "string":
        return np.asarray(tensor.str_data).astype(object).reshape(shape)
    if tensor.element_type != getattr(openvino.Type, element):
        raise TypeError(f"an output of {tensor.element_type}")
    raw = np.frombuffer(tensor.data.tobytes() if tensor.byte_size else b"", np.uint8)
    if element in HALVES:
        raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[: np.prod(shape, dtype=int)]
    return raw.view(dtype).reshape(shape)


def tensor_of(array: np.ndarray, element: str) -> Any:
    """Make a tensor with the bits of an array; a byte holds two 4-bit elements, the first in the low bits."""
    if element == "string":
        return openvino.Tensor(array.astype(str))
    tensor = openvino.Tensor(getattr(openvino.Type, element), openvino.Shape(array.shape))
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if element in HALVES:
        raw = np.append(raw & 15, np.zeros(raw.size % 2, np.uint8))
        raw = raw[::2] | raw[1::2] << 4
    if raw.size:
        tensor.data.reshape(-1).view(np.uint8)[:] = raw
    return tensor


def element_of(array: np.ndarray) -> str:
    """Return OpenVINO's name of an array's type."""
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
    """Return the output of OpenVINO's own operator; ``elements`` has OpenVINO's names of the types of ``inputs``."""
    tensors = [tensor_of(array, element) for array, element in zip(inputs, elements)]
    model, fed = pad_model(tensors, mode, version, constants, static)
    return infer(model, fed, elements[0], inputs[0].dtype)


def arguments(request: Request) -> tuple[list[np.ndarray], list[str], str, int, tuple[int, ...], bool]:
    """Return the arguments of ``pad``; the constant inputs are those of the case."""
    name, version = request.op.split("_")
    if name != "OpenVINOPad":
        raise Unsupported(f"OpenVINO has no operator like {request.op}")
    inputs = [array for array in request.inputs if array is not None]
    mode, elements = request.attributes["pad_mode"], [element_of(array) for array in inputs]
    return inputs, elements, mode, int(version), request.constant_inputs, request.static
