"""``tests/cpp/out_of_memory.cpp``: each entry point of the library, with each of its allocations refused once.

It runs the operators and the execution provider in a runtime of its own, which counts what is allocated and not freed:
sessions that come and go must leave nothing, however little.
"""

from __future__ import annotations

import re
import subprocess

from cpp_builds import CHECKS, ROOT, build


def test_running_out_of_memory_is_a_status_with_a_message() -> None:
    """P10: no exception leaves the library, no failure is taken for a success, and what is released is gone."""
    options = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0")
    folder = build(ROOT / "build" / "out_of_memory", *options, source=CHECKS, target="out_of_memory")
    done = subprocess.run([folder / "out_of_memory"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"^(.*): (\d+) allocations$", done.stdout, re.MULTILINE))
    assert {"RegisterCustomOps", "padops_describe", "CreateKernelV2", "KernelComputeV2"} <= counts.keys()
    assert {"CreateEpFactories", "CreateEp", "GetCapability", "CreateKernelImpl", "Compute"} <= counts.keys()
    assert {"CreateEp of the first", "GetCapability of the first"} <= counts.keys()
    assert {"GetCustomOpDomains", "CreateEp of the operators"} <= counts.keys()
    assert len(counts) == 23 and "0" not in counts.values()
