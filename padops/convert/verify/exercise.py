"""Checks by ONNX Runtime's profile that the inputs exercise each Pad: it runs, returns elements, and pads.

Also checks that each output varies: a value that is the same in every run shows nothing.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from padops.convert.inputs.given import Feeds
from padops.convert.inputs.pads import bodies, form_of, idle_pads, is_pad
from padops.convert.records import OutputComparison, PadComparison, Verification
from padops.convert.verify.bits import Value, compare_output
from padops.convert.verify.sessions import DoesNotRun, Model, Session, Trial, fed

NAME = "padops verify pad"  # the name that a Pad's node gets, before its number
NUMBER = re.compile(rf"{NAME} (\d+)(?!\d)")
NEVER_RAN = "it never ran"
EMPTY = "its output was empty in every run"
UNPADDED = "it padded nothing in any run"


class Scout:
    """Observes the Pads of a model; what runs in its place has the same nodes, renamed to operators of padops."""

    def __init__(self, model: Model) -> None:
        copy = deepcopy(model.instead or model.message)
        self._model = Model(model.path, copy, copy)
        self.pads: list[PadComparison] = []
        self._has_known_amounts: list[bool] = []  # of each Pad
        self._looked = 0  # sets of inputs that have run
        idle = idle_pads(model.message)
        for located, copied in zip(bodies(model.message), bodies(copy), strict=True):
            for (place, node), running in zip(located.labelled(), copied.body.node, strict=True):
                if is_pad(node) and node.output:
                    running.name = f"{NAME} {len(self.pads)}"
                    known = idle.get(node.output[0])
                    self._has_known_amounts.append(known is not None)
                    self.pads.append(PadComparison(place, form_of(node), "exercised"))
                    self._tell(len(self.pads) - 1, "" if known else NEVER_RAN)  # a Pad of nothing has nothing to show

    def look(self, feeds: Sequence[Feeds]) -> None:
        """Runs the model on new sets of inputs, and reads the dims from the profile."""
        new = feeds[self._looked :]
        if not new or self.satisfied:
            return
        self._looked = len(feeds)
        with tempfile.TemporaryDirectory(prefix="padops-") as folder:
            try:
                session = Session(self._model, optimised=False, profile=Path(folder) / "profile")
                for inputs in new:
                    session.run(inputs)
            except DoesNotRun as error:
                for at in (at for at, one in enumerate(self.pads) if one.detail == NEVER_RAN):
                    self._tell(at, f"without graph optimisation, ONNX Runtime does not run the model: {error}")
                return
            for event in json.loads(session.end_profiling().read_text(encoding="utf-8", errors="replace")):
                self._learn(event)

    def _tell(self, at: int, missing: str) -> None:
        """Records why a Pad was not exercised, or ""."""
        self.pads[at] = replace(self.pads[at], exercise="not exercised" if missing else "exercised", detail=missing)

    def _learn(self, event: dict[str, Any]) -> None:
        """Reads the dims of a Pad's data and output from the profile."""
        found, rows = NUMBER.search(event.get("name", "")), event.get("args", {})
        if event.get("cat") == "Node" and found and self.pads[at := int(found[1])].detail:
            first = [rows.get(f"{which}_type_shape") or [{}] for which in ("input", "output")]
            given, made = (next(iter(row[0].values()), None) for row in first)
            if made is not None:
                is_padded = self._has_known_amounts[at] or given != made
                self._tell(at, EMPTY if not prod(made) else "" if is_padded else UNPADDED)

    @property
    def satisfied(self) -> bool:
        """Whether every Pad is exercised, except Pads whose amounts are known to be 0."""
        return not any(one.detail for one in self.pads)


def weak(values: Iterable[Value]) -> str:
    """Says that a value was the same in every run, empty or one element everywhere; "" if it varied."""
    elements: set[str] = set()
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, tuple)):
            todo += value
        elif not isinstance(value, np.ndarray):
            return ""
        elif value.size:
            first = value.reshape(-1)[0]
            if not bool((value == first).all() or (value != value).all()):  # NaN
                return ""
            elements.add(str(first))
        if len(elements) > 1:
            return ""
    return f"every element is {elements.pop()} in every run" if elements else "it is empty in every run"


def check_outputs(trials: Sequence[Trial]) -> Verification:
    """Compares every bit of the converted model's outputs with the original's."""
    comparisons: dict[str, OutputComparison] = {}
    for trial in trials:
        for name, value in trial.outputs.items():
            one = compare_output(name, value, trial.after[name], name in trial.unstable)
            if name not in comparisons or comparisons[name].equal:
                comparisons[name] = one
    unstable = sorted(set().union(*(trial.unstable for trial in trials)))
    equal = all(comparison.equal for comparison in comparisons.values())
    outcome = "different" if not equal else "runs" if unstable else "equal"
    notes = [f"{', '.join(unstable)} of the original changes from run to run: only types and shapes are compared"]
    told = tuple(
        replace(one, weak=weak(trial.outputs[one.name] for trial in trials)) if one.equal else one
        for one in comparisons.values()
    )
    fed_with = fed(trial.feeds for trial in trials)
    return Verification(outcome, told, fed_with, tuple(notes if unstable else ()))  # type: ignore[arg-type]
