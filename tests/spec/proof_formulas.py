"""The arithmetic of a Pad, formula by formula as csrc/core/plan.cpp and csrc/core/runs.cpp compute it.

Each takes plain integers or a solver's (``proof_terms``). ``test_proof_formulas.py`` compares them with
padops/spec/plan.py and with the C++; ``test_proofs.py`` and ``test_proofs_overflow.py`` prove of them what the engine
relies on. ``source_index`` is the map as padops/spec/plan.py states it. The C++ derives its own from ``run_at``, and
must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proof_terms import Term, Truth, both, choose, clamped, either, greatest, least, quotient, remainder

from padops.spec.plan import LARGEST, Crop, Limit, Mode

FILL = -1
FILLED, FORWARD, BACKWARD, REPEAT, DILATED, PERIODIC = range(6)  # the kinds of a run, in the order of the C++


class Axis(NamedTuple):
    """AxisPlan."""

    size: Term
    start: Term
    extent: Term
    begin: Term
    interior: Term
    output: Term


class Pads(NamedTuple):
    """Amounts."""

    begin: Term
    end: Term
    interior: Term = 0


class Sized(NamedTuple):
    """The rule that an axis breaks, 0 for none, and its output dim."""

    rule: Term
    output: Term


class Made(NamedTuple):
    """The rule that an axis breaks, 0 for none, and its plan."""

    rule: Term
    axis: Axis


class Run(NamedTuple):
    kind: Term
    target: Term
    count: Term
    source: Term = 0
    offset: Term = 0


def modulo(value: Term, divisor: Term) -> Term:
    rest = remainder(value, divisor)
    return choose(rest < 0, lambda: rest + divisor, lambda: rest)


# plan.cpp


def dilated_size(size: Term, interior: Term) -> Term:
    too_large = LARGEST + 1
    return choose(
        size <= 1,
        lambda: size,
        lambda: choose(
            either(interior >= LARGEST, lambda: size - 1 > quotient(LARGEST, interior + 1)),
            lambda: too_large,
            lambda: least((size - 1) * (interior + 1) + 1, too_large),
        ),
    )


def output_size(size: Term, pads: Pads, mode: Mode, clamp: bool = False) -> Sized:
    """The first half of ``make_plan``: P6, P10 and P1 for one axis."""

    def sized() -> Sized:
        dilated = dilated_size(size, pads.interior)
        beyond = [either(amount > LARGEST, lambda amount=amount: amount < -LARGEST) for amount in pads[:2]]
        broken = either(beyond[0], lambda: either(beyond[1], lambda: dilated > LARGEST))
        return choose(broken, lambda: Sized(10, 0), lambda: summed(dilated))

    def summed(dilated: Term) -> Sized:
        output = pads.begin + dilated + pads.end
        negative = Sized(0, 0) if clamp else Sized(1, 0)
        inside = lambda: choose(output >= 0, lambda: Sized(0, output), lambda: negative)
        return choose(output > LARGEST, lambda: Sized(10, 0), inside)

    refused = either(pads.interior < 0, lambda: both(pads.interior != 0, lambda: mode is not Mode.CONSTANT))
    return choose(refused, lambda: Sized(6, 0), sized)


def too_many(count: Term, output: Term) -> Truth:
    """Whether one more axis makes a product of dims too large (P10); none of them is 0."""
    return output > quotient(LARGEST, count)


def beyond_limit(size: Term, pads: Pads, mode: Mode, limit: Limit) -> Truth:
    """P4."""
    if limit is Limit.OPENVINO and mode in (Mode.REFLECT, Mode.SYMMETRIC):
        most = greatest(size - 1 if mode is Mode.REFLECT else size, 0)
        return either(pads.begin > most, lambda: pads.end > most)
    if limit is Limit.NGRAPH and mode in (Mode.EDGE, Mode.REFLECT):
        return size < (1 if mode is Mode.EDGE else 2)
    return False


def window(size: Term, pads: Pads, mode: Mode, crop: Crop, limit: Limit, empty: Truth, output: Term) -> Made:
    """The second half of ``make_plan``: the window of one axis, and P4 and P5; ``empty`` is the whole output's."""
    start, stop = 0, size
    extending = mode is not Mode.CONSTANT
    if extending and crop is Crop.CROP:
        start = greatest(-pads.begin, 0)
        stop = size - greatest(-pads.end, 0)
    interior = choose(size > 1, lambda: pads.interior, lambda: 0)
    made = Axis(size, start, greatest(stop - start, 0), pads.begin + start, interior, output)
    nothing = both(extending, lambda: choose(empty, lambda: False, lambda: stop <= start))
    limited = both(extending, lambda: beyond_limit(size, pads, mode, limit))
    rule = choose(limited, lambda: 4, lambda: choose(nothing, lambda: 5, lambda: 0))
    return Made(rule, made)


def make_plan(
    shape: Sequence[int], amounts: Sequence[Pads], mode: Mode, crop: Crop, limit: Limit, clamp: bool
) -> int | list[Axis]:
    """Of plain integers: the first rule that is broken, or the plan."""
    sizes = [output_size(size, pads, mode, clamp) for size, pads in zip(shape, amounts)]
    broken = [rule for rule, _ in sizes if rule]
    if broken:
        return broken[0]
    outputs = [output for _, output in sizes]
    count = 1
    for output in outputs if 0 not in outputs else []:
        if too_many(count, output):
            return 10
        count *= output
    made = [
        window(size, pads, mode, crop, limit, 0 in outputs, output)
        for size, pads, output in zip(shape, amounts, outputs)
    ]
    broken = [rule for rule, _ in made if rule]
    return broken[0] if broken else [axis for _, axis in made]


def source_index(axis: Axis, mode: Mode, position: Term) -> Term:
    offset = position - axis.begin
    outside = either(offset < 0, lambda: offset >= axis.extent)

    def dilated() -> Term:
        step = axis.interior + 1
        on_element = lambda: both(remainder(offset, step) == 0, lambda: quotient(offset, step) < axis.extent)
        shown = both(offset >= 0, on_element)
        return choose(shown, lambda: axis.start + quotient(offset, step), lambda: FILL)

    def extended() -> Term:
        return choose(outside, lambda: extension(axis, mode, offset), lambda: axis.start + offset)

    return choose(axis.interior != 0, dilated, extended)


def extension(axis: Axis, mode: Mode, offset: Term) -> Term:
    """What stands ``offset`` from the window's first element, outside the window."""
    extent = axis.extent
    if mode is Mode.CONSTANT:
        return FILL
    if mode is Mode.EDGE:
        return axis.start + clamped(offset, 0, extent - 1)
    if mode is Mode.WRAP:
        return axis.start + modulo(offset, extent)
    phase = modulo(offset, period_of(extent, mode))
    last = 2 * extent - 1 if mode is Mode.SYMMETRIC else 2 * (extent - 1)
    return axis.start + least(phase, last - phase)


def period_of(extent: Term, mode: Mode) -> Term:
    """Elements after which the extension repeats itself; 0 where it never does."""
    if mode is Mode.REFLECT:
        return greatest(2 * (extent - 1), 1)
    return 2 * extent if mode is Mode.SYMMETRIC else extent if mode is Mode.WRAP else 0


# runs.cpp

FEW_RUNS = 3


def run_at(axis: Axis, mode: Mode, at: Term, stop: Term) -> Run:
    extent = axis.extent
    offset = at - axis.begin

    def ends(count: Term) -> Term:
        return least(count, stop - at)

    def periodic(border: Term) -> Run:
        period = period_of(extent, mode)
        phase = modulo(offset, period)
        forward = lambda: Run(FORWARD, at, ends(extent - phase), axis.start + phase)
        if mode is Mode.WRAP:
            return forward()
        # In the order of the C++, whose steps must not overflow.
        if mode is Mode.SYMMETRIC:
            mirrored = lambda: Run(BACKWARD, at, ends(period - phase), axis.start + period - 1 - phase)
            return choose(phase < extent, forward, mirrored)
        backward = lambda: Run(BACKWARD, at, least(period - phase + 1, border), axis.start + period - phase)
        return choose(phase < extent - 1, forward, backward)

    def bordering() -> Run:
        border = ends(choose(offset < 0, lambda: -offset, lambda: stop - at))
        if mode is Mode.CONSTANT:
            return Run(FILLED, at, choose(extent == 0, lambda: stop - at, lambda: border), 0)
        repeated = lambda: Run(REPEAT, at, border, axis.start + choose(offset < 0, lambda: 0, lambda: extent - 1))
        return repeated() if mode is Mode.EDGE else choose(extent == 1, repeated, lambda: periodic(border))

    inside = both(offset >= 0, lambda: offset < extent)
    return choose(inside, lambda: Run(FORWARD, at, ends(extent - offset), axis.start + offset), bordering)


class DilatedRow(NamedTuple):
    """The row of an axis with interior: fill up to ``first``, the dilated run up to ``last``, fill."""

    first: Term
    last: Term
    source: Term
    offset: Term


def dilated_row(axis: Axis) -> DilatedRow:
    """Of an axis with interior, which has two elements or more."""
    step = axis.interior + 1
    dilated = (axis.extent - 1) * step + 1
    first = clamped(axis.begin, 0, axis.output)
    last = clamped(axis.begin + dilated, first, axis.output)

    def run() -> DilatedRow:
        skipped = quotient(first - axis.begin + step - 1, step)
        return DilatedRow(first, last, axis.start + skipped, axis.begin + skipped * step - first)

    return choose(last > first, run, lambda: DilatedRow(first, last, 0, 0))


def row_runs(axis: Axis, mode: Mode) -> list[Run]:
    """Of plain integers."""
    if axis.interior != 0:
        row = dilated_row(axis)
        runs = [
            Run(FILLED, 0, row.first),
            Run(DILATED, row.first, row.last - row.first, row.source, row.offset),
            Run(FILLED, row.last, axis.output - row.last),
        ]
        return [run for run in runs if run.count > 0]
    few = listed_runs(axis, mode, axis.output, FEW_RUNS)
    if sum(run.count for run in few) == axis.output:
        return few
    period = period_of(axis.extent, mode)
    listed = axis.output if axis.output <= 2 * period else period
    runs = listed_runs(axis, mode, listed, listed)
    return runs if listed == axis.output else [*runs, Run(PERIODIC, listed, axis.output - listed, period)]


def listed_runs(axis: Axis, mode: Mode, stop: int, most: int) -> list[Run]:
    """The first of the runs of a row, up to ``stop``."""
    runs: list[Run] = []
    while (at := sum(run.count for run in runs)) < stop and len(runs) < most:
        runs.append(run_at(axis, mode, at, stop))
    return runs


def shown_by(run: Run, interior: Term, place: Term) -> Term:
    """What the ``place``-th position of a run shows, as csrc/copy/writer.h says it; not for a periodic run."""
    step = interior + 1
    inner = place - run.offset
    on_element = both(inner >= 0, lambda: remainder(inner, step) == 0)
    dilated = lambda: choose(on_element, lambda: run.source + quotient(inner, step), lambda: FILL)
    kinds = [
        (FILLED, lambda: FILL),
        (FORWARD, lambda: run.source + place),
        (BACKWARD, lambda: run.source - place),
        (REPEAT, lambda: run.source),
    ]
    answer = dilated
    for kind, one in reversed(kinds):
        answer = lambda kind=kind, one=one, rest=answer: choose(run.kind == kind, one, rest)
    return answer()
