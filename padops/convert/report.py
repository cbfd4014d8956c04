"""The machine-readable report of a conversion."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from padops.convert.records import Conversion

SCHEMA = 1  # raised when a reader of an older report would misread a newer one
PACKAGES = ("padops", "onnx", "onnx-ir", "onnxruntime", "onnxruntime-extensions", "numpy")


def describe(conversion: Conversion) -> dict[str, Any]:
    """Everything about a conversion but the model itself, as JSON values."""
    counts = Counter(record.status for record in conversion.records)
    verification = conversion.verification
    return {
        "schema": SCHEMA,
        "versions": versions(),
        "source": {"files": [asdict(file) for file in conversion.sources], "opsets": conversion.opsets},
        "output": {
            "path": None if conversion.output is None else str(conversion.output),
            "files": [asdict(file) for file in conversion.outputs],
        },
        "counts": {name: counts[name] for name in ("converted", "already converted", "folded", "not needed", "left")},
        "pads": [
            {**asdict(record), "notes": list(record.notes), "into": list(record.into)} for record in conversion.records
        ],
        "verification": None
        if verification is None
        else {
            "outcome": verification.outcome,
            "passed": verification.passed,
            "outputs": [asdict(output) for output in verification.outputs],
            "inputs": list(verification.inputs),
            "notes": list(verification.notes),
        },
        "notes": list(conversion.notes),
    }


def versions() -> dict[str, str | None]:
    """Of Python and of the packages that have a say in a conversion; None for one that is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
