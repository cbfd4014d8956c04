"""Small ONNX models for the converter's tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser
from same_models import graphs

import padops
from padops.convert import Conversion

FLOAT, DOUBLE, HALF, BOOL, STRING = 1, 11, 10, 9, 8
UINT8, INT8, INT16, INT32, INT64, COMPLEX64 = 2, 3, 5, 6, 7, 14


Value = tuple[str, int, Sequence[int | str | None] | None]
Values = Sequence[Value]
X: Value = ("x", FLOAT, [2, 3])
Y: Value = ("y", FLOAT, None)


def convert(source: Any, output: Any = None, **options: Any) -> Conversion:
    """``padops.convert`` without fallback functions and folding, which have tests of their own."""
    return padops.convert(source, output, **{"fallback": False, "fold": False} | options)


def info(value: Value) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(*value)


def tensor(name: str, values: Any, dtype: Any = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def pad(inputs: Sequence[str] = ("x", "pads"), output: str = "y", **attributes: Any) -> onnx.NodeProto:
    return helper.make_node("Pad", list(inputs), [output], **attributes)


def graph(
    nodes: Sequence, inputs: Values = (X,), outputs: Values = (Y,), tensors: Sequence = (), name: str = "g"
) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), name, [*map(info, inputs)], [*map(info, outputs)], list(tensors))


def model(
    nodes: Any, opset: int | None = 17, *, ir_version: int = 8, functions: Any = (), imports: Any = (), **parts: Any
) -> onnx.ModelProto:
    """A model of these nodes, unchecked: many of the tests are about models that are wrong."""
    body = nodes if isinstance(nodes, onnx.GraphProto) else graph(nodes, **parts)
    default = [] if opset is None else [("", opset)]
    opsets = [helper.make_opsetid(*row) for row in (*default, *imports)]
    return helper.make_model(body, opset_imports=opsets, ir_version=ir_version, functions=list(functions))


def one_pad(opset: int = 17, **parts: Any) -> onnx.ModelProto:
    """A model of one constant Pad of amounts 1, 0, 2, 0, as its opset has it."""
    pads = [1, 0, 2, 0]
    if opset < 11:
        attribute = {"paddings" if opset == 1 else "pads": pads}
        return model([pad(["x"], name="p", **attribute)], opset, ir_version=3, **parts)
    return model([pad(name="p")], opset, tensors=[tensor("pads", pads)], **parts)


def parsed(graph: str, opset: int = 17, ir_version: int = 9) -> onnx.ModelProto:
    """A model from the text of its graph; FUNCTION begins each of its functions, which are of the domain d."""
    imports = f'opset_import: ["": {opset}, "com.microsoft": 1, "padops": 1, "tf": 1, "d": 1]'
    text = graph.replace("FUNCTION", f'<domain: "d", {imports}>')
    return parser.parse_model(f"<ir_version: {ir_version}, {imports}> g {text}")


def external(name: str, location: str, count: int, offset: int = 0, **entries: str) -> onnx.TensorProto:
    """A tensor of ``count`` float elements in a file of its own."""
    made = TensorProto(name=name, data_type=FLOAT, dims=[count], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "offset": offset, "length": 4 * count, **entries}.items():
        made.external_data.add(key=key, value=str(value))
    return made


def same_but_for_the_pads(original: onnx.ModelProto, converted: onnx.ModelProto) -> bool:
    """Whether renaming the operators of padops back gives every byte of the original."""
    undone = onnx.ModelProto.FromString(converted.SerializeToString())
    for node in (node for graph in graphs(undone) for node in graph.node if node.domain == "padops"):
        node.op_type = "Pad"
        node.ClearField("domain")
    for part in (undone, *undone.functions):
        kept = [row for row in part.opset_import if row.domain != "padops"]
        del part.opset_import[:]
        part.opset_import.extend(kept)
    return undone.SerializeToString(deterministic=True) == original.SerializeToString(deterministic=True)
