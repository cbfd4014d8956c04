"""Run a choice of the tests on the padops that is installed, wherever that is.

    python wheel_tests.py [PYTEST ARGUMENTS]

The self-check of the library comes first. The tests are those that say what the kernels and the two ways into a session
give, and build nothing in C++. cibuildwheel runs this with each wheel that it has built, and
scripts/run_wheels.py under an emulator.
"""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
NAMES = {
    "csrc": ("describe", "dialect_kernels", "float16", "inference", "inputs", "interior", "kernels", "property", "rows"),
    "runtime": ("provider", "session"),
    "spec": ("plan", "shapes", "specifications", "specifications_dialects"),
}
CHOSEN = [f"{folder}/test_{name}" for folder, names in NAMES.items() for name in names]
if sys.platform == "linux":
    CHOSEN.append("csrc/test_errors")  # which reads /proc
BUILDS = ("csrc/test_float16.py::test_rounding_of_every_float16_and_its_neighbours",)  # a library of its own


def main(arguments: list) -> int:
    """The self-check and the tests; their exit code."""
    import pytest

    from padops.cli import main as padops

    if code := padops(["info"]):
        return code
    chosen = [str(TESTS / f"{name}.py") for name in CHOSEN]
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={TESTS.parent}"]
    options += [f"--deselect=tests/{name}" for name in BUILDS]
    return int(pytest.main([*options, *chosen, *arguments]))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # QEMU ends some programs with a fault while their libraries are taken down
