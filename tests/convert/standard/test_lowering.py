"""Lowered models: the same bits, and what is refused; the real models there and back."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import fetch_models
import native
import numpy as np
import onnx
import onnx_pads
import onnxruntime
import pytest
import standard_models as standard
import whole_models
from case_strategies import Case
from command_lines import Cli
from parsed_models import quiet
from small_models import STRING, one_pad, parsed

import padops
from padops.convert.standard import axes as in_parts
from padops.convert.standard import graph_builder
from padops.spec import reference
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_name, by_onnx
from padops.spec.plan import Mode

ROOT = Path(__file__).resolve().parents[3]

REAL = [row for row in whole_models.REAL if row[1] and not row[0].startswith(("silero-vad/silero_vad_o", "onnx-asr/n"))]


def _kernels_run(path: Path, runs: list[dict[str, np.ndarray]], folder: Path) -> set[tuple[str, str]]:
    """The operators and names of the nodes that ONNX Runtime says it ran, with the library registered."""
    options = quiet()
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    padops.register(options)
    built = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for feeds in runs:
        built.run(None, feeds)
    events = json.loads(Path(built.end_profiling()).read_text(encoding="utf-8"))
    return {(row["args"]["op_name"], row["name"]) for row in events if row["name"].endswith("_kernel_time")}


@pytest.mark.parametrize(("name", "pads", "runs"), REAL, ids=[row[0] for row in REAL])
def test_real_model(name: str, pads: int, runs: list, tmp_path: Path, cli: Cli) -> None:
    """With fallback and lowered, by the command: bit-equal without the library; with it, the kernels run every Pad."""
    original, m2, m3, m4, back = fetch_models.fetch()[name], *(tmp_path / f"m{i}.onnx" for i in (2, 3, 4, 5))
    for source, made, *options in ((original, m2), (m2, m3, "--target", "onnx"),
                                   (original, m4, "--target", "onnx", "--without-pad")):  # fmt: skip
        assert cli("convert", source, "-o", made, *options, "--no-fold", "-q")[0] == 0
    assert whole_models.pads_in(onnx.load(m4), "") == whole_models.pads_in(onnx.load(m3), "padops") == 0
    assert standard.nothing_of_padops(onnx.load(m3))
    padops.convert(m3, back, fold=False)
    fed = [*whole_models.random_feeds(runs)]
    for feeds in fed:
        expected = whole_models.run(original, feeds, registered=False)
        for made in (m2, m3, m4, back):
            whole_models.assert_same(whole_models.run(made, feeds, registered=made == back), expected)
    kernels = [op for op, _ in _kernels_run(m2, fed, tmp_path)]
    assert "Pad" not in kernels
    assert sum(op in OPS for op in kernels) == pads
    for made, target in ((m2, "padops"), (m3, "onnx")):  # a second time changes nothing
        again = tmp_path / "again.onnx"
        padops.convert(made, again, target=target, fold=False)
        assert again.read_bytes() == made.read_bytes()


NO_CONCAT = r"it needs Concat \(opset 4\), which opset \d lacks; --target onnx --opset 13 \(padops.lower\) may help"


@pytest.mark.parametrize("asked", [{}, {"without_pad": True}], ids=["lowered", "without Pad"])
@pytest.mark.parametrize("path", whole_models.OF_PADS, ids=lambda path: path.stem)
def test_samples_there_and_back(path: Path, asked: dict[str, bool], tmp_path: Path) -> None:
    """Foreign Pads at once or by way of padops: standard ONNX with the same bits, and the same when lowered again."""
    converted = padops.convert(path, fold=False).proto()
    kinds = {by_onnx(value.type.tensor_type.elem_type).name for value in converted.graph.input}
    opset = converted.opset_import[0].version
    for source in (onnx.load(path), converted):
        lowered = padops.convert(source, target="onnx", fold=False, **asked)  # which returns what it leaves, too
        if not all(standard.is_moved(kind, opset) for kind in kinds):
            assert {record.status for record in lowered.records} == {"unconverted"}
            continue
        if path.stem == "pad_01" or asked and path.stem == "pad_02":  # for a Concat that ONNX Runtime runs
            assert lowered.unconverted and all(re.fullmatch(NO_CONCAT, row.reason) for row in lowered.unconverted)
            continue
        if asked and path.stem == "nested" and lowered.unconverted:  # a function that says no type
            continue
        assert not lowered.unconverted and not whole_models.pads_in(lowered.proto(), "padops")
        assert not asked or not whole_models.pads_in(lowered.proto())
        assert padops.lower(lowered.proto(), fold=False, **asked).proto() == lowered.proto()
        if opset > standard.NEWEST or not kinds <= {dtype.name for dtype in native.TYPES}:
            continue  # the runtime cannot load it
        feeds = whole_models.sample_feeds(path)
        if path.stem == "nested":
            feeds |= {"flag": np.array(True), "turns": np.array(2)}
        made, there = tmp_path / "lowered.onnx", tmp_path / "there.onnx"
        onnx.save(lowered.proto(), made)
        onnx.save(converted, there)
        alone, with_library = (
            whole_models.run(made, feeds, registered=False),
            whole_models.run(there, feeds, registered=True),
        )
        whole_models.assert_same(alone, with_library)


def test_other_targets_leave_nothing_of_padops() -> None:
    """No fallback functions stay, and no imports of domains without nodes."""
    converted = padops.convert(one_pad()).proto()
    in_python = padops.convert(converted, target="pyop").proto()
    again = padops.convert(in_python).proto()
    lowered = [padops.lower(source).proto() for source in (converted, in_python, again)]
    domains = [{row.domain for row in made.opset_import} for made in (converted, in_python, again)]
    assert domains == [{"", "padops"}, {"", "padops.pyop"}, {"", "padops"}]
    assert [len(made.functions) for made in (converted, in_python, again)] == [1, 0, 1]
    assert again.graph == converted.graph
    assert all(standard.nothing_of_padops(made) for made in lowered)
    assert all(one.graph == other.graph for one, other in pairwise(lowered))


def test_broken_rules_are_refused_in_the_words_of_the_kernel() -> None:
    data, fill = np.zeros((2, 3), np.float32), np.zeros((), np.float32)
    amounts = {"padding_below": [0, 0], "padding_above": [0, 0]}
    for attributes in (
        amounts | {"padding_interior": [0, 2], "pad_mode": "EDGE"},
        amounts | {"padding_interior": [1, 0], "pad_mode": "REFLECT"},
        amounts | {"padding_interior": [0, -1]},
        amounts | {"pad_mode": "WRAP"},
        {"padding_below": [0, -3], "padding_above": [0, -1]},
    ):
        case = Case("NGraphPad_0", attributes, [data, fill])
        source, _ = standard.make([case], shapes="full")
        (record,) = padops.convert(source, target="onnx").records
        assert (record.status, record.reason) == ("unconverted", str(standard.expected_of(case)))


NOTED = {  # what becomes of a Pad, and its reason or notes
    "float[2, 3] x": ([1, 0, 2, 0], "not needed", "ONNX Runtime's Pad is right, or it fails"),
    "string[2, 3] x": ([1, 0, 2, 0], "converted", ("Concat",)),
    "int16[2, 3] x": ([0, 0, 0, 0], "converted", ("Identity",)),
}


@pytest.mark.parametrize("data", NOTED)
def test_the_report_names_what_was_made(data: str) -> None:
    pads, status, said = NOTED[data]
    held = f"int64[4] p = {{{str(pads)[1:-1]}}}"
    source = parsed(f"({data}) => ({data.partition('[')[0]}[] y) <{held}> {{ y = Pad (x, p) }}")
    result = padops.lower(source, fold=False)
    (record,) = result.records
    assert (record.status, record.reason or record.notes) == (status, said)
    assert record.op_type == ("standard ONNX" if status == "converted" else None)
    assert status == "converted" or result.proto().graph == source.graph


def stock(message: onnx.ModelProto, **feeds: np.ndarray) -> np.ndarray:
    return onnxruntime.InferenceSession(message.SerializeToString()).run(None, feeds)[0]


@pytest.mark.parametrize("mode", ["reflect", "edge"])
def test_a_long_extension_is_computed_in_a_run(mode: str) -> None:
    """A list of its positions would make the model as large as its output."""
    data, pads = np.arange(5, dtype=np.int8), [1_500_000, 7]
    text = f'(int8[5] x) => (int8[N] y) <int64[2] pads = {{1500000, 7}}> {{ y = Pad <mode = "{mode}"> (x, pads) }}'
    lowered = padops.convert(parsed(text), target="onnx").proto()
    assert len(lowered.SerializeToString()) < 2_000
    assert (stock(lowered, x=data) == np.pad(data, pads, mode)).all()


NO_PAD_OF_ONNX_RUNTIME = {"int16": 'padops.Pad_18 <mode = "constant"> (x, pads, fill)',
                          "float": 'padops.OpenVINOPad_1 <pad_mode = "constant"> (x, begins, ends, fill)'}  # fmt: skip


@pytest.mark.parametrize("kind", NO_PAD_OF_ONNX_RUNTIME)
def test_a_crop_that_leaves_nothing(kind: str) -> None:
    """Amounts come at run time. What was no Pad of ONNX Runtime is right in those of its releases whose Pad is not."""
    lowered = padops.lower(parsed(f"""({kind}[2, 3] x, int64[2] begins, int64[2] ends, {kind} fill) => ({kind}[N, M] y)
        {{ pads = Concat <axis = 0> (begins, ends) y = {NO_PAD_OF_ONNX_RUNTIME[kind]} }}""", 18)).proto()  # fmt: skip
    dtype = by_name(kind).numpy
    x, fill = np.arange(1, 7, dtype=dtype).reshape(2, 3), np.array(9, dtype)
    for begins, ends in ([0, -4], [0, 6]), ([0, -3], [1, 3]), ([-2, 1], [3, 0]), ([1, -1], [0, 2]):
        pads = {"begins": np.array(begins), "ends": np.array(ends)}
        expected = reference.run("OpenVINOPad_1", {"pad_mode": "constant"}, [x, *pads.values(), fill])
        assert np.array_equal(stock(lowered, x=x, fill=fill, **pads), expected)


MAIN_TYPES = ("float", "double", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "string")
MAX_NODES = 3  # for each axis that is padded
SHAPE = (5, 40, 6)
AMOUNTS = [(0, 0, 2, 0, 0, 1), (1, 0, 0, 2, 0, 0), (0, 3, 0, 0, 0, 0), (1, 3, 2, 2, 4, 1),  # what only adds,
           (-1, 0, -1, -2, -3, 0), (-1, 3, 0, 2, -4, 0), (2, 0, -2, -1, 0, 3)]  # only crops, and both  # fmt: skip


def _cases(op: str, mode: str, type_name: str) -> Iterator[tuple[Case, int]]:
    """Nodes, and how many axes each pads."""
    rng, dtype = np.random.default_rng(0), by_name(type_name)
    data, fill = (native.random_array(rng, dtype, shape) for shape in (SHAPE, ()))
    if op == "SamePad_1":
        for attributes in ({"kernel_shape": [3]}, {"kernel_shape": [4], "strides": [3], "auto_pad": "SAME_LOWER"}):
            yield Case(op, attributes | {"mode": mode}, [data, fill]), 1
        return
    rows = [(pads, ()) for pads in AMOUNTS]
    if (op, mode) == ("NGraphPad_0", "CONSTANT"):
        rows += [(AMOUNTS[3], interior) for interior in ((0, 0, 2), (1, 0, 0), (1, 2, 1))]
    for pads, interior in rows:
        made = onnx_pads.node(op, mode, data, pads, None if op in ("Pad_1", "Pad_2") else fill, interior)
        yield Case(op, *made), int(np.any(np.reshape(pads, (2, -1)), axis=0).sum())


def _allowed(type_name: str, mode: str, case: Case, held: str) -> int:
    """Nodes for each axis: what axes.py says it cannot do in three is listed here."""
    if type_name == "string" and "padding_interior" in case.attributes:
        return MAX_NODES + 1 + (held != "all")  # ONNX Runtime's Gather moves strings right along the last axis only
    # ONNX Runtime expands no bfloat16.
    return MAX_NODES + (type_name == "bfloat16" and held != "all" and mode.lower() == "constant")


def test_the_first_size_of_a_layout_is_unknown() -> None:
    """SamePad_1 with the channels last pads the axis 1, too, as far as its size at run time needs it (S1)."""
    attributes = 'data_format = "NHWC", kernel_shape = [2, 2], strides = [2, 2]'
    source = parsed(f"(float[1, h, 4, 2] x) => (float[a, b, c, d] y) {{ y = padops.SamePad_1 <{attributes}> (x) }}", 18)
    made = onnxruntime.InferenceSession(padops.lower(source).proto().SerializeToString())
    for size in (2, 3):
        data = np.ones((1, size, 4, 2), np.float32)
        expected = np.pad(data, [(0, 0), (0, size % 2), (0, 0), (0, 0)])
        assert native.bits(made.run(None, {"x": data})[0]) == native.bits(expected)


@pytest.mark.parametrize("op", OPS)
def test_static_shapes_take_few_nodes(op: str) -> None:
    types = [name for name in MAIN_TYPES if name in OPS[op].types]
    every = [(mode, name, *row) for mode in OPS[op].modes for name in types for row in _cases(op, mode, name)]
    sample = every[::2] if op == "SamePad_1" else every[::5]  # by 5: each list of amounts, in each mode
    assert len(sample) > 10
    for number, (mode, type_name, case, axes) in enumerate(sample):
        held = ("all", "amounts")[number % 2]
        source, feeds = standard.make([case], standard.NEWEST, "full", held)
        expected = standard.expected_of(case)
        lowered = padops.lower(source, fold=False).proto()
        assert standard.nothing_of_padops(lowered)
        count, most = len(lowered.graph.node), _allowed(type_name, mode, case, held) * axes
        assert 1 <= count <= most, (mode, type_name, held, onnx.printer.to_text(lowered))
        assert standard.run(lowered, feeds) == expected


def test_an_interior_of_a_billion_is_computed_at_once(tmp_path: Path) -> None:
    """A list of its positions took hours, and gigabytes."""
    source, target = tmp_path / "pad.onnx", tmp_path / "lowered.onnx"
    lists = "padding_below = [0], padding_above = [0], padding_interior = [999999999]"
    onnx.save(parsed(f"(float[2] x, float v) => (float[] y) {{ y = padops.NGraphPad_0 <{lists}> (x, v) }}", 18), source)
    command = [sys.executable, "-m", "padops", "convert", str(source), str(target), "--target", "onnx"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert target.stat().st_size < 2000
    assert {"Range", "Gather"} <= {node.op_type for node in onnx.load(target).graph.node}


@pytest.mark.parametrize("kind", [np.float32, object])
@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 2, 2, 0), (-1, 0, 0, -1), (-20, 0, 30, 0)])
def test_computed_positions_are_the_listed_ones(kind: type, pads: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(12).reshape(3, 4).astype(kind if kind is not object else str).astype(kind)
    fill = np.array("f", object) if kind is object else np.array(7, kind)
    for interior in ((2, 0), (0, 3), (1, 1)):
        case = Case("NGraphPad_0", *onnx_pads.node("NGraphPad_0", "CONSTANT", data, pads, fill, interior))
        expected = standard.expected_of(case)
        for listed, dims in ((1 << 20, "full"), (4, "full"), (1 << 20, "ranks")):
            monkeypatch.setattr(graph_builder, "MAX_LISTED", listed)
            source, feeds = standard.make([case], 18, dims, "nothing")
            lowered = padops.lower(source, fold=False).proto()
            assert any(node.op_type == "Range" for node in lowered.graph.node) == (listed == 4)
            assert standard.run(lowered, feeds) == expected


# --- float16, which ONNX Runtime casts to float and back ------------------------------------------------------------

HALVES = np.array([[1, -0.0, 6e-8, np.inf, 65504], [-6e-8, 0.1, -np.inf, 2, 3]], np.float16)
OF_HALVES = [
    *((mode, opset, (1, 1, 0, 1), True) for mode in ("constant", "edge", "reflect") for opset in (11, 18)),
    # Where a Pad of float would be wrong, it goes.
    ("reflect", 18, (2, 0, 0, 0), False),
    ("edge", 18, (-1, 1, 0, 0), False),
    ("constant", 18, (-2, 0, 1, 0), False),
]


@pytest.mark.parametrize(("mode", "opset", "pads", "stays"), OF_HALVES)
def test_a_pad_of_float16(mode: str, opset: int, pads: tuple[int, ...], stays: bool) -> None:
    """It stays one where ONNX Runtime is right with a Pad of float, so that the operators around it round as before."""
    held = f"int64[4] p = {{{str(pads)[1:-1]}}}"
    source = parsed(f'(float16[2, 5] x) => (float16[] y) <{held}> {{ y = Pad <mode = "{mode}"> (x, p) }}', opset)
    lowered = padops.lower(source)
    (record,) = lowered.records
    assert record.status == ("not needed" if stays else "converted")
    if stays:
        assert record.reason == "ONNX Runtime's Pad (by a cast to float and back) is right, or it fails"
        assert [node.op_type for node in lowered.proto().graph.node] == ["Pad"]
    expected = reference.run("Pad_18", {"mode": mode}, [HALVES, np.array(pads), None, None])
    assert stock(lowered.proto(), x=HALVES).tobytes() == expected.tobytes()


@pytest.mark.parametrize(("opset", "value", "stays"), [(5, 0.0, False), (6, 0.0, True), (10, 0.0, True),
                                                       (10, 0.1, False)])  # fmt: skip
def test_a_pad_of_float16_before_the_fill_was_an_input(opset: int, value: float, stays: bool) -> None:
    """ONNX Runtime rounds a float fill later than the specification; below opset 6 it cannot cast."""
    node = f'Pad <pads = [1, 0, 0, 0], mode = "constant", value = {value}> (x)'
    (record,) = padops.lower(parsed(f"(float16[2, 5] x) => (float16[] y) {{ y = {node} }}", opset, 3)).records
    assert (record.status == "not needed") == stays


def test_a_fill_of_double_before_the_fill_was_an_input() -> None:
    """As a float it would be rounded."""
    node = 'padops.Pad_11 <mode = "constant"> (x, p, v)'
    source = parsed(f"(double[2] x) => (double[a] y) <int64[2] p = {{1, 1}}, double v = {{0.1}}> {{ y = {node} }}", 10)
    y = stock(padops.lower(source).proto(), x=np.ones(2))
    assert y.tolist() == [0.1, 1, 1, 0.1]


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (0, 3)])
def test_axes_of_one_element_before_reshape_makes_empty_ones(shape: tuple[int, int]) -> None:
    """Reshape has no dim of 0 before opset 14; int16 is padded by its positions."""
    source = parsed("(int16[a, b] x, int64[4] p) => (int16[c, d] y) { y = Pad (x, p) }", 13)
    x, pads = np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape), np.array([0, 1, 1, 2])
    assert np.array_equal(stock(padops.lower(source).proto(), x=x, p=pads), np.pad(x, [(0, 1), (1, 2)]))


def test_data_without_elements_are_not_read() -> None:
    lowered = padops.lower(parsed("(string[0] x) => (string[a] y) <int64[2] p = {1, 1}> { y = Pad (x, p) }", 18))
    assert [node.op_type for node in lowered.proto().graph.node] == ["Constant"]


@pytest.mark.parametrize("dims", ["[3, n]", "[40, 50]"])
def test_equal_amounts_share_one_block(dims: str) -> None:
    """A block of fill for both ends is made once, and each is read."""
    text = f"(float{dims} x) => (float[a, b] y) <int64[4] p = {{30, 40, 30, 40}}> {{ y = Pad (x, p) }}"
    nodes = padops.lower(parsed(text, 18), without_pad=True).proto().graph.node
    blocks = [node.output[0] for node in nodes if node.op_type == "ConstantOfShape"]
    assert len(blocks) == 2
    assert set(blocks) <= {name for node in nodes for name in node.input}


@pytest.mark.parametrize("how", [{}, {"without_pad": True}, {"provider": "webgpu"}], ids=str)
@pytest.mark.parametrize("mode", ["constant", "edge", "wrap"])
def test_every_node_and_constant_is_read(mode: str, how: dict[str, object]) -> None:
    """Also where dims are computed axis by axis, and no later axis reads the last of them."""
    written = f'<int64[4] p = {{1, 0, 2, 0}}> {{ y = Pad <mode = "{mode}"> (x, p, v) }}'
    source = parsed(f"(int16[n, 3] x, int16 v) => (int16[a, b] y) {written}", 19)
    graph = padops.convert(source, target="onnx", **how).proto().graph
    read = {name for node in graph.node for name in node.input} | {"y"}
    assert {name for node in graph.node for name in node.output} | {row.name for row in graph.initializer} <= read


# Axes beyond the rank, where amounts are computed; an odd number of amounts, which was a traceback before opset 14.
BROKEN = [
    ("(float[2, 6] x, int64[2] a) => (float[] y) <int64[1] axes = {-3}> { p = Add (a, a) y = Pad (x, p, , axes) }", 18,
     "axes=[-3] has -3, outside -2..1 for rank 2 [P8]"),
    *(('(float[] x) => (float[] y) { y = padops.Pad_2 <mode = "edge", pads = [1, 1, 1]> (x) }', opset,
       "pads has 3 values, expected 2 (2 per") for opset in (9, 13, 21)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "opset", "why"), BROKEN)
def test_what_no_amounts_can_mend(text: str, opset: int, why: str) -> None:
    for options in ({}, {"target": "onnx"}, {"target": "onnx", "provider": "webgpu"}):
        (record,) = padops.convert(parsed(text, opset), **options).records
        assert record.status == "unconverted" and why in record.reason


def test_texts_keep_zeros_at_their_end() -> None:
    source = parsed("(string[2] x) => (string[] y) <int64[2] p = {1, 0}> { y = Pad (x, p, fill) }", 18)
    source.graph.initializer.add(name="fill", data_type=STRING, dims=[1], string_data=[b"a\0"])
    assert any(b"a\0" in row.string_data for row in padops.lower(source).proto().graph.initializer)


def test_a_function_before_opset_9_has_constants_of_floats_alone() -> None:
    source = parsed("""(float[2, 3] x) => (float[] y) { y = d.Ours (x) }
        FUNCTION Ours (a) => (b) { b = Pad <mode = "edge", pads = [0, 1, 0, 2]> (a) }""", 7)  # fmt: skip
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = stock(padops.lower(source, without_pad=True).proto(), x=x)
    np.testing.assert_array_equal(found, np.pad(x, [(0, 0), (1, 2)], "edge"))


@pytest.mark.parametrize("dims", ["5", "n"])
def test_a_mode_that_has_no_parts_takes_other_nodes(dims: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a new mode, which must not be padded as if it were another."""
    text = f'(float[{dims}] x) => (float[m] y) <int64[2] p = {{7, 1}}> {{ y = Pad <mode = "wrap"> (x, p) }}'
    x, made = np.arange(5, dtype=np.float32), []
    for known in (True, False):
        if not known:
            monkeypatch.delitem(in_parts.STEPS, Mode.WRAP)
        made.append(padops.lower(parsed(text, 19), provider="webgpu").proto())
        assert np.array_equal(stock(made[-1], x=x), np.pad(x, (7, 1), "wrap"))
    assert made[0] != made[1]
