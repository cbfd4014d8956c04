"""ort-qnn: Pad_2 of opset 10, mode reflect, float, rank 0.

a reflection of rank 0 ends the process when onnxruntime asks the provider whether it takes it [P5]

Needs numpy, onnx, onnxruntime-qnn.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_2/reflect/float/0/both/plain/value/absent.flat/dynamic/0 --peer ort-qnn
Seen in onnxruntime-qnn 2.7.0, onnxruntime 1.32.0.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import onnxruntime_qnn
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states

data = np.array(7.6613865e+31, np.float32)
expected = np.array(7.6613865e+31, np.float32)


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


model = one_node_model(
    "Pad",
    ["data"],
    {"mode": "reflect", "pads": [], "value": 0.1},
    inputs={"data": (1, [])},  # element type and shape
    output=(1, None),
    opsets={"": 10},
    ir_version=8,
    constants=[],
)


def run():
    onnxruntime.register_execution_provider_library("QNNExecutionProvider", onnxruntime_qnn.get_library_path())
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == "QNNExecutionProvider"]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices, {"backend_path": onnxruntime_qnn.get_qnn_htp_path()})
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
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
