"""On what the times were taken."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def describe_machine() -> dict[str, str]:
    """Processor, its threads, and the versions of everything that was timed."""
    facts = {"processor": _processor(), "threads": str(len(os.sched_getaffinity(0)))}
    facts["python"] = platform.python_version()
    for package in ("padops", "onnxruntime", "numpy", "torch", "openvino"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "absent"
    return facts


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
