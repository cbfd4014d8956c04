"""``tests/cpp/provider_threads.cpp`` makes both execution providers in many threads at once, under ThreadSanitizer.

It runs in a runtime of our own: one that is built without the sanitizer, as ONNX Runtime is, would hide what it orders.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cpp_builds import CHECKS, ROOT, build

OPTIONS = (
    "-DCMAKE_BUILD_TYPE=None",
    "-DCMAKE_CXX_FLAGS=-O0 -g -fsanitize=thread",
    "-DCMAKE_EXE_LINKER_FLAGS=-fsanitize=thread",
)


@pytest.fixture(scope="module")
def folder() -> Path:
    return build(ROOT / "build" / "provider_threads", *OPTIONS, source=CHECKS, target="provider_threads")


def test_threads_that_make_both_providers(folder: Path) -> None:
    done = subprocess.run([folder / "provider_threads", "8", "40"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "no mistake\n"), done.stdout + done.stderr[-10_000:]
