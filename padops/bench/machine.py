"""The machine on which the times were measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from padops.extras import RUNTIMES, version_of

_PACKAGES = ("padops", *RUNTIMES, "numpy", "torch", "openvino", "tensorflow", "tensorflow-cpu")


def describe_machine() -> dict[str, str]:
    """The CPU, its threads, and the versions of all installed implementations."""
    facts = {"processor": _processor(), "threads": str(count_threads()), "python": platform.python_version()}
    for package in _PACKAGES:
        if (found := version_of(package)) is not None:
            facts[package] = found
    return facts


def count_threads() -> int:
    """The number of threads that this process may run at once."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
