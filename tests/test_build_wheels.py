"""``scripts/build_wheels.py``: what it refuses without building anything, and that its table holds together."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

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


@pytest.mark.parametrize("libraries", [(), ("padops/libpadops.so",), ("padops/libpadops.dll", "libc++.dll")])
def test_a_wheel_has_one_library(libraries: tuple[str, ...], tmp_path: Path, script: ModuleType) -> None:
    assert script.wrong_with(wheel(tmp_path, "win_amd64", *libraries)) == [f"its libraries are {list(libraries)}"]


def test_every_target_has_a_name_of_its_own(script: ModuleType) -> None:
    targets = script.TARGETS.values()
    assert len({target.tag for target in targets}) == len({target.triple for target in targets}) == len(targets) == 5
    for target in targets:
        if target.system == "Linux":  # the oldest glibc that it is built for is that of the wheel's name
            assert target.triple.endswith(".".join(target.tag.split("_")[1:3]))
