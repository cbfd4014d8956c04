"""scripts/peers.py: an environment for each peer, once and whole; scripts/history.py: the suite through releases."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import history
import history_measure as measure
import history_page as page
import peers
import pytest
from history_measure import Release, releases

from padops.conformance import peers as environments
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import STAMP


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, which installs nothing: ``ran`` has the commands, and each of ``failing`` in one of them fails."""
    monkeypatch.setenv("PADOPS_ENVIRONMENTS", str(tmp_path))
    peers.ran, peers.failing = [], ()

    def step(label: str, command: list, root: Path) -> None:
        peers.ran.append([str(part) for part in command])
        if any(text in peers.ran[-1] for text in peers.failing):
            raise SystemExit(f"error: {label}")

    monkeypatch.setattr(peers.environment, "step", step)
    monkeypatch.setattr(peers.shutil, "which", lambda name: f"/bin/{name}")
    return peers


def test_it_reads_what_padops_reads(script: ModuleType) -> None:
    rows = {name: row for name, row in environments.PEERS.items() if row.environment}
    assert script.stated().keys() == rows.keys()
    for file in {row.file for row in rows.values()}:
        about = environments.value_of(file, "ENVIRONMENT")
        assert script.stated()[about["name"]] == about
    assert {name: script.environment_of(about) for name, about in script.stated().items()} == {
        name: row.environment for name, row in rows.items()
    }
    assert script.STAMP == environments.STAMP
    assert script.folder_of("tract") == environments.environments() / "tract"


def test_an_environment_is_made_once_and_whole(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Peers share one."""
    script.failing = ("pip",)
    with pytest.raises(SystemExit):
        script.main(["tract"])
    assert not environments.is_made("tract")
    script.ran, script.failing = [], ()
    assert script.main(["without-pad-tract"]) == 0
    (venv, pip) = script.ran
    assert venv[1:3] == ["-m", "venv"] and pip[0] == str(environments.python_of("tract"))
    assert set(script.stated()["tract"]["requires"]) <= set(pip)
    assert [environments.is_made(name) for name in ("tract", "without-pad-tract", "tvm")] == [True, False, False]
    assert script.main(["tract", "without-pad-tract"]) == 0 and len(script.ran) == 2
    assert script.main(["--list"]) == 0
    listed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert listed["without-pad-tract"] == listed["tract"] == str(script.folder_of("tract"))
    assert listed["dask"] == "not made"
    assert script.main([]) == 0
    assert sum("venv" in command for command in script.ran) == 8


def test_files_of_debian_are_unpacked(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script.ensure("new", {"requires": ("numpy==2.4.6",), "debian": ("one",)})
    assert script.ran[-1] == ["apt-get", "download", "one"] and environments.is_made("new")
    package = tmp_path / "other" / "debian" / "one.deb"
    monkeypatch.setattr(script.environment, "step", lambda label, command, root: fetched(command))
    unpacked: list[list[str]] = []

    def fetched(command: list) -> None:
        unpacked.append([*map(str, command)])
        if command[0] == "apt-get":
            package.write_bytes(b"")

    (tmp_path / "other").mkdir()
    script._unpack_from_debian("other", tmp_path / "other", ("one",))
    assert unpacked[-1] == ["dpkg", "-x", str(package), str(package.parent)] and not package.exists()
    monkeypatch.setattr(script.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="new needs apt-get and dpkg of Debian"):
        script._unpack_from_debian("new", tmp_path / "new", ("one",))


def test_other_versions_make_it_anew(script: ModuleType, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    script.main(["onnxruntime-web"])
    old = script.folder_of("onnxruntime-web") / "old"
    old.touch()
    newer = {"onnxruntime-web": {"name": "onnxruntime-web", "node": {"onnxruntime-web": "99.0"}}}
    monkeypatch.setattr(script, "stated", lambda: newer)
    assert script.main([]) == 0 and not old.exists() and len(script.ran) == 2
    assert '"onnxruntime-web": "99.0"' in (script.folder_of("onnxruntime-web") / "package.json").read_text()
    assert all("--ignore-scripts" in command for command in script.ran)
    assert script.main(["mnn"]) == 2
    assert "no such peer: mnn; there are onnxruntime-web" in capsys.readouterr().err
    newer["onnxruntime-web"]["node"]["onnxruntime-web"] = "100.0"
    monkeypatch.setattr(script.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="onnxruntime-web needs node and npm"):
        script.main([])


# --- scripts/history.py: what is counted, what a release changed, and the page ---------------------------------------

ROOT = Path(__file__).resolve().parents[2]
FILE, PICTURE, PAGE = (ROOT / "docs" / name for name in ("history.json", "history.svg", "conformance.md"))


def told(version: str, cells: dict[str, str], classes: dict[str, str] | None = None) -> dict[str, Any]:
    about = {"peer": "numpy", "package": "numpy", "version": version, "cases": "c"}
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


def test_a_release_is_measured_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    """This interpreter is the environment, in place of one that uv makes."""
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
    call = ["--only", "numpy==1.26.4", "--work", str(tmp_path), "--out", str(tmp_path / "h.json")]
    assert history.main(call) == 0
    said = capsys.readouterr().out
    assert re.search(r"^numpy==1\.26\.4: [\d.]+% of \d+ cases agree\n1 release in ", said)
    assert history.main(call) == 0
    assert capsys.readouterr().out == said and len(made) == 1
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
