"""Converted models that no runtime takes, and models that nothing can be said of: neither is ever proved."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper
from written_models import model

from padops.convert.errors import PadopsError
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Proof, Verdict

RELU = "(float[2, 3] x) => (float[a, b] y) { y = Relu(x) }"
PLAIN = "(float[2, 3] x) => (float[a, b] y) { p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = Pad(x, p) }"
LARGEST = 2**63 - 1


def dead(text: str) -> str:
    return f"(float[2, 3] x) => (float[a, b] y) {{ {text} y = Relu(x) }}"


def shaped(converted: str, amounts: list[int], dims: list[int]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """A plain model, and one whose value ``p`` is of these dims."""
    made = model(converted)
    made.graph.initializer.append(helper.make_tensor("p", TensorProto.INT64, dims, amounts))
    return model(PLAIN), made


def reasons(first: onnx.ModelProto, second: onnx.ModelProto) -> str:
    """Return why a pair is not proved, after each model was proved equal to itself."""
    assert prove(first, first).verdict is Verdict.PROVED
    found = prove(first, second)
    assert found.verdict is Verdict.UNKNOWN
    return found.why


@pytest.mark.parametrize(
    "text, why",
    [
        ("z = Not(x)", "Not of version 1: its input X is a tensor(float)"),
        ("i = Constant<value_ints: ints = [1]>() z = Exp(i)", "Exp of version 13: its input input is a tensor(int64)"),
        ("z = Exp<foo: int = 3>(x)", "Unrecognized attribute: foo"),
    ],
)
def test_what_the_converted_model_computes_for_nothing(text: str, why: str) -> None:
    assert why in reasons(model(RELU), model(dead(text)))


def test_a_node_without_any_output() -> None:
    other = model(dead("i = Constant<value_int: int = 1000>() z = Gather(x, i)"))
    other.graph.node[1].output[0] = ""
    assert "a node Gather without any output" in reasons(model(RELU), other)


def test_a_value_with_the_name_of_one_within_a_function() -> None:
    calls = """(float[n] x) => (float[m] y) { y = other.f(x) N }
        <domain: "other", opset_import: ["" : 18]> f (x) => (r) {
            i = Constant<value_int: int = 1000>() q = Gather(x, i) r = Relu(x) }"""
    other = model(calls.replace("N", "k = Relu(x)"))
    other.graph.node[1].output[0] = "y/q"
    first = model("(float[n] x) => (float[m] y) { y = Relu(x) }")
    assert "a value 'y/q' twice" in prove(first, other).why


@pytest.mark.parametrize("domain", ["other", "padops"])
def test_names_within_a_function_of_any_domain(domain: str) -> None:
    """``padops::f`` is no operator of padops, so it is a function of the model."""
    calls = f"""(float[n] x, bool c) => (float[m] y) {{ y = {domain}.f(x, c) }}
        <domain: "{domain}", opset_import: ["" : 18]> f (x, c) => (r) {{ t = Abs(x)
            r = If(c) <then_branch = a () => (q) {{ NAME = Neg(t) q = Abs(NAME) }},
                       else_branch = b () => (e) {{ e = Neg(t) }}> }}"""
    first, second = (model(calls.replace("NAME", name)) for name in "ut")
    place = f"{domain}::f/r/then_branch"
    assert f"one model alone has the name 't' a second time, in the body {place}: " in reasons(first, second)


@pytest.mark.parametrize(
    "amounts, dims, form, why",
    [
        ([0, 1, 0, 1], [2, 2], "y = Pad(x, p)", "its input 1 has 2 axes"),
        ([1], [], "a = Constant<value_ints: ints = [1, 1]>() y = Pad(x, a, , p)", "its input 3 has 0 axes"),
        ([1], [1, 1], "a = Constant<value_ints: ints = [1, 1]>() y = Pad(x, a, , p)", "its input 3 has 2 axes"),
    ],
)
def test_lists_that_are_none(amounts: list[int], dims: list[int], form: str, why: str) -> None:
    first, second = shaped(f"(float[2, 3] x) => (float[a, b] y) {{ {form} }}", amounts, dims)
    assert why in reasons(first, second)


def test_a_fill_of_two_elements() -> None:
    base = "(float[2, 3] x) => (float[a, b] y) { p = Constant<value_ints: ints = [0, 1, 0, 1]>() F }"
    first = model(base.replace("F", 'y = Pad<mode = "edge">(x, p)'))
    second = model(
        base.replace("F", 'f = Constant<value_floats: floats = [0.0, 1.0]>() y = Pad<mode = "edge">(x, p, f)')
    )
    assert "its fill has the dims [2]" in reasons(first, second)


def test_an_old_format_whose_initializers_nobody_can_replace() -> None:
    text = "(float[2] x, float[2] w) => (float[n] y) { y = Add(x, w) }"
    pair = [model(text), model(text, ir=3)]
    for one in pair:
        one.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0]))
    assert "IR version 3, and an initializer 'w' that no caller can replace" in reasons(*pair)


@pytest.mark.parametrize(
    "text, why",
    [
        ("s = Constant<value_ints: ints = [2, 3]>() t = Cast<to: int = 6>(s) y = Reshape(x, t)",
         "its input shape is a tensor(int32)"),
        ("s = Constant<value_ints: ints = [2, 3]>() y = Reshape<foo: int = 1>(x, s)", "Unrecognized attribute: foo"),
        ("s = Constant<value_ints: ints = [0]>() e = Constant<value_ints: ints = [2]>() t = Cast<to: int = 6>(e)"
         " y = Slice(x, s, t)", "its input ends is a tensor(int32), and another one a tensor(int64)"),
        ("s = Constant<value_ints: ints = [0, 1]>() t = Cast<to: int = 3>(s) y = Gather(x, t)",
         "its input indices is a tensor(int8)"),
        ("a, b = Split<axis = 1, num_outputs = 2>(x) y = Concat<axis = 1>(a, b)", ""),
        ("a, b = Split<axis = 1, num_outputs = 3>(x) y = Concat<axis = 1>(a, b)",
         "num_outputs is 3, and it has 2 outputs"),
        ("a, b = Split<axis = 1>(x) y = Concat<axis = 1>(a, b)", "neither sizes nor their number"),
    ],
)  # fmt: skip
def test_types_and_attributes_of_what_only_moves_data(text: str, why: str) -> None:
    first, second = (
        model("(float[2, 3] x) => (float[a, b] y) { y = Identity(x) }"),
        model(f"(float[2, 3] x) => (float[a, b] y) {{ {text} }}"),
    )
    if not why:
        assert prove(first, second).verdict is Verdict.PROVED
    else:
        assert why in reasons(first, second)


@pytest.mark.parametrize("row", ["strides = [1, 1, 1]", "dilations = [1]", "pads = [0, 0]"])
def test_a_window_of_another_rank(row: str) -> None:
    base = "(float[1, 2, 5, 5] x, float[3, 2, 2, 2] w) => (float[a, b, c, d] y) { y = Conv A (x, w) }"
    why = reasons(model(base.replace("A", "")), model(base.replace("A", f"<{row}>")))
    assert "2 spatial axes" in why


def test_a_pad_of_a_type_that_the_other_spelling_does_not_take() -> None:
    base = "(int64[2, 3] x) => (int64[a, b] y) { p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = F(x, p) }"
    assert "its data are of int64" in reasons(
        model(base.replace("F", "Pad")), model(base.replace("F", "com.microsoft.Pad"))
    )
    unknown = (
        "(float[2, 3] z) => (A[a, b] y) { x = other.Op(z) p = Constant<value_ints: ints = [0, 1, 0, 1]>() y = F(x, p) }"
    )
    unknown = unknown.replace("A", "int64")
    why = reasons(model(unknown.replace("F", "Pad")), model(unknown.replace("F", "com.microsoft.Pad")))
    assert "a Pad of a type that is not known" in why


def test_a_declared_type_that_is_not_the_value_s() -> None:
    text = "(float[2, 3] x) => (float[a, b] y) { t = Neg(x) y = Relu(t) }"
    other = model(text)
    other.graph.value_info.append(helper.make_tensor_value_info("t", TensorProto.INT64, None))
    assert "'t' declared as int64, which is float" in reasons(model(text), other)


def test_what_the_original_has_as_well_is_no_reason() -> None:
    text = dead("z = Not(x)")
    assert prove(model(text), model(text)).verdict is Verdict.PROVED


# --- Models that nothing can be said of -----------------------------------------------------------------------------


def unread(text: str) -> Proof:
    """Return the proof of a model against one that differs from it only at the end."""
    first = model(f"(float[2, 3] x) => (float[a, b] y) {{ {text} y = Identity(z) }}")
    second = model(f"(float[2, 3] x) => (float[a, b] y) {{ {text} w = Neg(z) y = Neg(w) }}")
    return prove(first, second)


@pytest.mark.parametrize(
    "text",
    [
        "z = Concat(x, x)",
        'z = Concat<axis: string = "a">(x, x)',
        "z = Concat<axis: ints = [0]>(x, x)",
        "z = Transpose<perm: int = 1>(x)",
        'z = Flatten<axis: string = "a">(x)',
        'z = Cast<to: string = "FLOAT">(x)',
        "z = Cast<to: int = 99>(x)",
        "c = Constant<value_int: int = 1>() d = Cast<to: int = 9>(c) z = If(d)",
        'i = Constant<value_int: string = "a">() z = Gather(x, i)',
        'z = Shape<start: string = "a">(x)',
        "z = Concat<axis = 0>(,)",
    ],
)
def test_attributes_that_are_missing_or_of_another_type(text: str) -> None:
    found = unread(text)
    assert found.verdict is Verdict.UNKNOWN and (found.why or found.regions)


def test_an_error_of_a_rule_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("axis")

    monkeypatch.setattr("padops.convert.proof.regions.differences", broken)
    found = prove(model(RELU), model(RELU))
    assert found.verdict is Verdict.UNKNOWN
    assert found.why == "a node of the models is not as its operator needs it: KeyError: 'axis'"


def test_steps_and_tiles_that_overflow_or_take_all_memory() -> None:
    """Following the elements of shapes through them, onnx died or took minutes: it is not asked to."""
    steps = f"""(float[4] x) => (float[n] y) {{ s = Constant<value_ints: ints = [1]>()
        e = Constant<value_ints: ints = [{LARGEST}]>() a = Constant<value_ints: ints = [0]>()
        t = Constant<value_ints: ints = [{LARGEST}]>() N y = Slice(z, s, e, a, t) }}"""
    tile = f"""(float[1] x) => (float[n] y) {{ k = Constant<value_ints: ints = [{2**36}]>()
        s = Constant<value_ints: ints = [0]>() e = Constant<value_ints: ints = [3]>()
        N t = Tile(z, k) y = Slice(t, s, e) }}"""
    for text in (steps, tile):
        first, second = model(text.replace("N", "z = Identity(x)")), model(text.replace("N", "w = Neg(x) z = Neg(w)"))
        assert prove(first, first).verdict is Verdict.PROVED
        assert prove(first, second).verdict is Verdict.UNKNOWN
    wide = f"""(float[1, 1] x) => (float[a, b] y) {{
        k = Constant<value_ints: ints = [{2**62}, {2**62}]>() t = Tile(x, k) N }}"""
    pair = [
        model(wide.replace("N", end))
        for end in ("y = Identity(t)", "u = Transpose<perm = [1, 0]>(t) y = Transpose<perm = [1, 0]>(u)")
    ]
    assert "Error" not in prove(*pair).why


def calling(depth: int) -> onnx.ModelProto:
    """Functions that each call the one before twice."""
    text = f"(float[n] x) => (float[m] y) {{ y = other.f{depth}(x) }}\n"
    for number in range(depth + 1):
        body = "r = Neg(x)" if not number else f"a = other.f{number - 1}(x) r = other.f{number - 1}(a)"
        text += f'<domain: "other", opset_import: ["" : 18, "other" : 1]> f{number} (x) => (r) {{ {body} }}\n'
    return model(text)


def chained(depth: int, first: bool = False) -> str:
    """Functions of which each calls the next one; those of the second half may be called before, too."""
    begin = f"b = other.f{depth // 2}(x) y = other.f0(b)" if first else "y = other.f0(x)"
    text = f"(bool c, float[n] x) => (float[m] y) {{ {begin} }}\n"
    for number in range(depth):
        body = f"r = other.f{number + 1}(x)" if number < depth - 1 else "r = Neg(x)"
        if first and number == depth - 1:
            body = "s = Shape(x) g = Size(s) k = Cast<to = 9>(g) r = If(k) <then_branch = a () => (float[p] t) "
            body += "{ t = Neg(x) }, else_branch = b () => (float[q] e) { e = Abs(x) }>"
        text += f'<domain: "other", opset_import: ["" : 18, "other" : 1]> f{number} (x) => (r) {{ {body} }}\n'
    return text


def test_functions_that_call_each_other_without_end() -> None:
    assert prove(calling(3), calling(3)).verdict is Verdict.PROVED
    with pytest.raises(PadopsError, match="the functions of the model call each other 2097151 times: more than 4096"):
        prove(calling(20), calling(20))
    for text in (chained(100), chained(99, first=True)):
        assert prove(model(text), model(text)).verdict is Verdict.PROVED
    for text in (chained(101), chained(100, first=True), chained(2000)):
        with pytest.raises(PadopsError, match="more than 100 functions and bodies of the model are within each other"):
            prove(model(text), model(text))
    for domain in ("other", "padops"):
        itself = model(f"""(float[n] x) => (float[m] y) {{ y = {domain}.f(x) }}
            <domain: "{domain}", opset_import: ["" : 18, "{domain}" : 1]> f (x) => (r) {{ r = {domain}.f(x) }}""")
        with pytest.raises(PadopsError, match=f"the function {domain}::f calls itself"):
            prove(itself, itself)
