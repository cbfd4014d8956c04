"""``scripts/build_wheels.py``: what it refuses without building anything, and that its table holds together."""

from __future__ import annotations

import importlib
import re
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("build_wheels")


def wheel(folder: Path, tag: str, *libraries: str) -> Path:
    path = folder / f"padops-0.1.0-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in libraries:
            archive.writestr(name, b"")
    return path


def test_a_wheel_of_no_platform(tmp_path: Path, script: ModuleType) -> None:
    assert script.wrong_with(wheel(tmp_path, "any"))[0].startswith(
        "its platform 'any' is none of manylinux_2_28_x86_64, "
    )


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("padops-0.1.0-py3-none-win_amd64.whl", None, "it does not exist"),
        ("padops-0.1.0-py3-none-win_amd64.whl", b"", "it is not a whole zip file"),
        ("README.md", b"text", "its name is not that of a wheel of padops: padops-VERSION-py3-none-PLATFORM.whl"),
        ("six-1.17.0-py2.py3-none-any.whl", b"", "its name is not that of a wheel of padops: padops-VERSION-"),
    ],
)
def test_what_is_no_wheel_needs_no_tools(
    name: str, content: bytes | None, why: str, tmp_path: Path, script: ModuleType, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(script, "tools", lambda: pytest.fail("the tools are made"))
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert script.main(["--check", str(path), str(tmp_path)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{name}: {why}")
    assert second == f"{tmp_path.name}: it is no file"


@pytest.mark.parametrize(
    ("parts", "wrong"),
    [
        ({}, "it has no .dist-info/WHEEL and no .dist-info/RECORD and no .dist-info/sboms/padops.cdx.json"),
        (
            {"RECORD": b"", "WHEEL": b"\xff", "sboms/padops.cdx.json": b"{}"},
            "it is damaged: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        ({"WHEEL": b"Tag: py3-none-win_amd64\n", "sboms/padops.cdx.json": b"{}"}, "it has no .dist-info/RECORD"),
        ({"WHEEL": b"", "RECORD": b""}, "it has no .dist-info/sboms/padops.cdx.json"),
    ],
)
def test_a_wheel_without_its_parts(
    parts: dict[str, bytes], wrong: str, tmp_path: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "wrong_with_library", lambda content, target: [])
    path = wheel(tmp_path, "win_amd64", "padops/libpadops.dll")
    with zipfile.ZipFile(path, "a") as archive:
        for part, content in parts.items():
            archive.writestr(f"padops-0.1.0.dist-info/{part}", content)
    assert script.wrong_with(path) == [wrong]


WORKFLOW = Path(__file__).resolve().parent.parent / ".github" / "workflows" / "wheels.yml"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "contributing.md"


def test_the_page_and_the_workflow_have_every_target(script: ModuleType) -> None:
    """And no other; the page with the platform of the wheel's name."""
    rows = re.findall(r"^\| ([\w-]+) \| `((?:many|win|mac)\w+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted((name, target.tag) for name, target in script.TARGETS.items())
    built = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert sorted(row["name"] for row in built) == sorted(script.TARGETS)
    assert len({row["runner"] for row in built}) == len(built)
