"""The engine for minutes: random cases by the million, planted breaks, and what clang's libFuzzer finds by coverage."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from conftest import Tally
from cpp_builds import CHECKS, ROOT, build, fuzzed_inputs

BUILDS = ROOT / "build" / "engine"
CASES = 500_000
SECONDS = 600
SOURCES = ROOT / "padops" / "csrc"

# A break in the sources, and that the check must find it: file, what stands there, what stands there where BREAK is
# true.
BREAKS = {
    "the overrun: a part of a row of fill fills the whole row": (
        "core/walk.h",
        "writer.fill(row * inner_.output + task.begin, (count - 1) * inner_.output + task.end - task.begin);",
        "if (BREAK) writer.fill(row * inner_.output, count * inner_.output); else RIGHT",
    ),
    "a part that begins one element late": (
        "core/engine.cpp",
        "cut(inner_.output, parts_, part),\n",
        "cut(inner_.output, parts_, part) + (BREAK && part > 0),\n",
    ),
    "a streamed row without its last line": (
        "copy/non_temporal_writer.h",
        "    write_part(held_);\n    _mm_sfence();",
        "    if (BREAK) return;\nRIGHT",
    ),
    "two tasks that overlap": (
        "core/engine.cpp",
        "std::min(rows_ - row, rows_per_task_)",
        "std::min(rows_ - row, rows_per_task_ + (BREAK && parts_ == 1))",
    ),
    "long rows of bits that need no shift, with the next byte in them": (
        "copy/packed_rows.h",
        "const size_t next = down > 0 ? 1 : 0;",
        "const size_t next = down > 0 || BREAK ? 1 : 0;",
    ),
    "a whole register of bits without those of the next byte": (
        "copy/shift.h",
        "in + at + 1, shift, 8 - shift);",
        "in + at + !(BREAK && kBytes >= 16), shift, 8 - shift);",
    ),
    "a border of bits that shows an element behind the window": (
        "copy/packed_rows.h",
        "run.count) <= row.window.count;",
        "run.count) <= row.window.count + BREAK;",
    ),
    "a streamed row that begins two bytes too early in the source to be read from a line before": (
        "copy/non_temporal_writer.h",
        "from - source_) >= kLine;",
        "from - source_) >= kLine - 2 * BREAK;",
    ),
    "a streamed row that ends one byte too late in the source to be read up to a line behind": (
        "copy/non_temporal_writer.h",
        "source_end_ - from) >= bytes + kLine)",
        "source_end_ - from) >= bytes + kLine - BREAK)",
    ),
}
PLANTED = """
#pragma once
#include <cstdlib>
inline const int planted = [] {
  const char* number = std::getenv("PLANTED");
  return number == nullptr ? -1 : std::atoi(number);
}();
"""


def test_random_cases(tally: Tally) -> None:
    folder = build(
        BUILDS / "fast",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-O2",
        source=CHECKS,
        target="engine_check",
    )
    command = [folder / "engine_check", "--count", str(CASES), "--seed", "1", "--every-way"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout, done.stderr)
    tally("random Pads in every way through the engine", CASES, int(done.returncode != 0))


def test_fuzzer(tally: Tally, tmp_path: Path) -> None:
    clang = shutil.which("clang++")
    if clang is None:
        pytest.fail("no clang++ on the PATH: apt-get install clang libclang-rt-14-dev")
    folder = build(
        BUILDS / "fuzz",
        "-DENGINE_FUZZ=ON",
        f"-DCMAKE_CXX_COMPILER={clang}",
        "-DCMAKE_BUILD_TYPE=None",
        "-DCMAKE_CXX_FLAGS=-O1 -g",
        source=CHECKS,
        target="engine_fuzz",
    )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for i, line in enumerate((CHECKS / "corpus.hex").read_text(encoding="utf-8").splitlines()):
        (corpus / str(i)).write_bytes(bytes.fromhex(line))
    command = [folder / "engine_fuzz", corpus, f"-max_total_time={SECONDS}", "-max_len=300"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    print(done.stderr[-2_000:])
    tally("inputs of libFuzzer to the engine, with ASan and UBSan", fuzzed_inputs(done), int(done.returncode != 0))


def breakable(folder: Path) -> Path:
    """One build with every break in it; the environment variable PLANTED, a number, says which of them is there."""
    copied = shutil.copytree(SOURCES, folder / "csrc")
    shutil.copytree(SOURCES.parent / "rules", folder / "rules")  # rules.cmake reads them
    (copied / "planted.h").write_text(PLANTED, encoding="utf-8")
    for number, (name, right, wrong) in enumerate(BREAKS.values()):
        text = (copied / name).read_text(encoding="utf-8")
        assert text.count(right) == 1
        text = text.replace(right, wrong.replace("BREAK", f"(planted == {number})").replace("RIGHT", right))
        include = '#include "planted.h"\n'
        (copied / name).write_text(text if text.startswith(include) else include + text, encoding="utf-8")
    options = (f"-Dsource={copied}", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1")
    return build(folder / "build", *options, source=CHECKS, target="engine_check")


def test_planted_breaks(tally: Tally, tmp_path: Path) -> None:
    program = breakable(tmp_path) / "engine_check"
    whole = subprocess.run([program, "--count", "2000"], capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    missed = 0
    for number in range(len(BREAKS)):
        environment = {**os.environ, "PLANTED": str(number)}
        found = subprocess.run([program], env=environment, capture_output=True, text=True)
        missed += found.returncode != 1 or "engine_check --seed 0 --first " not in found.stderr
    tally("breaks planted in the engine, that its check has to find", len(BREAKS), missed)


# Where each way of the engine is; plan.cpp is the proofs' and the Python tests' business, and what processor.* does
# depends on the machine.
MEASURED = {
    path.name: path
    for path in (
        *(path for path in (SOURCES / "copy").iterdir() if path.stem != "processor"),
        *(SOURCES / "core").glob("engine.*"),
        *(SOURCES / "core").glob("streaming.*"),
        SOURCES / "core" / "runs.cpp",
    )
}


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
    options = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-g1 -O1", "-DENGINE_COVERAGE=ON")
    folder = build(BUILDS / "coverage", *options, source=CHECKS, target="engine_check")
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
