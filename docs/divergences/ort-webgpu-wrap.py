"""ort-webgpu: Pad_23 of opset 23, mode wrap, int32, rank 2.

beyond n, and behind a crop, other elements are taken [P2]

Needs numpy, onnx, onnxruntime-webgpu.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_23/wrap/int32/2/mixed/one/vector/absent.flat/static/0 --peer ort-webgpu
Seen in onnxruntime-webgpu 1.27.0.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as states

data = np.array([[-538554800], [418926308], [-1682083595], [682739246]], np.int32)
pads = np.array([-3, 0, 1, 0], np.int64)
constant_value = np.array([544834665], np.int32)
expected = np.array([[682739246], [682739246]], np.int32)


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
    ["data", "pads", "constant_value"],
    {"mode": "wrap"},
    inputs={"data": (6, [4, 1]), "pads": (7, [4]), "constant_value": (6, [1])},  # element type and shape
    output=(6, None),
    opsets={"": 23},
    ir_version=11,
    constants=[],
)


def run():
    providers = ["WebGpuExecutionProvider", "CPUExecutionProvider"]
    content = model.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=providers, disabled_optimizers={"EliminateIdentity"})
    return session.run(None, {"data": data, "pads": pads, "constant_value": constant_value})[0]


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
