"""Tests in a process of their own, with another runtime than the installed one and the same library file.

By default it is the oldest that padops supports. It is downloaded once and kept under build/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import padops

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r'"onnxruntime>=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")).group(1)


def install(version: str = VERSION, package: str = "onnxruntime") -> Path:
    """A folder with one package of onnxruntime alone; whole, or not there."""
    folder = ROOT / "build" / f"{package}-{version}"
    if not folder.is_dir():
        folder.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--no-deps"]
            subprocess.run([*command, "--target", f"{made}/whole", f"{package}=={version}"], check=True)
            try:
                os.replace(f"{made}/whole", folder)
            except OSError:  # another process has been quicker
                assert folder.is_dir()
    return folder


def count_passed(*tests: str, version: str = VERSION) -> int:
    """Runs tests, none of which may fail; how many passed."""
    folder = install(version)
    environment = {**os.environ,
                   "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
                   "PADOPS_LIBRARY": padops.get_library_path()}  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr
    assert f"onnxruntime {version}: {folder}" in ran.stdout
    assert f"padops: {padops.get_library_path()}" in ran.stdout
    return int(re.search(r"=+ (\d+) passed in ", ran.stdout).group(1))  # nothing else is said where none was skipped
