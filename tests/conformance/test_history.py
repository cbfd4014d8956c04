"""The suite through the releases of an implementation: what is counted, what a release changed, and the page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from padops.conformance.divergences import KNOWN
from padops.conformance.peers import STAMP

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import history
import history_measure as measure
import history_page as page
from history_measure import Release, releases

ROOT = Path(__file__).resolve().parents[2]
FILE, PICTURE, PAGE = (ROOT / "docs" / name for name in ("history.json", "history.svg", "conformance.md"))
NUMPY = Release("numpy", "numpy", "1.26.4", ())


def told(
    version: str, cells: dict[str, str], classes: dict[str, str] | None = None, cases: str = "c"
) -> dict[str, Any]:
    about = {"peer": "numpy", "package": "numpy", "version": version, "cases": cases}
    return {**about, "cells": cells, "classes": classes or {}}


def test_a_letter_for_each_answer() -> None:
    plain = ("agree", "differ", "crash", "unsupported")
    answers = [*((outcome, None) for outcome in plain), ("error", "d"), ("differ", "d")]
    results = [
        {"op": op, "mode": mode, "outcome": outcome, "divergence": known}
        for op, mode in (("Pad_18", "wrap"), ("Pad_2", ""))
        for outcome, known in answers
    ]
    found = measure.told_of(results)
    assert found["cells"] == {"Pad_18 wrap": "aABnCD", "Pad_2 no mode": "aEFnCD"}
    names = ("differ wrap", "crash wrap", "error d", "differ d", "differ no mode", "crash no mode")
    assert found["classes"] == dict(zip("ABCDEF", names))
    assert page.counts({**told("1", {}), **found}) == {"agree": 2, "differ": 4, "crash": 2, "error": 2, "not run": 2}


def test_what_a_release_changed() -> None:
    """Each way an answer may change is a line, once for a release; releases of other cases are not compared."""
    old = told("1.0", {"Pad_2 edge": "aABCnn"}, {"A": f"differ {KNOWN[0].id}", "B": "error edge", "C": "crash <b>"})
    gone = {"peer": "numpy", "package": "numpy", "version": "1.1", "cases": "c", "absent": "why"}
    new = told("1.2", {"Pad_2 edge": "aaaana"})
    text = page.markdown([old, gone, new])
    for row in ("1.0 | 4 | 1 (25.0%) | 1 | 1 | 1 | 2 |", "1.1 | does not run here | | | | | |",
                "1.2 | 5 | 5 (100.0%) | 0 | 0 | 0 | 1 |"):  # fmt: skip
        assert f"| {row}\n" in text
    for what in (f"wrong output → **right**: {KNOWN[0].reason}", "dies → **right**: mode &lt;b&gt;",
                 "error → **right**: mode edge", "not run → **runs**: mode edge"):  # fmt: skip
        assert f"    - {what} (1 case of Pad_2)\n" in text
    assert text.count("- **1.2**\n    - ") == 1 and "→" not in page.markdown([old, {**new, "cases": "others"}])


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
    few = measure.suite()[:20]
    monkeypatch.setattr(history, "suite", lambda: few)
    return made


def test_a_release_is_measured_once(
    numpy_here: list[Release], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["--only", NUMPY.name, "--work", str(tmp_path), "--out", str(tmp_path / "h.json")]
    assert history.main(call) == 0
    said = capsys.readouterr().out
    assert re.search(r"^numpy==1\.26\.4: [\d.]+% of \d+ cases agree\n1 release in ", said)
    assert history.main(call) == 0
    assert capsys.readouterr().out == said and len(numpy_here) == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["results"]  # no environment stays
    (found,) = history.read(tmp_path / "h.json")
    assert page.counts(found)["agree"] > 5 and found["package"] == "numpy"
    assert history.main(["--show", str(tmp_path / "h.json")]) == 0
    assert f"| 1.26.4 | {page.run_of(found)} | " in capsys.readouterr().out


def test_wrong_words_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history.main(["--only", "numpy==0.0"]) == 2
    said = "--only numpy==0.0: no such release; --list prints those of onnxruntime, "
    assert said in capsys.readouterr().err
    for content in ("{", "[]", '{"schema": 2, "releases": []}'):
        (tmp_path / "h.json").write_text(content)
        assert history.main(["--show", str(tmp_path / "h.json")]) == 2
        assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'h.json'}: not a history")


def test_the_page_sums_the_file_up() -> None:
    found = history.read(FILE)
    assert len(found) >= 60 and not [one for one in found if "absent" in one]
    known = {release.name for release in releases()}
    assert {f"{one['package']}=={one['version']}" for one in found} == known
    assert f"<!-- history -->\n{page.summary(found)}<!-- /history -->" in PAGE.read_text(encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == page.svg(found)
