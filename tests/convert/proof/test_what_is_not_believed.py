"""Pairs of models with different values that an earlier prover proved equal: each row is an assumption it gave up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from crafted_pair import answers
from written_models import model

from padops.convert.errors import PadopsError
from padops.convert.proof import bodies
from padops.convert.proof.believing import infer
from padops.convert.proof.build import Builder
from padops.convert.proof.constants import Constants
from padops.convert.proof.facts import dims_of
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Region, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.verify.proving import proved

SHADOWED = """(bool c, float[3] x) => (float[a] y) { y = If (c) <
  then_branch = th () => (float[3] t) %s { t = Exp (x) }, else_branch = el () => (float[3] e) { e = Neg (x) }> }"""
IN_A_LOOP = """(int64 m, bool c, float[3] x) => (float[a] y) { y = Loop (m, c, x) <
  body = b (int64 i, bool go, float[3] s) => (bool on, float[3] t) %s { on = Identity (go) t = Add (s, x) }> }"""
LEAKING = """(bool c, float[] x) => (float[] y, float[] z)
<int64[4] four = {0, 0, 0, 0}, int64[2] two = {1, 1}, int64[1] axes = {%d}>
{ t = Neg (x) y = Pad (t, two, , axes) z = If (c) <
  then_branch = th () => (float[] u) %s, else_branch = el () => (float[] e) { e = Identity (x) }> }"""
OF_A_PAD = "{ s = Neg (x) u = Pad (s, four) }"
OF_A_DECLARATION = "<float[2, 2] s> { s = Neg (x) u = Exp (s) }"
BY_CAST = """(float[300] x) => (int64[1] y) { s = Shape (x) b = Cast <to = %d> (s) n = Cast <to = 7> (b)
  z = ConstantOfShape (n) e = Exp (z) """
POOLED = """(float[1, 1, 2] x) => (float[] y) <int64[6] p = {0, 0, 2, 0, 0, 0}>
{ t = %s <ceil_mode = 1, kernel_shape = [1], strides = [2]> (x) """
FRAMES = """(float[1, 10, 1] x) => (int64[] y) <int64 length = {4}, int64 step = {2}>
{ t = STFT (x, step, , length) """
SQUEEZED = "(float[1, 1, 5] x) => (float[] y) <int64[0] none = {}> { y = "
COMPUTED = (
    "(float[1, 1, {}] x) => (int64[] y) <float[1, 1, 2, 2] w = {{1, 1, 1, 1}}, float[4] s = {{1, 1, {}}}> {{ t = {} (x"
)
WINDOW = 'auto_pad = "SAME_UPPER", kernel_shape = [2, 2], strides = [2, 2]'
# Dims, scales, a node, and what onnx infers of it.
INFERRED = {
    "Resize": ("47, 3", "0.5957446694374084, 2.3333332538604736", "Resize", ", , s)", [27, 6]),
    "MaxPool with dilations": ("6, 6", "1, 1", f"MaxPool <{WINDOW}, dilations = [2, 2]>", ")", [3, 3]),
    "AveragePool with dilations": ("6, 6", "1, 1", f"AveragePool <{WINDOW}, dilations = [2, 2]>", ")", [3, 3]),
    "ConvTranspose with auto_pad": (
        "21, 6",
        "1, 1",
        f"ConvTranspose <{WINDOW}, output_padding = [1, 0]>",
        ", w)",
        [43, 12],
    ),
}

PAIRS = {
    "an initializer of a branch with the name of an input": (SHADOWED % "<float[3] x = {5, 5, 5}>", SHADOWED % ""),
    "an initializer of a loop with the name of an input": (IN_A_LOOP % "<float[3] x = {5, 5, 5}>", IN_A_LOOP % ""),
    "a rank that a Pad of a branch tells": (LEAKING % (-1, OF_A_PAD), LEAKING % (1, OF_A_PAD)),
    "dims that a branch declares": (LEAKING % (-1, OF_A_DECLARATION), LEAKING % (1, OF_A_DECLARATION)),
    **{
        f"the elements of a shape, cast to {kind}": (
            BY_CAST % number + "y = Shape (e) }",
            BY_CAST % number + "y = Constant <value_ints = [300]> () }",
        )
        for kind, number in (("bool", 9), ("int8", 3), ("uint8", 2), ("float16", 10))
    },
    **{
        f"the dims of {pool} with ceil_mode": (
            POOLED % pool + 'y = Pad <mode = "wrap"> (t, p) }',
            POOLED % pool + "y = Concat <axis = 2> (t, t) }",
        )
        for pool in ("MaxPool", "AveragePool")
    },
    **{
        f"the dims of {name}": tuple(
            COMPUTED.format(dims, scales, node) + f"{end} y = {last} }}"
            for last in ("Shape (t)", f"Constant <value_ints = {[1, 1, *found]}> ()")
        )
        for name, (dims, scales, node, end, found) in INFERRED.items()
    },
    "the dims of STFT": (FRAMES + "y = Shape (t) }", FRAMES + "y = Constant <value_ints = [1, 4, 4, 2]> () }"),
    "axes of Squeeze that list none": (SQUEEZED + "Squeeze (x, none) }", SQUEEZED + "Identity (x) }"),
    "axes of Squeeze that list none, in a dim": (
        SQUEEZED.replace("float[] y", "int64[] y") + "Shape (s) s = Squeeze (x, none) }",
        SQUEEZED.replace("float[] y", "int64[] y") + "Constant <value_ints = [1, 1, 5]> () s = Squeeze (x, none) }",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_another_value_is_not_proved(name: str) -> None:
    first, second = (model(text, 19) for text in PAIRS[name])
    proof = prove(first, second)
    assert proof.verdict is not Verdict.PROVED, proof
    assert proof.why or any(region.why for region in proof.regions)
    for one in (first, second):
        assert prove(one, one).verdict is Verdict.PROVED, "it is not left out for something that no proof takes"


@pytest.mark.parametrize("own", ["<float[3] x = {5, 5, 5}> { t = Exp (x) }", "{ x = Neg (c) t = Exp (x) }"])
def test_a_name_of_the_graph_in_a_body_of_one_model_is_told(own: str) -> None:
    """ONNX forbids it; ONNX Runtime reads another value with optimisation than without."""
    text = SHADOWED.replace("bool c, float[3] x", "bool b, float[3] c, float[3] x").replace("If (c)", "If (b)")
    first, renamed = (
        model(text.replace("%s { t = Exp (x) }", body)) for body in (own, own.replace("x ", "z ").replace("(x)", "(z)"))
    )
    assert prove(first, first).verdict is Verdict.PROVED
    for pair in ((first, renamed), (renamed, first)):
        proof = prove(*pair)
        assert proof.verdict is Verdict.UNKNOWN
        assert proof.why == (
            "one model alone has the name 'x' a second time, in the body y/then_branch: "
            "runtimes do not agree which of the two is read"
        )
    assert prove(renamed, renamed).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", INFERRED)
def test_onnxruntime_gives_other_dims_than_onnx_infers(name: str) -> None:
    made, guessed = (model(text, 19) for text in PAIRS[f"the dims of {name}"])
    dims = map(int, INFERRED[name][0].split(","))
    feeds = {"x": np.zeros([1, 1, *dims], np.float32)}
    assert answers(made, feeds) != answers(guessed, feeds)
    (output,) = onnx.shape_inference.infer_shapes(made, data_prop=True).graph.value_info
    assert dims_of(output.type)[2:] == tuple(INFERRED[name][-1]), "or it need not be disbelieved any more"


def test_an_overload_is_another_function() -> None:
    text = """(float[5] x) => (int64[1] y, float[] t) {{ t = other.Some (x) y = {} }}
    <opset_import: ["" : 18], domain: "other"> Some (v) => (w) {{
        i = Constant <value_ints = [0, 1, 2]> () w = Gather (v, i) }}
    <opset_import: ["" : 18], domain: "other"> Some (v) => (w) {{
        n = NonZero (v) i = Squeeze (n) w = Gather (v, i) }}"""
    first, second = (model(text.format(last)) for last in ("Shape (t)", "Constant <value_ints = [3]> ()"))
    for made in (first, second):
        made.functions[1].overload = next(node for node in made.graph.node if node.op_type == "Some").overload = "o"
    assert prove(first, second).verdict is not Verdict.PROVED


def test_symbols_that_are_made_up_in_two_calls_are_not_one() -> None:
    text = """(float[n] x, float[k] u) => (float[a] y, float[b] z) { y = other.Some (x) z = other.Some (u) }
    <opset_import: ["" : 18], domain: "other"> Some (v) => (w) { c = Cast <to = 9> (v) w = Compress (v, c) }"""
    terms = Terms()
    built = Builder(terms, Constants(terms), model(text), None, set(), original=True).build()
    (one,), (other,) = (terms.shape(term) or () for _, _, term in built.outputs)
    assert one is None or one != other


@pytest.mark.parametrize(
    "text, named",
    [
        (
            "(float[n] x) => (seq(float[3]) s, int64[1] y) <int64 z = {0}> "
            "{ s = SequenceConstruct (x) t = SequenceAt (s, z) y = %s }",
            "the value 't' has dims [3]",
        ),
        (
            "(float[5] x) => (optional(int64[1, 3]) o, int64[2] y) "
            "{ n = NonZero (x) o = Optional (n) t = OptionalGetElement (o) y = %s }",
            "the value 't' has dims [1, 3]",
        ),
    ],
)
def test_dims_that_are_declared_within_a_type_are_an_assumption(text: str, named: str) -> None:
    dims = named[named.index("[") :]
    proof = prove(model(text % "Shape (t)"), model(text % f"Constant <value_ints = {dims}> ()"))
    assert proof.assumptions == (f"what the original declares is right: {named}",)


def test_a_domain_that_is_not_imported_is_refused() -> None:
    made = model("(float[2] x) => (float[2] y) { y = Softmax (x) }")
    del made.opset_import[0]
    with pytest.raises(PadopsError, match="a node Softmax is of the domain ai.onnx, of which no version is imported"):
        prove(made, made)


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_a_function_with_the_name_of_an_operator_is_refused(domain: str) -> None:
    made = model("""(float[3] x) => (float[3] y) { y = Neg (x) }
    <opset_import: ["" : 18], domain: "other"> Neg (v) => (w) { w = Exp (v) }""")
    made.functions[0].domain = domain
    with pytest.raises(PadopsError, match=f"the function 'Neg' of the domain '{domain}' has the name of an operator"):
        prove(made, made)


def test_a_body_with_an_initializer_for_its_input_is_refused() -> None:
    made = model(IN_A_LOOP % "<float[3] s = {5, 5, 5}>")
    with pytest.raises(PadopsError, match="the body 'b' has an initializer with the name of one of its inputs"):
        prove(made, made)


FALLBACK = """(float[3] x) => (float[] y) <int64[2] p = {1, 1}> { y = padops.%s }
<opset_import: ["" : 18], domain: "padops"> %s (u, p, f, a) => (v) { v = %s }"""


def test_a_function_of_padops_that_is_no_operator_is_its_body() -> None:
    first, second = (model(FALLBACK % ("Other (x)", "Other", f"{name} (u)")) for name in ("Neg", "Exp"))
    assert prove(first, second).verdict is not Verdict.PROVED
    assert prove(first, first).verdict is Verdict.PROVED


def wrong(proof: Proof) -> list[Region]:
    return [region for region in proof.regions if region.verdict is Verdict.DIFFERENT]


def test_a_wrong_body_is_shown_of_either_model() -> None:
    plain = model("(float[3] x) => (float[] y) <int64[2] p = {1, 1}> { y = Pad (x, p) }")
    calling = model(FALLBACK % ("Pad_18 (x, p)", "Pad_18", "Identity (u)"))
    for first, second in ((plain, calling), (calling, plain)):
        proof = prove(first, second)
        (region,) = wrong(proof)
        assert proof.verdict is Verdict.DIFFERENT and region.rule == bodies.RULE
        assert region.why == "for data of 1 axis: the shapes differ: [5] and [3]"
        assert prove(first, second, functions=False).verdict is Verdict.PROVED
    right = model(FALLBACK % ("Pad_18 (x, p)", "Pad_18", "Pad (u, p)"))
    assert prove(plain, right, limits=Limits()).verdict is Verdict.PROVED


def test_a_body_of_the_original_is_no_assumption(tmp_path: Path) -> None:
    """Without the library the original runs its own body, so nothing shows the body wrong."""
    texts = [FALLBACK % ("Pad_18 (x, p)", "Pad_18", f"{name} (u)") for name in ("Neg", "Exp")]
    texts.append("(float[3] x) => (float[] y) <int64[2] p = {1, 1}> { y = Pad (x, p) }")
    paths = [tmp_path / f"{number}.onnx" for number in range(3)]
    for text, path in zip(texts, paths):
        onnx.save(model(text), path)
    assert [proved(paths[0], path)[0].verdict for path in paths] == ["proved", "unknown", "unknown"]
    assert len(proved(paths[0], paths[0])[0].assumptions) == 1, "both models have it"


def test_types_and_ranks_are_inferred_where_dims_are_not_believed() -> None:
    text = (
        "(float16[1, 3, 8, 8] x) => (float16[] y, int64[] i) { y, i = MaxPool <ceil_mode = %d, "
        "kernel_shape = [2, 2]> (x) }"
    )
    for mode, dims in ((0, [1, 3, 7, 7]), (1, [None] * 4)):
        made = model(text % mode)
        before = made.SerializeToString()
        found = infer(made).graph.output
        assert made.SerializeToString() == before
        assert [row.type.tensor_type.elem_type for row in found] == [onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64]
        for row in found:
            known = [dim if isinstance(dim, int) else None for dim in dims_of(row.type) or ()]
            assert known == dims
