"""The command line: what it prints, what it exits with, and that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_lines import MODELS, Cli, columns, save
from inspected_models import mixed
from onnx import helper
from small_models import external, model, one_pad, pad, same_but_for_the_pads, tensor

import padops
from padops import cli
from padops.convert import records
from padops.convert.rewrite import TARGETS
from padops.files import staging


def test_convert(cli: Cli, tmp_path: Path) -> None:
    source, output = MODELS / "nested.onnx", tmp_path / "out.onnx"
    code, out, err = cli("convert", source, "-o", output, "--verify", "--run", "--no-fallback")
    assert (code, err) == (0, "")
    assert [line[0] for line in columns(out) if "padops::Pad_19" in line] == [
        "graph/if.else_branch/else_out_pad", "graph/if.then_branch/then_out_pad", "graph/loop.body/grown_pad",
        "function sample::Frame/framed_pad",
    ]  # fmt: skip
    assert out.splitlines()[1:3] == [
        "  Pad (opset 20): reflect, float [2, 3] \N{RIGHTWARDS ARROW} [4, 5], axis 0: 1 before, 1 after, "
        "axis 1: 2 before, 0 after",
        "  ONNX Runtime runs the original",
    ]
    assert "the outputs are bit-equal" in out
    assert out.splitlines()[-1] == f"4 Pads: 4 converted; wrote {output} ({output.stat().st_size:,} bytes)"
    assert same_but_for_the_pads(onnx.load(source), onnx.load(output))


def test_the_report(cli: Cli, tmp_path: Path) -> None:
    source, output, report = MODELS / "pad_18.onnx", tmp_path / "out.onnx", tmp_path / "r.json"
    ran = cli("convert", source, "-o", output, "--verify", "--run", "--seed", 7, "--report", report, "-q")
    assert ran == (0, "", "")
    told = json.loads(report.read_text())
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


def test_a_dry_run_writes_only_the_report(cli: Cli, tmp_path: Path) -> None:
    code, out, _ = cli("convert", MODELS / "int16.onnx", "--dry-run", "--report", tmp_path / "r.json")
    assert (code, out.splitlines()[-1]) == (0, "1 Pad: 1 converted; nothing was written (dry run)")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    assert json.loads((tmp_path / "r.json").read_text())["output"] == {"path": None, "files": []}


def test_in_place_twice(cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "m.onnx", one_pad(13))
    assert cli("convert", source, "--in-place")[0] == 0
    content = source.read_bytes()
    code, out, _ = cli("convert", source, "--in-place")
    assert (code, source.read_bytes(), columns(out)[0]) == (0, content, ["graph/p", "padops::Pad_13"])
    assert "already converted; ONNX Runtime runs the function" in out
    assert out.splitlines()[-1] == "1 Pad: 1 already converted; nothing was written"


def test_a_model_without_a_pad(cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "in.onnx", model([helper.make_node("Identity", ["x"], ["y"])]))
    code, out, _ = cli("convert", source, "-o", tmp_path / "out.onnx")
    assert (code, (tmp_path / "out.onnx").read_bytes()) == (0, source.read_bytes())
    assert out.startswith("the model has no Pad\n0 Pads: 0 converted; wrote ")
    assert cli("inspect", source)[1].splitlines()[-1] == "the model has no Pad"


def test_select_needed(cli: Cli) -> None:
    _, out, _ = cli("convert", MODELS / "pad_02.onnx", "--dry-run", "--select", "needed")
    assert columns(out)[0] == ["graph/constant_pad", "as it was"]
    assert ["ONNX Runtime runs it: double, constant"] in columns(out)
    _, out, _ = cli("convert", MODELS / "pad_18.onnx", "--dry-run", "--select", "needed")
    assert out.count("as long as no amount is more than the axis has elements to reflect") == 1
    for options in ([], ["--target", "onnx"]):  # that onnxruntime runs a Pad is no reason to replace it
        _, out, _ = cli("convert", MODELS / "pad_19.onnx", "--dry-run", *options)
        assert "ONNX Runtime runs the original" in out and "ONNX Runtime runs it" not in out


def test_the_python_kernel_is_named(cli: Cli, tmp_path: Path) -> None:
    """The heading named padops::Pad_18, which the file does not have; so it did for what had been converted before."""
    for source, output in ((MODELS / "int16.onnx", tmp_path / "1.onnx"), (tmp_path / "1.onnx", tmp_path / "2.onnx")):
        code, out, _ = cli("convert", source, output, "--target", "pyop")
        assert (code, columns(out)[0]) == (0, ["graph/padded_pad", "padops.pyop::Pad"])


def test_a_verified_model_without_inputs(cli: Cli, tmp_path: Path) -> None:
    tensors = [tensor("x", [[1.5, 2]], np.float32), tensor("pads", [0, 1, 0, 1])]
    source = save(tmp_path / "in.onnx", model([pad()], 13, inputs=[], tensors=tensors))
    code, out, _ = cli("convert", source, tmp_path / "out.onnx", "--verify")
    assert code == 0 and "  with no inputs" in out and "draws" not in out


def test_strict(cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "mixed.onnx", mixed("complex [0]"))
    arguments = ("convert", source, "-o", tmp_path / "out.onnx", "--report", tmp_path / "r.json")
    code, out, err = cli(*arguments, "--strict")
    why = "its data are complex64, and ONNX Runtime has no complex tensors"
    text = f"error: 1 of 2 Pads stays unconverted: graph/complex [0] (Pad-13 inputs): {why}\n"
    assert (code, err) == (3, text)
    assert cli(*arguments, "--strict", "-q") == (3, "", text)
    assert columns(out)[columns(out).index(["graph/complex [0]", "unconverted"]) + 2] == [why]
    assert not (tmp_path / "out.onnx").exists()
    assert json.loads((tmp_path / "r.json").read_text())["counts"]["unconverted"] == 1
    code, out, err = cli(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("2 Pads: 1 converted, 1 unconverted; wrote ")


def test_the_former_name_of_unconverted_warns() -> None:
    conversion = padops.convert(mixed("complex [0]"))
    with pytest.warns(DeprecationWarning, match="Conversion.left .* 0.3 .*; use Conversion.unconverted") as warned:
        assert conversion.left == conversion.unconverted
    assert warned[0].filename == __file__, "it names the line of the user"
    assert [record.path for record in conversion.unconverted] == ["graph/complex [0]"]


def test_a_mismatch(wrong_amounts: None, cli: Cli, tmp_path: Path) -> None:
    source, output, report = save(tmp_path / "in.onnx", one_pad(13)), tmp_path / "out.onnx", tmp_path / "r.json"
    code, out, err = cli("convert", source, "-o", output, "--verify", "--run", "--report", report)
    assert (code, err) == (4, "error: 1 output differs; y: shape [5, 3] became [3, 5]\n")
    assert "different: the outputs differ" in out and not output.exists()
    assert json.loads(report.read_text())["verification"]["passed"] is False


def test_an_unexpected_exception_keeps_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(*arguments: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(TARGETS, "padops", surprise)
    with pytest.raises(ZeroDivisionError):
        cli.main(["convert", str(save(tmp_path / "in.onnx", one_pad(13))), "-o", str(tmp_path / "out.onnx")])
    assert not (tmp_path / "out.onnx").exists()


def test_an_interrupt(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging.os, "replace", lambda *names: os.kill(os.getpid(), signal.SIGINT))
    source = save(tmp_path / "in.onnx", one_pad(13))
    code, _, err = cli("convert", source, "-o", tmp_path / "out.onnx")
    assert (code, err) == (130, "interrupted; nothing has been left behind\n")
    assert list(tmp_path.iterdir()) == [source]


@pytest.fixture
def with_data(tmp_path: Path) -> Path:
    """A model with external data, and a folder for its conversion."""
    tensors = [external("w", "w.bin", 4), tensor("pads", [0, 0, 0, 1])]
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (tmp_path / "out").mkdir()
    return save(tmp_path / "m.onnx", model([pad()], 17, tensors=tensors))


def test_a_request_to_end(with_data: Path) -> None:
    """SIGTERM in the middle of a copy: nothing half-written stays."""
    program = (
        "import os, signal, sys\n"
        "from padops import cli\n"
        "from padops.files import staging\n"
        "staging.os.copy_file_range = lambda *arguments: os.kill(os.getpid(), signal.SIGTERM)\n"
        "cli.main(sys.argv[1:])\n"
        "print('still here')\n"
    )
    command = [sys.executable, "-c", program, "convert", "m.onnx", "-o", "out/m.onnx"]
    result = subprocess.run(command, cwd=with_data.parent, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (128 + signal.SIGTERM, "")
    assert list((with_data.parent / "out").iterdir()) == []


def test_progress_is_shown_while_data_are_copied(cli: Cli, with_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = with_data.parent / "out" / "m.onnx"
    with monkeypatch.context() as terminal:
        terminal.setenv("FORCE_COLOR", "1")  # which rich takes for a terminal
        terminal.setenv("COLUMNS", "120")
        terminal.setattr(sys.stderr, "isatty", lambda: True)
        code, _, err = cli("convert", with_data, "-o", output)
    assert code == 0 and "copying external data" in err and "16/16 bytes" in err
    assert cli("convert", with_data, "-o", output)[1].splitlines()[-1].endswith("; its data stay in w.bin")
