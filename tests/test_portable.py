"""Rows once more with libraries that lack what the engine has for some processors only, and past the caches."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "defines",
    [
        pytest.param("-DPADOPS_WIDE=0", id="nothing for AVX2"),
        pytest.param("-DPADOPS_STREAM=0", id="nothing for x86"),
        pytest.param("-DPADOPS_STREAMED_BYTES=0", id="past the caches, however small"),
        pytest.param("-DPADOPS_STREAMED_BYTES=0 -DPADOPS_WIDE=0", id="the same without AVX2"),
    ],
)
def test_rows_of_another_library(defines: str) -> None:
    cmake = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    folder = ROOT / "build" / defines.replace(" ", "")
    options = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS=-O1 -Werror {defines}"]
    subprocess.run([cmake, "-S", str(ROOT), "-B", str(folder), *options], check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(folder), "--parallel", "2"], check=True, capture_output=True)
    library = folder / "libpadops.so"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_rows.py"]
    environment = {**os.environ, "PADOPS_LIBRARY": str(library)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr
    assert f"padops: {library}" in ran.stdout
    assert int(re.search(r"=+ (\d+) passed in ", ran.stdout).group(1)) >= 40
