"""The command line: what it prints, what it exits with, and that it leaves nothing behind."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import onnx
import pytest
from command_lines import MODELS, columns, run, save
from onnx import helper
from small_models import COMPLEX64, FLOAT, model, one_pad, pad, same_but_for_the_pads, tensor

import padops
from padops import __main__ as command_of_padops
from padops.convert import records


def test_an_interruption_while_modules_load(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loading:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "padops.cli", Loading())  # type: ignore[arg-type]
    assert command_of_padops.main() == 130 and capsys.readouterr().err == "interrupted\n"


def test_convert(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(
        capsys, "convert", MODELS / "nested.onnx", "-o", tmp_path / "out.onnx", "--verify", "--run", "--no-fallback"
    )
    assert (code, err) == (0, "")
    assert [line for line in columns(out) if "padops::Pad_19" in line] == [
        ["graph/if.else_branch/else_out_pad", "padops::Pad_19"],
        ["graph/if.then_branch/then_out_pad", "padops::Pad_19"],
        ["graph/loop.body/grown_pad", "padops::Pad_19"],
        ["function sample::Frame/framed_pad", "padops::Pad_19"],
    ]
    assert out.splitlines()[1:3] == [
        "  Pad (opset 20): reflect, float [2, 3] \N{RIGHTWARDS ARROW} [4, 5], axis 0: 1 before, 1 after, "
        "axis 1: 2 before, 0 after",
        "  the original: runs: ONNX Runtime runs it",
    ]
    assert "the outputs are bit-equal" in out
    size = (tmp_path / "out.onnx").stat().st_size
    assert out.splitlines()[-1] == f"4 Pads: 4 converted; wrote {tmp_path / 'out.onnx'} ({size:,} bytes)"
    assert same_but_for_the_pads(onnx.load(MODELS / "nested.onnx"), onnx.load(tmp_path / "out.onnx"))


def test_the_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, output = MODELS / "pad_18.onnx", tmp_path / "out.onnx"
    arguments = (
        "convert",
        source,
        "-o",
        output,
        "--verify",
        "--run",
        "--seed",
        7,
        "--report",
        tmp_path / "r.json",
        "-q",
    )
    assert run(capsys, *arguments) == (0, "", "")
    told = json.loads((tmp_path / "r.json").read_text())
    conversion = padops.convert(source, tmp_path / "again.onnx", verify=True, run=True, seed=7)
    described = json.loads(json.dumps(conversion.to_json()))
    described["output"] = json.loads(json.dumps(described["output"]).replace("again.onnx", "out.onnx"))
    assert told == described
    assert told["schema"] == records.SCHEMA == 7
    assert told["versions"]["onnx"] == onnx.__version__
    assert told["versions"]["padops"] == padops.__version__ == version("padops")
    assert told["counts"] == {"converted": 2, "already converted": 0, "folded": 0, "not needed": 0, "unconverted": 0}
    assert told["source"]["opsets"] == {"": 18}
    assert told["source"]["files"][0]["bytes"] == source.stat().st_size
    assert told["output"]["path"] == told["output"]["files"][0]["name"] == str(output)
    assert told["pads"][0] == {
        "path": "graph/chosen_pad", "name": "chosen_pad", "form": "Pad-18 inputs", "status": "converted",
        "op_type": "Pad_18", "reason": None, "notes": [], "corrects": None, "into": [],
        "operator": "Pad", "opset": 18, "mode": "constant", "type": "float", "input_shape": [2, 3, 4],
        "output_shape": [3, 3, 7], "amounts": [[0, 1], [0, 0], [1, 2]], "fill": "-inf", "verdict": "runs",
        "why": "ONNX Runtime runs it",
    }  # fmt: skip
    assert told["verification"]["outcome"] == "equal"
    assert [output["name"] for output in told["verification"]["outputs"]] == ["chosen", "asked"]


def test_in_place_twice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", one_pad(13))
    assert run(capsys, "convert", source, "--in-place")[0] == 0
    content = source.read_bytes()
    code, out, _ = run(capsys, "convert", source, "--in-place")
    assert (code, source.read_bytes()) == (0, content)
    assert columns(out)[0] == ["graph/p", "padops::Pad_13 already"]
    assert "the original: runs: ONNX Runtime runs the function that the model has for it" in out
    assert out.splitlines()[-1] == "1 Pad: 1 already converted; nothing was written"


def test_a_model_without_a_pad(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = save(tmp_path / "in.onnx", model([helper.make_node("Identity", ["x"], ["y"])]))
    code, out, _ = run(capsys, "convert", source, "-o", tmp_path / "out.onnx")
    assert (code, (tmp_path / "out.onnx").read_bytes()) == (0, source.read_bytes())
    assert out.splitlines() == [
        "the model has no Pad",
        f"0 Pads: 0 converted; wrote {tmp_path / 'out.onnx'} ({source.stat().st_size:,} bytes)",
    ]


def mixed(folder: Path) -> Path:
    nodes = [pad(), pad(["c", "pads"], "z", name="complex [0]")]
    inputs = [("x", FLOAT, [2, 3]), ("c", COMPLEX64, [2, 3])]
    source = model(nodes, 13, inputs=inputs, outputs=[("y", FLOAT, None), ("z", COMPLEX64, None)],
                   tensors=[tensor("pads", [0, 0, 0, 1])])  # fmt: skip
    return save(folder / "mixed.onnx", source)


def test_strict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = mixed(tmp_path)
    arguments = ("convert", source, "-o", tmp_path / "out.onnx", "--report", tmp_path / "r.json")
    code, out, err = run(capsys, *arguments, "--strict")
    why = "its data are complex64, and ONNX Runtime has no complex tensors"
    text = f"error: 1 of 2 Pads stays unconverted: graph/complex [0] (Pad-13 inputs): {why}"
    assert (code, err) == (3, f"{text}\n")
    assert run(capsys, *arguments, "--strict", "-q") == (3, "", f"{text}\n")
    at = columns(out).index(["graph/complex [0]", "unconverted"])
    assert columns(out)[at + 2] == [why]
    assert not (tmp_path / "out.onnx").exists()
    assert json.loads((tmp_path / "r.json").read_text())["counts"]["unconverted"] == 1
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("2 Pads: 1 converted, 1 unconverted; wrote ")
