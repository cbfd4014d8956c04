"""The engine for minutes: random cases by the million, and what clang's libFuzzer finds by coverage."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Tally
from cpp_builds import CHECKS, ROOT, build, fuzzed_inputs

BUILDS = ROOT / "build" / "engine"
CASES = 500_000
SECONDS = 600


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
