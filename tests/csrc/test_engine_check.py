"""``tests/cpp/engine_check.cpp``: the engine on random small tensors, as it ships and for other processors.

Every task runs alone between pages that nobody may touch, so that a byte outside its part, a byte that two tasks write
and a byte that none writes show. The sizes that choose a way are parameters there: rows in parts, stores past the
caches, AVX2 and every writer are taken on a few kilobytes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cpp_builds import CHECKS, ROOT, build, well

CORPUS = CHECKS / "corpus.hex"


def built(name: str, option: str) -> Path:
    folder = ROOT / "build" / "engine" / name
    return build(folder, "-DCMAKE_BUILD_TYPE=None", option, source=CHECKS, target="engine_check")


def passed(folder: Path, *arguments: object) -> int:
    """Runs the check; gives how many cases passed."""
    return int(re.search(r"^(\d+) cases passed$", well(folder / "engine_check", *arguments), re.MULTILINE).group(1))


@pytest.fixture(scope="module")
def plain() -> Path:
    """With the objects of the installed library, as it ships."""
    (objects,) = (ROOT / "build").glob("py3-none-*/CMakeFiles/padops.dir")
    return built("plain", f"-DLIBRARY_OBJECTS={objects}")


def test_every_way_is_right(plain: Path) -> None:
    assert passed(plain, "--count", 8_000, "--every-way") == 8_000


def test_what_the_fuzzer_found_interesting_is_right(plain: Path) -> None:
    inputs = CORPUS.read_text(encoding="utf-8").splitlines()
    assert len(inputs) > 100
    assert passed(plain, "--replay", CORPUS) == len(inputs)


def test_other_processors() -> None:
    """Without SSE2, and so without AVX2; test_other_compilers.py has clang, without AVX2 alone."""
    portable = built("portable", "-DCMAKE_CXX_FLAGS=-O0 -DPADOPS_INLINE=inline -DPADOPS_SSE2=0")
    assert passed(portable, "--count", 4_000, "--every-way") == 4_000
