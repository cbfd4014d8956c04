"""openvino-1: OpenVINOPad_1, mode edge, int64, rank 1.

the CPU device has no kernels for double, int64, uint64 and uint32, and computes them as float and int32 [P7]

Needs numpy, openvino.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro random/OpenVINOPad_1/0/37 --peer openvino-1
Seen in openvino 2026.4.1.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from functools import cache

data = np.array([-6251829407703439494], np.int64)
pads_begin = np.array([-1], np.int32)
pads_end = np.array([1], np.uint32)
expected = np.array([-6251829407703439494], np.int64)


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


def run():
    return pad([data, pads_begin, pads_end], ["i64", "i32", "u32"], "edge", 1, (1,), False)


REFUSALS = (RuntimeError,)  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype, array.shape, raw.tobytes().hex()


print("expected:", "an error" if expected is None else f"{expected.dtype}{list(expected.shape)}")
if expected is not None:
    print(expected)
sys.stdout.flush()
try:
    got = run()
except Exception as error:
    print(f"got an error: {type(error).__name__}: {error}")
    sys.exit(expected is not None or not isinstance(error, REFUSALS))
print(f"got: {got.dtype}{list(got.shape)}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
if not same and str(got) == str(expected):  # NaNs of different bits print alike
    print("expected bits:", bits(expected)[-1])
    print("got bits:     ", bits(got)[-1])
sys.exit(not same)
