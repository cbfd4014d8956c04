"""Folders of packages for a Python without site-packages: padops beside chosen packages and no others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import padops

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(np.__file__).resolve().parents[1]  # where this environment has its packages
NOT_INSTALLED = shutil.ignore_patterns("csrc", "__pycache__")


def make_site(folder: Path, *packages: str, library: bool = True) -> Path:
    """A folder with an installed padops, NumPy and these packages of this environment.

    Args:
        folder: To be made.
        packages: Folders of this environment's packages.
        library: Whether padops has its library.
    """
    shutil.copytree(ROOT / "padops", folder / "padops", ignore=NOT_INSTALLED)
    if library:
        shutil.copy(padops.get_library_path(), folder / "padops")
    state_distribution(folder, "padops", padops.__version__)
    link_packages(folder, "numpy", "numpy.libs", *packages)
    return folder


def link_packages(folder: Path, *packages: str) -> None:
    """Puts packages of this environment into a folder, as links; those that a platform does not have stay out."""
    for package in packages:
        if (INSTALLED / package).is_dir():
            (folder / package).symlink_to(INSTALLED / package)


def state_distribution(folder: Path, name: str, version: str) -> None:
    """Has a distribution count as installed there."""
    metadata = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def run_python(site: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """This Python, with the packages of one folder and no others.

    Args:
        site: The folder.
        arguments: Of Python.
        cwd: Where it runs.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PADOPS_LIBRARY"}
    command = [sys.executable, "-S", *map(str, arguments)]
    environment = kept | {"PYTHONPATH": str(site)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
