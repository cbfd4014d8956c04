"""The proofs respect scopes: a value of one branch, or of the converted model alone, proves nothing elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from onnx import TensorProto
from written_models import model

from padops.convert.proof import positions
from padops.convert.proof.build import TOP, Builder, Built
from padops.convert.proof.constants import Constants
from padops.convert.proof.matching import Matcher
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Verdict
from padops.convert.proof.scopes import Scopes
from padops.convert.proof.terms import Head, Kind, Terms


def test_what_is_equal_in_one_branch_is_not_known_in_another() -> None:
    """In the first branch the loop's input has the value of c; what is bound there says nothing of the second loop."""
    text = """(int64 m, bool c, int64[1] x) => (int64[a] y, int64[b] z) {{
      y = Loop(m, c, x) <body = g1 (int64 i, bool go, int64[1] s) => (bool stay, int64[1] t)
        {{ stay = Identity(go) t = Add(s, i) }}>
      z = Loop(m, c, x) <body = g2 (int64 j, bool on, int64[1] r) => (bool still, int64[1] u)
        {{ still = Identity(on) u = {} }}> }}"""
    first, same, other = (model(text.format(step)) for step in ("Sub(r, j)", "Sub(r, j)", "Sub(j, r)"))
    assert prove(first, same).verdict is Verdict.PROVED
    assert prove(first, other).verdict is not Verdict.PROVED


def scopes_of(text: str) -> tuple[Terms, Scopes, Built]:
    terms = Terms()
    first = Builder(terms, Constants(terms), model(text), None, set(), original=True).build()
    return terms, Scopes(terms, first, first), first


def test_a_scope_has_what_it_computes_and_what_is_around_it() -> None:
    terms, scopes, first = scopes_of(
        """(bool c, float[3] x) => (float[a] w) { o = Exp(x) dead = Neg(x)
        w = If(c) <then_branch = g1 () => (float[a] t) { z = Relu(o) gone = Tanh(o) t = Exp(z) },
                   else_branch = g2 () => (float[a] e) { e = Abs(o) }> }"""
    )
    values = {name: term for names in first.scopes.values() for name, term in names.items()}
    (then,) = [scope for scope, names in first.scopes.items() if "z" in names]
    assert [name for name in ("o", "z", "gone", "e", "dead") if scopes.has(values[name])] == ["o"]
    scopes.enter(then)
    assert [name for name in ("o", "z", "gone", "e", "dead") if scopes.has(values[name])] == ["o", "z"]
    scopes.leave()
    assert not scopes.has(values["z"])


def test_a_value_of_the_converted_model_alone_is_no_leaf() -> None:
    terms, _, first = scopes_of("(float[2, 3] x) => (float[a, b] y) { y = Transpose(x) }")
    alone = terms.add(Head(Kind.OPERATOR, name="MatMul", version=13), (first.inputs["x"], first.inputs["x"]))
    terms.set_shape(alone, (2, 3))
    moved = terms.add(replace(terms.head(first.outputs[0][2])), (alone,))
    outcome = positions.decide(terms, moved, moved, Limits())
    assert outcome.verdict is Verdict.UNKNOWN and "only the converted model computes the value" in outcome.why
    terms.computed = lambda term: True
    assert positions.decide(terms, moved, moved, Limits()).verdict is Verdict.PROVED


def test_dims_that_follow_in_the_converted_model_alone_are_no_facts() -> None:
    terms = Terms()
    text = model("(float[2, 3] x) => (float[a, b] y) { y = Transpose(x) }")
    built = Builder(terms, Constants(terms), text, None, set(), original=False).build()
    (_, _, y) = built.outputs[0]
    assert terms.shape(y) is None and terms.dtype(y) == TensorProto.FLOAT


@pytest.mark.parametrize(
    "change, why",
    [
        ("float[2, 3] x", "float[2, 4] x"),
        ("float[a, b] y", "double[a, b] y"),
    ],
)
def test_another_interface_is_told(change: str, why: str) -> None:
    first = "(float[2, 3] x) => (float[a, b] y) { y = other.Op(x) }"
    proof = prove(model(first), model(first.replace(change, why)))
    said = {"x": "the converted model declares other dims of the input 'x'", "y": "the type of the output 'y' differs"}
    assert proof.verdict is Verdict.UNKNOWN and proof.why == said[change[-1]]
    open_dims = first.replace("float[2, 3] x", "float[n, 3] x")
    assert prove(model(first), model(open_dims)).verdict is Verdict.PROVED
    assert prove(model(open_dims), model(first)).verdict is Verdict.UNKNOWN


def test_what_is_proved_in_a_branch_is_forgotten_behind_it() -> None:
    text = """(bool c, float[2, 3] x) => (float[a, b] w) {
      w = If(c) <then_branch = g1 () => (float[a, b] t) { PAD t = Exp(d) }, else_branch = g2 () => (float[a, b] e)
        { e = Exp(x) }> }"""
    first = model(text.replace("PAD", 'p = Constant<value_ints: ints = [0, 0, 0, 1]>() d = Pad<mode = "edge">(x, p)'))
    second = model(text.replace("PAD", "i = Constant<value_ints: ints = [0, 1, 2, 2]>() d = Gather<axis = 1>(x, i)"))
    terms = Terms()
    one, other = (
        Builder(terms, Constants(terms), made, None, set(), made is first).build() for made in (first, second)
    )
    matcher = Matcher(terms, one, other, Limits())
    assert matcher.prove(one.outputs[0][2], other.outputs[0][2]) and len(matcher.proved) == 1
    pad, gather = matcher.proved[0].terms
    assert terms.find(pad) != terms.find(gather) and not terms.computed(gather)


def test_a_pad_in_a_branch_says_nothing_of_the_rank_outside_of_it() -> None:
    text = """(bool c, float[n] x) => (float[a] w, float[b] z) {
      z = Neg(x)
      w = If(c) <then_branch = g1 () => (float[a] t) { p = Constant<value_ints: ints = [0, 1]>() t = Pad(PADDED, p) },
                 else_branch = g2 () => (float[b] e) { e = Exp(x) }> }"""
    for padded, shape in (("x", None), ("q", (None,))):
        made = model(text.replace("PADDED", padded).replace("{ p =", "{ q = Abs(x) p ="))
        made.graph.input[1].type.tensor_type.ClearField("shape")
        terms = Terms()
        built = Builder(terms, Constants(terms), made, None, set(), original=True).build()
        scopes = Scopes(terms, built, built)
        values = {name: term for names in built.scopes.values() for name, term in names.items()}
        (then,) = [scope for scope, names in built.scopes.items() if "q" in names]
        term = {**values, **built.inputs}[padded]
        assert terms.shape(term) is None
        scopes.enter(then)
        assert terms.shape(term) == shape
        scopes.leave()
        assert terms.shape(term) is None, "an equal value outside has no Pad to say so"


@pytest.mark.parametrize(
    "original, converted, name",
    [
        ("y = Relu(x)", "z = Neg(x) y = Relu(z)", "x"),
        (
            "w = Constant<value_float = 1.0>() y = Add(x, w)",
            "w = Shape<end = 1>(x) v = Cast<to = 1>(w) y = Add(x, v)",
            "w",
        ),
        ("y = Add(x, k)", "w = Shape<end = 1>(x) v = Cast<to = 1>(w) y = Add(x, v)", "a constant of dims [1]"),
    ],
)
def test_a_part_that_ends_with_no_node_has_a_name(original: str, converted: str, name: str) -> None:
    text = "(float[2, 3] x) => (float[a, b] y) <float[1] k = {{2.0}}> {{ {} }}"
    (region,) = prove(model(text.format(original)), model(text.format(converted))).regions
    assert region.name == name


LOWER = (
    'p = Constant<value_ints: ints = [0, 0, 0, 1]>() d = Pad<mode = "edge">(s, p)',
    "i = Constant<value_ints: ints = [0, 1, 2, 2]>() d = Gather<axis = 1>(s, i)",
)


def test_a_part_ends_where_what_is_below_is_proved() -> None:
    """A part ends at a proved part below it, and does not list the operators of that part.

    Both sides of the lower part then count as values of the original.
    """
    text = "(float[2, 3] x) => (float[a, b] y) {{ s = Neg(x) {} y = {} }}"
    first, second = model(text.format(LOWER[0], "Sin(d)")), model(text.format(LOWER[1], "Cos(d)"))
    lower, upper = prove(first, second).regions
    assert (lower.name, lower.original, lower.converted) == ("d", ("Pad",), ("Gather",))
    assert (upper.name, upper.original, upper.converted) == ("y", ("Sin",), ("Cos",))
    terms = Terms()
    one, other = (
        Builder(terms, Constants(terms), made, None, set(), made is first).build() for made in (first, second)
    )
    matcher = Matcher(terms, one, other, Limits())
    pad, gather = one.scopes[TOP]["d"], other.scopes[TOP]["d"]
    assert terms.computed(pad) and not terms.computed(gather) and terms.computed(terms.inputs(gather)[1])
    assert not terms.shared(pad) and not terms.shared(gather)
    assert matcher.prove(pad, gather)
    assert terms.computed(gather) and terms.shared(pad) and terms.shared(gather)
    assert terms.shared(one.scopes[TOP]["s"]) and not terms.shared(one.scopes[TOP]["y"])
