"""The wheels of scripts/build_wheels.py, built with Zig's compiler, are right; a second build gives the same bytes."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
build_wheels = importlib.import_module("build_wheels")


def checkout(folder: Path) -> Path:
    """What a wheel is built from, in another folder, with other times and permissions."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/", "models/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copied = Path(shutil.copy(ROOT / name, folder / name))
            copied.chmod(0o600)
            os.utime(copied, (1e9, 1e9))
    return folder


@pytest.mark.parametrize("target", build_wheels.TARGETS)
def test_built_twice(target: str, tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that the compiler keeps of the first build is there for the second, but for its own C++ library."""
    python, made = build_wheels.tools(), []
    for i, source in enumerate((ROOT, checkout(tmp_path / "elsewhere"))):
        work = tmp_path / f"work{'-again' * i}"
        work.mkdir()
        monkeypatch.setattr(build_wheels, "ROOT", source)
        monkeypatch.setattr(build_wheels, "WORK", work)
        monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", str(work / "cache"))
        monkeypatch.setenv("PATH", f"{python.parent}{os.pathsep}{os.environ['PATH']}")
        made.append(build_wheels.build(python, target, work / "dist"))
    first, second = (zipfile.ZipFile(path) for path in made)
    names = {*first.namelist(), *second.namelist()}
    others = [
        name for name in sorted(names)
        if name not in first.namelist() or name not in second.namelist() or first.read(name) != second.read(name)
    ]  # fmt: skip
    print(*others, sep="\n")
    checked = subprocess.run([python, ROOT / "scripts" / "build_wheels.py", "--inside", made[0]])
    assert checked.returncode == 0
    assert others or made[0].read_bytes() == made[1].read_bytes()
    tally(f"files of the wheel for {target}, right and built twice with Zig: other bytes", len(names), len(others))
