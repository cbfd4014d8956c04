"""``scripts/build_wheels.py``: its checks on small libraries and wheels, right ones and one for each fault."""

from __future__ import annotations

import platform
import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import build_wheels as script
import pytest
import yaml

ENTRY_POINTS = ("CreateEpFactories", "RegisterCustomOps", "ReleaseEpFactory", "padops_describe")
ROOT = Path(__file__).resolve().parent.parent
LINUX = f"linux-{platform.machine()}"
MORE = (*ENTRY_POINTS, "_Znwm")
SHOWS_MORE = "its library exports ['CreateEpFactories', 'RegisterCustomOps', 'ReleaseEpFactory', '_Znwm', "

on_linux = pytest.mark.skipif(platform.system() != "Linux", reason="a compiler for Linux makes the libraries")


def elf(folder: Path, exports: Sequence[str] = ENTRY_POINTS, needed: str = "libc.so.6", version: str = "") -> bytes:
    """For this machine; ``version``: of a symbol of the library that it needs, such as ``"GLIBC_2.28"``."""
    (folder / "needed.c").write_text("int wanted(void) { return 1; }\n")
    (folder / "needed.map").write_text(f"{version} {{ global: wanted; }};\n" if version else "{ global: wanted; };\n")
    shown = "".join(f"int {name}(void) {{ return wanted(); }}\n" for name in exports)
    (folder / "made.c").write_text(f"int wanted(void);\n{shown}")
    shared = ["gcc", "-shared", "-fPIC", "-nostdlib"]
    commands = [[*shared, "needed.c", "-Wl,--version-script=needed.map", f"-Wl,-soname,{needed}", "-o", "needed.so"],
                [*shared, "made.c", "needed.so", "-o", "made.so"]]  # fmt: skip
    for command in commands:
        subprocess.run(command, cwd=folder, check=True)
    return (folder / "made.so").read_bytes()


def pe(
    exports: Sequence[str] = ENTRY_POINTS, needed: Sequence[str] = ("KERNEL32.dll",), machine: str = "AMD64"
) -> bytes:
    import lief

    made = lief.PE.Factory.create(lief.PE.PE_TYPE.PE32_PLUS).get()
    made.header.machine = getattr(lief.PE.Header.MACHINE_TYPES, machine)
    made.set_export(lief.PE.Export("libpadops.dll", [lief.PE.ExportEntry(name, 0x1000) for name in exports]))
    for name in needed:
        made.add_import(name).add_entry("wanted")
    settings = lief.PE.Builder.config_t()
    settings.exports = settings.imports = True
    return bytes(made.write_to_bytes(settings))


@on_linux
@pytest.mark.parametrize(("system", "changed", "text"), [
    ("linux", {"exports": MORE}, SHOWS_MORE),
    ("linux", {"exports": ENTRY_POINTS[1:]}, "its library exports ['RegisterCustomOps', "),
    ("linux", {"needed": "libstdc++.so.6"}, "its library needs libstdc++.so.6"),
    ("linux", {"version": "GLIBC_2.29"}, "its library needs GLIBC_2.29"),
    ("linux", {"version": "CXXABI_1.3"}, "its library needs CXXABI_1.3"),
    ("windows", {"exports": MORE}, SHOWS_MORE),
    ("windows", {"needed": ["KERNEL32.dll", "libgcc_s_seh-1.dll"]}, "its library needs libgcc_s_seh-1.dll"),
    ("windows", {"machine": "I386"}, "its library is PE I386, expected PE AMD64"),
])  # fmt: skip
def test_a_library(system: str, changed: dict[str, Any], text: str, tmp_path: Path) -> None:
    target = script.TARGETS[LINUX if system == "linux" else "windows-amd64"]

    def made(**changed: Any) -> bytes:
        return elf(tmp_path, **changed) if system == "linux" else pe(**changed)

    assert script.wrong_with_library(made(), target) == []
    (found,) = script.wrong_with_library(made(**changed), target)
    assert found.startswith(text)


INFO = "padops-0.1.0.dist-info/"


def wheel(folder: Path, tag: str, library: bytes = b"", parts: dict[str, str | bytes] | None = None) -> Path:
    """A wheel for a platform, with these parts of its metadata or with all."""
    path, named = folder / f"padops-0.1.0-py3-none-{tag}.whl", f"padops/libpadops{'.dll' * ('win' in tag) or '.so'}"
    about = f"Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    metadata = "Metadata-Version: 2.1\nName: padops\nVersion: 0.1.0\n"
    if parts is None:
        parts = {"WHEEL": about, "sboms/padops.cdx.json": "{}", "METADATA": metadata}
        parts["RECORD"] = "".join(f"{name},,\n" for name in (named, *(INFO + part for part in parts)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(named, library)
        for name, content in parts.items():
            archive.writestr(INFO + name, content)
    return path


@on_linux
def test_a_right_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = wheel(tmp_path, script.TARGETS[LINUX].tag, elf(tmp_path, version="GLIBC_2.17"))
    assert script.inside([right]) == 0
    assert capsys.readouterr().out == f"{right.name}: right, {right.stat().st_size:,} bytes\n"


def test_a_damaged_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wheel(tmp_path, "win_amd64", pe())
    made.write_bytes(made.read_bytes().replace(b"Generator: a test", b"Generator: a tost"))
    assert script.inside([made]) == 1
    assert capsys.readouterr().out == f"{made.name}: {INFO}WHEEL is damaged\n"


@on_linux
def test_a_name_that_promises_too_much(tmp_path: Path) -> None:
    target = script.TARGETS[LINUX]
    made = wheel(tmp_path, target.tag, elf(tmp_path, version="GLIBC_2.34"))
    told = f"auditwheel allows it as manylinux_2_34_{target.processor} alone"
    assert script.wrong_with(made) == ["its library needs GLIBC_2.34", told]


SBOM = {"sboms/padops.cdx.json": "{}"}


@pytest.mark.parametrize(("tag", "parts", "wrong"), [
    ("win_amd64", {}, "it has no .dist-info/WHEEL and no .dist-info/RECORD and no .dist-info/sboms/padops.cdx.json"),
    ("win_amd64", {"RECORD": b"", "WHEEL": b"\xff", **SBOM}, "it is damaged: 'utf-8' codec can't decode "),
    ("win_amd64", {"WHEEL": "Tag: py3-none-win_amd64\n", **SBOM}, "it has no .dist-info/RECORD"),
    ("any", {}, "its platform 'any' is none of "),
])  # fmt: skip
def test_a_wheel_without_its_parts(
    tag: str, parts: dict[str, str | bytes], wrong: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(script, "wrong_with_library", lambda content, target: [])
    (found,) = script.wrong_with(wheel(tmp_path, tag, parts=parts))
    assert found.startswith(wrong)


WORKFLOW = ROOT / ".github" / "workflows" / "wheels.yml"


def test_the_page_and_the_workflow_have_every_target() -> None:
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| `((?:many|win|mac)\w+)` \|", page, re.M)
    assert sorted(rows) == sorted((name, target.tag) for name, target in script.TARGETS.items())
    built = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert sorted(row["name"] for row in built) == sorted(script.TARGETS)
    assert len({row["runner"] for row in built}) == len(built)


def test_what_may_write_runs_nothing_of_this_repository() -> None:
    told = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert told["permissions"] == {}
    reads = {"contents": "read"}
    assert {name: job["permissions"] for name, job in told["jobs"].items()} == {
        "build": reads, "sdist": reads, "check": reads,
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
    }  # fmt: skip
    for name, steps in (("attest", ["actions/download-artifact", "actions/attest-build-provenance"]),
                        ("publish", ["actions/download-artifact", "pipx run uv"])):  # fmt: skip
        job = told["jobs"][name]
        assert [re.split("[@=]", step.get("uses") or step["run"])[0] for step in job["steps"]] == steps
        assert job["if"] == "github.event_name == 'push'"  # of a tag: pushes of branches start no run
    assert told[True]["push"] == {"tags": ["v*"]}
    assert [told["jobs"][name]["needs"] for name in ("publish", "attest", "check")] == [
        "attest", "check", ["build", "sdist"]
    ]  # fmt: skip
