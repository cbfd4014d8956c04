"""What makes two computations one, or not: bodies, versions, names of attributes; and the hints that names are."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper
from small_models import BOOL, FLOAT, INT64, graph, model
from written_models import model as written

from padops.convert.proof import matching, regions
from padops.convert.proof.pads import Spelling
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict

NODE = helper.make_node


def verdicts(one: onnx.ModelProto, other: onnx.ModelProto) -> tuple[Verdict, Verdict]:
    """Of a model and another one; and of the first with itself, which is proved."""
    return prove(one, other).verdict, prove(one, one).verdict


UNKNOWN = (Verdict.UNKNOWN, Verdict.PROVED)


def loop(kind: int = FLOAT, more: bool = False, name: str = "s") -> onnx.ModelProto:
    """A Loop that hands its state on; the body says of which type that is."""
    given = [("i", INT64, []), ("go", BOOL, []), (name, kind, ["n"]), *([("unread", FLOAT, None)] if more else [])]
    nodes = [NODE("Identity", ["go"], ["on"]), NODE("Neg", [name], ["t"])]
    body = graph(nodes, given, [("on", BOOL, []), ("t", kind, None)], name="body")
    inputs = [("x", FLOAT, ["n"]), ("turns", INT64, [])]
    return model([NODE("Loop", ["turns", "", "x"], ["y"], body=body)], inputs=inputs, outputs=[("y", FLOAT, None)])


def test_bodies_of_inputs_of_other_types_or_number() -> None:
    """A runtime refuses a body whose inputs are not what the node hands in."""
    assert verdicts(loop(), loop(name="other")) == (Verdict.PROVED, Verdict.PROVED)
    assert verdicts(loop(), loop(TensorProto.DOUBLE)) == UNKNOWN
    assert verdicts(loop(), loop(more=True)) == UNKNOWN


def test_a_node_for_nothing_in_a_body() -> None:
    """It may fail, where a body that is the same but for it does not."""

    def branching(*more: onnx.NodeProto) -> onnx.ModelProto:
        body = graph([NODE("Neg", ["x"], ["z"]), *more], [], [("z", FLOAT, None)], name="b")
        choose = NODE("If", ["c"], ["y"], then_branch=body, else_branch=body)
        return model([choose], inputs=[("x", FLOAT, ["n", 3]), ("c", BOOL, []), ("k", INT64, [1])])

    assert verdicts(branching(), branching(NODE("Abs", ["x"], ["d"]))) == (Verdict.PROVED, Verdict.PROVED)
    assert verdicts(branching(), branching(NODE("Reshape", ["x", "k"], ["d"]))) == UNKNOWN


def test_a_body_by_another_name() -> None:
    def named(name: str) -> onnx.ModelProto:
        body = graph([NODE("Neg", ["x"], ["z"])], [], [("z", FLOAT, None)], name="b")
        return model([NODE("Fold", ["x"], ["y"], domain="other", **{name: body})], imports=[("other", 1)])

    assert verdicts(named("first"), named("second")) == UNKNOWN


@pytest.mark.parametrize("op", ["Abs", "Transpose"])
def test_versions_of_an_operator_of_another_domain(op: str) -> None:
    """It may have the name of one of ONNX, whose versions say nothing of it."""

    def imported(version: int, domain: str) -> onnx.ModelProto:
        imports = [(domain, version)] if domain else []
        opset = 18 if domain else version
        return model([NODE(op, ["x"], ["y"], domain=domain)], opset, imports=imports)

    assert verdicts(imported(6, "other"), imported(13, "other")) == UNKNOWN
    assert verdicts(imported(6, ""), imported(13, "")) == (Verdict.PROVED, Verdict.PROVED)


def test_an_optional_input_that_is_not_given() -> None:
    text = "(float[n] x, float low) => (float[m] y) { y = Clip(x, A) }"
    one, other = (written(text.replace("A", given)) for given in ("low", ", low"))
    assert verdicts(one, other) == UNKNOWN and verdicts(other, one) == UNKNOWN


# The data of the result are two windows, which no rule looks behind: that they are one is told by their names.
HINTED = """(float[1, 1, 6, 6] x) => (float[a, b] y) {
    p = Constant<value_ints: ints = [0, 0, 1, 1, 0, 0, 1, 1]>() k = Constant<value_ints: ints = [1, -1]>() A }"""
POOL = "AveragePool<kernel_shape = [2, 2], count_include_pad: int = 1"
ONE, OTHER = (f"q = Pad(x, p) a = {POOL}>(q) y = Reshape(a, k)", f"a = {POOL}, pads = [1, 1, 1, 1]>(x) y = Flatten(a)")


def test_names_are_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (written(HINTED.replace("A }", nodes + " }")) for nodes in (ONE, OTHER))
    proof = prove(one, other)
    assert proof.verdict is Verdict.PROVED and [region.name for region in proof.regions] == ["a", "y"]
    unnamed = written(HINTED.replace("A }", OTHER.replace("a =", "b =").replace("(a)", "(b)") + " }"))
    assert prove(one, unnamed).verdict is not Verdict.PROVED, "then nobody tries"
    monkeypatch.setattr(matching.Matcher, "hint", lambda *given: None)
    assert prove(one, other).verdict is not Verdict.PROVED


def test_a_pad_of_an_unknown_type_takes_what_the_original_takes() -> None:
    last, former, first = Spelling("", 19, True), Spelling("", 18, True), Spelling("", 11, True)
    takes = regions._takes_all_types
    assert takes({last}, {former}), "the types of both are the same"
    assert takes({former}, {first}) and not takes({first}, {former})
    assert takes({first}, {first, former}) and not takes({first, last}, {former, last}), "each takes all of one"


def calling(inside: bool, default: float, given: float | None = None) -> onnx.ModelProto:
    """A call of a function that hands an attribute on to a node, of its own or of a body in it."""
    node = NODE("LeakyRelu", ["x"], ["z"])
    node.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
    nodes = [node, NODE("Identity", ["z"], ["y"])]
    if inside:
        body = graph([node], [], [("z", FLOAT, None)], name="b")
        nodes = [NODE("Size", ["x"], ["n"]), NODE("Cast", ["n"], ["c"], to=BOOL)]
        nodes.append(NODE("If", ["c"], ["y"], then_branch=body, else_branch=body))
    imports = [helper.make_opsetid("", 18)]
    slope = helper.make_attribute("slope", default)
    function = helper.make_function("own", "Slope", ["x"], ["y"], nodes, imports, attribute_protos=[slope])
    more = {} if given is None else {"slope": given}
    call = NODE("Slope", ["x"], ["y"], domain="own", **more)
    return model([call], 18, functions=[function], imports=[("own", 1)], ir_version=9)


@pytest.mark.parametrize("inside", [False, True])
def test_attributes_of_calls(inside: bool) -> None:
    for one, other in (((0.5,), (0.25,)), ((0.5, 0.25), (0.5,)), ((0.5, 0.25), (0.5, 0.125))):
        assert verdicts(calling(inside, *one), calling(inside, *other)) == UNKNOWN
    assert prove(calling(inside, 0.5, 0.25), calling(inside, 0.25)).verdict is Verdict.PROVED
    plain = model([NODE("LeakyRelu", ["x"], ["y"], alpha=0.25)], 18)
    assert inside or prove(calling(inside, 0.5, 0.25), plain).verdict is Verdict.PROVED, "by the node's own name"


def test_windows_whose_last_one_begins_behind_the_data() -> None:
    """With ``ceil_mode``, what counts makes a difference without pads, too."""
    text = (
        "(float[1, 1, 6, 6] x) => (float[1, 1, a, b] y) { y = AveragePool<kernel_shape = [2, 2], "
        "strides = [3, 3]MORE>(x) }"
    )
    for ceil, expected in ((0, Verdict.PROVED), (1, Verdict.UNKNOWN)):
        pair = (
            written(text.replace("MORE", f", ceil_mode: int = {ceil}, count_include_pad: int = {n}")) for n in (0, 1)
        )
        assert prove(*pair).verdict is expected


def test_weights_that_a_cast_makes_infinite() -> None:
    text = """(float[1, 1, 6, 6] x) => (float[1, 1, a, b] y) {
        p = Constant<value_ints: ints = [0, 0, 1, 1, 0, 0, 1, 1]>()
        d = Constant<value: tensor = K>() w = Cast<to: int = 1>(d) A }"""
    pads = "q = Pad(x, p) y = Conv(q, w)", "y = Conv<pads = [1, 1, 1, 1]>(x, w)"
    for weights, expected in (("int8[1, 1, 1, 1] k {1}", Verdict.PROVED),
                              ("double[1, 1, 1, 1] k {1e300}", Verdict.UNKNOWN)):  # fmt: skip
        pair = (written(text.replace("K", weights).replace("A }", nodes + " }")) for nodes in pads)
        assert prove(*pair).verdict is expected
