"""``tests/cpp/engine_check.cpp``: the engine on random small tensors, in each build that the library can have.

Every task runs alone between pages that nobody may touch, so that a byte outside its part, a byte that two tasks write
and a byte that none writes show. The sizes that choose a way are parameters there: rows in parts, stores past the
caches, AVX2 and every writer are taken on a few kilobytes.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from cpp_builds import CHECKS, ROOT, build, fuzzed_inputs

SOURCES = ROOT / "padops" / "csrc"
BUILDS = ROOT / "build" / "engine"
CORPUS = CHECKS / "corpus.hex"

OF_THE_MACHINE = "processor"  # what it does depends on the machine
# Where each way of the engine is; plan.cpp is the proofs' and the Python tests' business.
MEASURED = {
    path.name: path
    for path in (
        *(path for path in (SOURCES / "copy").iterdir() if path.stem != OF_THE_MACHINE),
        *(SOURCES / "core").glob("engine.*"),
        *(SOURCES / "core").glob("streaming.*"),
        SOURCES / "core" / "runs.cpp",
    )
}


def built(name: str, flags: str = "-O1", options: tuple[str, ...] = ()) -> Path:
    all_options = ["-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS=-g1 {flags}", *options]
    return build(BUILDS / name, *all_options, source=CHECKS, target="engine_check")


def check(folder: Path, *arguments: object) -> str:
    """Runs the check; gives what it printed."""
    done = subprocess.run([folder / "engine_check", *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-5_000:]
    return done.stdout


def passed(output: str) -> int:
    return int(re.search(r"^(\d+) cases passed$", output, re.MULTILINE).group(1))


@pytest.fixture(scope="module")
def plain() -> Path:
    return built("plain", "-O3")  # as it ships


def test_every_way_is_right(plain: Path) -> None:
    assert passed(check(plain, "--count", 20_000, "--every-way")) == 20_000


def test_what_the_fuzzer_found_interesting_is_right(plain: Path) -> None:
    inputs = CORPUS.read_text(encoding="utf-8").splitlines()
    assert len(inputs) > 100
    assert passed(check(plain, "--replay", CORPUS)) == len(inputs)


def test_other_processors() -> None:
    """Without SSE2, and so without AVX2; test_other_compilers.py has clang, without AVX2 alone."""
    assert passed(check(built("portable", "-O1 -DPADOPS_SSE2=0"), "--count", 10_000, "--every-way")) == 10_000


def test_the_fuzzer_says_how_much_it_tried() -> None:
    """Where it ends well and does not, nobody knows whether it tried anything."""
    done = subprocess.CompletedProcess([], 0, "", "INFO: seed\nDone 41200 runs in 601 second(s)\n")
    assert fuzzed_inputs(done) == 41200
    assert fuzzed_inputs(subprocess.CompletedProcess([], 77, "", "ERROR: AddressSanitizer")) == 1
    with pytest.raises(AssertionError, match="no fuzzer at all"):
        fuzzed_inputs(subprocess.CompletedProcess([], 0, "", "no fuzzer at all"))


def test_addresses_and_undefined_behaviour() -> None:
    # Without optimisation it compiles in half the time, and no check is optimised away.
    folder = built("addresses", "-O0 -fsanitize=address,undefined -fno-sanitize-recover=all")
    assert passed(check(folder, "--count", 5_000)) == 5_000
    assert passed(check(folder, "--replay", CORPUS)) > 100


def test_threads() -> None:
    folder = built("threads", "-O1 -fsanitize=thread")
    assert passed(check(folder, "--count", 2_000, "--threads", 100)) == 2_000


def branch_counts(folder: Path) -> dict[tuple[str, int], list[int]]:
    """How often each branch was taken, by file and line; that of a template is the sum of its instances."""
    taken: dict[tuple[str, int, int], list[list[int]]] = defaultdict(list)
    for data in folder.rglob("*.gcda"):
        done = subprocess.run(
            ["gcov", "-b", "-c", "--json-format", "--stdout", data.name],
            cwd=data.parent,
            capture_output=True,
            check=True,
        )
        report = done.stdout if done.stdout[:1] == b"{" else gzip.decompress(done.stdout)
        for file in json.loads(report)["files"]:
            for line in file["lines"]:
                counts = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                taken[Path(file["file"]).name, line["line_number"], len(counts)].append(counts)
    sums: dict[tuple[str, int], list[int]] = defaultdict(list)
    for (name, line, _), counts in taken.items():
        sums[name, line] += [sum(instances) for instances in zip(*counts)]
    return sums


def test_every_branch_is_taken() -> None:
    """Each branch of the engine and of the writers, or the line says ``// never``, and why."""
    folder = built("coverage", options=("-DENGINE_COVERAGE=ON",))
    for data in folder.rglob("*.gcda"):
        data.unlink()
    assert passed(check(folder, "--count", 80_000)) == 80_000
    branches = {place: counts for place, counts in branch_counts(folder).items() if place[0] in MEASURED and counts}
    lines = {name: path.read_text(encoding="utf-8").splitlines() for name, path in MEASURED.items()}
    missed = {place for place, counts in branches.items() if 0 in counts}
    excused = {(name, number + 1) for name in MEASURED for number, line in enumerate(lines[name]) if "// never" in line}
    assert {f"{name}:{line}: {lines[name][line - 1].strip()}" for name, line in missed - excused} == set()
    assert excused <= missed, "the check takes a branch of which the line says that it is never taken"
    count = sum(map(len, branches.values()))
    print(f"{count - len(missed)} of {count} branches taken, {len(missed)} cannot be")
    assert count > 400
