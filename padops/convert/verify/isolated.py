"""Runs a part of two models in isolation: both sides in ONNX Runtime, without optimisation, on the same random inputs.

The sides run in a copy of this process, if it can be copied. Inputs that crash ONNX Runtime count as refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from padops.convert.verify.bits import Tolerance, Value, describe_difference
from padops.convert.verify.exercise import Sameness
from padops.convert.verify.process_copy import SECONDS, Answering, ProcessCopy
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session

PATIENCE = 10.0  # seconds for one part; then no further inputs are tried
FEW = 16  # the most elements of an input that is made smaller
SHARES = (0, *(1,) * 8, *range(2, 13))  # shrinking: a number loses all of itself, a half, a quarter, an eighth, …
ATTEMPTS = 200  # of shrinking
TWICE = 32  # inputs that the original runs twice: two sessions of a process give equal random numbers at equal places


@dataclass(frozen=True)
class Cut:
    """One side of a part, as a small model whose inputs are the values in front of the part."""

    path: Path  # the file of the whole model, for its external data
    model: onnx.ModelProto  # the small model
    output: str  # the name of its output
    choices: tuple[str, ...] = ()  # the conditions of its Ifs, which are outputs as well


@dataclass(frozen=True)
class Ran:
    """The result of running a part in isolation."""

    draws: int  # the number of inputs that the original took
    refused: int  # the number of inputs that the original refused
    unreached: tuple[str, ...] = ()  # what the inputs did not reach, one sentence each
    detail: str = ""  # the difference; "" for none
    rounding: bool = False  # whether the difference may be rounding
    unstable: bool = False  # whether the original's results change from run to run, so that nothing can be compared
    feeds: Feeds | None = None  # the smallest inputs found that show a difference; None for none


class _Unstable(Exception):
    """The original gives different results for the same inputs."""


class _Both:
    """Both sides of a part, loaded."""

    def __init__(self, one: Cut, other: Cut, tolerance: Tolerance | None) -> None:
        self.one, self.other, self.tolerance = one, other, tolerance
        self._copy = ProcessCopy(self._prepare)
        self.close = self._copy.close

    def _prepare(self) -> Answering:
        sessions = [Session(side.path, optimised=False, instead=side.model) for side in (self.one, self.other)]
        return lambda question: sessions[question[0]].run(*question[1:])

    def original(self, given: Feeds) -> Outputs:
        """The outputs of the original's side.

        Raises:
            DoesNotRun: It refuses the inputs.
        """
        outputs: Outputs = self._copy.ask((0, given, [self.one.output, *self.one.choices]), SECONDS)
        return outputs

    def difference(self, given: Feeds, before: Value) -> tuple[str, bool]:
        """The difference, and whether it may be rounding; ("", False) if every bit agrees.

        Raises:
            _Unstable: The sides differ, and the original is unstable.
        """
        try:
            after = self._copy.ask((1, given, [self.other.output]), SECONDS)[self.other.output]
        except DoesNotRun as error:
            return f"the converted model refuses what the original takes: {error}", False
        detail = describe_difference(before, after)
        if detail and self.is_unstable(given, before):
            raise _Unstable
        return detail, bool(detail) and self.tolerance is not None and self.tolerance.takes(before, after)

    def is_unstable(self, given: Feeds, before: Value) -> bool:
        """Whether the original now gives another result than before.

        Raises:
            DoesNotRun: It does not run a second time.
        """
        return bool(describe_difference(before, self.original(given)[self.one.output]))

    def smaller(self, given: Feeds, detail: str) -> tuple[Feeds, str]:
        """Shrinks inputs while they show a difference; returns the inputs and their difference."""
        for name, changed in _smaller(given):
            tried = given | {name: changed}
            try:
                found, rounding = self.difference(tried, self.original(tried)[self.one.output])
            except (DoesNotRun, _Unstable):
                continue
            if found and not rounding:
                given[name], detail = changed, found
        return given, detail


def run_isolated(
    one: Cut, other: Cut, feeds: Iterable[Feeds], tolerance: Tolerance | None, patience: float = PATIENCE
) -> Ran:
    """Runs both sides of a part until they differ, or for ``patience`` seconds; without a tolerance, every bit counts.

    Raises:
        DoesNotRun: ONNX Runtime does not load a side.
    """
    with closing(_Both(one, other, tolerance)) as both:
        return _compared(both, feeds, patience)


def _compared(both: _Both, feeds: Iterable[Feeds], patience: float) -> Ran:
    """As ``run_isolated``, for loaded sides."""
    one = both.one
    draws, refused, begin, rounded = 0, 0, time.monotonic(), ""
    sameness, chosen = Sameness(), {name: set[bool]() for name in one.choices}
    for given in feeds:
        if time.monotonic() - begin > patience:
            break
        try:
            before = both.original(given)
        except DoesNotRun:
            refused += 1
            continue
        if draws < TWICE and both.is_unstable(given, before[one.output]):
            return Ran(draws, refused, unstable=True)
        draws += 1
        sameness.add(before[one.output])
        for name in one.choices:
            chosen[name] |= set(np.asarray(before[name]).reshape(-1).tolist())
        try:
            detail, rounding = both.difference(given, before[one.output])
        except _Unstable:
            return Ran(draws, refused, unstable=True)
        if detail and not rounding:
            given, detail = both.smaller(dict(given), detail)
            return Ran(draws, refused, detail=detail, feeds=given)
        rounded = rounded or detail
    unreached = tuple(_unreached(draws, sameness, chosen))
    return Ran(draws, refused, unreached, rounded, bool(rounded))


def _unreached(draws: int, sameness: Sameness, chosen: dict[str, set[bool]]) -> Iterator[str]:
    if not draws:
        yield "the original takes none of the random inputs"
        return
    if sameness.weak:
        yield f"its output tells nothing: {sameness.weak}"
    for name, ways in chosen.items():
        if len(ways) < 2:
            yield f"{name.removeprefix('choice ')} always chose the same branch"


def _smaller(given: Feeds) -> Iterator[tuple[str, np.ndarray]]:
    """Inputs with one integer made smaller; each attempt starts from the current ``given``."""
    attempts = 0
    for name in given:
        if given[name].dtype.kind not in "iu" or given[name].size > FEW:
            continue
        for place in range(given[name].size):
            for share in SHARES:
                number = int(given[name].reshape(-1)[place])
                less = max(abs(number) >> share, 1)
                smaller = number - less if number > 0 else number + less
                changed = given[name].copy()
                changed.reshape(-1)[place] = smaller
                if number and attempts < ATTEMPTS:
                    attempts += 1
                    yield name, changed
