"""Conversion is linear: twice the Pads, twice the work.

The work is counted, not timed: calls of functions, Python's and the interpreter's own, and the uses of values that are
copied, which is one call however many there are. Whatever asks something of the whole model for each Pad makes the work
for twice the Pads four times as much in the end; at these sizes it already shows.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from types import FrameType
from typing import Any

import onnx
import onnx_ir as ir
import pad_chains
import pytest

import padops

FEW = 60
MAX_RATIO = 2.1  # times the work for twice the Pads; a constant part of the work makes it less than 2
LOWERED = ("with_amounts_of_their_own", "with_conv", "between_casts", "read_inside", "in_functions", "of_padops")


def work(model: onnx.ModelProto, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What a conversion does, counted."""
    done: Counter[str] = Counter()
    uses = ir.Value.uses

    def counted_uses(value: ir.Value) -> Any:
        found = uses(value)
        done["uses copied"] += len(found)
        return found

    def count(frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            done["calls"] += 1

    with monkeypatch.context() as patch:
        patch.setattr(ir.Value, "uses", counted_uses)
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


def check(made: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    build = pad_chains.MODELS[made]
    padops.convert(build(2), **options)  # imports modules, and fills what is remembered for good
    once, twice = (work(build(count), options, monkeypatch) for count in (FEW, 2 * FEW))
    for what, count in twice.items():
        assert count <= MAX_RATIO * once[what], f"{FEW} Pads: {once[what]:,} {what}; {2 * FEW} Pads: {count:,}"


@pytest.mark.parametrize("options", pad_chains.OPTIONS)
def test_each_option_is_linear(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check("in_a_row", dict(pad_chains.OPTIONS[options]), monkeypatch)


@pytest.mark.parametrize("made", [name for name in pad_chains.MODELS if name != "in_a_row"])
def test_each_form_of_model_is_linear(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(made, {}, monkeypatch)


@pytest.mark.parametrize("made", LOWERED)
def test_lowering_each_form_of_model_is_linear(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(made, {"target": "onnx"}, monkeypatch)
