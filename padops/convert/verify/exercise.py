"""Whether the inputs exercise each Pad: it runs, gives elements, and pads. ONNX Runtime's profile tells it.

And whether a value says anything: one that is the same in every run does not.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from padops.convert.inputs.given import Feeds
from padops.convert.inputs.pads import bodies, form_of, idle_pads, is_pad
from padops.convert.records import OutputComparison, PadComparison, Verification
from padops.convert.verify.bits import Value, compare_output
from padops.convert.verify.sessions import DoesNotRun, Outputs, Session, Trial, fed

NAME = "padops verify pad"  # the name that a Pad's node gets, before its number
NUMBER = re.compile(rf"{NAME} (\d+)(?!\d)")
NEVER_RAN = "it never ran"
EMPTY = "its output was empty in every run"
UNPADDED = "it padded nothing in any run"


@dataclass
class Reached:
    """How far one Pad was exercised."""

    path: str
    form: str
    idle: bool  # whether its amounts are known to be 0
    known: bool  # whether its amounts are known
    missing: str = NEVER_RAN  # why it was not exercised, or ""

    def learn(self, given: list[int] | None, made: list[int] | None) -> None:
        """Learns the dims of its data and its output in one run."""
        if not self.missing or made is None:
            return
        if not prod(made):
            self.missing = EMPTY
        elif self.known or given != made:
            self.missing = ""
        else:
            self.missing = UNPADDED

    def record(self) -> PadComparison:
        """What was found, for the report."""
        exercised = not self.missing or self.idle
        return PadComparison(self.path, self.form, "exercised" if exercised else "not exercised", detail=self.missing)


class Scout:
    """The Pads of a model; ``instead`` runs, the same nodes under names that ONNX Runtime knows."""

    def __init__(self, path: Path, model: onnx.ModelProto, instead: onnx.ModelProto) -> None:
        self._path, self._model = path, deepcopy(instead)
        self.reached: list[Reached] = []
        self.hidden = ""  # why nothing is known of the Pads
        self._looked = 0  # sets of inputs that it has run on
        idle = idle_pads(model)
        for located, copied in zip(bodies(model), bodies(self._model), strict=True):
            for (place, node), running in zip(located.labelled(), copied.body.node, strict=True):
                if is_pad(node) and node.output:
                    known = idle.get(node.output[0])
                    running.name = f"{NAME} {len(self.reached)}"
                    self.reached.append(Reached(place, form_of(node), known is True, known is not None))

    def look(self, feeds: Sequence[Feeds]) -> None:
        """Runs the model with a profile on the sets of inputs that are new, and learns from the dims in it."""
        new = feeds[self._looked :]
        if not new or not self.reached or self.satisfied or self.hidden:
            return
        self._looked = len(feeds)
        with tempfile.TemporaryDirectory(prefix="padops-") as folder:
            try:
                session = Session(self._path, optimised=False, instead=self._model, profile=Path(folder) / "profile")
                for one in new:
                    session.run(one)
            except DoesNotRun as error:
                self.hidden = f"without graph optimisation, ONNX Runtime does not run the model: {error}"
                return
            for event in json.loads(session.end_profiling().read_text(encoding="utf-8", errors="replace")):
                self._learn(event)

    def _learn(self, event: dict[str, Any]) -> None:
        found = NUMBER.search(event.get("name", ""))
        rows = event.get("args", {})
        if event.get("cat") == "Node" and found and "output_type_shape" in rows:
            given, made = (rows.get(f"{which}_type_shape", []) for which in ("input", "output"))
            self.reached[int(found[1])].learn(*(next(iter(row[0].values())) if row else None for row in (given, made)))

    @property
    def satisfied(self) -> bool:
        """Whether all Pads that do something are exercised."""
        return not any(one.missing and not one.idle for one in self.reached)

    def records(self) -> tuple[PadComparison, ...]:
        """What was found of each Pad."""
        if self.hidden:
            for one in self.reached:
                one.missing = self.hidden if one.missing == NEVER_RAN else one.missing
        return tuple(one.record() for one in self.reached)


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


def check_outputs(trials: Sequence[Trial], after: Sequence[Outputs]) -> Verification:
    """Compares the converted model's outputs with the original's: every bit."""
    comparisons: dict[str, OutputComparison] = {}
    sameness: dict[str, Sameness] = defaultdict(Sameness)
    for trial, outputs in zip(trials, after, strict=True):
        for name, value in trial.outputs.items():
            sameness[name].add(value)
            one = compare_output(name, value, outputs[name], name in trial.unstable)
            if name not in comparisons or comparisons[name].equal:
                comparisons[name] = one
    unstable = sorted(set().union(*(trial.unstable for trial in trials)))
    equal = all(comparison.equal for comparison in comparisons.values())
    outcome = "different" if not equal else "runs" if unstable else "equal"
    notes = [f"{', '.join(unstable)} of the original changes from run to run: only types and shapes are compared"]
    told = tuple(replace(one, weak=sameness[one.name].weak if one.equal else "") for one in comparisons.values())
    fed_with = fed(trial.feeds for trial in trials)
    return Verification(outcome, told, fed_with, tuple(notes if unstable else ()))  # type: ignore[arg-type]
