"""Which fast tests look at a C++ source: the map from its place to what is built and run, the quickest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
Stage = tuple[str, ...]

CSRC = "padops/csrc/"
ENGINE = "copy/ core/engine core/runs core/streaming core/thresholds core/sharing core/walk"
# Each row: how paths begin, and the tests; a source has those of the first row that fits it.
NATIVE_TESTS = (
    (ENGINE, "csrc: inputs kernels"),
    ("core/provider_rules core/rule_files core/json ort/compiled_pad ort/pad_node",
     "csrc: describe runtime: provider_rules provider_in_front provider beside_real_providers"),
    ("ort/builtin_pad ort/provider",
     "runtime: provider provider_in_front placing session_optimizers inference_session"),
    ("ort/", "csrc: errors inputs describe kernels runtime: session provider placing csrc: sanitizers"),
    ("core/", "csrc: errors describe inputs kernels spec: specifications runtime: provider"),
)  # fmt: skip


def stages_of(file: str) -> Iterator[Stage]:
    """Yield what to build and run for a changed source: ``("build", target)``, ``("program", …)``, ``("pytest", …)``.

    Args:
        file: Its path from the checkout's root, below padops/csrc; coverage_map.py has the tests of Python.
    """
    place = file.removeprefix(CSRC)
    if place.startswith(tuple(ENGINE.split())):
        yield "build", "engine_check"
        yield "program", "engine_check", "--every-way"
        yield "program", "engine_check", "--replay", "tests/cpp/corpus.hex"
        # What is read or written where nobody may, though nothing comes of it.
        yield "pytest", "tests/csrc/test_sanitizers.py::test_the_engine"
    yield "build", "padops"
    yield "pytest", *named(next(tests for begins, tests in NATIVE_TESTS if place.startswith(tuple(begins.split()))))
    if place.startswith("ort/"):
        yield "build", "out_of_memory"
        yield ("program", "out_of_memory")


def named(tests: str) -> Iterator[str]:
    """The files of tests: of each ``folder:``, those whose names, without what all begin with, follow it.

    Raises:
        FileNotFoundError: There is no such file.
    """
    folder = ""
    for word in tests.split():
        if word.endswith(":"):
            folder = f"tests/{word[:-1]}"
            continue
        found = f"{folder}/test_{word}.py"
        if not (ROOT / found).is_file():
            raise FileNotFoundError(found)
        yield found
