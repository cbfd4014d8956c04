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
from onnx import helper, parser
from small_models import BOOL, FLOAT, INT64, graph, model, pad, tensor

import padops
from padops.spec.plan import PadError

TIMES = 3
DATA = np.arange(20, dtype=np.float32).reshape(4, 5)
PADS = [-1, 0, 0, 1]
EXPECTED = {
    mode: np.pad(DATA[1:], [(0, 0), (0, 1)], mode).tolist() for mode in ("constant", "edge", "reflect")
}  # fmt: skip


def _branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
    return graph(nodes, [], [(name, FLOAT, None)], name=f"{name}_branch")


def _choice(output: str, condition: str, then: onnx.GraphProto, other: onnx.GraphProto) -> onnx.NodeProto:
    return helper.make_node("If", [condition], [output], then_branch=then, else_branch=other)


def _pads(then: str, other: str, output: str = "y", condition: str = "c") -> onnx.NodeProto:
    """An If of a Pad in each branch."""
    branches = [_branch(f"{output}_{i}", pad(["x", "p"], f"{output}_{i}", mode=m)) for i, m in enumerate((then, other))]
    return _choice(output, condition, *branches)


def _model(*nodes: onnx.NodeProto, condition: int | None = 1, **parts: object) -> onnx.ModelProto:
    """A model of data of unknown rank, and of a condition that is constant or, if None, an input."""
    made = [helper.make_node("Constant", [], ["c"], value=tensor("", bool(condition), np.bool_))]
    inputs = [("x", FLOAT, None)]
    if condition is None:
        made, inputs = [], [*inputs, ("c", BOOL, [])]
    return model([*made, *nodes], 18, ir_version=9, inputs=inputs, tensors=[tensor("p", PADS)], **parts)


def _of_shape(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Return a model of the nodes, with a condition that follows from a shape."""
    made = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Size", ["s"], ["rank"]),
        helper.make_node("Constant", [], ["two"], value=tensor("", 2)),
        helper.make_node("Equal", ["rank", "two"], ["c"]),
    ]
    inputs = [("x", FLOAT, ["n", "m"])]
    return model([*made, *nodes], 18, ir_version=9, inputs=inputs, tensors=[tensor("p", PADS)])


def _called(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Return a model that calls the nodes as a function."""
    names = ["x", "p", "c"]
    function = helper.make_function("f", "F", names, ["y"], list(nodes), [helper.make_opsetid("", 18)])
    return _model(helper.make_node("F", names, ["y"], domain="f"), functions=[function], imports=[("f", 1)])


@pytest.fixture(scope="module")
def stock() -> Iterator[stock_sessions.Stock]:
    made = stock_sessions.Stock()
    yield made
    made.end()


@pytest.fixture
def run(stock: stock_sessions.Stock, tmp_path: Path) -> Callable[..., list[object]]:
    """The output of each level and time, in a process of its own."""
    return lambda proto, **feeds: stock.run(proto, tmp_path, TIMES, x=DATA, **feeds)


@pytest.mark.parametrize("make", [_model, _of_shape, _called])
@pytest.mark.parametrize("modes", [("constant", "reflect"), ("constant", "edge"), ("edge", "constant")])
def test_a_fallback_in_a_folded_branch(modes: tuple[str, str], make: object, run: Callable) -> None:
    """The process died here, or the dims were others, at every level but off (onnxruntime 1.32)."""
    converted = padops.convert(make(_pads(*modes)))
    assert [record.notes for record in converted.records] == [(), ()], "each has a fallback"
    assert run(converted.proto()) == [EXPECTED[modes[0]]] * (TIMES * len(stock_sessions.LEVELS))


def _twice(condition: str = "c", inner: str = "c") -> onnx.NodeProto:
    """An If in an If, and Pads in the inner one."""
    same = helper.make_node("Identity", ["x"], ["same"])
    return _choice("y", condition, _branch("z", _pads("constant", "reflect", "z", inner)), _branch("same", same))


def test_two_folded_branches_leave_no_fallback(run: Callable) -> None:
    """The fallback would have a Loop, which both Ifs move; a Pad that the runtime has needs neither."""
    converted = padops.convert(_model(_twice()))
    said = "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop"
    assert [said in why for why in converted.no_fallback.values()] == [True]
    assert not converted.proto().functions
    lowered = padops.lower(_model(_twice()), without_pad=True)
    assert {record.status for record in lowered.records} == {"unconverted"}
    assert all(record.reason.startswith(said) for record in lowered.records)
    kept = padops.lower(_model(_twice()))
    assert run(kept.proto()) == [EXPECTED["constant"]] * (TIMES * len(stock_sessions.LEVELS))


def test_a_condition_that_is_computed_costs_nothing() -> None:
    """The body is that of a Pad in no If; one folded If around it makes one without an If in an If."""
    inputs = [("x", FLOAT, None)]
    plain = model(
        [pad(["x", "p"], "a", mode="constant"), pad(["x", "p"], "b", mode="reflect")], 18, ir_version=9, inputs=inputs,
        outputs=[("a", FLOAT, None), ("b", FLOAT, None)], tensors=[tensor("p", PADS)],
    )  # fmt: skip
    (whole,), (same,), (flat,) = (
        padops.convert(made).proto().functions
        for made in (plain, _model(_pads("constant", "reflect"), condition=None), _model(_pads("constant", "reflect")))
    )
    assert same == whole
    assert _ifs_around(whole.node) == 1 and _ifs_around(flat.node) == 0


def test_one_condition_of_two_that_is_computed(run: Callable) -> None:
    made = _model(_twice("c", "d"), condition=1)
    made.graph.input.append(helper.make_tensor_value_info("d", BOOL, []))
    converted = padops.convert(made)
    assert [record.notes for record in converted.records] == [(), ()]
    for given, mode in ((True, "constant"), (False, "reflect")):
        outputs = run(converted.proto(), d=np.array(given))
        assert outputs == [EXPECTED[mode]] * (TIMES * len(stock_sessions.LEVELS))


def _beside(condition: int, reads: str, through: str = "") -> onnx.ModelProto:
    """A Pad in an If of computed condition, in a folded If; it reads the model's input or a value of the outer branch.

    The node ``through``, if any, stands between that value and the Pad.
    """
    first = [helper.make_node(through, [reads], ["f"])] if through else []
    inner = _choice(
        "z",
        "d",
        _branch("a", *first, pad(["f" if through else reads, "p"], "a", mode="edge")),
        _branch("b", helper.make_node("Neg", ["beside"], ["b"])),
    )
    other = _branch("o", helper.make_node("Neg", ["x"], ["o"]))
    folded = _branch("z", helper.make_node("Relu", ["x"], ["beside"]), inner)
    made = _model(_choice("y", "c", *((folded, other) if condition else (other, folded))), condition=condition)
    made.graph.input.append(helper.make_tensor_value_info("d", BOOL, []))
    return made


@pytest.mark.parametrize("through", ["", "Identity", "Transpose"])
@pytest.mark.parametrize("condition", [0, 1])
def test_a_value_beside_an_inner_if_leaves_no_fallback(condition: int, through: str, run: Callable) -> None:
    """The Pad would read a value of the folded branch, which the runtime removed: the other branch was taken.

    So it was behind a Transpose, past which the runtime moves the Pad.
    """
    converted = padops.convert(_beside(condition, "beside", through))
    assert ["it stands inside Ifs" in why for why in converted.no_fallback.values()] == [True]
    assert not converted.proto().functions
    lowered = padops.lower(_beside(condition, "beside", through), without_pad=True)
    assert [row.status for row in lowered.records] == ["unconverted"]
    with_one = padops.convert(_beside(condition, "x"))
    assert [row.notes for row in with_one.records] == [()]
    outputs = run(with_one.proto(), d=np.array(True))
    assert outputs == [EXPECTED["edge"]] * (TIMES * len(stock_sessions.LEVELS))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_two_pads_in_a_row_in_a_branch(mode: str, run: Callable) -> None:
    """The second of two Pads finds the output of the first, though the runtime folds the conditions of both fallbacks.

    Without the mend, the runtime failed with "Missing Input".
    """
    rows = {"near": [0, 1, 0, 1], "far": [0, 9, 0, 0]}
    nodes = [pad(["x", "near"], "a", mode=mode), pad(["a", "far"], "b", mode="reflect")]
    held = [tensor(name, amounts) for name, amounts in rows.items()]
    both = graph(nodes, [], [("b", FLOAT, None)], held, "both")
    same = _branch("e", helper.make_node("Identity", ["x"], ["e"]))
    inputs = [("x", FLOAT, [4, 5]), ("d", BOOL, [])]
    source = model([_choice("y", "d", both, same)], 17, ir_version=9, inputs=inputs)
    converted = padops.convert(source, fold=False)
    assert [record.notes for record in converted.records] == [(), ()]
    wanted = np.pad(np.pad(DATA, [(0, 0), (1, 1)], mode), [(0, 0), (9, 0)], "reflect").tolist()
    assert run(converted.proto(), d=np.array(True)) == [wanted] * (TIMES * len(stock_sessions.LEVELS))


def test_a_loop_around_counts_nothing() -> None:
    """A value that a Loop carries is no constant, whatever it starts with."""
    body = graph(
        [helper.make_node("Identity", ["go"], ["on"]), _pads("constant", "reflect", "next", "state")],
        [("n", INT64, []), ("go", BOOL, []), ("state", BOOL, [])],
        [("on", BOOL, []), ("state", BOOL, []), ("next", FLOAT, None)],
        name="body",
    )
    loop = helper.make_node("Loop", ["turns", "", "c"], ["last", "y"], body=body)
    converted = padops.convert(_model(helper.make_node("Constant", [], ["turns"], value=tensor("", 1)), loop))
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
