"""opencv: Pad_2 of opset 8, mode reflect, float, rank 3.

data without elements are refused, give an output of another shape, or run without an end [P5]

Needs numpy, onnx, opencv-python-headless.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro random/Pad_2/0/48 --peer opencv
Seen in opencv-python-headless 5.0.0.93.
"""

from __future__ import annotations

import sys

import numpy as np
import cv2
from onnx import numpy_helper

data = np.zeros([2, 0, 4], np.float32)
expected = np.zeros([3, 0, 23], np.float32)


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


def pad(model: onnx.ModelProto, fed: Mapping[str, np.ndarray]) -> np.ndarray:
    """The output of a model of ONNX, fed by name."""
    content = np.frombuffer(model.SerializeToString(), np.uint8)
    net = cv2.dnn.readNetFromONNX(content, cv2.dnn.ENGINE_NEW)
    for name, array in fed.items():
        net.setInput(array, name)
    return np.asarray(net.forward())


model = one_node_model(
    "Pad",
    ["data"],
    {"mode": "reflect", "pads": [-5, -7, 12, 6, 7, 7], "value": 0.057995252311229706},
    inputs={"data": (1, [2, 0, 4])},  # element type and shape
    output=(1, ["d0", "d1", "d2"]),
    opsets={"": 8},
    ir_version=8,
    constants=[],
)


def run():
    return pad(model, {"data": data})


REFUSALS = (cv2.error,)  # the errors that say that a case is wrong


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
