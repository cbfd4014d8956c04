"""The proofs' own account of a Pad against the package's plan: which amounts run, and which position shows what."""

from __future__ import annotations

import random
from math import prod

import numpy as np
import pytest

from padops.convert.proof import plan as anew
from padops.spec import plan
from padops.spec.dialects import OPS, same_padding
from padops.spec.plan import LARGEST, Amounts, Crop, Limit, Mode, PadError

DIALECTS = {
    "onnx": (anew.ONNX, OPS["Pad_25"]),
    "openvino 1": (anew.OPENVINO_1, OPS["OpenVINOPad_1"]),
    "openvino 12": (anew.OPENVINO_12, OPS["OpenVINOPad_12"]),
    "ngraph": (anew.NGRAPH, OPS["NGraphPad_0"]),
    "same": (anew.SAME, OPS["SamePad_1"]),
}
DRAWS = 1500
NEAR = (*range(-9, 12), *range(-2, 3), 0, 0)  # amounts: beyond every drawn size in both directions
EDGES = (-(2**59), 1 - 2**59, 2**59 - 1, 2**59, 2**60)


def drawn_axes(numbers: random.Random, mode: str) -> list[anew.Axis]:
    """One to three axes, empty ones and interiors among them; now and then an amount about P10's limit."""
    axes = []
    for _ in range(numbers.randint(1, 3)):
        amounts = [numbers.choice(EDGES) if numbers.random() < 0.02 else numbers.choice(NEAR) for _ in range(2)]
        interior = numbers.choice((0, 1, 2, -1)) if numbers.random() < (0.6 if mode == "constant" else 0.05) else 0
        axes.append(anew.Axis(numbers.choice((0, 1, 2, 3, 5, 8)), *amounts, interior))
    return axes


def expected(axes: list[anew.Axis], mode: str, crop: Crop, limit: Limit, clamp: bool) -> plan.Plan | PadError:
    """What the package says: the plan, or the rule that is broken."""
    amounts = [Amounts(axis.begin, axis.end, axis.interior) for axis in axes]
    try:
        return plan.make_plan([axis.size for axis in axes], amounts, Mode(mode), crop, limit, clamp)
    except PadError as error:
        return error


@pytest.mark.parametrize("mode", anew.MODES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_positions_and_broken_rules_are_those_of_the_package(dialect: str, mode: str) -> None:
    rules, op = DIALECTS[dialect]
    numbers, ran, refused = random.Random(f"{dialect} {mode}"), 0, set()
    for _ in range(DRAWS):
        axes = drawn_axes(numbers, mode)
        made = expected(axes, mode, op.crop, op.limit, op.clamp)
        broken = {rule for rule, holds in anew.conditions(axes, mode, rules, anew.PLAIN) if not holds}
        if prod(anew.output(axis, rules, anew.PLAIN) for axis in axes) > LARGEST:
            broken.add("P10")
        if isinstance(made, PadError):
            assert made.rule in broken, (axes, made, broken)
            refused.add(made.rule)
            continue
        assert broken == set(), (axes, made, broken)
        for axis, known in zip(axes, made.axes):
            if known.output > 100 or 0 in made.shape:
                assert anew.output(axis, rules, anew.PLAIN) == known.output
                continue
            shown = [plan.source_index(known, Mode(mode), position) for position in range(known.output)]
            assert anew.positions(axis, mode, rules).tolist() == [-1 if at is None else at for at in shown], axis
            ran += known.output
    assert ran > 500 and {"P6", "P10"} <= refused
    assert ("P1" in refused) != rules.clamp
    limited = {"openvino": ("reflect", "symmetric"), "ngraph": ("edge", "reflect")}.get(rules.limit, ())
    assert ("P4" in refused) == (mode in limited)
    assert ("P5" in refused) == (mode != "constant" and mode not in limited)  # P4 refuses those that leave nothing


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_same_padding_is_that_of_the_package(auto_pad: str) -> None:
    for size in range(12):
        for kernel in (1, 2, 3, 5):
            for stride in (1, 2, 3):
                for dilation in (1, 2, 4):
                    axis = anew.same_axis(size, kernel, stride, dilation, auto_pad, anew.PLAIN)
                    assert axis[1:3] == same_padding(size, kernel, stride, dilation, auto_pad)


def test_the_dialects_are_those_of_the_package() -> None:
    for rules, op in DIALECTS.values():
        assert rules == (op.crop is Crop.CROP, op.limit.value.replace("none", ""), op.clamp)
    assert anew.MOST == LARGEST and set(anew.MODES) == {mode.value for mode in Mode}


def test_an_output_of_nothing_shows_nothing() -> None:
    """P5: it needs nothing to extend from; the position of no element is looked up."""
    shown = anew.positions(anew.Axis(3, -2, -1), "wrap", anew.ONNX)
    assert shown.dtype == np.int64 and shown.shape == (0,)
