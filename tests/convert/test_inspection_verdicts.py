"""Verdicts with the installed onnxruntime as the witness; a Pad that breaks a rule has one answer, whoever asks."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from command_lines import Cli, save
from inspected_models import stock
from onnx import helper
from small_models import DOUBLE, FLOAT, HALF, INT16, INT32, INT64, UINT8, model, one_pad, pad, tensor
from written_models import model as written

import padops
from padops.convert.records import PadFacts
from padops.convert.runtimes import has_identity
from padops.runtime.provider import FIRST_MINOR, runtime_minor


def only_pad(source: onnx.ModelProto) -> PadFacts:
    (facts,) = padops.inspect(source).pads
    return facts


@pytest.mark.parametrize("name", ["my dir/m.onnx", 'it\'s "one".onnx', "back\\slash $HOME.onnx", "new\nline.onnx"])
def test_commands_can_be_pasted(name: str, tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    save(path, one_pad(1))
    commands = padops.inspect(path).commands()
    _, *words = shlex.split(commands["convert"].replace("OUT.onnx", shlex.quote(str(tmp_path / "out.onnx"))))
    assert cli(*words, "-q")[0] == 0
    if runtime_minor() >= FIRST_MINOR:
        session = eval(commands["session"].removeprefix("session = "), {"padops": padops})
        assert session.run(None, {"x": np.zeros((2, 3), np.float32)})[0].shape == (5, 3)


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


@pytest.mark.parametrize(("kind", "limit"), [
    # Where onnxruntime finds out the rank, it takes axes without a declared shape for all axes
    (INT64, "that the data have another rank than 1"),
    # onnxruntime refuses them while it infers dims, which it cannot here
    (INT32, "how many dims the data have; ONNX Runtime refuses constant axes of type int32"),
])  # fmt: skip
def test_axes_of_data_of_unknown_rank(kind: int, limit: str) -> None:
    held = [tensor("pads", [0, 1]), *[tensor("axes", [0], np.int32)] * (kind == INT32)]
    axes = [("axes", kind, None)] * (kind != INT32)
    node = pad(["x", "pads", "", "axes"])
    sources = [model([node], 18, inputs=[("x", FLOAT, rank), *axes], tensors=held) for rank in (None, ["n"])]
    facts = only_pad(sources[0])
    assert (facts.verdict, facts.why) == ("runs if", f"ONNX Runtime runs it, as long as it does not find out {limit}")
    if kind == INT32:
        assert [stock(source, {"x": np.ones(2, np.float32)}) is None for source in sources] == [False, True]
        facts = only_pad(sources[1])
        assert (facts.verdict, facts.why) == ("refuses", "ONNX Runtime refuses constant axes of type int32")


of_last_releases = pytest.mark.skipif(runtime_minor() < 31, reason="older releases run what these refuse")


def window(name: str, opset: int, dims: Sequence[int | str], kernel: Any, kind: int = FLOAT, **more: Any) -> Any:
    attributes = {"auto_pad": "SAME_UPPER", "kernel_shape": kernel} | more
    held = [helper.make_tensor("w", kind, [1, 1, *kernel], np.ones(kernel))] if name.startswith("Conv") else []
    node = helper.make_node(name, ["x", "w"] if held else ["x"], ["y"], **attributes)
    ends = {"inputs": [("x", kind, [1, 1, *dims])], "outputs": [("y", INT32 if name == "ConvInteger" else kind, None)]}
    return model([node], opset, tensors=held, **ends)


def what_it_does(source: onnx.ModelProto) -> str:
    """What onnxruntime does with data of the declared dims, as ``inspect`` would say."""
    kind = source.graph.input[0].type.tensor_type
    dims = [dim.dim_value for dim in kind.shape.dim]
    data = np.arange(1, 1 + np.prod(dims)).reshape(dims).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    if (ran := stock(source, {"x": data})) is None:
        return "refuses"
    right = padops.InferenceSession(padops.convert(source, auto_pad="explicit").proto().SerializeToString())
    return "runs" if np.array_equal(right.run(None, {"x": data})[0], ran[0]) else "wrong"


def opened(source: onnx.ModelProto) -> str:
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "n"
    return only_pad(source).verdict


# Operator, type, opset, kernel, stride, dilation, size, and what is said of the last releases.
POOLINGS = [
    ("MaxPool", FLOAT, 12, 1, 2, 1, 6, "refuses"), ("MaxPool", DOUBLE, 12, 1, 2, 1, 6, "runs"),
    ("MaxPool", DOUBLE, 12, 1, 3, 1, 6, "wrong"), ("MaxPool", FLOAT, 12, 3, 2, 1, 6, "runs"),
    ("MaxPool", FLOAT, 12, 1, 1, 2, 6, "runs"), ("MaxPool", FLOAT, 12, 1, 3, 2, 6, "wrong"),
    ("MaxPool", FLOAT, 12, 2, 1, 2, 6, "wrong"), ("MaxPool", FLOAT, 12, 3, 1, 3, 3, "refuses"),
    ("MaxPool", FLOAT, 12, 3, 2, 2, 1, "wrong"), ("AveragePool", FLOAT, 12, 1, 2, 1, 6, "refuses"),
    ("AveragePool", FLOAT, 19, 1, 3, 1, 5, "runs"), ("AveragePool", FLOAT, 19, 1, 3, 1, 6, "wrong"),
    ("AveragePool", FLOAT, 6, 2, 1, 1, 6, "refuses"), ("LpPool", FLOAT, 1, 2, 1, 1, 6, "refuses"),
    ("LpPool", FLOAT, 2, 2, 1, 1, 6, "runs"), ("LpPool", FLOAT, 18, 1, 2, 1, 6, "runs"),
]  # fmt: skip


@of_last_releases
def test_same_of_poolings() -> None:
    """A pooling of a known size is refused, wrong or right; of an open size it is not said to be wrong."""
    for name, kind, opset, kernel, stride, dilation, size, verdict in POOLINGS:
        more = {"strides": [stride]} | ({"dilations": [dilation]} if dilation > 1 else {})
        source = window(name, opset, [size], [kernel], kind, **more)
        assert (only_pad(source).verdict, what_it_does(source)) == (verdict, verdict), (name, opset, kernel, stride)
        assert opened(source) in ("runs", "may be wrong", "refuses" if opset < 7 else "")


@of_last_releases
def test_same_of_poolings_that_round_up() -> None:
    """ceil_mode rounds the size of the output up, and takes another kernel: what was known of the others is not."""
    for name, kernel, stride, size, more in (
        ("MaxPool", 3, 4, 12, {"dilations": [2]}),
        ("AveragePool", 1, 5, 7, {"count_include_pad": 1}),
    ):
        sources = [window(name, 12, [size], [kernel], strides=[stride], ceil_mode=up, **more) for up in (0, 1)]
        assert what_it_does(sources[0]) == only_pad(sources[0]).verdict in ("refuses", "wrong")
        assert (what_it_does(sources[1]), only_pad(sources[1]).verdict) == ("runs", "may be wrong")


def test_a_long_reflection_of_no_data_runs() -> None:
    source = written('(float[0, 3] x) => (float[] y) <int64[4] p = {0, 5, 0, 0}> { y = Pad <mode = "reflect"> (x, p) }')
    assert only_pad(source).verdict == "runs" and stock(source, {"x": np.empty((0, 3), np.float32)}) is not None


def test_same_of_an_open_dim_has_no_amounts() -> None:
    source = written("(float[1, 1, n, 4] x) => (float[] y) { y = padops.SamePad_1 <kernel_shape = [3, 3]> (x) }")
    assert padops.inspect(source).pads[0].amounts is None
    source.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 4
    assert padops.inspect(source).pads[0].amounts == ((0, 0), (0, 0), (1, 1), (1, 1))


@pytest.mark.parametrize(("name", "first"), [("float", 1), ("bfloat16", 13), ("int4", None), (None, None)])
def test_the_first_identity_of_a_type(name: str | None, first: int | None) -> None:
    """Of an unknown type, all opsets below the one that has more types than ONNX Runtime are sure."""
    opsets = (1, 2, 12, 13, 20, 21)
    expected = opsets[:-1] if name is None else [opset for opset in opsets if first and opset >= first]
    assert [opset for opset in opsets if has_identity(name, opset)] == [*expected]


# Operators that ONNX Runtime lacks for some types: the last opset without, and the size of the data.
LACKING = [
    ("Conv", DOUBLE, 22, 4), ("ConvTranspose", DOUBLE, 13, "n"), ("Conv", HALF, 5, "n"), ("MaxPool", DOUBLE, 7, "n"),
    ("MaxPool", UINT8, 11, 4), ("AveragePool", DOUBLE, 19, 4), ("AveragePool", FLOAT, 6, "n"),
    ("AveragePool", HALF, 6, 4), ("LpPool", DOUBLE, 18, "n"), ("LpPool", HALF, 5, 4), ("LpPool", FLOAT, 1, "n"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "opset", "size"), LACKING, ids=str)
def test_same_of_operators_that_are_not_there(name: str, kind: int, opset: int, size: int | str) -> None:
    """No road makes such a node run, and none is named; another provider may have it."""
    for version in (opset, opset + 1):
        source = window(name, version, [size], [2], kind)
        facts = only_pad(source)
        refused = stock(source, {"x": np.ones((1, 1, 4), helper.tensor_dtype_to_np_dtype(kind))}) is None
        assert refused == (facts.verdict == "refuses") == (facts.verdict != "runs") and (refused or version > opset)
        if refused:
            assert facts.why.startswith(f"ONNX Runtime has no {name} of ") and facts.roads == ()
            assert not any("is refused" in note for note in padops.convert(source).notes)
            assert padops.inspect(source, providers=["CUDAExecutionProvider"]).pads[0].verdict == "runs"


# Stride, size, and what is said; the window has one element.
CONVOLUTIONS = [(3, 6, "SAME_UPPER", "runs"), (4, 7, "SAME_UPPER", "runs"), (4, 8, "SAME_UPPER", "wrong"),
                (4, 8, "SAME_LOWER", "runs"), (5, 10, "SAME_LOWER", "wrong")]  # fmt: skip


@pytest.mark.parametrize("name", ["Conv", "ConvInteger"])
def test_same_of_convolutions(name: str) -> None:
    """A stride that is much longer than the window begins behind the first element; of an open size it may be."""
    for stride, size, mode, verdict in CONVOLUTIONS:
        kind = FLOAT if name == "Conv" else UINT8
        source = window(name, 13, [size], [1], kind, auto_pad=mode, strides=[stride])
        assert (only_pad(source).verdict, what_it_does(source)) == (verdict, verdict), (stride, size, mode)
        assert opened(source) == ("may be wrong" if stride - 1 >= 3 + (mode == "SAME_LOWER") else "runs")


@pytest.mark.parametrize(("dims", "verdict"), [([8, "n"], "wrong"), (["n", 8], "wrong"), (["n", 7], "may be wrong")])
def test_same_of_a_convolution_with_one_size_known(dims: list[int | str], verdict: str) -> None:
    """One axis that is surely shifted decides; one that is surely not shifted leaves the other in doubt."""
    assert only_pad(window("Conv", 13, dims, [1, 1], strides=[4, 4])).verdict == verdict


AXES = [tensor("pads", [1, 1, 1, 1]), tensor("axes", [1, -1])]
NGRAPH = {"padding_below": [1, 0], "padding_above": [0, 0]}


def padded(pads: Any, opset: int = 18, **parts: Any) -> onnx.ModelProto:
    mode = parts.pop("mode", "constant")
    return model([pad(name="p", mode=mode)], opset, tensors=[tensor("pads", pads)], **parts)


def own(op_type: str, *inputs: str, **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node(op_type, ["x", *inputs], ["y"], "p", domain="padops", **attributes)
    tensors = [tensor("one", [0, 3]), tensor("f", 0, np.float32)]
    return model([node], 18, tensors=tensors, imports=[("padops", 1)])


BROKEN = {
    "P1": padded([0, -5, 0, 0]),
    "P1, another size open": padded([0, -5, 0, 0], inputs=[("x", FLOAT, ["n", 3])]),
    "P1, int16": padded([-3, 0, 0, 0], inputs=[("x", INT16, [2, 3])], outputs=[("y", INT16, None)]),
    "P4": own("OpenVINOPad_12", "one", "one", pad_mode="reflect"),
    "P5": padded([0, 1, 0, 0], mode="edge", inputs=[("x", FLOAT, [2, 0])]),
    "P6": own("NGraphPad_0", "f", padding_interior=[0, 2], pad_mode="EDGE", **NGRAPH),
    "P7": model([pad(["x", "pads", "f"], name="p")], 18,
                tensors=[tensor("pads", [0] * 4), tensor("f", [1, 2], np.float32)]),
    "P8": padded([0, 1, 0], opset=13),
    "P8, rank unknown": padded([0, 1, 0], inputs=[("x", FLOAT, None)]),
    "P8, rank unknown, opset 13": padded([0, 1, 0], opset=13, mode="edge", inputs=[("x", FLOAT, None)]),
    "P8, axes": model([pad(["x", "pads", "", "axes"], name="p")], 18, tensors=AXES),
    "P9": padded([0] * 4, mode="symmetric"),
    "P10": padded([0, 2**60, 0, 0]),
}  # fmt: skip
OPTIONS = ([], ["--target", "onnx"], ["--target", "onnx", "--without-pad"], ["--target", "pyop"], ["--verify"],
           ["--target", "onnx", "--opset", "21"], ["--strict"], ["--no-fallback", "--no-fold"],
           ["--select", "needed"], ["--dry-run"])  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_it_ends_with_3_and_names_operator_node_and_rule(name: str, tmp_path: Path, cli: Cli) -> None:
    source, rule = BROKEN[name], f"[{name.split(',')[0]}]"
    path, out, folder = tmp_path / "in" / "m.onnx", tmp_path / "o.onnx", tmp_path / "out"
    path.parent.mkdir()
    folder.mkdir()
    save(path, source)
    at = [*BROKEN].index(name)
    for options in (OPTIONS * 3)[at : at + 3]:
        for given in ((path, out), (path.parent, folder)):
            code, _, said = cli("convert", *given, *options, "-q")
            assert code == 3 and said.strip().endswith(rule), options
            assert "graph/p" in said and "1 of 1 Pad breaks a rule" in said, options
    assert not out.exists() and not list(folder.iterdir())
    for call in (padops.lower, lambda given: padops.InferenceSession(given.SerializeToString(), convert={})):
        with pytest.raises(padops.PadsLeftError, match=r"breaks a rule.*\[") as error:
            call(source)
        assert str(error.value).endswith(rule)
    assert [record.status for record in padops.convert(source).records] == ["unconverted"]
    inspection = padops.inspect(source)
    assert inspection.summary() == "1 Pad: 1 breaking a rule" and "at run time" not in inspection.pads[0].what()
    assert inspection.pads[0].verdict == "breaks a rule" and inspection.pads[0].why.endswith(rule)
    for allowed, code in ([], 3), (["--allow", "refused"], 3), (["--allow", "breaks-a-rule"], 0):
        assert cli("inspect", path, "--check", *allowed)[0] == code


def test_a_session_names_the_rule() -> None:
    for name in ("P1", "P7", "P8"):
        with pytest.raises(Exception, match=rf"\[{name}\]"):  # of padops, or of its kernel in onnxruntime
            padops.InferenceSession(BROKEN[name].SerializeToString()).run(None, {"x": np.ones((2, 3), np.float32)})


def test_a_branch_may_not_be_taken(tmp_path: Path) -> None:
    """The model is of use as long as nothing reaches the Pad; a function that is called always runs."""
    source = written("""(float[2, 3] x, bool c) => (float[a, b] y) <int64[3] pads = {0, 1, 0}> {
        [if] y = If (c) <then_branch = t () => (float[d, e] t) { [p] t = Pad (x, pads) },
            else_branch = e () => (float[f, g] e) { e = Relu (x) }> }""")
    data, out = np.ones((2, 3), np.float32), tmp_path / "o.onnx"
    for options in ({}, {"target": "onnx"}, {"target": "pyop"}):
        (record,) = padops.convert(source, out, **options).records
        assert record.facts.verdict == "breaks a rule"
        assert record.status == ("unconverted" if options == {"target": "onnx"} else "converted")
        with pytest.raises(padops.PadsLeftError, match=r"1 of 1 Pad breaks a rule: graph/if.then_branch/p.*\[P8\]"):
            padops.convert(source, out, strict=True, **options)
    session = padops.InferenceSession(padops.convert(source).proto().SerializeToString())
    assert session.run(None, {"x": data, "c": np.array(False)})[0].tobytes() == data.tobytes()
    with pytest.raises(Exception, match=r"\[P8\]"):
        session.run(None, {"x": data, "c": np.array(True)})
    called = written("""(float[2, 3] x) => (float[a, b] y) { y = other.Padded (x) }
        <domain: "other", opset_import: ["" : 18]> Padded (x) => (y) {
            pads = Constant <value_ints = [0, 1, 0]> () [p] y = Pad (x, pads) }""")
    with pytest.raises(padops.PadsLeftError, match=r"breaks a rule.*function other::Padded/p"):
        padops.convert(called, out)


def test_the_amounts_are_checked_where_the_caller_chooses_the_mode() -> None:
    source = written("""(float[] x) => (float[] y) { y = other.Block <mode: string = "edge"> (x) }
        <domain: "other", opset_import: ["" : 18]> Block <mode> (x) => (y) {
            pads = Constant <value_ints = [1, 2, 2]> () y = Pad <mode: string = @mode> (x, pads) }""")
    facts = only_pad(source)
    assert facts.verdict == "breaks a rule" and "3 values" in facts.why and facts.why.endswith("[P8]"), facts.why
