"""Models as terms: what is one computation, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from written_models import model

from padops.convert.errors import PadopsError
from padops.convert.proof.build import Builder, Built
from padops.convert.proof.constants import HELD, Constants
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict
from padops.convert.proof.schemas import SAME_VERSIONS, schema
from padops.convert.proof.terms import Head, Kind, Terms


def build(terms: Terms, made: onnx.ModelProto, folder: Path | None = None) -> Built:
    return Builder(terms, Constants(terms), made, folder, set(), original=True).build()


def outputs(*texts: str, opset: int = 18) -> list[int]:
    """The term of the first output of each model, in one store."""
    terms = Terms()
    return [build(terms, model(text, opset)).outputs[0][2] for text in texts]


def test_an_identity_is_its_input_and_a_default_its_value() -> None:
    one, other, third = outputs(
        "(float[2, 3] x) => (float[a, b] y) { z = Identity(x) y = Flatten(z) }",
        "(float[2, 3] x) => (float[a, b] y) { y = Flatten<axis = 1>(x) }",
        "(float[2, 3] x) => (float[a, b] y) { y = Flatten<axis = 0>(x) }",
    )
    assert one == other != third


def test_pads_of_several_spellings_are_one() -> None:
    amounts = "p = Constant<value_ints: ints = [0, 1]>()"
    spelled = [
        f"{amounts} y = Pad(x, p)",
        f"{amounts} y = padops.Pad_18(x, p)",
        f"{amounts} y = padops.Pad_13(x, p)",
        f"{amounts} y = com.microsoft.Pad(x, p)",
        f'{amounts} y = Pad<mode = "constant">(x, p)',
        f"{amounts} f = Constant<value_float = 0.0>() y = Pad(x, p, f)",
        "y = padops.Pad_2<pads: ints = [0, 1]>(x)",
        "y = padops.Pad_1<paddings: ints = [0, 1], value = 0.0>(x)",
    ]
    found = outputs(*(f"(float[3] x) => (float[a] y) {{ {text} }}" for text in spelled))
    assert len(set(found)) == 1
    others = [
        f"{amounts} f = Constant<value_float = -0.0>() y = Pad(x, p, f)",
        f'{amounts} y = Pad<mode = "edge">(x, p)',
        f"{amounts} y = padops.OpenVINOPad_12(x, p, p)",
        f'{amounts} y = padops.Pad_18<mode = "wrap">(x, p)',  # which no runtime takes (P9)
        f"{amounts} y = padops.Pad_2(x, p)",
    ]
    different = outputs(*(f"(float[3] x) => (float[a] y) {{ {text} }}" for text in (spelled[0], *others)))
    assert len(set(different)) == len(different)


def test_the_fill_of_an_attribute_is_rounded_once_to_the_type_of_the_data() -> None:
    by_attribute = model("(float16[3] x) => (float16[a] y) { y = padops.Pad_2<pads: ints = [0, 1], value = 0.1>(x) }")
    by_input = model("(float16[3] x) => (float16[a] y) { y = padops.Pad_18(x, p, f) }")
    by_input.graph.initializer.append(numpy_helper.from_array(np.array([0, 1]), "p"))
    by_input.graph.initializer.append(numpy_helper.from_array(np.array(np.float32(0.1)).astype(np.float16), "f"))
    terms = Terms()
    assert build(terms, by_attribute).outputs[0][2] == build(terms, by_input).outputs[0][2]


def test_a_pad_that_its_version_does_not_have_is_told() -> None:
    text = "(int16[3] x) => (int16[a] y) {{ p = Constant<value_ints: ints = [0, 1]>() y = padops.Pad_{}(x, p) }}"
    original = model(text.format(13))
    assert prove(original, model(text.format(18))).verdict is Verdict.PROVED
    small = text.replace("int16", "uint4")
    proof = prove(model(small.format(21), opset=21), model(small.format(18), opset=21))
    assert proof.why == "the converted model has a padops::Pad of version 18 of uint4, which this version does not take"


def test_constants_are_told_by_type_dims_and_bits() -> None:
    terms = Terms()
    zeros = [np.zeros(4, np.int32), np.zeros(4, np.uint32), np.zeros((2, 2), np.int32), np.zeros(2, np.int64)]
    kinds = [TensorProto.INT32, TensorProto.UINT32, TensorProto.INT32, TensorProto.INT64]
    assert len({terms.add_constant(array, kind) for array, kind in zip(zeros, kinds)}) == 4
    big = np.zeros(99, np.float32)
    other = big.copy()
    other[50] = -0.0
    assert terms.add_constant(big, 1) != terms.add_constant(other, 1) != terms.add_constant(big.reshape(9, 11), 1)
    assert terms.add_constant(big, 1) == terms.add_constant(big.copy(), 1)
    texts = [np.array(["a", "bc"], object), np.array(["ab", "c"], object)]
    assert len({terms.add_constant(array, TensorProto.STRING) for array in texts}) == 2


def external(folder: Path, name: str, array: np.ndarray) -> onnx.TensorProto:
    (folder / name).write_bytes(b"\0" * 16 + array.tobytes())
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=array.shape)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", name), ("offset", "16"), ("length", str(array.nbytes))):
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize("count", [8, HELD // 4 + 1])
def test_external_data_are_told_by_their_bytes(tmp_path: Path, count: int) -> None:
    array = np.arange(count, dtype=np.float32)
    other = array.copy()
    other[-1] += 1
    terms = Terms()
    constants = Constants(terms)
    inside = constants.add(numpy_helper.from_array(array), None)
    assert constants.add(external(tmp_path, "a.bin", array), tmp_path) == inside
    assert constants.add(external(tmp_path, "b.bin", other), tmp_path) != inside
    held = Terms()
    large = Constants(held).add(external(tmp_path, "a.bin", array), tmp_path)
    assert (held.constant(large) is None) == (array.nbytes > HELD)


def test_data_that_are_not_there_are_told(tmp_path: Path) -> None:
    tensor = external(tmp_path, "a.bin", np.zeros(HELD, np.float32))
    with pytest.raises(PadopsError, match="constant 'w' lies in the file 'a.bin', but no folder is given"):
        Constants(Terms()).add(tensor, None)
    (tmp_path / "a.bin").write_bytes(b"short")
    with pytest.raises(PadopsError, match="a.bin ends .* bytes before the constant that lies in it from 16 on"):
        Constants(Terms()).add(tensor, tmp_path)
    bad = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], raw_data=b"\0" * 4)
    with pytest.raises(PadopsError, match=r"constant 'w' has 4 bytes, but its dims \[2\] need 8"):
        Constants(Terms()).add(bad, None)


@pytest.mark.parametrize("count", [2, HELD])
def test_a_file_that_is_not_there_is_told(tmp_path: Path, count: int) -> None:
    """Of a small constant, whose elements inference gets, and of a large one."""
    made = model(f"(float[{count}] x) => (float[{count}] y) {{ y = Add(x, w) }}")
    made.graph.initializer.append(external(tmp_path, "a.bin", np.zeros(count, np.float32)))
    assert prove(made, made, folders=(tmp_path, tmp_path)).verdict is Verdict.PROVED
    (tmp_path / "a.bin").unlink()
    with pytest.raises(PadopsError, match="cannot read .*a.bin: No such file or directory"):
        prove(made, made, folders=(tmp_path, tmp_path))


def test_an_identity_of_another_domain_is_none() -> None:
    text = "(float[2, 3] x) => (float[a, b] y) { y = Identity(x) }"
    one, other = outputs(text, text.replace("Identity(", "other.Identity("))
    assert one != other


@pytest.mark.parametrize("given, draws", [("x", False), ("x, r", False), ("x, r, t", True)])
def test_a_dropout_draws_where_it_may_train(given: str, draws: bool) -> None:
    text = "(float[2, 3] x, float r, bool t) => (float[a, b] y) { d = Dropout(G) e = Dropout(G) y = Add(d, E) }"
    one, other = outputs(*(text.replace("G", given).replace("E", second) for second in "de"))
    assert (one != other) is draws


CALLED = """(float[3] x) => (float[a] y) { y = other.Twice(x) }
<opset_import: ["" : %s], domain: "other"> Twice (v) => (w) { %s }"""


def test_a_function_is_its_body_with_its_own_imports() -> None:
    plain = "(float[3] x) => (float[a] y) { s = Add(x, x) y = Relu(s) }"
    body = "s = Add(v, v) w = Relu(s)"
    assert len(set(outputs(plain, CALLED % (18, body), CALLED % (18, "r = Add(v, v) w = Relu(r)")))) == 1
    assert len(set(outputs(plain, CALLED % (6, body), CALLED % (18, "s = Add(v, v) w = Neg(s)")))) == 3


def test_a_function_that_calls_itself_is_refused() -> None:
    made = model(CALLED % (18, "w = Neg(v)"))
    made.functions[0].node[0].op_type, made.functions[0].node[0].domain = "Twice", "other"
    with pytest.raises(PadopsError, match="the function 'Twice' of the domain 'other' calls itself"):
        build(Terms(), made)


def test_attributes_of_a_call_stand_in_the_body() -> None:
    text = """(float[2, 3] x) => (float[a, b] y) { y = other.Flat<at = %s>(x) }
    <opset_import: ["" : 18], domain: "other"> Flat <at> (v) => (w) { w = Flatten<axis: int = @at>(v) }"""
    plain = "(float[2, 3] x) => (float[a, b] y) { y = Flatten<axis = %s>(x) }"
    one, other, third, fourth = outputs(text % 0, plain % 0, text % 1, plain % 1)
    assert one == other != third == fourth


def test_the_versions_that_are_one_have_the_same_inputs_and_attributes() -> None:
    for name, versions in SAME_VERSIONS.items():
        found = [schema("", name, version) for version in versions]
        assert [row and row.since_version for row in found] == list(versions), name
        forms = {
            (
                tuple((one.name, str(one.option)) for one in row.inputs),
                tuple(
                    (key, str(one.type), one.required, str(one.default_value))
                    for key, one in sorted(row.attributes.items())
                ),
            )
            for row in found
            if row is not None
        }
        assert len({(len(inputs), attributes) for inputs, attributes in forms}) == 1, name


def test_a_newer_version_of_an_operator_is_the_same_for_types_that_both_take() -> None:
    text = "(%s[3] x) => (%s[a] y) { y = Relu(x) }"
    floats, integers = (model(text % (kind, kind), 13) for kind in ("float", "int32"))
    newer, wider = (model(text % (kind, kind), 14) for kind in ("float", "int32"))
    assert prove(floats, newer).verdict is Verdict.PROVED
    assert prove(wider, integers).verdict is Verdict.UNKNOWN  # Relu 13 takes no integers
    flat = "(float[2, 3] x) => (float[a, b] y) { y = Flatten(x) }"
    assert prove(model(flat, 9), model(flat, 11)).verdict is Verdict.PROVED  # by positions
    clipped = "(float[3] x) => (float[a] y) { y = Hardmax(x) }"
    assert prove(model(clipped, 11), model(clipped, 13)).verdict is Verdict.UNKNOWN  # axis has another default
    reduced = "(float[2, 3] x) => (float[a, b] y) { y = Softmax<axis = 1>(x) }"
    assert prove(model(reduced, 11), model(reduced, 13)).verdict is Verdict.UNKNOWN  # one axis, where it was many


def test_what_is_united_in_a_body_is_taken_back() -> None:
    terms = Terms()
    a, b, c = (terms.add(Head(Kind.INPUT, name=name)) for name in "abc")
    terms.set_shape(b, (2, None))
    terms.unite(a, b)
    mark = terms.mark()
    terms.set_dtype(c, TensorProto.INT8)
    terms.unite(c, a)
    assert terms.find(a) == terms.find(b) == terms.find(c)
    assert terms.shape(c) == (2, None) and terms.dtype(a) == TensorProto.INT8
    terms.undo(mark)
    assert terms.find(a) == terms.find(b) != terms.find(c) and not terms.is_united(c)
    assert terms.shape(c) is None and terms.dtype(a) is None and terms.shape(a) == (2, None)


def test_what_a_graph_holds_in_its_nodes_is_inferred() -> None:
    made = helper.make_model(
        helper.make_graph(
            [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("Relu", ["t"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, "n"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        )
    )
    terms = Terms()
    (_, _, y) = build(terms, made).outputs[0]
    assert terms.shape(y) == ("n", 2) and terms.dtype(y) == TensorProto.FLOAT
