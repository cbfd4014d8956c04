"""padops.InferenceSession converts in memory what onnxruntime refuses or gets wrong before it asks any provider."""

from __future__ import annotations

import builtins
import logging
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from parsed_models import model, quiet, save_with_data

import padops
import padops.extras
from padops import session as door
from padops.extras import DependencyError
from padops.runtime import model_words
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.session import DATA_FOLDER, FIRST_MINOR_OF_DATA_FOLDER
from padops.spec import pyop_node

IMPORTS = '"": 18, "com.microsoft": 1, "tf": 1'
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
REFLECTED = np.pad(ROWS, [(0, 0), (1, 1)], "reflect")


PADDED = "(float[2, 3] x) => (float[2, 5] y)"
INT32_AXES = model(f'{PADDED} <int64[2] p = {{1, 1}}, int32[1] a = {{1}}> {{ y = Pad <mode = "reflect"> (x, p, , a) }}')
MAX_POOL = model(
    "(float[1, 1, 8, 8] x) => (float[1, 1, n, m] y) "
    '{ y = MaxPool <auto_pad = "SAME_UPPER", kernel_shape = [3, 3], dilations = [2, 2]> (x) }'
)


def test_records_and_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "padops"):
        made = padops.InferenceSession(INT32_AXES, quiet())
    assert [record.status for record in made.padops_records] == ["converted"]
    assert caplog.messages == ["the model was converted in memory: 1 Pad: 1 converted"]


def test_never() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an old release
        with pytest.raises(Exception, match=r"Expected:int64 Actual:int32"):
            padops.InferenceSession(INT32_AXES, quiet(), convert="never")
    with pytest.warns(UserWarning, match="may get Pads of this model wrong; padops runs them after 'padops convert'"):
        assert padops.InferenceSession(MAX_POOL, convert="never").padops_records == ()


def test_arguments_of_the_conversion() -> None:
    text = f'{PADDED} <int64[2, 2] p = {{0, 0, 1, 1}}> {{ y = tf.MirrorPad <mode = "REFLECT"> (x, p) }}'
    made = padops.InferenceSession(model(text, IMPORTS), convert={"custom_domains": ["tf"], "target": "onnx"})
    np.testing.assert_array_equal(made.run(None, {"x": ROWS})[0], REFLECTED)
    assert made.padops_records[0].op_type != "Pad_18"
    with pytest.raises(padops.UsageError, match="target is 'tf'"):
        padops.InferenceSession(INT32_AXES, convert={"target": "tf"})
    with pytest.raises(ValueError, match="convert is 'always', expected 'auto', 'never' or arguments"):
        padops.InferenceSession(INT32_AXES, convert="always")  # type: ignore[arg-type]


def test_kernels_in_python(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_extensions")
    made = padops.InferenceSession(INT32_AXES, convert={"target": "pyop"})
    np.testing.assert_array_equal(made.run(None, {"x": ROWS})[0], REFLECTED)
    path = tmp_path / "python.onnx"
    padops.convert(onnx.ModelProto.FromString(INT32_AXES), path, target="pyop")
    np.testing.assert_array_equal(padops.InferenceSession(path).run(None, {"x": ROWS})[0], REFLECTED)
    assert model_words.PYTHON_DOMAIN.decode() == pyop_node.DOMAIN


def test_other_errors_stay_onnxruntimes() -> None:
    with pytest.raises(Exception, match=r"NO_SUCHFILE|doesn't exist"):
        padops.InferenceSession("absent.onnx")
    text = f"{PADDED} <int64[4] p = {{0, 1, 0, 1}}> {{ z = Pad (x, p)  y = Nonsense (z) }}"
    with pytest.raises(Exception, match="Nonsense"):
        padops.InferenceSession(model(text), quiet())


def test_external_data_before_there_is_a_folder_of_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "runtime_minor", lambda: FIRST_MINOR_OF_DATA_FOLDER - 1)
    text = (
        f"{PADDED} <int64[2] p = {{1, 1}}, int32[1] a = {{1}}, float[2, 5] w = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}> "
        '{ z = Pad <mode = "reflect"> (x, p, , a)  y = Add (z, w) }'
    )
    path, options = save_with_data(model(text), tmp_path), quiet()
    (y,) = padops.InferenceSession(path, options, convert={}).run(None, {"x": ROWS})
    np.testing.assert_array_equal(y, REFLECTED + 1)
    with pytest.raises(RuntimeError):  # no folder was named
        options.get_session_config_entry(DATA_FOLDER)
    monkeypatch.setattr("padops.convert.model.document.LARGEST_PROTO", 100)
    with pytest.raises(RuntimeError, match=r"would have \d+ bytes, .* write it with 'padops convert', or use .* 1\.22"):
        padops.InferenceSession(path.read_bytes(), options, convert={"base_dir": tmp_path})


@pytest.fixture
def without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra that converts is not installed."""
    found: Callable[..., Any] = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name == "padops.convert":
            raise DependencyError("padops.convert needs onnx_ir, which is not installed: pip install 'padops[convert]'")
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.usefixtures("without_onnx")
def test_without_the_extra_the_error_names_it() -> None:
    """Refused before it was converted, or perhaps wrong: a wrong result is none."""
    told = "onnxruntime refuses this model" if runtime_minor() >= FIRST_MINOR else "may get Pads of this model wrong"
    with pytest.raises(DependencyError, match=rf"{told}.*, and .*padops\[convert\]"):
        padops.InferenceSession(INT32_AXES, quiet())
    with pytest.raises(
        DependencyError,
        match=r"may get Pads of this model wrong, and padops cannot look: .*padops\[convert\].*; convert='never' runs",
    ):
        padops.InferenceSession(MAX_POOL)
    with pytest.warns(UserWarning, match="may get Pads of this model wrong; padops runs them after 'padops convert'"):
        padops.InferenceSession(MAX_POOL, convert="never")


@pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="each Pad is looked at there")
def test_a_model_that_runs_needs_no_onnx(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model(f'{PADDED} <int64[4] p = {{0, 1, 0, 1}}> {{ y = Pad <mode = "reflect"> (x, p) }}'))
    text = (
        "import padops, sys; padops.InferenceSession(sys.argv[1]); "
        "print([m for m in ('onnx', 'onnx_ir') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
