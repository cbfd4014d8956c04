"""Verdicts and commands of ``padops.inspect`` that were wrong once, with the installed onnxruntime as the witness."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import pytest
from inspected_models import stock
from small_models import FLOAT, INT32, INT64, model, one_pad, pad, tensor

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


# Dims of the fill and of the pads, whether there are axes, and the rule of what onnxruntime refuses.
ENDS: list[tuple[list[int | str], list[int | str], bool, str]] = [
    *((fill, [4], False, "P7") for fill in ([1], [], [1, 1], [2], [0], [1, 3], ["n"])),
    *(([1], pads, False, "P8") for pads in ([3], [6], [1, 4], [2, 2], ["n"])),
    *(([1], pads, True, "P8") for pads in ([2], [4])),
]  # fmt: skip


@pytest.mark.parametrize(("fill", "pads", "along", "rule"), ENDS)
def test_declared_dims_of_fill_and_pads(fill: list[int | str], pads: list[int | str], along: bool, rule: str) -> None:
    """Mode constant reads one element; the others read none. Each axis that is padded has two amounts."""
    ends = [("x", FLOAT, [3, 5]), ("pads", INT64, pads), ("f", FLOAT, fill)]
    names, tensors = ["x", "pads", "f", *["axes"] * along], [tensor("axes", [1])] * along
    source, edge = (model([pad(names, mode=mode)], 18, inputs=ends, tensors=tensors) for mode in ("constant", "edge"))
    feeds = {
        "x": np.ones((3, 5), np.float32),
        "pads": np.ones([4 if dim == "n" else dim for dim in pads], np.int64),
        "f": np.zeros([1 if dim == "n" else dim for dim in fill], np.float32),
    }
    ran, facts = stock(source, feeds) is not None, only_pad(source)
    assert ran == (facts.verdict != "breaks a rule") and (ran or facts.why.endswith(f"[{rule}]"))
    if rule == "P7":
        assert ran == facts.runs and only_pad(edge).verdict != "breaks a rule"


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


@pytest.mark.parametrize(
    ("kind", "dims", "limit", "more"),
    [
        # Where onnxruntime finds out the rank, it takes axes without a declared shape for all axes
        (INT64, None, "the data have another rank than 1", ""),
        # onnxruntime refuses them while it infers dims, which it cannot here
        (INT32, [1], "how many dims the data have", "; ONNX Runtime refuses constant axes of type int32"),
    ],
)
def test_axes_of_data_of_unknown_rank(kind: int, dims: list[int] | None, limit: str, more: str) -> None:
    sources = []
    for rank in (None, ["n"]):
        held = [tensor("pads", [0, 1]), *([tensor("axes", [0], np.int32)] if more else [])]
        inputs = [("x", FLOAT, rank), *([] if more else [("axes", kind, dims)])]
        sources.append(model([pad(["x", "pads", "", "axes"])], 18, inputs=inputs, tensors=held))
    facts = only_pad(sources[0])
    limit = f"ONNX Runtime runs it, as long as it does not find out {'' if more else 'that '}{limit}{more}"
    assert (facts.verdict, facts.why) == ("runs if", limit)
    if more:
        assert [stock(source, {"x": np.ones(2, np.float32)}) is None for source in sources] == [False, True]
        assert (only_pad(sources[1]).verdict, only_pad(sources[1]).why) == ("refuses", more[2:])
