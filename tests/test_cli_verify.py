"""``padops verify``, ``info`` and ``describe``, and the ways in which the command is started."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import command
import numpy as np
import onnx
import onnxruntime
import pytest
from command_lines import MODELS, ROOT, Cli, columns, save
from onnx import helper
from small_models import FLOAT, INT64, model, one_pad, pad, same_but_for_the_pads, tensor
from written_models import half_network

import padops
from padops.convert.records import SCHEMA
from padops.runtime import installed

PADS = tensor("pads", [0, 1, 0, 1])


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


# --- padops verify ----------------------------------------------------------------------------------------------------


def test_equal(cli: Cli, here: Path) -> None:
    source = MODELS / "pad_18.onnx"
    padops.convert(source, "out.onnx")
    code, text, err = cli("verify", "--run", source, "out.onnx", "--strict", "--seed", 3)
    assert (code, err) == (0, "")
    out = lines_of(text)
    assert out[:2] == [
        "proved: wherever the original runs, the converted model returns the same",
        "the same in both, where an ONNX Pad and its padops operator count as the same: 2 operators",
    ]
    assert out[-5:] == ["run as well: the outputs are bit-equal",
                        "with x: float[2, 3, 4], run_pads: int64[2], run_axes: int32[1] (4 draws)", "chosen: equal",
                        "asked: equal", "2 Pads padded something in the runs"]  # fmt: skip
    assert cli("verify", "--run", source, "out.onnx", "-q") == (0, "", "")


def test_different(cli: Cli, here: Path) -> None:
    for name, mode in (("a", "reflect"), ("b", "edge")):
        save(here / f"{name}.onnx", model([pad(name="pad", mode=mode)], tensors=[PADS]))
    np.savez("in.npz", x=np.arange(6, dtype=np.float32).reshape(2, 3))
    code, text, err = cli("verify", "--run", "a.onnx", "b.onnx", "--inputs", "in.npz")
    assert (code, err) == (4, "")
    assert lines_of(text)[0] == "different: the outputs differ"
    assert "y: 4 of 10 elements, first at [0, 0]: 1.0 became 0.0; largest difference 1" in lines_of(text)


def test_neither_model_runs(unproved: None, cli: Cli, here: Path) -> None:
    for name, more in (("a", {}), ("b", {"loudness": 11})):
        nodes = [pad(), helper.make_node("Unheard", ["y"], ["z"], domain="custom", **more)]
        save(here / f"{name}.onnx", model(nodes, imports=[("custom", 1)], outputs=[("z", FLOAT, None)], tensors=[PADS]))
    assert cli("verify", "--run", "a.onnx", "a.onnx")[0] == 5
    code, text, _ = cli("verify", "--run", "a.onnx", "b.onnx")
    told = ["unknown: neither model runs", "not proved: nobody has tried to prove it"]
    assert (code, lines_of(text)[:2]) == (5, told)


def test_a_pad_that_pads_nothing(unproved: None, cli: Cli, here: Path) -> None:
    save(here / "m.onnx", model([pad(name="pad")], inputs=[("x", FLOAT, [2, 3]), ("pads", INT64, [4])]))
    np.savez("in.npz", x=np.ones((2, 3), np.float32), pads=np.zeros(4, np.int64))
    arguments = ("verify", "--run", "m.onnx", "m.onnx", "--inputs", "in.npz")
    code, text, _ = cli(*arguments)
    assert (code, lines_of(text)[-3:]) == (0, [
        "y: equal, but weak: every element is 1.0 in every run",
        "graph/pad not exercised",
        "it padded nothing in any run",
    ])  # fmt: skip
    assert cli(*arguments, "--strict")[0] == 5


def test_strict_conversions_write_nothing_in_doubt(unproved: None, cli: Cli, here: Path) -> None:
    nodes = [pad(output="p", name="pad", mode="reflect"), helper.make_node("Size", ["p"], ["y"])]
    save(here / "m.onnx", model(nodes, outputs=[("y", INT64, None)], tensors=[PADS]))
    arguments = ["convert", "m.onnx", "out.onnx", "--verify", "--run", "--report", "r.json"]
    code, _, err = cli(*arguments, "--strict")
    text = "padops could not decide whether the models agree: output y is weak"
    assert (code, err.startswith(f"error: {text}"), Path("out.onnx").exists()) == (5, True, False)
    assert cli(*arguments)[0] == 0
    told = json.loads(Path("r.json").read_text())
    assert told["verification"]["pads"] == [{
        "path": "graph/pad", "form": "Pad", "exercise": "exercised", "equal": True, "compared": [], "detail": "",
        "right": None,
    }]  # fmt: skip
    assert set(told["verification"]["outputs"][0]) == {"name", "equal", "detail", "weak"}


def test_rounding(cli: Cli, here: Path) -> None:
    save(here / "half.onnx", half_network())
    arguments = ["convert", "half.onnx", "out.onnx", "--verify", "--run"]
    code, _, err = cli(*arguments, "--rtol", "0", "--atol", "1e-9")
    assert (code, Path("out.onnx").exists()) == (4, False) and "1 output differs; y: " in err
    code, text, err = cli(*arguments)
    assert (code, err, Path("out.onnx").exists()) == (0, "", True)
    assert {"run as well: the outputs differ by rounding", "2 Pads padded something in the runs"} <= {*lines_of(text)}
    for more, expected in (([], 0), (["--rtol", "0.1", "--atol", "0.1"], 0), (["--strict"], 0), (["--atol", "0"], 4)):
        assert cli("verify", "half.onnx", "out.onnx", *more)[0] == expected
    told = "error: rtol is -1, expected a finite number of 0 or more\n"
    assert cli("verify", "half.onnx", "out.onnx", "--rtol", "-1") == (2, "", told)


def test_a_proof_that_a_run_refutes_is_not_printed(cli: Cli, here: Path) -> None:
    """The amounts differ from 1,000,000 elements on, further than the sizes of proofs reach."""
    head = '<ir_version: 8, opset_import: ["": 18]> g (float[n] x) => (float[m] y) '
    steps = "s = Shape(x) q = Div(s, k) t = Div(q, k) r = Div(t, k) e = Add(one, r) "
    steps += "p = Concat<axis = 0>(one, e) y = Pad(x, p)"
    texts = ("<int64[2] p = {1, 1}> { y = Pad(x, p) }", f"<int64[1] one = {{1}}, int64[1] k = {{100}}> {{ {steps} }}")
    paths = [save(here / f"{i}.onnx", onnx.parser.parse_model(head + text)) for i, text in enumerate(texts)]
    code, text, _ = cli("verify", *paths)
    first = text.splitlines()[0]
    assert code == 0 and "proved to do the same" in " ".join(text.split()) and first.endswith(", for the sizes below")
    np.savez("x.npz", x=np.zeros(1_000_000, np.float32))
    code, text, _ = cli("verify", *paths, "--inputs", "x.npz", "--run")
    assert code == 4 and text.startswith("different") and "proved to do" not in " ".join(text.split())


def fields(page: str, heading: str) -> set[str]:
    """The fields that the first table behind a text of a page names."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(heading)[2]
    rows = itertools.takewhile(lambda line: line.startswith("|"), text[text.index("|") :].splitlines())
    return {name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}


def test_verify_as_json(cli: Cli, here: Path) -> None:
    save(here / "m.onnx", one_pad(13))
    verification = padops.convert("m.onnx", "out.onnx", verify=True).verification
    code, out, err = cli("verify", "m.onnx", "out.onnx", "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    about = {"schema": SCHEMA, "versions": installed.versions(), "original": "m.onnx", "converted": "out.onnx"}
    assert {name: told.pop(name) for name in [*about, "exit"]} == about | {"exit": 0}
    assert told == json.loads(json.dumps(verification.to_json()))
    assert fields("verification.md", "`Verification.to_json()` have:") == set(told)
    save(here / "other.onnx", model([pad(mode="edge")], 13, tensors=[tensor("pads", [1, 0, 0, 2])]))
    code, out, _ = cli("verify", "m.onnx", "other.onnx", "--json", "--run")
    told = json.loads(out)
    assert (code, told["exit"], told["verdict"]) == (4, 4, "different")


# --- padops info and describe -----------------------------------------------------------------------------------------


def test_info(cli: Cli) -> None:
    code, out, err = cli("info")
    lines = columns(out)
    for name, stated in {**installed.versions(), "library": padops.get_library_path()}.items():
        assert next(line[-1] for line in lines if line and line[0].split()[0] == name) == (stated or "not installed")
    described = padops.describe()
    names = ", ".join(op["name"] for op in described["ops"])
    assert [f"domain padops, version {described['version']}: {names}"] in lines
    assert lines[-1] == ["self-check: padops::Pad_18 of int16 in a session: equal to the reference"]
    assert (code, err) == (0, "")
    code, out, err = cli("info", "--json")
    told = json.loads(out)
    assert (code, err, told["schema"], told["error"], told["why"]) == (0, "", 1, None, None)
    assert (told["versions"], told["library"]) == (installed.versions(), padops.get_library_path())
    assert (told["domain"], told["version"]) == (described["domain"], described["version"])
    assert told["operators"] == {op["name"]: op["types"] for op in described["ops"]}
    assert (told["self_check"], isinstance(told["providers"], dict)) == ("equal", True)
    assert fields("ci.md", "`padops info --json` describes") == set(told) - {"why"}


def test_another_distribution_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "version_of", {"onnx-weekly": "1.24.0.dev1", "numpy": "2.5.5"}.get)
    installed.installed_version.cache_clear()
    told = installed.versions()
    installed.installed_version.cache_clear()
    assert (told["onnx"], told["numpy"], told["onnxruntime"]) == ("1.24.0.dev1 (onnx-weekly)", "2.5.5", None)


NONSENSE = np.zeros((2, 8), np.int16)
# What fails, with what or in place of what, how the error begins, and the outcome of the self-check.
FAILURES = [("padops.runtime.library.get_library_path", OSError("no library"), "no library\n", "not run"),
            ("padops.spec.reference.run", NONSENSE, "the self-check failed: [[2, 1, 0, ", "failed"),
            ("padops.runtime.library.describe", RuntimeError("no rebuild"), "no rebuild\n", "not run")]  # fmt: skip


@pytest.mark.parametrize(("where", "what", "error", "check"), FAILURES)
def test_info_fails(where: str, what: Any, error: str, check: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set(json.loads(cli("info", "--json")[1]))
    monkeypatch.setattr(where, Mock(side_effect=itertools.repeat(what)))
    code, _, err = cli("info")
    assert code == 1 and err.startswith(f"error: {error}")
    code, out, err = cli("info", "--json")
    told = json.loads(out)
    assert (code, err, told["self_check"], set(told)) == (1, f"error: {told['error']}\n", check, names)
    assert (told["library"] is None) is where.endswith("get_library_path")
    if where.endswith("describe"):
        assert cli("describe") == (1, "", f"error: {error}")


def test_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    other = importlib.util.find_spec("onnx.onnx_cpp2py_export").origin
    monkeypatch.setenv("PADOPS_LIBRARY", other)
    result = command.padops("info")
    told = f"error: {Path(other).resolve()} is not the library of padops: it has no function padops_describe; "
    assert (result.returncode, result.stderr.startswith(told), result.stderr.count("\n")) == (1, True, 1), result.stderr


def test_info_where_onnxruntime_refuses_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADOPS_COPY", "foo")
    result = command.padops("info", "--json")
    assert result.returncode == 1 and padops.get_library_path() in result.stdout
    assert "Traceback" not in result.stderr and "error: the self-check failed: " in result.stderr
    assert "PADOPS_COPY is 'foo', expected baseline, avx2 or string" in result.stderr.splitlines()[-1]
    assert json.loads(result.stdout)["self_check"] == "failed"


def test_other_providers(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    names = ["OpenVINOExecutionProvider", "CUDAExecutionProvider", "OtherExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)
    code, text, _ = cli("info")
    assert code == 0 and "CPUExecutionProvider:" not in text
    assert "OpenVINOExecutionProvider: rules of onnxruntime-openvino 1.24.1\n" in text
    assert "CUDAExecutionProvider: rules read in its source, not run\n" in text
    assert "OtherExecutionProvider: padops has no rules for it, and stands behind it; " in text
    assert ": padops probe OtherExecutionProvider\n" in text


def test_the_script_is_the_command(here: Path) -> None:
    save(here / "in.onnx", one_pad(13))
    script = [sys.executable, str(ROOT / "scripts" / "convert.py")]
    arguments = "in.onnx -o out.onnx --verify --run --no-fallback".split()
    result = subprocess.run([*script, *arguments], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "the outputs are bit-equal" in result.stdout
    assert same_but_for_the_pads(one_pad(13), onnx.load("out.onnx"))
    assert subprocess.run(script, capture_output=True).returncode == 2
