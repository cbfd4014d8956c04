"""All native code with AddressSanitizer and UndefinedBehaviorSanitizer, and what threads share with ThreadSanitizer.

The first bad access ends a process, and so fails its test. Each kind has one build, which stays under build/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cpp_builds import CHECKS, ROOT, build, well

# Random Pads of every operator and type, and what reads nodes and inputs.
TESTS = [
    *(f"tests/csrc/test_{name}.py" for name in ("inputs", "errors", "property")),
    *(f"tests/runtime/test_{name}.py" for name in ("provider", "provider_in_front", "placing")),
]
EXAMPLES = 60


def built(kind: str, target: str, flags: str) -> Path:
    # Not optimised and not inlined, it compiles in half the time, and no check is optimised away.
    flags = f"-g1 -O0 -DPADOPS_INLINE=inline {flags}"
    options = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON", f"-DCMAKE_CXX_FLAGS={flags}"]
    return build(ROOT / "build" / kind, *options, source=CHECKS, target=target)


def addresses(target: str) -> Path:
    flags = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    return built("addresses", target, flags)


def threads(target: str) -> Path:
    return built("threads", target, "-fsanitize=thread") / target


def test_the_engine() -> None:
    """Without sizes to choose a way, as the library runs; test_engine_check.py takes every way."""
    program = addresses("engine_check") / "engine_check"
    assert well(program, "--count", 2_000).endswith("\n2000 cases passed\n")
    well(program, "--replay", CHECKS / "corpus.hex")


def test_running_out_of_memory_is_a_status_with_a_message() -> None:
    """P10: no exception leaves the library, no failure is taken for a success, and what is released is gone."""
    told = well(addresses("out_of_memory") / "out_of_memory")
    counts = dict(re.findall(r"^(.*): (\d+) allocations$", told, re.MULTILINE))
    assert {"RegisterCustomOps", "padops_describe", "CreateKernelV2", "KernelComputeV2"} <= counts.keys()
    assert {"CreateEpFactories", "CreateEp", "GetCapability", "CreateKernelImpl", "Compute"} <= counts.keys()
    assert {"CreateEp of the first", "GetCapability of the first"} <= counts.keys()
    assert {"GetCustomOpDomains", "CreateEp of the operators"} <= counts.keys()
    assert len(counts) == 23 and "0" not in counts.values()


def test_kernels() -> None:
    library = addresses("padops") / "libpadops.so"
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    libraries = ("libasan.so", "libstdc++.so.6")
    found = [subprocess.check_output([compiler, f"-print-file-name={name}"], text=True).strip() for name in libraries]
    environment = {
        **os.environ,
        "PADOPS_LIBRARY": str(library),
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
    assert f"padops: {library}" in ran.stdout
    assert int(re.search(r"=+ (\d+) passed", ran.stdout).group(1)) > 250


def test_threads_of_the_engine() -> None:
    assert well(threads("engine_check"), "--count", 400, "--threads", 40).endswith("\n400 cases passed\n")


def test_threads_that_make_both_providers() -> None:
    """A runtime that is built without ThreadSanitizer, as ONNX Runtime is, would hide what it orders: ours is not."""
    assert well(threads("provider_threads"), 8, 40) == "no mistake\n"
