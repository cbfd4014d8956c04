"""The command ``padops`` in a process of its own, and places where nothing can be written."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def padops(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "padops", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run(command, text=True, encoding="utf-8", errors="surrogateescape", timeout=600, **streams)


def make_device(path: Path) -> None:
    """What /dev/full is, under another name."""
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("only root makes a device")


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A file system of so many bytes; a run that may not mount one skips the test."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if done.returncode:
        pytest.skip("only root mounts a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
