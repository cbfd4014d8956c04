"""Which operator each form of a Pad becomes, as exporters write it; and what ``select="needed"`` leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pyop_sessions
import pytest
from command_lines import Cli, save
from inspected_models import specified, stock
from onnx import TensorProto, helper, numpy_helper
from small_models import FLOAT, convert, model, one_pad, pad, parsed, tensor

import padops
from padops.convert.analysis import Analysis
from padops.convert.model.document import read_document
from padops.convert.model.graphs import LARGEST_CONSTANT
from padops.spec import reference

A = [0, 1, 0, 2]
PADS = tensor("pads", A)


def values(node: onnx.NodeProto, made: onnx.GraphProto) -> list[Any]:
    """What the node's inputs after the data are: lists, None where absent, names where not constant."""
    known = {t.name: numpy_helper.to_array(t) for t in made.initializer}
    known |= {o.output[0]: numpy_helper.to_array(o.attribute[0].t) for o in made.node if o.op_type == "Constant"}
    return [known[name].tolist() if name in known else name or None for name in node.input[1:]]


def row(
    opset: int, node: onnx.NodeProto, form: str, op_type: str, *inputs: Any, type: str = "float",
    tensors: Any = (PADS,), **attributes: Any,
) -> Any:  # fmt: skip
    """A node as found, and what it has to become."""
    return pytest.param(opset, node, form, op_type, list(inputs), type, tensors, attributes, id=f"{form}, {op_type}")


FORMS = [
    # Attribute form where the amounts are an input by now: Pad_2 keeps them an attribute.
    row(11, pad(["x"], pads=A, value=1.5), "Pad-11 node in attribute form", "Pad_2", pads=A, value=1.5),
    row(25, pad(["x"], pads=A, mode="edge"), "Pad-25 node in attribute form", "Pad_2", pads=A, mode=b"edge"),
    row(13, pad(["x"], paddings=A), "Pad-13 node in attribute form (paddings)", "Pad_1", paddings=A),
    row(2, pad(["x"], paddings=A), "Pad-2 node with the attribute paddings", "Pad_1", paddings=A),
    row(1, pad(["x"], pads=A), "Pad-1 node with the attribute pads", "Pad_2", pads=A),
    row(2, pad(["x"], pads=A, value=3), "Pad-2 node with value as an integer", "Pad_2", pads=A, value=3.0),
    # Input form before it existed.
    row(2, pad(), "Pad-2 node in input form", "Pad_11", A),
    row(1, pad(mode="reflect"), "Pad-1 node in input form", "Pad_11", A, mode=b"reflect"),
    row(13, pad(["x", "two", "", "axes"]), "Pad-13 node with axes", "Pad_18", [1, 1], None, [1],
        tensors=(tensor("two", [1, 1]), tensor("axes", [1]))),
    # Types that the attribute form does not have: the amounts become an input.
    row(2, pad(["x"], pads=A, value=7.0), "Pad-2 attributes", "Pad_11", A, 7, type="int32"),
    row(9, pad(["x"], pads=A, value=1.0), "Pad-2 attributes", "Pad_13", A, True, type="bool"),
    row(1, pad(["x"], paddings=A, value=0.0), "Pad-1 attributes", "Pad_11", A, type="int8"),
    row(11, pad(["x"], pads=A, value=-0.0, mode="wrap"), "Pad-11 node in attribute form", "Pad_19", A, mode=b"wrap"),
    # An attribute value beside input amounts.
    row(11, pad(value=2.5), "Pad-11 node with the attribute value", "Pad_11", A, 2.5),
    row(13, pad(value=0.1), "Pad-13 node with the attribute value", "Pad_13",
        A, float(np.float16(np.float32(0.1))), type="float16"),
    row(13, pad(value=0.1), "Pad-13 node with the attribute value", "Pad_13", A, float(np.float32(0.1)), type="double"),
    row(13, pad(value=0.0), "Pad-13 node with the attribute value", "Pad_13", A),
    row(13, pad(value=9.0, mode="edge"), "Pad-13 node with the attribute value", "Pad_13", A, mode=b"edge"),
    row(13, pad(["x", "pads", "fill"], value=2.5),
        "Pad-13 node with the attribute value", "Pad_13", A, 2.5, tensors=(PADS, tensor("fill", 2.5, np.float32))),
    row(13, pad(pads=A), "Pad-13 node with the attribute pads", "Pad_13", A),
    row(11, pad(["x", "", "fill"], pads=A), "Pad-11 node in attribute form",
        "Pad_11", A, 4.0, tensors=(tensor("fill", 4, np.float32),)),
    # A version that lacks the type or the mode.
    row(13, pad(mode="wrap"), "Pad-13 inputs", "Pad_19", A, mode=b"wrap"),
    row(11, pad(), "Pad-11 inputs", "Pad_13", A, type="bool"),
    row(11, pad(mode="wrap"), "Pad-11 inputs", "Pad_19", A, type="bool", mode=b"wrap"),
    row(18, pad(), "Pad-18 inputs", "Pad_21", A, type="int4"),
    row(9, pad(domain="com.microsoft", mode="reflect"), "com.microsoft::Pad-1", "Pad_13", A, mode=b"reflect"),
    row(9, pad(["x", "pads", "fill"], domain="com.microsoft"), "com.microsoft::Pad-1", "Pad_13",
        A, 1.0, type="float16", tensors=(PADS, tensor("fill", 1, np.float16))),
    row(9, pad(domain="com.microsoft", mode="wrap"), "com.microsoft::Pad-1", "Pad_19", A, mode=b"wrap"),
]  # fmt: skip


@pytest.mark.parametrize(("opset", "node", "form", "op_type", "inputs", "type", "tensors", "attributes"), FORMS)
def test_form(opset: int, node: Any, form: str, op_type: str, inputs: list, type: str, tensors: Any, attributes: dict):
    kind = TensorProto.DataType.Value(type.upper())
    parts = {"tensors": tensors, "inputs": [("x", kind, [2, 3])], "outputs": [("y", kind, None)]}
    for ir_version in (3, 8):
        source = model([node], opset, ir_version=ir_version, imports=[("com.microsoft", 1)], **parts)
        before = source.SerializeToString()
        conversion = convert(source)
        (record,), made = conversion.records, conversion.proto().graph
        (became,) = [one for one in made.node if one.op_type.startswith("Pad")]
        assert source.SerializeToString() == before
        assert (record.status, record.reason, record.notes) == ("converted", None, ())
        assert (record.form, record.op_type) == (form, op_type)
        assert (became.domain, became.op_type, list(became.output)) == ("padops", op_type, ["y"])
        assert values(became, made) == inputs
        assert {a.name: helper.get_attribute_value(a) for a in became.attribute} == attributes
        if ir_version < 4:  # where each initializer would have to be an input as well
            assert len(made.initializer) == len(tensors)


def stays(opset: int | None, node: onnx.NodeProto, reason: str, type: str = "float", tensors: Any = (PADS,)) -> Any:
    """A node that no operator is the same as, and the reason that has to be given."""
    return pytest.param(opset, node, reason, type, tensors, id=reason)


LEFT = [
    stays(None, pad(), "graph does not import the default domain, so its version is unknown"),
    stays(13, pad(), "its data are complex64, and ONNX Runtime has no complex tensors", "complex64"),
    stays(2, pad(["x"], pads=[0, 0, 0, 0]),
          "its data are complex64, and ONNX Runtime has no complex tensors", "complex64"),
    stays(13, pad(["x"]), "it has no amounts, neither as an input nor as an attribute"),
    stays(13, pad(["", "pads"]), "its input 0 is absent"),
    stays(18, pad(mode="symmetric"), "mode 'symmetric' is not one of constant, reflect, edge, wrap [P9]"),
    stays(2, pad(["x"], pads=[0, 0, 0, 0], mode="SAME"),
          "mode 'SAME' is not one of constant, reflect, edge, wrap [P9]"),
    stays(13, pad(extra=1), "its attribute extra is unknown"),
    stays(13, pad(mode=1), "its attribute mode is of type INT, expected STRING"),
    stays(2, pad(["x"], pads=[0.0, 1.0]), "its attribute pads is of type FLOATS, expected INTS"),
    stays(2, pad(["x"], pads=[0, 0], paddings=[0, 0]), "it has both attributes, pads and paddings"),
    stays(13, pad(pads=[0, 1, 0, 3]),
          "its attribute pads is [0, 1, 0, 3], but its input pads is [0, 1, 0, 2]; remove one"),
    stays(13, pad(pads=[0, 1, 0, 3]),
          "its attribute pads is [0, 1, 0, 3], but its input pads is not constant; remove one", tensors=()),
    stays(13, pad(["x", "pads", "fill"], value=2.0),
          "its attribute value is 2.0, but its input constant_value is 3.0; remove one",
          tensors=(PADS, tensor("fill", 3, np.float32))),
    stays(13, pad(value=0.5), "the attribute value 0.5 cannot become an element of the data's type, int32", "int32"),
    stays(13, pad(value=300.0), "the attribute value 300.0 cannot become an element of the data's type, int8", "int8"),
    stays(13, pad(value=1.5), "the attribute value 1.5 cannot become an element of the data's type, uint8", "uint8"),
    stays(13, pad(value=2.0), "the attribute value 2.0 cannot become an element of the data's type, bool", "bool"),
    stays(13, pad(value=1.0), "the attribute value 1.0 is not a string, but the data are strings", "string"),
    stays(13, pad(value=1.0),
          "the attribute value 1.0 cannot become an input: the type of the data is unknown", "undefined"),
    stays(2, pad(["x"], pads=A, value=16777217), "float cannot hold the attribute value 16777217"),
    stays(18, pad(["x", "pads", "", "", "x"]), "it has 5 inputs, expected 1 to 4"),
    stays(18, helper.make_node("Pad", ["x", "pads"], ["y", "z"]), "it has 2 outputs, expected one"),
    stays(18, pad(["x"], domain="com.microsoft"), "it has 1 input, expected 2 to 3"),
    stays(18, pad(["x", "pads", "", "pads"], domain="com.microsoft"), "it has 4 inputs, expected 2 to 3"),
    stays(18, pad(domain="com.microsoft", value=1.0), "its attribute value is unknown"),
    stays(18, pad(domain="somewhere"), "padops does not know Pad of the domain somewhere"),
    stays(18, helper.make_node("Pad_99", ["x"], ["y"], domain="padops"),
          "this version of padops does not know the operator"),
]  # fmt: skip


@pytest.mark.parametrize(("opset", "node", "reason", "type", "tensors"), LEFT)
def test_left(opset: int | None, node: onnx.NodeProto, reason: str, type: str, tensors: Any) -> None:
    kind = TensorProto.DataType.Value(type.upper())
    inputs = [("x", kind, [2, 3] if kind else None), *([] if tensors else [("pads", TensorProto.INT64, [4])])]
    source = model([node], opset, inputs=inputs, tensors=tensors, imports=[("com.microsoft", 1)])
    if not kind:
        del source.graph.output[:]
    conversion = convert(source)
    (record,) = conversion.records
    assert (record.status, record.op_type, record.reason) == ("unconverted", None, reason)
    assert conversion.proto().SerializeToString() == source.SerializeToString()


FOREIGN = [  # after the domain, the operator, the inputs and the attributes
    ("com.microsoft", "Pad", ["x", "pads"], {}),
    ("padops", "Pad_18", ["x", "pads"], {}),
    ("ai.intel.openvino", "Pad", ["x", "ones", "ones"], {"version": "opset1", "pad_mode": "edge"}),
    ("ngraph", "Pad", ["x", "fill"], {"padding_below": [1, 1], "padding_above": [1, 1]}),
    ("tf", "MirrorPad", ["x", "rows"], {"mode": "SYMMETRIC"}),
    ("com.microsoft", "NhwcMaxPool", ["x4"], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
]
HELD = [tensor("pads", [1, 1, 1, 1]), tensor("ones", [1, 1]), tensor("fill", 0, np.float32),
        tensor("rows", [[1, 1], [1, 1]]), tensor("x4", np.zeros((1, 4, 4, 1)), np.int8)]  # fmt: skip


@pytest.mark.parametrize(("domain", "op_type", "inputs", "attributes"), FOREIGN)
def test_a_node_without_one_output_is_left(domain: str, op_type: str, inputs: list, attributes: dict) -> None:
    for outputs in [[]] if op_type == "NhwcMaxPool" else [[], ["a", "b"]]:  # a pooling may give indices as well
        node = helper.make_node(op_type, inputs, outputs, domain=domain, **attributes)
        nodes = [helper.make_node("Identity", ["x"], ["y"]), node]
        source = model(nodes, 18, imports=[(domain, 1)], tensors=HELD)
        conversion = padops.convert(source, auto_pad="explicit", custom_domains=["tf"])
        (record,) = conversion.records
        assert (record.status, record.reason) == ("unconverted", f"it has {len(outputs)} outputs, expected one")
        assert [node.op_type for node in conversion.proto().graph.node] == ["Identity", op_type]


MANY = [0] * (LARGEST_CONSTANT + 2)
LISTS = [
    pad(["x"], pads=MANY),
    helper.make_node("Pad_2", ["x"], ["y"], domain="padops", pads=MANY),
    helper.make_node("Pad", ["x", "v"], ["y"], domain="ngraph", padding_below=MANY, padding_above=[0]),
]


@pytest.mark.parametrize("node", LISTS, ids=["ONNX", "padops", "nGraph"])
def test_longer_lists_are_not_read(node: onnx.NodeProto) -> None:
    name = "padding_below" if node.domain == "ngraph" else "pads"
    said = f"its attribute {name} has {LARGEST_CONSTANT + 2} elements, and padops reads up to {LARGEST_CONSTANT}"
    source = model([node], 10, ir_version=5, inputs=[("x", FLOAT, None), ("v", FLOAT, [])],
                   imports=[("ngraph", 1), ("padops", 1)])  # fmt: skip
    for target in ("padops", "onnx"):
        (record,) = padops.convert(source, target=target).records
        assert (record.status, record.reason) == ("unconverted", said)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.why) == ("unknown", said)


# --- axes that are an input of unknown dims: onnx infers shapes as if the amounts were for all axes in order ---

P, Q = [3, 2, 1, 3, 2, 0], [2, 1, 0, 0, 0, 3]
AXES, DATA = np.array([2, 0, 1]), np.arange(45, dtype=np.uint16).reshape(5, 3, 3)


def _expected(data: np.ndarray, pads: list[int], axes: np.ndarray | None) -> np.ndarray:
    return reference.run("Pad_18", {}, [data, np.array(pads), None, axes])


EITHER = "If (c) <then_branch = t () => ({0}[] t) {{ t = {1} }}, else_branch = e () => ({0}[] e) {{ e = {1} }}>"
# What makes the data of a second Pad by a Pad with such axes, and the functions.
MAKERS = {
    "graph": ('z = Pad (x, p, "", a)', ""),
    "branch": ("z = " + EITHER.format("uint16", 'Pad (x, p, "", a)'), ""),
    "functions": ("z = d.Outer (a, p, x)", """FUNCTION Inner (x, p, a) => (y) { y = Pad (x, p, "", a) }
        FUNCTION Outer (a, p, x) => (y) { y = d.Inner (x, p, a) }"""),
    # Axes that come out of an If, of a shape that nothing says.
    "computed": ("z = d.F (x, p, a, c)", f"""FUNCTION F (x, p, a, c) => (y) {{
        b = {EITHER.format("int64", "Identity (a)")} y = Pad (x, p, "", b) }}"""),
}  # fmt: skip


@pytest.mark.parametrize(("name", "without_pad"), [(name, bool(i % 2)) for i, name in enumerate(MAKERS)])
def test_the_dims_behind_open_axes_are_not_those_of_all_axes(name: str, without_pad: bool) -> None:
    """uint16, which ONNX Runtime's Pad lacks: (13, 8, 7) and (11, 5, 7) were silently wrong."""
    nodes, functions = MAKERS[name]
    source = parsed(f"""(uint16[5, 3, 3] x, int64[] a, bool c) => (uint16[] y)
        <int64[6] p = {{3, 2, 1, 3, 2, 0}}, int64[6] q = {{2, 1, 0, 0, 0, 3}}> {{ {nodes} y = Pad (z, q) }} {functions}
    """, 18)  # fmt: skip
    lowered = padops.lower(source, without_pad=without_pad)
    (behind,) = (record for record in lowered.records if record.path == "graph/Pad_1")
    assert set(behind.facts.input_shape or ()) <= {None}
    (output,) = stock(lowered.proto(), {"x": DATA, "a": AXES, "c": np.array(True)})
    assert output.shape == (11, 5, 12)
    assert native.bits(output) == native.bits(_expected(_expected(DATA, P, AXES), Q, None))


# The dims of the data, the amounts, and the axes; where no dims are given, the data are as those of the first row.
CASES = {
    "fewer axes": ("5, 3, 3", [1, 0], [1]),
    "fewer axes, some dims named": ("n, 3, 3", [1, 0, 2, 0], [2, 0]),
    "of an unknown rank": ("", [1, 0], [1]),
    "permuted": ("5, 3, 3", P, [2, 0, 1]),
    "crops": ("2, 5, 6", [-3, -3, 0, 0, 0, 0], [2, 1, 0]),
    "the same amounts everywhere": ("5, 3, 3", [1, 0, 2, 1, 2, 0], [2, 0, 1]),
    "one axis": ("5", [1, 2], [0]),
}


def _shaped(name: str) -> onnx.ModelProto:
    """A Pad, and the Shape of what it gives."""
    dims, pads, _ = CASES[name]
    return parsed(f"""(float[{dims}] x, int64[] a) => (float[] y, int64[] s)
        <int64[{len(pads)}] p = {{{str(pads)[1:-1]}}}> {{ y = Pad (x, p, "", a) s = Shape (y) }}""", 18)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_what_onnxruntime_does(name: str) -> None:
    """onnxruntime reads the amounts as those of all axes in order: it refuses other counts, or infers wrong dims."""
    source, (dims, pads, axes) = _shaped(name), CASES[name]
    shape = [int(dim) for dim in (dims or "5, 3, 3").replace("n", "5").split(", ")]
    feeds = {"x": np.arange(np.prod(shape), dtype=np.float32).reshape(shape), "a": np.array(axes)}
    ran = stock(source, feeds)
    right = ran is not None and list(ran[0].shape) == ran[1].tolist()
    (facts,) = padops.inspect(source).pads
    assert facts.runs == right
    assert (facts.verdict == "refuses") == (ran is None)
    converted = padops.convert(source, select="needed")
    assert [record.status for record in converted.records] == ["not needed" if right else "converted"]
    if right:
        return
    assert facts.roads == ("convert", "lower")
    assert "axes declared without a shape" in facts.why
    if ran is None:
        assert facts.why.endswith(f"as all {len(shape)}, and refuses {len(pads)} amounts")
    for made in (converted, padops.lower(source), padops.lower(source, without_pad=True)):
        output, told = stock(made.proto(), feeds)
        assert list(output.shape) == told.tolist()
        assert np.array_equal(output, _expected(feeds["x"], pads, feeds["a"]))


def test_what_only_optimizers_get_wrong_is_right_without_them() -> None:
    """The values in doubt, and those in doubt without graph optimisation; open axes are in doubt in both."""
    moved = parsed("""(float[5, 5] x, int64[2] p) => (float[] y) <int64[1] axes = {0}> { v = Transpose (x)
        w = Pad (v, p, "", axes) y = Transpose (w) }""", 18)  # fmt: skip
    found, unoptimised = Analysis(read_document(moved)).doubted()
    assert set(found) == {"w", "y"} and unoptimised == {}
    found, unoptimised = Analysis(read_document(_shaped("permuted"))).doubted()
    assert set(found) >= {"y"} and unoptimised == found


# --- select="needed" --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A model of one Pad; what ONNX Runtime does, if it must be converted; whether the newest one runs it rightly."""

    label: str
    source: onnx.ModelProto
    needed: str | None
    runs: bool = False
    shape: tuple[int, ...] = (2, 3)


def typed(opset: int, kind: str, **attributes: Any) -> onnx.ModelProto:
    number = TensorProto.DataType.Value(kind.upper())
    parts = {"inputs": [("x", number, [2, 3])], "outputs": [("y", number, None)], "tensors": [PADS]}
    return model([pad(**attributes)], opset, **parts)


def amounts(*pads: int, dims: Any = (2, 3), mode: str = "reflect", axes: Any = None, fill: Any = None, opset: int = 18):
    tensors = [tensor("pads", list(pads)), *(one for one in (axes, fill) if one is not None)]
    names = ["x", "pads", "fill" if fill is not None else "", "axes" if axes is not None else ""]
    return model([pad(names, mode=mode)], opset, inputs=[("x", FLOAT, dims)], tensors=tensors)


WRAPS = "reads out of bounds before 1.31 where wrap adds more in front than there is"
FILL = tensor("fill", 9, np.float32)
ROWS = [
    Row("opset 1", one_pad(1), "has no Pad of opset 1"),
    *(Row(f"opset {v}, float", one_pad(v), None, True) for v in (2, 10, 11, 13, 17, 18, 19, 21, 23, 24, 25)),
    Row("attribute form under 13", model([pad(["x"], pads=[0, 1, 0, 2])], 13),
        "refuses this form: Pad-13 node in attribute form"),
    Row("value beside pads", typed(13, "float", value=1.0), "refuses this form: Pad-13 node with the attribute value"),
    *(Row(f"opset 13, {kind}", typed(13, kind), None, True)
      for kind in ("float", "double", "int8", "int32", "int64", "bool")),
    Row("bool at 11", typed(11, "bool"), "has no Pad of bool at opset 11"),
    Row("int16", typed(13, "int16"), "has no Pad of int16 at opset 13"),
    Row("float16", typed(13, "float16"), "casts float16 to float and back", True),
    Row("com.microsoft", typed(13, "float", domain="com.microsoft"), None, True),
    Row("com.microsoft, double", typed(13, "double", domain="com.microsoft"), "has no Pad of double at opset 1"),
    Row("wrap before 19", typed(13, "float", mode="wrap"), None, True),
    Row("int32 axes", amounts(1, 1, axes=tensor("axes", [1], np.int32)), "refuses constant axes of type int32"),
    Row("int64 axes", amounts(1, 1, axes=tensor("axes", [-1])), None, True),
    Row("rank 0", amounts(dims=(), mode="constant"), "refuses data of rank 0", shape=()),
    Row("fill of rank 2", amounts(0, 0, 0, 1, mode="constant", fill=tensor("fill", [[5]], np.float32)), None, True),
    Row("two fills that no one reads", amounts(0, 0, 0, 1, mode="edge", fill=tensor("fill", [5, 6], np.float32)),
        "refuses a fill of 2 elements, which mode edge does not even read"),
    Row("one fill that no one reads", amounts(0, 0, 0, 1, mode="edge", fill=tensor("fill", 5, np.float32)), None, True),
    Row("reflect to the limit", amounts(0, 2, 0, 2), None, True),
    Row("reflect beyond it", amounts(0, 3, 0, 2), "refuses to reflect more than once (axis 1: 3, 2 of 3 elements)"),
    Row("reflect beyond it, by axes", amounts(0, 3, axes=tensor("axes", [-1])),
        "refuses to reflect more than once (axis 1: 0, 3 of 3 elements)"),
    Row("reflect of what may be enough", amounts(0, 3, 0, 2, dims=(2, "n")), None, True, shape=(2, 4)),
    Row("reflect and crop", amounts(-1, 1, 0, 0, dims=(3, 3)), None, True, shape=(3, 3)),
    Row("reflect and crop one axis", amounts(-1, 0, 1, 0, dims=(4, 3)),
        "reads out of bounds before 1.25 (axis 0: reflect -1, 1)", native.RUNTIME >= (1, 25), (4, 3)),
    Row("edge and crop all", amounts(0, -1, 0, -2, mode="edge"), "refuses to crop axis 1 to nothing in mode edge"),
    Row("constant and crop to nothing", amounts(0, -1, 0, -2, mode="constant"), None, True),
    Row("constant of nothing", amounts(0, 1, 0, 1, dims=(2, 0), mode="constant", fill=FILL), None, True, shape=(2, 0)),
    *(Row(f"constant and crop {n} of 3", amounts(0, -n, 0, n, mode="constant", fill=FILL),
          f"may be wrong before 1.24 where a crop leaves nothing (axis 1: -{n}, {n} of 3 elements)",
          native.RUNTIME >= (1, 24)) for n in (3, 4)),
    Row("constant and crop what may leave some", amounts(0, -4, 0, 4, dims=(2, "n"), mode="constant", fill=FILL),
        None, True, shape=(2, 5)),
    Row("edge of any reach", amounts(0, 9, 0, 9, mode="edge"), None, True),
    Row("edge and crop", amounts(0, -2, 0, 5, mode="edge"), None, True),
    Row("wrap to the limit", amounts(0, 3, 0, 9, mode="wrap", opset=19), None, True),
    Row("wrap and crop", amounts(0, 1, 0, -2, mode="wrap", opset=19), None, True),
    *(Row(f"wrap {b} and {e} of 3", amounts(0, b, 0, e, mode="wrap", opset=19),
          f"{WRAPS} (axis 1: {b}, {e} of 3 elements)", native.RUNTIME >= (1, 31)) for b, e in ((4, 0), (3, -1))),
]  # fmt: skip


def runs_rightly(row: Row) -> bool:
    """Return whether stock onnxruntime loads the model and gives the output that the Pad's rules give."""
    dtype = helper.tensor_dtype_to_np_dtype(row.source.graph.input[0].type.tensor_type.elem_type)
    feeds = {"x": np.arange(1, 1 + np.prod(row.shape)).reshape(row.shape).astype(dtype)}
    row.source.graph.output[0].type.tensor_type.ClearField("shape")
    actual = stock(row.source, feeds)
    return actual is not None and native.bits(actual[0]) == native.bits(specified(row.source, feeds)[0])


@pytest.mark.parametrize("row", ROWS, ids=[row.label for row in ROWS])
def test_row(row: Row) -> None:
    (record,) = convert(row.source, select="needed").records
    if row.needed is None:
        assert (record.status, record.op_type) == ("not needed", None)
        assert record.reason.startswith("ONNX Runtime runs it: ")
    else:
        assert (record.status, record.reason) == ("converted", None)
        assert record.notes[-1] == f"ONNX Runtime {row.needed}"
    assert runs_rightly(row) == row.runs


def test_kept_rows_are_right() -> None:
    """A Pad that stays must be right in every runtime; test_fallback.py runs this with 1.20, which knows opset 21."""
    kept = [row for row in ROWS if row.needed is None and row.source.opset_import[0].version <= 21]
    assert [row.label for row in kept if not runs_rightly(row)] == [] and len(kept) > 20


def test_a_type_that_nobody_knows_is_converted() -> None:
    nodes = [helper.make_node("Secret", ["x"], ["s"], domain="d"), pad(["s", "pads"])]
    source = model(nodes, 13, imports=[("d", 1)], outputs=[("y", 0, None)], tensors=[tensor("pads", [0] * 4)])
    (record,) = convert(source, select="needed").records
    assert (record.status, record.notes) == ("converted", ("the type of its data is not known",))


# --- inputs in a form that ONNX Runtime refuses: repaired on every road, or named -------------------------------------

AMOUNTS, X = [0, 1, 0, 2], np.arange(1, 7, dtype=np.float32).reshape(2, 3)
ROADS = [{"select": "needed"}, {"target": "onnx"}, {"target": "onnx", "without_pad": True}]
GIVEN, FILLED = "int64[4] pads = {0, 1, 0, 2}", "Pad (x, pads, f)"
INT32_PADS = GIVEN.replace("int64", "int32")

# The tensors, the nodes, what the form says, the fill of the result, the opset and further inputs.
REPAIRED: dict[str, tuple[str, str, str, float, int, str]] = {
    "fill of double": (f"{GIVEN}, double f = {{0.1}}", FILLED, "Pad-13 node with a fill of double for data of float",
                       0.1, 17, ""),
    "fill of an integer": (f"{GIVEN}, int64 f = {{-7}}", FILLED, "Pad-13 node with a fill of int64 for data of float",
                           -7, 17, ""),
    "infinite fill": (f"{GIVEN}, float16 f = {{{0xFC00}}}", FILLED,
                      "Pad-13 node with a fill of float16 for data of float", -np.inf, 17, ""),
    "fill that is no number": (f"{GIVEN}, float16 f = {{{0x7E00}}}", FILLED,
                               "Pad-13 node with a fill of float16 for data of float", np.nan, 17, ""),
    "pads of int32": (INT32_PADS, "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ""),
    "pads of uint8": (GIVEN.replace("int64", "uint8"), "Pad (x, pads)", "Pad-11 node with pads of uint8", 0, 11, ""),
    "pads of Microsoft's": (INT32_PADS, "com.microsoft.Pad (x, pads)", "com.microsoft::Pad-1 with pads of int32", 0,
                            17, ""),
    "pads at run time": ("", "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ", int32[4] pads"),
    "computed pads": ("int32[4] n = {0, -1, 0, -2}", "Pad (x, pads)", "Pad-13 node with pads of int32", 0, 17, ""),
    "axes of int16": ("int64[2] pads = {1, 2}, int16[1] axes = {1}", "Pad (x, pads, , axes)",
                      "Pad-18 node with axes of int16", 0, 18, ""),
    "value as an integer": ("", "Pad <pads = [0, 1, 0, 2], value = 3> (x)", "Pad-2 node with value as an integer", 3, 9,
                            ""),
}  # fmt: skip


def made(name: str) -> onnx.ModelProto:
    tensors, node, _, _, opset, given = REPAIRED[name]
    before = "pads = Neg (n)" if name == "computed pads" else ""
    return parsed(f"(float[2, 3] x{given}) => (float[] y) <{tensors}> {{ {before} y = {node} }}", opset)


def kernels(source: onnx.ModelProto, **feeds: np.ndarray) -> bytes:
    """What onnxruntime gives with padops' Python kernels, which only models of this target have."""
    return native.session(source, pyop_sessions.options()).run(None, feeds)[0].tobytes()


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str, tmp_path: Path, cli: Cli) -> None:
    source, (_, _, form, value, *_) = made(name), REPAIRED[name]
    feeds = {"x": X} | ({"pads": np.array(AMOUNTS, np.int32)} if len(source.graph.input) > 1 else {})
    with pytest.raises(Exception, match="."):  # onnxruntime's exceptions have no common class of their own
        kernels(source, **feeds)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.form) == ("refuses", form)
    expected = np.pad(X, [(0, 0), (1, 2)], constant_values=np.float32(value)).tobytes()
    assert cli("inspect", save(tmp_path / "m.onnx", source), "--check")[0] == 3
    for options in (*ROADS, {"target": "pyop"}):
        conversion = padops.convert(source, strict=True, **options)
        assert len(conversion.converted) == 1
        assert kernels(conversion.proto(), **feeds) == expected, options
    assert padops.InferenceSession(source.SerializeToString()).run(None, feeds)[0].tobytes() == expected


def test_types_that_onnx_does_not_infer_end_no_verification() -> None:
    node = helper.make_node("MirrorPad", ["x", "rows"], ["y"], domain="tf", mode="SYMMETRIC")  # it is not imported
    for source in (made("pads of int32"),
                   model([node], tensors=[tensor("rows", [[1, 0], [0, 2]], np.int32)])):  # fmt: skip
        conversion = padops.convert(source, verify=True, run=True, custom_domains=["tf"])
        assert conversion.verification.verdict == "proved"


def test_a_mode_without_a_fill_takes_one_of_any_type() -> None:
    """No float16 is 1e10, and mode edge uses no fill (P7)."""
    source = parsed("""(float16[2, 3] x) => (float16[] y) <int64[4] p = {0, 1, 0, 2}, float f = {1e10}>
        { y = Pad <mode = "edge"> (x, p, f) }""", 13)  # fmt: skip
    x = X.astype(np.float16)
    session = padops.InferenceSession(source.SerializeToString())
    assert session.run(None, {"x": x})[0].tobytes() == np.pad(x, [(0, 0), (1, 2)], "edge").tobytes()
    assert padops.convert(source, verify=True).verification.verdict == "proved"


NAMED = {  # the data and other inputs, the tensors, and what is said of the last input
    "no integer": ("int32[2, 3] x", f"{GIVEN}, float f = {{0.5}}",
                   "its fill is float, and its data are int32; a cast changes 0.5 to 0; use a fill of int32"),
    "too large": ("float16[2, 3] x", f"{GIVEN}, float f = {{-1e9}}",
                  "its fill is float, and its data are float16; a cast changes -1000000000.0 to -inf; "
                  "use a fill of float16"),
    "too small": ("int8[2, 3] x", f"{GIVEN}, int64 f = {{-129}}",
                  "its fill is int64, and its data are int8; a cast changes -129 to 127; use a fill of int8"),
    "at run time": ("float[2, 3] x, double f", GIVEN,
                    "its fill is double, and its data are float; the fill is computed; cast the fill to float"),
    "pads of float": ("float[2, 3] x, float[4] pads", "", "its input pads is of type float, expected integers"),
    "pads beyond int64": ("float[2, 3] x", "uint64[4] pads = {0, 9223372036854775808, 0, 0}",
                          "its input pads has 9223372036854775808, which int64 cannot hold"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_what_cannot_be_repaired_is_named(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given, tensors, why = NAMED[name]
    node = "Pad (x, pads)" if "pads" in name else FILLED
    source = parsed(f"({given}) => ({given.partition('[')[0]}[] y) <{tensors}> {{ y = {node} }}", 13)
    (facts,) = padops.inspect(source).pads
    assert (facts.verdict, facts.why) == ("refuses", f"ONNX Runtime refuses this form: {facts.form}; {why}")
    for options in ({}, {"target": "onnx"}, {"select": "needed"}, {"verify": True}):
        with pytest.raises(padops.PadsLeftError) as error:
            padops.convert(source, tmp_path / "o.onnx", **options)
        assert str(error.value).endswith(why) and not list(tmp_path.iterdir())
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        padops.InferenceSession(source.SerializeToString())
    assert caplog.messages == [f"padops cannot convert the model: {facts.path}: {facts.why}"]


@pytest.mark.parametrize("place", ["pads", "pads and axes", "Constant", "Identity", "unknown rank"])
def test_amounts_in_an_external_file(place: str, tmp_path: Path) -> None:
    """The amounts move into the model, and their file is not copied: nothing reads it."""
    tensors, nodes = [tensor("pads", [0, 2, 0, 1])], [pad()]
    if place == "pads and axes":  # which turn the amounts around
        tensors, nodes = [*tensors, tensor("axes", [0, 1])], [pad(["x", "pads", "", "axes"])]
    elif place == "Constant":
        tensors, nodes = [], [helper.make_node("Constant", [], ["pads"], value=tensors[0]), pad()]
    elif place == "Identity":
        nodes = [helper.make_node("Identity", ["pads"], ["amounts"]), pad(["x", "amounts"])]
    dims = None if place == "unknown rank" else [2, 3]
    source = model(nodes, 18, inputs=[("x", FLOAT, dims)], tensors=tensors)
    path, out = tmp_path / "m.onnx", tmp_path / "out" / "o.onnx"
    beside = {"save_as_external_data": True, "location": "data", "size_threshold": 0, "convert_attribute": True}
    onnx.save(source, path, **beside)
    (facts,) = padops.inspect(path).pads
    which = "pads and axes" if place == "pads and axes" else "pads"
    assert facts.why.endswith(f"ONNX Runtime refuses constant {which} in an external file")
    assert facts.verdict == ("refuses" if dims else "runs if")
    if dims:
        with pytest.raises(Exception, match="Cannot parse data from external tensors"):
            onnxruntime.InferenceSession(path)
    expected = np.pad(X, [(0, 0), (2, 1)]).tobytes()
    assert padops.InferenceSession(path).run(None, {"x": X})[0].tobytes() == expected
    out.parent.mkdir()
    for options in ROADS:
        padops.convert(path, out, **options)
        assert [file.name for file in out.parent.iterdir()] == ["o.onnx"]
        assert kernels(onnx.load(out), x=X) == expected


def test_a_fill_that_no_cast_brings_to_the_type_of_the_data() -> None:
    source = parsed("""(uint8[2] x) => (uint2[n] y)
        { p = Constant <value_ints = [1, 1]> () b = Cast <to = 25> (x) y = Pad (b, p, f) }""", 25, 11)  # fmt: skip
    source.graph.initializer.add(name="f", data_type=TensorProto.INT2, raw_data=b"\1")
    (row,) = padops.convert(source, fold=False).unconverted
    assert row.reason.startswith("its fill is int2, and its data are uint2; give the Pad a fill")


def test_axes_of_rank_two_and_data_of_unknown_rank() -> None:
    (record,) = padops.convert(parsed("""(float[] x) => (float[] y) <int64[2] p = {1, 1}, int64[1, 1] a = {0}>
        { y = Pad (x, p, , a) }""", 18)).records  # fmt: skip
    assert record.facts.amounts is None
