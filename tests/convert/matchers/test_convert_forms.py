"""Which operator each form of a Pad becomes; every row of a table is one form that exporters write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from small_models import (
    BOOL,
    COMPLEX64,
    DOUBLE,
    FLOAT,
    HALF,
    INT8,
    INT32,
    INT64,
    STRING,
    UINT8,
    convert,
    model,
    pad,
    tensor,
)

import padops
from padops.convert import PadRecord
from padops.convert.model.graphs import LARGEST_CONSTANT
from padops.spec.dialects import OPS


def convert_one(source: onnx.ModelProto) -> tuple[PadRecord, onnx.NodeProto, onnx.GraphProto]:
    """The record of a model's only Pad, the node that it became, and the graph that it is in."""
    conversion = convert(source)
    (record,) = conversion.records
    made = conversion.proto().graph
    (node,) = [node for node in made.node if node.op_type.startswith("Pad")]
    return record, node, made


def values(node: onnx.NodeProto, made: onnx.GraphProto) -> list[Any]:
    """What the node's inputs after the data are: lists, None where absent, names where not constant."""
    known = {t.name: numpy_helper.to_array(t) for t in made.initializer}
    for other in made.node:
        if other.op_type == "Constant":
            known[other.output[0]] = numpy_helper.to_array(other.attribute[0].t)
    return [known[name].tolist() if name in known else name or None for name in node.input[1:]]


@dataclass(frozen=True)
class Row:
    """A node as found, and what it has to become."""

    label: str
    opset: int
    node: onnx.NodeProto
    form: str
    op_type: str
    inputs: list[Any] = field(default_factory=list)
    notes: str = ""
    type: int = FLOAT
    attributes: dict[str, Any] = field(default_factory=dict)
    tensors: tuple[onnx.TensorProto, ...] = (tensor("pads", [0, 1, 0, 2]),)


FORMS = [
    # Attribute form where the amounts are an input by now: Pad_2 keeps them an attribute.
    Row("attribute form", 11, pad(["x"], pads=[0, 1, 0, 2], value=1.5), "Pad-11 node in attribute form", "Pad_2",
        attributes={"pads": [0, 1, 0, 2], "value": 1.5}),
    Row("attribute form, newest", 25, pad(["x"], pads=[0, 1, 0, 2], mode="edge"), "Pad-25 node in attribute form",
        "Pad_2", attributes={"pads": [0, 1, 0, 2], "mode": b"edge"}),
    Row("paddings under opset 13", 13, pad(["x"], paddings=[0, 1, 0, 2]),
        "Pad-13 node in attribute form (paddings)", "Pad_1", attributes={"paddings": [0, 1, 0, 2]}),
    Row("paddings under opset 2", 2, pad(["x"], paddings=[0, 1, 0, 2]), "Pad-2 node with the attribute paddings",
        "Pad_1", attributes={"paddings": [0, 1, 0, 2]}),
    Row("pads under opset 1", 1, pad(["x"], pads=[0, 1, 0, 2]), "Pad-1 node with the attribute pads", "Pad_2",
        attributes={"pads": [0, 1, 0, 2]}),
    Row("an integer for value", 2, pad(["x"], pads=[0, 1, 0, 2], value=3), "Pad-2 node with value as an integer",
        "Pad_2", attributes={"pads": [0, 1, 0, 2], "value": 3.0}),
    # Input form before it existed.
    Row("input form", 2, pad(), "Pad-2 node in input form", "Pad_11", [[0, 1, 0, 2]]),
    Row("input form, opset 1", 1, pad(mode="reflect"), "Pad-1 node in input form", "Pad_11", [[0, 1, 0, 2]],
        attributes={"mode": b"reflect"}),
    Row("axes before 18", 13, pad(["x", "two", "", "axes"]), "Pad-13 node with axes", "Pad_18", [[1, 1], None, [1]],
        tensors=(tensor("two", [1, 1]), tensor("axes", [1]))),
    # Types that the attribute form does not have: the amounts become an input.
    Row("int32 in attribute form", 2, pad(["x"], pads=[0, 1, 0, 2], value=7.0), "Pad-2 attributes", "Pad_11",
        [[0, 1, 0, 2], 7], type=INT32),
    Row("bool in attribute form", 9, pad(["x"], pads=[0, 1, 0, 2], value=1.0), "Pad-2 attributes", "Pad_13",
        [[0, 1, 0, 2], True], type=BOOL),
    Row("int8 in attribute form, the default fill", 1, pad(["x"], paddings=[0, 1, 0, 2], value=0.0),
        "Pad-1 attributes", "Pad_11", [[0, 1, 0, 2]], type=INT8),
    Row("wrap in attribute form", 11, pad(["x"], pads=[0, 1, 0, 2], value=-0.0, mode="wrap"),
        "Pad-11 node in attribute form", "Pad_19", [[0, 1, 0, 2]], attributes={"mode": b"wrap"}),
    # An attribute value beside input amounts.
    Row("value beside pads", 11, pad(value=2.5), "Pad-11 node with the attribute value", "Pad_11",
        [[0, 1, 0, 2], 2.5]),
    Row("value of a half", 13, pad(value=0.1), "Pad-13 node with the attribute value", "Pad_13",
        [[0, 1, 0, 2], float(np.float16(np.float32(0.1)))], type=HALF),
    Row("value of a double", 13, pad(value=0.1), "Pad-13 node with the attribute value", "Pad_13",
        [[0, 1, 0, 2], float(np.float32(0.1))], type=DOUBLE),
    Row("value that is the default", 13, pad(value=0.0), "Pad-13 node with the attribute value", "Pad_13",
        [[0, 1, 0, 2]]),
    Row("value that no mode needs", 13, pad(value=9.0, mode="edge"), "Pad-13 node with the attribute value", "Pad_13",
        [[0, 1, 0, 2]], attributes={"mode": b"edge"}),
    Row("value and a fill that say the same", 13, pad(["x", "pads", "fill"], value=2.5),
        "Pad-13 node with the attribute value", "Pad_13", [[0, 1, 0, 2], 2.5],
        tensors=(tensor("pads", [0, 1, 0, 2]), tensor("fill", 2.5, np.float32))),
    Row("pads twice, the same", 13, pad(pads=[0, 1, 0, 2]), "Pad-13 node with the attribute pads", "Pad_13",
        [[0, 1, 0, 2]]),
    Row("attribute amounts and an input fill", 11, pad(["x", "", "fill"], pads=[0, 1, 0, 2]),
        "Pad-11 node in attribute form", "Pad_11", [[0, 1, 0, 2], 4.0], tensors=(tensor("fill", 4, np.float32),)),
    # A version that lacks the type or the mode.
    Row("wrap before 19", 13, pad(mode="wrap"), "Pad-13 inputs", "Pad_19", [[0, 1, 0, 2]],
        attributes={"mode": b"wrap"}),
    Row("bool at opset 11", 11, pad(), "Pad-11 inputs", "Pad_13", [[0, 1, 0, 2]],
        type=BOOL),
    Row("bool and wrap at opset 11", 11, pad(mode="wrap"), "Pad-11 inputs", "Pad_19", [[0, 1, 0, 2]],
        type=BOOL,
        attributes={"mode": b"wrap"}),
    Row("int4 at opset 18", 18, pad(), "Pad-18 inputs", "Pad_21", [[0, 1, 0, 2]],
        type=onnx.TensorProto.INT4),
    # com.microsoft
    Row("com.microsoft", 9, pad(domain="com.microsoft", mode="reflect"), "com.microsoft::Pad-1", "Pad_13",
        [[0, 1, 0, 2]], attributes={"mode": b"reflect"}),
    Row("com.microsoft, fill", 9, pad(["x", "pads", "fill"], domain="com.microsoft"), "com.microsoft::Pad-1", "Pad_13",
        [[0, 1, 0, 2], 1.0], type=HALF, tensors=(tensor("pads", [0, 1, 0, 2]), tensor("fill", 1, np.float16))),
    Row("com.microsoft, wrap", 9, pad(domain="com.microsoft", mode="wrap"), "com.microsoft::Pad-1", "Pad_19",
        [[0, 1, 0, 2]], attributes={"mode": b"wrap"}),
]  # fmt: skip


@pytest.mark.parametrize("row", FORMS, ids=[row.label for row in FORMS])
@pytest.mark.parametrize("ir_version", [3, 8])
def test_form(row: Row, ir_version: int) -> None:
    parts = {"inputs": [("x", row.type, [2, 3])], "outputs": [("y", row.type, None)], "tensors": row.tensors}
    source = model([row.node], row.opset, ir_version=ir_version, imports=[("com.microsoft", 1)], **parts)
    before = source.SerializeToString()
    record, node, made = convert_one(source)
    assert source.SerializeToString() == before
    assert (record.status, record.reason) == ("converted", None)
    assert (record.form, record.op_type, "; ".join(record.notes)) == (row.form, row.op_type, row.notes)
    assert (node.domain, node.op_type, list(node.output)) == ("padops", row.op_type, ["y"])
    assert values(node, made) == row.inputs
    assert {a.name: helper.get_attribute_value(a) for a in node.attribute} == row.attributes
    assert set(row.attributes) <= {attribute.name for attribute in OPS[row.op_type].attributes}
    if ir_version < 4:  # where each initializer would have to be an input as well
        assert len(made.initializer) == len(row.tensors)


@dataclass(frozen=True)
class Left:
    """A node that no operator is the same as, and the reason that has to be given."""

    label: str
    opset: int | None
    node: onnx.NodeProto
    reason: str
    type: int | None = FLOAT
    tensors: tuple[onnx.TensorProto, ...] = (tensor("pads", [0, 1, 0, 2]),)


LEFT = [
    Left("no default domain", None, pad(), "graph does not import the default domain, so its version is unknown"),
    Left("complex", 13, pad(), "its data are complex64, and ONNX Runtime has no complex tensors", COMPLEX64),
    Left("complex, attributes", 2, pad(["x"], pads=[0, 0, 0, 0]),
         "its data are complex64, and ONNX Runtime has no complex tensors", COMPLEX64),
    Left("no amounts", 13, pad(["x"]), "it has no amounts, neither as an input nor as an attribute"),
    Left("no data", 13, pad(["", "pads"]), "its input 0 is absent"),
    Left("unknown mode", 18, pad(mode="symmetric"),
         "mode 'symmetric' is not one of constant, reflect, edge, wrap [P9]"),
    Left("unknown mode, attributes", 2, pad(["x"], pads=[0, 0, 0, 0], mode="SAME"),
         "mode 'SAME' is not one of constant, reflect, edge, wrap [P9]"),
    Left("unknown attribute", 13, pad(extra=1), "its attribute extra is unknown"),
    Left("mode of the wrong type", 13, pad(mode=1), "its attribute mode is of type INT, expected STRING"),
    Left("pads of the wrong type", 2, pad(["x"], pads=[0.0, 1.0]),
         "its attribute pads is of type FLOATS, expected INTS"),
    Left("both attributes", 2, pad(["x"], pads=[0, 0], paddings=[0, 0]),
         "it has both attributes, pads and paddings"),
    Left("pads twice, not the same", 13, pad(pads=[0, 1, 0, 3]),
         "its attribute pads is [0, 1, 0, 3], but its input pads is [0, 1, 0, 2]; remove one"),
    Left("pads twice, not constant", 13, pad(pads=[0, 1, 0, 3]),
         "its attribute pads is [0, 1, 0, 3], but its input pads is not constant; remove one", tensors=()),
    Left("value and another fill", 13, pad(["x", "pads", "fill"], value=2.0),
         "its attribute value is 2.0, but its input constant_value is 3.0; remove one",
         tensors=(tensor("pads", [0, 1, 0, 2]), tensor("fill", 3, np.float32))),
    Left("value that the type lacks", 13, pad(value=0.5), "the attribute value 0.5 is not of the data's type, int32",
         INT32),
    Left("value too large for the type", 13, pad(value=300.0),
         "the attribute value 300.0 is not of the data's type, int8", INT8),
    Left("value that an unsigned type lacks", 13, pad(value=1.5),
         "the attribute value 1.5 is not of the data's type, uint8", UINT8),
    Left("value that no bool is", 13, pad(value=2.0), "the attribute value 2.0 is not of the data's type, bool", BOOL),
    Left("value of strings", 13, pad(value=1.0), "the attribute value 1.0 is not a string, but the data are", STRING),
    Left("value and an unknown type", 13, pad(value=1.0),
         "the attribute value 1.0 has to become an input, and the type of the data is unknown", None),
    Left("integer value that no float is", 2, pad(["x"], pads=[0, 1, 0, 2], value=16777217),
         "the attribute value 16777217 is not a float"),
    Left("too many inputs", 18, pad(["x", "pads", "", "", "x"]), "it has 5 inputs, expected 1 to 4"),
    Left("too many outputs", 18, helper.make_node("Pad", ["x", "pads"], ["y", "z"]), "it has 2 outputs, expected one"),
    Left("com.microsoft, no pads", 18, pad(["x"], domain="com.microsoft"),
         "it has 1 input, expected 2 to 3"),
    Left("com.microsoft, axes", 18, pad(["x", "pads", "", "pads"], domain="com.microsoft"),
         "it has 4 inputs, expected 2 to 3"),
    Left("com.microsoft, foreign attribute", 18, pad(domain="com.microsoft", value=1.0),
         "its attribute value is unknown"),
    Left("another domain", 18, pad(domain="somewhere"), "padops does not know Pad of the domain somewhere"),
    Left("a newer padops", 18, helper.make_node("Pad_99", ["x"], ["y"], domain="padops"),
         "this version of padops does not know the operator"),
]  # fmt: skip


@pytest.mark.parametrize("row", LEFT, ids=[row.label for row in LEFT])
def test_left(row: Left) -> None:
    x = ("x", row.type, [2, 3]) if row.type is not None else ("x", 0, None)
    inputs = [x] if row.tensors else [x, ("pads", INT64, [4])]
    source = model([row.node], row.opset, inputs=inputs, tensors=row.tensors, imports=[("com.microsoft", 1)])
    if row.type is None:
        del source.graph.output[:]
    conversion = convert(source)
    (record,) = conversion.records
    assert (record.status, record.op_type, record.reason) == ("unconverted", None, row.reason)
    assert conversion.proto().SerializeToString() == source.SerializeToString()


FOREIGN = [
    ("com.microsoft", "Pad", ["x", "pads"], {}),
    ("padops", "Pad_18", ["x", "pads"], {}),
    ("ai.intel.openvino", "Pad", ["x", "ones", "ones"], {"version": "opset1", "pad_mode": "edge"}),
    ("ngraph", "Pad", ["x", "fill"], {"padding_below": [1, 1], "padding_above": [1, 1]}),
    ("tf", "MirrorPad", ["x", "rows"], {"mode": "SYMMETRIC"}),
    ("com.microsoft", "NhwcMaxPool", ["x4"], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
]


@pytest.mark.parametrize("target", ["padops", "onnx", "pyop"])
@pytest.mark.parametrize("row", FOREIGN, ids=lambda row: f"{row[0]}.{row[1]}")
def test_a_node_without_one_output_is_left(row: tuple, target: str) -> None:
    domain, op_type, inputs, attributes = row
    tensors = [tensor("pads", [1, 1, 1, 1]), tensor("ones", [1, 1]), tensor("fill", 0, np.float32),
               tensor("rows", [[1, 1], [1, 1]]), tensor("x4", np.zeros((1, 4, 4, 1)), np.int8)]  # fmt: skip
    for outputs in [[]] if op_type == "NhwcMaxPool" else [[], ["a", "b"]]:  # a pooling may give indices as well
        nodes = [helper.make_node("Identity", ["x"], ["y"]),
                 helper.make_node(op_type, inputs, outputs, domain=domain, **attributes)]  # fmt: skip
        source = model(nodes, 18, imports=[(domain, 1)], tensors=tensors)
        conversion = padops.convert(source, target=target, auto_pad="explicit", custom_domains=["tf"])
        (record,) = conversion.records
        assert (record.status, record.reason) == ("unconverted", f"it has {len(outputs)} outputs, expected one")
        assert [node.op_type for node in conversion.proto().graph.node] == ["Identity", op_type]


def _pad(count: int) -> onnx.ModelProto:
    return model([pad(["x"], pads=[0] * count)], 10, ir_version=5, inputs=[("x", FLOAT, None)])


def _already(count: int) -> onnx.ModelProto:
    node = pad(["x"], domain="padops", pads=[0] * count)
    node.op_type = "Pad_2"
    return model([node], 10, ir_version=5, inputs=[("x", FLOAT, None)], imports=[("padops", 1)])


def _ngraph(count: int) -> onnx.ModelProto:
    node = helper.make_node("Pad", ["x", "v"], ["y"], domain="ngraph", padding_below=[0] * count, padding_above=[0])
    return model([node], 10, ir_version=5, inputs=[("x", FLOAT, None), ("v", FLOAT, [])], imports=[("ngraph", 1)])


@pytest.mark.parametrize("make", [_pad, _already, _ngraph])
def test_longer_lists_are_not_read(make: object) -> None:
    name = "padding_below" if make is _ngraph else "pads"
    said = f"its attribute {name} has {LARGEST_CONSTANT + 2} elements, and padops reads up to {LARGEST_CONSTANT}"
    source = make(LARGEST_CONSTANT + 2)
    for target in ("padops", "onnx"):
        (record,) = padops.convert(source, target=target).records
        assert (record.status, record.reason) == ("unconverted", said)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.why) == ("unknown", said)
