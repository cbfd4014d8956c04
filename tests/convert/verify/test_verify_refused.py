"""Inputs that the original refuses: the converted model may take them, which is no difference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from small_models import FLOAT, INT64, model, pad

from padops.convert.verify.feeds import Input
from padops.convert.verify.part_inputs import Marks, elements_of
from padops.convert.verify.reference import judge

AMOUNTS = ("pads", INT64, None)


def test_what_only_the_original_refuses_is_no_difference(tmp_path: Path) -> None:
    original, converted = tmp_path / "original.onnx", tmp_path / "converted.onnx"
    given = {"inputs": [("x", FLOAT, None), AMOUNTS]}
    original.write_bytes(model([pad()], **given).SerializeToString())
    converted.write_bytes(model([helper.make_node("Identity", ["x"], ["y"])], **given).SerializeToString())
    feeds = {"x": np.zeros((2, 3), np.float32), "pads": np.zeros(3, np.int64)}  # three amounts for two axes
    found = judge(original, converted, [feeds], ["said before"])
    assert found.outcome == "runs" and not found.refuted
    assert found.notes[0] == "said before" and "the reference refuses what it runs" in found.notes[1]


@pytest.mark.parametrize("dtype", ["uint64", "int32", "int8"])
def test_integers_without_axes_are_drawn(dtype: str) -> None:
    """In each of the ways: from among numbers of any size, too, of which NumPy gives one that is no array."""
    row, rng = Input("x", dtype, ()), np.random.default_rng(0)
    drawn = [elements_of(row, (), Marks((7,)), 5, None, rng) for _ in range(40)]
    assert all(one.shape == () and one.dtype == np.dtype(dtype) for one in drawn)
    assert len({int(one) for one in drawn}) > 10
