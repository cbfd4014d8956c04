"""Folding: Pads that change nothing, or that a window or another Pad takes; the bits, and what is told."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
import roads
from case_strategies import drawn
from folding_models import fold, operators, outcomes, padded, run
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, parser
from small_models import FLOAT, HALF, INT8, INT32, UINT8, model, pad, parsed

import padops
from padops.convert import PadopsError

Z4, Z2, NONE = "int64[4] z = {0, 0, 0, 0}", "int64[2] z = {0, 0}", "[0, 0, 0, 0]"
FORMS = {
    "Pad-1": (1, f"Pad <paddings = {NONE}> (x)", ""),
    "Pad-2": (10, f'Pad <pads = {NONE}, mode = "edge"> (x)', ""),
    "Pad-2 under 13": (13, f"Pad <pads = {NONE}> (x)", ""),
    "Pad-13": (17, 'Pad <mode = "reflect"> (x, z)', Z4),
    "Pad-18 with axes": (18, "Pad (x, z, , a)", f"{Z2}, int64[1] a = {{-1}}"),
    "Pad-19 wrap": (19, 'Pad <mode = "wrap"> (x, z)', Z4),
    "com.microsoft": (17, "com.microsoft.Pad (x, z)", Z4),
    "padops Pad_2": (17, f"padops.Pad_2 <pads = {NONE}> (x)", ""),
    "padops Pad_18": (17, "padops.Pad_18 (x, z)", Z4),
    "padops OpenVINOPad_12": (17, 'padops.OpenVINOPad_12 <pad_mode = "symmetric"> (x, z, z)', Z2),
    "padops NGraphPad_0": (17, "padops.NGraphPad_0 <padding_below = [0, 0], padding_above = [0, 0]> (x, f)",
                           "float f = {7}"),
}  # fmt: skip


@pytest.mark.parametrize(("form", "dims"), [(form, ("[2, 3]", "[?, w]", "[]")[i % 3]) for i, form in enumerate(FORMS)])
def test_nothing_is_left_of_a_pad_that_changes_nothing(form: str, dims: str) -> None:
    opset, made, tensors = FORMS[form]
    runs = opset != 1  # ONNX Runtime has nothing of opset 1
    held = ", ".join(filter(None, [tensors, f"float{dims} p" if runs else ""]))
    text = f"(float{dims} x) => (float[] y) <{held}> {{ [pad] p = {made} y = Relu (p) }}"
    conversion = fold(parsed(text, opset, 8 if runs else 3), verify=runs, run=runs)
    message = conversion.proto()
    assert outcomes(conversion) == [("pad", "folded", ())]
    assert conversion.records[0].notes == ("it changes nothing",)
    assert operators(message) == ["Relu"] and list(message.graph.node[0].input) == ["x"]
    assert not message.graph.initializer and not message.graph.value_info and not message.functions
    assert "padops" not in {row.domain for row in message.opset_import}
    assert not runs or conversion.verification.outcome == ("runs" if form == "Pad-2 under 13" else "equal")
    again = fold(message)
    assert again.proto() == message and again.records == () and again.notes == ("the model has no Pad",)


SQUARE = "padops.SamePad_1 <kernel_shape = [3]> (x)"
VALID = SQUARE.replace(">", ', auto_pad = "VALID">')
OTHERS = [  # the node, its tensors, the dims of the data, and what becomes of it
    (VALID, "", "n, c, w", "folded"),
    (VALID, "", "", "folded"),
    (SQUARE.replace("3", "1"), "", "1, 2, 8", "folded"),
    (SQUARE, "", "1, 2, 8", "already converted"),
    (SQUARE.replace(">", ", strides = [8]>"), "", "1, 2, w", "already converted"),
    ("Pad (x, n, , a)", "int64[1] n = {0}, int64[1] a = {-1}", "", "unconverted"),
    ("Pad (x, n, , a)", "int64[4] n = {0, 0, 0, 0}, int64[1] a = {0}", "", "unconverted"),
    ("Pad (x, n, , a)", "int64[4] n = {0, 0, 0, 0}, int64[2] a = {1, 1}", "", "unconverted"),
]


@pytest.mark.parametrize(("node", "tensors", "dims", "status"), OTHERS)
def test_windows_and_broken_rules(node: str, tensors: str, dims: str, status: str) -> None:
    """SamePad_1 follows from the shape, but not around one element; amounts of nothing may break a rule (P8)."""
    text = f"(float[{dims}] x) => (float[] y) <{tensors}> {{ p = {node} y = Relu (p) }}"
    assert [record.status for record in fold(parsed(text, 18)).records] == [status]


def test_outputs_keep_their_names_and_their_order() -> None:
    """A Pad whose output is one of the graph becomes Identity; a value may be several outputs' data."""
    source = parsed(f"""(float[2, 3] x) => (float[] a, float[] b, float[] c, float[] r) <{Z4}>
        {{ [relu] r = Relu (x) [one] b = Pad (r, z) [two] a = Pad (x, z) [last] c = Relu (b) }}""")
    conversion = fold(source, verify=True, run=True)
    message = conversion.proto()
    assert message.graph.output == source.graph.output
    assert operators(message) == ["Relu", "Identity", "Identity", "Relu"]
    assert [n.name for n in message.graph.node] == ["relu", "one", "two", "last"]
    assert [record.notes for record in conversion.records] == [("it changes nothing",)] * 2
    assert conversion.verification.outcome == "equal"
    assert fold(message).proto() == message


def test_command_line(tmp_path: Path, cli: Any) -> None:
    source, output, report = tmp_path / "in.onnx", tmp_path / "out.onnx", tmp_path / "report.json"
    onnx.save(padded([0, 0, 1, 0, 0, 1], "Conv", others={"w": np.ones((2, 1, 3), np.float32)}), source)
    code, told, _ = cli("convert", source, "-o", output, "--verify", "--run", "--report", report)
    assert code == 0 and all(
        words in told for words in ("in graph/node", "pads [1, 1]", "1 Pad: 1 folded; wrote", "bit-equal")
    )
    data = json.loads(report.read_text())
    (row,) = data["pads"]
    assert (data["counts"]["folded"], row["into"], row["op_type"]) == (1, ["graph/node"], None)
    assert row["status"] == "folded" and operators(onnx.load(output)) == ["Conv"]
    code, told, _ = cli("convert", source, "-o", output, "--no-fold", "--no-fallback")
    assert code == 0 and "padops::Pad_13" in told and operators(onnx.load(output)) == ["padops::Pad_13", "Conv"]
    code, told, _ = cli("convert", output, "--in-place", "--verify", "--run")
    assert code == 0 and "1 folded" in told and operators(onnx.load(output)) == ["Conv"]


@pytest.mark.parametrize(("dims", "pads", "op", "status"), [
    ("2, 3", Z4, "Add", "folded"), ("1, 1, 5", "int64[6] z = {0, 0, 1, 0, 0, 1}", "Conv", "converted"),
])  # fmt: skip
def test_a_hidden_name(dims: str, pads: str, op: str, status: str) -> None:
    """In the branch, x is another value than outside it, so that it cannot stand for p there."""
    then = f"then () => (float[] t) {{ x = Relu (c2) t = {op} (p, x) }}"
    other = then if op == "Conv" else "else () => (float[] e) { e = Neg (p) }"
    conversion = fold(parsed(f"""(float[{dims}] x, bool c, float[{dims.replace("5", "3")}] c2) => (float[] y) <{pads}>
        {{ [pad] p = Pad (x, z) y = If (c) <then_branch = {then}, else_branch = {other}> }}"""))  # fmt: skip
    assert [record.status for record in conversion.records] == [status]
    assert status == "converted" or operators(conversion.proto()) == ["Identity", "If"]


def test_functions() -> None:
    """Behind a node; where the output of the function is the Pad's, an Identity stays."""
    conversion = fold(parsed("""(float[2, 3] x) => (float[] y) { y = d.Block (x) } FUNCTION Block (i) => (o)
        { z = Constant <value = int64[4] {0, 0, 0, 0}> () [one] p = Pad (i, z) q = Relu (p) [two] o = Pad (q, z) }
    """), verify=True, run=True)  # fmt: skip
    assert operators(conversion.proto().functions[0]) == ["Relu", "Identity"]
    assert [record.path for record in conversion.records] == ["function d::Block/one", "function d::Block/two"]
    assert conversion.verification.outcome == "equal"


# --- convolutions and poolings that take the amounts ------------------------------------------------------------------

W = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
X = np.random.default_rng(1).standard_normal((2, 3, 7, 6)).astype(np.float32)
AROUND = [0, 0, 1, 2, 0, 0, 0, 1]  # of which [1, 2, 0, 1] is spatial
PADS = "int64[8] pads = {0, 0, 1, 2, 0, 0, 0, 1}"
WEIGHTS = "float[4, 3, 3, 3] w"


def attributes_of(message: onnx.ModelProto) -> dict[str, Any]:
    (node,) = message.graph.node
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


Q = {"xs": np.float32(0.02), "xz": np.uint8(7), "w": np.arange(108, dtype=np.uint8).reshape(4, 3, 3, 3),
     "ws": np.float32(0.01), "wz": np.uint8(9), "ys": np.float32(0.1), "yz": np.uint8(3)}  # fmt: skip
SEVEN = {"fill": 7, "kind": UINT8}
conv = partial(padded, AROUND, "Conv", others={"w": W})
integer = partial(padded, AROUND, "ConvInteger", result=INT32)
pool = partial(padded, AROUND, "MaxPool", kernel_shape=[3, 3])
average = partial(padded, AROUND, "AveragePool", kernel_shape=[3, 3])
WQ, SPATIAL = {"w": Q["w"]}, [1, 2, 0, 1]
TAKING = {
    "Conv": (conv(), SPATIAL),
    "Conv of opset 22": (conv(opset=22), SPATIAL),
    "Conv with pads": (conv(pads=[3, 0, 0, 1]), [4, 2, 0, 2]),
    "Conv with pads beyond the kernel": (padded([0, 0, 5, 0, 0, 0, 0, 4], "Conv", others={"w": W}), [5, 0, 0, 4]),
    "Conv with auto_pad VALID": (conv(auto_pad="VALID"), SPATIAL),
    "Conv with auto_pad NOTSET": (conv(auto_pad="NOTSET"), SPATIAL),
    "Conv with strides": (conv(strides=[2, 3], dilations=[2, 1]), SPATIAL),
    "Conv and a fill": (conv(fill=[0.0]), SPATIAL),
    "Conv of float16": (conv(others={"w": W.astype(np.float16)}, kind=HALF), SPATIAL),
    "ConvInteger": (integer(others=WQ, kind=UINT8), SPATIAL),
    "ConvInteger and a zero point": (integer(others=WQ | {"xz": Q["xz"]}, **SEVEN), SPATIAL),
    "QLinearConv": (padded(AROUND, "QLinearConv", others=Q, **SEVEN), SPATIAL),
    "MaxPool of uint8": (pool(kind=UINT8), SPATIAL),
    "MaxPool of int8": (pool(kind=INT8, fill=-128, strides=[2, 1]), SPATIAL),
    "AveragePool": (average(), SPATIAL),
    "AveragePool that counts": (
        padded([0, 0, 0, 1, 0, 0, 0, 1], "AveragePool", count_include_pad=1, pads=[1, 1, 2, 0], kernel_shape=[3, 3]),
        [1, 2, 2, 1]),
    "AveragePool with dilations": (average(opset=19, dilations=[2, 1]), SPATIAL),
}  # fmt: skip


def data_of(message: onnx.ModelProto) -> np.ndarray:
    kind = message.graph.input[0].type.tensor_type.elem_type
    if kind in (UINT8, INT8):
        info = np.iinfo(np.uint8 if kind == UINT8 else np.int8)
        return np.random.default_rng(2).integers(info.min, info.max + 1, X.shape).astype(info.dtype)
    return X.astype(np.float16) if kind == HALF else X


@pytest.mark.parametrize("row", TAKING)
def test_bits_at_every_level(row: str) -> None:
    """The folded model, the one with ONNX's own Pad and the one with that of padops."""
    source, pads = TAKING[row]
    conversion = fold(source)
    message = conversion.proto()
    assert outcomes(conversion) == [("pad", "folded", ("node",))]
    assert conversion.records[0].notes == (f"pads {pads}",)
    assert attributes_of(message)["pads"] == pads and "auto_pad" not in attributes_of(message)
    kept = fold(source, fold=False).proto()
    feeds = {"x": data_of(source)}
    for level in roads.LEVELS:
        made = run(message, feeds, level)
        assert made == run(source, feeds, level) == run(kept, feeds, level), level
    assert fold(message).proto() == message
    # What an earlier conversion made, and the other targets.
    assert fold(kept).proto().graph == message.graph
    assert "padops" not in {row.domain for row in fold(kept).proto().opset_import}
    for target in ("onnx", "pyop"):
        assert fold(source, target=target).proto() == message
        if target == "onnx" or message.graph.input[0].type.tensor_type.elem_type != HALF:
            apart = fold(source, target=target, fold=False).proto()
            if len(apart.graph.node) == 2:
                assert operators(fold(apart, target=target).proto()) == operators(message)


def test_a_zero_point_that_is_the_fill() -> None:
    """The fill and the zero point are one value, so they are equal whatever it is at run time."""
    source = parsed(f"""(uint8[n, 3, h, i] x, uint8 f, uint8[4, 3, 3, 3] w) => (int32[] y) <{PADS}>
        {{ [pad] p = Pad (x, pads, f) [node] y = ConvInteger (p, w, f) }}""")
    message = fold(source).proto()
    assert operators(message) == ["ConvInteger"]
    feeds = {"x": data_of(source), "f": np.array(11, np.uint8), "w": Q["w"]}
    assert run(message, feeds) == run(source, feeds)


def test_several_consumers() -> None:
    nodes = """[pad] p = Pad (x, pads) [one] a = Conv (p, w) [two] b = Conv <pads = [1, 1, 1, 1]> (p, w)
        [three] d = AveragePool <kernel_shape = [3, 3]> (p) r = Relu ({})"""
    signature = f"(float[n, 3, h, i] x, {WEIGHTS}) => (float[] a, float[] b, float[] d, float[] r) <{PADS}>"
    source, other = (parsed(f"{signature} {{ {nodes.format(value)} }}") for value in ("x", "p"))
    conversion = fold(source)
    assert outcomes(conversion) == [("pad", "folded", ("one", "two", "three"))]
    assert conversion.records[0].notes == ("pads [1, 2, 0, 1], pads [2, 3, 1, 2]",)
    for level in roads.LEVELS:
        assert run(conversion.proto(), {"x": X, "w": W}, level) == run(source, {"x": X, "w": W}, level)
    assert [record.status for record in fold(other).records] == ["converted"]


def test_pads_of_tensorflow() -> None:
    """TensorFlow's Pads fold in the form to which they are converted."""
    tensors = "int32[4, 2] rows = {0, 0, 0, 0, 1, 2, 0, 1}, float fill = {0}"
    source = parsed(f"""(float[n, 3, h, i] x, {WEIGHTS}) => (float[] y) <{tensors}>
        {{ [pad] p = tf.PadV2 (x, rows, fill) [node] y = Conv (p, w) }}""")
    conversion = fold(source, custom_domains=["tf"])
    assert outcomes(conversion) == [("pad", "folded", ("node",))]
    assert conversion.records[0].form == "TensorFlow PadV2 in the domain 'tf'"
    assert attributes_of(conversion.proto())["pads"] == [1, 0, 2, 1]


ORDER = "which of a fill and a NaN is the largest depends on the order"
KERNEL = "ONNX Runtime refuses pads as large as the kernel"
# By the reason in short: the model, and the reason after the name of the node; None where there is nothing to say.
REFUSED: dict[str, tuple[onnx.ModelProto, str | None]] = {
    "reflect": (conv(mode="reflect"), None),
    "a negative amount": (padded([0, 0, -1, 2, 0, 0, 0, 1], "Conv", others={"w": W}),
                          "not all amounts are positive or 0"),
    "the batch": (padded([1, 0, 1, 2, 0, 0, 0, 1], "Conv", others={"w": W}), "the batch is padded"),
    "the channels": (padded([0, 0, 0, 0, 0, 1, 0, 0], "Conv", others={"w": W}), "the channels are padded"),
    "a fill": (conv(fill=0.5), "the fill is not 0"),
    "a fill of -0": (conv(fill=-0.0), "the fill is not 0"),
    "auto_pad": (conv(auto_pad="SAME_LOWER"), "auto_pad is SAME_LOWER"),
    "VALID beside pads": (conv(auto_pad="VALID", pads=[1] * 4), "auto_pad and pads are given together"),
    "other pads": (conv(pads=[1] * 6), "its pads are [1, 1, 1, 1, 1, 1]"),
    "another zero point": (integer(others=WQ | {"xz": np.uint8(8)}, **SEVEN), "the fill is not the zero point"),
    "no zero point": (integer(others=WQ, **SEVEN), "the fill is not the zero point"),
    "ConvTranspose": (padded(AROUND, "ConvTranspose", others={"w": W[:3]}), "its pads crop the output"),
    "MaxPool of floats": (pool(fill=-np.inf), ORDER),
    "MaxPool with 0": (pool(), ORDER),
    "MaxPool of int8 with 0": (pool(kind=INT8), "the fill is not the lowest value of int8"),
    "a window that is too small": (padded([0, 0, 3, 0, 0, 0, 0, 0], "AveragePool", kernel_shape=[3, 3]), KERNEL),
    "both pads too large": (average(pads=[2, 0, 0, 0], count_include_pad=1), KERNEL),
    "ceil_mode": (average(ceil_mode=1), "with ceil_mode the last window may begin in the padding"),
    "averages of data": (average(pads=[1, 0, 0, 0]), "it does not count its own padding"),
    "an axis of nothing": (padded([0, 0, 1, 0, 0, 1], "AveragePool", kernel_shape=[2], shape=[1, 1, 0]),
                           "ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads"),
    "averages that releases miscount": (
        padded([0, 0, 0, 0, 0, 0, 1, 1], "AveragePool", opset=19, kernel_shape=[3, 3]),
        "onnxruntime 1.21 to 1.24 count such padding of an AveragePool wrongly ([0, 0, 1, 1])"),
    "averages of opset 6": (
        model([pad(["x"], "p", name="pad", pads=AROUND),
               helper.make_node("AveragePool", ["p"], ["y"], name="node", kernel_shape=[3, 3])],
              6, inputs=[("x", FLOAT, [None] * 4)]), "it counts its padding from opset 7 on"),
    "another operator": (padded(AROUND), None),
    "weights that are padded": (
        padded(AROUND, helper.make_node("Conv", ["w", "p"], ["y"], name="node"), others={"w": X}, shape=[4, 3, 3, 3]),
        None),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_refusals(why: str) -> None:
    source, reason = REFUSED[why]
    (record,) = fold(source).records
    assert (record.status, record.into) == ("converted", ())
    assert record.notes == (() if reason is None else (f"not folded: {source.graph.node[1].op_type} node: {reason}",))


# --- amounts that follow from constants -------------------------------------------------------------------------------

CHAIN = "pads = Concat <axis = 0> (begins, ends)"


@pytest.mark.parametrize("target", ["padops", "onnx", "pyop"])
def test_two_pads_of_chains_become_one(target: str) -> None:
    source = parsed(f"""(float[n, m] x) => (float[] y) <int64[2] begins = {{1, 0}}, int64[2] ends = {{0, 2}}>
        {{ {CHAIN} [first] p = Pad <mode = "edge"> (x, pads) [second] y = Pad <mode = "edge"> (p, pads) }}""")
    conversion, feeds = fold(source, target=target), {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    assert outcomes(conversion)[0] == ("first", "folded", ("second",))
    assert "Concat" not in operators(conversion.proto())
    options = native.session_options()
    padops.register(options, backend="pyop")
    (made,) = native.session(conversion.proto(), options).run(None, feeds)
    assert [native.bits(made)] == run(source, feeds)


NOT_KNOWN = {  # a half that the caller may override; and what is said of the output alone is its rank at most
    "a caller": (f"(float[2, 3, 7, 6] x, {WEIGHTS}, int64[4] begins = {{0, 0, 1, 2}}) => (float[] y) <int64[4] ends = "
                 f"{{0, 0, 0, 1}}> {{ {CHAIN} [pad] p = Pad (x, pads) [conv] y = Conv (p, w) }}", "converted"),
    "a window": (f"(float[] x, {WEIGHTS}) => (float[] y) <float[2, 3, 9, 7] p> {{ [pad] p = padops.SamePad_1 "
                 "<kernel_shape = [3, 3], strides = [2, 2]> (x) [conv] y = Conv <strides = [2, 2]> (p, w) }",
                 "already converted"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_amounts_that_are_not_known(name: str) -> None:
    text, status = NOT_KNOWN[name]
    (record,) = fold(parsed(text)).records
    assert (record.status, record.notes[-1]) == (status, "not folded: Conv conv: the amounts are not known")


def test_an_amount_that_the_caller_may_override_is_not_known_to_be_too_long() -> None:
    source = parsed(f"""(float[8] x, int64[1] begins = {{11}}) => (float[] y) <int64[1] ends = {{0}}>
        {{ {CHAIN} y = Pad <mode = "reflect"> (x, pads) }}""")
    (record,) = fold(source, select="needed", fold=False).records
    assert record.status == "not needed" and record.reason.endswith("elements to reflect")


WRONG = {
    "no step": "p = Range (zero, two, zero)",
    "steps without end": "q = Range (none, endless, ones) p = Cast <to = 7> (q)",
    "start of two": "p = Range (both, two, one)",
    "ints of a string": 'p = Constant <value_ints = "abc"> ()',
    "string of ints": "p = Constant <value_string = [1, 2]> ()",
    "shape of nothing": "p = Shape ()",
    "range of one": "p = Range (two)",
    "by zero": "p = Div (both, both)",
}


@pytest.mark.parametrize("imports", ['"": 18, ', '"": 30, ', ""], ids=["opset 18", "opset 30", "no opset"])
@pytest.mark.parametrize("chain", WRONG.values(), ids=WRONG)
def test_a_chain_that_is_wrong_is_not_known(chain: str, imports: str) -> None:
    """It is left to the runtime, or the model is refused."""
    source = parser.parse_model(f"""
        <ir_version: 8, opset_import: [{imports}"padops": 1]> g (float[4] x) => (float[n] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64[2] both = {{0, 1}},
         float none = {{0}}, float endless = {{1}}, float ones = {{1}}> {{ {chain} y = padops.Pad_18 (x, p) }}
    """)
    next(t for t in source.graph.initializer if t.name == "endless").float_data[:] = [np.inf]
    try:
        (record,) = padops.convert(source).records
    except PadopsError as error:
        assert "has 0 inputs" in str(error) or "has 1 input" in str(error)
    else:
        assert record.status in ("already converted", "unconverted")  # P8


# --- random Pads in front of a convolution, a pooling or another Pad --------------------------------------------------


@st.composite
def cases(draw: Any) -> tuple[onnx.ModelProto, np.ndarray]:
    """A constant Pad in front of a node that may or may not take it, and data with every kind of number."""
    rank = draw(st.integers(1, 3))
    op = draw(st.sampled_from(["Conv", "ConvInteger", "AveragePool", "MaxPool"]))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channels = draw(st.sampled_from([1, 3, 8, 16]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": [draw(st.integers(1, 3)) for _ in range(rank)]}
    if op != "AveragePool":
        attributes["dilations"] = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = draw(st.integers(0, 1))
    if op in ("AveragePool", "MaxPool"):
        attributes["ceil_mode"] = draw(st.sampled_from([0, 0, 0, 1]))
    begins, ends = ([draw(st.integers(least, 3)) for _ in range(rank)] for least in (-1, 0))
    amounts = [0, 0, *begins, 0, 0, *ends]
    dtype = np.dtype(draw(st.sampled_from({"Conv": ["f4", "f2"], "ConvInteger": ["u1", "i1"],
                                           "AveragePool": ["f4", "f2"],
                                           "MaxPool": ["u1", "i1", "f4"]}[op])))  # fmt: skip
    shape = [draw(st.integers(1, 2)), channels, *(draw(st.integers(7, 12)) for _ in range(rank))]
    data = _data(seed, shape, dtype, draw(st.sampled_from(["plain", "plain", "special"])))
    fill = None if dtype.kind == "f" else int(seed.choice([np.iinfo(dtype).min, 0, 5]))
    others: dict[str, np.ndarray] = {}
    if op.startswith("Conv"):
        group = draw(st.sampled_from([1, channels]))
        attributes["group"] = group
        weights = (group * draw(st.sampled_from([1, 2, 8])) if group == 1 else channels, channels // group, *kernel)
        others["w"] = _data(seed, weights, dtype, "plain")
        if op == "ConvInteger":
            others["xz"] = np.array(seed.choice([fill, 3]), dtype)
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    result = INT32 if op == "ConvInteger" else kind
    return padded(amounts, op, others=others, kind=kind, result=result, fill=fill, **attributes), data


def _data(rng: np.random.Generator, shape: Any, dtype: np.dtype, what: str) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    data = rng.standard_normal(shape).astype(dtype)
    if what == "special":
        for value in (-0.0, 0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny):
            data[rng.random(shape) < 0.05] = value
    return data


@drawn(40)
@given(cases())
def test_random_models(case: tuple[onnx.ModelProto, np.ndarray]) -> None:
    """A folded model has the bits of ONNX Runtime's Pad at each level; any other has those without optimisation."""
    source, data = case
    conversion = fold(source)
    folded = conversion.records[0].status == "folded"
    for level in roads.LEVELS if folded else ("disable",):
        assert run(conversion.proto(), {"x": data}, level) == run(source, {"x": data}, level)
    assert fold(conversion.proto()).proto() == conversion.proto()


# --- two Pads in a row ------------------------------------------------------------------------------------------------

PLAIN = "Pad-13"
# By form, a Pad of rank 2 in text: the node, and the tensors. FILL is ", " and the name of the fill, or nothing.
IN_A_ROW = {
    "Pad-2": ('Pad <mode = "MODE", pads = [B0, B1, E0, E1]VALUE> (X)', "int64[1] @u = {0}"),
    PLAIN: ('Pad <mode = "MODE"> (X, @pFILL)', "int64[4] @p = {B0, B1, E0, E1}"),
    "Pad_19": ('padops.Pad_19 <mode = "MODE"> (X, @pFILL)', "int64[4] @p = {B0, B1, E0, E1}"),
    "Pad-18 axes": ('Pad <mode = "MODE"> (X, @pFIL2, @a)', "int64[4] @p = {B1, B0, E1, E0}, int64[2] @a = {-1, 0}"),
    "OpenVINOPad_12": ('padops.OpenVINOPad_12 <pad_mode = "MODE"> (X, @b, @eFILL)',
                       "int32[2] @b = {B0, B1}, int64[2] @e = {E0, E1}"),
    "NGraphPad_0": (
        'padops.NGraphPad_0 <pad_mode = "Mode", padding_below = [B0, B1], padding_above = [E0, E1]> (X, @f)',
        "int64[1] @u = {0}"),
}  # fmt: skip


def two(first: tuple, second: tuple, outputs: str = "y", more: str = "") -> onnx.ModelProto:
    """Two Pads in a row, of a form, amounts, mode and fill each; and other nodes."""
    nodes, tensors = "", []
    for role, x, y, (form, amounts, mode, fill) in (("first", "x", "p", first), ("second", "p", "y", second)):
        node, held = IN_A_ROW[form]
        words = {"MODE": mode, "Mode": mode.upper(), "VALUE": "" if fill is None else f", value = {fill}", "X": x,
                 "FILL": "" if fill is None else f", {role}f", "FIL2": ", " if fill is None else f", {role}f",
                 "@": role} | dict(zip(("B0", "B1", "E0", "E1"), map(str, amounts)))  # fmt: skip
        for word, meaning in words.items():
            node, held = node.replace(word, meaning), held.replace(word, meaning)
        nodes += f"[{role}] {y} = {node} "
        tensors += [held, f"float {role}f = {{{0.0 if fill is None else fill}}}"]
    shown = ", ".join(f"float[] {name}" for name in outputs)
    return parsed(f"(float[a, b] x) => ({shown}) <{', '.join(tensors)}> {{ {nodes} {more} }}", 19)


def _counted(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def small(least: int) -> Any:
    return st.tuples(*[st.integers(least, 3)] * 4)


@drawn(80)
@given(st.booleans(), st.sampled_from([*IN_A_ROW]), st.sampled_from([*IN_A_ROW]), small(0), small(-3),
       st.sampled_from([None, 0.0, 1.5, -0.0]), st.tuples(st.integers(0, 4), st.integers(0, 4)))  # fmt: skip
def test_sums(edge: bool, one: str, other: str, first: Any, second: Any, fill: Any, shape: tuple[int, int]) -> None:
    """The sum of both, in every pair of forms, for every shape; constants may crop behind what is added."""
    mode = "edge" if edge else "constant"
    if edge:
        second, fill, shape = tuple(map(abs, second)), None, (shape[0] or 1, shape[1] or 1)
    source = two((one, first, mode, fill), (other, second, mode, fill))
    message, kept = fold(source).proto(), fold(source, fold=False).proto()
    assert len(message.graph.node) == 1
    assert _run_or_fail(message, _counted(*shape)) == _run_or_fail(kept, _counted(*shape))
    assert fold(message).proto() == message


def _run_or_fail(message: onnx.ModelProto, x: np.ndarray) -> Any:
    states = onnxruntime.capi.onnxruntime_pybind11_state
    try:
        return run(message, {"x": x})
    except (states.Fail, states.InvalidArgument) as error:
        assert "[P1]" in str(error), error
        return "a negative output dim"


ROWS, COLUMNS = (2, 0, 1, 0), (0, 1, 0, 2)


@pytest.mark.parametrize("form, mode", [(PLAIN, "reflect"), ("Pad_19", "wrap"), ("OpenVINOPad_12", "symmetric"),
                                        ("NGraphPad_0", "reflect")])  # fmt: skip
def test_axes_apart(form: str, mode: str) -> None:
    for first, second in ((ROWS, COLUMNS), (COLUMNS, ROWS)):
        source = two((form, first, mode, None), (form, second, mode, None))
        conversion, kept = fold(source), fold(source, fold=False).proto()
        assert outcomes(conversion)[0] == ("first", "folded", ("second",))
        for shape in [(3, 3), (4, 5)]:
            assert run(conversion.proto(), {"x": _counted(*shape)}) == run(kept, {"x": _counted(*shape)})


STAYING = {
    "reflect on one axis": ((PLAIN, ROWS, "reflect", None), (PLAIN, ROWS, "reflect", None)),
    "wrap on one axis": (("Pad_19", ROWS, "wrap", None), ("Pad_19", ROWS, "wrap", None)),
    "symmetric on one axis": (("OpenVINOPad_12", ROWS, "symmetric", None), ("OpenVINOPad_12", ROWS, "symmetric", None)),
    "other limits": (("OpenVINOPad_12", ROWS, "reflect", None), (PLAIN, COLUMNS, "reflect", None)),
    "other modes": ((PLAIN, ROWS, "edge", None), (PLAIN, ROWS, "constant", None)),
    "other fills": ((PLAIN, ROWS, "constant", 1.0), (PLAIN, ROWS, "constant", 2.0)),
    "other zeros": ((PLAIN, ROWS, "constant", None), (PLAIN, ROWS, "constant", -0.0)),
    "a crop first": ((PLAIN, (-1, 0, 0, 0), "constant", None), (PLAIN, ROWS, "constant", None)),
    "a crop of edges": ((PLAIN, ROWS, "edge", None), (PLAIN, (-1, 0, 0, 0), "edge", None)),
}


@pytest.mark.parametrize("why", STAYING)
def test_pairs_that_stay(why: str) -> None:
    conversion = fold(two(*STAYING[why]))
    assert len(conversion.proto().graph.node) == 2
    assert conversion.records[0].status in ("converted", "already converted")


def test_what_others_read_stays() -> None:
    row = ((PLAIN, ROWS, "constant", None), (PLAIN, COLUMNS, "constant", None))
    assert len(fold(two(*row, outputs="yp")).proto().graph.node) == 2
    assert len(fold(two(*row, outputs="yr", more="r = Relu (p)")).proto().graph.node) == 3
