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
from padops.runtime import preparing
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
    return save_with_data(model(text), folder, size_threshold=40 if pad else 0)


@with_folders
def test_options_forget_the_folder_of_a_model(tmp_path: Path) -> None:
    """The next model with these options had got the weights of the one before."""
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


def test_bytes_with_the_folder_of_their_data(tmp_path: Path) -> None:
    path = with_data(tmp_path / "one", 2)
    made = padops.InferenceSession(path.read_bytes(), quiet(), convert={"base_dir": path.parent})
    np.testing.assert_array_equal(made.run(None, {"x": ROWS})[0], REFLECTED + 2)


def test_before_there_are_providers_what_depends_on_the_data_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime 1.20 wraps past an axis of open size: it reads foreign memory."""
    for place, name in ((door, "runtime_minor"), (preparing, "runtime_minor"), (inspection, "installed_minor")):
        monkeypatch.setattr(place, name, lambda: FIRST_MINOR - 1)
    text = (
        f"(float[2, 3] x, float[n] z) => (float[2, 5] y, float[m] w) <{AXES}, int64[2] q = {{7, 7}}> "
        '{ y = Pad <mode = "reflect"> (x, p, , a)  w = Pad <mode = "wrap"> (z, q) }'
    )
    made = padops.InferenceSession(model(text, '"": 21'), quiet())
    z = np.arange(5, dtype=np.float32)
    assert made.run(None, {"x": ROWS, "z": z})[1].tolist() == np.pad(z, 7, "wrap").tolist()
    assert [record.status for record in made.padops_records] == ["converted", "converted"]


@with_providers
def test_options_that_name_the_processor_first() -> None:
    """padops comes behind it, which it says: onnxruntime's own Pad is asked first."""
    options = quiet()
    options.add_provider("CPUExecutionProvider", {})
    text = '(float[3] x) => (float[m] y) <int64[2] p = {7, 1}> { y = Pad <mode = "reflect"> (x, p) }'
    with pytest.warns(UserWarning, match=r"name CPUExecutionProvider, so its own Pad runs what it takes, .*providers="):
        padops.InferenceSession(model(text), options)


@with_providers
def test_options_with_another_provider_and_a_model_that_is_converted() -> None:
    """The first attempt has put padops into them."""
    options = quiet()
    options.add_provider("AzureExecutionProvider", {})
    for _ in range(2):
        (y,) = padops.InferenceSession(model(REFUSED), options).run(None, {"x": ROWS})
        np.testing.assert_array_equal(y, REFLECTED)


@pytest.mark.parametrize(
    ("text", "arguments", "error", "said"),
    [
        (REFUSED, {"convert": {"output": "out.onnx"}}, ValueError, "convert has output, but a session writes no files"),
        (REFUSED, {"convert": {"foo": 1}}, ValueError, "convert has 'foo'; .* accepts atol, .*, without_pad$"),
        (REFUSED, {"convert": np.array(["auto", "never"])}, ValueError, "expected 'auto', 'never' or arguments"),
        (REFUSED, {"convert": {}, "sess_options": 3}, TypeError, "sess_options is int, expected onnxruntime"),
        ("(int32[2, 3] x) => (int32[2, 5] y) { y = Pad <pads = [0, 1, 0, 1]> (x) }", {"convert": {"target": "onnx"}},
         padops.PadsLeftError, "Pad"),
    ],
)  # fmt: skip
def test_arguments_that_are_refused(text: str, arguments: dict, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        padops.InferenceSession(model(text, '"": 18' if text is REFUSED else '"": 2'), **arguments)


@with_providers  # older onnxruntimes take these arguments for a failure of the provider, and try the CPU
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"providers": ["Nope"]}, "has no provider Nope here; it has"),
        ({"providers": "CPUExecutionProvider"}, "providers is 'CPUExecutionProvider', expected a list of names"),
        ({"providers": [3]}, "expected"),
        ({"sess_options": 3}, "sess_options is int, expected onnxruntime.SessionOptions"),
        ({"provider_options": [{}, {}]}, "provider_options has 2 mappings for 1 provider$"),
    ],
)
def test_wrong_arguments_convert_nothing(wrong: dict, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model was converted for another attempt, which said that onnxruntime refuses it."""
    monkeypatch.setattr(door, "_converted_after", None)
    with pytest.raises((TypeError, ValueError), match=said):
        padops.InferenceSession(model(REFUSED), **{"providers": ["CPUExecutionProvider"]} | wrong)


def test_a_converted_session_has_the_operators_of_its_model_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them had been registered, as in options of a caller's, which may serve other models."""
    asked = []
    register = preparing.register
    monkeypatch.setattr(
        preparing, "register", lambda options, **named: (asked.append(named), register(options, **named))
    )
    padops.InferenceSession(model(REFUSED))
    padops.InferenceSession(model(REFUSED), quiet())
    assert "Pad_18" in asked[0]["operators"] and "SamePad_1" not in asked[0]["operators"]
    assert asked[1:] == [{"operators": None}]
