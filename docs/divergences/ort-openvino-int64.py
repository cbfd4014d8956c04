"""ort-openvino: Pad_11 of opset 12, mode constant, int64, rank 5.

int64 is computed in 32 bits [P7]

Needs numpy, onnx, onnxruntime-openvino.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_11/constant/int64/5/end/plain/none/absent.flat/static/0 --peer ort-openvino
Seen in onnxruntime-openvino 1.24.1.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states

data = np.array([[[[[-3223740853566044764, 56021743864823665], [-5481282341943789936, 8473143633950196462]], [[-7717831567684833769, 6133603173103203851], [-4313263236070699980, 8316209210689703118]]], [[[1989403421274881183, 7644172017649651607], [2483062791344044100, -5567481319968294263]], [[-2962536126448886395, 2840328492394027363], [-6541254094387176191, 4452280689021025956]]]], [[[[-893959034455436034, 9171717274201038321], [-6015763417968441973, 4377107569056991508]], [[-4070617689163595482, -2117472145543658537], [-7252902242738550156, -5629851644714407563]]], [[[2196780819132006636, -6615218628640762353], [-1088352444095069988, 7559775490237855781]], [[4228212810080858557, -3755155172386191681], [6474288987238908668, 3500419489077412687]]]]], np.int64)
pads = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1], np.int64)
expected = np.array([[[[[-3223740853566044764, 56021743864823665, 0], [-5481282341943789936, 8473143633950196462, 0], [0, 0, 0]], [[-7717831567684833769, 6133603173103203851, 0], [-4313263236070699980, 8316209210689703118, 0], [0, 0, 0]]], [[[1989403421274881183, 7644172017649651607, 0], [2483062791344044100, -5567481319968294263, 0], [0, 0, 0]], [[-2962536126448886395, 2840328492394027363, 0], [-6541254094387176191, 4452280689021025956, 0], [0, 0, 0]]]], [[[[-893959034455436034, 9171717274201038321, 0], [-6015763417968441973, 4377107569056991508, 0], [0, 0, 0]], [[-4070617689163595482, -2117472145543658537, 0], [-7252902242738550156, -5629851644714407563, 0], [0, 0, 0]]], [[[2196780819132006636, -6615218628640762353, 0], [-1088352444095069988, 7559775490237855781, 0], [0, 0, 0]], [[4228212810080858557, -3755155172386191681, 0], [6474288987238908668, 3500419489077412687, 0], [0, 0, 0]]]]], np.int64)


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
    """A model of one node; its output is called ``output``.

    Args:
        op_type: The operator.
        names: The node's inputs, empty where one is absent.
        attributes: The node's.
        inputs: Element type and shape of each input of the model; None for a shape that is not declared.
        output: The same of the output.
        opsets: The version of each domain.
        ir_version: The format of the model.
        constants: The inputs of the node that the model holds itself.
        domain: The operator's.
        name: The node's.
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


def behind_identity(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model of one node with an Identity before it, for providers that take no node that stands alone.

    Args:
        model: What ``one_node_model`` has made; it is changed.

    Returns:
        The model itself.
    """
    from onnx import helper

    (node,) = model.graph.node
    before = helper.make_node("Identity", [node.input[0]], ["before"], name="before")
    node.input[0] = "before"
    model.graph.node.insert(0, before)
    return model


model = one_node_model(
    "Pad",
    ["data", "pads"],
    {},
    inputs={"data": (7, [2, 2, 2, 2, 2]), "pads": (7, [10])},  # element type and shape
    output=(7, None),
    opsets={"": 12},
    ir_version=8,
    constants=[],
)
model = behind_identity(model)


def run():
    providers = ["OpenVINOExecutionProvider", "CPUExecutionProvider"]
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=providers, disabled_optimizers={"EliminateIdentity"})
    return session.run(None, {"data": data, "pads": pads})[0]


REFUSALS = (states.Fail, states.InvalidArgument, states.InvalidGraph, states.RuntimeException, states.EPFail)  # the errors that say that a case is wrong


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
