"""Pads in Ifs of constant condition, which ONNX Runtime folds: what it folds may have no If or Loop in a second If.

tract computes with shapes by an arithmetic of its own, whose remainder of a negative number is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import stock_sessions
from onnx import parser

import padops
from padops.spec.plan import PadError

TIMES = 3
DATA = np.arange(20, dtype=np.float32).reshape(4, 5)
EXPECTED = {mode: np.pad(DATA[1:], [(0, 0), (0, 1)], mode).tolist() for mode in ("constant", "edge", "reflect")}
INSIDE = "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop"


def choice(output: str, condition: str, then: str, other: str) -> str:
    """An If of two branches, each of which gives ``output`` followed by its number."""
    branches = [
        f"{name}_branch = {output}_{i} () => (float[] {output}{i}) {{ {nodes} }}"
        for i, (name, nodes) in enumerate((("then", then), ("else", other)))
    ]
    return f"{output} = If ({condition}) <{', '.join(branches)}>"


def pads(then: str, other: str, output: str = "y", condition: str = "c") -> str:
    """An If of a Pad in each branch."""
    rows = [f'{output}{i} = Pad <mode = "{mode}"> (x, p)' for i, mode in enumerate((then, other))]
    return choice(output, condition, *rows)


TRUE, FALSE = (f"c = Constant <value = bool {{{value}}}> ()" for value in (1, 0))


def made(nodes: str, condition: str = TRUE, inputs: str = "float[] x", functions: str = "") -> onnx.ModelProto:
    """A model of data of unknown rank, and of a condition, which is constant if nothing is said."""
    return parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 18, "f": 1]> g ({inputs}) => (float[] y) <int64[4] p = {{-1, 0, 0, 1}}> '
        f"{{ {condition} {nodes} }} {functions}"
    )


def of_shape(nodes: str) -> onnx.ModelProto:
    """A condition that follows from a shape."""
    condition = "s = Shape (x) rank = Size (s) two = Constant <value = int64 {2}> () c = Equal (rank, two)"
    return made(nodes, condition, "float[n, m] x")


def called(nodes: str) -> onnx.ModelProto:
    body = f'<domain: "f", opset_import: ["": 18]> F (x, p, c) => (y) {{ {nodes} }}'
    return made("y = f.F (x, p, c)", functions=body)


@pytest.fixture(scope="module")
def stock() -> Iterator[stock_sessions.Stock]:
    started = stock_sessions.Stock()
    yield started
    started.end()


@pytest.fixture
def check(stock: stock_sessions.Stock, tmp_path: Path) -> Callable[..., None]:
    """The output of each level and time, in a process of its own."""

    def run(conversion: padops.Conversion, expected: list, **feeds: np.ndarray) -> None:
        outputs = stock.run(conversion.proto(), tmp_path, TIMES, x=DATA, **feeds)
        assert outputs == [expected] * (TIMES * len(stock_sessions.LEVELS))

    return run


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
    (whole,), (same,), (flat,) = (
        padops.convert(source).proto().functions for source in (plain, computed, made(pads("constant", "reflect")))
    )
    assert same == whole
    assert _ifs_around(whole.node) == 1 and _ifs_around(flat.node) == 0


def test_one_condition_of_two_that_is_computed(check: Callable) -> None:
    converted = padops.convert(made(twice("d"), inputs="float[] x, bool d"))
    assert [record.notes for record in converted.records] == [(), ()]
    for given, mode in ((True, "constant"), (False, "reflect")):
        check(converted, EXPECTED[mode], d=np.array(given))


def beside(condition: str, reads: str, through: str = "") -> onnx.ModelProto:
    """A Pad in an If of computed condition, in a folded If; it reads the model's input or a value of the outer branch.

    The node ``through``, if any, stands between that value and the Pad.
    """
    between, value = (f"f = {through} ({reads})", "f") if through else ("", reads)
    number = int(condition == FALSE)  # of the branch that is taken
    padded = f'{between} y{number}0 = Pad <mode = "edge"> ({value}, p)'
    inner = choice(f"y{number}", "d", padded, f"y{number}1 = Neg (beside)")
    branches = [f"beside = Relu (x) {inner}", f"y{1 - number} = Neg (x)"]
    return made(choice("y", "c", *(reversed(branches) if number else branches)), condition, "float[] x, bool d")


@pytest.mark.parametrize("through", ["", "Identity", "Transpose"])
@pytest.mark.parametrize("condition", [TRUE, FALSE])
def test_a_value_beside_an_inner_if_leaves_no_fallback(condition: str, through: str, check: Callable) -> None:
    """The Pad would read a value of the folded branch, which the runtime removed: the other branch was taken.

    So it was behind a Transpose, past which the runtime moves the Pad.
    """
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
    """The second of two Pads finds the output of the first, though the runtime folds the conditions of both fallbacks.

    Without the mend, the runtime failed with "Missing Input".
    """
    rows = (
        "n = Constant <value = int64[4] {0, 1, 0, 1}> () m = Constant <value = int64[4] {0, 9, 0, 0}> () "
        f'a = Pad <mode = "{mode}"> (x, n) y0 = Pad <mode = "reflect"> (a, m)'
    )
    source = made(choice("y", "d", rows, "y1 = Identity (x)"), "", "float[4, 5] x, bool d")
    converted = padops.convert(source, fold=False)
    assert [record.notes for record in converted.records] == [(), ()]
    wanted = np.pad(np.pad(DATA, [(0, 0), (1, 1)], mode), [(0, 0), (9, 0)], "reflect").tolist()
    check(converted, wanted, d=np.array(True))


def test_a_loop_around_counts_nothing() -> None:
    """A value that a Loop carries is no constant, whatever it starts with."""
    body = (
        "body = b (int64 n, bool go, bool state) => (bool on, bool kept, float[] next) "
        f"{{ on = Identity (go) kept = Identity (state) {pads('constant', 'reflect', 'next', 'state')} }}"
    )
    converted = padops.convert(made(f"turns = Constant <value = int64 {{1}}> () last, y = Loop <{body}> (turns, , c)"))
    assert _ifs_around(converted.proto().functions[0].node) == 1


def _ifs_around(nodes: list[onnx.NodeProto]) -> int:
    """The most Ifs around an If or Loop."""
    found = 0
    for node in nodes:
        for inner in (attribute.g for attribute in node.attribute if attribute.HasField("g")):
            if any(attribute.HasField("g") for other in inner.node for attribute in other.attribute):
                found = max(found, (node.op_type == "If") + _ifs_around(inner.node))
    return found


SHAPES = [(2, 4, 5), (0, 4, 5), (2, 0, 5), (2, 4, 0), (0, 0, 5), (0, 4, 0), (1, 1, 2)]
AMOUNTS = [(0, 2, 3, 0, 1, 2), (0, 0, 3, 0, 0, 0), (0, -1, 0, 0, -3, 1), (0, 0, -5, 0, 0, 0), (0, -4, -5, 0, 0, 0)]


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes(attribute.g)


def lowered(mode: str, amounts: tuple[int, ...] | None) -> onnx.ModelProto:
    """Return a lowered model of open sizes; amounts of None are an input."""
    given = "" if amounts is None else f"<int64[6] p = {{{', '.join(map(str, amounts))}}}>"
    source = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 19]> g (float[a, b, c] x{", int64[6] p" if amounts is None else ""}) => '
        "(float[d, e, f] y) "
        f'{given} {{ y = Pad <mode = "{mode}"> (x, p) }}'
    )
    return padops.lower(source, without_pad=True).proto()


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("amounts", [*AMOUNTS[:3], None], ids=str)
def test_only_where_something_may_be_cropped(mode: str, amounts: tuple[int, ...] | None) -> None:
    """The bits, and the error where there is nothing to extend from, of sizes that are 0 and of others."""
    made = lowered(mode, amounts)
    reshapes = [node for node in nodes(made.graph) if node.op_type == "Reshape"]
    may_crop = amounts is None or min(amounts) < 0
    assert reshapes and any(row.name == "allowzero" for node in reshapes for row in node.attribute) is may_crop
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ran = refused = 0
    for shape in SHAPES:
        data = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        for pads in [amounts] if amounts is not None else AMOUNTS:
            feeds = {"x": data} | ({} if amounts is not None else {"p": np.array(pads)})
            try:
                expected = padops.run_reference("Pad_19", {"mode": mode}, [data, np.array(pads)])
            except PadError:
                with pytest.raises(Exception):  # noqa: B017  # it is whatever the operators say
                    session.run(None, feeds)
                refused += 1
                continue
            (output,) = session.run(None, feeds)
            assert (output.shape, output.tobytes()) == (expected.shape, expected.tobytes()), (shape, pads)
            ran += 1
    assert ran >= 4 and refused >= 1


MODEL = """<ir_version: 9, opset_import: ["" : 18]>
g (int8[N, C, H] x, int64[P] p) => (float[A, B, D] y) <float s = {0.5}, int64[3] dims = {0, 0, -1}> {
    d = DequantizeLinear (x, s)
    NODES
}"""
WAYS = {
    "Transpose": "t = Transpose <perm = [0, 2, 1]> (d) y = Pad <mode = MODE> (t, p)",
    "Reshape": "t = Reshape (d, dims) y = Pad <mode = MODE> (t, p)",
    "two": "t = Transpose <perm = [0, 2, 1]> (d) a = Pad <mode = MODE> (t, p) y = Pad <mode = MODE> (a, p)",
}
DEQUANTIZED = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
DEQUANTIZED_AMOUNTS = np.array([0, 0, 1, 0, 0, 2])


def converted(way: str, mode: str) -> padops.Conversion:
    return padops.convert(parser.parse_model(MODEL.replace("NODES", WAYS[way].replace("MODE", f'"{mode}"'))))


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("way", WAYS)
def test_the_fallback_runs_in_a_stock_session(way: str, mode: str, stock: stock_sessions.Stock, tmp_path: Path) -> None:
    """In a process of its own: without the copy in the function, it ended by SIGABRT (onnxruntime 1.20 to 1.32)."""
    made = converted(way, mode)
    assert {record.notes for record in made.records} == {()}, "each has a fallback"
    data = 0.5 * (DEQUANTIZED if way == "Reshape" else DEQUANTIZED.transpose(0, 2, 1)).astype(np.float32)
    for _ in range(2 if way == "two" else 1):
        data = np.pad(data, [(0, 0), (0, 0), (1, 2)], mode)
    outputs = stock.run(made.proto(), tmp_path, 1, x=DEQUANTIZED, p=DEQUANTIZED_AMOUNTS)
    assert outputs == [data.tolist()] * len(stock_sessions.LEVELS)


def test_a_type_that_concat_lacks_leaves_no_fallback() -> None:
    both = WAYS["Transpose"].replace("MODE", '"reflect"') + ' e = Cast <to = 16> (d) z = Pad <mode = "reflect"> (e, p)'
    text = MODEL.replace("NODES", both).replace("(float[A, B, D] y)", "(float[A, B, D] y, bfloat16[E, F, G] z)")
    said = "its data follow DequantizeLinear, and have types of which onnxruntime makes no copy"
    (why,) = padops.convert(parser.parse_model(text)).no_fallback.values()
    assert said in why
