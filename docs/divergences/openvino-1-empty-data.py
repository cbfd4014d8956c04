"""openvino-1: OpenVINOPad_1, mode reflect, bool, rank 3.

extensions of data without elements are refused, or get a wrong shape, though the output has no elements either [P5]

Needs numpy, openvino.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/OpenVINOPad_1/reflect/bool/3/mixed/empty/scalar/int16.int64/static/0 --peer openvino-1
Seen in openvino 2026.4.1.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino

data = np.zeros([3, 2, 0], np.bool_)
pads_begin = np.array([0, -1, 0], np.int16)
pads_end = np.array([0, 1, 0], np.int64)
pad_value = np.array(True, np.bool_)
expected = np.zeros([3, 2, 0], np.bool_)


def to_openvino(array: np.ndarray, element: str) -> Any:
    """A tensor with the bits of an array; 4-bit elements lie two to a byte, the first in the low bits."""
    import numpy as np
    import openvino

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


def from_openvino(tensor: Any, element: str, dtype: np.dtype) -> np.ndarray:
    """The reverse of ``to_openvino``.

    Args:
        tensor: A tensor.
        element: OpenVINO's name of its type.
        dtype: The type of the array: what ml_dtypes has for it, object for strings.
    """
    import numpy as np

    shape = list(tensor.shape)
    if element == "string":
        return np.asarray(tensor.str_data).astype(object).reshape(shape)
    raw = np.frombuffer(tensor.data.tobytes() if tensor.byte_size else b"", np.uint8)
    if element in ("i4", "u4", "f4e2m1"):
        raw = np.stack([raw & 15, raw >> 4], 1).reshape(-1)[: np.prod(shape, dtype=int)]
    return raw.view(dtype).reshape(shape)


def infer_with_openvino(core: Any, model: Any, tensors: Sequence[Any]) -> Any:
    """The first output of a model on the CPU device.

    Args:
        core: An ``openvino.Core``.
        model: An ``openvino.Model``.
        tensors: Its inputs, in its order.
    """
    request = core.compile_model(model, "CPU").create_infer_request()
    request.infer(tensors)
    return request.get_output_tensor(0)


def openvino_pad_model(
    tensors: Sequence[Any], mode: str, version: int, constants: Collection[int] = (), static: bool = True
) -> tuple[Any, list[Any]]:
    """OpenVINO's Pad in a model, and the tensors that the model is fed with.

    Args:
        tensors: The inputs of Pad, as OpenVINO's tensors.
        mode: The mode.
        version: 1 or 12.
        constants: Positions of the inputs that are constants.
        static: Whether the shape of the data is declared.
    """
    import openvino
    from openvino import opset1, opset12

    nodes, parameters, fed = [], [], []
    for i, tensor in enumerate(tensors):
        if i in constants:
            nodes.append(openvino.op.Constant(tensor))
            continue
        shape = list(tensor.shape) if i or static else [-1] * len(tensor.shape)
        parameters.append(opset12.parameter(openvino.PartialShape(shape), tensor.element_type))
        nodes.append(parameters[-1])
        fed.append(tensor)
    node = (opset1 if version == 1 else opset12).pad(*nodes[:3], mode, *nodes[3:])
    return openvino.Model([node], parameters, "pad"), fed


core = openvino.Core()
core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})


def run():
    tensors = [to_openvino(data, "boolean"), to_openvino(pads_begin, "i16"), to_openvino(pads_end, "i64"), to_openvino(pad_value, "boolean")]
    model, fed = openvino_pad_model(tensors, "reflect", 1, constants=[], static=True)
    tensor = infer_with_openvino(core, model, fed)
    return from_openvino(tensor, "boolean", data.dtype)


REFUSALS = (RuntimeError,)  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype, array.shape, raw.tobytes()


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
sys.exit(not same)
