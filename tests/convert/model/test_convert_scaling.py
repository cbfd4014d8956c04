"""Conversion is linear: twice the Pads, twice the work.

The work is counted, not timed: calls of functions, Python's and the interpreter's own. Whatever asks something of the
whole model for each Pad makes the work for twice the Pads four times as much in the end; at these sizes it already
shows. (The copy of a value's 12,000 uses is one call, and takes less than 0.3 ms.)
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

FEW = 60
MAX_RATIO = 2.1  # times the work for twice the Pads; a constant part of the work makes it less than 2
LOWERED = ("with_amounts_of_their_own", "with_conv", "between_casts", "read_inside", "in_functions", "of_padops")


def calls(model: onnx.ModelProto, options: dict[str, Any]) -> int:
    """The calls of a conversion."""
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


def check(made: str, options: dict[str, Any]) -> None:
    build = pad_chains.MODELS[made]
    padops.convert(build(2), **options)  # imports modules, and fills what is remembered for good
    once, twice = (calls(build(count), options) for count in (FEW, 2 * FEW))
    assert twice <= MAX_RATIO * once, f"{FEW} Pads: {once:,} calls; {2 * FEW} Pads: {twice:,}"


@pytest.mark.parametrize("options", pad_chains.OPTIONS)
def test_each_option_is_linear(options: str) -> None:
    check("in_a_row", dict(pad_chains.OPTIONS[options]))


@pytest.mark.parametrize("made", [name for name in pad_chains.MODELS if name != "in_a_row"])
def test_each_form_of_model_is_linear(made: str) -> None:
    check(made, {})


@pytest.mark.parametrize("made", LOWERED)
def test_lowering_each_form_of_model_is_linear(made: str) -> None:
    check(made, {"target": "onnx"})
