"""Which operator each form of a Pad becomes; every row of a table is one form that exporters write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper
from small_models import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT8,
    INT16,
    INT32,
    convert,
    external,
    model,
    one_pad,
    pad,
    tensor,
)

from padops.convert import PadRecord
from padops.spec.dialects import OPS
from padops.spec.dialects.onnx_pad import VERSIONS


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


@pytest.mark.parametrize("opset", range(1, 29))
def test_every_opset_becomes_the_version_that_it_has(opset: int) -> None:
    version = max(v for v in VERSIONS if v <= opset)
    source = one_pad(opset)
    record, node, _ = convert_one(source)
    assert (node.domain, node.op_type, node.name) == ("padops", f"Pad_{version}", "p")
    assert record.form == (f"Pad-{version} attributes" if opset < 11 else f"Pad-{version} inputs")
    assert (record.status, record.op_type, record.reason, record.notes) == ("converted", f"Pad_{version}", None, ())
    assert list(node.input) == list(source.graph.node[0].input)
    assert list(node.attribute) == list(source.graph.node[0].attribute)


def test_a_model_before_opset_imports_has_opset_1() -> None:
    source = model([pad(["x"], paddings=[0, 1, 0, 1])], None, ir_version=2)
    assert convert_one(source)[0].form == "Pad-1 attributes"


@pytest.mark.parametrize("options", [{}, {"fallback": True}, {"target": "pyop"}], ids=str)
def test_a_model_before_opset_imports_keeps_its_meaning(options: dict[str, Any]) -> None:
    """Softmax is another operator from opset 13 on."""
    nodes = [pad(["x"], "p", paddings=[0, 1, 0, 1]), helper.make_node("Softmax", ["p"], ["y"])]
    made = convert(model(nodes, None, ir_version=2), **options).proto()
    assert {row.domain: row.version for row in made.opset_import}[""] == 1
    assert made.ir_version == 2


def test_a_graph_without_the_default_domain_is_left() -> None:
    record, _, _ = convert_one(model([pad()], None, tensors=[tensor("pads", [0, 0, 0, 1])]))
    assert record.reason == "graph does not import the default domain, so its version is unknown"


def test_the_long_name_of_the_default_domain_counts() -> None:
    source = model([pad()], None, imports=[("ai.onnx", 18)], tensors=[tensor("pads", [0, 0, 0, 1])])
    assert convert_one(source)[0].op_type == "Pad_18"


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
        [[0, 1, 0, 2], 7], "amounts as an input, because Pad_2 does not have int32", INT32),
    Row("bool in attribute form", 9, pad(["x"], pads=[0, 1, 0, 2], value=1.0), "Pad-2 attributes", "Pad_13",
        [[0, 1, 0, 2], True], "amounts as an input, because Pad_2 does not have bool; "
        "Pad_13, not Pad_11, which does not have bool", BOOL),
    Row("int8 in attribute form, the default fill", 1, pad(["x"], paddings=[0, 1, 0, 2], value=0.0),
        "Pad-1 attributes", "Pad_11", [[0, 1, 0, 2]], "amounts as an input, because Pad_1 does not have int8", INT8),
    Row("wrap in attribute form", 11, pad(["x"], pads=[0, 1, 0, 2], value=-0.0, mode="wrap"),
        "Pad-11 node in attribute form", "Pad_19", [[0, 1, 0, 2]], "amounts as an input, because Pad_2 does not have "
        "mode wrap; Pad_19, not Pad_11, which does not have mode wrap [P9]", attributes={"mode": b"wrap"}),
    # An attribute value beside input amounts.
    Row("value beside pads", 11, pad(value=2.5), "Pad-11 node with the attribute value", "Pad_11",
        [[0, 1, 0, 2], 2.5]),
    Row("value of a half", 13, pad(value=0.1), "Pad-13 node with the attribute value", "Pad_13",
        [[0, 1, 0, 2], float(np.float16(np.float32(0.1)))], type=HALF),
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
        "Pad_19, not Pad_13, which does not have mode wrap [P9]", attributes={"mode": b"wrap"}),
    Row("bool at opset 11", 11, pad(), "Pad-11 inputs", "Pad_13", [[0, 1, 0, 2]],
        "Pad_13, not Pad_11, which does not have bool", BOOL),
    Row("bool and wrap at opset 11", 11, pad(mode="wrap"), "Pad-11 inputs", "Pad_19", [[0, 1, 0, 2]],
        "Pad_13, not Pad_11, which does not have bool; Pad_19, not Pad_13, which does not have mode wrap [P9]", BOOL,
        attributes={"mode": b"wrap"}),
    Row("int4 at opset 18", 18, pad(), "Pad-18 inputs", "Pad_21", [[0, 1, 0, 2]],
        "Pad_21, not Pad_18, which does not have int4", onnx.TensorProto.INT4),
    # com.microsoft
    Row("com.microsoft", 9, pad(domain="com.microsoft", mode="reflect"), "com.microsoft::Pad-1", "Pad_13",
        [[0, 1, 0, 2]], attributes={"mode": b"reflect"}),
    Row("com.microsoft, fill", 9, pad(["x", "pads", "fill"], domain="com.microsoft"), "com.microsoft::Pad-1", "Pad_13",
        [[0, 1, 0, 2], 1.0], type=HALF, tensors=(tensor("pads", [0, 1, 0, 2]), tensor("fill", 1, np.float16))),
    Row("com.microsoft, wrap", 9, pad(domain="com.microsoft", mode="wrap"), "com.microsoft::Pad-1", "Pad_19",
        [[0, 1, 0, 2]], "Pad_19, not Pad_13, which does not have mode wrap [P9]", attributes={"mode": b"wrap"}),
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


def test_a_type_that_only_inference_knows() -> None:
    nodes = [helper.make_node("Not", ["x"], ["n"]), pad(["n", "pads"])]
    source = model(nodes, 11, inputs=[("x", BOOL, [2, 3])], outputs=[("y", 0, None)], tensors=[tensor("pads", [0] * 4)])
    record, _, _ = convert_one(source)
    assert (record.op_type, record.notes) == ("Pad_13", ("Pad_13, not Pad_11, which does not have bool",))


def test_a_type_that_inference_finds_in_a_branch() -> None:
    nodes = [helper.make_node("Greater", ["x", "x"], ["g"]), pad(["g", "pads"], "b")]
    body = helper.make_graph(nodes, "b", [], [onnx.ValueInfoProto(name="b")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    source = model([node], 11, inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], tensors=[tensor("pads", [0] * 4)])
    assert [record.op_type for record in convert(source).records] == ["Pad_13", "Pad_13"]


def test_an_unknown_type_keeps_the_version() -> None:
    nodes = [helper.make_node("Secret", ["x"], ["s"], domain="d"), pad(["s", "pads"])]
    source = model(nodes, 11, imports=[("d", 1)], outputs=[("y", 0, None)], tensors=[tensor("pads", [0] * 4)])
    record, _, _ = convert_one(source)
    assert (record.op_type, record.notes) == ("Pad_11", ())


def test_types_are_inferred_beside_data_that_nobody_loads() -> None:
    nodes = [helper.make_node("Cast", ["w"], ["c"], to=BOOL), pad(["c", "pads"])]
    weights = external("w", "not there.bin", 2_000_000_000)
    source = model(nodes, 11, outputs=[("y", 0, None)], tensors=[weights, tensor("pads", [0, 1])])
    assert convert_one(source)[0].op_type == "Pad_13"


def test_doubles_get_a_fill_of_their_own_type() -> None:
    source = model([pad(value=0.1)], 13, inputs=[("x", DOUBLE, [2, 3])], tensors=[tensor("pads", [0, 1, 0, 2])])
    _, node, made = convert_one(source)
    fill = numpy_helper.to_array(made.initializer[-1])
    assert (fill.dtype, fill.shape, fill.item()) == (np.float64, (), float(np.float32(0.1)))
    assert made.initializer[-1].name == node.input[2] == "y_constant_value"


def test_negative_zero_is_a_fill_of_its_own() -> None:
    _, node, made = convert_one(model([pad(value=-0.0)], 13, tensors=[tensor("pads", [0, 1, 0, 2])]))
    (fill,) = [numpy_helper.to_array(t) for t in made.initializer if t.name == node.input[2]]
    assert fill.tobytes() == np.float32(-0.0).tobytes()


def test_amounts_from_a_constant_node_that_says_the_same() -> None:
    constant = helper.make_node("Constant", [], ["pads"], value_ints=[0, 1, 0, 2])
    record, node, _ = convert_one(model([constant, pad(pads=[0, 1, 0, 2])], 13))
    assert (record.op_type, list(node.input), list(node.attribute)) == ("Pad_13", ["x", "pads"], [])


def test_a_graph_is_converted_as_a_message_is() -> None:
    source = ir.from_proto(one_pad(13))
    before = ir.to_proto(source).SerializeToString()
    conversion = convert(source)
    assert [record.op_type for record in conversion.records] == ["Pad_13"]
    assert ir.to_proto(source).SerializeToString() == before
    assert [node.op_type for node in conversion.model.graph] == ["Pad_13"]
    assert conversion.proto().graph.node[0].op_type == "Pad_13"


def test_int16_in_attribute_form_runs_and_is_right() -> None:
    source = model(
        [pad(["x"], pads=[0, 1, 0, 2], value=-3.0)], 2,
        inputs=[("x", INT16, [2, 3])], outputs=[("y", INT16, None)], ir_version=3,
    )  # fmt: skip
    assert convert(source, verify=True, run=True).verification.verdict == "proved"
