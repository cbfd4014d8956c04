"""docs/languages.md: its programs in C++ and JavaScript are built and run as the page says, outside of CMake.

``tests/long/long_languages.py`` runs those in C# and Java.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import peers
import pytest
from cpp_builds import CHECKS, ROOT, build
from document_blocks import blocks
from onnx import parser

import padops
from padops.runtime.provider import EP_NAMES, FIRST_MINOR, runtime_minor

SHOWN = {block.language: block.code for block in blocks(ROOT / "docs" / "languages.md")}
with_providers = pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="it does not know the providers")
REFLECTED = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 2)), "reflect").reshape(-1).tolist()


REFLECT = (
    '<ir_version: 10, opset_import: ["" : 18]> g ({0}[2, {1}] x) => ({0}[2, {2}] y) '
    '<int64[4] p = {3}> {{ y = Pad <mode = "reflect"> (x, p) }}'
)


def reflected(kind: str) -> onnx.ModelProto:
    return parser.parse_model(REFLECT.format(kind, 3, 9, "{0, 4, 0, 2}"))


# --- C++ -------------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_program() -> None:
    assert SHOWN["cpp"] == (CHECKS / "provider.cpp").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the line of the page has built the program, beside a header and the runtime of the wheel."""
    folder = tmp_path_factory.mktemp("languages")
    (folder / "provider.cpp").write_text(SHOWN["cpp"], encoding="utf-8")
    (folder / "onnxruntime" / "lib").mkdir(parents=True)
    shutil.copytree(CHECKS / "stand_in", folder / "onnxruntime" / "include")
    for part in ("include", "cmake"):
        shutil.copytree(ROOT / "padops" / part, folder / "padops" / part)
    (runtime,) = (Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / "onnxruntime" / "lib" / name).symlink_to(runtime)
    (line,) = re.findall(r"^// +(g\+\+ .*)$", SHOWN["cpp"], re.MULTILINE)
    done = subprocess.run([*line.split(), "-Wall", "-Werror"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def ran(folder: Path, model: onnx.ModelProto) -> subprocess.CompletedProcess[str]:
    onnx.save(model, folder / "model.onnx")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder / "onnxruntime" / "lib")}
    command = ["./provider", padops.get_library_path(), "model.onnx"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@with_providers
@pytest.mark.parametrize("form", ["as it is", "converted", "without fallback"])
def test_cpp(built: Path, form: str) -> None:
    """onnxruntime alone runs none of the three: the first for its int16, the last for its operator."""
    model = reflected("int16")
    if form != "as it is":
        model = padops.convert(model, fallback=form == "converted").proto()
        assert {node.domain for node in model.graph.node} == {"padops"}
    done = ran(built, model)
    assert (done.returncode, done.stderr) == (0, "")
    assert [int(value) for value in done.stdout.split()] == REFLECTED


@with_providers
def test_cpp_says_what_is_wrong(built: Path) -> None:
    model = parser.parse_model(REFLECT.format("int16", "n", "a", "{0, 0, 0, -4}"))
    done = ran(built, padops.convert(model, fallback=False).proto())
    assert (done.returncode, done.stdout) == (1, "")
    assert "axis 1 would have -1 elements (begin 0, size 3, interior 0, end -4) [P1]" in done.stderr


def test_cpp_builds_from_the_cmake_package(built: Path) -> None:
    (built / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\nproject(program CXX)\nadd_executable(provider provider.cpp)\n"
        "target_include_directories(provider PRIVATE onnxruntime/include)\n"
        "target_link_libraries(provider PRIVATE ${CMAKE_SOURCE_DIR}/onnxruntime/lib/libonnxruntime.so)\n"
        f'{SHOWN["cmake"]}file(WRITE path.txt "${{padops_LIBRARY}}")\n',
        encoding="utf-8",
    )
    (built / "padops" / "libpadops.so").symlink_to(padops.get_library_path())
    build(built / "build", f"-Dpadops_ROOT={built / 'padops'}", source=built)
    assert os.path.samefile((built / "path.txt").read_text(encoding="utf-8"), padops.get_library_path())


def test_the_programs_name_the_providers() -> None:
    """Of C# and Java, which are not run here, the names at least are right; the first two, and the CPU's last."""
    expected = [EP_NAMES[2], EP_NAMES[0], "CPUExecutionProvider"]
    header = (ROOT / "padops" / "include" / "padops.h").read_text(encoding="utf-8")
    macros = dict(re.findall(r'^#define (\w+_PROVIDER) "(\w+)"', header, re.MULTILINE))
    assert sorted(macros.values()) == sorted(EP_NAMES)
    for language in ("cpp", "csharp", "java"):
        code = re.sub(r"PADOPS_\w+_PROVIDER", lambda name: f'"{macros[name[0]]}"', SHOWN[language])
        assert re.findall(r'"(\w+ExecutionProvider)"', code) == expected, language


# --- JavaScript ------------------------------------------------------------------------------------------------------


@pytest.mark.needs_environment("onnxruntime-web")
def test_javascript(tmp_path: Path) -> None:
    padops.convert(reflected("float"), tmp_path / "lowered.onnx", target="onnx", without_pad=True)
    (tmp_path / "program.mjs").write_text(SHOWN["javascript"], encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(peers.folder_of("onnxruntime-web") / "node_modules")
    command = ["node", "program.mjs", "lowered.onnx"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert [int(value) for value in done.stdout.split()] == REFLECTED
