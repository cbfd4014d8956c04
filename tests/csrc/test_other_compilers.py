"""What Microsoft's compiler gets to see: clang reads the library in that compiler's place, with its names alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from cpp_builds import ROOT

SOURCES = ROOT / "padops" / "csrc"
FOLDERS = ("copy", "core", "ort")
CLANG = shutil.which("clang++")
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


def test_the_library_takes_no_names_of_gcc(tmp_path: Path) -> None:
    (tmp_path / "prelude.h").write_text(PRELUDE, encoding="utf-8")
    (tmp_path / "intrin.h").write_text(INTRINSICS, encoding="utf-8")
    sources = [path for folder in FOLDERS for path in sorted((SOURCES / folder).glob("*.cpp"))]
    sources.remove(SOURCES / "ort" / "ort_abi_check.cpp")  # reads the official header of onnxruntime
    assert len(sources) > 15
    command = [CLANG, "-std=c++20", "-fms-extensions", "-fsyntax-only", f"-I{tmp_path}", f"-I{SOURCES}"]
    command.append('-DPADOPS_VERSION="0"')
    done = subprocess.run([*command, "-include", tmp_path / "prelude.h", *sources], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
