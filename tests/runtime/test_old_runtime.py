"""The same library file on the oldest runtime that padops supports: the kernel tests again, in a process of their own.

The runtime is downloaded once and kept under build/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnxruntime
import pytest

import padops

ROOT = Path(__file__).resolve().parents[2]
OLDEST = re.search(r'"onnxruntime>=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")).group(1)
KERNEL_TESTS = [
    f"tests/test_{name}.py"
    for name in (
        "kernels",
        "dialect_kernels",
        "inputs",
        "errors",
        "inference",
        "float16",
        "specifications",
        "specifications_dialects",
    )
]


@pytest.fixture(scope="module")
def oldest_runtime() -> Path:
    """A folder with onnxruntime alone; whole, or not there."""
    folder = ROOT / "build" / f"onnxruntime-{OLDEST}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps"]
            subprocess.run([*command, "--target", f"{made}/whole", f"onnxruntime=={OLDEST}"], check=True)
            os.replace(f"{made}/whole", folder)
    return folder


def test_kernels_on_the_oldest_runtime(oldest_runtime: Path) -> None:
    assert onnxruntime.__version__ != OLDEST
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(oldest_runtime), os.environ.get("PYTHONPATH")])),
        "PADOPS_LIBRARY": padops.get_library_path(),
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *KERNEL_TESTS]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    assert f"onnxruntime {OLDEST}: {oldest_runtime}" in ran.stdout
    assert f"padops: {padops.get_library_path()}" in ran.stdout
    passed = int(re.search(r"=+ (\d+) passed in ", ran.stdout).group(1))  # and none skipped or failed
    assert passed > 1300
