"""What Microsoft's compiler gets to see: clang reads the library in that compiler's place, with its names alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from cpp_builds import CHECKS, ROOT, cmake, well
from needs import CLANG

SOURCES = ROOT / "padops" / "csrc"
pytestmark = pytest.mark.needs(CLANG)
# The standard library is included as it is here. After that the compiler is another one.
PRELUDE = """
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#undef __GNUC__
#define _MSC_VER 1940
"""
INTRINSICS = """
#pragma once
#include <cstddef>
void __movsb(unsigned char* target, const unsigned char* source, size_t bytes);
void __cpuid(int* registers, int leaf);
void __cpuidex(int* registers, int leaf, int part);
"""

# What that compiler has of its own, for programs that run.
STAND_INS = """
#include <cstddef>
void __movsb(unsigned char* target, const unsigned char* source, size_t bytes) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}
void __cpuidex(int* r, int leaf, int part) {
  asm volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(part));
}
void __cpuid(int* registers, int leaf) { __cpuidex(registers, leaf, 0); }
"""
ENGINE = (SOURCES / "copy" / "processor.cpp", *sorted((SOURCES / "core").glob("*.cpp")))


def test_the_library_takes_no_names_of_gcc(tmp_path: Path) -> None:
    """Beside the engine, which the next test compiles."""
    every = [path for folder in ("copy", "core", "ort") for path in sorted((SOURCES / folder).glob("*.cpp"))]
    every.remove(SOURCES / "ort" / "ort_abi_check.cpp")  # reads the official header of onnxruntime
    sources = [*(path for path in every if path not in ENGINE), table_of_rules(tmp_path)]
    assert len(sources) > 8 and len(every) > 20
    assert well(*as_that_compiler(tmp_path), "-fsyntax-only", as_one(tmp_path / "all.cpp", sources)) == ""


def test_its_loops_are_right(tmp_path: Path) -> None:
    """They have no vectors of the compiler's. The checks know no AVX2, as that compiler does not."""
    (tmp_path / "stand_ins.cpp").write_text(STAND_INS, encoding="utf-8")
    check = [CHECKS / f"{name}.cpp" for name in ("engine_check", "engine_case", "random_case")]
    check += [tmp_path / "stand_ins.cpp", table_of_rules(tmp_path)]
    objects = [tmp_path / "engine.o", tmp_path / "check.o"]
    engine, program = as_one(tmp_path / "engine.cpp", ENGINE), as_one(tmp_path / "check.cpp", check)
    assert well(*as_that_compiler(tmp_path), "-O0", "-c", engine, "-o", objects[0]) == ""
    assert well(CLANG, "-std=c++20", f"-I{SOURCES}", "-DPADOPS_AVX2=0", "-O0", "-c", program, "-o", objects[1]) == ""
    program = tmp_path / "engine_check"
    assert well(CLANG, *objects, "-pthread", "-o", program) == ""
    assert well(program, "--count", 1_000, "--every-way").endswith("\n1000 cases passed\n")


def as_one(path: Path, sources: Iterable[Path]) -> Path:
    """Writes a source that includes others, which is read quicker than they are."""
    path.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    return path


def table_of_rules(folder: Path) -> Path:
    """The source that CMake makes from padops/rules/."""
    well(cmake(), "-S", ROOT, "-B", folder / "build")
    return folder / "build" / "rules.cpp"


def as_that_compiler(folder: Path) -> list[object]:
    (folder / "prelude.h").write_text(PRELUDE, encoding="utf-8")
    (folder / "intrin.h").write_text(INTRINSICS, encoding="utf-8")
    options = ["-std=c++20", "-fms-extensions", '-DPADOPS_VERSION="0"', f"-I{folder}", f"-I{SOURCES}"]
    return [CLANG, *options, "-include", folder / "prelude.h"]
