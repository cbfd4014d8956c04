"""Fallbacks that would not run in a stock session: another body is written, or none; standard ONNX without any Pad.

ONNX Runtime folds Ifs of constant condition: what it folds may have no If or Loop in a second If.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import native
import numpy as np
import onnx
import onnx.version_converter
import pytest
import roads
import standard_models as standard
import stock_sessions
from command_lines import Cli, save
from folding_models import run
from inspected_models import stock as stock_run
from small_models import one_pad, parsed

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.plan import PadError

DATA = np.arange(20, dtype=np.float32).reshape(4, 5)
EXPECTED = {mode: np.pad(DATA[1:], [(0, 0), (0, 1)], mode).tolist() for mode in ("constant", "edge", "reflect")}
INSIDE = "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop"


def choice(output: str, condition: str, then: str, other: str) -> str:
    """An If of two branches, each of which gives ``output`` followed by its number."""
    one, two = (f"{output}_{i} () => (float[] {output}{i}) {{ {nodes} }}" for i, nodes in enumerate((then, other)))
    return f"{output} = If ({condition}) <then_branch = {one}, else_branch = {two}>"


def pads(then: str, other: str, output: str = "y", condition: str = "c") -> str:
    """An If of a Pad in each branch."""
    rows = [f'{output}{i} = Pad <mode = "{mode}"> (x, p)' for i, mode in enumerate((then, other))]
    return choice(output, condition, *rows)


TRUE, FALSE = (f"c = Constant <value = bool {{{value}}}> ()" for value in (1, 0))


def made(nodes: str, condition: str = TRUE, inputs: str = "float[] x", functions: str = "") -> onnx.ModelProto:
    """A model of data of unknown rank, and of a condition, which is constant if nothing is said."""
    text = f"({inputs}) => (float[] y) <int64[4] p = {{-1, 0, 0, 1}}> {{ {condition} {nodes} }}"
    return parsed(f"{text} {functions}", 18)


def of_shape(nodes: str) -> onnx.ModelProto:
    """A condition that follows from a shape."""
    condition = "s = Shape (x) rank = Size (s) two = Constant <value = int64 {2}> () c = Equal (rank, two)"
    return made(nodes, condition, "float[n, m] x")


def called(nodes: str) -> onnx.ModelProto:
    return made("y = d.F (x, p, c)", functions=f"FUNCTION F (x, p, c) => (y) {{ {nodes} }}")


@pytest.fixture(scope="module")
def check() -> Iterator[Callable[..., None]]:
    """The output of each level and time, in a process of its own."""
    with get_context("spawn").Pool(1) as pool:

        def run(conversion: padops.Conversion, expected: list, times: int = 3, **feeds: np.ndarray) -> None:
            given = conversion.proto().SerializeToString(), times, {"x": DATA} | feeds
            outputs = pool.apply_async(stock_sessions.outputs, given).get(stock_sessions.LONGEST)
            assert outputs == [expected] * (times * len(stock_sessions.LEVELS))

        yield run


@pytest.mark.parametrize("make", [made, of_shape, called])
@pytest.mark.parametrize("modes", [("constant", "reflect"), ("edge", "constant")])
def test_a_fallback_in_a_folded_branch(modes: tuple[str, str], make: Callable, check: Callable) -> None:
    """The process died here, or the dims were others, at every level but off (onnxruntime 1.32)."""
    converted = padops.convert(make(pads(*modes)))
    assert [record.notes for record in converted.records] == [(), ()], "each has a fallback"
    check(converted, EXPECTED[modes[0]])


def twice(inner: str = "c") -> str:
    """An If in an If, and Pads in the inner one."""
    return choice("y", "c", pads("constant", "reflect", "y0", inner), "y1 = Identity (x)")


def test_two_folded_branches_leave_no_fallback(check: Callable) -> None:
    """The fallback would have a Loop, which both Ifs move; a Pad that the runtime has needs neither."""
    converted = padops.convert(made(twice()))
    assert [INSIDE in why for why in converted.no_fallback.values()] == [True]
    assert not converted.proto().functions
    lowered = padops.lower(made(twice()), without_pad=True)
    assert {(record.status, record.reason.startswith(INSIDE)) for record in lowered.records} == {("unconverted", True)}
    check(padops.lower(made(twice())), EXPECTED["constant"])


def test_a_condition_that_is_computed_costs_nothing() -> None:
    """The body is that of a Pad in no If; one folded If around it makes one without an If in an If."""
    plain = made('a = Pad <mode = "constant"> (x, p) b = Pad <mode = "reflect"> (x, p) y = Add (a, b)')
    computed = made(pads("constant", "reflect"), "", "float[] x, bool c")
    folded = made(pads("constant", "reflect"))
    (whole,), (same,), (flat,) = (padops.convert(source).proto().functions for source in (plain, computed, folded))
    assert same == whole
    assert _ifs_around(whole.node) == 1 and _ifs_around(flat.node) == 0


def test_one_condition_of_two_that_is_computed(check: Callable) -> None:
    converted = padops.convert(made(twice("d"), inputs="float[] x, bool d"))
    assert [record.notes for record in converted.records] == [(), ()]
    for given, mode in ((True, "constant"), (False, "reflect")):
        check(converted, EXPECTED[mode], d=np.array(given))


def beside(condition: str, reads: str, through: str = "") -> onnx.ModelProto:
    """A Pad in an If of computed condition, in a folded If; it reads ``reads``, perhaps ``through`` another node."""
    between, value = (f"f = {through} ({reads})", "f") if through else ("", reads)
    number = int(condition == FALSE)  # of the branch that is taken
    padded = f'{between} y{number}0 = Pad <mode = "edge"> ({value}, p)'
    inner = choice(f"y{number}", "d", padded, f"y{number}1 = Neg (beside)")
    branches = [f"beside = Relu (x) {inner}", f"y{1 - number} = Neg (x)"]
    return made(choice("y", "c", *(reversed(branches) if number else branches)), condition, "float[] x, bool d")


@pytest.mark.parametrize("through", ["", "Identity", "Transpose"])
@pytest.mark.parametrize("condition", [TRUE, FALSE])
def test_a_value_beside_an_inner_if_leaves_no_fallback(condition: str, through: str, check: Callable) -> None:
    """The Pad would read a value of the folded branch, which the runtime removed; also past a Transpose it moves."""
    converted = padops.convert(beside(condition, "beside", through))
    assert [INSIDE in why for why in converted.no_fallback.values()] == [True]
    assert not converted.proto().functions
    lowered = padops.lower(beside(condition, "beside", through), without_pad=True)
    assert [row.status for row in lowered.records] == ["unconverted"]
    if not through:
        with_one = padops.convert(beside(condition, "x"))
        assert [row.notes for row in with_one.records] == [()]
        check(with_one, EXPECTED["edge"], d=np.array(True))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_two_pads_in_a_row_in_a_branch(mode: str, check: Callable) -> None:
    """The second Pad finds the output of the first; without the mend, the runtime failed with "Missing Input"."""
    rows = f"""n = Constant <value = int64[4] {{0, 1, 0, 1}}> () m = Constant <value = int64[4] {{0, 9, 0, 0}}> ()
        a = Pad <mode = "{mode}"> (x, n) y0 = Pad <mode = "reflect"> (a, m)"""
    source = made(choice("y", "d", rows, "y1 = Identity (x)"), "", "float[4, 5] x, bool d")
    converted = padops.convert(source, fold=False)
    assert [record.notes for record in converted.records] == [(), ()]
    wanted = np.pad(np.pad(DATA, [(0, 0), (1, 1)], mode), [(0, 0), (9, 0)], "reflect").tolist()
    check(converted, wanted, d=np.array(True))


def test_a_loop_around_counts_nothing() -> None:
    """A value that a Loop carries is no constant, whatever it starts with."""
    body = f"""body = b (int64 n, bool go, bool state) => (bool on, bool kept, float[] next)
        {{ on = Identity (go) kept = Identity (state) {pads("constant", "reflect", "next", "state")} }}"""
    converted = padops.convert(made(f"turns = Constant <value = int64 {{1}}> () last, y = Loop <{body}> (turns, , c)"))
    assert _ifs_around(converted.proto().functions[0].node) == 1


def _ifs_around(nodes: list[onnx.NodeProto]) -> int:
    """The most Ifs around an If or Loop."""
    found = [0]
    for node in nodes:
        for inner in (row.g for row in node.attribute if row.HasField("g")):
            if any(row.HasField("g") for other in inner.node for row in other.attribute):
                found.append((node.op_type == "If") + _ifs_around(inner.node))
    return max(found)


SHAPES = [(2, 4, 5), (0, 4, 5), (2, 0, 5), (2, 4, 0), (0, 0, 5), (0, 4, 0), (1, 1, 2)]
AMOUNTS = [(0, 2, 3, 0, 1, 2), (0, 0, 3, 0, 0, 0), (0, -1, 0, 0, -3, 1), (0, 0, -5, 0, 0, 0), (0, -4, -5, 0, 0, 0)]


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("amounts", [*AMOUNTS[:3], None], ids=str)
def test_only_where_something_may_be_cropped(mode: str, amounts: tuple[int, ...] | None) -> None:
    """The bits, and the error where there is nothing to extend from, of sizes that are 0 and of others."""
    given, held = (", int64[6] p", "") if amounts is None else ("", f"int64[6] p = {{{str(amounts)[1:-1]}}}")
    text = f'(float[a, b, c] x{given}) => (float[d, e, f] y) <{held}> {{ y = Pad <mode = "{mode}"> (x, p) }}'
    lowered = padops.lower(parsed(text, 19), without_pad=True).proto()
    assert "Reshape" in str(lowered)
    assert ("allowzero" in str(lowered)) is (amounts is None or min(amounts) < 0)
    ran = refused = 0
    for shape in SHAPES:
        data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for pads in [amounts] if amounts is not None else AMOUNTS:
            outputs = stock_run(lowered, {"x": data} | ({"p": np.array(pads)} if amounts is None else {}))
            try:
                expected = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array(pads)])
            except PadError:
                assert outputs is None
                refused += 1
            else:
                assert native.bits(outputs[0]) == native.bits(expected), (shape, pads)
                ran += 1
    assert ran >= 4 and refused >= 1


WAYS = {
    "Transpose": "t = Transpose <perm = [0, 2, 1]> (d) y = Pad <mode = MODE> (t, p)",
    "Reshape": "t = Reshape (d, dims) y = Pad <mode = MODE> (t, p)",
    "two": "t = Transpose <perm = [0, 2, 1]> (d) a = Pad <mode = MODE> (t, p) y = Pad <mode = MODE> (a, p)",
}
DEQUANTIZED = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
DEQUANTIZED_AMOUNTS = np.array([0, 0, 1, 0, 0, 2])


def dequantized(nodes: str, mode: str, more: str = "") -> padops.Conversion:
    written = nodes.replace("MODE", f'"{mode}"')
    return padops.convert(parsed(f"""(int8[N, C, H] x, int64[P] p) => (float[A, B, D] y{more}) <float s = {{0.5}},
        int64[3] dims = {{0, 0, -1}}> {{ d = DequantizeLinear (x, s) {written} }}""", 18))  # fmt: skip


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("way", WAYS)
def test_the_fallback_runs_in_a_stock_session(way: str, mode: str, check: Callable[..., None]) -> None:
    """In a process of its own: without the copy in the function, it ended by SIGABRT (onnxruntime 1.20 to 1.32)."""
    made = dequantized(WAYS[way], mode)
    assert {record.notes for record in made.records} == {()}, "each has a fallback"
    data = 0.5 * (DEQUANTIZED if way == "Reshape" else DEQUANTIZED.transpose(0, 2, 1)).astype(np.float32)
    for _ in range(2 if way == "two" else 1):
        data = np.pad(data, [(0, 0), (0, 0), (1, 2)], mode)
    check(made, data.tolist(), 1, x=DEQUANTIZED, p=DEQUANTIZED_AMOUNTS)


def test_a_type_that_concat_lacks_leaves_no_fallback() -> None:
    both = WAYS["Transpose"] + " e = Cast <to = 16> (d) z = Pad <mode = MODE> (e, p)"
    (why,) = dequantized(both, "reflect", ", bfloat16[E, F, G] z").no_fallback.values()
    assert "its data follow DequantizeLinear, and have types that onnxruntime's Concat lacks" in why


# --- none at all ------------------------------------------------------------------------------------------------------

WHY = "this file needs padops for Pad_21: its data are of several types, int4, uint4, some of which need casts"
SAYS = f"{WHY}; --target onnx (padops.lower) may help"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two Pads that no one body serves."""
    mixed = parsed("""(int4[3] x0, uint4[3] x1) => (int4[] y0, uint4[] y1) <int64[2] p = {0, 1}>
        { [n0] y0 = Pad (x0, p) [n1] y1 = Pad (x1, p) }""", 21, 10)  # fmt: skip
    (tmp_path / "in").mkdir()
    return save(tmp_path / "in" / "mixed.onnx", mixed)


def test_one_model(source: Path, tmp_path: Path, cli: Cli) -> None:
    out, report = tmp_path / "o.onnx", tmp_path / "r.json"
    code, text, err = cli("convert", source, out, "--report", report)
    assert (code, err) == (0, f"warning: {SAYS}\n")
    assert text.splitlines()[-1].startswith("2 Pads: 2 converted, 2 without a fallback; wrote ")
    assert json.loads(report.read_text())["no_fallback"] == {"Pad_21": SAYS}
    assert cli("convert", source, out, "-q") == (0, "", f"warning: {SAYS}\n")
    assert cli("convert", source, out, "-q", "--no-fallback") == (0, "", "")
    lowered = padops.lower(out)
    assert not lowered.unconverted and not lowered.no_fallback


def test_a_folder(source: Path, tmp_path: Path, cli: Cli) -> None:
    save(source.parent / "a.onnx", one_pad(13))
    report = tmp_path / "r.json"
    code, text, err = cli("convert", source.parent, tmp_path / "out", "--report", report)
    assert (code, err) == (0, f"{source}: warning: {SAYS}\n")
    assert text.splitlines()[-1] == "2 models, 0 failed; 3 Pads: 3 converted"
    assert [row["report"]["no_fallback"] for row in json.loads(report.read_text())["files"]] == [{}, {"Pad_21": SAYS}]
    assert cli("convert", source.parent, tmp_path / "out", "-q") == (0, "", f"{source}: warning: {SAYS}\n")


def test_strict(source: Path, tmp_path: Path, cli: Cli) -> None:
    """Without a fallback that was wanted, nothing is written."""
    out = tmp_path / "o.onnx"
    advice = "to convert without fallbacks, use --no-fallback (in Python fallback=False)"
    assert cli("convert", source, out, "-q", "--strict") == (3, "", f"error: {SAYS}; {advice}\n")
    assert cli("convert", source.parent, tmp_path / "out", "-q", "--strict")[0] == 3
    assert not out.exists() and not (tmp_path / "out").exists()
    assert cli("convert", source, out, "-q", "--strict", "--no-fallback") == (0, "", "")
    with pytest.raises(padops.PadsLeftError, match="this file needs padops for Pad_21"):
        padops.convert(source, strict=True)


@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_no_body_of_a_sequence_map_has_functions(mode: str) -> None:
    """onnxruntime loads none there: it takes names from between its two inlinings."""
    converted = padops.convert(parsed(f"""(float[2, 3] x) => (float[n, m] y) {{ s = SequenceConstruct (x, x)
        t = SequenceMap (s) <body = b (float[r, c] e) => (float[i, j] f) {{
            k = Constant <value = int64[4] {{0, 1, 0, 2}}> () f = Pad <mode = "{mode}"> (e, k) }}>
        at = Constant <value = int64 {{1}}> () y = SequenceAt (t, at) }}"""))  # fmt: skip
    assert not converted.proto().functions
    assert "SequenceMap, in which onnxruntime loads no functions" in converted.no_fallback["Pad_13"]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    expected = reference.run("Pad_13", {"mode": mode}, [data, np.array([0, 1, 0, 2]), None])
    assert run(converted.proto(), {"x": data}) == [native.bits(expected)]


@pytest.mark.parametrize("modes", [["edge"], ["edge", "constant"], ["constant", "constant"]])
def test_no_constant_is_folded_in_a_branch(modes: list[str]) -> None:
    """onnxruntime 1.24 to 1.27 loses such a constant of more than 127 bytes with the If around it."""
    data = expected = np.arange(48, dtype=np.int16).reshape(6, 8)
    nodes, tensors = "", []
    for i, mode in enumerate(modes):
        nodes += f'v{i + 1} = Pad <mode = "{mode}"> (v{i}, p{i}) '
        tensors.append(f"int64[4] p{i} = {{1, 2, {i}, 3}}")
        expected = reference.run("Pad_18", {"mode": mode}, [expected, np.array([1, 2, i, 3]), None, None])
    text = f"(int16[6, 8] v0) => (int16[] v{len(modes)}) <{', '.join(tensors)}> {{ {nodes} }}"
    converted = padops.convert(parsed(text, 18), fold=False).proto()
    (body,) = converted.functions
    assert not any(node.op_type == "Pad" for outer in body.node for row in outer.attribute for node in row.g.node)
    for level in roads.LEVELS:
        (found,) = run_session(native.session(converted, roads.options(level)), {"v0": data})
        assert np.array_equal(found, expected)


def test_a_branch_that_is_not_taken_breaks_no_rule() -> None:
    """onnxruntime before 1.27 folds it as it loads the model, and fails where a Gather in it does."""
    source = parsed("""(float[2, 3] x, float[2, 3] z) => (float[] y, float[] w)
        <int64[4] p = {-3, 0, 4, 0}, int64[4] q = {0, 1, 0, 0}>
        { y = Pad <mode = "constant"> (x, p) w = Pad <mode = "reflect"> (z, q) }""")
    converted = padops.convert(source, fold=False).proto()
    feeds = {name: np.arange(6, dtype=np.float32).reshape(2, 3) for name in ("x", "z")}
    for level in roads.LEVELS:
        outputs = run_session(native.session(converted, roads.options(level)), feeds)
        assert [array.shape for array in outputs] == [(3, 3), (2, 4)]


# --- standard ONNX without any Pad, and of opset 4 to 10 --------------------------------------------------------------

# Data of which less and less is known; amounts, or none where they are an input.
KNOWN = ("float[3, 5]", "float[3, n]", "float[m, n]", "float[]")


@pytest.mark.parametrize("data", KNOWN)
def test_a_negative_dim_is_refused(data: str) -> None:
    source = parsed(f"({data} x, int64[4] p) => (float[] y) {{ y = Pad (x, p) }}", 19)
    feeds = {"x": np.ones((3, 5), np.float32), "p": np.array([0, -4, 0, -2])}
    with pytest.raises(PadError, match="P1"):
        reference.run("Pad_19", {}, [feeds["x"], feeds["p"]])
    made = padops.lower(source, without_pad=True).proto()
    assert isinstance(standard.run(made, feeds), Exception)


@pytest.mark.parametrize("data", KNOWN)
@pytest.mark.parametrize("pads", [([0, -9], [1, 0]), ([-3, 1], [0, 2])])
def test_a_dim_that_openvino_makes_0(data: str, pads: tuple[list[int], list[int]]) -> None:
    """P1: Pad-12 of OpenVINO has no negative dims."""
    source = parsed(f"""({data} x, int64[2] begins, int64[2] ends, float f) => (float[] y)
        {{ y = padops.OpenVINOPad_12 <pad_mode = "constant"> (x, begins, ends, f) }}""", 19)  # fmt: skip
    given = [np.ones((3, 5), np.float32), *map(np.array, pads), np.array(7, np.float32)]
    expected = reference.run("OpenVINOPad_12", {"pad_mode": "constant"}, given)
    assert 0 in expected.shape or pads[0] == [-3, 1]
    made = padops.lower(source, without_pad=True).proto()
    assert "Pad" not in str(made)
    feeds = dict(zip(("x", "begins", "ends", "f"), given))
    assert standard.run(made, feeds) == native.bits(expected)


def test_what_cannot_be_done_is_named() -> None:
    source = parsed("(float8e5m2[2] x) => (float8e5m2[n] y) <int64[2] p = {1, 2}> { y = Pad (x, p) }", 21)
    why = "no standard operator of opset 21 copies float8e5m2 without changing bits"
    said = rf"and ONNX Runtime does not run the model as it is: graph/Pad_0 \(.*\): {why}"
    with pytest.raises(padops.PadsLeftError, match=said):
        padops.lower(source, without_pad=True)
    source = parsed('(float[] x) => (float[] y) { y = Pad <mode = "edge", pads = [1, 2]> (x) }', 10)
    (record,) = padops.lower(source, without_pad=True).records
    assert record.reason == "without Pad, opset 10 has no operators that do the same"


# --- old opsets -------------------------------------------------------------------------------------------------------

OLD_DATA = np.arange(1, 21, dtype=np.float32).reshape(4, 5)
DIMS = ("a, b", "4, b", "4, 5")
PADS = ([-1, 0, 0, 1], [-1, 0, 0, -1], [1, 0, 0, 1], [0, 2, 0, 0], [-5, 0, 2, 0])
OLD_WHY = re.compile(
    r"it needs (\w+|Slice with bounds as inputs) \(opset \d+\), which opset \d+ lacks; --target onnx --opset \d+ .*"
    r"|without Pad, opset \d+ has no operators that do the same|padops::Pad_2 .*\[P[15]\]"
)


def _lowered(opset: int, dims: str, pads: list[int], mode: str) -> Conversion:
    node = f'Pad <pads = {pads}, mode = "{mode}", value = 7.0> (x)'
    source = parsed(f"(float[{dims}] x) => (float[] y) {{ y = {node} }}", opset, 3)
    return padops.convert(source, target="onnx", without_pad=True)


@pytest.mark.parametrize("opset", range(4, 11))
def test_what_is_lowered_runs(opset: int) -> None:
    converted = 0
    every = itertools.product(DIMS, PADS, ("constant", "edge", "reflect"))
    for dims, pads, mode in itertools.islice(every, opset % 2, None, 2):
        lowered = _lowered(opset, dims, pads, mode)
        (record,) = lowered.records
        if record.status != "converted":
            assert OLD_WHY.match(record.reason), record.reason
            continue
        session = native.session(lowered.proto(), roads.options("all"))
        try:
            expected = reference.run("Pad_2", {"pads": pads, "mode": mode, "value": 7.0}, [OLD_DATA])
        except padops.PadError:
            with pytest.raises(Exception, match="."):
                run_session(session, {"x": OLD_DATA})
            continue
        assert np.array_equal(run_session(session, {"x": OLD_DATA})[0], expected), (dims, pads, mode)
        converted += 1
    assert converted >= 6


def test_a_crop_of_open_dims_before_slice_had_inputs() -> None:
    """It became a Slice of three inputs, which opset 9 does not have."""
    lowered = _lowered(9, "a, b", [-1, 0, 0, 1], "constant")
    assert [record.status for record in lowered.records] == ["converted"]
    (cut,) = (node for node in lowered.proto().graph.node if node.op_type == "Slice")
    given = {attribute.name: list(attribute.ints) for attribute in cut.attribute}
    assert len(cut.input) == 1 and given == {"starts": [1, 0], "ends": [2**63 - 1] * 2, "axes": [0, 1]}


def test_integers_are_added_from_opset_7_on() -> None:
    """The amounts of an open dim are computed; before, ONNX Runtime adds floats alone."""
    (record,) = _lowered(6, "4, b", [0, 2, 0, 0], "constant").records
    assert record.status == "unconverted"
    said = "it needs Add (opset 7), which opset 6 lacks; --target onnx --opset 13 (padops.lower) may help"
    assert record.reason == said


WITHOUT = "without Pad, opset {0} has no operators that do the same"
CASES = {  # opset, mode, dims, amounts of each Pad; why there is no fallback
    "too far": (10, "reflect", "2, 1", [[0, 1, 0, 1]], ""),
    "too far, before Constant had integers": (6, "reflect", "2, 3", [[0, 4, 0, 1]], ""),
    "perhaps too far": (10, "reflect", "?, ?", [[0, 4, 0, 1]], ""),
    "perhaps too far, before Mod": (9, "reflect", "?, ?", [[0, 4, 0, 1]], ""),
    "perhaps too far, before NonZero": (8, "reflect", "2, ?", [[0, 1, 0, 1]], "its fallback needs ConstantOfShape"),
    "an edge, perhaps of a crop": (10, "edge", "n, m", [[0, 1, 0, -2]], "its fallback needs ReduceMin (opset 11), "),
    "of any rank": (10, "reflect", "", [[0, 1, 0, 1]], WITHOUT.format(10)),
    "near": (10, "reflect", "2, 3", [[0, 1, 0, 1]], ""),
    "all of them near": (7, "reflect", "2, 3", [[0, 1, 0, 1], [1, 0, 1, 0]], ""),
    "one of them far": (10, "reflect", "2, 3", [[0, 1, 0, 1], [0, 9, 0, 0]], "its fallback needs one body for nodes"),
    "constant": (10, "constant", "2, ?", [[0, 1, 0, 1]], ""),
    "a crop of all": (9, "constant", "a, b", [[-2, 0, 1, 1]], ""),
    "edge": (10, "edge", "2, ?", [[0, 1, 0, 1], [1, 0, 0, 0]], ""),
    "an edge of what a crop leaves": (5, "edge", "2, 3", [[0, -1, 0, 3], [0, 1, 0, 0]], ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_fallback_is_right_or_not_written(name: str) -> None:
    """It was ONNX Runtime's Pad, whether or not that is right, which before 1.25 read beyond the data."""
    opset, mode, dims, listed, told = CASES[name]
    nodes = " ".join(f'v{i + 1} = Pad <pads = {row}, mode = "{mode}"> (v{i})' for i, row in enumerate(listed))
    source = parsed(f"(float[{dims}] v0) => (float[] v{len(listed)}) {{ {nodes} }}", opset, 3)
    converted = padops.convert(source, fold=False)
    if missing := converted.no_fallback.get("Pad_2", ""):
        assert told and missing.startswith(f"this file needs padops for Pad_2: {told}")
        assert not converted.proto().functions
        return
    assert not told
    rows = 2 if dims[:1] == "2" else 3
    data = OLD_DATA[:rows, : 1 if dims.endswith("1") else 3] if dims != "a, b" else OLD_DATA
    expected = data
    for amounts in listed:
        expected = reference.run("Pad_2", {"pads": amounts, "mode": mode}, [expected])
    for level in roads.LEVELS:
        session = native.session(converted.proto(), roads.options(level))
        assert np.array_equal(run_session(session, {"v0": data})[0], expected)


@pytest.mark.parametrize("opset", [1, 2, 3])
def test_what_to_do_before_concat(opset: int) -> None:
    """The advice is one that can be followed: onnx has an adapter for the Pad of opset 2, and none for that of 1."""
    amounts = "paddings" if opset == 1 else "pads"
    source = parsed(f"(float[2, 3] x) => (float[] y) {{ y = Pad <{amounts} = [1, 0, 0, 0]> (x) }}", opset, 3)
    (record,) = padops.convert(source, target="onnx", without_pad=True).records
    assert record.reason.startswith(f"it needs Concat (opset 4), which opset {opset} lacks")
    assert record.reason.endswith("; --target onnx --opset 13 (padops.lower) may help")
    assert not padops.lower(source, opset=13).unconverted
    if opset > 1:
        assert onnx.version_converter.convert_version(source, 9).opset_import[0].version == 9
        return
    with pytest.raises(RuntimeError, match="No Adapter"):
        onnx.version_converter.convert_version(source, 9)
    assert [record.status for record in padops.convert(source).records] == ["converted"]
