"""Names from a model or folder reach the console in one line, with no control sequences that move or hide text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from command import padops
from command_lines import run, save
from onnx import TensorProto, helper
from small_models import FLOAT, external, model, pad, tensor

from padops.terminal import shown

# Clears the screen, begins a line of its own, turns the direction of writing round, and is a control character of
# Latin-1.
HOSTILE = "x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
ESCAPED = r"x\x1b[2J\x07\r\nFAKED\u2028\u202egnp\u2066\x9b1m\x7f\u200f\ufeff"
FILE = HOSTILE.replace("[", "")
ESCAPED_FILE = ESCAPED.replace("[", "")


Told = Callable[..., str]


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Told:
    """Return the printed text as a console shows it: one line for each line break."""

    def text_of(*arguments: object, code: int) -> str:
        ended, out, err = run(capfd, *arguments)
        assert ended == code, out + err
        return shown_by_a_console(out + err)

    return text_of


def shown_by_a_console(text: str) -> str:
    assert sorted({letter for letter in text if not letter.isprintable()}) in ([], ["\n"]), ascii(text)
    assert not [line for line in text.splitlines() if line.lstrip().startswith("FAKED")], text
    return text


def hostile(mode: str = "reflect", amount: int = 1, **names: str) -> onnx.ModelProto:
    """A model with a Pad all of whose names are hostile; it is as valid as any."""
    name = f"in {HOSTILE}"
    node = helper.make_node("Pad", [name, f"pads {HOSTILE}"], [HOSTILE], name=HOSTILE, mode=mode, doc_string=HOSTILE)
    made = model([node], 13, inputs=[(name, FLOAT, [2, 3])], outputs=[(HOSTILE, FLOAT, None)],
                 tensors=[tensor(f"pads {HOSTILE}", [0, amount, 0, 0])])  # fmt: skip
    made.graph.name = made.producer_name = made.graph.doc_string = HOSTILE
    return made


def test_what_has_no_shape_is_escaped() -> None:
    assert shown(HOSTILE) == ESCAPED
    assert shown("conv/Pad_1 größe 寸法 → «x» 😀") == "conv/Pad_1 größe 寸法 → «x» 😀"
    assert shown("\U000e0041\u00ad\ud800") == r"\U000e0041\xad\ud800"


def test_inspect_and_convert_and_verify(told: Told, tmp_path: Path) -> None:
    source, other = save(tmp_path / "m.onnx", hostile(amount=2)), save(tmp_path / "o.onnx", hostile(amount=1))
    assert ESCAPED in told("inspect", source, code=0)
    assert ESCAPED in told("convert", source, "-o", tmp_path / "out.onnx", "--verify", "--run", code=0)
    text = told("verify", source, other, code=4)
    assert "the outputs differ" in text and f"  {ESCAPED}: " in text


def test_a_node_that_fails(told: Told, tmp_path: Path) -> None:
    """The node's and the mode's names are in the reason."""
    source = save(tmp_path / "m.onnx", hostile(mode=HOSTILE))
    for command, code in ((["inspect", source], 0), (["convert", source, "--dry-run"], 3)):
        text = told(*command, code=code)
        assert text.count(ESCAPED) >= 2
    assert ESCAPED in told("convert", source, "-o", tmp_path / "out.onnx", "--strict", code=3)


def test_the_same_mode_in_a_subgraph(told: Told, tmp_path: Path) -> None:
    graph = hostile(mode=HOSTILE).graph
    graph.input.pop()
    outer = helper.make_node("If", ["c"], ["y"], name=HOSTILE, then_branch=graph, else_branch=graph)
    made = model([outer], 13, inputs=[("c", TensorProto.BOOL, []), (f"in {HOSTILE}", FLOAT, [2, 3])])
    assert ESCAPED in told("inspect", save(tmp_path / "m.onnx", made), code=0)


@pytest.mark.parametrize("location", [HOSTILE, f"../{HOSTILE}", f"/{HOSTILE}/w.bin"])
def test_a_location(told: Told, location: str, tmp_path: Path) -> None:
    made = model([pad()], 17, tensors=[external(HOSTILE, location, 4), tensor("pads", [0, 0, 0, 1])])
    source = save(tmp_path / "m.onnx", made)
    for command in (["convert", source, "-o", tmp_path / "out.onnx"], ["inspect", source]):
        text = told(*command, code=1)
        assert text.startswith("error: ") and "FAKED" in text and len(text.splitlines()) == 1


def test_a_model_from_a_stream(tmp_path: Path) -> None:
    made = model([pad()], 17, tensors=[external("w", HOSTILE, 4), tensor("pads", [0, 0, 0, 1])])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with (tmp_path / "m.onnx").open() as stream:
        ended = padops("convert", "-", tmp_path / "out.onnx", stdin=stream)
    text = shown_by_a_console(ended.stdout + ended.stderr)
    assert ended.returncode == 1 and f"external data ({ESCAPED})" in text


def test_names_of_files(told: Told, tmp_path: Path) -> None:
    source = save(tmp_path / f"{FILE}.onnx", hostile())
    out = tmp_path / f"out {FILE}.onnx"
    assert ESCAPED_FILE in told("inspect", source, code=0)
    assert f"wrote {shown(out)}" in told("convert", source, out, code=0)
    (tmp_path / f"broken {FILE}.onnx").write_bytes(b"no model")
    (tmp_path / f"empty {FILE}").mkdir()
    for command in ("inspect", "verify"):
        files = [tmp_path / f"broken {FILE}.onnx"] * (1 + (command == "verify"))
        text = told(command, *files, code=1)
        assert text.startswith(f"error: {shown(files[0])}: not an ONNX model") and len(text.splitlines()) == 1
    assert f"empty {ESCAPED_FILE} has no " in told("inspect", tmp_path / f"empty {FILE}", code=1)
    text = told("convert", source, tmp_path / FILE / "out.onnx", code=1)
    assert text.startswith("error: ") and ESCAPED_FILE in text


def test_a_folder(told: Told, tmp_path: Path) -> None:
    folder = tmp_path / FILE
    folder.mkdir()
    save(folder / f"{FILE}.onnx", hostile())
    (folder / f"b{FILE}.onnx").write_bytes(b"no model")
    for command in (
        ["inspect", folder],
        ["convert", folder, tmp_path / "out"],
        ["convert", folder, tmp_path / "out", "--jobs", "2"],
    ):
        text = told(*command, code=1)
        assert text.count(ESCAPED_FILE) >= 4
    assert f"{shown(folder)} has no" not in text


def test_inputs_of_hostile_names(told: Told, tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", hostile())
    np.savez(tmp_path / "x.npz", **{f"other {HOSTILE}": np.zeros(3)})
    for command in (["verify", source, source], ["convert", source, tmp_path / "out.onnx", "--verify", "--run"]):
        text = told(*command, "--inputs", tmp_path / "x.npz", code=2)
        assert text.startswith("error: ") and ESCAPED in text


def test_json_stays_json(told: Told, tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", hostile())
    report = json.loads(told("convert", source, tmp_path / "out.onnx", "-q", "--report", "-", code=0))
    assert HOSTILE in report["pads"][0]["path"]
    folder = json.loads(told("inspect", tmp_path, "--json", code=0))
    assert HOSTILE in folder["models"][0]["pads"][0]["path"]


def test_words_of_the_command_line(told: Told, tmp_path: Path) -> None:
    assert f"unrecognized arguments: --{ESCAPED}" in told("inspect", "m.onnx", f"--{HOSTILE}", code=2)
    assert ESCAPED in told("inspect", f"no {HOSTILE}", code=1)
    assert ESCAPED in told("convert", "m.onnx", "--target", HOSTILE, code=2)
    assert r"\x1b[2J\x07" in told("bench", "--model", f"no {HOSTILE}", code=1)
