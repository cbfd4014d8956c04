"""padops.InferenceSession converts in memory what onnxruntime refuses or gets wrong before it asks any provider.

``scripts/matrix.py`` runs these tests on older releases. Each kind of model gives the right bits where the extra
``convert`` is installed; where it is not, an error names it, but for what the execution provider runs by itself.
"""

from __future__ import annotations

import builtins
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from parsed_models import AXES, FLAT, REFLECTED, REFUSED, ROWS, model, quiet, save_with_data

import padops
from padops import session as door
from padops.convert import inspection
from padops.extras import DependencyError
from padops.runtime import model_words
from padops.runtime import session as preparing
from padops.runtime.model_words import MISCOUNTING
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.session import DATA_FOLDER, FIRST_MINOR_OF_DATA_FOLDER
from padops.spec import pyop_node

PROVIDED = runtime_minor() >= FIRST_MINOR
with_providers = pytest.mark.skipif(not PROVIDED, reason="it has no providers of libraries")
WRONG = "may get Pads of this model wrong"

# --- every kind of model ----------------------------------------------------------------------------------------------

IMAGE = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
LINE = np.arange(8, dtype=np.float32).reshape(1, 1, 8)
HALF = ROWS.astype(np.int16)
ONES = np.ones((1, 1, 4, 4), np.float32)
CORNER = np.outer([1, 1, 1, 0.5], [1, 1, 1, 0.5]).astype(np.float32)[None, None]  # averages of ones beside zeros
AROUND = np.pad(IMAGE[0, 0], 3, constant_values=-np.inf)
# The largest of 3 x 3 elements, each 3 from the next, around every element of the image.
LARGEST = np.max([AROUND[i : i + 8, j : j + 8] for i in (0, 3, 6) for j in (0, 3, 6)], axis=0)[None, None]
SYMMETRIC = np.pad(ROWS, [(0, 0), (1, 1)], "symmetric")
SEVENS = np.pad(ROWS, [(0, 0), (1, 1)], constant_values=7)
WEIGHTS = np.arange(1, 11, dtype=np.float32).reshape(2, 5)
GAPS = np.array([[9, 1, 9, 2, 9, 3, 9], [9, 4, 9, 5, 9, 6, 9]], np.float32)
REFLECT, PADS = 'mode = "reflect"', "<int64[4] p = {0, 1, 0, 1}>"
TF = "<int64[2, 2] p = {0, 0, 1, 1}, float f = {7}>"
OF_INT16 = "(int16[2, 3] x) => (int16[2, 5] y)"


def pooled(auto_pad: str) -> bytes:
    return model(
        "(float[1, 1, 8, 8] x) => (float[1, 1, n, m] y) "
        f'{{ y = MaxPool <auto_pad = "{auto_pad}", kernel_shape = [3, 3], dilations = [3, 3]> (x) }}'
    )


def strided(operator: str, window: int, opset: int) -> bytes:
    attributes = f'auto_pad = "SAME_UPPER", kernel_shape = [{window}], strides = [4]'
    return model(f"(float[1, 1, 8] x) => (float[1, 1, n] y) {{ y = {operator} <{attributes}> (x) }}", opset)


def averaged(nodes: str) -> bytes:
    """Nodes that give the means of 2 x 2 ones, padded behind."""
    return model(f"(float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y) {{ {nodes} }}", 19)


# Each with what it takes and what it gives.
KINDS: dict[str, tuple[bytes, np.ndarray, np.ndarray]] = {
    "int32 axes": (model(REFUSED), ROWS, REFLECTED),
    "pads of [1, 2r]": (
        model(f"{FLAT} <int64[1, 4] p = {{0, 1, 0, 1}}> {{ y = Pad <{REFLECT}> (x, p) }}", 13), ROWS, REFLECTED),
    "pads in external data": (model(f"{FLAT} {PADS} {{ y = Pad <{REFLECT}> (x, p) }}"), ROWS, REFLECTED),
    "pads and weights in external data": (
        model(f"{FLAT} <int64[4] p = {{0, 1, 0, 1}}, float[2, 5] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}> "
              f"{{ z = Pad <{REFLECT}> (x, p)  y = Add (z, w) }}"), ROWS, REFLECTED + WEIGHTS),
    "MirrorPad, REFLECT": (model(f'{FLAT} {TF} {{ y = tf.MirrorPad <mode = "REFLECT"> (x, p) }}'), ROWS, REFLECTED),
    "MirrorPad, SYMMETRIC": (
        model(f'{FLAT} {TF} {{ y = tf.MirrorPad <mode = "SYMMETRIC"> (x, p) }}'), ROWS, SYMMETRIC),
    "PadV2": (model(f"{FLAT} {TF} {{ y = tf.PadV2 (x, p, f) }}"), ROWS, SEVENS),
    "Microsoft's, of int16": (
        model(f"{OF_INT16} {PADS} {{ y = com.microsoft.Pad <{REFLECT}> (x, p) }}"), HALF, REFLECTED.astype(np.int16)),
    "nGraph's, interior": (
        model("(float[2, 3] x) => (float[2, 7] y) <float f = {9}> { y = ngraph.Pad <padding_below = [0, 1], "
              "padding_above = [0, 1], padding_interior = [0, 1]> (x, f) }"), ROWS, GAPS),
    "OpenVINO's, symmetric": (
        model(f"{FLAT} <int64[2] b = {{0, 1}}, int64[2] e = {{0, 1}}> "
              '{ y = ai.intel.openvino.Pad <pad_mode = "symmetric", version = "opset1"> (x, b, e) }'), ROWS, SYMMETRIC),
    "LpPool, strides longer than windows": (strided("LpPool", 1, 18), LINE, np.array([[[0, 4]]], np.float32)),
    "AveragePool, strides longer than windows": (
        strided("AveragePool", 2, 13), LINE, np.array([[[0.5, 4.5]]], np.float32)),
    "MaxPool, SAME_UPPER": (pooled("SAME_UPPER"), IMAGE, LARGEST),
    "MaxPool, SAME_LOWER": (pooled("SAME_LOWER"), IMAGE, LARGEST),
}  # fmt: skip
if runtime_minor() in MISCOUNTING:
    KINDS["AveragePool, SAME_UPPER that counts"] = (
        averaged('y = AveragePool <auto_pad = "SAME_UPPER", count_include_pad = 1, kernel_shape = [2, 2]> (x)'),
        ONES, CORNER,
    )  # fmt: skip
# What the provider runs, and what an older release needs converted: refused, wrong, and out of bounds.
OF_THE_PROVIDER: dict[str, tuple[bytes, np.ndarray, np.ndarray]] = {
    "opset 1": (
        model(f"{FLAT} {{ y = Pad <{REFLECT}, paddings = [0, 1, 0, 1]> (x) }}", 1, ir_version=3), ROWS, REFLECTED),
    "int16": (model(f"{OF_INT16} {PADS} {{ y = Pad <{REFLECT}> (x, p) }}"), HALF, REFLECTED.astype(np.int16)),
    "reflect, twice around": (
        model(f"(float[2, 3] x) => (float[2, 9] y) <int64[4] p = {{0, 3, 0, 3}}> {{ y = Pad <{REFLECT}> (x, p) }}"),
        ROWS, np.pad(ROWS, [(0, 0), (3, 3)], "reflect")),
    "wrap, of open size": (
        model('(float[2, n] x) => (float[2, m] y) <int64[4] p = {0, 7, 0, 7}> { y = Pad <mode = "wrap"> (x, p) }', 21,
              ir_version=10), ROWS, np.pad(ROWS, [(0, 0), (7, 7)], "wrap")),
    "in front of an AveragePool of opset 19": (
        averaged("p = Constant <value_ints = [0, 0, 0, 0, 0, 0, 1, 1]> ()  d = Pad (x, p) "
                 "y = AveragePool <kernel_shape = [2, 2]> (d)"), ONES, CORNER),
}  # fmt: skip
EVERY = KINDS | OF_THE_PROVIDER


def save(kind: str, folder: Path) -> Path:
    if "external" in kind:
        return save_with_data(EVERY[kind][0], folder)
    folder.mkdir()
    (folder / "m.onnx").write_bytes(EVERY[kind][0])
    return folder / "m.onnx"


@pytest.mark.parametrize("kind", [*KINDS, "opset 1"])
def test_onnxruntime_alone_does_not_run_it(kind: str, tmp_path: Path) -> None:
    """Else the test below would show nothing."""
    path = save(kind, tmp_path / "model")
    try:
        output = onnxruntime.InferenceSession(path, quiet()).run(None, {"x": EVERY[kind][1]})[0]
    except Exception:  # onnxruntime's exceptions have no base of their own
        return
    assert output.tobytes() != EVERY[kind][2].tobytes()


@pytest.mark.parametrize("kind", EVERY)
def test_the_right_bits(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """onnxruntime warned of the folder of external data, which the session set twice in options of its own."""
    path, (_, data, expected) = save(kind, tmp_path / "model"), EVERY[kind]
    before = sorted(os.listdir(path.parent))
    session = padops.InferenceSession(path, None if "external" in kind else quiet())
    (output,) = session.run(None, {"x": data})
    assert (output.dtype, output.shape) == (expected.dtype, expected.shape)
    assert output.tobytes() == expected.tobytes()
    done = [] if kind in OF_THE_PROVIDER and PROVIDED else ["converted"]
    assert [record.status for record in session.padops_records] == done
    assert sorted(os.listdir(path.parent)) == before
    printed = capfd.readouterr()
    assert "will be overwritten" not in printed.out + printed.err


# --- arguments --------------------------------------------------------------------------------------------------------

MIRROR = f'{FLAT} <int64[2, 2] p = {{0, 0, 1, 1}}> {{ y = tf.MirrorPad <mode = "REFLECT"> (x, p) }}'


def assert_reflected(session: onnxruntime.InferenceSession, added: float = 0) -> None:
    np.testing.assert_array_equal(session.run(None, {"x": ROWS})[0], REFLECTED + added)


def test_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "padops"):
        padops.InferenceSession(model(REFUSED), quiet())
    assert caplog.messages == ["the model was converted in memory: 1 Pad: 1 converted"]


def test_never() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an old release
        with pytest.raises(Exception, match=r"Expected:int64 Actual:int32"):
            padops.InferenceSession(model(REFUSED), quiet(), convert="never")
    with pytest.warns(UserWarning, match=f"{WRONG}; padops runs them after 'padops convert'"):
        assert padops.InferenceSession(pooled("SAME_UPPER"), convert="never").padops_records == ()


def test_arguments_of_the_conversion() -> None:
    made = padops.InferenceSession(model(MIRROR), convert={"custom_domains": ["tf"], "target": "onnx"})
    assert_reflected(made)
    assert made.padops_records[0].op_type != "Pad_18"


OLD = "(int32[2, 3] x) => (int32[2, 5] y) { y = Pad <pads = [0, 1, 0, 1]> (x) }"
CHOICE = r"expected 'auto', 'never' or arguments"
REFUSALS = [
    (model(REFUSED), {"convert": {"target": "tf"}}, padops.UsageError, "target is 'tf'"),
    (model(REFUSED), {"convert": "always"}, ValueError, f"convert is 'always', {CHOICE}"),
    (model(REFUSED), {"convert": np.array(["auto", "never"])}, ValueError, CHOICE),
    (model(REFUSED), {"convert": {"output": "out.onnx"}}, ValueError,
     "convert has 'output'; a session writes no files, and accepts atol, "),
    (model(REFUSED), {"convert": {"foo": 1}}, ValueError, "convert has 'foo'; a session .* accepts .*, without_pad$"),
    (model(REFUSED), {"convert": {}, "sess_options": 3}, TypeError, "sess_options is int, expected onnxruntime.Sess"),
    (model(OLD, 2), {"convert": {"target": "onnx"}}, padops.PadsLeftError, "Pad"),
    ("absent.onnx", {}, Exception, r"NO_SUCHFILE|doesn't exist"),
    (model(f"{FLAT} {PADS} {{ z = Pad (x, p)  y = Nonsense (z) }}"), {"sess_options": quiet()}, Exception, "Nonsense"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "arguments", "error", "text"), REFUSALS)
def test_what_is_refused(source: bytes | str, arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        padops.InferenceSession(source, **arguments)


@with_providers  # older onnxruntimes take these arguments for a failure of the provider, and try the CPU
@pytest.mark.parametrize("wrong", [
    {"providers": ["Nope"]},
    {"providers": "CPUExecutionProvider"},
    {"providers": [3]},
    {"sess_options": 3},
    {"provider_options": [{}, {}]},
])  # fmt: skip
def test_wrong_arguments_convert_nothing(wrong: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_converted_after", None)
    with pytest.raises(
        (TypeError, ValueError), match="expected|provider_options has 2 mappings|has no provider Nope here; it has"
    ):
        padops.InferenceSession(model(REFUSED), **{"providers": ["CPUExecutionProvider"]} | wrong)


def test_kernels_in_python(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_extensions")
    assert_reflected(padops.InferenceSession(model(REFUSED), convert={"target": "pyop"}))
    padops.convert(onnx.ModelProto.FromString(model(REFUSED)), tmp_path / "python.onnx", target="pyop")
    assert_reflected(padops.InferenceSession(tmp_path / "python.onnx"))
    assert model_words.PYTHON_DOMAIN.decode() == pyop_node.DOMAIN


# --- options of the caller's, and external data -----------------------------------------------------------------------


def with_data(folder: Path, added: float, pad: bool = True) -> Path:
    """A model that adds a number, out of a file beside it, to what it has padded or not."""
    body = f"{{ z = Pad <{REFLECT}> (x, p, , a)  y = Add (z, w) }}" if pad else "{ y = Add (x, w) }"
    width = 5 if pad else 3
    numbers = ", ".join([str(added)] * 2 * width)
    text = f"(float[2, 3] x) => (float[2, {width}] y) <{AXES}, float[2, {width}] w = {{{numbers}}}> {body}"
    return save_with_data(model(text), folder, 40 if pad else 0)


@pytest.mark.skipif(runtime_minor() < FIRST_MINOR_OF_DATA_FOLDER, reason="it has no such folder")
@pytest.mark.parametrize("minor", [FIRST_MINOR_OF_DATA_FOLDER, runtime_minor()])
def test_options_forget_the_folder_of_a_model(minor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "runtime_minor", lambda: minor)
    one, other = with_data(tmp_path / "one", 2), with_data(tmp_path / "other", 4, pad=False)
    options = quiet()
    assert_reflected(padops.InferenceSession(one, options), 2)
    assert options.get_session_config_entry(DATA_FOLDER) == ""
    np.testing.assert_array_equal(padops.InferenceSession(other, options).run(None, {"x": ROWS})[0], ROWS + 4)
    options.add_session_config_entry(DATA_FOLDER, "mine")
    padops.InferenceSession(one, options)
    assert options.get_session_config_entry(DATA_FOLDER) == "mine"


def test_external_data_before_there_is_a_folder_of_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "runtime_minor", lambda: FIRST_MINOR_OF_DATA_FOLDER - 1)
    path, options = with_data(tmp_path, 1), quiet()
    assert_reflected(padops.InferenceSession(path, options, convert={}), 1)
    with pytest.raises(RuntimeError):  # no folder was named
        options.get_session_config_entry(DATA_FOLDER)
    monkeypatch.setattr("padops.convert.model.document.LARGEST_PROTO", 100)
    why = r"embedded it has \d+ bytes, .* write it with 'padops convert', or use .* 1\.22"
    with pytest.raises(RuntimeError, match=why):
        padops.InferenceSession(path.read_bytes(), options, convert={"base_dir": tmp_path})


def test_set_providers_with_external_data(tmp_path: Path) -> None:
    made = padops.InferenceSession(with_data(tmp_path, 2))
    made.set_providers(["CPUExecutionProvider"])
    assert_reflected(made, 2)
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
        assert_reflected(padops.InferenceSession(snapshot / "m.onnx", quiet()), 2)


def test_before_there_are_providers_what_depends_on_the_data_is_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime 1.20 wraps past an axis of open size: it reads foreign memory."""
    monkeypatch.setattr(door, "runtime_minor", lambda: FIRST_MINOR - 1)
    monkeypatch.setattr(preparing, "runtime_minor", lambda: FIRST_MINOR - 1)
    monkeypatch.setattr(inspection, "installed_minor", lambda: FIRST_MINOR - 1)
    made, data, expected = EVERY["wrap, of open size"]
    session = padops.InferenceSession(made, quiet())
    assert session.run(None, {"x": data})[0].tolist() == expected.tolist()
    assert [record.status for record in session.padops_records] == ["converted"]


@with_providers
def test_options_with_another_provider_and_a_model_that_is_converted() -> None:
    options = quiet()
    options.add_provider("AzureExecutionProvider", {})
    for _ in range(2):
        assert_reflected(padops.InferenceSession(model(REFUSED), options))


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


# --- without onnx -----------------------------------------------------------------------------------------------------


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before it was converted, or perhaps wrong: a wrong result is none."""
    found: Callable[..., Any] = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name == "padops.convert":
            raise DependencyError("padops.convert needs onnx_ir, which is not installed: pip install 'padops[convert]'")
        return found(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(
        DependencyError, match=rf"{'onnxruntime refuses this model' if PROVIDED else WRONG}.*, and .*padops\[convert\]"
    ):
        padops.InferenceSession(model(REFUSED), quiet())
    unseen = rf"{WRONG}, and padops cannot look: .*padops\[convert\].*; convert='never' runs"
    with pytest.raises(DependencyError, match=unseen):
        padops.InferenceSession(pooled("SAME_UPPER"))
    with pytest.warns(UserWarning, match=f"{WRONG}; padops runs them after 'padops convert'"):
        padops.InferenceSession(pooled("SAME_UPPER"), convert="never")


@with_providers
def test_a_model_that_runs_needs_no_onnx(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model(f"{FLAT} {PADS} {{ y = Pad <{REFLECT}> (x, p) }}"))
    text = (
        "import padops, sys; padops.InferenceSession(sys.argv[1]); "
        "print([m for m in ('onnx', 'onnx_ir') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
