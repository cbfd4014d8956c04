"""Runs both models in ONNX Runtime on the same inputs and compares their outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from padops.convert.inputs.given import Feeds
from padops.convert.inputs.pads import computes_floats, hints_of
from padops.convert.inputs.random_inputs import unlike
from padops.convert.records import WITHOUT_OPTIMISATION, Outcome, Verification
from padops.convert.verify.bits import Tolerance, compare_output
from padops.convert.verify.exercise import Scout, check_outputs, weak
from padops.convert.verify.interface import TURNS, RunInputs
from padops.convert.verify.pad_terms import mirrored
from padops.convert.verify.rounding import Moves
from padops.convert.verify.schemas import is_fallback
from padops.convert.verify.sessions import DoesNotRun, Model, NoMemory, Session, Trial, fed, run_trials
from padops.convert.verify.small_runs import small_runs

MOST_TURNS = 10  # sets of inputs while a Pad has not run or padded nothing, or an output has never changed
PROVED_TURNS = 2  # sets of inputs after a proof; 1 for large models
MOST_INLINED = 20_000  # most nodes that fallback functions add to a session without padops
OPTIMISED = "optimising the original changes what it gives"
CORRECTED = "without graph optimisation the outputs are bit-equal; with it, ONNX Runtime gets the original wrong"
BROKEN = "without graph optimisation the outputs are the same; with it, ONNX Runtime gets the converted model wrong"
MEASURED = "no element differs by more than the original's own floats move"
# ONNX Runtime accepts some inputs that break a rule, such as more amounts than axes; padops refuses them.
RULE = re.compile(r"padops::\w+ .*\[(P\d+|S1)\]")
MIRRORED = "ONNX Runtime refuses the original ({}); padops' operators stand in for its Pads"
NEVER_OPTIMISED = "ONNX Runtime runs the original only without graph optimisation; with it, the run fails: {}"
LEFT_OUT = "the converted model did not run on {} of {} sets of inputs: there is no memory for them"
WITHOUT = "in a session without padops, which runs its fallback functions"


def compare(first: Model, second: Model, case: RunInputs) -> Verification:
    """Runs the original in plain ONNX Runtime and the converted model with padops, and compares their outputs.

    If outputs differ, both models also run without graph optimisation, since ONNX Runtime may get one graph wrong or
    fuse one differently. Then the tolerance measured on the original decides (``rounding.py``).

    Raises:
        UsageError: The given inputs do not match the model's.
    """
    case = replace(case, hints=hints_of(first.message))
    notes: tuple[str, ...] = ()
    try:
        session = first.session(True)
    except DoesNotRun as error:
        refusal, first = error, replace(first, instead=mirrored(first.message))
        notes = (MIRRORED.format(refusal),)
        try:
            session = first.session(True)
        except DoesNotRun:
            return _Comparison(first, second, case).without_original(refusal, loads=False)
    models = _Comparison(first, second, case)
    scout = Scout(first)
    try:
        trials = _draw(session, scout, first, case)
    except DoesNotRun as error:
        try:
            trials, notes = _draw(first.session(False), scout, first, case), (*notes, NEVER_OPTIMISED.format(error))
        except DoesNotRun:
            return models.without_original(error, loads=first.instead is None)
    del session
    verification = models.outcome(trials)
    pads = () if case.proved else scout.records()
    return replace(verification, notes=(*notes, *verification.notes), pads=pads)


def _draw(session: Session, scout: Scout, model: Model, case: RunInputs) -> list[Trial]:
    """Runs the original on sets of inputs, and on more if they do not exercise all Pads; or raises its refusal."""
    refusal = DoesNotRun("there is nothing to feed it with")
    trials: list[Trial] = []
    shown: list[Iterable[Feeds]] = [[one] for one in case.first]
    proved_turns, is_stable = 1 if model.is_large else PROVED_TURNS, model.is_stable
    first = len(shown) + (proved_turns if case.proved else TURNS)
    turns = case.turns(proved_turns if case.proved else MOST_TURNS)
    turns = [*turns, *shown] if case.given is not None else [*shown, *turns]
    for turn, attempts in enumerate(turns):
        if turn >= first and (not trials or (scout.satisfied and not _any_weak(trials))):
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


def _any_weak(trials: Sequence[Trial]) -> bool:
    return any(weak(trial.outputs[name] for trial in trials) for name in trials[0].outputs)


@dataclass(frozen=True)
class _Comparison:
    """Two models, the first of which runs, and the inputs."""

    original: Model
    converted: Model
    case: RunInputs

    def outcome(self, trials: Sequence[Trial]) -> Verification:
        """Compares the models on the original's trials; if ONNX Runtime refuses both, padops' operators stand in."""
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
        except DoesNotRun:  # for another reason
            return told
        return replace(verification, outcome="same") if case.is_proved and not verification.refuted else verification

    def _compared(self, trials: Sequence[Trial]) -> Verification:
        case, drawn = self.case, len(trials)
        with case.risks.blame():
            trials = self.converted.session(True).within_memory(trials)
        verification = check_outputs(trials)
        if len(trials) < drawn:
            left_out = LEFT_OUT.format(drawn - len(trials), drawn)
            verification = replace(verification, notes=(*verification.notes, left_out))
        if verification.outcome == "different":
            verification = self._explained(trials, verification)
        if not case.is_proved and not verification.refuted and case.given is None:
            try:
                small = small_runs(self.original, self.converted, case)
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
            note = f"without graph optimisation, ONNX Runtime does not run the original: {error}"
            verification, plain = replace(verification, notes=(*verification.notes, note)), []
        with case.risks.blame():
            session = converted.session(False)
            bare = [trial.then(session) for trial in plain or trials]
        again = check_outputs(bare) if plain else verification
        moves = None
        if tolerance is None and not (case.hints.moves and not computes_floats(converted.message)):
            moves = Moves(original.path, original.instead or original.message, trials, [one.outputs for one in plain])
        equal = bool(plain) and again.outcome not in ("different", "close")
        levels = not equal or (case.proved and original.is_large)
        far = far_outputs(trials, moves, tolerance, levels)
        as_written = far_outputs(bare, moves, tolerance) if far and plain and not equal else set()
        if far and plain and not as_written:
            if far_outputs(plain, moves, tolerance, levels):
                return replace(verification, outcome="different", notes=(*verification.notes, BROKEN))
            notes = [CORRECTED, *(self._will_change(output.name) for output in differing)]
            return replace(verification, outcome="corrected", notes=(*again.notes, *notes))
        is_doubted = far <= case.corrected | case.asked.doubted.keys()
        if far and is_doubted and as_written <= case.corrected | case.asked.doubted_unoptimised.keys():
            notes = [self._will_change(name) for name in sorted(far)]
            return replace(verification, outcome="corrected", notes=(*verification.notes, *notes))
        if far:
            return replace(verification, outcome="different")
        if equal:
            told = "; ".join(f"{output.name}: {output.detail}" for output in differing)
            note = f"{WITHOUT_OPTIMISATION} ONNX Runtime optimises the two graphs differently ({told})"
            return replace(again, notes=(*again.notes, note))
        return close(verification, tolerance, MEASURED)

    def _will_change(self, name: str) -> str:
        return f"{name} will change: {self.case.asked.doubted.get(name, OPTIMISED)}"

    def _without_library(self, trials: Sequence[Trial], verification: Verification) -> Verification:
        """Also runs the converted model in a session without padops, if it has fallback functions."""
        message = self.converted.message
        functions = {row.name: len(row.node) for row in message.functions if is_fallback(row)}
        inlined = sum(functions.get(node.op_type, 0) for node in message.graph.node if node.domain == "padops")
        if not functions:
            return verification
        if inlined > MOST_INLINED:
            note = f"a session without padops was not tried: its fallback functions have {inlined} nodes in all"
            return replace(verification, notes=(*verification.notes, note))
        stable = [replace(trial, outputs=trial.after) for trial in trials]
        needed: Sequence[Trial] = ()  # on which the original must run, too, for an error to be the converted model's
        has_own = any(map(is_fallback, self.original.message.functions))
        try:
            with nullcontext() if has_own else self.case.risks.blame():
                session = self.converted.session(True, library=False)
                needed = trials
                stable = session.within_memory(stable)
            found = check_outputs(stable)
        except DoesNotRun as error:
            is_fault = not isinstance(error, NoMemory) and _runs_alone(self.original, needed)
            notes = (*verification.notes, f"it does not run {WITHOUT}: {error}")
            return replace(verification, outcome="fails" if is_fault else verification.outcome, notes=notes)
        differing = [output for output in found.outputs if not output.equal]
        moves = Moves(self.converted.path, message, stable, [])
        if not differing or not far_outputs(stable, moves, self.case.asked.tolerance):
            return verification
        detail = f"{differing[0].name} is another {WITHOUT}: {differing[0].detail}"
        return replace(verification, outcome="different", outputs=found.outputs, notes=(*verification.notes, detail))

    def without_original(self, refusal: DoesNotRun, loads: bool) -> Verification:
        """Runs the converted model alone, because ONNX Runtime refuses the original or all its inputs."""
        case = self.case
        others = "; --inputs FILE.npz gives others" if loads and case.given is None else ""
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


def close(verification: Verification, tolerance: Tolerance | None, measured: str) -> Verification:
    """Outputs that differ by no more than the tolerance; ``measured`` names a tolerance that nobody has given."""
    said = measured if tolerance is None else f"no element differs by more than {tolerance}"
    return replace(verification, outcome="close", notes=(*verification.notes, said))


def far_outputs(
    trials: Sequence[Trial], moves: Moves | None, tolerance: Tolerance | None, levels: bool = True
) -> set[str]:
    """The outputs that differ by more than the tolerance."""
    found = set()
    for at, trial in enumerate(trials):
        for name, value in trial.outputs.items():
            after = trial.after[name]
            if name in trial.unstable or compare_output(name, value, after, False).equal:
                continue
            is_near = moves is not None and moves.takes(at, name, value, after, levels)
            if not is_near and not (tolerance is not None and tolerance.takes(value, after)):
                found.add(name)
    return found


def _runs_alone(model: Model, trials: Sequence[Trial]) -> bool:
    """Whether a session without padops loads a model and runs it on the inputs."""
    try:
        model.session(True, library=False).within_memory(trials)
    except DoesNotRun:
        return False
    return True
