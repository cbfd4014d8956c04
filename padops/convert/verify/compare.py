"""Both models on the same inputs, in ONNX Runtime, compared bit by bit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx

from padops.convert.records import Outcome, OutputComparison, PadComparison, Verification
from padops.convert.sources import SOURCES, Source
from padops.convert.verify.bits import compare_output, describe_difference, within
from padops.convert.verify.draws import random_inputs
from padops.convert.verify.exercise import Sameness, Scout
from padops.convert.verify.feeds import Input, fit_inputs
from padops.convert.verify.hints import Hints, hints_of
from padops.convert.verify.inside import compare_inside
from padops.convert.verify.pads import watched_pads
from padops.convert.verify.reference import blames_changes, judge
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Peer, Session, fed

# Of the largest element of an output of floats: what two runtimes may differ by in whole networks. In those of the tests
# they differ by less than a tenth of it, and where a layer is converted wrongly, by thousands of times as much.
TOLERANCE = 1e-4

TURNS = 4  # sets of random inputs; sizes, lengths, branches, single bools and special values differ between them
MOST_TURNS = 10  # where some Pads have not run by then, or padded nothing, or an output has always been the same
ENOUGH = 2  # draws to find the Pad with where the outputs differ
FEWEST_TURNS = 2  # however long they take
PATIENCE = 4  # seconds after which no further turn begins


@dataclass(frozen=True)
class Case:
    """What to feed both models with.

    Attributes:
        inputs: What they take.
        given: The caller's arrays, or None for random ones.
        seed: Of the random ones.
        hints: What is known of the inputs.
        corrected: The values that may differ, because the converted model corrects what the original gets wrong.
        asked: What counts as a Pad where the reference judges.
    """

    inputs: Sequence[Input]
    given: Mapping[str, np.ndarray] | None
    seed: int
    hints: Hints = field(default_factory=Hints)
    corrected: frozenset[str] = frozenset()
    asked: Sequence[Source] = SOURCES

    def turns(self, count: int = TURNS) -> list[Iterable[Feeds]]:
        """For each set of inputs, the attempts at it."""
        if self.given is not None:
            return [[fit_inputs(self.given, self.inputs)]]
        return [random_inputs(self.inputs, self.seed, turn, self.hints) for turn in range(count)]


@dataclass(frozen=True)
class Trial:
    """One set of inputs that a model took, and what it gave; ``unstable`` outputs differ from run to run."""

    feeds: Feeds
    outputs: Outputs
    unstable: frozenset[str]


def compare(original: Path, converted: Path, case: Case) -> Verification:
    """Runs the original with ONNX Runtime as it is and the converted model with padops, and compares every bit.

    Where the outputs differ with graph optimisation on, they are compared once more without it: fusing a Pad into the
    Conv behind it, which the converted model does not offer, lets ONNX Runtime choose another algorithm for the Conv,
    and sums of another order. Without optimisation both models run node by node as they are written.

    Then what each Pad gives is compared, as an output of both models. That is done without optimisation, since an output
    in the midst of a graph keeps ONNX Runtime from fusing what is around it.

    Args:
        original: A model file.
        converted: A model file.
        case: What to feed them with.

    Raises:
        UsageError: The given inputs are not those of the model.
    """
    messages = [_load(path) for path in (original, converted)]
    pads = watched_pads(*messages)
    case = replace(case, hints=hints_of(messages[0], case.hints.special))
    try:
        session = Session(original, optimised=True)
    except DoesNotRun as error:
        return _without_original(original, converted, case, str(error), loads=False)
    scout = Scout(original, messages[0], pads)
    try:
        trials = _draw(session, scout, case)
    except DoesNotRun as error:
        return _without_original(original, converted, case, str(error), loads=True)
    verification = _compare_outputs(original, converted, case, trials)
    if verification.outcome == "fails":
        return verification
    scout.close()
    del session
    feeds = [trial.feeds for trial in trials]
    if verification.outcome == "different":  # that is decided; a few draws tell which Pad it is
        feeds = feeds[:ENOUGH]
    compared = compare_inside((original, messages[0]), (converted, messages[1]), pads, scout.reached, feeds)
    return _with_pads(verification, compared, case.corrected)


def _draw(session: Session, scout: Scout, case: Case) -> list[Trial]:
    """Runs the original on a set of inputs for each turn; on more of them where some Pads are not reached.

    Raises:
        DoesNotRun: It takes none at all.
    """
    begin, trials = time.monotonic(), _trials(session, case.turns()[:1])
    seen = {name: Sameness() for name in trials[0].outputs}
    _look(trials[0], scout, seen)
    for turn, attempts in enumerate(case.turns(MOST_TURNS)[1:], 1):
        enough = turn >= TURNS and scout.satisfied and not any(one.weak for one in seen.values())
        if enough or (turn >= FEWEST_TURNS and time.monotonic() - begin > PATIENCE):
            break
        try:
            (trial,) = _trials(session, [attempts])
        except DoesNotRun:
            continue
        if _look(trial, scout, seen) or turn < TURNS:
            trials.append(trial)
    return trials


def _look(trial: Trial, scout: Scout, seen: Mapping[str, Sameness]) -> bool:
    """Takes note of what a trial has shown; whether that is anything new."""
    weak = [one.weak for one in seen.values()]
    for name, value in trial.outputs.items():
        seen[name].add(value)
    return scout.look(trial.feeds) or weak != [one.weak for one in seen.values()]


def _compare_outputs(original: Path, converted: Path, case: Case, trials: Sequence[Trial]) -> Verification:
    """Compares the outputs of both models as they are, or where these differ, without graph optimisation."""
    verification = _check(converted, True, trials, case.corrected)
    if verification.outcome != "different":
        return verification
    try:
        plain = _trials(Session(original, optimised=False), [[trial.feeds] for trial in trials])
    except DoesNotRun as error:
        note = f"without graph optimisation, ONNX Runtime does not run the original: {error}"
        return replace(verification, notes=(*verification.notes, note))
    again = _check(converted, False, plain, case.corrected)
    if again.outcome not in ("equal", "corrected"):
        return verification
    differing = "; ".join(f"{output.name}: {output.detail}" for output in verification.outputs if not output.equal)
    note = f"without graph optimisation; with it, ONNX Runtime optimises the two graphs differently ({differing})"
    return replace(again, notes=(*again.notes, note))


def _with_pads(verification: Verification, pads: Sequence[PadComparison], corrected: frozenset[str]) -> Verification:
    """A verification of outputs, and what the comparison of the Pads adds to it."""
    differing = [pad for pad in pads if not pad.equal]
    outcome = verification.outcome
    if any(not set(pad.compared) <= corrected for pad in differing):
        outcome = "different"
    elif differing and outcome == "equal":
        outcome = "corrected"
    return replace(verification, outcome=outcome, pads=tuple(pads))


def _without_original(original: Path, converted: Path, case: Case, refusal: str, loads: bool) -> Verification:
    """Checks a converted model whose original ONNX Runtime does not load, or runs on none of the inputs."""
    note = f"ONNX Runtime does not run the original: {refusal}"
    session = None
    try:
        session = Session(converted, optimised=True)
        trials = _trials(session, case.turns())
    except DoesNotRun as error:
        own = not (loads and session) and blames_changes(str(error), *map(_load, (original, converted)))
        return Verification("fails" if own else "undecided", notes=(note, f"nor the converted model: {error}"))
    return judge(original, converted, [trial.feeds for trial in trials], (note,), case.asked)


def _load(path: Path) -> onnx.ModelProto:
    return onnx.load(path, load_external_data=False)


def compare_with(runtime: str, run: Callable[[Feeds], Outputs], converted: Path, case: Case) -> Verification:
    """Compares the converted model with what another runtime makes of an original that ONNX Runtime cannot read.

    Args:
        runtime: Its name.
        run: Runs the original; raises whatever it likes where that fails.
        converted: A model file.
        case: What to feed them with.
    """
    try:  # on what the converted model takes: other runtimes give something even where the rules are broken
        taken = _trials(Session(converted, optimised=True), case.turns())
    except DoesNotRun as error:
        return Verification("fails", notes=(f"ONNX Runtime says: {error}",))
    try:
        trials = _trials(Peer(run), [[trial.feeds] for trial in taken])
    except DoesNotRun as error:
        note = f"{runtime} does not run the original: {error}"
        return judge(None, converted, [trial.feeds for trial in taken], (note,))
    verification = _check(converted, True, trials, case.corrected, TOLERANCE)
    return replace(verification, notes=(f"the original ran in {runtime}", *verification.notes))


def _trials(session: Session | Peer, turns: Iterable[Iterable[Feeds]]) -> list[Trial]:
    """Runs a model on the first attempt of each turn that it takes, the very first twice; DoesNotRun if it takes none."""
    trials: list[Trial] = []
    refusal = "there is nothing to feed it with"
    unstable: frozenset[str] = frozenset()
    for attempts in turns:
        for feeds in attempts:
            try:
                outputs = session.run(feeds)
            except DoesNotRun as error:
                refusal = str(error)
                continue
            if not trials:
                again = session.run(feeds)
                unstable = frozenset(name for name in outputs if describe_difference(outputs[name], again[name]))
            trials.append(Trial(feeds, outputs, unstable))
            break
    if not trials:
        raise DoesNotRun(refusal)
    return trials


def _check(
    converted: Path, optimised: bool, trials: Sequence[Trial], corrected: frozenset[str], tolerance: float = 0
) -> Verification:
    """Compares the converted model with what the original gave."""
    comparisons: dict[str, OutputComparison] = {}
    sameness: dict[str, Sameness] = {}
    notes, far = [], set()
    try:
        session = Session(converted, optimised)
        for trial in trials:
            outputs = session.run(trial.feeds)
            for name, value in trial.outputs.items():
                sameness.setdefault(name, Sameness()).add(value)
                one = OutputComparison(name, False, "the converted model has no such output")
                if name in outputs:
                    one = compare_output(name, value, outputs[name], name in trial.unstable)
                if not one.equal and not (name in outputs and within(tolerance, value, outputs[name])):
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
            f"the original differs from itself from run to run in {', '.join(unstable)}: only types and shapes compared"
        )
    equal = all(comparison.equal for comparison in comparisons.values())
    outcome: Outcome = "close" if not equal else "runs" if unstable else "equal"
    if far:
        outcome = "corrected" if far <= corrected else "different"
    if outcome == "close":
        notes.append(f"no element differs by more than {tolerance:g} of the largest one of its output")
    told = tuple(replace(one, weak=sameness[one.name].weak if one.equal else "") for one in comparisons.values())
    return Verification(outcome, told, fed(trial.feeds for trial in trials), tuple(notes))
