"""The engine for minutes: random cases by the million, what clang's libFuzzer finds by coverage, every branch."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import Tally
from cpp_builds import CHECKS, ROOT, build, fuzzed_inputs

CASES = 500_000
SECONDS = 600
SOURCES = ROOT / "padops" / "csrc"


def made(name: str, target: str, *options: str) -> Path:
    """A folder with one program of the checks, built in its own way."""
    folder = ROOT / "build" / "engine" / name
    return build(folder, "-DCMAKE_BUILD_TYPE=None", *options, source=CHECKS, target=target)


def test_random_cases(tally: Tally) -> None:
    folder = made("fast", "engine_check", "-DCMAKE_CXX_FLAGS=-O2")
    command = [folder / "engine_check", "--count", str(CASES), "--seed", "1", "--every-way"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, done.stderr)
    tally("random Pads in every way through the engine", CASES, int(done.returncode != 0))


def test_fuzzer(tally: Tally, tmp_path: Path) -> None:
    clang = shutil.which("clang++")
    if clang is None:
        pytest.fail("no clang++ on the PATH: apt-get install clang libclang-rt-14-dev")
    options = ("-DENGINE_FUZZ=ON", f"-DCMAKE_CXX_COMPILER={clang}", "-DCMAKE_CXX_FLAGS=-O1 -g")
    folder = made("fuzz", "engine_fuzz", *options)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for i, line in enumerate((CHECKS / "corpus.hex").read_text(encoding="utf-8").splitlines()):
        (corpus / str(i)).write_bytes(bytes.fromhex(line))
    command = [folder / "engine_fuzz", corpus, f"-max_total_time={SECONDS}", "-max_len=300"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    print(done.stderr[-2_000:])
    tally("inputs of libFuzzer to the engine, with ASan and UBSan", fuzzed_inputs(done), int(done.returncode != 0))


# Where each way of the engine is; plan.cpp is the proofs' and the Python tests' business, and what processor.* does
# depends on the machine.
MEASURED = {
    path.name: path
    for pattern in ("copy/*", "core/engine.*", "core/streaming.*", "core/runs.cpp")
    for path in SOURCES.glob(pattern)
    if path.stem != "processor"
}


def branch_counts(folder: Path) -> dict[tuple[str, int], list[int]]:
    """How often each branch was taken, by file and line; that of a template is the sum of its instances."""
    taken: dict[tuple[str, int, int], list[list[int]]] = defaultdict(list)
    for data in folder.rglob("*.gcda"):
        command = ["gcov", "-b", "-c", "--json-format", "--stdout", data.name]
        done = subprocess.run(command, cwd=data.parent, capture_output=True, check=True)
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
    folder = made("coverage", "engine_check", "-DCMAKE_CXX_FLAGS=-g1 -O1", "-DENGINE_COVERAGE=ON")
    for data in folder.rglob("*.gcda"):
        data.unlink()
    subprocess.run([folder / "engine_check", "--count", "80000"], check=True)
    branches = {place: counts for place, counts in branch_counts(folder).items() if place[0] in MEASURED and counts}
    lines = {name: path.read_text(encoding="utf-8").splitlines() for name, path in MEASURED.items()}
    missed = {place for place, counts in branches.items() if 0 in counts}
    excused = {(name, number + 1) for name in MEASURED for number, line in enumerate(lines[name]) if "// never" in line}
    assert {f"{name}:{line}: {lines[name][line - 1].strip()}" for name, line in missed - excused} == set()
    assert excused <= missed, "the check takes a branch of which the line says that it is never taken"
    count = sum(map(len, branches.values()))
    print(f"{count - len(missed)} of {count} branches taken, {len(missed)} cannot be")
    assert count > 400
