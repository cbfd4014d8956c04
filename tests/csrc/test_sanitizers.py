"""The kernel tests once more with AddressSanitizer and UndefinedBehaviorSanitizer in the library: not one bad access.

The first bad access ends the process, and so fails the run. The build stays under build/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

from cpp_builds import ROOT, build

# Random Pads of every operator and type, and what reads nodes and inputs. How elements move is test_engine_check.py's
# business, under both sanitizers.
TESTS = [
    *(f"tests/csrc/test_{name}.py" for name in ("inputs", "errors", "property")),
    *(f"tests/runtime/test_{name}.py" for name in ("provider", "provider_in_front", "placing")),
]
EXAMPLES = 60


def test_kernels_with_sanitizers() -> None:
    # Without optimisation it compiles in half the time, and no check is optimised away; Python takes most of the run.
    options = ["-DPADOPS_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0"]
    sanitized = build(ROOT / "build" / "sanitize", *options) / "libpadops.so"
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    libraries = ("libasan.so", "libstdc++.so.6")
    found = [subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip() for name in libraries]
    environment = {
        **os.environ,
        "PADOPS_LIBRARY": str(sanitized),
        "PADOPS_EXAMPLES": str(EXAMPLES),
        # Python itself is built without sanitizers: theirs comes first, and libstdc++ beside it for their exceptions.
        "LD_PRELOAD": ":".join(found),
        # Python keeps memory until its end; sizes beyond the memory are tested on purpose.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    # Other providers are no libraries for a sanitizer. Without capture, no word that a sanitizer says at last is lost.
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not needs_environment", "--capture=no"]
    command += TESTS
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-10_000:] + ran.stderr[-20_000:]
    assert f"padops: {sanitized}" in ran.stdout
    assert int(re.search(r"=+ (\d+) passed", ran.stdout).group(1)) > 250
