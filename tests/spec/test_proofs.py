"""The plan and its runs, proved for all integers: no test of examples, however many, says as much.

Each test asks an SMT solver for integers for which the formula in ``proof_formulas`` does not do as its docstring says;
the proof is the answer that there are none. An answer that does not come in time is a failure. That the formulas are
those of the package is shown by ``test_proof_formulas.py``. Where a test's name ends in ``refuted``, the same question
about a wrong formula finds such integers: the check can fail.
"""

from __future__ import annotations

import proof_formulas
import pytest
import z3
from proof_formulas import (
    DILATED,
    FILL,
    Axis,
    Pads,
    Run,
    dilated_row,
    modulo,
    output_size,
    period_of,
    run_at,
    shown_by,
    source_index,
    window,
)
from proof_remainders import assert_linear, at_home, face_to_face, further, side_by_side, with_remainders
from proof_terms import counterexample, least, prove, quotient, remainder

from padops.spec.plan import LARGEST, Crop, Limit, Mode

Question = tuple[z3.BoolRef, list[z3.BoolRef]]

EXTENDING = [Mode.EDGE, Mode.REFLECT, Mode.SYMMETRIC, Mode.WRAP]
PERIODIC = [Mode.REFLECT, Mode.SYMMETRIC, Mode.WRAP]
EVERY_MODE = [pytest.param(mode, id=mode.value) for mode in Mode]
EVERY_EXTENDING = [pytest.param(mode, id=mode.value) for mode in EXTENDING]
EVERY_PERIODIC = [pytest.param(mode, id=mode.value) for mode in PERIODIC]
EVERY_CROP = [pytest.param(crop, id=crop.value) for crop in Crop]

position, at, stop, place = z3.Ints("position at stop place")


def legal(mode: Mode, crop: Crop) -> tuple[Axis, Pads, list[z3.BoolRef]]:
    """Any axis that ``make_plan`` lets through, of an output that is not empty; limits (P4) only let fewer through."""
    size, begin, end, interior = z3.Ints("size begin end interior")
    pads = Pads(begin, end, interior if mode is Mode.CONSTANT else 0)  # as is proved below
    sized = output_size(size, pads, mode)
    made = window(size, pads, mode, crop, Limit.NONE, False, sized.output)
    return made.axis, pads, [size >= 0, sized.rule == 0, made.rule == 0, sized.output > 0]


def any_window(mode: Mode) -> tuple[Axis, list[z3.BoolRef]]:
    """Any window anywhere, without interior; all modes but constant need an element in it (P5)."""
    axis = Axis(*z3.Ints("size start extent begin interior output"))
    return axis._replace(interior=0), [axis.extent >= (0 if mode is Mode.CONSTANT else 1)]


@pytest.mark.parametrize("mode", EVERY_EXTENDING)
def test_interior_is_for_constant_alone(mode: Mode) -> None:
    """P6: in the other modes an interior is refused, and a negative one in constant mode."""
    size, begin, end, interior = z3.Ints("size begin end interior")
    prove(output_size(size, Pads(begin, end, interior), mode).rule == 6, interior != 0)
    prove(output_size(size, Pads(begin, end, interior), Mode.CONSTANT).rule == 6, interior < 0)


def in_range(mode: Mode, crop: Crop) -> Question:
    axis, _, given = legal(mode, crop)
    shown = source_index(axis, mode, position)
    element = z3.And(shown >= 0, shown < axis.size)
    claim = z3.Or(shown == FILL, element) if mode is Mode.CONSTANT else element
    return claim, [*given, position >= 0, position < axis.output]


@pytest.mark.parametrize("crop", EVERY_CROP)
@pytest.mark.parametrize("mode", EVERY_MODE)
def test_each_position_shows_an_element_or_fill(mode: Mode, crop: Crop) -> None:
    """P2–P6: of every plan, each output position shows an element of the source or, in constant mode, the fill."""
    claim, given = in_range(mode, crop)
    prove(claim, *given)


@pytest.mark.parametrize("crop", EVERY_CROP)
@pytest.mark.parametrize("mode", EVERY_MODE)
def test_the_window_lies_in_source_and_output(mode: Mode, crop: Crop) -> None:
    """P1, P3: the window is within the source: FULL all of it, CROP what negative pads leave; the dim is the sum."""
    axis, pads, given = legal(mode, crop)
    cropping = mode is not Mode.CONSTANT and crop is Crop.CROP
    cut_off = [-least(pads.begin, 0), -least(pads.end, 0)] if cropping else [0, 0]
    prove(z3.And(axis.start == cut_off[0], axis.extent == axis.size - cut_off[0] - cut_off[1]), *given)
    prove(z3.And(axis.start >= 0, axis.start + axis.extent <= axis.size, axis.begin == pads.begin + axis.start), *given)
    prove(z3.Implies(axis.interior == 0, axis.output == pads.begin + axis.size + pads.end), *given)
    prove(axis.output <= LARGEST, *given)


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_the_window_is_shown_as_it_is(mode: Mode) -> None:
    """P2: from ``begin`` on stand the elements of the window, one after the other."""
    axis, given = any_window(mode)
    shown = source_index(axis, mode, axis.begin + place)
    prove(shown == axis.start + place, *given, place >= 0, place < axis.extent)


def test_constant_fills_what_is_outside() -> None:
    """P2: in constant mode all positions outside the window show the fill."""
    axis, given = any_window(Mode.CONSTANT)
    outside = z3.Or(position < axis.begin, position >= axis.begin + axis.extent)
    prove(source_index(axis, Mode.CONSTANT, position) == FILL, *given, outside)


def test_edge_repeats_the_ends() -> None:
    """P2: before the window stands its first element, behind it the last."""
    axis, given = any_window(Mode.EDGE)
    shown = source_index(axis, Mode.EDGE, position)
    prove(shown == axis.start, *given, position < axis.begin)
    prove(shown == axis.start + axis.extent - 1, *given, position >= axis.begin + axis.extent)


def test_interior_stands_between_the_elements() -> None:
    """P6: element k stands at ``begin + k * (interior + 1)``, and between two of them is fill."""
    axis = Axis(*z3.Ints("size start extent begin interior output"))
    gap = z3.Int("gap")
    step = axis.interior + 1
    given = [axis.interior >= 1, place >= 0, place < axis.extent]
    prove(source_index(axis, Mode.CONSTANT, axis.begin + place * step) == axis.start + place, *given)
    between = axis.begin + place * step + gap
    prove(source_index(axis, Mode.CONSTANT, between) == FILL, *given, gap >= 1, gap <= axis.interior)


def test_lemmas_of_remainders() -> None:
    """``modulo`` gives what is left of whole turns; the lemmas of ``proof_remainders`` follow of any such."""
    a, b, p, q, rest_a, rest_b, divisor = z3.Ints("a b p q rest_a rest_b divisor")
    turns = quotient(a, divisor) - z3.If(remainder(a, divisor) < 0, 1, 0)
    rest = modulo(a, divisor)
    prove(z3.And(rest >= 0, rest < divisor, a - rest == divisor * turns), divisor >= 1)
    whole = quotient(a, divisor) * divisor + remainder(a, divisor)
    prove(z3.And(a == whole, remainder(a, divisor) < divisor, remainder(a, divisor) >= 0), divisor >= 1, a >= 0)
    given = [0 <= rest_a, rest_a < divisor, a - rest_a == divisor * p]
    prove(at_home(a, rest_a, divisor), *given)
    # Of two that are whole turns, difference and sum are whole turns as well.
    prove(z3.And(divisor * q - divisor * p == divisor * (q - p), divisor * q + divisor * p == divisor * (q + p)))
    bounds = [0 <= rest_a, rest_a < divisor, 0 <= rest_b, rest_b < divisor]
    prove(side_by_side(a, b, rest_a, rest_b, divisor), *bounds, (b - rest_b) - (a - rest_a) == divisor * p)
    prove(face_to_face(a, b, rest_a, rest_b, divisor), *bounds, (b - rest_b) + (a - rest_a) == divisor * p)
    given_both = [*given, *bounds, b - rest_b == divisor * q]
    times = z3.Int("times")
    prove(further(times, rest_a, p, rest_b, q), *given_both, b == a + times * divisor)
    prove(rest_a == a + divisor, *given, a < 0, a > -divisor)


def repeated(mode: Mode) -> Question:
    axis, given = any_window(mode)
    period = period_of(axis.extent, mode)
    claim = source_index(axis, mode, position) == source_index(axis, mode, position - period)
    linear, facts = with_remainders(claim, period, position - axis.begin, position - period - axis.begin)
    return linear, [*given, *facts]


@pytest.mark.parametrize("mode", EVERY_PERIODIC)
def test_each_position_shows_what_stands_a_period_before(mode: Mode) -> None:
    """P2: reflect, symmetric and wrap repeat themselves after a period, window included, as a periodic run does."""
    claim, given = repeated(mode)
    prove(claim, *given)


def mirrored(mode: Mode) -> list[Question]:
    """At the first element of the window and at the last: reflect turns on it, symmetric on the edge beside it."""
    axis, given = any_window(mode)
    period = period_of(axis.extent, mode)
    beside = 1 if mode is Mode.SYMMETRIC else 0
    last = axis.begin + axis.extent - 1
    questions = []
    for one, other in (
        (axis.begin - beside - place, axis.begin + place),
        (last + beside + place, last - place),
    ):
        claim = source_index(axis, mode, one) == source_index(axis, mode, other)
        linear, facts = with_remainders(claim, period, one - axis.begin, other - axis.begin)
        questions.append((linear, [*given, *facts]))
    return questions


@pytest.mark.parametrize("mode", [pytest.param(mode, id=mode.value) for mode in (Mode.REFLECT, Mode.SYMMETRIC)])
def test_mirrors_stand_at_both_ends_of_the_window(mode: Mode) -> None:
    """P2: k places before the first element stands what is k behind it, and so at the last; symmetric doubles it."""
    for claim, given in mirrored(mode):
        prove(claim, *given)


def run_shows(mode: Mode) -> Question:
    axis, given = any_window(mode)
    run = run_at(axis, mode, at, stop)
    claim = source_index(axis, mode, at + place) == shown_by(run, 0, place)
    given = [*given, at < stop, place >= 0, place < run.count]
    if mode not in PERIODIC:
        return claim, given
    period = period_of(axis.extent, mode)
    offsets = (at - axis.begin, at + place - axis.begin)
    linear, facts = with_remainders(z3.Implies(z3.And(*given), claim), period, *offsets)
    return linear, [axis.extent >= 1, *facts]


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_each_run_ends_in_time(mode: Mode) -> None:
    """A run has one position or more, begins where it is asked for, and ends at ``stop`` or before."""
    axis, given = any_window(mode)
    run = run_at(axis, mode, at, stop)
    prove(z3.And(run.target == at, run.count >= 1, at + run.count <= stop), *given, at < stop)


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_each_position_of_a_run_shows_what_the_plan_says(mode: Mode) -> None:
    """A run forward, backward, repeated or filled shows at each of its positions what ``source_index`` says."""
    claim, given = run_shows(mode)
    prove(claim, *given)


def dilated() -> tuple[Axis, z3.ArithRef, list[z3.BoolRef]]:
    axis = Axis(*z3.Ints("size start extent begin interior output"))
    return axis, dilated_row(axis), [axis.extent >= 2, axis.interior >= 1, axis.output >= 0]


def test_an_axis_with_interior_has_two_elements() -> None:
    """P6: every plan with interior has a window of two elements or more, in which something stands between."""
    axis, _, given = legal(Mode.CONSTANT, Crop.FULL)
    prove(axis.extent >= 2, *given, axis.interior != 0)


def test_the_three_runs_of_a_dilated_row_cover_it() -> None:
    """P6: fill, the dilated run, fill: in order, disjoint, the whole row; its offset is within one interior."""
    axis, row, given = dilated()
    prove(z3.And(row.first >= 0, row.first <= row.last, row.last <= axis.output), *given)
    prove(z3.And(row.offset >= 0, row.offset <= axis.interior), *given, row.last > row.first)
    outside = z3.Or(z3.And(position >= 0, position < row.first), z3.And(position >= row.last, position < axis.output))
    prove(source_index(axis, Mode.CONSTANT, position) == FILL, *given, outside)


def test_each_position_of_a_dilated_run_shows_what_the_plan_says() -> None:
    """P6: source, offset and step of the dilated run give what ``source_index`` says, in three steps made linear."""
    axis, row, given = dilated()
    step = axis.interior + 1
    skipped = quotient(row.first - axis.begin + step - 1, step)
    offset, inner = row.first + place - axis.begin, place - row.offset
    given += [place >= 0, place < row.last - row.first]
    shape = [offset >= 0, offset == skipped * step + inner, inner > -step]
    prove(z3.And(*shape, offset <= (axis.extent - 1) * step), *given)
    prove(quotient(offset, step) < axis.extent, step >= 1, offset >= 0, offset <= (axis.extent - 1) * step)

    run = Run(DILATED, row.first, row.last - row.first, row.source, row.offset)
    claim = source_index(axis, Mode.CONSTANT, row.first + place) == shown_by(run, axis.interior, place)
    terms = [skipped, remainder(inner, step), quotient(inner, step), remainder(offset, step), quotient(offset, step)]
    unknowns = z3.Ints("skipped rest turns rest_beyond turns_beyond")
    times, rest, turns, rest_beyond, turns_beyond = unknowns
    facts = [
        z3.Implies(inner >= 0, further(times, rest, turns, rest_beyond, turns_beyond)),
        z3.Implies(inner < 0, rest_beyond == inner + step),  # `inner` is one step below its remainder
        z3.And(rest_beyond >= 0, rest_beyond < step, inner > -step, offset >= 0, turns_beyond < axis.extent),
    ]
    linear, *known = (z3.substitute(term, *zip(terms, unknowns)) for term in (claim, *given, *facts))
    assert_linear(linear)
    prove(linear, *known)


def test_a_wrong_reflection_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A period of 2n for reflect leaves the source; with one of 2n − 1 the mirrors stand elsewhere."""
    monkeypatch.setattr(proof_formulas, "period_of", lambda extent, mode: 2 * extent)
    claim, given = in_range(Mode.REFLECT, Crop.FULL)
    assert counterexample(claim, *given) is not None
    monkeypatch.setattr(proof_formulas, "period_of", lambda extent, mode: 2 * extent - 1)
    axis, given = any_window(Mode.REFLECT)
    claim = source_index(axis, Mode.REFLECT, axis.begin - place) == source_index(axis, Mode.REFLECT, axis.begin + place)
    assert counterexample(claim, *given, axis.extent == 3) is not None


@pytest.mark.parametrize("mode", [pytest.param(mode, id=mode.value) for mode in (Mode.REFLECT, Mode.SYMMETRIC)])
def test_an_extension_that_never_turns_is_refuted(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the smaller of phase and mirrored phase the second half of a period leaves the source."""
    monkeypatch.setattr(proof_formulas, "least", lambda first, second: first)
    claim, given = in_range(mode, Crop.FULL)
    assert counterexample(claim, *given) is not None


def test_a_run_that_goes_on_too_long_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is not cut at ``stop`` overruns; one that is cut there alone shows what is not the source's."""
    monkeypatch.setattr(proof_formulas, "least", lambda first, second: first)
    axis, given = any_window(Mode.WRAP)
    assert counterexample(at + run_at(axis, Mode.WRAP, at, stop).count <= stop, *given, at < stop) is not None
    monkeypatch.setattr(proof_formulas, "least", lambda first, second: second)
    claim, given = run_shows(Mode.WRAP)
    assert counterexample(claim, *given) is not None


def test_a_crop_that_ignores_its_begin_is_refuted() -> None:
    """A dilated run whose offset is always 0 shows an element where the plan says fill."""
    axis, row, given = dilated()
    run = Run(DILATED, row.first, row.last - row.first, row.source, 0)
    claim = source_index(axis, Mode.CONSTANT, row.first + place) == shown_by(run, axis.interior, place)
    assert counterexample(claim, *given, place >= 0, place < run.count) is not None
