"""PadopsFirstExecutionProvider by itself: what it takes before which providers, as a kernel and compiled, and bit by bit."""

from __future__ import annotations

import threading

import numpy as np
import onnx
import onnxruntime
import pytest
from provider_sessions import CPU, EP_NAME, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime.ort_values import run_session
from padops.runtime.provider import FIRST_NAME, register_provider_library
from padops.runtime.provider_rules import KNOWN_PROVIDERS
from padops.spec import reference
from padops.spec.dtypes import by_name

OPENVINO, WEBGPU = "OpenVINOExecutionProvider", "WebGpuExecutionProvider"


def session(content: onnx.ModelProto, before: str) -> onnxruntime.InferenceSession:
    """A session with the provider alone before the CPU's, as though those of ``before`` stood between them."""
    options = recording_options()
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": before})
    options.add_provider_for_devices([devices[CPU]], {})
    return onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)


def profiled_runner(built: onnxruntime.InferenceSession) -> str:
    """The provider of the one Pad, compiled or not."""
    listed = built.get_provider_graph_assignment_info()
    return next(part.ep_name for part in listed for node in part.get_nodes() if node.op_type == "Pad")


def test_both_are_there() -> None:
    devices = register_provider_library()
    assert [name for name in padops.get_ep_names() if name in devices] == padops.get_ep_names()


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_it_takes_what_inspect_says(row) -> None:
    """The library's rules and Python's, each on their own reading of a model: they name the same Pads."""
    for opset in (10, 18, 25):
        for mode in ("constant", "edge", "reflect", "wrap"):
            if mode == "wrap" and opset < 19:
                continue
            for pads in ([1, 1], [4, 0], [-1, 1], [-1, 3], [-5, 0]):
                for data in ("float[4]", "float[n]", "int32[4]"):
                    if data == "int32[4]" and opset < 11:
                        continue
                    content = pad(pads, mode, opset, data)
                    (told,) = padops.inspect(content, providers=[row.name, CPU]).pads
                    if told.verdict == "breaks a rule":
                        continue
                    built = None
                    try:
                        built = session(content, row.name)
                    except Exception as error:  # without padops' own behind, the CPU's may have no kernel
                        assert "NOT_IMPLEMENTED" in str(error) and told.runner != FIRST_NAME, (mode, pads, data, error)
                        continue
                    took = FIRST_NAME in providers_of_pads(built)
                    assert took is (told.runner == FIRST_NAME), (opset, mode, pads, data, told.why)


RARE = [  # the mode, the data, the amounts, the fill
    *((mode, "float", [], None) for mode in ("constant", "edge", "reflect", "wrap")),
    *((mode, "float[4]", [1, 1], fill) for mode in ("edge", "reflect", "wrap") for fill in ([], [7], [7, 8])),
    *((mode, "float[3, 0]", [1, 0, 1, 0], None) for mode in ("constant", "edge", "reflect", "wrap")),
    *((mode, "float[n, 0]", [1, 0, 1, 0], None) for mode in ("edge", "wrap")),
    *((mode, "float[4]", pads, None) for mode in ("constant", "edge", "wrap") for pads in ([-4, 0], [-4, 3], [-5, 3])),
    *(
        ("reflect", data, pads, None)
        for data in ("float[4]", "float[n]")
        for pads in ([-3, 1], [-2, 3], [-2, 9], [9, 0])
    ),
    *(("reflect", "float[1]", pads, None) for pads in ([1, 1], [0, 3], [0, 0])),
]


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_rare_pads_that_it_takes(row) -> None:
    """The same of data without dims or elements, of odd fills and of deep crops."""
    taken = 0
    for mode, data, pads, fill in RARE:
        held = [f"int64[{len(pads)}] p = {{{', '.join(map(str, pads))}}}"]
        held += [] if fill is None else [f"float[{len(fill)}] f = {{{', '.join(map(str, fill))}}}"]
        output = data.replace("4", "a").replace("1", "a").replace("3, 0", "a, b").replace("n, 0", "a, b")
        inputs = "x, p" if fill is None else "x, p, f"
        text = f'g ({data} x) => ({output} y) <{", ".join(held)}> {{ [p] y = Pad <mode = "{mode}"> ({inputs}) }}'
        content = model(text, 19)
        (told,) = padops.inspect(content, providers=[row.name, CPU]).pads
        if told.verdict == "breaks a rule":
            continue
        took = FIRST_NAME in providers_of_pads(session(content, row.name))
        assert took is (told.runner == FIRST_NAME), (mode, data, pads, fill, told.why)
        taken += took
    for mode in ("constant", "edge", "wrap"):  # amounts that are given at run time
        content = model(f'g (float[4] x, int64[2] p) => (float[a] y) {{ [p] y = Pad <mode = "{mode}"> (x, p) }}', 19)
        (told,) = padops.inspect(content, providers=[row.name, CPU]).pads
        assert (FIRST_NAME in providers_of_pads(session(content, row.name))) is (told.runner == FIRST_NAME), mode
    assert (taken > 0) is any(rule.does != "leaves" for rule in row.rules)


def test_nothing_is_taken_before_none() -> None:
    for before in ("", "NoSuchProvider", ",,"):
        assert providers_of_pads(session(pad([1, 1], "wrap", 19, "float[4]"), before)) == [CPU]


INITIALIZED = [
    ("wrap", "x, p", "int64[2] p = {1, 5}", {}),
    ("wrap", "x, p, f", "int64[2] p = {1, 5}, float[1] f = {7}", {}),
    ("constant", "x, p, f, a", "int64[2] p = {1, 5}, int64[1] a = {-1}", {"f": np.array([9], np.float32)}),
    ("constant", "x, p, , a", "int64[1] a = {0}", {"p": np.array([2, 3])}),
    ("edge", "x, q, , b", "", {"q": np.array([2, 3]), "b": np.array([0])}),
    ("edge", "x, p, , a", "int64[2] p = {1, 5}, int64[1] a = {0}", {}),
]


@pytest.mark.parametrize(("mode", "inputs", "initializers", "given"), INITIALIZED)
def test_a_compiled_pad(mode: str, inputs: str, initializers: str, given: dict[str, np.ndarray]) -> None:
    """Its inputs are those that the runtime hands over, in whatever order; absent ones stay absent."""
    declared = "".join(
        f", {'float[1]' if name == 'f' else f'int64[{array.size}]'} {name}" for name, array in given.items()
    )
    held = f"<{initializers}>" if initializers else ""
    text = f'g (float[4] x{declared}) => (float[n] y) {held} {{ r = Relu (x) [pad] s = Pad <mode = "{mode}"> ({inputs}) y = Relu (s) }}'
    built = session(model(text.replace("(x, ", "(r, "), 19), OPENVINO)
    assert profiled_runner(built) == FIRST_NAME
    data = np.array([3, 1, 4, 2], np.float32)
    held_arrays = {row.name: onnx.numpy_helper.to_array(row) for row in model(text, 19).graph.initializer}
    arrays = [
        data if name == "x" else given.get(name, held_arrays.get(name)) if name else None
        for name in (part.strip() for part in inputs.split(","))
    ]
    expected = reference.run("Pad_19", {"mode": mode}, arrays)
    for _ in range(2):
        assert built.run(None, {"x": data, **given})[0].tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["int16", "uint16", "int8", "bool", "float16"])
def test_compiled_pads_of_other_types(kind: str) -> None:
    """Those that OpenVINO has, and would refuse."""
    built = session(pad([5, 6], "wrap", 21, f"{kind}[3]"), OPENVINO)
    data = np.array([1, 0, 1]).astype(by_name(kind).numpy)
    output = run_session(built, {"x": data})[0]
    assert output.tolist() == reference.run("Pad_21", {"mode": "wrap"}, [data, np.array([5, 6])]).tolist()


def test_compiled_pads_of_the_first_opsets() -> None:
    """Amounts and the value are attributes."""
    built = session(pad([-5, 3], "constant", 10, "float[4]"), OPENVINO)
    assert built.run(None, {"x": np.arange(4, dtype=np.float32)})[0].tolist() == [0, 0]
    text = "g (float[4] x) => (float[n] y) { [p] y = Pad <pads = [-5, 3], value = 7.5> (x) }"
    built = session(model(text, 10), OPENVINO)
    assert built.run(None, {"x": np.arange(4, dtype=np.float32)})[0].tolist() == [7.5, 7.5]


def test_errors_of_compiled_pads() -> None:
    """They name the node and the rule, when the session is created and when it runs."""
    text = 'g (float[4] x, int64[2] p) => (float[n] y) { [decoder] y = Pad <mode = "wrap"> (x, p) }'
    built = session(model(text, 19), OPENVINO)
    with pytest.raises(Exception, match=r"padops::Pad_19 'decoder': .* \[P1\]"):
        built.run(None, {"x": np.zeros(4, np.float32), "p": np.array([-9, 0])})
    with pytest.raises(
        Exception, match=r"padops::Pad_19 'p': fill has 2 elements|constant_value has 2 elements.* \[P7\]"
    ):
        content = model(
            "g (float[4] x) => (float[n] y) <int64[2] p = {-5, 3}, float[2] f = {1, 2}> { [p] y = Pad (x, p, f) }", 19
        )
        session(content, OPENVINO).run(None, {"x": np.zeros(4, np.float32)})


def test_a_compiled_pad_in_many_threads() -> None:
    built = session(pad([1, 5], "wrap", 19, "float[n]"), WEBGPU + "," + OPENVINO)
    wrong: list[int] = []

    def run(size: int) -> None:
        data = np.arange(size, dtype=np.float32)
        expected = np.pad(data, (1, 5), "wrap").tolist()
        wrong.extend(size for _ in range(50) if built.run(None, {"x": data})[0].tolist() != expected)

    threads = [threading.Thread(target=run, args=(size,)) for size in range(2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_sessions_of_both_that_many_threads_create() -> None:
    """Each with providers, kernels and compiled Pads of its own."""
    content, data = pad([1, 5], "wrap", 19, "float[4]"), np.arange(4, dtype=np.float32)
    devices = register_provider_library()
    expected = np.pad(data, (1, 5), "wrap").tolist()
    outcomes: list[tuple[list[str], bool]] = []

    def create(before: str) -> None:
        for _ in range(5):
            options = recording_options()
            for name, given in ((FIRST_NAME, {"before": before}), (EP_NAME, {}), (CPU, {})):
                options.add_provider_for_devices([devices[name]], given)
            built = onnxruntime.InferenceSession(content.SerializeToString(), options, enable_fallback=0)
            outcomes.append((providers_of_pads(built), built.run(None, {"x": data})[0].tolist() == expected))

    befores = [OPENVINO, WEBGPU, "", OPENVINO, WEBGPU, ""]
    threads = [threading.Thread(target=create, args=(before,)) for before in befores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == sorted([([FIRST_NAME if before else EP_NAME], True) for before in befores] * 5)


def test_a_report(tmp_path) -> None:
    """It takes nothing, and writes down what only a provider is told."""
    file = tmp_path / "report"
    options = recording_options()
    options.add_session_config_entry("one.two", "three")
    devices = register_provider_library()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"before": OPENVINO, "report": str(file)})
    options.add_provider_for_devices([devices[CPU]], {})
    built = onnxruntime.InferenceSession(
        pad([1, 1], "wrap", 19, "float[4]").SerializeToString(), options, enable_fallback=0
    )
    assert providers_of_pads(built) == [CPU]
    parts = file.read_bytes().decode().split("\0")
    assert parts[-3:] == ["pad", "p", ""] and ["entry", "one.two", "three"] == parts[parts.index("one.two") - 1 :][:3]
    options = recording_options()
    options.add_provider_for_devices([devices[FIRST_NAME]], {"report": str(tmp_path / "none" / "file")})
    with pytest.raises(Exception, match="option report: cannot write"):
        onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), options, enable_fallback=0)
