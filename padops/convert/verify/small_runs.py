"""Runs of small models on many small inputs."""

from __future__ import annotations

import numpy as np

from padops.convert.inputs.given import Feeds, optional_inputs
from padops.convert.inputs.pads import Hints, computes_floats, sizing_inputs
from padops.convert.inputs.random_inputs import many_inputs, marks_of
from padops.convert.verify.bits import Value, describe_difference
from padops.convert.verify.interface import RunInputs
from padops.convert.verify.sessions import DoesNotRun, Model, NoMemory, Trial, run_trials

MANY, SMALL, ELEMENTS = 500, 1 << 24, 1 << 23  # most inputs; bytes of the models times inputs; elements of outputs
SHOWN = 4  # differing inputs that are kept


def small_runs(original: Model, converted: Model, case: RunInputs) -> list[Trial]:
    """Runs both models, without graph optimisation, on many small inputs; returns the first that differ.

    Raises:
        DoesNotRun: Only the original takes some inputs, which the error has.
    """
    models, elements = (original.message, converted.message), 0
    hints, risks = case.hints, case.risks
    trials: list[Trial] = []
    if risks.are_many:
        return trials
    count = min(MANY, SMALL // max(sum(one.path.stat().st_size for one in (original, converted)), 1))
    try:
        sessions = [original.session(False), converted.session(False)]
    except DoesNotRun:
        return trials
    sizing = sizing_inputs(models[0]) | sizing_inputs(models[1])
    moves = hints.moves and not computes_floats(models[1])
    inputs = [*case.inputs, *optional_inputs(models[0])]
    for feeds in many_inputs(inputs, marks_of(*models), sizing, moves, case.asked.seed, count):
        if _repeats_an_axis(feeds, hints):
            continue
        try:
            (trial,) = run_trials(sessions[0], [[feeds]], original.is_stable, risks)
        except DoesNotRun:
            continue
        if not moves and not all(_is_finite(value) for value in trial.outputs.values()):
            continue
        try:
            with risks.blame():
                trial = trial.then(sessions[1])
        except NoMemory:
            continue
        except DoesNotRun as error:
            raise DoesNotRun(f"without graph optimisation, ONNX Runtime says: {error}", (feeds,)) from error
        names = trial.outputs.keys() - trial.unstable
        if any(describe_difference(trial.outputs[name], trial.after[name]) for name in names):
            trials.append(trial)
        elements += sum(value.size for value in trial.after.values() if isinstance(value, np.ndarray))
        if len(trials) == SHOWN or elements > ELEMENTS:
            break
    return trials


def _is_finite(value: Value) -> bool:
    return not isinstance(value, np.ndarray) or value.dtype.kind != "f" or bool(np.isfinite(value).all())


def _repeats_an_axis(feeds: Feeds, hints: Hints) -> bool:
    """Whether inputs list an axis of a Pad twice: padops refuses that (P8), ONNX Runtime does not."""
    ranks = {name: feeds[data].ndim if data in feeds else 0 for name, data in hints.axes.items() if name in feeds}
    lists = [feeds[name].reshape(-1) % (rank or 1 << 30) for name, rank in ranks.items()]
    return any(len(set(one.tolist())) < one.size for one in lists)
