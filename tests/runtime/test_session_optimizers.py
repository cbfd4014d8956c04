"""padops.InferenceSession: onnxruntime's optimizers that get a Pad wrong are disabled, and no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnx_pads import numpy_pad
from provider_sessions import POOLED, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime import model_words, provider

CONVOLVED = model(
    "g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y)"
    " <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}, float[1, 1, 1, 1] w = {2}> { z = Pad (x, p) y = Conv (z, w) }"
)
LEVELS = [
    onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
]


AVERAGED = {
    "ceil_mode": "kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1, count_include_pad = 1",
    "a pad as large as the kernel": "kernel_shape = [1, 1], strides = [2, 2]",
}


@pytest.mark.parametrize("level", LEVELS[1::2], ids=lambda level: level.name)
@pytest.mark.parametrize("case", AVERAGED)
def test_pad_before_average_pool(case: str, level: onnxruntime.GraphOptimizationLevel) -> None:
    """A Pad must not become AveragePool's padding where that rounds up or is not less than the kernel."""
    built = model(
        "g (float[1, 1, 5, 5] x) => (float[a, b, c, d] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {"
        f" z = Pad (x, p) y = AveragePool <{AVERAGED[case]}> (z) }}"
    )
    data = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    outputs = []
    for chosen in (LEVELS[0], level):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = chosen
        outputs.append(padops.InferenceSession(built.SerializeToString(), options).run(None, {"x": data})[0])
    assert outputs[0].shape == outputs[1].shape
    assert outputs[0].tobytes() == outputs[1].tobytes()


def pooled(kind: type, level: onnxruntime.GraphOptimizationLevel, **chosen) -> list:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = kind(POOLED.SerializeToString(), options, **chosen)
    return session.run(None, {"x": np.full((1, 1, 4, 4), -1, np.float32)})[0].ravel().tolist()


@pytest.mark.parametrize("level", LEVELS[1::2], ids=lambda level: level.name)
def test_pad_before_max_pool(level: onnxruntime.GraphOptimizationLevel) -> None:
    """Stock onnxruntime before 1.32 wrongly fuses a Pad of zeros into MaxPool, which pads with minus infinity."""
    right = [0, 0, 0, -1]
    assert pooled(padops.InferenceSession, level) == right
    assert pooled(padops.InferenceSession, level, disabled_optimizers=["ConstantFolding"]) == right
    wrong = level is not onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL and provider.runtime_minor() < 32
    assert (pooled(onnxruntime.InferenceSession, level) != right) is wrong, (
        "onnxruntime has changed: see WRONG_OPTIMIZERS"
    )


@pytest.mark.parametrize("mode", ["reflect", "wrap", "edge", "constant"])
@pytest.mark.parametrize("level", LEVELS[1::2], ids=lambda level: level.name)
def test_pad_of_constant_data(level: onnxruntime.GraphOptimizationLevel, mode: str) -> None:
    """onnxruntime may run it while it loads the model, with its own kernel."""
    built = model(
        "g (float[n] x) => (float[m] y) <float[3] c = {1, 2, 3}, int64[2] p = {7, 5}> "
        f'{{ z = Pad <mode = "{mode}"> (c, p) y = Add (z, x) }}'
    )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    data = np.array([1, 2, 3], np.float32)
    output = padops.InferenceSession(built.SerializeToString(), options).run(None, {"x": np.zeros(15, np.float32)})[0]
    assert output.tolist() == numpy_pad(data, [7, 5], mode).tolist()


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


@pytest.mark.parametrize("level", LEVELS[1::2], ids=lambda level: level.name)
@pytest.mark.parametrize("text", [TURNED, QUANTIZED], ids=["Transpose", "QLinearConv"])
def test_a_pad_with_axes_among_transposes(text: str, level: onnxruntime.GraphOptimizationLevel, tmp_path: Path) -> None:
    """When onnxruntime moves a Transpose through a Pad, it takes the Pad's amounts for those of all axes."""
    built, path = model(text), tmp_path / "model.onnx"
    onnx.save(built, path)
    kind = np.uint8 if "uint8" in text else np.float32
    shape = [dim.dim_value for dim in built.graph.input[0].type.tensor_type.shape.dim]
    data = {"x": np.arange(16).astype(kind).reshape(shape)}
    outputs = []
    for chosen in (LEVELS[0], level):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = chosen
        for source in (path, built.SerializeToString()):
            outputs.append(padops.InferenceSession(source, options).run(None, data)[0].tobytes())
    assert len(set(outputs)) == 1


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
