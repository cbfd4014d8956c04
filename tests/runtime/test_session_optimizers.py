"""padops.InferenceSession: onnxruntime's optimizers that get a Pad wrong are disabled, and no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from provider_sessions import POOLED, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime import model_words

CONVOLVED = model(
    "g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y)"
    " <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float[1, 1, 1, 1] w = {2}> { z = Pad (x, p) y = Conv (z, w) }"
)
AXES = "<int64[4] p = {1, 2, 2, 1}, int64[2] axes = {1, 2}>"
TURNED = (
    f"g (float[1, 4, 4, 1] x) => (float[a, b, c, d] y) {AXES} {{ t = Transpose <perm = [0, 3, 1, 2]> (x)"
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


def axes_in(source: onnx.ModelProto) -> bool:
    return model_words.AXES in model_words.words_of(source.SerializeToString())


def test_pads_with_axes_are_found_where_they_are() -> None:
    """At the top, in branches and in functions; by the number of inputs, whatever the names are."""
    for names, found in ((["x", "p"], False), (["x", "p", "f"], False), (["x", "p", "", "a"], True)):
        for long in (1, 127, 128, 5000):
            node = helper.make_node("Pad", [name and name * long for name in names], ["y" * long], name="n" * long)
            turn = helper.make_node("Transpose", ["y" * long], ["z"])
            top = helper.make_graph([turn, node], "g", [], [])
            branch = helper.make_node(
                "If", ["c"], ["z"], then_branch=top, else_branch=helper.make_graph([], "e", [], [])
            )
            inside = helper.make_graph([turn, branch], "g", [], [])
            function = helper.make_function("f", "F", ["x", "p"], ["z"], [node, turn], [])
            outside = helper.make_model(helper.make_graph([turn], "g", [], []), functions=[function])
            assert [axes_in(helper.make_model(top)), axes_in(helper.make_model(inside)), axes_in(outside)] == [
                found
            ] * 3
    alone = helper.make_model(helper.make_graph([helper.make_node("Pad", ["x", "p", "", "a"], ["y"])], "g", [], []))
    assert not axes_in(alone)  # no Transpose that could be moved
    content = helper.make_model(helper.make_graph([helper.make_node("Transpose", ["Pad"], ["y"])], "g", [], []))
    assert model_words.AXES in model_words.words_of(content.SerializeToString()[:-3])  # cut off: it may be


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
        (
            model(
                TURNED.replace("p, , axes", "q").replace(
                    "<int64[4]", "<int64[8] q = {0, 1, 2, 0, 0, 2, 1, 0}, int64[4]"
                )
            ),
            31,
            set(),
        ),
        (model(QUANTIZED), 31, {"NhwcTransformer"}),
    ):
        onnx.save(built, path)
        for source in (path, str(path), built.SerializeToString()):
            words = model_words.words_of(source)
            assert model_words.wrong_optimizers(words, minor) == expected
    assert providers_of_pads(padops.InferenceSession(CONVOLVED.SerializeToString(), recording_options())) == []


def test_words_are_not_searched_for_in_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of the weights took longer than the session; a word in a weight does not count."""
    text = numpy_helper.from_array(np.frombuffer(b"reflect wrap Transpose " * 4000, np.uint8), "w")
    inner = helper.make_graph([helper.make_node("Constant", [], ["c"], value=text)], "inner", [], [])
    nodes = [
        helper.make_node("If", ["b"], ["i"], then_branch=inner),
        helper.make_node("Pad", ["x", "p"], ["y"], mode="edge"),
    ]
    content = helper.make_model(helper.make_graph(nodes, "g", [], [], [text])).SerializeToString()
    assert len(content) > 2 * len(text.raw_data) > model_words.SMALL
    assert model_words.words_of(content) == {b"Pad"}
    monkeypatch.setattr(model_words, "SMALL", len(content) + 1)
    assert model_words.words_of(content) > {b"Pad", b"reflect", b"wrap"}


def test_words_of_what_is_cut_off() -> None:
    """A truncated file is searched whole, and onnxruntime reports what is wrong with it."""
    weight = numpy_helper.from_array(np.zeros(model_words.SMALL, np.uint8), "w")
    nodes = [helper.make_node("Pad", ["x", "p"], ["y"], mode="reflect")]
    content = helper.make_model(helper.make_graph(nodes, "g", [], [], [weight])).SerializeToString()
    assert model_words.words_of(content[:-100]) == {b"Pad", b"reflect"}
    assert model_words.words_of(b"\xff" * (model_words.SMALL + 1)) == frozenset()


def test_names_of_dims(tmp_path: Path) -> None:
    """Each named dim of the inputs comes once; what cannot be read gives none, as onnxruntime reports it."""
    built = model("g (float[n, 4, m] x, float[k, n] z) => (float[out] y) { y = Relu (x) }")
    built.graph.input[1].type.tensor_type.shape.dim.add(dim_param="")
    assert model_words.dim_names(built.SerializeToString()) == ("n", "m", "k")
    onnx.save(built, tmp_path / "model.onnx")
    assert model_words.dim_names(tmp_path / "model.onnx") == ("n", "m", "k")
    (tmp_path / "empty.onnx").write_bytes(b"")
    for unread in (tmp_path / "absent.onnx", tmp_path / "empty.onnx", tmp_path, 7.5, b"\xff" * 20):
        assert model_words.dim_names(unread) == ()
