"""The checks of ``scripts/build_wheels.py`` on small libraries and wheels: right ones, and one for each fault."""

from __future__ import annotations

import importlib
import platform
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ENTRY_POINTS = ("CreateEpFactories", "RegisterCustomOps", "ReleaseEpFactory", "padops_describe")
SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
LINUX = f"linux-{platform.machine()}"
MORE = (*ENTRY_POINTS, "_Znwm")
SHOWS_MORE = "its library exports ['CreateEpFactories', 'RegisterCustomOps', 'ReleaseEpFactory', '_Znwm', "

if platform.system() != "Linux":
    pytest.skip("the libraries are made by a compiler for Linux", allow_module_level=True)


def elf(folder: Path, exports: Sequence[str] = ENTRY_POINTS, needed: str = "libc.so.6", version: str = "") -> bytes:
    """For this machine; ``version``: of a symbol of the library that it needs, such as ``"GLIBC_2.28"``."""
    (folder / "needed.c").write_text("int wanted(void) { return 1; }\n")
    (folder / "needed.map").write_text(f"{version} {{ global: wanted; }};\n" if version else "{ global: wanted; };\n")
    shown = "".join(f"int {name}(void) {{ return wanted(); }}\n" for name in exports)
    (folder / "made.c").write_text(f"int wanted(void);\n{shown}")
    shared = ["gcc", "-shared", "-fPIC", "-nostdlib"]
    commands = [
        [*shared, "needed.c", "-Wl,--version-script=needed.map", f"-Wl,-soname,{needed}", "-o", "needed.so"],
        [*shared, "made.c", "needed.so", "-o", "made.so"],
    ]
    for command in commands:
        subprocess.run(command, cwd=folder, check=True)
    return (folder / "made.so").read_bytes()


def pe(
    exports: Sequence[str] = ENTRY_POINTS, needed: Sequence[str] = ("KERNEL32.dll",), machine: str = "AMD64"
) -> bytes:
    """For Windows."""
    import lief

    made = lief.PE.Factory.create(lief.PE.PE_TYPE.PE32_PLUS).get()
    made.header.machine = getattr(lief.PE.Header.MACHINE_TYPES, machine)
    made.set_export(lief.PE.Export("libpadops.dll", [lief.PE.ExportEntry(name, 0x1000) for name in exports]))
    for name in needed:
        made.add_import(name).add_entry("wanted")
    settings = lief.PE.Builder.config_t()
    settings.exports = settings.imports = True
    return bytes(made.write_to_bytes(settings))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("build_wheels")


@pytest.mark.parametrize(
    ("system", "changed", "text"),
    [
        ("linux", {"exports": MORE}, SHOWS_MORE),
        ("linux", {"exports": ENTRY_POINTS[1:]}, "its library exports ['RegisterCustomOps', "),
        ("linux", {"needed": "libstdc++.so.6"}, "its library needs libstdc++.so.6"),
        ("linux", {"version": "GLIBC_2.29"}, "its library needs GLIBC_2.29"),
        ("linux", {"version": "CXXABI_1.3"}, "its library needs CXXABI_1.3"),
        ("windows", {"exports": MORE}, SHOWS_MORE),
        ("windows", {"needed": ["KERNEL32.dll", "libgcc_s_seh-1.dll"]}, "its library needs libgcc_s_seh-1.dll"),
        ("windows", {"machine": "I386"}, "its library is PE I386, expected PE AMD64"),
    ],
)
def test_a_library(system: str, changed: dict[str, Any], text: str, tmp_path: Path, script: ModuleType) -> None:
    target = script.TARGETS[LINUX if system == "linux" else "windows-amd64"]

    def made(**changed: Any) -> bytes:
        return elf(tmp_path, **changed) if system == "linux" else pe(**changed)

    assert script.wrong_with_library(made(), target) == []
    (found,) = script.wrong_with_library(made(**changed), target)
    assert found.startswith(text)


def test_of_no_system(script: ModuleType) -> None:
    wrong = script.wrong_with_library(b"no library at all", script.TARGETS["windows-amd64"])
    assert wrong == ["its library is of no format that is known"]


def test_a_large_one(tmp_path: Path, script: ModuleType) -> None:
    content = elf(tmp_path)
    content += bytes(script.MAX_BYTES + 1 - len(content))
    wrong = script.wrong_with_library(content, script.TARGETS[LINUX])
    assert wrong == ["its library has 1,048,577 bytes, expected at most 1,048,576"]


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
    right = wheel(tmp_path, target, elf(tmp_path, version="GLIBC_2.17"))
    assert script.inside([right]) == 0
    assert capsys.readouterr().out == f"{right.name}: right, {right.stat().st_size:,} bytes\n"


def test_a_wheel_that_says_two_things(tmp_path: Path, script: ModuleType) -> None:
    made = wheel(tmp_path, script.TARGETS["windows-amd64"], pe(), told="win32")
    assert script.wrong_with(made) == ["its WHEEL file has the tags py3-none-win32, its name has others"]


def test_a_damaged_wheel(tmp_path: Path, script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(tmp_path, script.TARGETS["windows-amd64"], pe())
    content = made.read_bytes()
    made.write_bytes(content.replace(b"Generator: a test", b"Generator: a tost"))
    assert script.inside([made]) == 1
    assert capsys.readouterr().out == f"{made.name}: padops-0.1.0.dist-info/WHEEL is damaged\n"


def test_a_name_that_promises_too_much(tmp_path: Path, script: ModuleType) -> None:
    """auditwheel's opinion alone, and that of the check beside it."""
    target = script.TARGETS[LINUX]
    made = wheel(tmp_path, target, elf(tmp_path, version="GLIBC_2.34"))
    told = f"auditwheel allows it as manylinux_2_34_{target.processor} alone"
    assert script.wrong_with(made) == ["its library needs GLIBC_2.34", told]
