"""Runs both models in ONNX Runtime on the same inputs and compares them bit by bit."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import onnx

from padops.convert.records import WITHOUT_OPTIMISATION, Outcome, OutputComparison, PadComparison, Verification
from padops.convert.verify.bits import Tolerance, compare_output
from padops.convert.verify.exercise import Sameness, Scout
from padops.convert.verify.feeds import Asked, Input, fit_inputs
from padops.convert.verify.inside import compare_inside
from padops.convert.verify.pads import Hints, hints_of, watched_pads
from padops.convert.verify.part_inputs import sizing_inputs
from padops.convert.verify.random_inputs import random_inputs
from padops.convert.verify.reference import compare_structures, judge
from padops.convert.verify.rounding import scales_of, settle, tolerance_of
from padops.convert.verify.sessions import DoesNotRun, Feeds, OtherRuntime, Session, Trial, fed, run_trials
from padops.convert.verify.structure import blames_changes

TURNS = 4  # sets of random inputs; sizes, lengths, branches, single bools and special values differ between them
MOST_TURNS = 10  # sets if some Pads have not run or padded nothing, or an output has never changed
ENOUGH = 2  # sets on which another runtime tells its Pads' results
FEWEST_TURNS = 2  # sets that run however long they take
PATIENCE = 4  # seconds; then no further set runs

CORRECTED = "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong"
BROKEN = "without graph optimisation the outputs are the same; with it, ONNX Runtime gets the converted model wrong"
OPTIMISED = "optimising the original changes what it gives"


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a run of both models, and its options."""

    inputs: Sequence[Input]
    given: Mapping[str, np.ndarray] | None  # the caller's arrays; None for random ones
    asked: Asked
    hints: Hints = field(default_factory=Hints)
    # The values that may differ, because the converted model corrects an error of the original
    corrected: frozenset[str] = frozenset()

    def turns(self, count: int = TURNS) -> list[Iterable[Feeds]]:
        """For each set of inputs, the attempts at it, of which the first that the model takes counts."""
        if self.given is not None:
            return [[fit_inputs(self.given, self.inputs)]]
        return [random_inputs(self.inputs, self.asked.seed, turn, self.hints) for turn in range(count)]


def compare(original: Path, converted: Path, case: RunInputs) -> Verification:
    """Runs the original in plain ONNX Runtime and the converted model with padops, and compares every bit.

    If the outputs differ with graph optimisation, they are compared again without it: ONNX Runtime may fuse the
    original's Pad into the Conv behind it and choose another algorithm, which sums in another order. Without
    optimisation, both models run node by node as written.

    Then each Pad's result is compared, as an output of both models. This is done without optimisation, since such
    outputs prevent fusions around them. If anything differs, the reference tells whether a Pad is the reason.

    Raises:
        UsageError: The given inputs are not those of the model.
    """
    messages = [_load(path) for path in (original, converted)]
    pads = watched_pads(*messages)
    hints = hints_of(messages[0], case.hints.special)
    wide = {row.name for row in case.inputs} - sizing_inputs(*messages)
    case = replace(case, hints=replace(hints, wide=frozenset(wide)))
    try:
        session = Session(original, optimised=True)
    except DoesNotRun as error:
        return _without_original(original, converted, case, error, loads=False)
    scout = Scout(original, messages[0], pads)
    try:
        trials = _draw(session, scout, case)
    except DoesNotRun as error:
        return _without_original(original, converted, case, error, loads=True)
    tolerance = tolerance_of(messages[0], case.asked.rtol, case.asked.atol)
    verification = _compare_outputs(original, converted, case, trials, tolerance)
    if verification.outcome == "fails":
        return verification
    scout.close()
    del session
    feeds = [trial.feeds for trial in trials]  # any one may be the only one that shows a difference
    compared = compare_inside((original, messages[0]), (converted, messages[1]), pads, scout.reached, feeds)
    verification = _with_pads(verification, compared, case.corrected)
    if verification.outcome not in ("different", "close") or BROKEN in verification.notes:
        return verification
    return settle(verification, (original, converted), feeds, case.asked.sources, tolerance, case.asked.doubted)


def _draw(session: Session, scout: Scout, case: RunInputs) -> list[Trial]:
    """Runs the original on ``TURNS`` sets of inputs, and on more if they do not exercise all Pads.

    Raises:
        DoesNotRun: It takes none of them.
    """
    begin = time.monotonic()
    trials: list[Trial] = []
    refusal = DoesNotRun("there is nothing to feed it with")
    seen: dict[str, Sameness] = defaultdict(Sameness)
    for turn, attempts in enumerate(case.turns(MOST_TURNS)):
        enough = turn >= TURNS and (not trials or scout.satisfied and not any(one.weak for one in seen.values()))
        if enough or (turn >= FEWEST_TURNS and time.monotonic() - begin > PATIENCE):
            break
        try:
            (trial,) = run_trials(session, [attempts])
        except DoesNotRun as error:
            refusal = error
            continue
        if _look(trial, scout, seen) or turn < TURNS:
            trials.append(trial)
    if not trials:
        raise refusal
    return trials


def _look(trial: Trial, scout: Scout, seen: dict[str, Sameness]) -> bool:
    """Records a trial's outputs and Pads. Returns whether it showed anything new."""
    weak = [one.weak for one in seen.values()]
    for name, value in trial.outputs.items():
        seen[name].add(value)
    return scout.look(trial.feeds) or weak != [one.weak for one in seen.values()]


def _compare_outputs(
    original: Path, converted: Path, case: RunInputs, trials: Sequence[Trial], tolerance: Tolerance
) -> Verification:
    """Compares the outputs of both models; if they differ, again without graph optimisation."""
    verification = check(converted, True, trials, case.corrected, tolerance)
    if verification.outcome not in ("different", "close"):
        return verification
    try:
        plain = run_trials(Session(original, optimised=False), [[trial.feeds] for trial in trials])
    except DoesNotRun as error:
        note = f"without graph optimisation, ONNX Runtime does not run the original: {error}"
        return replace(verification, notes=(*verification.notes, note))
    again = check(converted, False, plain, case.corrected, tolerance)
    if again.outcome not in ("equal", "corrected"):
        return verification
    differing = [output for output in verification.outputs if not output.equal]
    if verification.outcome == "close":
        told = "; ".join(f"{output.name}: {output.detail}" for output in differing)
        note = f"{WITHOUT_OPTIMISATION} ONNX Runtime optimises the two graphs differently ({told})"
        return replace(again, notes=(*again.notes, note))
    if check(converted, True, plain, case.corrected, tolerance).refuted:
        return replace(verification, notes=(*verification.notes, BROKEN))
    notes = [f"{output.name} will change: {case.asked.doubted.get(output.name, OPTIMISED)}" for output in differing]
    return replace(verification, outcome="corrected", notes=(*again.notes, CORRECTED, *notes))


def _with_pads(verification: Verification, pads: Sequence[PadComparison], corrected: frozenset[str]) -> Verification:
    """The verification of outputs, with the comparison of the Pads added."""
    differing = [pad for pad in pads if not pad.equal]
    outcome = verification.outcome
    if any(not set(pad.compared) <= corrected for pad in differing):
        outcome = "close" if outcome in ("equal", "close") else "different"
    elif differing and outcome == "equal":
        outcome = "corrected"
    return replace(verification, outcome=outcome, pads=tuple(pads))


def _without_original(
    original: Path, converted: Path, case: RunInputs, refusal: DoesNotRun, loads: bool
) -> Verification:
    """Checks the converted model if ONNX Runtime does not load the original or runs it on none of the inputs."""
    note = f"ONNX Runtime does not run the original: {refusal}"
    if loads:
        others = "" if case.given is not None else "; --inputs FILE.npz gives others"
        note = f"ONNX Runtime does not run the original with these inputs: {refusal}{others}"
    session = None
    try:
        session = Session(converted, optimised=True)
        trials = run_trials(session, case.turns())
    except DoesNotRun as error:
        notes = (note, f"nor the converted model: {error}")
        own = not (loads and session) and blames_changes(str(error), *map(_load, (original, converted)))
        found, why = compare_structures(original, converted, case.asked.sources)
        if found is not None and (found.outcome == "different" or not own):
            return replace(found, inputs=fed(refusal.feeds), notes=(*found.notes, *notes))
        if own:
            return Verification("fails", inputs=fed(refusal.feeds), notes=notes)
        told = (f"the nodes do not tell either: {why}", *notes)
        return Verification("undecided", inputs=fed(refusal.feeds), notes=told)
    return judge(original, converted, [trial.feeds for trial in trials], (note,), case.asked.sources)


def _load(path: Path) -> onnx.ModelProto:
    return onnx.load(path, load_external_data=False)


def check(
    converted: Path, optimised: bool, trials: Sequence[Trial], corrected: frozenset[str], tolerance: Tolerance
) -> Verification:
    """Compares the outputs of the converted model in ONNX Runtime with the original's."""
    try:
        return check_outputs(Session(converted, optimised), trials, tolerance, scales_of(_load(converted)), corrected)
    except DoesNotRun as error:
        return Verification(
            "fails", inputs=fed(trial.feeds for trial in trials), notes=(f"ONNX Runtime says: {error}",)
        )


def check_outputs(
    converted: Session | OtherRuntime,
    trials: Sequence[Trial],
    tolerance: Tolerance | None,
    scales: Mapping[str, float] = MappingProxyType({}),
    corrected: frozenset[str] = frozenset(),
) -> Verification:
    """Compares the converted model's outputs with the original's; without a tolerance, every bit counts.

    Raises:
        DoesNotRun: The converted model refuses inputs that the original took.
    """
    comparisons: dict[str, OutputComparison] = {}
    sameness: dict[str, Sameness] = defaultdict(Sameness)
    notes, far = [], set()
    for trial in trials:
        outputs = converted.run(trial.feeds)
        for name, value in trial.outputs.items():
            sameness[name].add(value)
            one = compare_output(name, value, outputs[name], name in trial.unstable)
            near = tolerance is not None and tolerance.takes(value, outputs[name], scales.get(name, 0.0))
            if not one.equal and not near:
                far.add(name)
            if name not in comparisons or comparisons[name].equal:
                comparisons[name] = one
    unstable = sorted(set().union(*(trial.unstable for trial in trials)))
    if unstable:
        changing = ", ".join(unstable)
        notes.append(f"{changing} of the original changes from run to run: only types and shapes are compared")
    equal = all(comparison.equal for comparison in comparisons.values())
    outcome: Outcome = "close" if not equal else "runs" if unstable else "equal"
    if far:
        outcome = "corrected" if far <= corrected else "different"
    if outcome == "close":
        parts = f", or of 1 for {', '.join(scales)}" if scales else ""
        notes.append(f"no element differs by more than {tolerance}{parts}")
    told = tuple(replace(one, weak=sameness[one.name].weak if one.equal else "") for one in comparisons.values())
    return Verification(outcome, told, fed(trial.feeds for trial in trials), tuple(notes))
