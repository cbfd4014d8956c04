"""tract: Pad_2 of opset 7, mode reflect, double, rank 2.

a reflection longer than n - 1 gives zeros, or ends the process [P4]

Needs numpy, onnx, tract.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro random/Pad_2/0/23 --peer tract
Seen in tract 0.23.9.
"""

from __future__ import annotations

import sys

import numpy as np
import tempfile
from pathlib import Path

import tract
from onnx import numpy_helper

data = np.array([[1.2736399335325726e+99, -2.3962193925155214e+220], [-2.5016032507825383e-55, -1.9551493621237345e-249], [1.6800995375224447e-128, -1.601509952004907e+255], [-9.259634281343958e-265, -1.3606999469951247e-112]], np.float64)
expected = np.array([[1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255], [-2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249], [1.2736399335325726e+99, -2.3962193925155214e+220, 1.2736399335325726e+99, -2.3962193925155214e+220, 1.2736399335325726e+99, -2.3962193925155214e+220], [-2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249], [1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255], [-9.259634281343958e-265, -1.3606999469951247e-112, -9.259634281343958e-265, -1.3606999469951247e-112, -9.259634281343958e-265, -1.3606999469951247e-112], [1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255, 1.6800995375224447e-128, -1.601509952004907e+255], [-2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249, -2.5016032507825383e-55, -1.9551493621237345e-249]], np.float64)


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
    {"mode": "reflect", "pads": [2, 2, 2, 2]},
    inputs={"data": (11, [4, 2])},  # element type and shape
    output=(11, ["d0", "d1"]),
    opsets={"": 7},
    ir_version=8,
    constants=[],
)


def run():
    path = Path(tempfile.mkdtemp(), "case.onnx")
    path.write_bytes(model.SerializeToString())
    runnable = tract.onnx().load(path).into_model().into_runnable()
    return np.asarray(runnable.run(list({"data": data}.values()))[0].to_numpy())


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
    sys.exit(expected is not None)
print(f"got: {got.dtype}{list(got.shape)}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
sys.exit(not same)
