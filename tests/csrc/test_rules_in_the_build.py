"""What the build makes of ``padops/rules/``: a table that knows every condition, or an error that names the file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cpp_builds import ROOT, cmake

import padops
from padops.runtime.provider_rules import CONDITIONS


def test_the_library_has_every_condition() -> None:
    """It evaluates each by its name."""
    code = (ROOT / "padops" / "csrc" / "core" / "provider_rules.cpp").read_text(encoding="utf-8")
    assert [when for when in CONDITIONS if f'when == "{when}"' not in code] == []


@pytest.mark.parametrize(
    ("file", "right", "wrong", "told"),
    [
        ("cuda", '"before": 25', '"befor": 25', 'cuda.json, rule 3: "befor" is unknown; expected one of: does, when'),
        ("dml", '"names"', '"name"', 'dml.json: "name" is unknown; expected one of: names, version'),
        ("qnn", '"in a body"', '"in body"', 'qnn.json, rule 1, when: "in body" is unknown; expected one of: above, '),
    ],
)
def test_a_wrong_file_of_rules_ends_the_build(file: str, right: str, wrong: str, told: str, tmp_path: Path) -> None:
    package = Path(padops.__file__).parent
    shutil.copytree(package / "rules", tmp_path / "rules")
    (tmp_path / "csrc").mkdir()
    shutil.copy(ROOT / "padops" / "csrc" / "rules.cmake", tmp_path / "csrc")
    lines = ("cmake_minimum_required(VERSION 3.19)", "project(rules LANGUAGES NONE)", "include(csrc/rules.cmake)")
    (tmp_path / "CMakeLists.txt").write_text("\n".join(lines))
    command = [cmake(), "-S", tmp_path, "-B", tmp_path / "build"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    path = tmp_path / "rules" / f"{file}.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and f"padops/rules/{told}" in " ".join(done.stderr.split())
