"""Runs both models in ONNX Runtime on the same inputs and compares their outputs."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from padops.convert.inputs import pads as model_pads
from padops.convert.inputs.given import Feeds, optional_inputs
from padops.convert.inputs.random_inputs import many_inputs, marks_of, random_inputs, unlike
from padops.convert.records import WITHOUT_OPTIMISATION, Outcome, OutputComparison, PadComparison, Verification
from padops.convert.verify.bits import Tolerance, Value, are_alike, describe_difference
from padops.convert.verify.interface import TURNS, RunInputs
from padops.convert.verify.pad_terms import mirrored
from padops.convert.verify.rounding import Moves
from padops.convert.verify.schemas import is_fallback
from padops.convert.verify.sessions import DoesNotRun, Model, NoMemory, Session, Trial, fed, run_trials

MOST_TURNS = 10  # the most sets of inputs, drawn until every Pad has padded something and every output has changed
PROVED_TURNS = 2  # sets of inputs after a proof; 1 for large models
# Limits of the runs on small inputs: the number of inputs, this number times the bytes of the models, the elements of
# all outputs, and the number of differing inputs that are kept.
MANY, SMALL, ELEMENTS, SHOWN = 500, 1 << 24, 1 << 23, 4
MOST_DEATHS = 8  # after more attempts than this have crashed a process, small inputs are left out
MOST_INLINED = 20_000  # the most nodes that fallback functions add to a session without padops
OPTIMISED = "optimising the original changes its outputs"
CORRECTED = "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong"
BROKEN = "without graph optimisation the outputs are the same; with it, ONNX Runtime gets the converted model wrong"
UNOPTIMISED = "without graph optimisation, ONNX Runtime does not run the original: {}"
# ONNX Runtime accepts some inputs that break a rule, such as more amounts than axes; padops refuses them.
RULE = re.compile(r"padops::\w+ .*\[(P\d+|S1)\]")
NAME = "padops verify pad"  # the name that a Pad's node gets, before its number
NUMBER = re.compile(rf"{NAME} (\d+)(?!\d)")
NEVER_RAN, EMPTY, UNPADDED = "it never ran", "its output was empty in every run", "it padded nothing in any run"
MIRRORED = "ONNX Runtime refuses the original ({}); padops' operators stand in for its Pads"
NEVER_OPTIMISED = "ONNX Runtime runs the original only without graph optimisation; with it, the run fails: {}"
LEFT_OUT = "the converted model did not run on {} of {} sets of inputs: there is no memory for them"
NOT_TRIED = "a session without padops was not tried: its fallback functions have {} nodes in all"
WITHOUT = "in a session without padops, which runs its fallback functions"


def compare(first: Model, second: Model, case: RunInputs) -> Verification:
    """Runs the original in plain ONNX Runtime and the converted model with padops, and compares their outputs.

    If outputs differ, both models also run without graph optimisation: ONNX Runtime may optimise one graph wrongly, or
    fuse the two graphs differently. Then the caller's tolerance decides, or a tolerance measured on the original
    (``rounding.py``).
    """
    case, notes = replace(case, hints=model_pads.hints_of(first.message)), tuple[str, ...]()
    try:
        session = first.session(True)
    except DoesNotRun as refusal:
        first, notes = replace(first, instead=mirrored(first.message)), (MIRRORED.format(refusal),)
        try:
            session = first.session(True)
        except DoesNotRun:
            return _Comparison(first, second, case).without_original(refusal, loads=False)
    models, scout = _Comparison(first, second, case), Scout(first)
    try:
        trials = _draw(session, scout, first, case)
    except DoesNotRun as error:
        try:
            trials, notes = _draw(first.session(False), scout, first, case), (*notes, NEVER_OPTIMISED.format(error))
        except DoesNotRun:
            return models.without_original(error, loads=first.instead is None)
    del session
    verification = models.outcome(trials)
    pads = () if case.proved else tuple(scout.pads)
    return replace(verification, notes=(*notes, *verification.notes), pads=pads)


def _draw(session: Session, scout: Scout, model: Model, case: RunInputs) -> list[Trial]:
    """Runs the original on sets of inputs; draws more sets while a Pad is not exercised or an output never changes.

    Raises DoesNotRun if the original refuses all sets.
    """
    trials, refusal = list[Trial](), DoesNotRun("there is nothing to feed it with")
    shown = [random_inputs(inputs, case.asked.seed, 0, case.hints) for inputs in case.first]
    proved_turns, is_stable = 1 if model.is_large else PROVED_TURNS, model.is_stable
    first = len(shown) + (proved_turns if case.proved else TURNS)
    turns = case.turns(proved_turns if case.proved else MOST_TURNS)
    turns = [*turns, *shown] if case.given is not None else [*shown, *turns]
    for turn, attempts in enumerate(turns):
        is_enough, names = not trials or scout.satisfied, trials[0].outputs if trials else ()
        if turn >= first and is_enough and not any(weak(trial.outputs[name] for trial in trials) for name in names):
            break
        try:
            (trial,) = run_trials(session, [unlike(attempts, [one.feeds for one in trials])], is_stable, case.risks)
        except DoesNotRun as error:
            refusal = error
            continue
        trials.append(trial)
        if not case.proved and turn >= min(first, len(turns)) - 1:
            scout.look([one.feeds for one in trials])
    if not trials:
        raise refusal
    if not case.proved:
        scout.look([one.feeds for one in trials])
    return trials


@dataclass(frozen=True)
class _Comparison:
    original: Model
    converted: Model
    case: RunInputs

    def outcome(self, trials: Sequence[Trial]) -> Verification:
        """Compares the models on the original's trials. If ONNX Runtime refuses both models, padops runs their Pads."""
        case = self.case
        try:
            return self._compared(trials)
        except NoMemory:
            raise
        except DoesNotRun as error:
            inputs = fed(trial.feeds for trial in trials)
            broken = case.is_proved and case.given is None and RULE.search(str(error)) is not None
            told = Verification("runs" if broken else "fails", inputs=inputs, notes=(f"ONNX Runtime says: {error}",))
        if self.original.instead is None:
            return told
        standing_in = replace(self.converted, instead=mirrored(self.converted.message))
        try:
            verification = replace(self, converted=standing_in)._compared(trials)
        except DoesNotRun:  # the Pads were not the reason
            return told
        return replace(verification, outcome="same") if case.is_proved and not verification.refuted else verification

    def _compared(self, trials: Sequence[Trial]) -> Verification:
        case, drawn = self.case, len(trials)
        with case.risks.blame():
            trials = self.converted.session(True).within_memory(trials)
        verification = check_outputs(trials)
        if len(trials) < drawn:
            verification = noted(verification, LEFT_OUT.format(drawn - len(trials), drawn))
        if verification.outcome == "different":
            verification = self._explained(trials, verification)
        if not case.is_proved and not verification.refuted and case.given is None:
            try:
                small = _small_runs(self.original, self.converted, case)
            except DoesNotRun as error:
                return Verification("fails", inputs=fed(error.feeds), notes=(str(error),))
            if small:
                more = self._explained(small, check_outputs(small))
                verification = more if more.refuted or verification.outcome == "equal" else verification
        return verification if verification.refuted else self._without_library(trials, verification)

    def _explained(self, trials: Sequence[Trial], verification: Verification) -> Verification:
        """Explains why outputs differ: optimisation, rounding, a corrected error, or another computation."""
        original, converted, case = self.original, self.converted, self.case
        differing = [output for output in verification.outputs if not output.equal]
        tolerance = case.asked.tolerance
        try:
            session = original.session(False)
            plain = [replace(trial, outputs=session.run(trial.feeds)) for trial in trials]
        except DoesNotRun as error:
            verification, plain = noted(verification, UNOPTIMISED.format(error)), []
        with case.risks.blame():
            session = converted.session(False)
            bare = [trial.then(session) for trial in plain or trials]
        again = check_outputs(bare) if plain else verification
        moves = None
        if tolerance is None and not (case.hints.moves and not model_pads.computes_floats(converted.message)):
            moves = Moves(original.path, original.instead or original.message, trials, [one.outputs for one in plain])
        equal = bool(plain) and again.outcome not in ("different", "close")
        levels = not equal or (case.proved and original.is_large)
        far = far_outputs(trials, moves, tolerance, levels)
        as_written = far_outputs(bare, moves, tolerance) if far and plain and not equal else set()
        if far and plain and not as_written:
            if far_outputs(plain, moves, tolerance, levels):
                return noted(verification, BROKEN, outcome="different")
            notes = (*again.notes, CORRECTED, *(self._will_change(output.name) for output in differing))
            return replace(verification, outcome="corrected", notes=notes)
        is_doubted = far <= case.corrected | case.asked.doubted.keys()
        if far and is_doubted and as_written <= case.corrected | case.asked.doubted_unoptimised.keys():
            return noted(verification, *map(self._will_change, sorted(far)), outcome="corrected")
        if far:
            return replace(verification, outcome="different")
        if equal:
            told = "; ".join(f"{output.name}: {output.detail}" for output in differing)
            return noted(again, f"{WITHOUT_OPTIMISATION} ONNX Runtime optimises the two graphs differently ({told})")
        return close(verification, tolerance, "no element differs by more than the original's own floats move")

    def _will_change(self, name: str) -> str:
        return f"{name} will change: {self.case.asked.doubted.get(name, OPTIMISED)}"

    def _without_library(self, trials: Sequence[Trial], verification: Verification) -> Verification:
        """Also runs the converted model in a session without padops, if it has fallback functions."""
        message = self.converted.message
        functions = {row.name: len(row.node) for row in message.functions if is_fallback(row)}
        inlined = sum(functions.get(node.op_type, 0) for node in message.graph.node if node.domain == "padops")
        if not functions or inlined > MOST_INLINED:
            return noted(verification, *([NOT_TRIED.format(inlined)] if functions else []))
        stable = [replace(trial, outputs=trial.after) for trial in trials]
        needed: Sequence[Trial] = ()  # if the original fails on these, too, the error is not the converted model's
        has_own = any(map(is_fallback, self.original.message.functions))
        try:
            with nullcontext() if has_own else self.case.risks.blame():
                session = self.converted.session(True, library=False)
                needed = trials
                stable = session.within_memory(stable)
            found = check_outputs(stable)
        except DoesNotRun as error:
            verification = noted(verification, f"it does not run {WITHOUT}: {error}")
            if not isinstance(error, NoMemory):
                with suppress(DoesNotRun):
                    self.original.session(True, library=False).within_memory(needed)
                    return replace(verification, outcome="fails")
            return verification
        differing = [output for output in found.outputs if not output.equal]
        moves = Moves(self.converted.path, message, stable, [])
        if not differing or not far_outputs(stable, moves, self.case.asked.tolerance):
            return verification
        detail = f"{differing[0].name} differs {WITHOUT}: {differing[0].detail}"
        return noted(verification, detail, outcome="different", outputs=found.outputs)

    def without_original(self, refusal: DoesNotRun, loads: bool) -> Verification:
        """Runs the converted model alone, because ONNX Runtime refuses the original, or refuses all sets of inputs."""
        case = self.case
        others = "; --inputs FILE.npz sets other inputs" if loads and case.given is None else ""
        note = f"ONNX Runtime does not run the original{' with these inputs' if loads else ''}: {refusal}{others}"
        try:
            session = self.converted.session(True)
        except DoesNotRun as error:
            if loads:
                return Verification("fails", notes=(note, f"it does not load the converted model: {error}"))
            found: Outcome = "same" if case.is_proved else "undecided"
            return Verification(found, notes=(note, f"nor the converted model: {error}"))
        try:
            trials = run_trials(session, case.turns(PROVED_TURNS if loads else TURNS), risks=case.risks)
        except DoesNotRun as error:
            found = "proved" if case.is_proved and loads else "undecided"
            told = Verification(found, inputs=fed(refusal.feeds), notes=(note, f"nor the converted model: {error}"))
            return self._without_library([], told) if found == "proved" else told
        told = Verification("runs", inputs=fed(trial.feeds for trial in trials), notes=(note,))
        return self._without_library([replace(trial, after=trial.outputs) for trial in trials], told)


def noted(verification: Verification, *notes: str, **changes: Any) -> Verification:
    return replace(verification, notes=(*verification.notes, *notes), **changes)


def close(verification: Verification, tolerance: Tolerance | None, measured: str) -> Verification:
    """Returns the verification as "close", with a note: ``measured``, or the caller's tolerance if there is one."""
    said = measured if tolerance is None else f"no element differs by more than {tolerance}"
    return noted(verification, said, outcome="close")


def far_outputs(
    trials: Sequence[Trial], moves: Moves | None, tolerance: Tolerance | None, levels: bool = True
) -> set[str]:
    """Returns the names of the outputs that differ by more than the tolerance."""
    found = set()
    for at, trial in enumerate(trials):
        for name, value in trial.outputs.items():
            after = trial.after[name]
            is_same = name in trial.unstable or not describe_difference(value, after)
            is_near = is_same or (moves is not None and moves.takes(at, name, value, after, levels))
            if not is_near and not (tolerance is not None and tolerance.takes(value, after)):
                found.add(name)
    return found


def _small_runs(original: Model, converted: Model, case: RunInputs) -> list[Trial]:
    """Runs both models, unoptimised, on many small inputs; returns the first trials whose outputs differ.

    Raises DoesNotRun, with the inputs, if the converted model refuses inputs that the original accepts.
    """
    models, elements, hints, risks = (original.message, converted.message), 0, case.hints, case.risks
    trials: list[Trial] = []
    if len(risks.left_out) > MOST_DEATHS:
        return trials
    count = min(MANY, SMALL // max(sum(one.path.stat().st_size for one in (original, converted)), 1))
    try:
        sessions = [original.session(False), converted.session(False)]
    except DoesNotRun:
        return trials
    sizing = model_pads.sizing_inputs(models[0]) | model_pads.sizing_inputs(models[1])
    moves = hints.moves and not model_pads.computes_floats(models[1])
    inputs = [*case.inputs, *optional_inputs(models[0])]
    for feeds in many_inputs(inputs, marks_of(*models), sizing, moves, case.asked.seed, count):
        if _repeats_an_axis(feeds, hints):
            continue
        try:
            (trial,) = run_trials(sessions[0], [[feeds]], original.is_stable, risks)
        except DoesNotRun:
            continue
        arrays = [value for value in trial.outputs.values() if isinstance(value, np.ndarray)]
        if not moves and not all(np.isfinite(one).all() for one in arrays if one.dtype.kind == "f"):
            continue
        try:
            with risks.blame():
                trial = trial.then(sessions[1])
        except NoMemory:
            continue
        except DoesNotRun as error:
            raise DoesNotRun(f"without graph optimisation, ONNX Runtime fails: {error}", (feeds,)) from error
        names = trial.outputs.keys() - trial.unstable
        if any(describe_difference(trial.outputs[name], trial.after[name]) for name in names):
            trials.append(trial)
        elements += sum(value.size for value in trial.after.values() if isinstance(value, np.ndarray))
        if len(trials) == SHOWN or elements > ELEMENTS:
            break
    return trials


def _repeats_an_axis(feeds: Feeds, hints: model_pads.Hints) -> bool:
    """Returns whether an input names an axis of a Pad twice. padops refuses such an input (P8), unlike ONNX Runtime."""
    ranks = {name: feeds[data].ndim if data in feeds else 0 for name, data in hints.axes.items() if name in feeds}
    lists = [feeds[name].reshape(-1) % (rank or 1 << 30) for name, rank in ranks.items()]
    return any(len(set(one.tolist())) < one.size for one in lists)


class Scout:
    """Observes which Pads of a model are exercised. ``Model.instead``, if any, has the model's nodes, in order."""

    def __init__(self, model: Model) -> None:
        copy = deepcopy(model.instead or model.message)
        self._model = Model(model.path, copy, copy)
        self.pads: list[PadComparison] = []
        self._has_known_amounts: list[bool] = []  # for each Pad
        self._looked = 0  # sets of inputs that have run
        idle = model_pads.idle_pads(model.message)
        labelled = model_pads.labelled_nodes(model.message)
        for (place, node), running in zip(labelled, model_pads.all_nodes(copy), strict=True):
            if model_pads.is_pad(node) and node.output:
                running.name = f"{NAME} {len(self.pads)}"
                known = idle.get(node.output[0])
                self._has_known_amounts.append(known is not None)
                self.pads.append(PadComparison(place, model_pads.form_of(node), "exercised"))
                self._tell(len(self.pads) - 1, "" if known else NEVER_RAN)  # a Pad whose amounts are all 0 needs no run

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
            for event in json.loads(session.end_profiling()):
                self._learn(event)

    def _tell(self, at: int, missing: str) -> None:
        """Records why a Pad was not exercised; ``missing`` is "" for an exercised Pad."""
        self.pads[at] = replace(self.pads[at], exercise="not exercised" if missing else "exercised", detail=missing)

    def _learn(self, event: dict[str, Any]) -> None:
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
    """Describes a value that was empty in every run, or had the same element everywhere; "" if it varied."""
    elements, todo = set[str](), list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, (list, tuple)):
            todo += value
        elif not isinstance(value, np.ndarray):
            return ""
        elif value.size:
            first = value.reshape(-1)[0]
            is_one = (value == first).all() or (value != value).all()  # all are NaN
            elements |= {str(first)} if is_one else {"some", "others"}
        if len(elements) > 1:
            return ""
    return f"every element is {elements.pop()} in every run" if elements else "it is empty in every run"


def check_outputs(trials: Sequence[Trial]) -> Verification:
    """Compares every bit of the converted model's outputs with the original's."""
    comparisons: dict[str, OutputComparison] = {}
    for trial in trials:
        for name, value in trial.outputs.items():
            if name not in comparisons or comparisons[name].equal:
                is_same = name in trial.unstable and are_alike(value, trial.after[name])
                detail = "" if is_same else describe_difference(value, trial.after[name])
                comparisons[name] = OutputComparison(name, not detail, detail)
    told = tuple(replace(one, weak=weak(trial.outputs[one.name] for trial in trials) if one.equal else "")
                 for one in comparisons.values())  # fmt: skip
    unstable = ", ".join(sorted(set().union(*(trial.unstable for trial in trials))))
    notes = (f"{unstable} of the original changes from run to run: only types and shapes are compared",)
    outcome: Outcome = "different" if not all(one.equal for one in told) else "runs" if unstable else "equal"
    return Verification(outcome, told, fed(trial.feeds for trial in trials), notes if unstable else ())
