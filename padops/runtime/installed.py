"""Reports padops' own rules, the processor, and installed packages' versions, but does not import the packages."""

from __future__ import annotations

import json
import platform
from functools import cache
from pathlib import Path
from typing import Any

from padops.extras import names_of, version_of

RULES = Path(__file__).resolve().parent.parent / "rules"  # how each execution provider handles Pads, as data
PACKAGES = ("padops", "onnx", "onnx-ir", "onnxruntime", "onnxruntime-extensions", "numpy")


def read_rules(name: str) -> dict[str, Any]:
    """Return the content of the file ``padops/rules/{name}.json``."""
    content: dict[str, Any] = json.loads((RULES / f"{name}.json").read_text(encoding="utf-8"))
    return content


_MEASURED = read_rules("cpu")["releases"]  # of onnxruntime 1.x
OLDEST_MINOR, NEWEST_MINOR = int(_MEASURED["oldest"]), int(_MEASURED["newest"])


@cache
def installed_version(package: str = "onnxruntime") -> tuple[str, str] | None:
    """Return the name and version of the first installed distribution of a package; None if none is installed."""
    return next(((name, found) for name in names_of(package) if (found := version_of(name))), None)


def installed_minor() -> int:
    """Return the minor version of the installed onnxruntime 1.x; without an installed 1.x, the newest known version."""
    found = installed_version()
    if found is None:
        return NEWEST_MINOR
    major, minor = found[1].split(".")[:2]
    return int(minor) if major == "1" else NEWEST_MINOR


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that affect a conversion; None for a missing package.

    If a distribution's name differs from its package's, the distribution's name stands in parentheses after the
    version.
    """
    told: dict[str, str | None] = {"python": platform.python_version()}
    for package in PACKAGES:
        name, version = installed_version(package) or (package, None)
        told[package] = version if name == package else f"{version} ({name})"
    return told


def processor() -> str:
    """Return the name of this machine's processor, if the system reports it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
