"""``padops verify`` and ``padops convert --verify --strict``: what they print, and what they exit with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_lines import save
from half_networks import half_network
from onnx import helper
from small_models import FLOAT, INT64, model, pad, tensor

import padops
from padops import cli
from padops.convert.records import SCHEMA

MODELS = Path(__file__).resolve().parent.parent / "models"
PADS = tensor("pads", [0, 1, 0, 1])


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str], str]:
    code = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, [" ".join(line.split()) for line in captured.out.splitlines()], captured.err


def hiding(mode: str) -> onnx.ModelProto:
    nodes = [pad(output="p", name="pad", mode=mode), helper.make_node("Size", ["p"], ["y"])]
    return model(nodes, outputs=[("y", INT64, None)], tensors=[PADS])


def test_equal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, converted = MODELS / "pad_18.onnx", tmp_path / "out.onnx"
    padops.convert(source, converted)
    code, out, err = run(capsys, "verify", "--run", source, converted, "--strict", "--seed", 3)
    assert (code, err) == (0, "")
    assert out[:2] == [
        "proved: wherever the original runs, the converted model returns the same",
        "the same in both, where an ONNX Pad and its padops operator count as the same: 2 operators",
    ]
    assert out[-5:] == [
        "run as well: the outputs are bit-equal",
        "with x: float[2, 3, 4], run_pads: int64[2], run_axes: int32[1] (4 draws)",
        "chosen: equal",
        "asked: equal",
        "2 Pads padded something in the runs",
    ]
    assert run(capsys, "verify", "--run", source, converted, "-q") == (0, [], "")


def test_different(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sources = [model([pad(name="pad", mode=mode)], tensors=[PADS]) for mode in ("reflect", "edge")]
    source, broken = save(tmp_path / "a.onnx", sources[0]), save(tmp_path / "b.onnx", sources[1])
    np.savez(tmp_path / "in.npz", x=np.arange(6, dtype=np.float32).reshape(2, 3))
    code, out, err = run(capsys, "verify", "--run", source, broken, "--inputs", tmp_path / "in.npz")
    assert (code, err) == (4, "")
    assert out[0] == "different: the outputs differ"
    assert "y: 4 of 10 elements, first at [0, 0]: 1.0 became 0.0; largest difference 1" in out


def test_what_could_not_be_told(unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Neither model runs, and a node of another domain is another; or with --strict: a Pad that pads nothing."""
    nodes = [pad(), helper.make_node("Unheard", ["y"], ["z"], domain="custom")]
    source = save(
        tmp_path / "a.onnx", model(nodes, imports=[("custom", 1)], outputs=[("z", FLOAT, None)], tensors=[PADS])
    )
    assert run(capsys, "verify", "--run", source, source)[0] == 5
    nodes[1].attribute.append(helper.make_attribute("loudness", 11))
    other = model(nodes, imports=[("custom", 1)], outputs=[("z", FLOAT, None)], tensors=[PADS])
    code, out, _ = run(capsys, "verify", "--run", source, save(tmp_path / "other.onnx", other))
    assert (code, out[0]) == (5, "unknown: neither model runs")
    assert out[1] == "not proved: nobody has tried to prove it"
    given = model([pad(name="pad")], inputs=[("x", FLOAT, [2, 3]), ("pads", INT64, [4])])
    source = save(tmp_path / "b.onnx", given)
    np.savez(tmp_path / "in.npz", x=np.ones((2, 3), np.float32), pads=np.zeros(4, np.int64))
    arguments = ("verify", "--run", source, source, "--inputs", tmp_path / "in.npz")
    code, out, _ = run(capsys, *arguments)
    assert code == 0
    assert out[-3:] == [
        "y: equal, but weak: every element is 1.0 in every run",
        "graph/pad not exercised",
        "it padded nothing in any run",
    ]
    assert run(capsys, *arguments, "--strict")[0] == 5


def test_strict_conversions_write_nothing_in_doubt(
    unproved: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = save(tmp_path / "m.onnx", hiding("reflect"))
    arguments = ["convert", source, "-o", tmp_path / "out.onnx", "--verify", "--run", "--report", tmp_path / "r.json"]
    code, _, err = run(capsys, *arguments, "--strict")
    text = "padops could not decide whether the models agree: output y is weak"
    assert (code, err.startswith(f"error: {text}"), (tmp_path / "out.onnx").exists()) == (5, True, False)
    assert run(capsys, *arguments)[0] == 0
    told = json.loads((tmp_path / "r.json").read_text())
    assert told["schema"] == SCHEMA
    (one,) = told["verification"]["pads"]
    assert one == {
        "path": "graph/pad", "form": "Pad", "exercise": "exercised", "equal": True, "compared": [], "detail": "",
        "right": None,
    }  # fmt: skip
    assert set(told["verification"]["outputs"][0]) == {"name", "equal", "detail", "weak"}


def test_rounding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, out = save(tmp_path / "half.onnx", half_network()), tmp_path / "out.onnx"
    arguments = ["convert", source, "-o", out, "--verify", "--run"]
    code, _, err = run(capsys, *arguments, "--rtol", "0", "--atol", "1e-9")
    assert (code, out.exists()) == (4, False) and "1 output differs; y: " in err
    code, text, err = run(capsys, *arguments)
    assert (code, err, out.exists()) == (0, "", True)
    assert "run as well: the outputs differ by rounding" in text and "2 Pads padded something in the runs" in text
    for more, expected in (([], 0), (["--rtol", "0.1", "--atol", "0.1"], 0), (["--strict"], 0), (["--atol", "0"], 4)):
        assert run(capsys, "verify", "--run", source, out, *more)[0] == expected
    code, _, err = run(capsys, "verify", "--run", source, out, "--rtol", "-1")
    assert (code, err) == (2, "error: rtol is -1, expected a finite number of 0 or more\n")


def test_a_proof_that_a_run_refutes_is_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The amounts differ from 1,000,000 elements on, further than the sizes of proofs reach."""
    head = '<ir_version: 8, opset_import: ["": 18]> g (float[n] x) => (float[m] y) '
    steps = "s = Shape(x) q = Div(s, k) t = Div(q, k) r = Div(t, k) e = Add(one, r) "
    steps += "p = Concat<axis = 0>(one, e) y = Pad(x, p)"
    texts = ("<int64[2] p = {1, 1}> { y = Pad(x, p) }", f"<int64[1] one = {{1}}, int64[1] k = {{100}}> {{ {steps} }}")
    paths = [save(tmp_path / f"{i}.onnx", onnx.parser.parse_model(head + text)) for i, text in enumerate(texts)]
    code, lines, _ = run(capsys, "verify", *paths)
    assert code == 0 and "proved to do the same" in " ".join(lines) and lines[0].endswith(", for the sizes below")
    np.savez(tmp_path / "x.npz", x=np.zeros(1_000_000, np.float32))
    code, lines, _ = run(capsys, "verify", *paths, "--inputs", tmp_path / "x.npz", "--run")
    assert code == 4 and lines[0].startswith("different") and "proved to do" not in " ".join(lines)
