"""``scripts/build_wheels.py``: what it refuses without building anything, and that its table holds together."""

from __future__ import annotations

import importlib
import os
import re
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from packaging import tags
from packaging.specifiers import SpecifierSet

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("build_wheels")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["linux-riscv"], "there is no target 'linux-riscv': expected some of linux-x86_64, linux-aarch64, "),
        (["--check"], "--check needs the wheels to check"),
    ],
)
def test_arguments(arguments: list[str], text: str, script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        script.main(arguments)
    assert ending.value.code == 2
    assert text in capsys.readouterr().err


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


@pytest.mark.parametrize("python", ["cp314", "cp314t"])
def test_a_newer_python_takes_the_wheels(python: str, script: ModuleType) -> None:
    """Its pip asks for no more than this; the library knows no Python, and so no thread of it."""
    text = (SCRIPTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    (made_for,) = re.findall(r'^wheel\.py-api = "(.*)"$', text, re.M)
    (wanted,) = re.findall(r'^requires-python = "(.*)"$', text, re.M)
    assert "3.14" in SpecifierSet(wanted)
    for target in script.TARGETS.values():
        taken = {str(tag) for tag in tags.compatible_tags((3, 14), python, [target.tag])}
        assert f"{made_for}-none-{target.tag}" in taken


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


@pytest.mark.parametrize("libraries", [(), ("padops/libpadops.so",), ("padops/libpadops.dll", "libc++.dll")])
def test_a_wheel_has_one_library(libraries: tuple[str, ...], tmp_path: Path, script: ModuleType) -> None:
    assert script.wrong_with(wheel(tmp_path, "win_amd64", *libraries)) == [f"its libraries are {list(libraries)}"]


def test_every_target_has_a_name_of_its_own(script: ModuleType) -> None:
    targets = script.TARGETS.values()
    assert len({target.tag for target in targets}) == len({target.triple for target in targets}) == len(targets) == 6
    for target in targets:
        if target.system == "Linux":  # the oldest glibc that it is built for is that of the wheel's name
            assert target.triple.endswith(".".join(target.tag.split("_")[1:3]))


def test_the_time_of_the_build_is_in_no_wheel(
    tmp_path: Path, script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever writes into a wheel is told another one; a caller may say which."""
    made = tmp_path / "padops-0.1.0-py3-none-any.whl"
    told: list[str] = []

    def step(name: str, command: list, folder: Path) -> None:
        told.append(os.environ["SOURCE_DATE_EPOCH"])
        (Path(command[command.index("--wheel-dir") + 1]) / made.name).touch() if "--wheel-dir" in command else None

    monkeypatch.setattr(script, "write_toolchain", lambda python, target, folder: folder.mkdir() or folder)
    monkeypatch.setattr(script, "WORK", tmp_path)
    monkeypatch.setattr(script.environment, "step", step)
    without = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    for given in (None, "1000000000"):
        monkeypatch.setattr(os, "environ", without | ({} if given is None else {"SOURCE_DATE_EPOCH": given}))
        name = "linux-x86_64" if given is None else "macos-arm64"
        assert script.build(Path("python"), name, tmp_path / "out").name == made.name
    assert told == [script.EPOCH] * 2 + ["1000000000"] * 2


WORKFLOW = Path(__file__).resolve().parent.parent / ".github" / "workflows" / "wheels.yml"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "contributing.md"


def test_the_page_and_the_workflow_have_every_target(script: ModuleType) -> None:
    """And no other; the page with the platform of the wheel's name."""
    rows = re.findall(r"^\| ([\w-]+) \| `((?:many|win|mac)\w+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted((name, target.tag) for name, target in script.TARGETS.items())
    built = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert sorted(row["name"] for row in built) == sorted(script.TARGETS)
    assert len({row["runner"] for row in built}) == len(built)


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved, a commit cannot; the comment says which release it is, and each action is there in one."""
    used = re.findall(r"uses: (.*)", WORKFLOW.read_text(encoding="utf-8"))
    pinned = {line: re.fullmatch(r"([\w-]+/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in used}
    assert len(used) > 5 and [line for line, found in pinned.items() if found is None] == []
    assert len({found[1] for found in pinned.values() if found is not None}) == len(set(used))


def test_what_may_write_runs_nothing_of_this_repository() -> None:
    told = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert told["permissions"] == {}
    reads = {"contents": "read"}
    assert {name: job["permissions"] for name, job in told["jobs"].items()} == {
        "build": reads, "sdist": reads, "check": reads,
        "attest": {"id-token": "write", "attestations": "write"},
        "publish": {"id-token": "write"},
    }  # fmt: skip
    for name, steps in (
        ("attest", ["actions/download-artifact", "actions/attest-build-provenance"]),
        ("publish", ["actions/download-artifact", "pipx run uv"]),
    ):
        job = told["jobs"][name]
        assert [re.split("[@=]", step.get("uses") or step["run"])[0] for step in job["steps"]] == steps
        assert job["if"] == "github.event_name == 'push'"  # of a tag: pushes of branches start no run
    assert told[True]["push"] == {"tags": ["v*"]}
    assert [told["jobs"][name]["needs"] for name in ("publish", "attest", "check")] == [
        "attest", "check", ["build", "sdist"]
    ]  # fmt: skip
