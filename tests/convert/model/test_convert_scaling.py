"""Conversion is linear: twice the Pads, twice the work.

The work is counted, not timed: calls of functions, Python's and the interpreter's own. Whatever asks something of the
whole model for each Pad makes it four times as much in the end; at these sizes it already shows.
"""

from __future__ import annotations

import gc
import sys
from types import FrameType
from typing import Any

import onnx
import pad_chains
import pytest

import padops

FEW = 40
MAX_RATIO = 2.1  # times the work for twice the Pads; a constant part of the work makes it less than 2
CASES = [("in_a_row", name) for name in ("default", "no-fold", "onnx", "pyop", "needed")]
CASES += [(made, "default") for made in ("with_conv", "between_casts", "in_branches", "read_inside", "in_a_function",
                                         "in_functions", "with_computed_amounts", "of_padops")]  # fmt: skip
CASES += [(made, "onnx") for made in ("with_amounts_of_their_own", "with_conv", "read_inside", "in_functions")]


def calls(model: onnx.ModelProto, options: dict[str, Any]) -> int:
    done = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal done
        done += event in ("call", "c_call")

    former = sys.getprofile()
    gc.collect()
    gc.disable()  # what other tests left is freed before, and not while calls are counted
    sys.setprofile(count)
    try:
        padops.convert(model, **options)
    finally:
        sys.setprofile(former)
        gc.enable()
    return done


@pytest.mark.parametrize(("made", "option"), CASES)
def test_twice_the_pads_are_twice_the_work(made: str, option: str) -> None:
    build, options = pad_chains.MODELS[made], dict(pad_chains.OPTIONS[option])
    padops.convert(build(2), **options)  # imports modules, and fills what is remembered for good
    once, twice = (calls(build(count), options) for count in (FEW, 2 * FEW))
    assert twice <= MAX_RATIO * once, f"{FEW} Pads: {once:,} calls; {2 * FEW} Pads: {twice:,}"
