"""The environment of one release: made by uv or npm, and removed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from padops.conformance.history.releases import Release
from padops.conformance.peers.environments import STAMP

LONGEST = 1800  # seconds that one installation may take


class NoEnvironment(Exception):
    """A release has none; says why."""


def make(release: Release, node: bool, folder: Path) -> None:
    """Makes the environment of a release, in place of what the folder holds.

    Args:
        release: Which.
        node: Whether its package is of npm.
        folder: Where.

    Raises:
        NoEnvironment: uv or npm is not there, or does not find the packages.
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
