"""Whole models, converted and run: the samples in models/, the real ones, and the Pad tests that come with onnx.

Everything is compared bit for bit, as bytes, so that NaNs count as what they are.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import native
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper
from provider_sessions import EP_NAME, providers_of_pads, recording_options

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.dialects import DOMAIN, onnx_op
from padops.spec.dtypes import by_onnx

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = sorted((ROOT / "models").glob("*.onnx"))
OF_PADS = [path for path in SAMPLES if path.stem != "tokens"]  # which needs other operators: tests/test_together.py
ONNX_DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
Arrays = Mapping[str, np.ndarray]


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield


def pads_in(message: object, domain: str = "") -> int:
    """How many Pad nodes a protobuf message holds, wherever they are: found by its fields, not by ONNX's structure."""
    found = 0
    if isinstance(message, onnx.NodeProto) and message.domain == domain:
        found += message.op_type.split("_")[0] == "Pad"
    for field, value in message.ListFields():
        if field.message_type:
            repeated = not hasattr(value, "ListFields")
            found += sum(pads_in(item, domain) for item in (value if repeated else [value]))
    return found


def session(model: Path, *, registered: bool, threads: int = 0) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    if registered:
        padops.register(options)
    return ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def run(model: Path, feeds: Arrays, *, registered: bool, threads: int = 0) -> dict[str, np.ndarray]:
    this = session(model, registered=registered, threads=threads)
    names = [output.name for output in this.get_outputs()]
    return dict(zip(names, run_session(this, feeds), strict=True))


def assert_same(actual: Arrays, expected: Arrays) -> None:
    seen, wanted = ({name: native.bits(array) for name, array in arrays.items()} for arrays in (actual, expected))
    assert seen == wanted


def convert(model: Path, folder: Path) -> tuple[Path, Conversion]:
    """Convert to a file, and see that every ONNX Pad became a padops one with a record of its own."""
    output = folder / model.name
    result = padops.convert(model, output, fallback=False)
    before, after = onnx.load(model), onnx.load(output)
    found = [record for record in result.records if "emulation" not in record.form]
    assert len(result.converted) == len(found) == pads_in(before) == pads_in(after, DOMAIN)
    assert pads_in(after) == 0
    return output, result


# --- the samples -----------------------------------------------------------------------------------------------------

GIVEN: dict[str, Arrays] = {  # inputs whose values matter; the others are random
    "pad_11": {"asked": np.array([1, -1, 2, 0])},
    "pad_18": {"run_pads": np.array([1, 0]), "run_axes": np.array([-2], np.int32)},
}
# What ONNX Runtime 1.x runs by itself, and from which x on rightly: older ones leave a wrap by two periods half empty.
RIGHT_IN_BUILTIN = {"pad_02": 20, "pad_11": 20, "pad_18": 20, "pad_19": 31, "nested": 20}


def sample_feeds(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    given = GIVEN.get(path.stem, {})
    feeds = {}
    for value in onnx.load(path).graph.input:
        tensor = value.type.tensor_type
        shape = [dim.dim_value or 6 for dim in tensor.shape.dim]
        feeds[value.name] = given.get(value.name, native.random_array(rng, by_onnx(tensor.elem_type), shape))
    return feeds


def by_reference(path: Path, feeds: Arrays) -> dict[str, np.ndarray]:
    """The outputs of a model of Pads and Constants, by the NumPy reference."""
    model = onnx.load(path)
    values = dict(feeds) | {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Constant":
            values[node.output[0]] = numpy_helper.to_array(attributes["value"])
            continue
        assert node.op_type == "Pad"
        attributes = {name: a.decode() if isinstance(a, bytes) else a for name, a in attributes.items()}
        inputs = [values[name] if name else None for name in node.input]
        values[node.output[0]] = reference.run(onnx_op(model.opset_import[0].version), attributes, inputs, node.name)
    return {output.name: values[output.name] for output in model.graph.output}


def test_samples_are_what_the_script_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_models = importlib.import_module("make_models")
    assert make_models.main(["--check"]) == 0
    assert make_models.main(["--folder", str(tmp_path)]) == 0
    (tmp_path / "pad_13.onnx").write_bytes(b"other")
    (tmp_path / "string.onnx").unlink()
    (tmp_path / "old.onnx").touch()
    assert make_models.main(["--check", "--folder", str(tmp_path)]) == 1
    told = [line.removeprefix(f"{tmp_path}/") for line in capsys.readouterr().err.splitlines()]
    assert told == ["old.onnx is not made here", "pad_13.onnx differs", "string.onnx is missing"]


def test_samples_cover_every_version() -> None:
    versions = {onnx_op(onnx.load(path).opset_import[0].version) for path in SAMPLES}
    assert versions >= {op for op in padops.OPS if op.startswith("Pad_")}
    assert all(path.stat().st_size < 4096 for path in SAMPLES)


def fit_to_runtime(path: Path) -> bool:
    """Lower the versions of a model of padops nodes alone, which mean nothing to them, to what ONNX Runtime 1.20 reads.

    Returns:
        Whether the runtime that is installed knows the element types of the inputs.
    """
    model = onnx.load(path)
    assert {node.domain for node in model.graph.node} == {DOMAIN}
    model.ir_version = min(model.ir_version, 10)
    for row in model.opset_import:
        row.version = min(row.version, 21)
    onnx.save(model, path)
    return {by_onnx(value.type.tensor_type.elem_type) for value in model.graph.input} <= set(native.TYPES)


@pytest.mark.parametrize("path", OF_PADS, ids=lambda path: path.stem)
def test_sample(path: Path, tmp_path: Path) -> None:
    converted, _ = convert(path, tmp_path)
    if onnx.load(path).ir_version > 10 and not fit_to_runtime(converted):
        with pytest.raises(Exception, match="(?i)type"):
            session(converted, registered=True)
        return
    for seed in range(3):
        feeds = sample_feeds(path, seed)
        if path.stem == "nested":
            feeds |= {"flag": np.array(seed == 0), "turns": np.array(seed)}
        outputs = run(converted, feeds, registered=True)
        if path.stem != "nested":
            assert_same(outputs, by_reference(path, feeds))
        if native.RUNTIME[1] >= RIGHT_IN_BUILTIN.get(path.stem, sys.maxsize):
            assert_same(outputs, run(path, feeds, registered=False))


@pytest.mark.parametrize("name", ["string", "int16"])
def test_samples_of_the_demo_are_refused_without_padops(name: str) -> None:
    with pytest.raises(Exception, match="NOT_IMPLEMENTED.*Could not find an implementation for Pad"):
        session(ROOT / "models" / f"{name}.onnx", registered=False)


PLACES = ["then_branch", "else_branch", "body", "sample::Frame"]


def test_nested_sample_has_a_pad_in_every_place(tmp_path: Path) -> None:
    path = ROOT / "models" / "nested.onnx"
    _, result = convert(path, tmp_path)
    names = [record.name for record in result.records]
    assert sorted(names) == ["else_out_pad", "framed_pad", "grown_pad", "then_out_pad"]
    places = [next((p for p in PLACES if p in record.path), record.path) for record in result.records]
    assert sorted(places) == sorted(PLACES)


# --- real models -----------------------------------------------------------------------------------------------------

MONO = {"input": (2, 576), "state": (2, 2, 128)}  # two stretches of sound with their context, as the package feeds them
SEQUENCE = {"input": (3, 576), "h": (1, 1, 128), "c": (1, 1, 128)}
AT_16K = {**MONO, "sr": np.array(16000)}
AT_8K = {**MONO, "input": (2, 288), "sr": np.array(8000)}
SPOKEN = [{"waveforms": (2, 16000), "waveforms_lens": np.array([16000, 9000])}]
RANGE = {"fmin": np.array(46.875, np.float32), "fmax": np.array(2093.75, np.float32)}

# Model, Pads in it, and what to run it with: a shape for random numbers, or an array as it is.
REAL: list[tuple[str, int, list[dict[str, tuple[int, ...] | np.ndarray]]]] = [
    ("basic-pitch/nmp.onnx", 24, [{"serving_default_input_2:0": (1, 43844, 1)}]),
    ("silero-vad/silero_vad.onnx", 2, [AT_16K, AT_8K]),
    ("silero-vad/silero_vad_op18_ifless.onnx", 2, [AT_16K, AT_8K]),
    ("silero-vad/silero_vad_16k_op15.onnx", 1, [AT_16K]),
    ("silero-vad/silero_vad_16k_sequence.onnx", 1, [SEQUENCE]),
    ("silero-vad/silero_vad_half.onnx", 1, [MONO]),
    ("silero-vad/silero_vad_openvino_16k.onnx", 1, [{"input": (1, 576), "state": (2, 1, 128)}]),
    ("faster-whisper/silero_vad_v6.onnx", 1, [SEQUENCE]),
    ("swift-f0/model.onnx", 5, [{"audio": (1, samples), **RANGE} for samples in (16000, 4321, 256)]),
    ("onnx-asr/gigaam_v2.onnx", 1, SPOKEN),
    ("onnx-asr/kaldi.onnx", 3, SPOKEN),
    ("onnx-asr/nemo80.onnx", 1, SPOKEN),
    ("onnx-asr/nemo128.onnx", 1, SPOKEN),
    ("onnx-asr/wespeaker.onnx", 1, SPOKEN),
    ("onnx-asr/whisper80.onnx", 2, SPOKEN),
    ("rapidocr/ch_ppocr_mobile_v2.0_cls_mobile.onnx", 0, [{"x": (1, 3, 48, 192)}]),
]


@pytest.fixture(scope="module")
def real_models() -> dict[str, Path]:
    return importlib.import_module("fetch_models").fetch()


@pytest.mark.parametrize(("name", "pads", "runs"), REAL, ids=[row[0] for row in REAL])
def test_real_model(name: str, pads: int, runs: list[dict], real_models: dict[str, Path], tmp_path: Path) -> None:
    original = real_models[name]
    converted, result = convert(original, tmp_path)
    assert len(result.converted) == pads == pads_in(onnx.load(original))
    for feeds in random_feeds(runs):
        assert_same(run(converted, feeds, registered=True), run(original, feeds, registered=False))


def random_feeds(runs: list[dict]) -> Iterator[Arrays]:
    rng = np.random.default_rng(0)
    for feeds in runs:
        yield {
            name: (rng.standard_normal(value) / 10).astype(np.float32) if isinstance(value, tuple) else value
            for name, value in feeds.items()
        }


@pytest.mark.parametrize(("name", "pads", "runs"), REAL, ids=[row[0] for row in REAL])
def test_real_model_as_it_is(name: str, pads: int, runs: list[dict], real_models: dict[str, Path]) -> None:
    """The provider runs each Pad of the unmodified model."""
    original = real_models[name]
    unmodified = padops.InferenceSession(original, recording_options())
    assert providers_of_pads(unmodified) == [EP_NAME] * pads
    names = [output.name for output in unmodified.get_outputs()]
    for feeds in random_feeds(runs):
        outputs = dict(zip(names, run_session(unmodified, feeds), strict=True))
        # With as many threads: ONNX Runtime adds up in another order with more.
        assert_same(outputs, run(original, feeds, registered=False, threads=1))


def test_every_real_model_with_a_pad_is_in_the_table(real_models: dict[str, Path]) -> None:
    with_pads = {name for name, path in real_models.items() if pads_in(onnx.load(path))}
    assert with_pads == {name for name, pads, _ in REAL if pads}


# --- onnx's own tests ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def node_tests() -> dict[str, object]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():  # it makes the cases of every operator first, and some of those overflow
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases("Pad")}


NODE_TESTS = [
    f"test_{name}"
    for name in "constant_pad constant_pad_axes constant_pad_negative_axes edge_pad reflect_pad wrap_pad".split()
]


def test_no_node_test_is_left_out(node_tests: dict[str, object]) -> None:
    assert sorted(node_tests) == NODE_TESTS


@pytest.mark.parametrize("name", NODE_TESTS)
def test_onnx_node_test(name: str, node_tests: dict, tmp_path: Path) -> None:
    case = node_tests[name]
    path = tmp_path / "original.onnx"
    onnx.save(case.model, path)
    converted = tmp_path / "converted.onnx"
    padops.convert(path, converted)
    assert pads_in(onnx.load(converted), DOMAIN) == 1
    assert fit_to_runtime(converted)
    graph = case.model.graph
    assert case.data_sets
    for inputs, outputs in case.data_sets:
        feeds = {value.name: np.asarray(array) for value, array in zip(graph.input, inputs, strict=True)}
        expected = {value.name: np.asarray(array) for value, array in zip(graph.output, outputs, strict=True)}
        assert_same(run(converted, feeds, registered=True), expected)


STORED = sorted(
    model.parent
    for model in ONNX_DATA.glob("*/*/model.onnx")
    if any(node.op_type == "Pad" for node in onnx.load(model).graph.node)
)


def test_stored_models_are_there() -> None:
    names = {folder.name.removeprefix("test_") for folder in STORED}
    assert names >= {"ConstantPad2d", "ReflectionPad2d", "ReplicationPad2d", "ZeroPad2d", "operator_pad"}


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_onnx_stored_model(folder: Path, tmp_path: Path) -> None:
    converted, _ = convert(folder / "model.onnx", tmp_path)
    graph = onnx.load(folder / "model.onnx").graph
    data_sets = sorted(folder.glob("test_data_set_*"))
    assert data_sets
    for data in data_sets:
        stored = {
            kind: {
                value.name: numpy_helper.to_array(onnx.load_tensor(data / f"{kind}_{i}.pb"))
                for i, value in enumerate(getattr(graph, kind))
            }
            for kind in ("input", "output")
        }
        assert_same(run(converted, stored["input"], registered=True), stored["output"])
