"""What a session reads of a model without onnx, and which of onnxruntime's optimizers it therefore disables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from provider_sessions import POOLED, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime import model_words
from padops.runtime import session as preparing
from padops.runtime.model_words import AXES, WRONG_SAME, dim_names, pads_constants, words_of

# --- optimizers that get a Pad wrong are disabled, and no others -----------------------------------------------------

CONVOLVED = model(
    "g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y)"
    " <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float[1, 1, 1, 1] w = {2}> { z = Pad (x, p) y = Conv (z, w) }"
)
TURNED = (
    "g (float[1, 4, 4, 1] x) => (float[a, b, c, d] y) <int64[4] p = {1, 2, 2, 1}, int64[2] axes = {1, 2}, "
    "int64[8] q = {0, 1, 2, 0, 0, 2, 1, 0}> { t = Transpose <perm = [0, 3, 1, 2]> (x)"
    " u = Transpose <perm = [0, 2, 3, 1]> (t)"
    ' z = Pad <mode = "edge"> (u, p, , axes) y = Transpose <perm = [0, 3, 1, 2]> (z) }'
)
QUANTIZED = (
    "g (uint8[1, 1, 4, 4] x) => (uint8[a, b, c, d] y) <int64[4] p = {1, 2, 2, 1}, int64[2] axes = {2, 3},"
    " uint8[1, 1, 1, 1] w = {3}, uint8 o = {3}, float s = {0.5}> { q = QLinearConv (x, s, o, w, s, o, s, o)"
    ' z = Pad <mode = "edge"> (q, p, , axes) y = QLinearConv (z, s, o, w, s, o, s, o) }'
)
AVERAGED = (
    "g (float[1, 1, 5, 5] x) => (float[a, b, c, d] y) <int64[8] p = {{0, 0, 1, 1, 0, 0, 1, 1}}> "
    "{{ z = Pad (x, p) y = AveragePool <kernel_shape = [{0}, {0}], {1}> (z) }}"
)
CONSTANT = (
    "g (float[15] x) => (float[m] y) <float[3] c = {{1, 2, 3}}, int64[2] p = {{7, 5}}> "
    '{{ z = Pad <mode = "{0}"> (c, p) y = Add (z, x) }}'
)
WRONG = {
    "MaxPool, which pads with minus infinity": POOLED,
    "AveragePool, that rounds up": model(AVERAGED.format(2, "strides = [3, 3], ceil_mode = 1, count_include_pad = 1")),
    "AveragePool, a pad as large as the kernel": model(AVERAGED.format(1, "strides = [2, 2]")),
    "Transpose": model(TURNED),
    "QLinearConv": model(QUANTIZED),
    **{f"constant data, {mode}": model(CONSTANT.format(mode)) for mode in ("reflect", "wrap")},
}


@pytest.mark.parametrize("case", WRONG)
def test_the_same_bits_at_every_level(case: str, tmp_path: Path) -> None:
    """Stock onnxruntime makes another operator of the Pad, moves it, or runs it with its own kernel."""
    content = WRONG[case]
    onnx.save(content, tmp_path / "model.onnx")
    (given,) = padops.InferenceSession(content.SerializeToString()).get_inputs()
    data = np.arange(-5, np.prod(given.shape) - 5).astype(np.uint8 if "uint8" in given.type else np.float32)
    outputs = set()
    for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_ALL"):
        options = recording_options()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        for source, more in ((tmp_path / "model.onnx", {"disabled_optimizers": ["ConstantFolding"]}),
                             (content.SerializeToString(), {})):  # fmt: skip
            output = padops.InferenceSession(source, options, **more).run(None, {given.name: data.reshape(given.shape)})
            outputs.add((output[0].shape, output[0].tobytes()))
    assert len(outputs) == 1


def test_optimizers_that_stay(tmp_path: Path) -> None:
    """Only a model that may meet one loses it: a Pad still becomes the padding of a convolution."""
    path = tmp_path / "model.onnx"
    for built, minor, expected in (
        (POOLED, 31, {"Pad_Fusion"}),
        (POOLED, 32, set()),
        (CONVOLVED, 31, set()),
        (pad([1, 1], "reflect"), 26, {"ConstantFolding"}),
        (pad([1, 1], "reflect"), 27, set()),
        (pad([1, 1], "wrap"), 30, {"ConstantFolding"}),
        (pad([1, 1], "wrap"), 31, set()),
        (pad([1, 1], "edge"), 24, set()),
        (model(TURNED), 31, {"TransposeOptimizer", "TransposeOptimizer_CPUExecutionProvider"}),
        (model(TURNED.replace("p, , axes", "q")), 31, set()),
        (model(QUANTIZED), 31, {"NhwcTransformer"}),
    ):
        onnx.save(built, path)
        for source in (path, str(path), built.SerializeToString()):
            assert model_words.wrong_optimizers(words_of(source), minor) == expected
    assert providers_of_pads(padops.InferenceSession(CONVOLVED.SerializeToString(), recording_options())) == []


# --- a Pad of constant data ------------------------------------------------------------------------------------------

HELD = "int64[4] p = {0, 2, 0, 2}, float[1, 3] w = {1, 2, 3}"
GRAPH = f"g (float[1, 8] x, float[1, 8] v, bool c) => (float[a, b] y) <{HELD}, float[1, 8] v = {{1,1,1,1,1,1,1,1}}>"
IF = (
    'y = If (c) <then_branch = t () => (float[d, e] r) { [inner] r = Pad <mode = "reflect"> (DATA, p) }, '
    "else_branch = k () => (float[f, h] s) { s = Relu (x) }>"
)
LOOP = (
    "k = Constant <value = int64 {2}> () m = Constant <value = bool {1}> () y = Loop (k, m, x) <body = l (int64 i, "
    "bool q, float[d, e] z) => (bool o, float[f, h] r) { o = Identity (q) r = Pad (DATA, p) }>"
)
CALL = '<opset_import: ["" : 18], domain: "local"> f (z, q) => (o) { o = Pad <mode = "reflect"> (z, q) }'
BODIES = {
    "an input": ('y = Pad <mode = "reflect"> (x, p)', False),
    "an initializer": ('y = Pad <mode = "reflect"> (w, p)', True),
    "an initializer that is an input": ("y = Pad (v, p)", True),
    "a Constant": ("k = Constant <value = float[1, 3] {1, 2, 3}> () y = Pad (k, p)", True),
    "what is computed of one": ("k = Relu (w) y = Pad (k, p)", True),
    "what is computed of one and of an input": ("k = Concat <axis = 1> (w, x) y = Pad (k, p)", False),
    "a shape": ("k = Shape (x) m = Cast <to = 1> (k) y = Pad (m, p)", True),
    "an input, and of an initializer": ("k = Pad (x, p) y = Pad (w, p)", True),
    **{f"{name} in a branch": (IF.replace("DATA", data), data == "w") for name, data in (("both", "w"), ("x", "x"))},
    **{f"{data} in a body, of which z changes": (LOOP.replace("DATA", data), data == "w") for data in "zxw"},
    "an input of a function": ("y = local.f (x, p)", True),
    "nothing": ("y = Relu (x)", False),
}


def built(name: str) -> bytes:
    functions = CALL if "function" in name else ""
    return model(f"{GRAPH} {{ {BODIES[name][0]} }}", functions=functions).SerializeToString()


@pytest.mark.parametrize("name", BODIES)
def test_what_may_be_constant(name: str, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(built(name))
    for source in (built(name), tmp_path / "model.onnx", str(tmp_path / "model.onnx")):
        assert pads_constants(source) is BODIES[name][1]


@pytest.mark.parametrize("name, disabled", [("an input", False), ("an initializer", True)])
def test_constants_are_folded_where_no_pad_is_constant(name: str, disabled: bool, monkeypatch) -> None:
    """Constants fold on a release whose own kernel reflects wrongly, since no Pad is constant."""
    given, create = [], onnxruntime.InferenceSession.__init__

    def record(self, *arguments, **named) -> None:
        given.append(named.get("disabled_optimizers") or set())
        create(self, *arguments, **named)

    monkeypatch.setattr(preparing, "runtime_minor", lambda: 24)
    monkeypatch.setattr(onnxruntime.InferenceSession, "__init__", record)
    padops.InferenceSession(built(name), recording_options())
    assert [("ConstantFolding" in names) for names in given] == [disabled]


# --- words, dims and fields ------------------------------------------------------------------------------------------


def bytes_of(nodes: list[onnx.NodeProto], *tensors: onnx.TensorProto, functions: tuple = ()) -> bytes:
    body = helper.make_graph(nodes, "g", [], [], tensors)
    return helper.make_model(body, functions=functions).SerializeToString()


def branch(*nodes: onnx.NodeProto) -> onnx.NodeProto:
    return helper.make_node("If", ["c"], ["z"], then_branch=helper.make_graph(nodes, "body", [], []))


def test_pads_with_axes_are_found_where_they_are() -> None:
    """At the top, in branches and in functions; by the number of inputs, whatever the names are."""
    for names, found in ((["x", "p"], False), (["x", "p", "f"], False), (["x", "p", "", "a"], True)):
        for long in (1, 127, 128, 5000):
            node = helper.make_node("Pad", [name and name * long for name in names], ["y" * long], name="n" * long)
            turn = helper.make_node("Transpose", ["y" * long], ["z"])
            function = helper.make_function("f", "F", ["x", "p"], ["z"], [node, turn], [])
            inside = bytes_of([turn, branch(turn, node)])
            for content in (bytes_of([turn, node]), inside, bytes_of([turn], functions=(function,))):
                assert (AXES in words_of(content)) is found
    assert AXES not in words_of(bytes_of([node])), "no Transpose that could be moved"
    cut = bytes_of([helper.make_node("Transpose", ["Pad"], ["y"])])[:-3]
    assert AXES in words_of(cut), "it may be"


def test_words_are_not_searched_for_in_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of the weights took longer than the session; a word in a weight does not count."""
    text = numpy_helper.from_array(np.frombuffer(b"reflect wrap Transpose " * 4000, np.uint8), "w")
    inner = branch(helper.make_node("Constant", [], ["c"], value=text))
    content = bytes_of([inner, helper.make_node("Pad", ["x", "p"], ["y"], mode="edge")], text)
    assert len(content) > 2 * len(text.raw_data) > model_words.SMALL
    assert words_of(content) == {b"Pad"}
    monkeypatch.setattr(model_words, "SMALL", len(content) + 1)
    assert words_of(content) > {b"Pad", b"reflect", b"wrap"}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """What is cut off is searched whole, and onnxruntime reports what is wrong with it."""
    weight = numpy_helper.from_array(np.zeros(model_words.SMALL, np.uint8), "w")
    content = bytes_of([helper.make_node("Pad", ["x", "p"], ["y"], mode="reflect")], weight)
    assert words_of(content[:-100]) == {b"Pad", b"reflect"}
    assert words_of(b"\xff" * (model_words.SMALL + 1)) == frozenset()
    for end in (b"", b"\x07strides", b"\x07stridesB", b"\x0ckernel_shape@\x01\x07strides@\x02", b"\x07strides@\xff"):
        words_of(b'SAME_"\x07MaxPool' + end)
    (tmp_path / "empty.onnx").write_bytes(b"")
    for unread in (b"\xff" * 20, tmp_path / "absent.onnx", tmp_path / "empty.onnx", tmp_path, 7.5):
        assert (pads_constants(unread), dim_names(unread)) == (True, ())
    assert pads_constants(built("an input")[:40]) is True


def test_names_of_dims(tmp_path: Path) -> None:
    """Each named dim of the inputs comes once."""
    made = model("g (float[n, 4, m] x, float[k, n] z) => (float[out] y) { y = Relu (x) }")
    made.graph.input[1].type.tensor_type.shape.dim.add(dim_param="")
    onnx.save(made, tmp_path / "model.onnx")
    assert dim_names(made.SerializeToString()) == dim_names(tmp_path / "model.onnx") == ("n", "m", "k")


def test_fields_of_all_kinds() -> None:
    """Numbers of any length, of 8 and of 4 bytes stand between what has a length."""
    content = b"\x08" + varint(300) + b"\x11" + b"\xff" * 8 + b"\x1d" + b"\xff" * 4 + b"\x22\x03Pad" + b"\x2a\x00"
    found = [(number, content[first:last]) for number, first, last in model_words.fields(content, 0, len(content))]
    assert found == [(4, b"Pad"), (5, b"")]


# --- SAME with dilations or long strides -----------------------------------------------------------------------------


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


def with_packed(content: bytes, name: str, values: list[int] | None) -> bytes:
    """A model whose attribute is packed, in the same size, as writers other than onnx have it."""
    unpacked, numbers = (b"".join(key + varint(number) for number in values or ()) for key in (b"@", b""))
    packed = name.encode() + b"B" + varint(len(numbers)) + numbers
    return content.replace(name.encode() + unpacked, packed) if values else content


@pytest.mark.parametrize(("operator", "window", "name", "values", "looks"), [
    *(("MaxPool", [3, 3], "dilations", row, looks) for row, looks in (([1, 1], 0), ([1, 2], 1), ([300, 1], 1))),
    ("MaxPool", [3, 3], "strides", [2, 3], False),
    ("MaxPool", [3, 2], "strides", [2, 3], True),
    ("AveragePool", [200, 300], "strides", [100, 301], True),
    ("Conv", [1, 1], "strides", [2, 2], False),
    ("Conv", [2, 1], "strides", [4, 3], False),
    ("Conv", [2, 1], "strides", [4, 4], True),
    ("Conv", None, "strides", [1, 4], True),
    ("QLinearConv", [300, 1], "strides", [303, 1], True),
    ("ConvTranspose", [1, 1], "strides", [9, 9], False),
])  # fmt: skip
def test_windows_are_read_in_every_encoding(
    operator: str, window: list[int] | None, name: str, values: list[int], looks: bool
) -> None:
    """Dilations and strides are read beside their window in each pooling and convolution; only SAME needs them."""
    for auto_pad, expected in (("SAME_LOWER", bool(looks)), ("NOTSET", False)):
        attributes: dict[str, Any] = {"auto_pad": auto_pad, name: values} | ({"kernel_shape": window} if window else {})
        node = helper.make_node(operator, ["x"], ["y"], **attributes)
        other = helper.make_node("MaxPool", ["y"], ["z"], auto_pad="SAME_UPPER", kernel_shape=[400, 400])
        content = bytes_of([branch(node, other)])
        packed = with_packed(with_packed(content, name, values), "kernel_shape", window)
        assert packed != content
        assert (WRONG_SAME in words_of(content)) is (WRONG_SAME in words_of(packed)) is expected


@pytest.mark.parametrize("name", ["auto_pad", "strides"])
def test_windows_whose_attributes_stand_in_the_call_of_a_function(name: str) -> None:
    given = {"auto_pad": "SAME_UPPER", "kernel_shape": [1], "strides": [1]}
    for by_reference in (False, True):
        node = helper.make_node("MaxPool", ["x"], ["y"], **given)
        if by_reference:
            row = next(row for row in node.attribute if row.name == name)
            row.CopyFrom(onnx.AttributeProto(name=name, type=row.type, ref_attr_name="given"))
        function = helper.make_function("f", "F", ["x"], ["y"], [node], [helper.make_opsetid("", 17)], ["given"])
        call = helper.make_node("F", ["x"], ["y"], domain="f", given=given[name])
        assert (WRONG_SAME in words_of(bytes_of([call], functions=(function,)))) is by_reference
