"""PadopsFirstExecutionProvider alone: what it takes before which providers, as a kernel and compiled, by the bits."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from provider_sessions import CPU, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime.ort_values import run_session
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import KNOWN_PROVIDERS
from padops.spec import reference
from padops.spec.dtypes import by_name

OPENVINO, WEBGPU, QNN = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "QNNExecutionProvider"


def session(content: onnx.ModelProto, before: str) -> onnxruntime.InferenceSession:
    """A session with the provider alone before the CPU's, as though those of ``before`` stood between them."""
    options = recording_options()
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": before})
    options.add_provider_for_devices([devices[CPU]], {})
    return onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)


def judged(content: onnx.ModelProto, provider: str, has_kernel: bool = True) -> tuple[Any, bool]:
    """What inspect says of the one Pad before a provider, and whether padops takes it there: the two agree."""
    (told,) = padops.inspect(content, providers=[provider, CPU]).pads
    if told.verdict == "breaks a rule":
        return told, False
    try:
        took = FIRST_NAME in providers_of_pads(session(content, provider))
    except Exception as error:  # without padops' own behind, the CPU's may have no kernel
        assert "NOT_IMPLEMENTED" in str(error) and not has_kernel
        took = False
    assert took is (told.runner == FIRST_NAME), (told.verdict, told.why, onnx.printer.to_text(content))
    return told, took


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_it_takes_what_inspect_says(row) -> None:
    """The library's rules and Python's, each on their own reading of a model: they name the same Pads."""
    amounts, kinds = ([1, 1], [4, 0], [-1, 1], [-1, 3], [-5, 0]), ("float[4]", "float[n]", "int32[4]")
    drawn = [*product((10, 18, 25), ("constant", "edge", "reflect", "wrap"), amounts, kinds)]
    for opset, mode, pads, data in drawn[KNOWN_PROVIDERS.index(row) % 4 :: 4]:  # a quarter, another for each provider
        if (mode != "wrap" or opset >= 19) and (data != "int32[4]" or opset >= 11):
            judged(pad(pads, mode, opset, data), row.name, has_kernel=False)


# Fills, ranks and sizes: graphs of one Pad with amounts p.
FILLED = 'g (float[4] x{0}) => (float[a] y) <int64[2] p = {{1, 2}}{1}> {{ [p] y = Pad <mode = "{2}"> (x, p, f) }}'
ODD = {
    "one element": FILLED.format("", ", float[1] f = {7}", "constant"),
    "two elements": FILLED.format("", ", float[2] f = {7, 8}", "edge"),
    "no element": FILLED.format("", ", float[0] f = {}", "edge"),
    "two elements, given": FILLED.format(", float[2] f", "", "edge"),
    "a scalar, given": FILLED.format(", float f", "", "constant"),
    "one element, given": FILLED.format(", float[1] f", "", "constant"),
    "one element, given and not read": FILLED.format(", float[1] f", "", "reflect"),
    "nothing is told of it": FILLED.format(", float f0", "", "edge")
    .replace("{ [p]", "{ f = Reshape (f0, s) [p]")
    .replace("(float[4] x,", "(float[4] x, int64[n] s,"),
    "a negative zero": FILLED.format("", ", float f = {-0.0}", "constant"),
    "a negative zero that is not read": FILLED.format("", ", float f = {-0.0}", "edge"),
    "the same as an attribute": "g (float[4] x) => (float[a] y) { [p] y = Pad <pads = [1, 2], value = -0.0> (x) }",
    "24 bits": FILLED.format("", ", int32 f = {16777216}", "constant").replace("float[", "int32["),
    "25 bits": FILLED.format("", ", int32 f = {16777217}", "constant").replace("float[", "int32["),
    "32 bits": FILLED.format("", ", int64 f = {-2147483648}", "constant").replace("float[", "int64["),
    "33 bits": FILLED.format("", ", int64 f = {4294967296}", "constant").replace("float[", "int64["),
    "rank 0": 'g (float x) => (float y) <int64[0] p = {}> { [p] y = Pad <mode = "reflect"> (x, p) }',
    "rank 0, given": "g (float x, int64[0] p) => (float y) { [p] y = Pad (x, p) }",
    "five dims": "g (float[1, 1, 1, 2, 2] x) => (float[a, b, c, d, e] y) "
    "<int64[10] p = {0, 0, 0, 1, 1, 0, 0, 0, 1, 1}> { [p] y = Pad (x, p) }",
    "six dims": "g (float[1, 1, 1, 1, 2, 2] x) => (float[a, b, c, d, e, f] y) "
    "<int64[12] p = {0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1}> { [p] y = Pad (x, p) }",
    "six dims, edge": "g (float[1, 1, 1, 1, 2, 2] x) => (float[a, b, c, d, e, f] y) "
    '<int64[12] p = {0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1}> { [p] y = Pad <mode = "edge"> (x, p) }',
    "nothing": "g (float[2, 0] x) => (float[a, b] y) <int64[4] p = {0, 1, 0, 1}> { [p] y = Pad (x, p) }",
    "perhaps nothing": "g (float[n, 4] x) => (float[a, b] y) <int64[4] p = {0, 1, 0, 1}> { [p] y = Pad (x, p) }",
    "no shape at all": "g (float[] x, int64[4] p) => (float[a, b] y) { [p] y = Pad (x, p) }",
}


AXES = (
    'g (float[4, 2] x{0}) => (float[a, b] y) <int64[{1}] p = {{{2}}}{3}> {{ [p] y = Pad <mode = "edge"> (x, p, , a) }}'
)
ODD |= {
    "all axes": AXES.format("", 4, "1, 0, 0, 1", ", int64[2] a = {0, -1}"),
    "all axes in another order": AXES.format("", 4, "1, 0, 0, 1", ", int64[2] a = {1, 0}"),
    "all axes and a fill": AXES.format("", 4, "1, 0, 0, 1", ", int64[2] a = {0, 1}, float[1] f = {7}")
    .replace("edge", "constant")
    .replace(", , a", ", f, a"),
    "one axis": AXES.format("", 2, "1, 0", ", int64[1] a = {1}"),
    "one axis, given": AXES.format(", int64[1] a", 2, "1, 0", ""),
    "perhaps all axes": AXES.format(", int64[n] a", 4, "1, 0, 0, 1", ""),
}


def odd(name: str) -> onnx.ModelProto:
    return model(ODD[name], 10 if "attribute" in name else 18)


@pytest.mark.parametrize("provider", [OPENVINO, WEBGPU, QNN])
@pytest.mark.parametrize("name", ODD)
def test_fills_ranks_and_sizes(name: str, provider: str) -> None:
    """The library's rules, Python's rules and the measurements (docs/beside.md) agree on odd Pads."""
    told, took = judged(odd(name), provider)
    assert took is (provider in TAKEN.get(name, ())), told.why


TAKEN = {
    "all axes in another order": (OPENVINO,),
    "all axes and a fill": (OPENVINO,),
    "one axis": (OPENVINO,),
    "one axis, given": (OPENVINO,),
    "perhaps all axes": (OPENVINO,),
    "two elements": (OPENVINO, WEBGPU, QNN),
    "no element": (OPENVINO, WEBGPU, QNN),
    "two elements, given": (OPENVINO, WEBGPU),
    "one element, given": (OPENVINO,),
    "nothing is told of it": (OPENVINO, WEBGPU),
    "a negative zero": (OPENVINO,),
    "a negative zero that is not read": (QNN,),
    "the same as an attribute": (OPENVINO,),
    "25 bits": (OPENVINO,),
    "33 bits": (OPENVINO,),
    "rank 0": (WEBGPU, QNN),
    "rank 0, given": (WEBGPU,),
    "five dims": (QNN,),  # it leaves those of six
    "nothing": (QNN,),
}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_values_that_are_no_numbers(value: float) -> None:
    """padops runs a Pad whose attribute is NaN or infinity; as an input of the Pad, such a fill is right."""
    content = model(ODD["the same as an attribute"], 10)
    content.graph.node[0].attribute[1].f = value
    (told,) = padops.inspect(content, providers=[OPENVINO, CPU]).pads
    assert (told.verdict, told.runner) == ("refuses", FIRST_NAME), told.why
    assert providers_of_pads(session(content, OPENVINO)) == [FIRST_NAME]
    assert providers_of_pads(session(content, WEBGPU)) == [CPU]
    content = model(ODD["the same as an attribute"].replace("float", "float16"), 10)
    content.graph.node[0].attribute[1].f = 65505
    assert providers_of_pads(session(content, OPENVINO)) == [FIRST_NAME]
    assert padops.inspect(content, providers=[OPENVINO]).pads[0].runner == FIRST_NAME
    content.graph.node[0].attribute[1].f = 65504
    assert padops.inspect(content, providers=[OPENVINO]).pads[0].runner == OPENVINO
    content = odd("one element")
    content.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(np.array([value], np.float32), "f"))
    assert providers_of_pads(session(content, OPENVINO)) == [CPU]


def test_a_row_of_amounts_is_refused_before_any_provider_is_asked() -> None:
    """onnxruntime refuses constant pads of two dims and constant axes of int32 at load, whatever provider is named."""
    row = "g (float[4] x) => (float[a] y) <int64[1, 2] p = {1, 2}> { [p] y = Pad (x, p) }"
    axes = "g (float[4] x) => (float[a] y) <int64[2] p = {1, 2}, int32[1] a = {0}> { [p] y = Pad (x, p, , a) }"
    for text in (row, axes):
        for provider in (OPENVINO, WEBGPU, QNN):
            (told,) = padops.inspect(model(text), providers=[provider, CPU]).pads
            assert (told.verdict, told.runner) == ("refuses", "") and provider not in told.why
        with pytest.raises(Exception, match="ShapeInferenceError"):
            session(model(text), OPENVINO)


INITIALIZED = [
    ("wrap", "x, p", "int64[2] p = {1, 5}", {}),
    ("wrap", "x, p, f", "int64[2] p = {1, 5}, float[1] f = {7}", {}),
    ("constant", "x, p, f, a", "int64[2] p = {1, 5}, int64[1] a = {-1}", {"f": np.array([9], np.float32)}),
    ("constant", "x, p, , a", "int64[1] a = {0}", {"p": np.array([2, 3])}),
    ("edge", "x, q, , b", "", {"q": np.array([2, 3]), "b": np.array([0])}),
    ("wrap", "x, p, , a", "int64[2] p = {1, 5}, int64[1] a = {0}", {}),
]


@pytest.mark.parametrize(("mode", "inputs", "initializers", "given"), INITIALIZED)
def test_a_compiled_pad(mode: str, inputs: str, initializers: str, given: dict[str, np.ndarray]) -> None:
    """Its inputs are those that the runtime hands over, in whatever order; absent ones stay absent."""
    declared = "".join(
        f", {'float[1]' if name == 'f' else f'int64[{array.size}]'} {name}" for name, array in given.items()
    )
    held = f"<{initializers}>" if initializers else ""
    text = f'{{ r = Relu (x) [pad] s = Pad <mode = "{mode}"> ({inputs}) y = Relu (s) }}'
    text = f"g (float[4] x{declared}) => (float[n] y) {held} {text}"
    built = session(model(text.replace("(x, ", "(r, "), 19), OPENVINO)
    assert providers_of_pads(built) == [FIRST_NAME]
    data = np.array([3, 1, 4, 2], np.float32)
    held_arrays = {row.name: onnx.numpy_helper.to_array(row) for row in model(text, 19).graph.initializer}
    arrays = [
        data if name == "x" else given.get(name, held_arrays.get(name)) if name else None
        for name in (part.strip() for part in inputs.split(","))
    ]
    expected = reference.run("Pad_19", {"mode": mode}, arrays)
    for _ in range(2):
        assert built.run(None, {"x": data, **given})[0].tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["int16", "int4", "bool", "float16", "int64"])
def test_compiled_pads_of_other_types(kind: str) -> None:
    built = session(pad([5, 6], "wrap", 21, f"{kind}[3]"), OPENVINO)
    assert providers_of_pads(built) == [FIRST_NAME]
    data = np.array([1, 0, 1]).astype(by_name(kind).numpy)
    output = run_session(built, {"x": data})[0]
    assert output.tolist() == reference.run("Pad_21", {"mode": "wrap"}, [data, np.array([5, 6])]).tolist()


@pytest.mark.skipif(onnxruntime.__version__ == "1.24.1", reason="it gives compiled nodes of two graphs one name")
def test_compiled_pads_of_two_branches() -> None:
    branches = (f'() => (float[m] {y}) {{ {y} = Pad <mode = "wrap"> (x, {p}) }}' for y, p in (("a", "p"), ("b", "q")))
    text = "g (bool c, float[n] x) => (float[k] y) <int64[2] p = {1, 5}, int64[2] q = {4, 0}> "
    text += "{{ y = If (c) <then_branch = t {}, else_branch = e {}> }}".format(*branches)
    built = session(model(text, 19), OPENVINO)
    data = np.arange(3, dtype=np.float32)
    for holds, amounts in ((True, (1, 5)), (False, (4, 0))):
        assert built.run(None, {"c": np.array(holds), "x": data})[0].tolist() == np.pad(data, amounts, "wrap").tolist()


def test_compiled_pads_of_the_first_opsets() -> None:
    """Amounts and the value are attributes."""
    text = "g (float[4] x) => (float[n] y) { [p] y = Pad <pads = [-5, 3], value = 7.5> (x) }"
    for content, value in ((pad([-5, 3], "constant", 10, "float[4]"), 0), (model(text, 10), 7.5)):
        built = session(content, OPENVINO)
        assert built.run(None, {"x": np.arange(4, dtype=np.float32)})[0].tolist() == [value, value]


def test_errors_of_compiled_pads() -> None:
    """Errors at creation and at run time name the node and the rule."""
    text = 'g (float[4] x, int64[2] p) => (float[n] y) { [decoder] y = Pad <mode = "wrap"> (x, p) }'
    built = session(model(text, 19), OPENVINO)
    with pytest.raises(Exception, match=r"padops::Pad_19 'decoder': .* \[P1\]"):
        built.run(None, {"x": np.zeros(4, np.float32), "p": np.array([-9, 0])})
    text = "g (float[4] x) => (float[n] y) <int64[2] p = {-5, 3}, float[2] f = {1, 2}> { [p] y = Pad (x, p, f) }"
    with pytest.raises(Exception, match=r"padops::Pad_19 'p': .* has 2 elements.* \[P7\]"):
        session(model(text, 19), OPENVINO).run(None, {"x": np.zeros(4, np.float32)})


def test_a_report(tmp_path) -> None:
    """The reporting provider takes no node, and writes down what only a provider learns."""
    file = tmp_path / "report"
    options = recording_options()
    options.add_session_config_entry("one.two", "three")
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": OPENVINO, "report": str(file)})
    options.add_provider_for_devices([devices[CPU]], {})
    model = pad([1, 1], "wrap", 19, "float[4]").SerializeToString()
    assert providers_of_pads(onnxruntime.InferenceSession(model, options, enable_fallback=0)) == [CPU]
    parts = file.read_bytes().decode().split("\0")
    assert parts[-3:] == ["pad", "p", ""] and ["entry", "one.two", "three"] == parts[parts.index("one.two") - 1 :][:3]
    for unwritable in (str(tmp_path), *["/dev/full"] * (sys.platform == "linux")):  # this fails only when flushed
        options = recording_options()
        options.add_provider_for_devices([devices[FIRST_NAME]], {"report": unwritable})
        with pytest.raises(Exception, match=f"option report: cannot write {unwritable}"):
            onnxruntime.InferenceSession(model, options, enable_fallback=0)
