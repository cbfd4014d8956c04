"""What inputs of the native kernels may look like: constant or not, absent, in any order; and what a session infers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, cycle, product
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnx_pads import AXES_OPS, INPUT_OPS, modes_of, node, numpy_pad
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from small_models import FLOAT, INT64, info, model

import padops
from padops.spec import reference
from padops.spec.dialects import OPS
from padops.spec.plan import LARGEST

NONE = native.NONE


def check(op: str, attributes: dict[str, Any], inputs: list, held: frozenset[int] = NONE, wanted: Any = None) -> None:
    """Native and the reference give the same bits, and these."""
    found = native.bits(reference.run(op, attributes, inputs))
    assert native.bits(native.run(op, attributes, inputs, constants=held)) == found
    assert wanted is None or native.bits(wanted) == found


@pytest.mark.parametrize("op", INPUT_OPS)
def test_fill_is_ignored_where_nothing_is_filled(op: str) -> None:
    """P7: in the other modes a given fill means nothing, whatever its shape; constant or at run time."""
    data, pads = np.arange(3, dtype=np.float32), np.array([2, 1])
    for mode in modes_of(op)[1:]:
        expected = numpy_pad(data, pads, mode)
        for shape, held in product(((0,), (2,), (2, 3), ()), (NONE, frozenset({2}))):
            check(op, {"mode": mode}, [data, pads, np.full(shape, 5, np.float32)], held, expected)


@pytest.mark.parametrize("op", INPUT_OPS)
def test_constant_and_absent_inputs(op: str) -> None:
    """P7, P8: each subset of the inputs as initializers; absent ones, "" or left out at the end, mean 0 and all axes.

    Pads of shape [1, 2r] are accepted.
    """
    attributes, inputs = node(op, "constant", np.arange(12).reshape(3, 4), (1, -1, 2, 3), np.array(-7))
    inputs[3:] = [np.array([1, 0])] * len(inputs[3:])
    for count in range(len(inputs) + 1):
        for held in combinations(range(len(inputs)), count):
            check(op, attributes, inputs, frozenset(held))
    data, pads = np.arange(3, dtype=np.float32), np.array([1, 2])
    more = ([], [None], *([[None, None], [None, np.array([-1])]] if op in AXES_OPS else []))
    for rest, row, held in product(more, (pads, pads.reshape(1, 2)), (NONE, frozenset([1]))):
        assert native.run(op, {}, [data, row, *rest], constants=held).tolist() == [0, 0, 1, 2, 0, 0]


@pytest.mark.parametrize("held", [NONE, frozenset([3]), frozenset([1, 3])], ids=["run time", "axes", "both"])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("op", AXES_OPS)
def test_axes(op: str, kind: type, held: frozenset[int]) -> None:
    """P8: any order, negative ones, none at all, as int32 or int64, constant or at run time."""
    data = np.arange(24, dtype=np.uint16).reshape(2, 3, 4)
    for axes, pads, whole in (([0, 1, 2], (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6)),
                              ([2, 0], (1, 2, 3, 4), (2, 0, 1, 4, 0, 3)),
                              ([-1, -3], (1, 2, 3, 4), (2, 0, 1, 4, 0, 3)),
                              ([1], (-1, 5), (0, -1, 0, 0, 5, 0)),
                              ([], (), (0, 0, 0, 0, 0, 0))):  # fmt: skip
        inputs = [data, np.array(pads, np.int64), None, np.array(axes, kind)]
        mode = modes_of(op)[len(axes) % len(modes_of(op))]
        check(op, {"mode": mode}, inputs, held, numpy_pad(data, whole, mode))


@pytest.mark.parametrize("op", INPUT_OPS)
def test_one_session_for_changing_shapes(op: str) -> None:
    """P5, P8: a kernel uses what it keeps of a run only for the same shapes and amounts; it runs on after an error."""
    flat, six = np.arange(3, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2)
    for mode in modes_of(op):
        for data, pads, error in ((flat.reshape(3, 1), [1, 0, 0, 1], ""),
                                  (flat.reshape(1, 3), [1, 0, 0, 1], ""),
                                  (flat.reshape(1, 3), [0, 1, 1, 0], ""),
                                  (six, [1, 0, 0, 1], ""),
                                  (six, [1, 0, 0, 1], ""),
                                  # The same numbers in the same order as in the last run, but of another rank.
                                  (flat, [[1, 0, 0, 1]], r"pads has 4 values, expected 2 \(2 per .*, rank 1\) \[P8\]"),
                                  (six[:, :0], [0, 1, 0, 0], "" if mode == "constant" else r"it is empty \[P5\]"),
                                  (six[:, :1], [0, 1, 0, 0], "")):  # fmt: skip
            given = op, {"mode": mode}, [data, np.array(pads)]
            if not error:
                assert native.run(*given).tolist() == numpy_pad(data, pads, mode).tolist()
                continue
            with pytest.raises(InvalidArgument, match=error):
                native.run(*given)


@pytest.mark.parametrize("op", INPUT_OPS)
def test_one_session_for_changing_inputs(op: str) -> None:
    """P7, P8: data of one shape; of what a run was given before, nothing is left but what is the same again.

    Of two wrong inputs the first is named, and only then do the amounts have to fit.
    """
    data, axes = np.arange(6, dtype=np.float32).reshape(2, 3), op in AXES_OPS
    wrong_fill = r"constant_value has 2 elements, expected one \[P7\]"
    for pads, fill, at, error in (([1, 0, 0, 1], 5, [0, 1], ""),
                                  ([1, 0, 0, 1], 6, [0, 1], ""),  # another fill
                                  ([1, 0, 0, 2], 6, [0, 1], ""),  # other amounts
                                  ([1, 0, 0, 2], 6, [1, 0], ""),  # other axes
                                  ([[1, 0, 0, 2]], 6, [-1, 0], ""),  # amounts of another shape
                                  ([1, 0, 0, 2], [7], [1, 0], ""),
                                  *([([1, 2], 7, [1], "")] if axes else []),  # fewer
                                  ([1, 0, 0, 2], 7, [1, 0], ""),
                                  ([[1, 0], [0, 2]], 7, [1, 0], r"pads has shape \[2, 2\], expected \[4\] \[P8\]"),
                                  ([1, 0, 0, 2], [0, 0], [1, 0], wrong_fill),
                                  ([1, 0, 0, 2], 8, [1, 0], ""),
                                  ([1, 2, 3], [0, 0], [1, 0], wrong_fill)):  # fmt: skip
        inputs = [data, np.array(pads), np.array(fill, np.float32), *([np.array(at)] if axes else [])]
        if not error:
            check(op, {}, inputs)
            continue
        for run in (native.run, reference.run):
            with pytest.raises(Exception, match=error):
                run(op, {}, inputs)


INTERIORS = (1, LARGEST // 2 - 1, LARGEST - 2, LARGEST, 2**63 - 1)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_huge_interiors(size: int, dtype: type) -> None:
    """P1, P6, P10: what is left of an axis that could not be held: a few elements, wherever the crop begins.

    The axis is the only one, that of rows, or that in rows, in turn.
    """
    turns, fill = cycle(range(3)), np.array(9, dtype)
    data, table = np.arange(1, size + 1, dtype=dtype), np.arange(size * 3, dtype=dtype).reshape(size, 3)
    for interior, output in product(INTERIORS, (0, 1, 5)):
        dilated = (size - 1) * (interior + 1) + 1 if size else 0
        for below in {0, 2, -1, -(dilated // 2), 2 - dilated, 1 - dilated, -dilated}:
            above = output - below - dilated
            if max(abs(below), abs(above)) < 2**63:
                row = {"padding_below": [below], "padding_above": [above], "padding_interior": [interior]}
                outer = {name: [*values, 1] for name, values in row.items()}
                inner = {name: [1, *values] for name, values in row.items()}
                attributes, array = ((row, data), (outer, table), (inner, table.T.copy()))[next(turns)]
                given = "NGraphPad_0", attributes, [array, fill], "n"
                assert native.outcome(native.run, *given) == native.outcome(reference.run, *given)


@pytest.mark.parametrize(("data", "below", "above", "interior", "output"), [
    # However large it is, between no two elements there is none; a step as large as int64 was a crash.
    ([5], 1, 2, 2**63 - 1, [9, 5, 9, 9]),
    ([], 1, 2, 2**63 - 1, [9, 9, 9]),
    # Two elements with 2**59 - 3 fills between them, of which the crop leaves one fill.
    ([1, 2], 3 - LARGEST, 1, LARGEST - 3, [9, 2, 9]),
])  # fmt: skip
def test_what_is_left_of_a_huge_interior(data: list, below: int, above: int, interior: int, output: list) -> None:
    attributes = {"padding_below": [below], "padding_above": [above], "padding_interior": [interior]}
    inputs = [np.array(data, np.int16), np.array(9, np.int16)]
    assert native.run("NGraphPad_0", attributes, inputs).tolist() == output


@pytest.mark.parametrize("mode", OPS["NGraphPad_0"].modes)
def test_windows_far_away(mode: str) -> None:
    """P2, P3: a few elements that an extension shows after as many periods as there can be."""
    fill = np.array(9, np.int16)
    for size, far, odd, output in product((1, 2, 3, 5), (2**58, -(2**58), LARGEST), range(-2, 3), (1, 7)):
        below = far - odd if far > 0 else far + odd
        attributes = {"pad_mode": mode, "padding_below": [below], "padding_above": [output - below - size]}
        data = np.arange(size, dtype=np.int16)
        given = "NGraphPad_0", attributes, [data, fill], "n"
        assert native.outcome(native.run, *given) == native.outcome(reference.run, *given)


def test_integers_of_two_types_that_change() -> None:
    """P8: OpenVINO's two lists are told apart, each in its own type, signed or not."""
    data = np.arange(4, dtype=np.int16).reshape(2, 2)
    for begin, end in (([1, 0], [0, 2]), ([0, 1], [0, 2]), ([0, 1], [2, 0]), ([-1, 1], [2, 0]), ([1, 0], [0, 2])):
        inputs = [data, np.array(begin, np.int8), np.array(end, np.uint16), np.array(-3, np.int16)]
        for mode in ("constant", "edge"):
            check("OpenVINOPad_12", {"pad_mode": mode}, inputs)


def test_threads_with_shapes_of_their_own() -> None:
    """P7, P8: many threads share one session, and each call has its own shape, amounts and fill."""

    def run(i: int) -> bool:
        data = np.full((i % 5 + 1, i % 3 + 1), i, np.float32)
        pads = [i % 2, i % 7, i % 4, 1]
        return (native.run("Pad_19", {"mode": "wrap"}, [data, np.array(pads)]) == numpy_pad(data, pads, "wrap")).all()

    def fill(i: int) -> bool:
        given = native.run("Pad_19", {}, [np.zeros(2, np.float32), np.array([1, i % 2]), np.array(i, np.float32)])
        return given.tolist() == [i, 0, 0, i][: 3 + i % 2]

    for work in (run, fill):
        work(0)  # creates the session
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(work, range(2_000)))


# --- output types and shapes at session creation, for the operators whose amounts are attributes ---------------------

BELOW, ABOVE, BETWEEN = "padding_below", "padding_above", "padding_interior"


def inferring(op: str, shape, element_type: int = FLOAT, **amounts) -> onnx.ModelProto:
    """Return a model of one node whose output has no declared shape, so that a session has to infer it."""
    names = [row.name for row in OPS[op].inputs]
    node = native.node(op, names, "output", amounts)
    inputs = [(name, element_type, None if i else shape) for i, name in enumerate(names)]
    return of_padops([node], inputs, [("output", element_type, None)])


def of_padops(nodes: list[onnx.NodeProto], inputs: list, outputs: list) -> onnx.ModelProto:
    return model(nodes, 18, ir_version=9, imports=[("padops", 1)], inputs=inputs, outputs=outputs)


ROWS = [
    ([2, 3], [1, 0, -1, 4], [2, 7]),
    (["n", 3], [0, 1, 0, 1], ["n", 5]),
    (["n", 3], [-1, 1, 1, 1], ["n", 5]),
    (["n", 3], [1, 0, 1, 0], ["padops(n + 2)", 3]),
    (["n", 3], [-1, 0, 0, 0], ["padops(n - 1)", 3]),
    ([None, "k"], [0, 0, 0, 0], []),  # no symbol: nothing is said at all
    ([None, 3], [0, 1, 0, 0], []),
    ([0, 2], [3, -1, 0, 0], [3, 1]),
]
AMOUNTS = {BELOW: [1, 0, 0], ABOVE: [0, -2, 0], BETWEEN: [2, 0, 1]}


@pytest.mark.parametrize(("op", "shape", "amounts", "output"), [
    *(("Pad_1", shape, {"paddings": pads}, output) for shape, pads, output in ROWS),
    *(("Pad_2", shape, {"pads": pads}, output) for shape, pads, output in ROWS),
    # Interior counts, and touches an axis by itself.
    ("NGraphPad_0", [3, 4, 5], AMOUNTS, [8, 2, 9]),
    ("NGraphPad_0", [3, 4, "n"], AMOUNTS, []),
    ("NGraphPad_0", [3, 4, "n"], AMOUNTS | {BETWEEN: [0, 0, 0]}, [4, 2, "n"]),
])  # fmt: skip
def test_dims(op: str, shape: list, amounts: dict[str, list], output: list) -> None:
    """P1, P6: dims follow where the input's are known, and symbols where it has them."""
    (inferred,) = native.session(inferring(op, shape, **amounts)).get_outputs()
    assert (inferred.type, inferred.shape) == ("tensor(float)", output)


@pytest.mark.parametrize("shape", [["n", 3], [None, 3], ["n", "n"], None])
def test_what_follows_computes_with_real_dims(shape) -> None:
    """P1: the runtime folds what it believes to be known: a dim that is not must not look as if it were."""
    made = inferring("Pad_2", shape, pads=[1, 0, 1, 2])
    made.graph.node.append(helper.make_node("Shape", ["output"], ["size"]))
    made.graph.output.append(info(("size", INT64, None)))
    built = native.session(made)
    for rows in (0, 4, 9):
        output, size = built.run(None, {"data": np.ones((rows, 3), np.float32)})
        assert size.tolist() == list(output.shape) == [rows + 2, 5]


def test_symbols_of_pads_of_pads() -> None:
    """P1: each adds to what the one before it gives; as much taken away as was added is another name for the size."""
    made = inferring("Pad_2", ["n"], pads=[1, 1])
    for name, pads in (("more", [0, 3]), ("less", [-1, -1])):
        made.graph.node.append(native.node("Pad_2", ["output"], name, {"pads": pads}))
        made.graph.output.append(info((name, FLOAT, None)))
    built = native.session(made)
    symbols = ["padops(n + 2)", "padops(padops(n + 2) + 3)", "padops(padops(n + 2) - 2)"]
    assert [output.shape for output in built.get_outputs()] == [[symbol] for symbol in symbols]
    assert [output.shape for output in built.run(None, {"data": np.ones(4, np.float32)})] == [(6,), (9,), (4,)]


def test_a_symbol_of_the_model_that_reads_like_a_sum() -> None:
    """Equal symbols mean equal sizes: the model's own "n + 2" is a name, and may be of any size."""
    nodes = [helper.make_node("Neg", ["z"], ["negated"]), helper.make_node("Sigmoid", ["negated"], ["small"]),
             helper.make_node("ReduceSum", ["small"], ["sum"], keepdims=0),
             helper.make_node("Add", ["x", "sum"], ["shifted"]),
             native.node("Pad_2", ["shifted"], "padded", {"pads": [1, 1]}),
             helper.make_node("ReduceSum", ["padded"], ["output"], keepdims=0)]  # fmt: skip
    options = onnxruntime.SessionOptions()  # with an arena, whose plan goes by the symbols
    options.log_severity_level = 4
    padops.register(options)
    made = of_padops(nodes, [("x", FLOAT, ["n"]), ("z", FLOAT, ["n + 2"])], [("output", FLOAT, [])])
    built = native.session(made, options)
    (output,) = built.run(None, {"x": np.ones(3, np.float32), "z": np.zeros(1, np.float32)})
    assert output == 4.5


@pytest.mark.parametrize("dtype", native.TYPES, ids=lambda dtype: dtype.name)
def test_every_type(dtype) -> None:
    """The output has the data's type, whichever number the runtime has for it."""
    built = native.session(inferring("NGraphPad_0", [2], dtype.onnx, **{BELOW: [1], ABOVE: [1]}))
    (output,) = built.get_outputs()
    assert (output.type, output.shape) == (f"tensor({dtype.name})", [4])
    data = native.random_array(np.random.default_rng(1), dtype, (2,))
    assert native.run_session(built, {"arg": data, "arg_pad_value": data[:1].reshape(())}).shape == (4,)


def test_declared_shape_that_contradicts() -> None:
    """P1: a model whose declared output shape cannot be is refused, or its run gives the real one; nothing is cut."""
    made = inferring("Pad_2", [2, 3], pads=[0, 1, 0, 1])
    made.graph.output[0].CopyFrom(info(("output", FLOAT, [2, 4])))
    try:
        (output,) = native.session(made).run(None, {"data": np.zeros((2, 3), np.float32)})
    except Exception as error:
        assert "shape" in str(error).lower()
    else:
        assert output.shape == (2, 5)
