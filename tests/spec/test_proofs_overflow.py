"""No step of the plan, the runs and the cutting leaves int64, proved for all integers that P10 lets through.

The formulas are those of ``proof_formulas`` and ``proof_cutting``, on words that note of each result, in the order of
the C++, that it must be within int64, and of each divisor that it must be positive. What the caller gives is any int64.
"""

from __future__ import annotations

import proof_cutting
import proof_formulas
import pytest
import z3
from proof_cutting import append, cut, cut_by_product, line_at, same_padding, same_padding_size_last, tasks_of
from proof_formulas import Axis, Pads, dilated_row, output_size, run_at, source_index, too_many, window
from proof_terms import HIGHEST_INT64, Steps, Word, plain, prove, prove_defined, undefined_step

from padops.spec.plan import LARGEST, Crop, Limit, Mode

EVERY_MODE = [pytest.param(mode, id=mode.value) for mode in Mode]
EVERY_CROP = [pytest.param(crop, id=crop.value) for crop in Crop]

# No output that there is no memory for reaches the engine (P10): addresses of x86-64 and arm64 have 57 bits at most.
MEMORY = 2**57


def asked(steps: Steps) -> tuple[Word, Pads]:
    """A dim and amounts as a caller may give them: any int64, the dim not negative."""
    size, *amounts = (steps.word(name) for name in ("size", "begin", "end", "interior"))
    steps.inputs.append(size >= 0)
    return size, Pads(*amounts)


def legal(steps: Steps, mode: Mode, crop: Crop) -> tuple[Axis, list[z3.BoolRef]]:
    """Any axis that ``make_plan`` lets through, of an output that is not empty; its own steps are not noted."""
    size, pads = asked(steps)
    pads = pads if mode is Mode.CONSTANT else pads._replace(interior=0)  # P6
    sized = output_size(size, pads, mode)
    made = window(size, pads, mode, crop, Limit.NONE, False, sized.output)
    steps.needed.clear()
    return made.axis, [plain(sized.rule) == 0, plain(made.rule) == 0, plain(sized.output) > 0]


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_checking_the_amounts_does_not_overflow(mode: Mode) -> None:
    """P1, P6, P10: the output dim of any amounts and any size is computed, or refused, within int64."""
    steps = Steps()
    size, pads = asked(steps)
    output_size(size, pads, mode)
    prove_defined(steps)


@pytest.mark.parametrize("limit", [pytest.param(limit, id=limit.value) for limit in Limit])
@pytest.mark.parametrize("crop", EVERY_CROP)
@pytest.mark.parametrize("mode", EVERY_MODE)
def test_making_the_window_does_not_overflow(mode: Mode, crop: Crop, limit: Limit) -> None:
    """P3, P4, P5: for amounts within P10, limits and window stay within int64, also where the output is empty."""
    steps = Steps()
    size, pads = asked(steps)
    sized = output_size(size, pads, mode)
    steps.needed.clear()
    window(size, pads, mode, crop, limit, z3.Bool("empty"), sized.output)
    prove_defined(steps, plain(sized.rule) == 0)


def test_counting_the_elements_does_not_overflow() -> None:
    """P10: a product of dims within the limit stays so with one more dim, or is refused before it is computed."""
    steps = Steps()
    count, output = steps.word("count"), steps.word("output")
    given = [count >= 1, count <= LARGEST, output >= 1]
    refused = too_many(count, output)
    prove_defined(steps, *given)
    product = count.term * output.term
    prove(z3.And(product >= 1, product <= LARGEST), *given, z3.Not(refused))
    prove(product > LARGEST, *given, refused)


@pytest.mark.parametrize("crop", EVERY_CROP)
@pytest.mark.parametrize("mode", EVERY_MODE)
def test_finding_a_source_position_does_not_overflow(mode: Mode, crop: Crop) -> None:
    """P2: every step of ``source_index`` is within int64, for every legal plan and output position."""
    steps = Steps()
    axis, given = legal(steps, mode, crop)
    position = steps.word("position")
    source_index(axis, mode, position)
    prove_defined(steps, *given, position >= 0, position < axis.output)


@pytest.mark.parametrize("crop", EVERY_CROP)
@pytest.mark.parametrize("mode", EVERY_MODE)
def test_finding_a_run_does_not_overflow(mode: Mode, crop: Crop) -> None:
    """Every step of ``run_at``, and the position behind the run, is within int64, for every legal plan and stretch."""
    steps = Steps()
    axis, given = legal(steps, mode, crop)
    at, stop = steps.word("at"), steps.word("stop")
    at + run_at(axis, mode, at, stop).count
    prove_defined(steps, *given, plain(axis.interior) == 0, at >= 0, at < stop, stop <= axis.output)


def test_finding_a_dilated_run_does_not_overflow() -> None:
    """P6: every step of a dilated row is within int64, for every legal plan."""
    steps = Steps()
    axis, given = legal(steps, Mode.CONSTANT, Crop.FULL)
    row = dilated_row(axis)
    row.last - row.first, axis.output - row.last
    prove_defined(steps, *given, plain(axis.interior) > 0)


def bytes_within_int64() -> tuple[Steps, list[z3.BoolRef]]:
    steps = Steps()
    positions, width = steps.word("positions"), steps.word("width")
    positions * width
    return steps, [positions >= 0, positions <= proof_formulas.LARGEST, width >= 1, width <= 16]


def test_bytes_do_not_overflow() -> None:
    """P10: the elements of an axis or a tensor, of 16 bytes or less, are fewer bytes than 2**63."""
    steps, given = bytes_within_int64()
    prove_defined(steps, *given)


def bits_within_int64(most_bytes: int) -> tuple[Steps, list[z3.BoolRef]]:
    steps = Steps()
    positions, width = steps.word("positions"), steps.word("width")
    positions * width
    few = positions.term * width.term <= 8 * most_bytes
    return steps, [positions >= 0, positions <= LARGEST, width >= 2, width <= 128, few]


def test_bits_do_not_overflow() -> None:
    """The elements of an output that fits in memory are fewer bits than 2**63, which the engine computes with."""
    steps, given = bits_within_int64(MEMORY)
    prove_defined(steps, *given)


def test_bits_of_more_than_memory_are_refuted() -> None:
    """At the limit of P10 alone they are more: that memory is asked for before the engine is made is needed."""
    steps, given = bits_within_int64(16 * LARGEST)
    assert undefined_step(steps, *given) is not None


def test_cutting_a_row_does_not_overflow() -> None:
    """Every step of ``cut`` is within int64, whatever the row's length and the number of parts."""
    steps = Steps()
    length, parts, part = (steps.word(name) for name in ("length", "parts", "part"))
    cut(length, parts, part)
    prove_defined(steps, length >= 0, parts >= 1, part >= 0, part <= parts)


def test_cutting_into_tasks_does_not_overflow() -> None:
    """The tasks of an output that fits in memory are counted, and their rows found, within int64."""
    steps = Steps()
    rows, of_task, parts, group = (steps.word(name) for name in ("rows", "of_task", "parts", "group"))
    tasks_of(rows, of_task, parts)
    proof_cutting.rows_of(group, rows, of_task)
    groups = (plain(rows) + plain(of_task) - 1) / plain(of_task)
    # Parts only where a task has one row; each part is a byte or more.
    one_row = z3.Implies(parts > 1, z3.And(plain(of_task) == 1, plain(rows) * plain(parts) <= MEMORY))
    prove_defined(steps, rows >= 1, rows <= MEMORY, 1 <= of_task, of_task <= rows, parts >= 1, parts <= MEMORY,
                  one_row, group >= 0, group < groups)  # fmt: skip


def test_lines_do_not_overflow() -> None:
    """Every address that streaming computes is within int64, of any memory below 2**57."""
    steps = Steps()
    address, count, held = steps.word("address"), steps.word("count"), steps.word("held")
    line = line_at(address)
    append(line._replace(held=held), count)
    prove_defined(steps, address >= 0, count >= 0, plain(address) + plain(count) <= MEMORY, held >= 0, held < 64)


def test_same_padding_does_not_overflow() -> None:
    """S1: every step is within int64 for any dim, checked or not, and the rest of the arguments up to the limit."""
    steps, values, given = same_values()
    same_padding(*values)
    prove_defined(steps, *given)


def same_values() -> tuple[Steps, list[Word], list[z3.BoolRef]]:
    steps = Steps()
    size, kernel, stride, dilation = values = [steps.word(name) for name in ("size", "kernel", "stride", "dilation")]
    given = [z3.And(value >= 1, value <= LARGEST) for value in values[1:]]
    return steps, values, [*given, size >= 0, (kernel.term - 1) * dilation.term <= LARGEST]


def test_a_product_before_the_division_is_refuted() -> None:
    """``length * part / parts``, as rows were cut once, leaves int64; so the lengths do that P10 lets through."""
    steps = Steps()
    length, parts, part = (steps.word(name) for name in ("length", "parts", "part"))
    cut_by_product(length, parts, part)
    given = [length >= 0, length <= LARGEST, parts >= 1, part >= 0, part <= parts, parts <= length]
    found = undefined_step(steps, *given)
    assert found is not None
    assert found[length.term].as_long() * found[part.term].as_long() > HIGHEST_INT64


def test_same_padding_with_its_size_last_is_refuted() -> None:
    """In the order in which S1 states it the sum leaves int64, of dims near 2**63."""
    steps, values, given = same_values()
    same_padding_size_last(*values)
    assert undefined_step(steps, *given) is not None


def test_a_larger_limit_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one element more, bytes leave int64; with eight times as many, the sum of amounts does."""
    monkeypatch.setattr(proof_formulas, "LARGEST", LARGEST + 1)
    steps, given = bytes_within_int64()
    assert undefined_step(steps, *given) is not None
    monkeypatch.setattr(proof_formulas, "LARGEST", 8 * LARGEST)
    steps = Steps()
    size, pads = asked(steps)
    output_size(size, pads, Mode.CONSTANT)
    assert undefined_step(steps) is not None
