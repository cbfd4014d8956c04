"""Both models on the same inputs, in ONNX Runtime, compared bit by bit.

The only file of the converter that imports onnxruntime, and only where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.records import Outcome, OutputComparison, Verification
from padops.convert.verify.bits import Value, compare_output, describe_difference, within
from padops.convert.verify.expected import expected_outputs
from padops.convert.verify.feeds import Input, fit_inputs, random_inputs
from padops.runtime import pyop
from padops.runtime.ort_values import run_session
from padops.spec.bits import dtype_of
from padops.spec.dialects import DOMAIN
from padops.spec.plan import PadError

if TYPE_CHECKING:
    import onnxruntime

EXTENSIONS = {"ai.onnx.contrib", "com.microsoft.extensions"}  # the domains of onnxruntime-extensions
# Of the largest element of an output of floats: what two runtimes may differ by in whole networks. In those of the tests
# they differ by less than a tenth of it, and where a layer is converted wrongly, by thousands of times as much.
TOLERANCE = 1e-4

TURNS = 2  # sets of random inputs; branches and single bools differ between them

Feeds = dict[str, np.ndarray]
Outputs = dict[str, Value]


@dataclass(frozen=True)
class Case:
    """What to feed both models with.

    Attributes:
        inputs: What they take.
        given: The caller's arrays, or None for random ones.
        seed: Of the random ones.
        special: See ``feeds.special_values``.
        corrected: The outputs that may differ, because the converted model corrects what the original gets wrong.
    """

    inputs: Sequence[Input]
    given: Mapping[str, np.ndarray] | None
    seed: int
    special: Mapping[str, Sequence[int]]
    corrected: frozenset[str] = frozenset()

    def turns(self) -> list[Iterable[Feeds]]:
        """For each set of inputs, the attempts at it."""
        if self.given is not None:
            return [[fit_inputs(self.given, self.inputs)]]
        return [random_inputs(self.inputs, self.seed, turn, self.special) for turn in range(TURNS)]


@dataclass(frozen=True)
class Trial:
    """One set of inputs that a model took, and what it gave; ``unstable`` outputs differ from run to run."""

    feeds: Feeds
    outputs: Outputs
    unstable: frozenset[str]


class _DoesNotRun(Exception):
    """ONNX Runtime refuses a model, or runs it on none of the inputs."""


class _Session:
    """A model in ONNX Runtime, on the CPU."""

    def __init__(self, path: Path, optimised: bool) -> None:
        if any(0xDC80 <= ord(character) <= 0xDCFF for character in str(path)):  # what Python has for other bytes
            raise PadopsError(f"cannot verify {str(path)!a}: ONNX Runtime opens no file whose name is not UTF-8")
        try:
            import onnxruntime
        except ImportError as error:
            raise PadopsError(f"cannot verify without onnxruntime: {error}") from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what catches an error says it
        _register(options, _domains(path))
        if not optimised:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            raise _DoesNotRun(_one_line(error)) from error
        self._quiet = onnxruntime.RunOptions()
        self._quiet.log_severity_level = 4

    def run(self, feeds: Feeds) -> Outputs:
        """The outputs by name; raises _DoesNotRun with what ONNX Runtime or a Python kernel says."""
        with pyop.collected() as failed:
            outputs = self._run(feeds)
        if failed:
            raise _DoesNotRun(failed[0].message)
        return outputs

    def _run(self, feeds: Feeds) -> Outputs:
        names = [output.name for output in self._session.get_outputs()]
        try:
            return dict(zip(names, run_session(self._session, feeds, names, self._quiet), strict=True))
        except Exception as error:  # as above
            raise _DoesNotRun(_one_line(error)) from error


def _domains(path: Path) -> set[str]:
    """The domains of operators that a model imports."""
    return {row.domain for row in onnx.load(path, load_external_data=False).opset_import}


def _register(options: onnxruntime.SessionOptions, domains: set[str]) -> None:
    """Adds the libraries that have these domains, as far as this package knows them."""
    from padops.runtime.session import register

    try:
        if DOMAIN in domains:
            register(options)
        if pyop.DOMAIN in domains:
            register(options, backend="pyop")  # which brings onnxruntime-extensions along
        elif domains & EXTENSIONS:
            from padops.runtime.pyop import extensions_library as get_library_path

            options.register_custom_ops_library(get_library_path())
    except (FileNotFoundError, ImportError, RuntimeError) as error:
        raise PadopsError(f"cannot verify: {error}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def compare(original: Path, converted: Path, case: Case) -> Verification:
    """Runs the original with ONNX Runtime as it is and the converted model with padops, and compares every bit.

    Where the outputs differ with graph optimisation on, they are compared once more without it: fusing a Pad into the
    Conv behind it, which the converted model does not offer, lets ONNX Runtime choose another algorithm for the Conv,
    and sums of another order. Without optimisation both models run node by node as they are written.

    Args:
        original: A model file.
        converted: A model file.
        case: What to feed them with.

    Raises:
        UsageError: The given inputs are not those of the model.
    """
    try:
        trials = _trials(_Session(original, optimised=True), case.turns())
    except _DoesNotRun as error:
        return _without_original(converted, case, str(error))
    verification = _check(converted, True, trials, case.corrected)
    if verification.outcome != "different":
        return verification
    try:
        plain = _trials(_Session(original, optimised=False), [[trial.feeds] for trial in trials])
    except _DoesNotRun as error:
        note = f"without graph optimisation, ONNX Runtime does not run the original: {error}"
        return replace(verification, notes=(*verification.notes, note))
    again = _check(converted, False, plain, case.corrected)
    if again.outcome not in ("equal", "corrected"):
        return verification
    differing = "; ".join(f"{output.name}: {output.detail}" for output in verification.outputs if not output.equal)
    note = f"without graph optimisation; with it, ONNX Runtime optimises the two graphs differently ({differing})"
    return replace(again, notes=(*again.notes, note))


def compare_with(runtime: str, run: Callable[[Feeds], Outputs], converted: Path, case: Case) -> Verification:
    """Compares the converted model with what another runtime makes of an original that ONNX Runtime cannot read.

    Args:
        runtime: Its name.
        run: Runs the original; raises whatever it likes where that fails.
        converted: A model file.
        case: What to feed them with.
    """
    try:  # on what the converted model takes: other runtimes give something even where the rules are broken
        taken = _trials(_Session(converted, optimised=True), case.turns())
    except _DoesNotRun as error:
        return Verification("fails", notes=(f"ONNX Runtime says: {error}",))
    try:
        trials = _trials(_Peer(run), [[trial.feeds] for trial in taken])
    except _DoesNotRun as error:
        return _without_original(converted, case, str(error), runtime)
    verification = _check(converted, True, trials, case.corrected, TOLERANCE)
    return replace(verification, notes=(f"the original ran in {runtime}", *verification.notes))


class _Peer:
    """Another runtime as a session."""

    def __init__(self, run: Callable[[Feeds], Outputs]) -> None:
        self._run = run

    def run(self, feeds: Feeds) -> Outputs:
        try:
            return self._run(feeds)
        except Exception as error:  # of a runtime of which nothing is known here
            raise _DoesNotRun(_one_line(error)) from error


def _trials(session: _Session | _Peer, turns: Iterable[Iterable[Feeds]]) -> list[Trial]:
    """Runs a model twice on the first attempt of each turn that it takes.

    Raises:
        _DoesNotRun: It takes none at all.
    """
    trials, refusal = [], "there is nothing to feed it with"
    for attempts in turns:
        for feeds in attempts:
            try:
                outputs = session.run(feeds)
            except _DoesNotRun as error:
                refusal = str(error)
                continue
            again = session.run(feeds)
            unstable = frozenset(name for name in outputs if describe_difference(outputs[name], again[name]))
            trials.append(Trial(feeds, outputs, unstable))
            break
    if not trials:
        raise _DoesNotRun(refusal)
    return trials


def _check(
    converted: Path, optimised: bool, trials: Sequence[Trial], corrected: frozenset[str], tolerance: float = 0
) -> Verification:
    """Compares the converted model with what the original gave."""
    comparisons: dict[str, OutputComparison] = {}
    notes, far = [], set()
    try:
        session = _Session(converted, optimised)
        for trial in trials:
            outputs = session.run(trial.feeds)
            for name, value in trial.outputs.items():
                one = compare_output(name, value, outputs[name], name in trial.unstable)
                if not one.equal and not within(tolerance, value, outputs[name]):
                    far.add(name)
                if name not in comparisons or comparisons[name].equal:
                    comparisons[name] = one
    except _DoesNotRun as error:
        return Verification("fails", inputs=_fed(trials), notes=(f"ONNX Runtime says: {error}",))
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
    return Verification(outcome, tuple(comparisons.values()), _fed(trials), tuple(notes))


def _without_original(converted: Path, case: Case, refusal: str, runtime: str = "ONNX Runtime") -> Verification:
    """Checks a converted model whose original does not run; one of Pads alone, against the reference."""
    notes = [f"{runtime} does not run the original: {refusal}"]
    try:
        trials = _trials(_Session(converted, optimised=True), case.turns())
    except _DoesNotRun as error:
        return Verification("fails", notes=(*notes, f"nor the converted model: {error}"))
    message = onnx.load(converted, load_external_data=False)
    comparisons: dict[str, OutputComparison] = {}
    for trial in trials:
        try:
            expected = expected_outputs(message, trial.feeds)
        except PadError as error:
            return Verification("fails", (), _fed(trials), (*notes, f"the reference refuses what it runs: {error}"))
        if expected is None:
            notes.append("the converted model runs; there is nothing to compare its outputs with")
            return Verification("runs", (), _fed(trials), tuple(notes))
        for name, value in expected.items():
            detail = describe_difference(value, trial.outputs[name])
            if name not in comparisons or comparisons[name].equal:
                comparisons[name] = OutputComparison(name, not detail, detail)
    notes.append("the converted model was compared with the NumPy reference")
    equal = all(comparison.equal for comparison in comparisons.values())
    return Verification("equal" if equal else "different", tuple(comparisons.values()), _fed(trials), tuple(notes))


def _fed(trials: Sequence[Trial]) -> tuple[str, ...]:
    """What the models were fed with, for the report."""
    texts = []
    for trial in trials:
        parts = (f"{name}: {dtype_of(array).name}{list(array.shape)}" for name, array in trial.feeds.items())
        texts.append(", ".join(parts))
    return tuple(texts)
