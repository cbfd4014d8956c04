"""ort-openvino: Pad_2 of opset 7, mode reflect, float16, rank 3.

NaNs of float16 become quiet [P7]

Needs numpy, onnx, onnxruntime-openvino.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_2/reflect/float16/3/end/plain/value/absent.flat/held/2 --peer ort-openvino
Seen in onnxruntime-openvino 1.24.1.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states

data = np.frombuffer(bytes.fromhex("f1305cde39e34b3e68788b7c3dacbc21e02405440bd2608190099ca1b305dc2334e9b4e96e017ded0dee07f6a61388fb"), np.float16).reshape([4, 2, 3])
expected = np.frombuffer(bytes.fromhex("f1305cde39e35cdef1304b3e68788b7c68784b3e3dacbc21e024bc213dac05440bd260810bd2054490099ca1b3059ca19009dc2334e9b4e934e9dc236e017ded0dee7ded6e0107f6a61388fba61307f6"), np.float16).reshape([4, 2, 5])


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
    ["data"],
    {"mode": "reflect", "pads": [0, 0, 0, 0, 0, 2], "value": -0.0},
    inputs={"data": (10, [4, 2, 3])},  # element type and shape
    output=(10, None),
    opsets={"": 7},
    ir_version=8,
    constants=[],
)
model = behind_identity(model)


def run():
    providers = ["OpenVINOExecutionProvider", "CPUExecutionProvider"]
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=providers, disabled_optimizers={"EliminateIdentity"})
    return session.run(None, {"data": data})[0]


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
