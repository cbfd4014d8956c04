"""Run a selection of the tests on the installed padops.

    python wheel_tests.py [NAME ...] [PYTEST ARGUMENTS]

The self-check of the library comes first. With NAMEs from CHOSEN, only these tests run, without the self-check. The
tests check the results of the kernels and of the two ways into a session, and build nothing in C++. cibuildwheel runs
this script with each new wheel, and scripts/run_wheels.py runs it under an emulator.
"""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
NAMES = {
    "csrc": ("describe", "inputs", "kernels", "property"),
    "runtime": ("provider", "session"),
    "spec": ("plan", "shapes", "specifications"),
}
CHOSEN = [f"{folder}/test_{name}" for folder, names in NAMES.items() for name in names]
if sys.platform == "linux":
    CHOSEN.append("csrc/test_errors")  # reads /proc


def main(arguments: list) -> int:
    """Runs the self-check and the tests, or only the named tests; returns the exit code."""
    if "--help" in arguments:
        print(__doc__.strip())
        return 0
    import pytest

    from padops.cli import main as padops

    named = [name for name in arguments if name in CHOSEN]
    if not named and (code := padops(["info"])):
        return code
    files = [str(TESTS / f"{name}.py") for name in named or CHOSEN]
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={TESTS.parent}"]
    return int(pytest.main([*options, *files, *(x for x in arguments if x not in CHOSEN)]))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # under QEMU, some programs crash while their libraries unload
