"""padops beside a provider of a library, a stand-in, in every way to name it; and in C++, as docs/beside.md has it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from cpp_builds import CHECKS, ROOT, build
from document_blocks import blocks
from provider_sessions import model
from stand_in_sessions import DATA, GIVING, PADS, in_a_process

import padops

WAYS = ("name", "device", "registered", "twice", "set_providers", "policy", "options", "untold options")
BOTH = ["Relu {}", "Relu {}"]
KNOWN = "QNNExecutionProvider"  # onnxruntime drops it where it is only named, and the rules know it
UNKNOWN = "StandInExecutionProvider"
EDGE = np.pad(DATA, [(0, 0), (1, 2)], "edge").tolist()


def tried(name: str, way: str) -> dict:
    return json.loads(in_a_process(name, way).stdout)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost(way: str) -> None:
    """The provider keeps its nodes and each Pad that it runs right; padops takes each Pad that it gets wrong."""
    found, pads = tried(KNOWN, way), {"edge": EDGE, "to nothing": [[], []]}
    # It is left to the provider, which is a stand-in.
    assert "the stand-in runs no Pad" in found.pop("constant")["error"]
    for name, told in found.items():
        assert told["output"] == pads.get(name, DATA.tolist()), name
        assert told["providers"][:2] == ["PadopsFirstExecutionProvider", KNOWN]
        assert told["providers"][2:] == ["PadopsExecutionProvider", "CPUExecutionProvider"]
        if way != "set_providers":
            mine = ["Pad PadopsFirstExecutionProvider"] if name in pads else []
            assert told["ran"] == [*mine, *(row.format(KNOWN) for row in BOTH)], name
            assert (told["entry"], told["one"]) == ("kept", "1" if way in GIVING else "")


def test_rules_of_the_caller(tmp_path: Path) -> None:
    """padops stands before a provider that it does not know, and takes what the file says."""
    file, rule = tmp_path / "mine.json", {"does": "wrong", "when": "always", "modes": ["edge", "constant"]}
    content = {"names": [UNKNOWN], "version": "1.0", "sources": {"default": "read: a test"}, "rules": [rule]}
    file.write_text(json.dumps(content))
    found = tried(UNKNOWN, f"rules {file}")
    for pad in ("edge", "to nothing", "constant"):
        assert found[pad]["ran"] == ["Pad PadopsFirstExecutionProvider", *(row.format(UNKNOWN) for row in BOTH)]
        assert found[pad]["rules"] == {UNKNOWN: f"{file} (1.0), for version 0.0.0 of the plugin"}
    assert found["edge"]["output"] == EDGE


@pytest.mark.parametrize(("name", "way"), [(KNOWN, "never"), (UNKNOWN, "name"), (UNKNOWN, "options")])
def test_a_provider_that_keeps_its_place(name: str, way: str) -> None:
    """By an option, or as padops does not know it: padops stands behind it, and nothing in front."""
    found = tried(name, way)
    assert all("the stand-in runs no Pad" in found[pad]["error"] for pad in PADS if pad != "no Pad")
    assert found["no Pad"]["providers"] == [name, "PadopsExecutionProvider", "CPUExecutionProvider"]
    assert found["no Pad"]["ran"] == [row.format(name) for row in BOTH]


def test_the_program_of_the_page(tmp_path: Path) -> None:
    """It is built beside the runtime of a wheel, which comes without the links to it."""
    (shown,) = (block.code for block in blocks(ROOT / "docs" / "beside.md") if block.language == "cpp")
    assert shown.count("\n") > 5 and shown in (CHECKS / "beside.cpp").read_text(encoding="utf-8")
    libraries = Path(onnxruntime.__file__).parent / "capi"
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (tmp_path / name).symlink_to(next(libraries.glob("libonnxruntime.so.*")))
    build(tmp_path, f"-DORT_LIBRARY={tmp_path / 'libonnxruntime.so'}", source=CHECKS, target="beside")
    text = "g (float[2, 3] x) => (float[2, 12] y) <int64[4] p = {0, 4, 0, 5}> "
    text += '{ a = Relu (x) b = Pad <mode = "wrap"> (a, p) y = Relu (b) }'
    (tmp_path / "model.onnx").write_bytes(model(text, 19).SerializeToString())
    command = [tmp_path / "beside", padops.get_library_path(), tmp_path / "model.onnx"]
    found = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=found)
    assert (done.returncode, done.stderr) == (0, "")
    expected = np.pad(np.arange(1, 7).reshape(2, 3), ((0, 0), (4, 5)), "wrap")
    assert [float(value) for value in done.stdout.split()] == expected.reshape(-1).tolist()
