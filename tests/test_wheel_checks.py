"""The checks of ``scripts/build_wheels.py`` on small libraries and wheels: right ones, and one for each fault."""

from __future__ import annotations

import importlib
import platform
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import made_libraries
import pytest
from made_libraries import ENTRY_POINTS

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
LINUX = f"linux-{platform.machine()}"
MORE = (*ENTRY_POINTS, "_Znwm")
SHOWS_MORE = "its library exports ['CreateEpFactories', 'RegisterCustomOps', 'ReleaseEpFactory', '_Znwm', "

if platform.system() != "Linux":
    pytest.skip("the libraries are made by a compiler for Linux", allow_module_level=True)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("build_wheels")


def only(wrong: list[str]) -> str:
    """The one thing that is wrong."""
    (found,) = wrong
    return found


# --- libraries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"exports": MORE}, SHOWS_MORE),
        ({"exports": ENTRY_POINTS[1:]}, "its library exports ['RegisterCustomOps', "),
        ({"needed": "libstdc++.so.6"}, "its library needs libstdc++.so.6"),
        ({"version": "GLIBC_2.29"}, "its library needs GLIBC_2.29"),
        ({"version": "CXXABI_1.3"}, "its library needs CXXABI_1.3"),
    ],
)
def test_of_linux(changed: dict[str, Any], text: str, tmp_path: Path, script: ModuleType) -> None:
    target = script.TARGETS[LINUX]
    assert script.wrong_with_library(made_libraries.elf(tmp_path, version="GLIBC_2.28"), target) == []
    assert only(script.wrong_with_library(made_libraries.elf(tmp_path, **changed), target)).startswith(text)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"exports": MORE}, SHOWS_MORE),
        ({"needed": ["/opt/lib/libc++.1.dylib"]}, "its library needs /opt/lib/libc++.1.dylib"),
        ({"needed": ["@rpath/libomp.dylib"]}, "its library needs @rpath/libomp.dylib"),
        ({"signed": False}, "its library has no signature"),
        ({"processor": 0x01000007}, "its library is MACHO X86_64, expected MACHO ARM64"),
    ],
)
def test_of_macos(changed: dict[str, Any], text: str, script: ModuleType) -> None:
    """The library's own name, @rpath/libpadops.so, is no dependency, and symbols of Zig's linker are allowed."""
    target = script.TARGETS["macos-arm64"]
    assert script.wrong_with_library(made_libraries.macho(), target) == []
    of_zig = (*ENTRY_POINTS, "_mh_dylib_header", "__dso_handle")
    assert script.wrong_with_library(made_libraries.macho(of_zig), target) == []
    assert only(script.wrong_with_library(made_libraries.macho(**changed), target)).startswith(text)


def test_of_macos_on_intel(script: ModuleType) -> None:
    """Which loads libraries without a signature."""
    library = made_libraries.macho(processor=0x01000007, signed=False)
    assert script.wrong_with_library(library, script.TARGETS["macos-x86_64"]) == []


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"exports": MORE}, SHOWS_MORE),
        ({"needed": ["KERNEL32.dll", "libgcc_s_seh-1.dll"]}, "its library needs libgcc_s_seh-1.dll"),
        ({"machine": "I386"}, "its library is PE I386, expected PE "),
    ],
)
@pytest.mark.parametrize("processor", ["AMD64", "ARM64"])
def test_of_windows(changed: dict[str, Any], text: str, processor: str, script: ModuleType) -> None:
    target = script.TARGETS[f"windows-{processor.lower()}"]
    assert script.wrong_with_library(made_libraries.pe(machine=processor), target) == []
    library = made_libraries.pe(**{"machine": processor, **changed})
    assert only(script.wrong_with_library(library, target)).startswith(text)


def test_of_another_system(script: ModuleType) -> None:
    wrong = script.wrong_with_library(made_libraries.macho(), script.TARGETS["windows-amd64"])
    assert wrong[0] == "its library is MACHO ARM64, expected PE AMD64"


def test_of_no_system(script: ModuleType) -> None:
    wrong = script.wrong_with_library(b"no library at all", script.TARGETS["windows-amd64"])
    assert wrong == ["its library is of no format that is known"]


def test_a_large_one(tmp_path: Path, script: ModuleType) -> None:
    content = made_libraries.elf(tmp_path)
    content += bytes(script.MAX_BYTES + 1 - len(content))
    wrong = script.wrong_with_library(content, script.TARGETS[LINUX])
    assert wrong == ["its library has 1,048,577 bytes, expected at most 1,048,576"]


# --- wheels ----------------------------------------------------------------------------------------------------------


def wheel(folder: Path, target: Any, library: bytes, tags: str = "", told: str = "") -> Path:
    """A wheel for a target; ``tags`` are those of its name, ``told`` that of its WHEEL file, where they are others."""
    tags = tags or target.tag
    path = folder / f"padops-0.1.0-py3-none-{tags}.whl"
    about = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: false\n"
    about += "".join(f"Tag: py3-none-{tag}\n" for tag in (told or tags).split("."))
    content = {
        f"padops/libpadops{'.dll' if target.system == 'Windows' else '.so'}": library,
        "padops-0.1.0.dist-info/WHEEL": about,
        "padops-0.1.0.dist-info/sboms/padops.cdx.json": "{}",
        "padops-0.1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: padops\nVersion: 0.1.0\n",
    }
    content["padops-0.1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in content)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def test_a_right_wheel(tmp_path: Path, script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    target = script.TARGETS[LINUX]
    right = wheel(tmp_path, target, made_libraries.elf(tmp_path, version="GLIBC_2.17"))
    assert script.inside([right]) == 0
    assert capsys.readouterr().out == f"{right.name}: right, {right.stat().st_size:,} bytes\n"


def test_a_wheel_for_several_platforms(tmp_path: Path, script: ModuleType) -> None:
    """auditwheel names all that it is fit for."""
    target = script.TARGETS[LINUX]
    tags = f"{target.tag.replace('2_28', '2_24')}.{target.tag}"
    library = made_libraries.elf(tmp_path, version="GLIBC_2.17")
    assert script.wrong_with(wheel(tmp_path, target, library, tags)) == []


def test_a_wheel_that_says_two_things(tmp_path: Path, script: ModuleType) -> None:
    made = wheel(tmp_path, script.TARGETS["windows-amd64"], made_libraries.pe(), told="win32")
    assert script.wrong_with(made) == ["its WHEEL file has the tags py3-none-win32, its name has others"]


def test_a_damaged_wheel(tmp_path: Path, script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(tmp_path, script.TARGETS["windows-amd64"], made_libraries.pe())
    content = made.read_bytes()
    made.write_bytes(content.replace(b"Generator: a test", b"Generator: a tost"))
    assert script.inside([made]) == 1
    assert capsys.readouterr().out == f"{made.name}: padops-0.1.0.dist-info/WHEEL is damaged\n"


def test_a_name_that_promises_too_much(tmp_path: Path, script: ModuleType) -> None:
    """auditwheel's opinion alone, and that of the check beside it."""
    target = script.TARGETS[LINUX]
    made = wheel(tmp_path, target, made_libraries.elf(tmp_path, version="GLIBC_2.34"))
    told = f"auditwheel allows it as manylinux_2_34_{target.processor} alone"
    assert script.wrong_with(made) == ["its library needs GLIBC_2.34", told]
