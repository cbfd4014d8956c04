"""Which onnxruntime is installed, told without importing it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

# All of them bring the module onnxruntime.
DISTRIBUTIONS = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-qnn",
    "onnxruntime-rocm",
    "onnxruntime-migraphx",
    "onnxruntime-training",
)
NEWEST_MINOR = 32  # that padops has been measured with


def installed_version() -> tuple[str, str] | None:
    """The name and the version of the first of these packages that is installed, or None."""
    for name in DISTRIBUTIONS:
        try:
            return name, version(name)
        except PackageNotFoundError:
            continue
    return None


def installed_minor() -> int:
    """The minor version of the installed onnxruntime 1.x; where none is installed, that of the newest known one."""
    found = installed_version()
    if found is None:
        return NEWEST_MINOR
    major, minor = found[1].split(".")[:2]
    return int(minor) if major == "1" else NEWEST_MINOR
