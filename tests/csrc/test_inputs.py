"""What the inputs of the native kernels may look like: constant or not, absent, in any order and type."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product
from typing import Any

import native
import numpy as np
import pytest
from onnx_pads import AXES_OPS, INPUT_OPS, modes_of, node, numpy_pad

from padops.spec import reference

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
