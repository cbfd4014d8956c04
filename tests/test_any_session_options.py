"""padops.InferenceSession with models converted in memory: caller's options, external data, old releases, arguments."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from parsed_models import model, quiet, save_with_data

import padops
from padops import session as door
from padops.convert import inspection
from padops.runtime import session as preparing
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.session import DATA_FOLDER, FIRST_MINOR_OF_DATA_FOLDER

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
REFLECTED = np.pad(ROWS, [(0, 0), (1, 1)], "reflect")
AXES = "int64[2] p = {1, 1}, int32[1] a = {1}"
REFUSED = f'(float[2, 3] x) => (float[2, 5] y) <{AXES}> {{ y = Pad <mode = "reflect"> (x, p, , a) }}'
with_folders = pytest.mark.skipif(runtime_minor() < FIRST_MINOR_OF_DATA_FOLDER, reason="it has no such folder")
with_providers = pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="it has no providers of libraries")


def with_data(folder: Path, added: float, pad: bool = True) -> Path:
    """A model that adds a number, out of a file beside it, to what it has padded or not."""
    folder.mkdir(exist_ok=True)
    body = '{ z = Pad <mode = "reflect"> (x, p, , a)  y = Add (z, w) }' if pad else "{ y = Add (x, w) }"
    width = 5 if pad else 3
    numbers = ", ".join([str(added)] * 2 * width)
    text = f"(float[2, 3] x) => (float[2, {width}] y) <{AXES}, float[2, {width}] w = {{{numbers}}}> {body}"
    return save_with_data(model(text), folder, 40 if pad else 0)


@with_folders
def test_options_forget_the_folder_of_a_model(tmp_path: Path) -> None:
    one, other = with_data(tmp_path / "one", 2), with_data(tmp_path / "other", 4, pad=False)
    options = quiet()
    np.testing.assert_array_equal(padops.InferenceSession(one, options).run(None, {"x": ROWS})[0], REFLECTED + 2)
    assert options.get_session_config_entry(DATA_FOLDER) == ""
    np.testing.assert_array_equal(padops.InferenceSession(other, options).run(None, {"x": ROWS})[0], ROWS + 4)
    options.add_session_config_entry(DATA_FOLDER, "mine")
    padops.InferenceSession(one, options)
    assert options.get_session_config_entry(DATA_FOLDER) == "mine"


def test_set_providers_with_external_data(tmp_path: Path) -> None:
    made = padops.InferenceSession(with_data(tmp_path / "one", 2))
    made.set_providers(["CPUExecutionProvider"])
    np.testing.assert_array_equal(made.run(None, {"x": ROWS})[0], REFLECTED + 2)
    assert len(made.padops_records) == 1


def test_links_of_a_hugging_face_cache(tmp_path: Path) -> None:
    source = with_data(tmp_path / "made", 2)
    blobs, snapshot = tmp_path / "models--a--b" / "blobs", tmp_path / "models--a--b" / "snapshots" / "1"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for name, blob in (("m.onnx", "a1"), ("w.bin", "b2")):
        os.rename(source.parent / name, blobs / blob)
        os.symlink(os.path.join("..", "..", "blobs", blob), snapshot / name)
    for _ in range(2):
        made = padops.InferenceSession(snapshot / "m.onnx", quiet())
        np.testing.assert_array_equal(made.run(None, {"x": ROWS})[0], REFLECTED + 2)


def test_before_there_are_providers_what_depends_on_the_data_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime 1.20 wraps past an axis of open size: it reads foreign memory."""
    monkeypatch.setattr(door, "runtime_minor", lambda: FIRST_MINOR - 1)
    monkeypatch.setattr(preparing, "runtime_minor", lambda: FIRST_MINOR - 1)
    monkeypatch.setattr(inspection, "installed_minor", lambda: FIRST_MINOR - 1)
    text = '(float[n] x) => (float[m] y) <int64[2] p = {7, 7}> { y = Pad <mode = "wrap"> (x, p) }'
    made = padops.InferenceSession(model(text, '"": 21'), quiet())
    (y,) = made.run(None, {"x": np.arange(5, dtype=np.float32)})
    assert y.tolist() == np.pad(np.arange(5), 7, "wrap").tolist()
    assert [record.status for record in made.padops_records] == ["converted"]


@with_providers
def test_options_that_name_the_processor_first() -> None:
    """padops comes behind it, which it says: onnxruntime's own Pad is asked first."""
    options = quiet()
    options.add_provider("CPUExecutionProvider", {})
    text = '(float[3] x) => (float[m] y) <int64[2] p = {7, 1}> { y = Pad <mode = "reflect"> (x, p) }'
    for _ in range(2):  # the second time, padops is in them
        with pytest.warns(UserWarning, match=r"name CPUExecutionProvider, so its own Pad runs .*providers="):
            padops.InferenceSession(model(text), options)


@with_providers
def test_options_with_another_provider_and_a_model_that_is_converted() -> None:
    options = quiet()
    options.add_provider("AzureExecutionProvider", {})
    for _ in range(2):
        (y,) = padops.InferenceSession(model(REFUSED), options).run(None, {"x": ROWS})
        np.testing.assert_array_equal(y, REFLECTED)


def test_arguments_that_are_refused() -> None:
    with pytest.raises(ValueError, match="convert has 'output'; a session writes no files, and accepts atol, "):
        padops.InferenceSession(model(REFUSED), convert={"output": "out.onnx"})
    with pytest.raises(ValueError, match="convert has 'foo'; a session .* accepts atol, .*, without_pad$"):
        padops.InferenceSession(model(REFUSED), convert={"foo": 1})
    with pytest.raises(ValueError, match="expected 'auto', 'never' or arguments"):
        padops.InferenceSession(model(REFUSED), convert=np.array(["auto", "never"]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sess_options is int, expected onnxruntime.SessionOptions"):
        padops.InferenceSession(model(REFUSED), 3, convert={})
    text = "(int32[2, 3] x) => (int32[2, 5] y) { y = Pad <pads = [0, 1, 0, 1]> (x) }"
    with pytest.raises(padops.PadsLeftError, match="Pad"):
        padops.InferenceSession(model(text, '"": 2'), convert={"target": "onnx"})


@with_providers  # older onnxruntimes take these arguments for a failure of the provider, and try the CPU
@pytest.mark.parametrize(
    "wrong",
    [
        {"providers": ["Nope"]},
        {"providers": "CPUExecutionProvider"},
        {"providers": [3]},
        {"sess_options": 3},
        {"provider_options": [{}, {}]},
    ],
)
def test_wrong_arguments_convert_nothing(wrong: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_converted_after", None)
    with pytest.raises(
        (TypeError, ValueError), match="expected|provider_options has 2 mappings|has no provider Nope here; it has"
    ):
        padops.InferenceSession(model(REFUSED), **{"providers": ["CPUExecutionProvider"]} | wrong)


def test_a_converted_session_has_the_operators_of_its_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options of a caller's get all operators: they may serve other models."""
    asked, register = [], preparing.register
    monkeypatch.setattr(
        preparing, "register", lambda options, **named: (asked.append(named["operators"]), register(options, **named))
    )
    padops.InferenceSession(model(REFUSED))
    padops.InferenceSession(model(REFUSED), quiet())
    assert "Pad_18" in asked[0] and "SamePad_1" not in asked[0]
    assert asked[1:] == [None]
