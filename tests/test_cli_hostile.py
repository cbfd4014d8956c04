"""Names from a model or folder reach the console in one line, with no control sequences that move or hide text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_lines import run, save
from onnx import helper
from small_models import FLOAT, external, model, pad, tensor

from padops.terminal import shown

# Clears the screen, begins a line of its own, turns the direction of writing round, and is a control character of
# Latin-1.
HOSTILE = "x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
ESCAPED = r"x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
FILE = HOSTILE.replace("[", "")
ESCAPED_FILE = ESCAPED.replace("[", "")


def hostile(mode: str = "reflect", amount: int = 1, **names: str) -> onnx.ModelProto:
    """A model with a Pad all of whose names are hostile; it is as valid as any."""
    name = f"in {HOSTILE}"
    node = helper.make_node("Pad", [name, f"pads {HOSTILE}"], [HOSTILE], name=HOSTILE, mode=mode, doc_string=HOSTILE)
    made = model([node], 13, inputs=[(name, FLOAT, [2, 3])], outputs=[(HOSTILE, FLOAT, None)],
                 tensors=[tensor(f"pads {HOSTILE}", [0, amount, 0, 0])])  # fmt: skip
    made.graph.name = made.producer_name = made.graph.doc_string = HOSTILE
    return made


# Arguments, the exit code, and how often the escaped name is printed at least.
CASES = [
    (["inspect", "m.onnx"], 0, 1),
    (["convert", "m.onnx", "out.onnx", "--verify", "--run"], 0, 1),
    (["verify", "m.onnx", "other.onnx"], 4, 1),
    (["inspect", "mode.onnx"], 0, 2),
    (["convert", "mode.onnx", "--dry-run"], 3, 2),
    (["convert", "mode.onnx", "out.onnx", "--strict"], 3, 1),
    *((command, 1, 1) for place in ("here", "above", "root") for command in (
        ["inspect", f"{place}.onnx"], ["convert", f"{place}.onnx", "out.onnx"])),
    (["verify", "m.onnx", "m.onnx", "--inputs", "x.npz"], 2, 1),
    (["convert", "m.onnx", "out.onnx", "--verify", "--run", "--inputs", "x.npz"], 2, 1),
    (["inspect", f"{FILE}.onnx"], 0, 1),
    (["convert", f"{FILE}.onnx", f"out {FILE}.onnx"], 0, 1),
    (["convert", f"{FILE}.onnx", f"{FILE}/out.onnx"], 1, 1),
    (["inspect", f"broken {FILE}.onnx"], 1, 1),
    (["verify", f"broken {FILE}.onnx", f"broken {FILE}.onnx"], 1, 1),
    (["inspect", f"empty {FILE}"], 1, 1),
    (["inspect", f"folder {FILE}"], 1, 4),
    (["convert", f"folder {FILE}", "out"], 1, 4),
    (["convert", f"folder {FILE}", "out", "--jobs", "2"], 1, 4),
    (["inspect", "m.onnx", f"--{HOSTILE}"], 2, 1),
    (["inspect", f"no {HOSTILE}"], 1, 1),
    (["convert", "m.onnx", "--target", HOSTILE], 2, 1),
    (["bench", "--model", f"no {HOSTILE}"], 1, 0),  # blanks are joined
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (f"empty {FILE}", f"folder {FILE}"):
        Path(name).mkdir()
    made = {"m": hostile(amount=2), "other": hostile(), "mode": hostile(mode=HOSTILE), FILE: hostile(),
            f"folder {FILE}/{FILE}": hostile()}  # fmt: skip
    for name, location in (("here", HOSTILE), ("above", f"../{HOSTILE}"), ("root", f"/{HOSTILE}/w.bin")):
        made[name] = model([pad()], 17, tensors=[external(HOSTILE, location, 4), tensor("pads", [0, 0, 0, 1])])
    for name, source in made.items():
        save(Path(f"{name}.onnx"), source)
    for name in (f"broken {FILE}.onnx", f"folder {FILE}/b{FILE}.onnx"):
        Path(name).write_bytes(b"no model")
    np.savez("x.npz", **{f"other {HOSTILE}": np.zeros(3)})
    return tmp_path


@pytest.mark.parametrize(("arguments", "code", "times"), CASES, ids=lambda value: ascii(value)[:60])
def test_a_console_gets_whole_lines(
    arguments: list[str], code: int, times: int, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended, out, err = run(capfd, *arguments)
    text = out + err
    assert ended == code, text
    assert {letter for letter in text if not letter.isprintable()} == {"\n"}, ascii(text)
    assert not [line for line in text.splitlines() if line.lstrip().startswith("FAKED")], text
    assert text.count(ESCAPED) + text.count(ESCAPED_FILE) >= times


def test_what_has_no_shape_is_escaped() -> None:
    assert shown(HOSTILE) == ESCAPED
    assert shown("conv/Pad_1 größe 寸法 → «x» 😀") == "conv/Pad_1 größe 寸法 → «x» 😀"
    assert shown("\U000e0041\u00ad\ud800") == r"\U000e0041\xad\ud800"


def test_json_stays_json(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (["convert", "m.onnx", "out.onnx", "-q", "--report", "-"], ["inspect", "m.onnx", "--json"]):
        text = run(capfd, *arguments)[1]
        told = json.loads(text)
        assert HOSTILE in told.get("models", [told])[0]["pads"][0]["path"] and text.replace("\n", "").isprintable()
