"""Programs and libraries that tests build with CMake."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ROOT / "tests" / "cpp"


def cmake() -> str:
    found = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert found, "no cmake"
    return found


def build(folder: Path, *options: str, source: Path = ROOT, target: str = "all") -> Path:
    """Configures and builds a project; a folder that is there already is built anew only where its sources changed.

    Args:
        folder: Where to build.
        options: Of the configuration, such as ``"-DCMAKE_BUILD_TYPE=None"``.
        source: The folder of the ``CMakeLists.txt``.
        target: What to build, with blanks between several.

    Returns:
        The folder.

    Raises:
        AssertionError: A step failed; it holds what the step printed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    alone = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(alone, fcntl.LOCK_EX)  # other processes run other tests of the same build
        for command in (
            [cmake(), "-S", str(source), "-B", str(folder), *options],
            [cmake(), "--build", str(folder), "--parallel", "2", "--target", *target.split()],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-10_000:]
    finally:
        os.close(alone)
    return folder


def said(*command: object) -> subprocess.CompletedProcess[str]:
    """Runs a program; it has ten minutes."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)


def well(*command: object) -> str:
    """Return all that a program prints, which must end well."""
    done = said(*command)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-20_000:]
    return done.stdout + done.stderr


def fuzzed_inputs(done: subprocess.CompletedProcess[str]) -> int:
    """How many inputs a program of libFuzzer tried; 1 where it stopped at one that did harm.

    Raises:
        AssertionError: It ended well and does not say how many.
    """
    ran = re.search(r"^Done (\d+) runs", done.stderr, re.MULTILINE)
    assert done.returncode or ran, done.stderr[-2_000:]
    return int(ran.group(1)) if ran else 1
