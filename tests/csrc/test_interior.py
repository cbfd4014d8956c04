"""NGraphPad_0 with interiors and crops as large as there are: native and by the reference (P1, P6, P10)."""

from __future__ import annotations

from itertools import cycle, product

import native
import numpy as np
import pytest

from padops.spec import reference
from padops.spec.plan import LARGEST, PadError

INTERIORS = (1, LARGEST // 2 - 1, LARGEST - 2, LARGEST, 2**63 - 1)


def outcome(run, attributes: dict, inputs: list) -> tuple | str:
    """The bits of a result, or the text of padops' error."""
    try:
        return native.bits(run("NGraphPad_0", attributes, inputs, "n"))
    except PadError as error:
        return str(error)
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        return native.error_text(error)


@pytest.mark.parametrize("size", [0, 1, 2, 3])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_huge_interiors(size: int, dtype: type) -> None:
    """What is left of an axis that could not be held: a few elements of it, wherever the crop begins.

    The axis is the only one, that of rows, or that in rows, in turn.
    """
    turns = cycle(range(3))
    data, fill = np.arange(1, size + 1, dtype=dtype), np.array(9, dtype)
    table = np.arange(size * 3, dtype=dtype).reshape(size, 3)
    for interior, output in product(INTERIORS, (0, 1, 5)):
        dilated = (size - 1) * (interior + 1) + 1 if size else 0
        for below in {0, 2, -1, -(dilated // 2), 2 - dilated, 1 - dilated, -dilated}:
            above = output - below - dilated
            if max(abs(below), abs(above)) >= 2**63:
                continue
            row = {"padding_below": [below], "padding_above": [above], "padding_interior": [interior]}
            outer = {name: [*values, 1] for name, values in row.items()}
            inner = {name: [1, *values] for name, values in row.items()}
            attributes, array = ((row, data), (outer, table), (inner, table.T.copy()))[next(turns)]
            expected = outcome(reference.run, attributes, [array, fill])
            assert outcome(native.run, attributes, [array, fill]) == expected


def test_no_interior_between_fewer_than_two() -> None:
    """However large it is, between no two elements there is none; a step as large as int64 was a crash."""
    attributes = {"padding_below": [1], "padding_above": [2], "padding_interior": [2**63 - 1]}
    fill = np.array(7, np.int16)
    for data, expected in (([5], [7, 5, 7, 7]), ([], [7, 7, 7])):
        output = native.run("NGraphPad_0", attributes, [np.array(data, np.int16), fill])
        assert output.tolist() == expected


def test_the_last_of_two_elements_far_apart() -> None:
    """Two elements with 2**59 - 3 fills between them, of which the crop leaves one fill."""
    attributes = {"padding_below": [3 - LARGEST], "padding_above": [1], "padding_interior": [LARGEST - 3]}
    output = native.run("NGraphPad_0", attributes, [np.array([1, 2], np.uint8), np.array(9, np.uint8)])
    assert output.tolist() == [9, 2, 9]


@pytest.mark.parametrize(
    "attributes, text",
    [
        ({"padding_below": [1], "pad_mode": "constant"}, "attribute padding_above is required [P8]"),
        ({"padding_above": [1], "padding_interior": [-1]}, "attribute padding_below is required [P8]"),
    ],
)
def test_an_absent_attribute_is_the_first_error(attributes: dict, text: str) -> None:
    """Of two mistakes both languages name the same one."""
    inputs = [np.zeros(3, np.float32), np.zeros((), np.float32)]
    for run in (native.run, reference.run):
        assert outcome(run, attributes, inputs) == f"padops::NGraphPad_0 'n': {text}"
