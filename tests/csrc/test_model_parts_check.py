"""``tests/cpp/model_parts_check.cpp``: a session's search of a model reads no byte outside it, damaged or not."""

from __future__ import annotations

import subprocess

from cpp_builds import CHECKS, ROOT, build


def test_no_byte_outside_of_a_model_is_read() -> None:
    """20,000 random models, whole and damaged, under AddressSanitizer and UndefinedBehaviorSanitizer."""
    flags = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all"
    options = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={flags}"]
    folder = build(ROOT / "build" / "model_parts", *options, source=CHECKS, target="model_parts_check")
    done = subprocess.run([folder / "model_parts_check"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "20000 cases passed\n"), done.stderr[-5_000:]
