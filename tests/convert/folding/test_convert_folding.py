"""Folding: Pads that change nothing, and Pads that convolutions and poolings take; the bits, and what is told."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import pytest
import roads
from folding_models import fold, operators, outcomes, padded, run
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
KERNEL = "ONNX Runtime takes no pads as large as the kernel"
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
    "averages of data": (average(pads=[1, 0, 0, 0]), "it does not count what it pads itself"),
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
