"""The releases of each implementation, and a run of the suite's cases on one release in its own environment."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from padops.conformance import cases, runner
from padops.conformance.divergences import KNOWN, add_peers
from padops.conformance.features import WRONG
from padops.conformance.peers import PEERS, STAMP
from padops.conformance.peers.request import Request

add_peers(Path(__file__).resolve().parent / "isolated")

LEVEL = "quick"
AGREES, NOT_RUN = "a", "n"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZbcdefghijklmopqrstuvwxyz0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~"  # wrong answers
LONGEST = 1800  # seconds that one installation may take

# Packages that padops' own files need in another interpreter; pip installs numpy with them.
ONNX, ML_DTYPES = "onnx==1.23.2", "ml_dtypes==0.5.4"
# Packages for releases from before NumPy 2, with an onnx that accepts such a NumPy.
OLD = ("numpy==1.26.4", ML_DTYPES, "onnx==1.20.1")
NEW = ("numpy==2.4.6", ML_DTYPES, ONNX)


@dataclass(frozen=True)
class Release:
    """One release of an implementation."""

    peer: str  # the key of ``peers.PEERS``
    package: str  # on PyPI, or on npm
    version: str  # of the package
    beside: tuple[str, ...]  # other packages of its environment, as for pip; none for npm

    @property
    def name(self) -> str:
        """``package==version``."""
        return f"{self.package}=={self.version}"


# Peer, package, packages beside it, and the newest version of each of its minor releases.
FOLLOWED = (
    ("ort-builtin", "onnxruntime", OLD, "1.16.3 1.17.3 1.18.1"),
    (
        "ort-builtin", "onnxruntime", NEW,
        "1.19.2 1.20.1 1.21.1 1.22.1 1.23.2 1.24.4 1.25.1 1.26.0 1.27.0 1.28.0 1.29.0 1.30.0 1.31.1 1.32.0",
    ),
    ("onnxruntime-web", "onnxruntime-web", (), "1.24.3 1.25.1 1.26.0 1.27.0 1.29.0 1.30.0"),
    ("onnx-reference", "onnx", ("numpy==1.26.4", ML_DTYPES), "1.15.0 1.16.2 1.17.0 1.18.0 1.19.1 1.20.1"),
    ("onnx-reference", "onnx", ("numpy==2.4.6", ML_DTYPES), "1.21.0 1.22.0 1.23.2"),
    ("numpy", "numpy", (ML_DTYPES, "onnx==1.20.1"), "1.26.4"),
    ("numpy", "numpy", (ML_DTYPES, ONNX), "2.0.2 2.1.3 2.2.6 2.3.5 2.4.6"),
    (
        "openvino-12", "openvino", OLD,
        "2023.1.0 2023.2.0 2023.3.0 2024.0.0 2024.1.0 2024.2.0 2024.3.0 2024.4.0 2024.5.0 2024.6.0 2025.0.0 2025.1.0",
    ),
    ("openvino-12", "openvino", (ML_DTYPES, ONNX), "2025.2.0 2025.3.0 2025.4.1 2026.0.0 2026.1.0 2026.2.1 2026.3.1 "
    "2026.4.1"),
    ("tensorflow", "tensorflow-cpu", (ML_DTYPES, "onnx==1.20.1"), "2.18.1 2.19.1 2.20.0 2.21.0"),
    ("jax", "jax", NEW, "0.5.3 0.6.2 0.7.2 0.8.3 0.9.2 0.10.2"),
)  # fmt: skip


def releases() -> Iterator[Release]:
    """Yields all releases, from the oldest to the newest of each implementation."""
    for peer, package, beside, versions in FOLLOWED:
        for version in versions.split():
            yield Release(peer, package, version, beside)


def suite() -> list[Request]:
    """Returns the cases of a quick run for each release, without the examples of known divergences, which change."""
    return cases.collect(LEVEL)


def digest_of(suite: Sequence[Request]) -> str:
    """Returns a digest of the cases' ids, which changes with the set of cases."""
    return hashlib.sha256("\n".join(case.id for case in suite).encode()).hexdigest()[:16]


def measure(release: Release, suite: Sequence[Request], folder: Path, keep: bool = False) -> dict[str, Any]:
    """Creates a release's environment in a folder, runs the cases there, and removes the environment unless ``keep``.

    Returns:
        ``peer``, ``package``, ``version``, ``cases`` (their digest), and either ``absent``, the reason why the release
        does not run, or the entries of :func:`told_of`.
    """
    row, place = PEERS[release.peer], folder / f"{release.package}-{release.version}"
    told = {"peer": release.peer, "package": release.package, "version": release.version, "cases": digest_of(suite)}
    try:
        make_environment(release, bool(row.command), place)
        # This environment replaces the peer's own: an absolute path overrides the folder of all environments.
        peer = replace(row, name=release.name, environment=str(place.resolve()))
        (ran,) = runner.run_cases(suite, [peer], KNOWN, LEVEL)
    except NoEnvironment as error:
        return {**told, "absent": str(error)}
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    if ran.handshake is None:
        return {**told, "absent": str(ran.absent)}
    return {**told, **told_of(ran.results)}


class NoEnvironment(Exception):
    """A release has no environment; the message has the reason."""


def make_environment(release: Release, node: bool, folder: Path) -> None:
    """Replaces the folder by the environment of a release, of npm or of Python.

    Raises:
        NoEnvironment: uv or npm is missing, or does not find the packages.
        OSError: The folder cannot be written.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if node:
        (folder / "package.json").write_text(
            json.dumps({"private": True, "dependencies": {release.package: release.version}})
        )
        _run([_tool("npm"), "install", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    else:
        uv = _tool("uv")
        _run([uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)], folder)
        pip = [uv, "pip", "install", "--quiet", "--python", str(folder), "--only-binary", ":all:"]
        _run([*pip, release.name, *release.beside], folder)
    (folder / STAMP).write_text("{}")


def _tool(name: str) -> str:
    beside = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if beside is None:
        how = "python -m pip install uv" if name == "uv" else "it comes with Node.js"
        raise NoEnvironment(f"{name} is not on the PATH: {how}")
    return beside


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired as error:
        raise NoEnvironment(f"{Path(command[0]).name} took longer than {LONGEST} s") from error
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise NoEnvironment(f"{Path(command[0]).name} ended with {done.returncode}: {' '.join(said)[-400:]}")


def told_of(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns a letter for the answer to each case, from results of a report in the order of the cases.

    Returns:
        ``cells``: for each operator and mode the letters of its cases; ``a`` agrees, ``n`` was not run. ``classes``:
        for each other letter an outcome, a blank, and the id of the known divergence or another name.
    """
    cells: dict[str, str] = {}
    letters: dict[str, str] = {}
    for result in results:
        outcome, cell = result["outcome"], f"{result['op']} {result['mode'] or 'no mode'}"
        if outcome in WRONG:
            name = f"{outcome} {result['divergence'] or result['mode'] or 'no mode'}"
            letter = letters.setdefault(name, LETTERS[len(letters)])
        else:
            letter = AGREES if outcome == "agree" else NOT_RUN
        cells[cell] = cells.get(cell, "") + letter
    return {"cells": dict(sorted(cells.items())), "classes": {letter: name for name, letter in letters.items()}}
