"""Which onnxruntime is installed, told without importing it."""

from __future__ import annotations

from padops.extras import RUNTIMES, version_of

NEWEST_MINOR = 32  # that padops has been measured with


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
