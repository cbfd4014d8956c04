"""The plan: the map from output position to source position or fill; tests/csrc/test_errors.py has its errors."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest

import padops
from padops.spec.plan import LARGEST, Amounts, Crop, Limit, Mode, PadError, Plan, dilated_size, make_plan, source_index

EXTENDING = [mode for mode in Mode if mode is not Mode.CONSTANT]
FREE = [Mode.CONSTANT, Mode.EDGE, Mode.WRAP]


def plan(size: int, begin: int, end: int, mode: Mode, crop: Crop = Crop.CROP, interior: int = 0, **rules) -> Plan:
    """The plan of one axis."""
    return make_plan([size], [Amounts(begin, end, interior)], mode, crop, **rules)


def positions(made: Plan) -> list[int]:
    """The source positions that one axis shows."""
    (axis,) = made.axes
    return source_index(axis, made.mode, np.arange(axis.output)).tolist()


@pytest.mark.parametrize("mode", EXTENDING)
def test_extension_is_that_of_numpy(mode: Mode) -> None:
    """P2: any number of periods; n = 1 repeats the element."""
    for size, begin, end in product(range(1, 6), range(0, 17, 2), range(0, 17, 3)):
        made = plan(size, begin, end, mode)
        assert positions(made) == np.pad(np.arange(size), (begin, end), mode=mode.value).tolist()


@pytest.mark.parametrize("mode", EXTENDING)
def test_full_is_a_view_of_the_whole_extension(mode: Mode) -> None:
    """P3, P5: FULL shows ``ext(data)[position - begin]``, even where the crop goes beyond the data."""
    for size, begin, end in product((1, 2, 3, 6), range(-9, 10), range(-9, 10)):
        if begin + size + end < 0:
            continue
        made = plan(size, begin, end, mode, Crop.FULL)
        whole = np.pad(np.arange(size), 20, mode=mode.value)  # position 20 shows element 0
        assert positions(made) == whole[20 - begin : 20 + size + end].tolist()


@pytest.mark.parametrize("mode", EXTENDING)
def test_crop_slices_first(mode: Mode) -> None:
    """P3, P5: CROP extends what the negative amounts leave, and refuses to extend nothing."""
    for size, begin, end in product((1, 2, 3, 6), range(-7, 8), range(-7, 8)):
        output = begin + size + end
        if output < 0:
            continue
        left = np.arange(size)[max(-begin, 0) : max(size - max(-end, 0), 0)]
        if output and not left.size:
            with pytest.raises(PadError, match=rf"cannot extend axis \d+ by {mode.value}.*\[P5\]"):
                plan(size, begin, end, mode)
            continue
        made = plan(size, begin, end, mode)
        expected = np.pad(left, (max(begin, 0), max(end, 0)), mode=mode.value) if output else left[:0]
        assert positions(made) == expected.tolist()


@pytest.mark.parametrize(("size", "begin", "end", "mode", "crop", "interior", "row"), [
    # P2: the rows that the module's own description shows.
    *((4, 3, 3, mode, Crop.CROP, 0, row) for mode, row in zip(
        Mode, "___abcd___ aaaabcdddd dcbabcdcba cbaabcddcb bcdabcdabc".split(), strict=True)),
    # P3: constant crops after padding, in every dialect.
    *((3, -2, 2, Mode.CONSTANT, crop, 0, "c__") for crop in Crop),
    *((3, -5, 4, Mode.CONSTANT, crop, 0, "__") for crop in Crop),
    *((3, 4, -5, Mode.CONSTANT, crop, 0, "__") for crop in Crop),
    *((0, 2, 1, Mode.CONSTANT, crop, 0, "___") for crop in Crop),
    # P3, P5: the smallest cases in which FULL and CROP differ.
    (2, -1, 2, Mode.WRAP, Crop.CROP, 0, "bbb"),
    (2, -1, 2, Mode.WRAP, Crop.FULL, 0, "bab"),
    (2, -1, 1, Mode.REFLECT, Crop.FULL, 0, "ba"),
    (6, -7, 3, Mode.EDGE, Crop.FULL, 0, "ff"),
    # P1, P6: fill between neighbours; amounts act on the dilated data, which is empty for an empty axis.
    (3, 0, 0, Mode.CONSTANT, Crop.FULL, 1, "a_b_c"),
    (3, 1, 2, Mode.CONSTANT, Crop.FULL, 2, "_a__b__c__"),
    (3, -1, 0, Mode.CONSTANT, Crop.FULL, 1, "_b_c"),
    (3, -2, -2, Mode.CONSTANT, Crop.FULL, 1, "b"),
    (3, -3, 1, Mode.CONSTANT, Crop.FULL, 1, "_c_"),
    (3, -6, 4, Mode.CONSTANT, Crop.FULL, 1, "___"),
    (1, 1, 1, Mode.CONSTANT, Crop.FULL, 5, "_a_"),
    (0, 2, 1, Mode.CONSTANT, Crop.FULL, 3, "___"),
])  # fmt: skip
def test_crops_and_interior(size: int, begin: int, end: int, mode: Mode, crop: Crop, interior: int, row: str) -> None:
    made = plan(size, begin, end, mode, crop, interior)
    assert made.shape == (begin + dilated_size(size, interior) + end,)
    assert "".join("_" if index < 0 else "abcdefg"[index] for index in positions(made)) == row


@pytest.mark.parametrize(("mode", "most"), [(Mode.REFLECT, 3), (Mode.SYMMETRIC, 4), *((mode, 50) for mode in FREE)])
def test_limits_of_openvino(mode: Mode, most: int) -> None:
    """P4: reflect takes n − 1, symmetric n, on either side, of the original size; the other modes any number."""
    assert plan(4, most, most, mode, Crop.FULL, limit=Limit.OPENVINO).shape == (4 + 2 * most,)
    for amounts in ((most + 1, 0), (-2, most + 1)) if mode not in FREE else ():
        with pytest.raises(PadError, match=rf"{most + 1}, but {mode.value} takes at most {most} of its 4 elements"):
            plan(4, *amounts, mode, Crop.FULL, limit=Limit.OPENVINO)


@pytest.mark.parametrize(("mode", "least"), [(Mode.EDGE, 1), (Mode.REFLECT, 2), (Mode.SYMMETRIC, 1)])
def test_limits_of_ngraph(mode: Mode, least: int) -> None:
    """P4: EDGE needs one element, REFLECT two, whatever the amounts."""
    assert plan(least, 9, 9, mode, Crop.FULL, limit=Limit.NGRAPH).shape == (18 + least,)


@pytest.mark.parametrize("mode", EXTENDING)
def test_nothing_to_extend(mode: Mode) -> None:
    """P5: an empty axis is an error unless the output is empty; no axis at all is fine."""
    with pytest.raises(PadError, match=rf"cannot extend axis 0 by {mode.value}: it is empty \[P5\]"):
        make_plan([0, 3], [Amounts(1, 0), Amounts(0, 0)], mode, Crop.FULL)
    assert make_plan([0, 3], [Amounts(1, 0), Amounts(0, -3)], mode, Crop.FULL).shape == (1, 0)
    assert make_plan([0, 3], [Amounts(0, 0), Amounts(2, 0)], mode, Crop.CROP).shape == (0, 5)
    assert make_plan([], [], mode, Crop.CROP) == Plan(mode, ())


def test_sizes() -> None:
    """P1, P10: a negative dim is 0 in a dialect that clamps; the largest sizes pass, for an axis and for the whole."""
    assert [plan(3, -7, 2, mode, Crop.FULL, clamp=True).shape for mode in Mode] == [(0,)] * len(Mode)
    assert plan(2, LARGEST - 2, 0, Mode.EDGE).shape == (LARGEST,)
    assert plan(2, LARGEST, -2, Mode.CONSTANT).shape == (LARGEST,)
    assert plan(2, 0, 0, Mode.CONSTANT, interior=LARGEST - 2).shape == (LARGEST,)
    half = [Amounts(2**30, 0), Amounts(2**29 - 1, 0)]
    assert make_plan([0, 0], half, Mode.CONSTANT, Crop.CROP).shape == (2**30, 2**29 - 1)
    with pytest.raises(PadError, match=rf"an output of shape \[1073741824, 536870912\] has more than {LARGEST} elem"):
        make_plan([0, 1], half, Mode.CONSTANT, Crop.CROP)
    assert make_plan([2**40, 2**40, 0], [Amounts(0, 0)] * 3, Mode.CONSTANT, Crop.CROP).shape[2] == 0


def test_the_reference_takes_no_more_memory_than_data_and_output() -> None:
    """One axis grows and another is cropped to an element: their product is never made."""
    data = np.zeros((1, 200_000), np.float32)
    tracemalloc.start()
    output = padops.run_reference("Pad_18", {}, [data, np.array([0, 0, 5_000, 1 - 200_000])])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert output.shape == (5_001, 1) and peak < 20 * data.nbytes
