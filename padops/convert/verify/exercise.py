"""Whether the inputs exercise each Pad: it runs, gives elements, and pads. Dims tell this, and take no memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
import onnx

from padops.convert.verify.bits import Value
from padops.convert.verify.pads import WatchedPad
from padops.convert.verify.probes import OutOfReach, Probed
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Session

ABSENT = [-1]  # stands for the dims of a value that was not computed
LARGEST_ELEMENT = 8  # bytes
NEVER_RAN = "it never ran"
EMPTY = "its output was empty in every run"


@dataclass
class Reached:
    """How far one Pad was exercised."""

    hidden: str = ""  # why nothing is known of it, or ""
    ran: bool = False  # whether it has run
    filled: bool = False  # whether its output had elements
    padded: bool = False  # whether its output's dims differed from its data's; True if they cannot be compared
    bytes: int = 0  # the most memory that its compared values took

    @property
    def missing(self) -> str:
        """Why the Pad was not exercised, or ""."""
        if self.hidden:
            return self.hidden
        if not self.ran:
            return NEVER_RAN
        if not self.filled:
            return EMPTY
        return "" if self.padded else "it padded nothing in any run"


@dataclass
class Scout:
    """A model with the dims of its Pads as outputs."""

    path: Path
    model: onnx.ModelProto
    pads: Sequence[WatchedPad]
    reached: list[Reached] = field(default_factory=list)  # how far each was exercised
    _names: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    _session: Session | None = None
    _seen: set[tuple[tuple[str, tuple[int, ...]], ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        probed = Probed(self.model)
        for i, pad in enumerate(self.pads):
            self.reached.append(Reached())
            try:
                for name in dict.fromkeys(filter(None, (pad.data, pad.output, *pad.compared))):
                    self._names[i, name] = probed.expose_shape(pad.place, name)
            except OutOfReach as why:
                self.reached[i].hidden = str(why)
        if self._names:
            try:
                self._session = Session(self.path, optimised=False, instead=probed.model)
            except DoesNotRun as error:
                self._hide_all(str(error))

    def look(self, feeds: Feeds) -> bool:
        """Runs the model, unless all Pads are exercised and the shapes seen. Returns whether a Pad did a new thing."""
        shapes = tuple((name, array.shape) for name, array in feeds.items())
        if self._session is None or (self.satisfied and shapes in self._seen):
            return False
        self._seen.add(shapes)
        before = [reached.missing for reached in self.reached]
        try:
            outputs = self._session.run(feeds, sorted({name for names in self._names.values() for name in names}))
        except DoesNotRun as error:
            self._hide_all(str(error))
            return False
        for i, pad in enumerate(self.pads):
            if not self.reached[i].hidden:
                self._learn(i, pad, outputs)
        return [reached.missing for reached in self.reached] != before

    def _learn(self, i: int, pad: WatchedPad, outputs: Outputs) -> None:
        dims = {name: self._dims(i, name, outputs) for name in (pad.data, pad.output, *pad.compared) if name}
        reached, result = self.reached[i], pad.output or next(iter(pad.compared), None)
        given = dims[result] if result else []
        reached.ran |= bool(given)
        reached.filled |= any(prod(shape) for shape in given)
        told = pad.data is None or pad.output is None or pad.amounts is not None
        reached.padded |= bool(given) and (told or dims[pad.data or ""] != given)
        sizes = [sum(map(prod, dims[name])) for name in pad.compared]
        reached.bytes = max(reached.bytes, sum(sizes) * LARGEST_ELEMENT)

    def _dims(self, i: int, name: str, outputs: Outputs) -> list[list[int]]:
        """The dims of a value, for each call and Loop iteration that computed it."""
        found = [row for output in self._names[i, name] for row in _rows(outputs[output])]
        return [row for row in found if row != ABSENT]

    def _hide_all(self, why: str) -> None:
        self._session = None
        for reached in self.reached:
            if not reached.ran:
                said = f"ONNX Runtime does not run the model with its Pads as outputs: {why}"
                reached.hidden = reached.hidden or said

    def close(self) -> None:
        """Frees the session's memory."""
        self._session = None

    @property
    def satisfied(self) -> bool:
        """Whether all Pads that can be watched are exercised."""
        return not any(reached.missing and not reached.hidden for reached in self.reached)


def _rows(value: Value) -> list[list[int]]:
    if isinstance(value, np.ndarray):
        return [value.tolist()] if value.ndim == 1 else [list(map(int, row)) for row in value]
    return [row for item in value for row in _rows(item)]


class Sameness:
    """Whether a value was the same in every run: empty, or one element everywhere."""

    def __init__(self) -> None:
        self._elements: set[object] = set()
        self._other = False

    def add(self, value: Value) -> None:
        """Adds one run's value."""
        if self._other:
            return
        if isinstance(value, (list, tuple)):
            for item in value:
                self.add(item)
            return
        if not isinstance(value, np.ndarray):
            self._other = True
            return
        if not value.size:
            return
        first = value.reshape(-1)[:1]
        if value.dtype.kind in "fV" and _all_nan(value):
            self._elements.add("NaN")
        elif bool((value.reshape(-1) == first).all()):
            self._elements.add(f"{first[0]!s}")
        else:
            self._other = True
        self._other |= len(self._elements) > 1

    @property
    def weak(self) -> str:
        """The constant value in words, or "" if the value varied."""
        if self._other:
            return ""
        if not self._elements:
            return "it is empty in every run"
        (element,) = self._elements
        return f"every element is {element} in every run"


def _all_nan(value: np.ndarray) -> bool:
    try:
        return bool(np.isnan(value).all())
    except TypeError:  # 4-bit and 2-bit integers
        return False
