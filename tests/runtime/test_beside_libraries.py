"""padops beside a provider of a library, a stand-in: in every way to name it, nothing of the caller's is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cpp_builds import CHECKS, ROOT, build
from stand_in_sessions import DATA, GIVING, PADS

WAYS = ("name", "device", "registered", "twice", "set_providers", "policy", "options", "untold options")
BOTH = ["Relu {}", "Relu {}"]
KNOWN = "QNNExecutionProvider"  # onnxruntime drops it where it is only named, and the rules know it


@pytest.fixture(scope="module")
def stand_in() -> Path:
    """The library."""
    folder = build(ROOT / "build" / "stand-in", source=CHECKS, target="stand_in_provider")
    return next(folder.glob("*stand_in_provider.so"))


def tried(library: Path, name: str, way: str) -> dict:
    program = ROOT / "tests" / "models" / "stand_in_sessions.py"
    command = [sys.executable, str(program), str(library), name, way]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ))
    assert ran.returncode == 0, ran.stderr[-3_000:]
    return json.loads(ran.stdout)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost(stand_in: Path, way: str) -> None:
    """The provider keeps its nodes and each Pad that it runs right; padops takes each Pad that it gets wrong."""
    found = tried(stand_in, KNOWN, way)
    pads = {"edge": np.pad(DATA, [(0, 0), (1, 2)], "edge"), "to nothing": np.zeros((2, 0))}
    for name in PADS:
        if name == "constant":  # it is left to the provider, which is a stand-in
            assert "the stand-in runs no Pad" in found[name]["error"]
            continue
        assert found[name]["output"] == pads.get(name, DATA).tolist(), name
        assert found[name]["providers"][:2] == ["PadopsFirstExecutionProvider", KNOWN]
        assert found[name]["providers"][2:] == ["PadopsExecutionProvider", "CPUExecutionProvider"]
        if way != "set_providers":
            mine = ["Pad PadopsFirstExecutionProvider"] if name in pads else []
            assert found[name]["ran"] == [*mine, *(row.format(KNOWN) for row in BOTH)], name
            assert found[name]["entry"] == "kept"
            assert found[name]["one"] == ("1" if way in GIVING else "")


def test_rules_of_the_caller(stand_in: Path, tmp_path: Path) -> None:
    """padops stands before a provider that it does not know, and takes what the file says."""
    name, file = "StandInExecutionProvider", tmp_path / "mine.json"
    rule = {"does": "wrong", "when": "always", "modes": ["edge", "constant"]}
    content = {"names": [name], "version": "1.0", "sources": {"default": "read: a test"}, "rules": [rule]}
    file.write_text(json.dumps(content))
    found = tried(stand_in, name, f"rules {file}")
    for pad in ("edge", "to nothing", "constant"):
        assert found[pad]["ran"] == ["Pad PadopsFirstExecutionProvider", *(row.format(name) for row in BOTH)]
        assert found[pad]["rules"] == {name: f"{file} (1.0), for version 0.0.0 of the plugin"}
    assert found["edge"]["output"] == np.pad(DATA, [(0, 0), (1, 2)], "edge").tolist()


def test_an_option_turns_it_off(stand_in: Path) -> None:
    found = tried(stand_in, KNOWN, "never")
    assert all("the stand-in runs no Pad" in found[name]["error"] for name in ("edge", "to nothing", "constant"))


@pytest.mark.parametrize("way", ["name", "options"])
def test_an_unknown_provider_keeps_its_place(stand_in: Path, way: str) -> None:
    """padops stands behind it, and nothing in front."""
    found = tried(stand_in, "StandInExecutionProvider", way)
    assert all("the stand-in runs no Pad" in found[name]["error"] for name in ("edge", "to nothing", "constant"))
    assert found["no Pad"]["providers"] == [
        "StandInExecutionProvider",
        "PadopsExecutionProvider",
        "CPUExecutionProvider",
    ]
    assert found["no Pad"]["ran"] == [row.format("StandInExecutionProvider") for row in BOTH]
