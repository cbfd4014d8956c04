"""opencv: Pad_23 of opset 23, mode constant, uint16, rank 5.

a fill of int8 or uint16 that is an input of the model is read as uint8 [P7]

Needs numpy, onnx, opencv-python-headless.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_23/constant/uint16/5/mixed/plain/vector/absent.flat/dynamic/2 --peer opencv
Seen in opencv-python-headless 5.0.0.93.
"""

from __future__ import annotations

import sys

import numpy as np
import cv2
from onnx import numpy_helper

data = np.array([[[[[38408, 46681], [56328, 24224]], [[19150, 47972], [65387, 11000]]], [[[33494, 17505], [18815, 14283]], [[64177, 20495], [51784, 1244]]], [[[21963, 44676], [53157, 34187]], [[10508, 1091], [8628, 32555]]]], [[[[39833, 15709], [19045, 53429]], [[63547, 65064], [52937, 27380]]], [[[61214, 61863], [2844, 8921]], [[21300, 12334], [64351, 18528]]], [[[47418, 17083], [51090, 39398]], [[63637, 18988], [22897, 42368]]]]], np.uint16)
pads = np.array([0, 0, -1, 1, 0, 0, 0, 1, -1, 0], np.int64)
constant_value = np.array([64253], np.uint16)
expected = np.array([[[[[64253, 64253], [19150, 47972]], [[64253, 64253], [64253, 64253]]], [[[64253, 64253], [64177, 20495]], [[64253, 64253], [64253, 64253]]], [[[64253, 64253], [10508, 1091]], [[64253, 64253], [64253, 64253]]]], [[[[64253, 64253], [63547, 65064]], [[64253, 64253], [64253, 64253]]], [[[64253, 64253], [21300, 12334]], [[64253, 64253], [64253, 64253]]], [[[64253, 64253], [63637, 18988]], [[64253, 64253], [64253, 64253]]]]], np.uint16)


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
    ["data", "pads", "constant_value"],
    {},
    inputs={"data": (4, [2, 3, 2, 2, 2]), "pads": (7, [10]), "constant_value": (4, [1])},  # element type and shape
    output=(4, ["d0", "d1", "d2", "d3", "d4"]),
    opsets={"": 23},
    ir_version=11,
    constants=[],
)


def run():
    return pad(model, {"data": data, "pads": pads, "constant_value": constant_value})


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
