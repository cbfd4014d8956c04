"""The environments of a history: what uv and npm are asked for, what runs in there, and what of it is kept."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from padops.conformance import runner
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import STAMP, Peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import history
import history_measure as measure
from history_measure import Release, releases

NUMPY = next(release for release in releases() if release.package == "numpy")
WEB = next(release for release in releases() if release.package == "onnxruntime-web")


def program(folder: Path, name: str, ends: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts a program first on the PATH that writes its arguments into the file that is returned, and ends in a way."""
    made, calls = folder / "bin" / name, folder / "calls"
    made.parent.mkdir()
    made.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n{ends}\n')
    made.chmod(0o755)
    monkeypatch.setenv("PATH", f"{made.parent}:/bin:/usr/bin")
    return calls


def test_what_uv_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and what an earlier call has left is gone."""
    calls, folder = program(tmp_path, "uv", "exit 0", monkeypatch), tmp_path / "made"
    folder.mkdir()
    (folder / "old").touch()
    measure.make_environment(NUMPY, False, folder)
    assert calls.read_text().splitlines() == [
        f"venv --quiet --allow-existing --python {sys.executable} {folder}",
        f"pip install --quiet --python {folder} --only-binary :all: numpy==1.26.4 {' '.join(NUMPY.beside)}",
    ]
    assert NUMPY.beside and [path.name for path in folder.iterdir()] == [STAMP]


def test_what_npm_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, folder = program(tmp_path, "npm", "exit 0", monkeypatch), tmp_path / "made"
    measure.make_environment(WEB, True, folder)
    assert calls.read_text() == "install --ignore-scripts --no-audit --no-fund\n"
    wanted = json.loads((folder / "package.json").read_text())
    assert wanted == {"private": True, "dependencies": {"onnxruntime-web": WEB.version}}
    assert (folder / STAMP).is_file()


@pytest.mark.parametrize(
    ("ends", "why"), [("echo no >&2; exit 1", "uv ended with 1: no"), ("exec sleep 60", "uv took longer than 0.2 s")]
)
def test_what_uv_does_not_make(ends: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "uv", ends, monkeypatch)
    if "sleep" in ends:
        monkeypatch.setattr(measure, "LONGEST", 0.2)
    with pytest.raises(measure.NoEnvironment, match=f"^{why}$"):
        measure.make_environment(NUMPY, False, tmp_path / "made")


@pytest.mark.parametrize("release", [NUMPY, WEB], ids=lambda release: release.package)
@pytest.mark.parametrize("keep", [False, True], ids=["", "kept"])
@pytest.mark.parametrize("answers", [True, False], ids=["", "absent"])
def test_what_runs_there(
    release: Release, keep: bool, answers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer, in the environment of the release; where it does not answer, the history has the reason."""
    made: list[tuple[Any, ...]] = []

    def make(release: Release, node: bool, folder: Path) -> None:
        folder.mkdir()
        made.append((release, node, folder))

    def run(cases: Any, peers: list[Peer], known: Any, level: str) -> list[runner.PeerRun]:
        (peer,) = peers
        made.append((cases, peer.row.environment, known, level))
        ran = runner.PeerRun(peer)
        results = [{"op": "Pad_2", "mode": "edge", "outcome": "agree", "divergence": None}]
        return [replace(ran, handshake=object(), results=results) if answers else replace(ran, absent="why")]

    monkeypatch.setattr(measure, "make_environment", make)
    monkeypatch.setattr(runner, "run_cases", run)
    told = measure.measure(release, [], tmp_path, keep)
    place = tmp_path / f"{release.package}-{release.version}"
    assert made == [(release, release is WEB, place), ([], str(place.resolve()), KNOWN, "quick")]
    assert place.exists() == keep
    more = {"cells": {"Pad_2 edge": "a"}, "classes": {}} if answers else {"absent": "why"}
    about = {"peer": release.peer, "package": release.package, "version": release.version}
    assert told == {**about, "cases": measure.digest_of([]), **more}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Which releases have been measured, and whether their environments stay; nothing runs."""
    found: list[tuple[str, bool]] = []

    def one(release: Release, suite: Any, folder: Path, keep: bool) -> dict[str, Any]:
        found.append((release.name, keep))
        about = {"peer": release.peer, "package": release.package, "version": release.version}
        return {**about, "cases": measure.digest_of(suite), "cells": {"Pad_2 edge": "a"}, "classes": {}}

    monkeypatch.setattr(history, "measure", one)
    monkeypatch.setattr(history, "suite", list)
    return found


def test_calls_add_to_one_file(measured: list[tuple[str, bool]], tmp_path: Path) -> None:
    """The file has what earlier calls measured, too, in the order of the releases."""
    every = [release.name for release in releases()]
    for package in dict.fromkeys(release.package for release in releases()):
        call = ["--work", str(tmp_path), "--only", package, "--out", str(tmp_path / "h.json")]
        assert history.main(call) == 0
        assert measured == [(release.name, False) for release in releases() if release.package == package]
        measured.clear()
    found = history.read(tmp_path / "h.json")
    assert [f"{one['package']}=={one['version']}" for one in found] == every
    history.write(tmp_path / "h.json", found[::-1])
    assert history.read(tmp_path / "h.json") == found


def test_other_cases_are_measured_anew(
    measured: list[tuple[str, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["--only", NUMPY.name, "--work", str(tmp_path), "--keep"]
    assert history.main(call) == history.main(call) == 0
    assert measured == [(NUMPY.name, True)]
    few = measure.cases.collect("quick")[:1]
    monkeypatch.setattr(history, "suite", lambda: few)
    assert history.main(call) == 0
    assert measured == [(NUMPY.name, True)] * 2
