"""A part of two models, run alone: both sides on the same drawn inputs, in ONNX Runtime as they are written.

Inputs of which ONNX Runtime dies are inputs that it refuses: they run in a copy of this process, where that can be.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from padops.convert.verify.apart import SECONDS, Answering, Apart, DiedError
from padops.convert.verify.bits import Tolerance, Value, describe_difference
from padops.convert.verify.exercise import Sameness
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session

PATIENCE = 10.0  # seconds for one part, after which no further draw begins
FEW = 16  # elements of an input that is made smaller
SHARES = (0, *(1,) * 8, *range(2, 13))  # a number becomes less by all of it, by a half, a quarter, an eighth, …
ATTEMPTS = 200  # to make an input smaller
TWICE = 32  # draws that the original runs twice: sessions of one process draw equal random numbers at equal places


@dataclass(frozen=True)
class Cut:
    """One side of a part: a small model that takes the values in front of it.

    Attributes:
        path: The file of the model that it is of.
        model: Itself; external data are those of the file.
        output: The value that it gives.
        choices: Conditions of the Ifs in it, which are outputs as well.
    """

    path: Path
    model: onnx.ModelProto
    output: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ran:
    """What running a part alone has shown.

    Attributes:
        draws: How many inputs both sides took.
        refused: How many inputs the original refused.
        unreached: What the draws have not shown, each in a sentence.
        detail: What differs; "" for nothing.
        rounding: Whether that may be rounding.
        unstable: Whether the original differs from itself from run to run, so that nothing can be compared.
        feeds: Where something differs, the inputs that show it, as small as was found.
    """

    draws: int
    refused: int
    unreached: tuple[str, ...] = ()
    detail: str = ""
    rounding: bool = False
    unstable: bool = False
    feeds: Feeds | None = None


class _Unstable(Exception):
    """The original gives something else of the same inputs: it is random, or its runtime is."""


class _Both:
    """Both sides, loaded."""

    def __init__(self, one: Cut, other: Cut, tolerance: Tolerance) -> None:
        self.one, self.other, self.tolerance = one, other, tolerance
        try:
            self._apart = Apart(self._prepare)
        except DiedError as error:
            raise DoesNotRun(str(error)) from None

    def _prepare(self) -> Answering:
        sessions = [Session(side.path, optimised=False, instead=side.model) for side in (self.one, self.other)]
        return lambda question: sessions[question[0]].run(*question[1:])

    def _run(self, side: int, given: Feeds, wanted: list[str]) -> Outputs:
        try:
            outputs: Outputs = self._apart.ask((side, given, wanted), SECONDS)
        except DiedError as error:
            raise DoesNotRun(str(error)) from None
        return outputs

    def close(self) -> None:
        """Lets go of both."""
        self._apart.close()

    def original(self, given: Feeds) -> dict[str, Value]:
        """What the original's side gives.

        Raises:
            DoesNotRun: It refuses the inputs.
        """
        return self._run(0, given, [self.one.output, *self.one.choices])

    def difference(self, given: Feeds, before: Value) -> tuple[str, bool]:
        """What differs, and whether that may be rounding; ("", False) where every bit agrees.

        Raises:
            _Unstable: Something differs, and the original differs from itself, too.
        """
        try:
            after = self._run(1, given, [self.other.output])[self.other.output]
        except DoesNotRun as error:
            return f"the converted model refuses what the original takes: {error}", False
        detail = describe_difference(before, after)
        if detail and self.is_unstable(given, before):
            raise _Unstable
        return detail, bool(detail) and self.tolerance.takes(before, after)

    def is_unstable(self, given: Feeds, before: Value) -> bool:
        """Whether the original gives something else than before.

        Raises:
            DoesNotRun: It does not run a second time.
        """
        return bool(describe_difference(before, self.original(given)[self.one.output]))

    def smaller(self, given: Feeds, detail: str) -> tuple[Feeds, str]:
        """Inputs of smaller numbers that show a difference, too, and which."""
        for name, changed in _smaller(given):
            tried = given | {name: changed}
            try:
                found, rounding = self.difference(tried, self.original(tried)[self.one.output])
            except (DoesNotRun, _Unstable):
                continue
            if found and not rounding:
                given[name], detail = changed, found
        return given, detail


def run_alone(one: Cut, other: Cut, feeds: Iterable[Feeds], tolerance: Tolerance, patience: float = PATIENCE) -> Ran:
    """Runs both sides of a part, until they differ.

    Raises:
        DoesNotRun: ONNX Runtime does not load one of them.
    """
    with closing(_Both(one, other, tolerance)) as both:
        return _compared(both, feeds, patience)


def _compared(both: _Both, feeds: Iterable[Feeds], patience: float) -> Ran:
    """As ``run_alone``, of sides that are loaded."""
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
        yield "the original takes none of the drawn inputs"
        return
    if sameness.weak:
        yield f"its output told nothing: {sameness.weak}"
    for name, ways in chosen.items():
        if len(ways) < 2:
            yield f"{name.removeprefix('choice ')} chose one branch alone"


def _smaller(given: Feeds) -> Iterator[tuple[str, np.ndarray]]:
    """One input at a time with one smaller integer; what is given is looked at anew each time."""
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
