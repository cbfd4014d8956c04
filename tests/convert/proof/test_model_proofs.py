"""What is proved of two models, and what is not: each way in which a verifier could lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from written_models import model

import padops
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Verdict

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = sorted((ROOT / "models").glob("*.onnx"))
PLAIN = "(float[2, 3] x) => (float[a, b] y) { p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad(x, p) }"


def verdict(first: str, second: str, opset: int = 18) -> Verdict:
    return prove(model(first, opset), model(second, opset)).verdict


def causes(proof: Proof) -> str:
    return "; ".join([proof.why, *(region.why for region in proof.regions if region.verdict is not Verdict.PROVED)])


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_conversion_of_each_sample_is_proved(path: Path, tmp_path: Path) -> None:
    padops.convert(path, tmp_path / "converted.onnx")
    converted = onnx.load(tmp_path / "converted.onnx")
    proof = prove(onnx.load(path), converted, functions=False)
    assert proof.verdict is Verdict.PROVED, causes(proof)


def test_names_and_order_say_nothing() -> None:
    first = "(float[n] x) => (float[n] y) { a = Relu(x) b = Neg(x) y = Add(a, b) }"
    second = "(float[n] x) => (float[n] y) { q = Neg(x) p = Relu(x) y = Add(p, q) }"
    swapped = "(float[n] x) => (float[n] y) { a = Neg(x) b = Relu(x) y = Add(a, b) }"
    assert verdict(first, second) is Verdict.PROVED
    assert verdict(first, swapped) is Verdict.UNKNOWN  # a and b are other values, and Add is not looked behind


def test_equal_names_are_no_facts() -> None:
    first = "(float[n] x) => (float[n] y) { a = Relu(x) y = Exp(a) }"
    second = "(float[n] x) => (float[n] y) { a = Neg(x) y = Exp(a) }"
    proof = prove(model(first), model(second))
    assert proof.verdict is Verdict.UNKNOWN and "no rule relates Relu and Neg" in causes(proof)


@pytest.mark.parametrize(
    "other",
    [
        'y = Pad<mode = "edge">(x, p)',
        "q = Constant<value_ints: ints = [0, 1, 0, 2]>() y = Pad(x, q)",
        "f = Constant<value_float = 1.0>() y = Pad(x, p, f)",
        "z = Neg(x) y = Pad(z, p)",
    ],
)
def test_another_pad_is_not_proved(other: str) -> None:
    text = f"(float[2, 3] x) => (float[a, b] y) {{ p = Constant<value_ints: ints = [0, 1, 0, 1]>() {other} }}"
    assert verdict(PLAIN, text) is not Verdict.PROVED


def test_the_smallest_difference_is_told() -> None:
    other = PLAIN.replace("[0, 1, 0, 1]", "[0, 1, 0, 2]")
    proof = prove(model(PLAIN), model(other))
    (region,) = proof.regions
    assert proof.verdict is Verdict.DIFFERENT and region.rule == "positions"
    assert region.why == "the shapes differ: [2, 5] and [2, 6]" and region.counterexample == {"dims": {"x": [2, 3]}}
    assert (region.name, region.original, region.converted) == ("y", ("Pad",), ("Pad",))


DECLARED = """(float[2, n] x) => (float[a, b] y)
<float[2, 4] s>
{ s = Relu(x) p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad(s, p) }"""
AS_DECLARED = """(float[2, n] x) => (float[a, b] y)
{ s = Relu(x) i = Constant<value_ints: ints = [0, 1, 2, 3]>() d = Gather<axis = 1>(s, i)
  p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad(d, p) }"""


def test_a_declared_shape_is_an_assumption() -> None:
    proof = prove(model(DECLARED), model(AS_DECLARED))
    assert proof.verdict is Verdict.PROVED
    assert proof.assumptions == ("what the original declares is right: the value 's' has dims [2, 4]",)
    (region,) = [one for one in proof.regions if one.conditions]
    assert proof.assumptions[0] in region.conditions


def test_what_the_converted_model_declares_is_no_fact() -> None:
    without = DECLARED.replace("<float[2, 4] s>", "")
    declaring = AS_DECLARED.replace("float[a, b] y)", "float[a, b] y)\n<float[2, 4] s>")
    proof = prove(model(without), model(declaring))
    assert proof.verdict is not Verdict.PROVED and not proof.assumptions


def test_the_declared_shape_of_an_output_is_no_fact() -> None:
    first = "(float[n] x) => (float[4] s, float[a] y) { s = Relu(x) y = Neg(s) }"
    second = """(float[n] x) => (float[4] s, float[a] y)
    { s = Relu(x) i = Constant<value_ints: ints = [0, 1, 2, 3]>() d = Gather(s, i) y = Neg(d) }"""
    proof = prove(model(first), model(second))
    (region,) = proof.regions
    assert (proof.verdict, proof.assumptions, region.why) == (Verdict.UNKNOWN, (), "it is not shown: the dim of axis 0")


def test_dims_of_inputs_are_facts() -> None:
    """A runtime refuses others."""
    first = model("(float[4] x) => (float[a] y) { y = Identity(x) }")
    second = "(float[4] x) => (float[a] y) { i = Constant<value_ints: ints = [0, 1, 2, 3]>() y = Gather(x, i) }"
    proof = prove(first, model(second))
    assert proof.verdict is Verdict.PROVED and proof.assumptions == ()


def test_symbols_that_stand_twice_are_named() -> None:
    text = "(float[n] x, float[n] z) => (float[n] y) { y = Add(x, z) }"
    proof = prove(model(text), model(text))
    assert proof.verdict is Verdict.PROVED
    assert proof.assumptions == ("dims of the inputs that have the name 'n' are equal",)


@pytest.mark.parametrize(
    "node, total",
    [
        ("d = Relu(x)", True),
        ("s = Constant<value_ints: ints = [7]>() d = Reshape(x, s)", False),
        ("d = Add(x, x)", False),
    ],
)
def test_what_is_computed_for_nothing_must_not_fail(node: str, total: bool) -> None:
    dead = PLAIN.replace("{ p", f"{{ {node} p")
    proof = prove(model(PLAIN), model(dead))
    assert (proof.verdict is Verdict.PROVED) == total
    if not total:
        assert "computes the value 'd', which no output needs and which might fail" in proof.why
        assert prove(model(dead), model(dead)).verdict is Verdict.PROVED  # the original computes it, too
        assert prove(model(dead), model(PLAIN)).verdict is Verdict.PROVED


def test_a_check_for_nothing_is_proved_beside_the_pad_that_asks_for_the_same() -> None:
    """Gather fails for an index beyond its data: the lowered form of a rule."""
    first = """(float[2, n] x) => (float[a, b] y)
    { m = Constant<value_ints: ints = [0, -2, 0, 0]>() y = Pad(x, m) }"""
    second = """(float[2, n] x) => (float[a, b] y) {
        l = Shape<start = 1, end = 2>(x) t = Constant<value_ints: ints = [LEAST]>()
        e = Sub(l, t) z = Constant<value_ints: ints = [0]>() o = Constant<value_ints: ints = [-1]>()
        h = Min(e, z) c = Add(h, o) one = Constant<value_ints: ints = [5]>() d = Gather(one, c)
        two = Constant<value_ints: ints = [2]>() big = Constant<value_ints: ints = [9223372036854775807]>()
        ax = Constant<value_ints: ints = [1]>() y = Slice(x, two, big, ax) }"""
    held, broken = (prove(model(first), model(second.replace("LEAST", least))) for least in ("2", "3"))
    assert held.verdict is Verdict.PROVED, causes(held)
    assert broken.verdict is Verdict.UNKNOWN and "might fail" in broken.why


BRANCHES = """(bool c, float[2, 3] x) => (float[a, b] y) {{
  y = If(c) <
    then_branch = g1 () => (float[a, b] t) {{ p = Constant<value_ints: ints = {then}>() t = Pad(x, p) }},
    else_branch = g2 () => (float[a, b] e) {{
      q = Constant<value_ints: ints = {other}>() e = Pad<mode = "{mode}">(x, q) }}
  >
}}"""


def test_both_branches_count() -> None:
    texts = [BRANCHES.format(then="[0, 1, 0, 1]", other="[0, 2, 0, 2]", mode=mode) for mode in ("reflect", "edge")]
    assert verdict(texts[0], texts[0]) is Verdict.PROVED
    assert verdict(*texts) is not Verdict.PROVED


def test_bodies_are_compared_whatever_their_names() -> None:
    first = """(int64 m, bool c, float[2] x) => (float[a] y) {
      y = Loop(m, c, x) <body = g1 (int64 i, bool go, float[k] s) => (bool stay, float[a] t)
        { stay = Identity(go) p = Constant<value_ints: ints = [0, 1]>() t = Pad(s, p) }> }"""
    second = first.replace("(int64 i, bool go, float[k] s)", "(int64 j, bool on, float[k] r)").replace(
        "stay = Identity(go)", "stay = Identity(on)"
    )
    assert verdict(first, second.replace("Pad(s, p)", "Pad(r, p)")) is Verdict.PROVED
    assert verdict(first, second.replace("Pad(s, p)", "Pad(x, p)")) is not Verdict.PROVED


def test_inputs_of_a_body_are_not_mistaken_for_those_of_the_body_around_it() -> None:
    text = """(int64 m, bool c, int64[1] x) => (int64[a] y) {{
      y = Loop(m, c, x) <body = g1 (int64 i, bool go, int64[1] s) => (bool stay, int64[1] t) {{
        stay = Identity(go)
        t = Loop(m, c, s) <body = g2 (int64 j, bool on, int64[1] r) => (bool still, int64[1] u) {{
          still = Identity(on) u = Add({one}, {other}) }}> }}> }}"""
    assert verdict(text.format(one="i", other="r"), text.format(one="i", other="r")) is Verdict.PROVED
    assert verdict(text.format(one="i", other="r"), text.format(one="j", other="r")) is not Verdict.PROVED
    assert verdict(text.format(one="r", other="s"), text.format(one="r", other="r")) is not Verdict.PROVED


def test_draws_are_equal_in_their_order_alone() -> None:
    drawn = "(float[2] x) => (float[2] y, float[2] z) {{ a = RandomNormalLike(x) b = RandomNormalLike(x) {rest} }}"
    pair = drawn.format(rest="y = Sub(a, b) z = Identity(a)")
    assert verdict(pair, pair) is Verdict.PROVED
    assert verdict(pair, drawn.format(rest="y = Sub(a, a) z = Identity(b)")) is not Verdict.PROVED
    assert verdict(pair, drawn.format(rest="y = Sub(b, a) z = Identity(b)")) is not Verdict.PROVED


def test_unknown_operators_may_draw() -> None:
    drawn = "(float[2] x) => (float[2] y) {{ a = other.Draw(x) b = other.Draw(x) y = Sub({rest}) }}"
    assert verdict(drawn.format(rest="a, b"), drawn.format(rest="a, b")) is Verdict.PROVED
    assert verdict(drawn.format(rest="a, b"), drawn.format(rest="a, a")) is not Verdict.PROVED


def with_default(values: list[int], ir: int = 9) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node("Pad", ["x", "p"], ["y"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
            helper.make_tensor_value_info("p", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
        [numpy_helper.from_array(np.array(values, np.int64), "p")],
    )
    return helper.make_model(graph, ir_version=ir, opset_imports=[helper.make_opsetid("", 18)])


def test_an_initializer_that_a_caller_may_replace_is_an_input() -> None:
    fixed = with_default([0, 1])
    del fixed.graph.input[1]
    assert prove(with_default([0, 1]), with_default([0, 1])).verdict is Verdict.PROVED
    assert prove(with_default([0, 1]), fixed).why == "the inputs differ: 'p'"
    assert "the default of the input 'p' differs" in prove(with_default([0, 1]), with_default([0, 2])).why
    assert prove(with_default([0, 1], ir=3), fixed).verdict is Verdict.PROVED  # nobody may replace it before IR 4


def test_an_original_that_never_runs_proves_nothing() -> None:
    impossible = PLAIN.replace("[0, 1, 0, 1]", "[0, -9, 0, 1]")
    other = PLAIN.replace("[0, 1, 0, 1]", "[0, -9, 0, 2]")
    proof = prove(model(impossible), model(other))
    assert proof.verdict is Verdict.UNKNOWN and "the original" in causes(proof)


def test_what_only_a_branch_computes_is_no_value_outside_of_it() -> None:
    """z may fail, and the original computes it in a branch alone."""
    first = """(bool c, float[3] x, float[4] v, int64[1] s) => (float[a] y, float[b] w) {
      w = If(c) <then_branch = g1 () => (float[b] t) { z = Reshape(v, s) t = Exp(z) },
                 else_branch = g2 () => (float[b] e) { e = Exp(v) }>
      y = Identity(x) }"""
    second = first.replace(
        "y = Identity(x)",
        """z = Reshape(v, s) f = Concat<axis = 0>(x, z) o = Constant<value_ints: ints = [0]>()
        l = Constant<value_ints: ints = [3]>() y = Slice(f, o, l)""",
    ).replace("z = Reshape(v, s) t = Exp(z)", "t = Exp(z)", 1)
    moved = second.replace("t = Exp(z)", "k = Reshape(v, s) t = Exp(k)")
    assert prove(model(first), model(first)).verdict is Verdict.PROVED
    assert prove(model(first), model(moved)).verdict is not Verdict.PROVED


def test_the_limit_of_time_is_told() -> None:
    proof = prove(model(PLAIN), model(PLAIN.replace("[0, 1, 0, 1]", "[0, 1, 0, 2]")), limits=Limits(seconds=-1))
    assert proof.verdict is Verdict.UNKNOWN and "the limit of -1 s is reached" in causes(proof)


def test_what_fails_where_the_original_runs_is_different() -> None:
    """An index is beyond the data, whatever they are."""
    first = "(float[4] x) => (float[a] y) { i = Constant<value_ints: ints = [0, 3]>() y = Gather(x, i) }"
    proof = prove(model(first), model(first.replace("[0, 3]", "[0, 4]")))
    assert proof.verdict is Verdict.DIFFERENT and proof.new_errors == 1
    assert "the converted model fails where the original runs: Gather with an index outside of 4 elements" in causes(
        proof
    )
