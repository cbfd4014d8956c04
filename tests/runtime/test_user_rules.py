"""Rules that were measured for the user: where they are, when they are used, and what is said when they are not."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from provider_sessions import CPU, pad

import padops
from padops.runtime import chosen, placing, provider_rules
from padops.runtime.installed import processor
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import BY_NAME

NAME, CUDA = "OtherExecutionProvider", "CUDAExecutionProvider"
DEVICE = {"onnxruntime": "1.32.0", "plugin": "0.4.0", "devices": ["GPU of nobody"]}
CONTENT = {
    "names": [NAME],
    "version": "onnxruntime 1.32.0, plugin 0.4.0",
    "sources": {"default": "measured: a test"},
    "measured": DEVICE | {"processor": processor(), "options": {"a": "1"}},
    "rules": [{"does": "wrong", "when": "always"}],
}
ONE = chosen.Chosen(NAME, {"a": 1})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the provider is there."""
    monkeypatch.setenv("PADOPS_RULES", str(tmp_path))
    monkeypatch.setattr(chosen, "described", lambda one: dict(DEVICE))
    monkeypatch.setattr(chosen, "available", lambda: {NAME, CPU})
    provider_rules.warn_once.cache_clear()
    return tmp_path


def write(folder: Path, content: Any) -> Path:
    file = folder / f"{NAME}.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_a_session_finds_them(folder: Path) -> None:
    assert provider_rules.with_measured(BY_NAME, [ONE]) == BY_NAME
    file = write(folder, CONTENT)
    rules = provider_rules.with_measured(BY_NAME, [ONE])
    assert (rules[NAME].file, rules[NAME].version) == (str(file), CONTENT["version"])
    first = next(one for one in placing.with_padops([ONE], None, rules) if one.name == FIRST_NAME)
    assert first.options == {"before": NAME, "rules": str(file)}
    given = {**BY_NAME, NAME: rules[NAME]}  # those of a file that the caller names
    assert provider_rules.with_measured(given, [ONE])[NAME] is given[NAME]


def test_inspect_follows_them(folder: Path) -> None:
    file = write(folder, CONTENT | {"measured": CONTENT["measured"] | {"options": {}}})
    inspection = padops.inspect(pad([1, 1], "edge", 18, "float[4]"), providers=[NAME, CPU])
    assert (inspection.pads[0].verdict, inspection.pads[0].runner) == ("wrong", FIRST_NAME)
    assert f"the rules of {NAME} are those in {file} ({CONTENT['version']})" in inspection.notes


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "expected JSON"),
        (CONTENT | {"rules": [{}]}, 'rule 1: "does" is missing'),
        (CONTENT | {"names": [CUDA]}, f"they are of other providers; padops probe {NAME} --option a=1 measures anew"),
        *(
            (
                CONTENT | {"measured": CONTENT["measured"] | {name: "x"}},
                f"{name} was 'x' when they were measured, and is",
            )
            for name in CONTENT["measured"]
        ),
    ],
)
def test_they_do_not_fit(content: Any, why: str, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write(folder, content)
    for _ in range(2):
        assert provider_rules.with_measured(BY_NAME, [ONE]) == BY_NAME
    (said,) = caplog.messages
    assert said.startswith(f"the rules in {file} are not used: ") and why in said
    assert caplog.records[0].levelno == logging.WARNING


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, given = tmp_path / "home", str(tmp_path / "given")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("APPDATA", "XDG_CONFIG_HOME", "PADOPS_RULES"):
        monkeypatch.delenv(name, raising=False)
    for platform, variables, where in (
        ("linux", {}, home / ".config"),
        ("darwin", {}, home / "Library/Application Support"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, home / ".config"),  # it is to be ignored
        ("linux", {"XDG_CONFIG_HOME": given}, Path(given)),
        ("win32", {"APPDATA": given}, Path(given)),
    ):
        monkeypatch.setattr("sys.platform", platform)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert provider_rules.file_of(NAME) == where / "padops" / "rules" / f"{NAME}.json"
    monkeypatch.setenv("PADOPS_RULES", "")
    assert provider_rules.file_of(NAME) is None
