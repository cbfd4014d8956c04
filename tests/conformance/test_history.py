"""The suite through the releases of an implementation: what is counted, what a release changed, and the page."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from padops import cli
from padops.conformance import runner
from padops.conformance.history import data, measure, page
from padops.conformance.history.measure import Release, releases
from padops.conformance.history.page import Change, changes
from padops.conformance.known import KNOWN
from padops.conformance.peers import PEERS
from padops.conformance.peers.environments import STAMP

ROOT = Path(__file__).resolve().parents[2]
FILE, PICTURE, PAGE = (ROOT / "docs" / name for name in ("history.json", "history.svg", "history.md"))
NUMPY = Release("numpy", "numpy", "1.26.4", ())


def told(
    version: str, cells: dict[str, str], classes: dict[str, str] | None = None, cases: str = "c"
) -> dict[str, Any]:
    about = {"peer": "numpy", "package": "numpy", "version": version, "cases": cases}
    return {**about, "cells": cells, "classes": classes or {}}


def test_releases() -> None:
    every = list(releases())
    assert len(every) == len({release.name for release in every}) >= 60
    assert {release.peer for release in every} <= set(PEERS)
    for package, found in data.by_package([vars(release) for release in every]).items():
        keys = [[int(part) for part in re.findall(r"\d+", one["version"])] for one in found]
        assert keys == sorted(keys), package


def test_a_letter_for_each_answer() -> None:
    answers = [
        ("agree", None),
        ("differ", None),
        ("crash", None),
        ("unsupported", None),
        ("error", "d"),
        ("differ", "d"),
    ]
    results = [
        {"op": op, "mode": mode, "outcome": outcome, "divergence": known}
        for op, mode in (("Pad_18", "wrap"), ("Pad_2", ""))
        for outcome, known in answers
    ]
    found = measure.told_of(results)
    assert found["cells"] == {"Pad_18 wrap": "aABnCD", "Pad_2 no mode": "aEFnCD"}
    names = ("differ wrap", "crash wrap", "error d", "differ d", "differ no mode", "crash no mode")
    assert found["classes"] == dict(zip("ABCDEF", names))
    assert data.counts({**told("1", {}), **found}) == {"agree": 2, "differ": 4, "crash": 2, "error": 2, "not run": 2}


def test_what_a_release_changed() -> None:
    old = told("1", {"Pad_2 edge": "aaAAB", "Pad_18 wrap": "nnn"}, {"A": "differ x", "B": "error edge"})
    new = told("2", {"Pad_2 edge": "aXYaX", "Pad_18 wrap": "aXn"}, {"X": "error z", "Y": "crash y"})
    assert changes([old, new]) == [
        Change("2", "agree", "error", "z", ("Pad_2",), 1),
        Change("2", "differ", "agree", "x", ("Pad_2",), 1),
        Change("2", "differ", "crash", "y", ("Pad_2",), 1),
        Change("2", "not run", "runs", "wrap", ("Pad_18",), 2),  # nothing was broken there
    ]
    assert [(one.before, one.after, one.count) for one in changes([new, old])] == [
        ("agree", "differ", 1), ("crash", "differ", 1), ("error", "agree", 1), ("runs", "not run", 2),
    ]  # fmt: skip
    assert changes([old, {**new, "cases": "others"}]) == []


def test_the_tables() -> None:
    text = page.markdown([
        told("1.0", {"Pad_2 edge": "aABCnn"}, {"A": f"differ {KNOWN[0].id}", "B": "error edge", "C": "crash <b>"}),
        {"peer": "numpy", "package": "numpy", "version": "1.1", "cases": "c", "absent": "why"},
        told("1.2", {"Pad_2 edge": "aaaann"}),
    ])  # fmt: skip
    rows = (
        "| 1.0 | 4 | 1 (25.0%) | 1 | 1 | 1 | 2 |", "| 1.1 | does not run here | | | | | |",
        "| 1.2 | 4 | 4 (100.0%) | 0 | 0 | 0 | 2 |",
    )  # fmt: skip
    assert "\n".join(rows) in text
    assert f"    - wrong output → **right**: {KNOWN[0].reason} (1 case of Pad_2)\n" in text
    assert "    - dies → **right**: mode &lt;b&gt; (1 case of Pad_2)\n" in text
    assert text.count("- **1.2**\n    - ") == 1, "each release is named once"


@pytest.fixture
def numpy_here(monkeypatch: pytest.MonkeyPatch) -> list[Release]:
    """Stands for uv: this interpreter is the environment; the releases that were made."""
    made: list[Release] = []

    def make(release: Release, node: bool, folder: Path) -> None:
        made.append(release)
        (folder / "bin").mkdir(parents=True)
        python = folder / "bin" / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        (folder / STAMP).write_text("{}")

    monkeypatch.setattr(measure, "make_environment", make)
    few = measure.suite()[:40]
    monkeypatch.setattr(measure, "suite", lambda: few)
    return made


def test_a_release_is_measured_once(
    numpy_here: list[Release], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["conformance", "history", "--only", NUMPY.name, "--work", str(tmp_path), "--out", str(tmp_path / "h.json")]
    assert cli.main(call) == 0
    said = capsys.readouterr().out
    assert re.search(r"^numpy==1\.26\.4: [\d.]+% of \d+ cases agree\n1 release in ", said)
    assert cli.main(call) == 0
    assert capsys.readouterr().out == said and len(numpy_here) == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["results"]  # no environment stays
    (found,) = data.read(tmp_path / "h.json")
    assert data.counts(found)["agree"] > 5 and found["package"] == "numpy"
    assert cli.main(["conformance", "history", "--show", str(tmp_path / "h.json")]) == 0
    assert f"| 1.26.4 | {page.run_of(found)} | " in capsys.readouterr().out


def test_what_has_no_environment_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text('#!/bin/sh\n[ "$1" = venv ] && exit 0\necho "no numpy for this Python" >&2\nexit 3\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{uv.parent}:/bin:/usr/bin")
    monkeypatch.setattr(measure, "suite", lambda: [])
    assert cli.main(["conformance", "history", "--only", NUMPY.name, "--work", str(tmp_path / "w")]) == 1
    assert capsys.readouterr().out == f"{NUMPY.name}: absent: uv ended with 3: no numpy for this Python\n"
    assert not (tmp_path / "w" / "results").exists()


@pytest.mark.parametrize(("ending", "code"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_an_interrupt_keeps_what_has_been_measured(
    ending: BaseException, code: int, numpy_here: list[Release], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    run_cases = runner.run_cases

    def run(*arguments: Any) -> list[runner.PeerRun]:
        if len(numpy_here) == 2:
            raise runner.CutShort([], ending)
        return run_cases(*arguments)

    monkeypatch.setattr(runner, "run_cases", run)
    work = tmp_path / "w"
    assert cli.main(["conformance", "history", "--only", "numpy", "--work", str(work)]) == code
    said = f"interrupted: {work} keeps what has been measured, and a second call goes on there\n"
    assert capsys.readouterr().err.endswith(said)
    assert [path.name for path in work.rglob("*") if path.is_file()] == ["numpy-1.26.4.json"]


def test_without_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(measure.NoEnvironment, match=r"uv is not on the PATH: python -m pip install uv"):
        measure.make_environment(NUMPY, False, tmp_path / "e")
    with pytest.raises(measure.NoEnvironment, match=r"npm is not on the PATH: it comes with Node\.js"):
        measure.make_environment(Release("onnxruntime-web", "onnxruntime-web", "1.30.0", ()), True, tmp_path / "e")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["--only", "numpy==0.0"], "--only numpy==0.0: no such release; --list prints those of onnxruntime, "),
        (["--shard", "3/2"], "a part of a run is called i/n"),
        (["--svg", "p.svg"], "--svg needs --show FILE"),
        (["--show", "h.json", "--only", "numpy"], "--show measures nothing: it excludes every option but --svg"),
        (["--list", "--keep"], "--list measures nothing: it excludes --keep"),
    ],
)
def test_usage(call: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conformance", "history", *call]) == 2
    assert message in capsys.readouterr().err


def test_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "measure", lambda *of: pytest.fail("it measures"))
    assert cli.main(["conformance", "history", "--list", "--work", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{release.name}: not measured" for release in releases()]


def _without(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["releases"][0].pop(key)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda content: content.update(schema=2), "not a history of schema 1: it has '2'"),
        (lambda content: content.update(releases={}), "releases is no list"),
        (_without("version"), "release 0: version is no text"),
        (_without("cells"), "release 0: cells is no table of texts"),
        (lambda content: content["releases"][0].update(cells={"Pad_2 edge": 1}),
         "release 0: cells is no table of texts"),
        (
            lambda content: content["releases"][0].update(classes={"A": "bad x"}),
            "release 0: class A is 'bad x', expected one of differ, error, crash, a blank and a name",
        ),
        (lambda content: content["releases"][0].update(cells={"b": "aQ"}),
         "release 0: cells have the letter 'Q', which is no class"),
        (lambda content: content["releases"].insert(0, 3), "release 0: no object"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_history(
    harm: Callable[[dict[str, Any]], None], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {"schema": 1, "releases": [told("1", {"Pad_2 edge": "a"})]}
    harm(content)
    file = tmp_path / "h.json"
    file.write_text(json.dumps(content))
    assert cli.main(["conformance", "history", "--show", str(file)]) == 1
    assert f"{file}: {message}" in capsys.readouterr().err


def test_a_file_that_is_no_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "h.json").write_text("{")
    assert cli.main(["conformance", "history", "--show", str(tmp_path / "h.json")]) == 1
    assert "not a history: Expecting" in capsys.readouterr().err


def test_the_page_has_the_tables_of_the_file() -> None:
    found = data.read(FILE)
    assert len(found) >= 60 and not [one for one in found if "absent" in one]
    known = {release.name for release in releases()}
    assert {data.name_of(one) for one in found} == known
    assert page.markdown(found).strip() in PAGE.read_text(encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == page.svg(found)
