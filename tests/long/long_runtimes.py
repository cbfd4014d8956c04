"""The execution provider on other runtimes than the installed one, with the same library file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "processes"))

import oldest_runtime

REFUSED = ("runtime/test_provider_versions",)
PROVIDED = (*REFUSED, "runtime/test_provider", "runtime/test_inference_session")


@pytest.mark.parametrize(
    "version", ["1.20.1", "1.22.1", "1.23.2", "1.24.1", "1.24.4", "1.25.1", "1.26.0", "1.27.0", "1.30.0"]
)
def test_runtime(tally, version: str) -> None:
    minor = int(re.fullmatch(r"1\.(\d+)\.\d+", version)[1])
    names = PROVIDED if minor >= 24 else REFUSED
    passed = oldest_runtime.count_passed(*(f"tests/{name}.py" for name in names), version=version)
    what = "tests of the execution provider" if minor >= 24 else "tests that it is refused with a reason"
    tally(f"onnxruntime {version}: {what}", passed, 0)
