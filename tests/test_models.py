"""Whole models, converted and run: the samples in models/, those that come with onnx, and real ones."""

from __future__ import annotations

import sys
from pathlib import Path

import fetch_models
import make_models
import native
import numpy as np
import onnx
import pytest
import whole_models
from onnx import numpy_helper
from provider_sessions import EP_NAME, providers_of_pads, recording_options
from road_scopes import Engine
from whole_models import REAL, SAMPLES, Arrays, assert_same, convert, pads_in, run

import padops
from padops.runtime.ort_values import run_session
from padops.spec.dialects import onnx_op
from padops.spec.dtypes import by_onnx

# What ONNX Runtime 1.x runs by itself, and from which x on rightly: older ones leave a wrap by two periods half empty.
RIGHT_IN_BUILTIN = {"pad_02": 20, "pad_11": 20, "pad_18": 20, "pad_19": 31, "nested": 20}


def by_reference(path: Path, feeds: Arrays) -> dict[str, np.ndarray]:
    engine = Engine(onnx.load(path))
    return dict(zip(engine.output_names, engine.run(None, feeds), strict=True))


def test_samples_are_what_the_script_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    """Lower the versions of a model of padops nodes alone to what ONNX Runtime 1.20 reads; whether it has the types."""
    model = onnx.load(path)
    model.ir_version = min(model.ir_version, 10)
    for row in model.opset_import:
        row.version = min(row.version, 21)
    onnx.save(model, path)
    return {by_onnx(value.type.tensor_type.elem_type) for value in model.graph.input} <= set(native.TYPES)


@pytest.mark.parametrize("path", whole_models.OF_PADS, ids=lambda path: path.stem)
def test_sample(path: Path, tmp_path: Path) -> None:
    converted, _ = convert(path, tmp_path)
    if onnx.load(path).ir_version > 10 and not fit_to_runtime(converted):
        with pytest.raises(Exception, match="(?i)type"):
            whole_models.session(converted, registered=True)
        return
    for seed in range(3):
        feeds = whole_models.sample_feeds(path, seed)
        if path.stem == "nested":
            feeds |= {"flag": np.array(seed == 0), "turns": np.array(seed)}
        outputs = run(converted, feeds, registered=True)
        if path.stem != "nested":
            assert_same(outputs, by_reference(path, feeds))
        if native.RUNTIME[1] >= RIGHT_IN_BUILTIN.get(path.stem, sys.maxsize):
            assert_same(outputs, run(path, feeds, registered=False))


@pytest.fixture(scope="module")
def real_models() -> dict[str, Path]:
    return fetch_models.fetch()


@pytest.mark.parametrize(("name", "pads", "runs"), REAL, ids=[row[0] for row in REAL])
def test_real_model(name: str, pads: int, runs: list[dict], real_models: dict[str, Path], tmp_path: Path) -> None:
    """Converted, and as it is with the provider, which runs each Pad."""
    original = real_models[name]
    converted, result = convert(original, tmp_path)
    unmodified = padops.InferenceSession(original, recording_options())
    assert providers_of_pads(unmodified) == [EP_NAME] * pads
    assert len(result.converted) == pads == pads_in(onnx.load(original))
    names = [output.name for output in unmodified.get_outputs()]
    for feeds in whole_models.random_feeds(runs):
        # With as many threads: ONNX Runtime adds up in another order with more.
        expected = run(original, feeds, registered=False, threads=1)
        assert_same(run(converted, feeds, registered=True, threads=1), expected)
        assert_same(dict(zip(names, run_session(unmodified, feeds), strict=True)), expected)


def test_every_real_model_with_a_pad_is_in_the_table(real_models: dict[str, Path]) -> None:
    with_pads = {name for name, path in real_models.items() if pads_in(onnx.load(path))}
    assert with_pads == {name for name, pads, _ in REAL if pads}


STORED = sorted(
    model.parent
    for model in (Path(onnx.__file__).parent / "backend" / "test" / "data").glob("*/*/model.onnx")
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
        given, expected = (
            {row.name: numpy_helper.to_array(onnx.load_tensor(data / f"{kind}_{i}.pb")) for i, row in enumerate(rows)}
            for kind, rows in (("input", graph.input), ("output", graph.output))
        )
        assert_same(run(converted, given, registered=True), expected)
