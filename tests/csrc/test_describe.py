"""The tables of the native library and of Python, two independent implementations, must be the same."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from cpp_builds import ROOT, cmake

import padops
from padops.runtime.provider_rules import CONDITIONS, KNOWN_PROVIDERS, ProviderRule
from padops.spec.dialects import DOMAIN, OPS, VERSION
from padops.spec.dtypes import DTYPES


def test_domain() -> None:
    described = padops.describe()
    assert (described["domain"], described["version"]) == (DOMAIN, VERSION)


def test_library_is_of_this_version() -> None:
    assert padops.describe()["library"] == padops.__version__


def test_types() -> None:
    expected = [
        {name: getattr(dtype, name) for name in ("name", "onnx", "ort", "bits", "pad", "since")} for dtype in DTYPES
    ]
    assert padops.describe()["types"] == expected


@pytest.mark.parametrize("position", range(len(OPS)), ids=list(OPS))
def test_op(position: int) -> None:
    op = list(OPS.values())[position]
    assert padops.describe()["ops"][position] == {
        "name": op.name,
        "inputs": [{"name": row.name, "kind": row.kind, "optional": row.optional} for row in op.inputs],
        "attributes": [
            {name: getattr(row, name) for name in ("name", "type", "required", "default")}
            | {"choices": list(row.choices)}
            for row in op.attributes
        ],
        "mode": op.mode,
        "modes": list(op.modes),
        "types": list(op.types),
        "fill": op.fill,
        "crop": op.crop.value,
        "limit": op.limit.value,
        "clamp": op.clamp,
    }


def test_no_op_is_missing() -> None:
    assert [op["name"] for op in padops.describe()["ops"]] == list(OPS)


def test_describe_gives_a_new_object() -> None:
    padops.describe()["ops"].clear()
    assert padops.describe()["ops"]


def test_the_library_has_every_rule() -> None:
    """CMake makes the library's table from the files that Python reads."""
    described = {row["name"]: (row["fuses"], row["rules"]) for row in padops.describe()["providers"]}
    assert described == {
        row.name: (row.fuses, [_without_source(rule) for rule in row.rules]) for row in KNOWN_PROVIDERS
    }


def test_the_library_has_every_condition() -> None:
    """It evaluates each by its name."""
    code = (ROOT / "padops" / "csrc" / "core" / "provider_rules.cpp").read_text(encoding="utf-8")
    assert [when for when in CONDITIONS if f'when == "{when}"' not in code] == []


def _without_source(rule: ProviderRule) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(rule).items()
        if name not in ("source", "plugin_before")
    }


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
