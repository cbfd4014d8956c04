"""openvino-onnx: Pad_1 of opset 1, mode constant, float, rank 1.

a negative zero loses its sign, and the fill is 0 where only some of amounts and fill are constants [P7]

Needs numpy, onnx, openvino.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_1/constant/float/1/far/plain/value/absent.flat/fixed/1 --peer openvino-onnx
Seen in openvino 2026.4.1.
"""

from __future__ import annotations

import sys

import numpy as np
import openvino
from functools import cache
from onnx import numpy_helper

data = np.array([2.0035843e-07, -2.6475351e-21], np.float32)
expected = np.array([-0.0, -0.0, 2.0035843e-07, -2.6475351e-21, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0], np.float32)


def one_node_model(
    op_type: str,
    names: Sequence[str],
    attributes: Mapping[str, Any],
    inputs: Mapping[str, tuple[int, Sequence[int | str] | None]],
    output: tuple[int, Sequence[int | str] | None],
    opsets: Mapping[str, int],
    ir_version: int,
    constants: Sequence[onnx.TensorProto] = (),
    domain: str = "",
    name: str = "pad",
) -> onnx.ModelProto:
    """A model of one node, whose output is called ``output``.

    ``inputs`` and ``output`` have an element type and a shape each, None for one that is not declared. ``constants``
    are the inputs of the node that the model holds itself; an absent input has an empty name.
    """
    import onnx
    from onnx import helper

    node = helper.make_node(op_type, names, ["output"], name=name, domain=domain)
    for key, value in attributes.items():
        kind = onnx.AttributeProto.INTS if isinstance(value, (list, tuple)) and not value else None
        node.attribute.append(helper.make_attribute(key, value, attr_type=kind))
    infos = [helper.make_tensor_value_info(key, *declared) for key, declared in inputs.items()]
    given = helper.make_tensor_value_info("output", *output)
    graph = helper.make_graph([node], "case", infos, [given], constants)
    imports = [helper.make_opsetid(*row) for row in opsets.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version)


@cache
def core() -> Any:
    """The runtime. With a thread of its own the plugin reports errors that are lost with one."""
    made = openvino.Core()
    made.set_property("CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    return made


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


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray], elements: Mapping[str, str]) -> np.ndarray:
    """The output of a model of ONNX, fed by name, the data first; ``elements`` are OpenVINO's names of the types."""
    read = core().read_model(model.SerializeToString())
    names = [port.get_any_name() for port in read.inputs]
    first = next(iter(fed))
    return infer(read, [tensor_of(fed[name], elements[name]) for name in names], elements[first], fed[first].dtype)


model = one_node_model(
    "Pad",
    ["data"],
    {"paddings": [2, 6], "value": -0.0},
    inputs={"data": (1, [2])},  # element type and shape
    output=(1, None),
    opsets={"": 1},
    ir_version=8,
    constants=[],
)


def run():
    return pad(model, {"data": data}, {"data": "f32"})


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
