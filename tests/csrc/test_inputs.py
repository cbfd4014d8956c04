"""What the inputs of the native kernels may look like: constant or not, absent, in any order, type and size."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, cycle, product
from typing import Any

import native
import numpy as np
import pytest
from onnx_pads import AXES_OPS, INPUT_OPS, modes_of, node, numpy_pad

from padops.spec import reference
from padops.spec.dialects import OPS
from padops.spec.plan import LARGEST

NONE: frozenset[int] = frozenset()


def check(op: str, attributes: dict[str, Any], inputs: list, held: frozenset[int] = NONE) -> None:
    """Native and the reference give the same bits."""
    wanted = native.bits(reference.run(op, attributes, inputs))
    assert native.bits(native.run(op, attributes, inputs, constants=held)) == wanted


@pytest.mark.parametrize("op", INPUT_OPS)
def test_fill_is_ignored_where_nothing_is_filled(op: str) -> None:
    """P7: in the other modes a given fill means nothing, whatever its shape; constant or at run time."""
    data, pads = np.arange(3, dtype=np.float32), np.array([2, 1])
    for mode in modes_of(op)[1:]:
        expected = numpy_pad(data, pads, mode).tolist()
        for shape, held in product(((0,), (2,), (2, 3), ()), (NONE, frozenset({2}))):
            inputs = [data, pads, np.full(shape, 5, np.float32)]
            assert native.run(op, {"mode": mode}, inputs, constants=held).tolist() == expected
            assert reference.run(op, {"mode": mode}, inputs).tolist() == expected


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
    for axes, pads, whole in (
        ([0, 1, 2], (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 6)),
        ([2, 0], (1, 2, 3, 4), (2, 0, 1, 4, 0, 3)),
        ([-1, -3], (1, 2, 3, 4), (2, 0, 1, 4, 0, 3)),
        ([1], (-1, 5), (0, -1, 0, 0, 5, 0)),
        ([], (), (0, 0, 0, 0, 0, 0)),
    ):
        inputs = [data, np.array(pads, np.int64), None, np.array(axes, kind)]
        mode = modes_of(op)[len(axes) % len(modes_of(op))]
        expected = native.bits(numpy_pad(data, whole, mode))
        assert native.bits(native.run(op, {"mode": mode}, inputs, constants=held)) == expected
        assert native.bits(reference.run(op, {"mode": mode}, inputs)) == expected


@pytest.mark.parametrize("op", INPUT_OPS)
def test_one_session_for_changing_shapes(op: str) -> None:
    """P8: what a kernel keeps from one run is used again only for the same shapes and amounts, all told apart."""
    flat, six = np.arange(3, dtype=np.float32), np.arange(6, dtype=np.float32).reshape(3, 2)
    for mode in modes_of(op):
        for data, pads in (
            (flat.reshape(3, 1), [1, 0, 0, 1]),
            (flat.reshape(1, 3), [1, 0, 0, 1]),
            (flat.reshape(1, 3), [0, 1, 1, 0]),
            (six, [1, 0, 0, 1]),
            (six, [1, 0, 0, 1]),
        ):
            expected = numpy_pad(data, pads, mode).tolist()
            assert native.run(op, {"mode": mode}, [data, np.array(pads)]).tolist() == expected
        # The same numbers in the same order as in the last run: dims 3 and 2, pads of 4; here dim 3, pads of [1, 4].
        with pytest.raises(Exception, match=r"pads has 4 values, expected 2 \(2 per axis, rank 1\) \[P8\]"):
            native.run(op, {"mode": mode}, [flat, np.array([[1, 0, 0, 1]])])


@pytest.mark.parametrize("op", INPUT_OPS)
def test_one_session_for_changing_inputs(op: str) -> None:
    """P7, P8: data of one shape; of what a run was given before, nothing is left but what is the same again.

    Of two wrong inputs the first is named, and only then do the amounts have to fit.
    """
    data, axes = np.arange(6, dtype=np.float32).reshape(2, 3), op in AXES_OPS
    wrong_fill = r"constant_value has 2 elements, expected one \[P7\]"
    for pads, fill, at, error in (
        ([1, 0, 0, 1], 5, [0, 1], ""),
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
        ([1, 2, 3], [0, 0], [1, 0], wrong_fill),
    ):
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
                expected, got = (outcome(run, attributes, [array, fill]) for run in (reference.run, native.run))
                assert got == expected


def outcome(run, attributes: dict, inputs: list) -> tuple | str:
    """The bits of a result, or the text of padops' error."""
    try:
        return native.bits(run("NGraphPad_0", attributes, inputs, "n"))
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        return native.error_text(error)


@pytest.mark.parametrize(
    ("data", "below", "above", "interior", "output"),
    [
        # However large it is, between no two elements there is none; a step as large as int64 was a crash.
        ([5], 1, 2, 2**63 - 1, [9, 5, 9, 9]),
        ([], 1, 2, 2**63 - 1, [9, 9, 9]),
        # Two elements with 2**59 - 3 fills between them, of which the crop leaves one fill.
        ([1, 2], 3 - LARGEST, 1, LARGEST - 3, [9, 2, 9]),
    ],
)
def test_what_is_left_of_a_huge_interior(data: list, below: int, above: int, interior: int, output: list) -> None:
    attributes = {"padding_below": [below], "padding_above": [above], "padding_interior": [interior]}
    inputs = [np.array(data, np.int16), np.array(9, np.int16)]
    assert native.run("NGraphPad_0", attributes, inputs).tolist() == output


def test_an_absent_attribute_is_the_first_error() -> None:
    """P8: of two mistakes both languages name the same one."""
    inputs = [np.zeros(3, np.float32), np.zeros((), np.float32)]
    for attributes, name in (
        ({"padding_below": [1], "pad_mode": "constant"}, "padding_above"),
        ({"padding_above": [1], "padding_interior": [-1]}, "padding_below"),
    ):
        for run in (native.run, reference.run):
            text = f"padops::NGraphPad_0 'n': attribute {name} is required [P8]"
            assert outcome(run, attributes, inputs) == text


@pytest.mark.parametrize("mode", OPS["NGraphPad_0"].modes)
def test_windows_far_away(mode: str) -> None:
    """P2, P3: a few elements that an extension shows after as many periods as there can be."""
    fill = np.array(9, np.int16)
    for size, far, odd, output in product((1, 2, 3, 5), (2**58, -(2**58), LARGEST), range(-2, 3), (1, 7)):
        below = far - odd if far > 0 else far + odd
        attributes = {"pad_mode": mode, "padding_below": [below], "padding_above": [output - below - size]}
        data = np.arange(size, dtype=np.int16)
        expected, got = (outcome(run, attributes, [data, fill]) for run in (reference.run, native.run))
        assert got == expected


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
