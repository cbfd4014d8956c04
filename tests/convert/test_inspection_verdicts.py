"""Verdicts and commands of ``padops.inspect`` that were wrong once, with the installed onnxruntime as the witness."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from inspected_models import stock
from onnx import helper
from small_models import FLOAT, INT64, model, one_pad, pad, tensor

import padops
from padops import cli
from padops.convert.records import PadFacts
from padops.runtime.provider import FIRST_MINOR, runtime_minor


def only_pad(source: onnx.ModelProto) -> PadFacts:
    (facts,) = padops.inspect(source).pads
    return facts


# --- commands
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["my dir/m.onnx", 'it\'s "one".onnx', "back\\slash $HOME.onnx", "new\nline.onnx"])
def test_commands_can_be_pasted(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(one_pad(1).SerializeToString())
    commands = padops.inspect(path).commands()
    _, *words = shlex.split(commands["convert"].replace("OUT.onnx", shlex.quote(str(tmp_path / "out.onnx"))))
    assert cli.main([*words, "-q"]) == 0
    if runtime_minor() >= FIRST_MINOR:
        session = eval(commands["session"].removeprefix("session = "), {"padops": padops})
        assert session.run(None, {"x": np.zeros((2, 3), np.float32)})[0].shape == (5, 3)


# --- rules that are broken whatever the data are
# -------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", [False, True])
def test_an_operator_of_padops_that_breaks_a_rule(fallback: bool) -> None:
    """An axis that is empty has nothing to extend, with the library and without it."""
    plain = model([pad(mode="edge")], 18, inputs=[("x", FLOAT, ["n"])], tensors=[tensor("pads", [1, 1])])
    source = padops.convert(plain, fold=False, fallback=fallback).proto()
    assert only_pad(source).verdict == ("runs" if fallback else "refuses")
    source.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 0
    inspection = padops.inspect(source)
    assert inspection.pads[0].verdict == "breaks a rule"
    assert inspection.pads[0].why.endswith("[P5]")
    assert inspection.roads == ()
    data = np.zeros(0, np.float32)
    with pytest.raises(Exception, match=r"\[P5\]"):  # onnxruntime's exceptions have no common class of their own
        padops.InferenceSession(source.SerializeToString()).run(None, {"x": data})
    assert stock(source, {"x": data}) is None


ONES = np.ones((3, 5), np.float32)
ALONG = {"opset": 18, "tensors": [tensor("axes", [1])]}


def filled(
    dims: Any, length: Any, names: tuple[str, ...] = ("x", "pads", "f"), mode: str = "constant", **parts: Any
) -> Any:
    """A Pad of which pads and fill are inputs, of these dims."""
    inputs = [("x", FLOAT, [3, 5]), ("pads", INT64, length), ("f", FLOAT, dims)]
    return model([pad(names, mode=mode)], parts.pop("opset", 13), inputs=inputs, **parts)


@pytest.mark.parametrize("dims", [[1], [], [1, 1], [2], [0], [1, 3], ["n"]])
def test_declared_dims_of_a_fill(dims: list[int | str]) -> None:
    """Only mode constant reads it, and wants one element."""
    source = filled(dims, [4])
    facts = only_pad(source)
    fill = np.zeros([dim if isinstance(dim, int) else 1 for dim in dims], np.float32)
    ran = stock(source, {"x": ONES, "pads": np.array([0, 1, 0, 2]), "f": fill}) is not None
    assert ran == facts.runs == (facts.verdict != "breaks a rule")
    assert ran or facts.why.endswith("[P7]")
    assert only_pad(filled(dims, [4], mode="edge")).verdict != "breaks a rule"


@pytest.mark.parametrize(
    ("length", "parts"),
    [([3], {}), ([4], {}), ([6], {}), ([1, 4], {}), ([2, 2], {}), (["n"], {}), ([2], ALONG), ([4], ALONG)],
)
def test_declared_dims_of_pads(length: list[int | str], parts: dict[str, Any]) -> None:
    """Two for each axis that is padded."""
    source = filled([1], length, ("x", "pads", "f", "axes") if parts else ("x", "pads", "f"), **parts)
    facts = only_pad(source)
    pads = np.ones([dim if isinstance(dim, int) else 4 for dim in length], np.int64)
    ran = stock(source, {"x": ONES, "pads": pads, "f": np.zeros(1, np.float32)}) is not None
    assert ran == (facts.verdict != "breaks a rule")
    assert ran or facts.why.endswith("[P8]")


# --- empty data
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
@pytest.mark.parametrize("dims", [[0], [0, 2], [1, 0]])
def test_empty_data(dims: list[int], mode: str) -> None:
    """Where every empty axis stays empty, onnxruntime asks for nothing else of edge and reflect."""
    data, seen = np.zeros(dims, np.float32), set()
    every = list(itertools.product((-2, -1, 0, 1, 3), (-1, 0, 1), repeat=len(dims)))
    for amounts in every[:: 1 if len(dims) == 1 else 12]:
        tensors = [tensor("pads", amounts)]
        source = model([pad(mode=mode)], 19, inputs=[("x", FLOAT, dims)], tensors=tensors)
        facts = only_pad(source)
        ran = stock(source, {"x": data})
        if facts.verdict != "breaks a rule":
            assert (ran is not None) == facts.runs, amounts
            assert ran is None or ran[0].shape == facts.output_shape, amounts
            seen.add(facts.verdict)
    assert "runs" in seen or mode == "wrap"


def test_the_guide_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["inspect", "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    guide = (Path(__file__).resolve().parent.parent.parent / "docs" / "fixing.md").read_text(encoding="utf-8")
    assert options - set(re.findall(r"(?<=^\| `)--[a-z-]+", guide, re.MULTILINE)) == set()


# --- the rank of the data, where the model does not say it
# ----------------------------------------------------------------


def test_open_axes_of_data_of_unknown_rank() -> None:
    """Where onnxruntime finds out the rank, it takes axes without a declared shape for all axes."""
    node = pad(["x", "pads", "", "axes"])
    inputs = [("x", FLOAT, None), ("axes", INT64, None)]
    facts = only_pad(model([node], 18, inputs=inputs, tensors=[tensor("pads", [0, 1])]))
    limit = "it does not find out that the data have another rank than 1"
    assert (facts.verdict, facts.why) == ("runs if", f"ONNX Runtime runs it, as long as {limit}")


def test_axes_of_int32_of_data_of_unknown_rank() -> None:
    """onnxruntime refuses them while it infers dims, which it cannot here."""
    node, axes = pad(["x", "pads", "", "axes"]), helper.make_tensor("axes", onnx.TensorProto.INT32, [1], [0])
    parts = {"tensors": [tensor("pads", [0, 1]), axes]}
    unknown = model([node], 18, inputs=[("x", FLOAT, None)], **parts)
    known = model([node], 18, inputs=[("x", FLOAT, ["n"])], **parts)
    data = np.ones(2, np.float32)
    assert stock(unknown, {"x": data}) is not None
    assert stock(known, {"x": data}) is None
    reason = "ONNX Runtime refuses constant axes of type int32"
    why = f"ONNX Runtime runs it, as long as it does not find out how many dims the data have; {reason}"
    assert (only_pad(unknown).verdict, only_pad(unknown).why) == ("runs if", why)
    assert (only_pad(known).verdict, only_pad(known).why) == ("refuses", reason)
