"""``padops probe``: its table, its file, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import run
from fake_providers import Fake
from provider_sessions import CPU

from padops.probe import outcome
from padops.runtime import provider
from padops.runtime.provider_rules import rules_with


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """Fakes in the place of providers, by the name; what each was asked with."""
    asked: list[tuple] = []
    monkeypatch.setattr(outcome, "Asked", lambda *given: asked.append(given) or Fake("Fake", given[0]))
    return asked


def test_the_table_and_the_file(fake: list[tuple], tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    (file := tmp_path / "rules.json").write_text("of before")
    code, out, err = run(capsys, "probe", "mixed", "--option", "a=b=c", "--seconds", 9, "-o", file)
    assert (code, fake) == (0, [("mixed", "", {"a": "b=c"}, 9)]) and "models" in err and "166/166" in err
    first, *lines, last = out.splitlines()
    assert first == "Fake, onnxruntime 1.32.0, plugin 1.2.3, GPU of nobody: 166 models"
    assert "  always                 right: 5; refuses: wrap around, wrap of n" in lines
    assert "  crop                   right: 2; dies: edge crop; refuses: wrap crop" in lines
    assert lines[-1].startswith("with padops and these rules beside it: ")
    assert last == f"{file}: 6 rules; padops.InferenceSession accepts them with rules='{file}'"
    row = rules_with(file)["Fake"]
    assert (row.version, row.was_run, row.needs_padops) == ("onnxruntime 1.32.0, plugin 1.2.3", True, True)
    assert json.loads(file.read_text())["sources"] == {"default": "measured: padops probe Fake"}
    assert [path.name for path in tmp_path.iterdir()] == ["rules.json"]


def test_the_folder_of_the_user(fake: list[tuple], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PADOPS_RULES", str(tmp_path / "new" / "folder"))
    file = tmp_path / "new" / "folder" / "mixed.json"
    code, out, _ = run(capsys, "probe", "mixed")
    said = f"{file}: 6 rules; padops.InferenceSession finds them by itself"
    assert (code, out.splitlines()[-1]) == (0, said) and "Fake" in rules_with(file)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PADOPS_RULES", str(tmp_path / "file"))
    code, out, err = run(capsys, "probe", "mixed")
    assert (code, out) == (1, "") and str(tmp_path / "file") in err


@pytest.mark.parametrize(("arguments", "code", "said"), [
    ([CPU, "--option", "a"], 2, "argument --option: 'a' is no option, expected NAME=VALUE"),
    ([CPU, "--option", "=a"], 2, "argument --option: '=a' is no option, expected NAME=VALUE"),
    ([CPU, "--seconds", "0"], 2, "argument --seconds: '0' is not a whole number of at least 1"),
    ([CPU, "--library", "gone.so"], 1, "error: --library: there is no file gone.so"),
    (["OtherExecutionProvider", "-o", "."], 1, "error: cannot write .: "),
    ([CPU], 2, f"error: {CPU} needs no rules; name another provider\n"),
    (["NoExecutionProvider"], 2, "has no provider NoExecutionProvider here; it has "),
])  # fmt: skip
def test_refusals(arguments: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, out, err = run(capsys, "probe", *arguments)
    assert (found, out) == (code, "") and said in err


def test_an_older_onnxruntime(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(provider, "runtime_minor", lambda: 23)
    said = "error: padops probe needs onnxruntime 1.24 or newer: older releases lack plugin providers\n"
    assert run(capsys, "probe", "NoExecutionProvider") == (1, "", said)


def test_what_stays_wrong_and_a_file_that_cannot_be_written(
    fake: list[tuple], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PADOPS_RULES", str(tmp_path))
    code, out, err = run(capsys, "probe", "stubborn")
    said = "unexplained: constant crop (crop): with padops and these rules beside it, the session gets it wrong: "
    assert (code, err) == (5, "") and said in out.splitlines()

    def refuse(path: Path, texts: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("padops.cli.probe.write_whole", refuse)
    code, _, err = run(capsys, "probe", "stubborn", "-o", tmp_path / "rules.json")
    assert (code, err) == (1, f"error: {tmp_path / 'rules.json'}: No space left on device\n")
