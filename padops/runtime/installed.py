"""Which packages are installed, told without importing them."""

from __future__ import annotations

import platform
from functools import cache

from padops.extras import RUNTIMES, names_of, version_of

PACKAGES = ("padops", "onnx", "onnx-ir", "onnxruntime", "onnxruntime-extensions", "numpy")
OLDEST_MINOR, NEWEST_MINOR = 20, 32  # that padops has been measured with


def installed_version() -> tuple[str, str] | None:
    """The name and the version of the first distribution with a module onnxruntime that is installed, or None."""
    return next(((name, found) for name in RUNTIMES if (found := version_of(name))), None)


def installed_minor() -> int:
    """The minor version of the installed onnxruntime 1.x; where none is installed, that of the newest known one."""
    found = installed_version()
    if found is None:
        return NEWEST_MINOR
    major, minor = found[1].split(".")[:2]
    return int(minor) if major == "1" else NEWEST_MINOR


def versions() -> dict[str, str | None]:
    """Of Python and of the packages that have a say in a conversion; None for one that is not installed."""
    return {"python": platform.python_version(), **{package: _version(package) for package in PACKAGES}}


@cache
def _version(package: str) -> str | None:
    """Of the first distribution that brings it."""
    return next(filter(None, map(version_of, names_of(package))), None)
