"""Runs both models in ONNX Runtime on the same inputs and compares them bit by bit."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx

from padops.convert.records import WITHOUT_OPTIMISATION, Outcome, OutputComparison, PadComparison, Verification
from padops.convert.sources import SOURCES, Source
from padops.convert.verify.bits import Tolerance, compare_output
from padops.convert.verify.draws import random_inputs
from padops.convert.verify.exercise import Sameness, Scout
from padops.convert.verify.feeds import Input, fit_inputs
from padops.convert.verify.hints import Hints, hints_of
from padops.convert.verify.inside import compare_inside
from padops.convert.verify.other_runtime import PadRuns, check_finite, compare_pads, telling
from padops.convert.verify.pads import watched_pads
from padops.convert.verify.part_inputs import sizing_inputs
from padops.convert.verify.reference import judge
from padops.convert.verify.rounding import scales_of, settle, tolerance_of
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Peer, Session, fed
from padops.convert.verify.structure import blames_changes
from padops.convert.verify.trials import Trial, run_trials
from padops.convert.verify.unrun import compare_structures

TURNS = 4  # sets of random inputs; sizes, lengths, branches, single bools and special values differ between them
MOST_TURNS = 10  # sets if some Pads have not run or padded nothing, or an output has never changed
ENOUGH = 2  # sets on which the Pad behind a difference is searched
FEWEST_TURNS = 2  # sets that run however long they take
PATIENCE = 4  # seconds; then no further set runs

CORRECTED = "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong"
BROKEN = "without graph optimisation the outputs are the same; with it, ONNX Runtime gets the converted model wrong"
OPTIMISED = "optimising the original changes what it gives"


@dataclass(frozen=True)
class Case:
    """The inputs and options of a run of both models.

    Attributes:
        inputs: The models' inputs.
        given: The caller's arrays; None for random ones.
        seed: The seed of random inputs.
        hints: The hints for random inputs.
        corrected: The values that may differ, because the converted model corrects an error of the original.
        asked: The matchers that tell which nodes are Pads, for the reference.
        doubted: The values behind Pads that this ONNX Runtime gets wrong, or may, each with the reason.
        rtol: See ``Tolerance``.
        atol: See ``Tolerance``.
    """

    inputs: Sequence[Input]
    given: Mapping[str, np.ndarray] | None
    seed: int
    hints: Hints = field(default_factory=Hints)
    corrected: frozenset[str] = frozenset()
    asked: Sequence[Source] = SOURCES
    doubted: Mapping[str, str] = field(default_factory=dict)
    rtol: float | None = None
    atol: float | None = None

    def turns(self, count: int = TURNS) -> list[Iterable[Feeds]]:
        """For each set of inputs, the attempts at it, of which the first that the model takes counts."""
        if self.given is not None:
            return [[fit_inputs(self.given, self.inputs)]]
        return [random_inputs(self.inputs, self.seed, turn, self.hints) for turn in range(count)]


def compare(original: Path, converted: Path, case: Case) -> Verification:
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
    tolerance = tolerance_of(messages[0], case.rtol, case.atol)
    verification = _compare_outputs(original, converted, case, trials, tolerance)
    if verification.outcome == "fails":
        return verification
    scout.close()
    del session
    feeds = [trial.feeds for trial in trials]
    if verification.outcome in ("different", "close"):  # a few sets tell whether a Pad is the reason
        feeds = feeds[:ENOUGH]
    compared = compare_inside((original, messages[0]), (converted, messages[1]), pads, scout.reached, feeds)
    verification = _with_pads(verification, compared, case.corrected)
    if verification.outcome not in ("different", "close") or BROKEN in verification.notes:
        return verification
    return settle(verification, (original, converted), feeds[:ENOUGH], case.asked, tolerance, case.doubted)


def _draw(session: Session, scout: Scout, case: Case) -> list[Trial]:
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
    original: Path, converted: Path, case: Case, trials: Sequence[Trial], tolerance: Tolerance
) -> Verification:
    """Compares the outputs of both models; if they differ, again without graph optimisation."""
    verification = _check(converted, True, trials, case.corrected, tolerance)
    if verification.outcome not in ("different", "close"):
        return verification
    try:
        plain = run_trials(Session(original, optimised=False), [[trial.feeds] for trial in trials])
    except DoesNotRun as error:
        note = f"without graph optimisation, ONNX Runtime does not run the original: {error}"
        return replace(verification, notes=(*verification.notes, note))
    again = _check(converted, False, plain, case.corrected, tolerance)
    if again.outcome not in ("equal", "corrected"):
        return verification
    differing = [output for output in verification.outputs if not output.equal]
    if verification.outcome == "close":
        told = "; ".join(f"{output.name}: {output.detail}" for output in differing)
        note = f"{WITHOUT_OPTIMISATION} ONNX Runtime optimises the two graphs differently ({told})"
        return replace(again, notes=(*again.notes, note))
    if _check(converted, True, plain, case.corrected, tolerance).refuted:
        return replace(verification, notes=(*verification.notes, BROKEN))
    notes = [f"{output.name} will change: {case.doubted.get(output.name, OPTIMISED)}" for output in differing]
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


def _without_original(original: Path, converted: Path, case: Case, refusal: DoesNotRun, loads: bool) -> Verification:
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
        found, why = compare_structures(original, converted, case.asked)
        if found is not None and (found.outcome == "different" or not own):
            return replace(found, inputs=fed(refusal.feeds), notes=(*found.notes, *notes))
        if own:
            return Verification("fails", inputs=fed(refusal.feeds), notes=notes)
        told = (f"the nodes do not tell either: {why}", *notes)
        return Verification("undecided", inputs=fed(refusal.feeds), notes=told)
    return judge(original, converted, [trial.feeds for trial in trials], (note,), case.asked)


def _load(path: Path) -> onnx.ModelProto:
    return onnx.load(path, load_external_data=False)


def compare_with(
    runtime: str,
    run: Callable[[Feeds], Outputs],
    run_pads: Callable[[Feeds], PadRuns],
    converted: Path,
    case: Case,
) -> Verification:
    """Compares the converted model with an original that only another runtime reads.

    ``run_pads`` returns the inputs and the output of each Pad of the original, and raises a RuntimeError if that fails.
    """
    try:  # inputs that the converted model takes: other runtimes give results even if rules are broken
        taken = run_trials(Session(converted, optimised=True), case.turns())
    except DoesNotRun as error:
        return Verification("fails", notes=(f"ONNX Runtime says: {error}",))
    try:
        trials = run_trials(Peer(run), [[trial.feeds] for trial in taken])
    except DoesNotRun as error:
        note = f"{runtime} does not run the original: {error}"
        return judge(None, converted, [trial.feeds for trial in taken], (note,))
    tolerance = tolerance_of(_load(converted), case.rtol, case.atol)
    verification = check_finite(lambda some: _check(converted, True, some, case.corrected, tolerance), trials, runtime)
    verification = replace(verification, notes=(f"the original ran in {runtime}", *verification.notes))
    feeds = telling(trials, ENOUGH)
    if verification.outcome in ("different", "close"):
        verification = settle(verification, (None, converted), feeds, case.asked, tolerance, case.doubted)
    return compare_pads(verification, converted, run_pads, feeds, case.asked, runtime)


def _check(
    converted: Path, optimised: bool, trials: Sequence[Trial], corrected: frozenset[str], tolerance: Tolerance
) -> Verification:
    """Compares the converted model's outputs with the original's."""
    comparisons: dict[str, OutputComparison] = {}
    sameness: dict[str, Sameness] = {}
    notes, far = [], set()
    try:
        session, least = Session(converted, optimised), scales_of(_load(converted))
        for trial in trials:
            outputs = session.run(trial.feeds)
            for name, value in trial.outputs.items():
                sameness.setdefault(name, Sameness()).add(value)
                one = compare_output(name, value, outputs[name], name in trial.unstable)
                if not one.equal and not tolerance.takes(value, outputs[name], least.get(name, 0.0)):
                    far.add(name)
                if name not in comparisons or comparisons[name].equal:
                    comparisons[name] = one
    except DoesNotRun as error:
        return Verification(
            "fails", inputs=fed(trial.feeds for trial in trials), notes=(f"ONNX Runtime says: {error}",)
        )
    unstable = sorted(set().union(*(trial.unstable for trial in trials)))
    if unstable:
        notes.append(
            f"{', '.join(unstable)} of the original changes from run to run: only types and shapes are compared"
        )
    equal = all(comparison.equal for comparison in comparisons.values())
    outcome: Outcome = "close" if not equal else "runs" if unstable else "equal"
    if far:
        outcome = "corrected" if far <= corrected else "different"
    if outcome == "close":
        parts = f", or of 1 for {', '.join(least)}" if least else ""
        notes.append(f"no element differs by more than {tolerance}{parts}")
    told = tuple(replace(one, weak=sameness[one.name].weak if one.equal else "") for one in comparisons.values())
    return Verification(outcome, told, fed(trial.feeds for trial in trials), tuple(notes))
