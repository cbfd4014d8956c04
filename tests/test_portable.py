"""Rows once more with libraries that lack what the engine has for some processors only."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("define", ["PADOPS_WIDE", "PADOPS_STREAM"])
def test_rows_without(define: str) -> None:
    """A library that has nothing for AVX2, and one that has nothing for x86 at all."""
    cmake = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    folder = ROOT / "build" / f"without-{define}"
    options = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS=-O1 -Werror -D{define}=0"]
    subprocess.run([cmake, "-S", str(ROOT), "-B", str(folder), *options], check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(folder), "--parallel", "2"], check=True, capture_output=True)
    library = folder / "libpadops.so"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_rows.py"]
    environment = {**os.environ, "PADOPS_LIBRARY": str(library)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr
    assert f"padops: {library}" in ran.stdout
    assert int(re.search(r"=+ (\d+) passed in ", ran.stdout).group(1)) >= 40
