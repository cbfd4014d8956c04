"""docs/extensions.md: Python kernels, and padops' library, beside onnxruntime-extensions' own operators."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_extensions
import pytest
from cpp_builds import well

import padops
from padops import cli

MODEL = Path(__file__).resolve().parents[2] / "models" / "tokens.onnx"
TEXTS = {
    "Pad THESE words": ["pad", "these", "words", *["<pad>"] * 5],
    "": ["<pad>"] * 8,
    "Zoë  eins zwei drei vier fünf sechs sieben acht": "zoë eins zwei drei vier fünf sechs sieben".split(),
}
LIBRARY = onnxruntime_extensions.get_library_path()
CALLS: dict[str, Callable[[onnxruntime.SessionOptions], None]] = {
    "padops": padops.register,
    "extensions": lambda options: options.register_custom_ops_library(LIBRARY),
    "pyop": lambda options: padops.register(options, backend="pyop"),
    "kernels": lambda options: padops.register(options, backend="pyop", extensions=False),
}


def options_of(*calls: str) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name in calls:
        CALLS[name](options)
    return options


def check(session: onnxruntime.InferenceSession) -> None:
    for text, words in TEXTS.items():
        assert session.run(None, {"text": np.array([text])})[0].tolist() == words


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The sample that splits a text with operators of onnxruntime-extensions and pads the words."""
    folder = tmp_path_factory.mktemp("tokens")
    for target in ("padops", "pyop"):
        made = padops.convert(MODEL, folder / f"{target}.onnx", target=target, verify=True, run=True)
        assert made.converted and made.verification is not None and made.verification.outcome == "equal"
    return lambda target: folder / f"{target}.onnx"


@pytest.mark.parametrize("session", [onnxruntime.InferenceSession, padops.InferenceSession], ids=["stock", "padops"])
@pytest.mark.parametrize(("target", "orders"), [
    ("padops", "extensions padops, padops extensions, pyop padops, padops pyop"),
    # onnxruntime takes the library once, whoever registers it, and in whatever order.
    ("pyop", "extensions, extensions pyop, extensions pyop pyop, extensions padops pyop padops"),
    ("pyop", "extensions kernels, kernels extensions, kernels extensions pyop, kernels pyop"),
    ("pyop", "pyop, pyop pyop padops pyop, padops pyop kernels"),
])  # fmt: skip
def test_in_every_order(converted: Callable[[str], Path], target: str, orders: str, session: Any) -> None:
    for order in orders.split(", "):
        if target == "pyop" or session is onnxruntime.InferenceSession:
            check(session(converted(target), options_of(*order.split())))


def test_neither_library_is_enough(converted: Callable[[str], Path], tmp_path: Path) -> None:
    """Each library lacks operators of the model; the extensions alone run it if padops' fallbacks are in it."""
    padops.convert(MODEL, tmp_path / "bare.onnx", fallback=False)
    check(onnxruntime.InferenceSession(converted("padops"), options_of("extensions")))
    for path, call in ((tmp_path / "bare.onnx", "extensions"), (converted("padops"), "padops")):
        with pytest.raises(Exception, match="is not a registered function/op"):
            onnxruntime.InferenceSession(path, options_of(call))
    with pytest.raises(Exception, match=r"Could not find an implementation for Pad\(18\) node with name 'tokens_pad'"):
        onnxruntime.InferenceSession(MODEL, options_of("extensions"))


def test_the_library_after_padops_has_registered_it(converted: Callable[[str], Path]) -> None:
    """onnxruntime's own session knows no remedy; whatever of padops sees the options names it."""
    options = options_of("pyop", "extensions")
    with pytest.raises(Exception, match="Failed to add kernel for Pad padops.pyop .* Conflicting"):
        onnxruntime.InferenceSession(converted("pyop"), options)
    text = r"have the library of onnxruntime-extensions twice.*call only padops\.register\(options, backend='pyop'\)"
    for call in (CALLS["pyop"], lambda options: padops.InferenceSession(converted("pyop"), options)):
        with pytest.raises(ValueError, match=text):
            call(options)


@pytest.mark.parametrize("first", ["onnxruntime_extensions", "padops"])
def test_the_library_before_the_first_kernel(converted: Callable[[str], Path], first: str) -> None:
    """It brings what is defined by then: padops' kernels if it is imported before padops; else the error says so."""
    code = f"""
import {first}, onnxruntime, onnxruntime_extensions, padops
def run(*calls):
    options = onnxruntime.SessionOptions()
    for call in calls:
        call(options)
    session = onnxruntime.InferenceSession({str(converted("pyop"))!r}, options)
    print(session.run(None, {{"text": ["A b"]}})[0].tolist()[:3])
extensions = lambda options: options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
kernels = lambda options: padops.register(options, backend="pyop")
try:
    run(extensions, kernels)
except ValueError as error:
    print(error)
    run(kernels)
"""
    told = well(sys.executable, "-c", code).splitlines()
    assert told[-1] == "['a', 'b', '<pad>']"
    assert ["from before padops' kernels were defined" in line for line in told[:-1]] == [True] * (first == "padops")


def test_options_stay_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """To find out what options have, a session is created that fails; it writes nothing and keeps their properties."""
    monkeypatch.chdir(tmp_path)
    options = onnxruntime.SessionOptions()
    options.enable_profiling, options.optimized_model_filepath = True, "optimized.onnx"
    padops.register(options, backend="pyop")
    assert (options.enable_profiling, options.optimized_model_filepath) == (True, "optimized.onnx")
    assert (list(tmp_path.iterdir()), *capfd.readouterr()) == ([], "", "")
    options.add_session_config_entry("session.load_model_format", "ORT")
    with pytest.raises(RuntimeError, match=r"^onnxruntime refuses session_options: .*ORT model verification failed"):
        padops.register(options, backend="pyop")
    with pytest.raises(ValueError, match="extensions is False, but the backend is not 'pyop'"):
        padops.register(options, extensions=False)


def test_inspect_names_what_runs_them(converted: Callable[[str], Path], capsys: pytest.CaptureFixture[str]) -> None:
    path = converted("pyop")
    assert cli.main(["inspect", str(path)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert 'for your own SessionOptions: padops.register(options, backend="pyop")' in told
    inspection = padops.inspect(path)
    assert inspection.roads == ("session", "convert", "lower")
    check(eval(inspection.commands()["session"].removeprefix("session = "), {"padops": padops}))
