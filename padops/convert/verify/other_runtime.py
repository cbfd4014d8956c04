"""Compares the Pads of an original that another runtime runs, each by itself.

Runtimes round differently and treat NaN differently: OpenVINO's ReLU makes NaN 0, ONNX's keeps it. A Pad does neither.
So each Pad is compared bit by bit with the other runtime's Pad, on the data that the Pad has there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx

from padops.convert.records import PadComparison, Verification
from padops.convert.sources import Source
from padops.convert.verify.bits import describe_difference
from padops.convert.verify.reference import DescribedPad, described_pads
from padops.convert.verify.sessions import Feeds
from padops.convert.verify.trials import Trial
from padops.spec.plan import PadError

# For each Pad, by the name of its output: the inputs and the output.
PadRuns = Mapping[str, tuple[list[np.ndarray], np.ndarray]]

SAID = "each Pad gives the same bits as in {}, for the data that it has there"
NOT_FINITE = "with infinities and NaN in the inputs, the nodes around the Pads give other results in {}"


def check_finite(
    check: Callable[[Sequence[Trial]], Verification], trials: Sequence[Trial], runtime: str
) -> Verification:
    """Compares outputs. Inputs with infinities or NaN count only if the finite inputs differ as well.

    Returns:
        ``"close"`` if only inputs with infinities or NaN differ.
    """
    verification = check(trials)
    finite = [trial for trial in trials if all(_is_finite(array) for array in trial.feeds.values())]
    if verification.outcome != "different" or not 0 < len(finite) < len(trials):
        return verification
    again = check(finite)
    if again.outcome not in ("equal", "close"):
        return verification
    notes = (*again.notes, NOT_FINITE.format(runtime))
    return replace(again, outcome="close", inputs=verification.inputs, notes=notes)


def telling(trials: Sequence[Trial], count: int) -> list[Feeds]:
    """The first inputs, and the first further inputs with infinities or NaN."""
    special = [one.feeds for one in trials[count:] if not all(_is_finite(array) for array in one.feeds.values())]
    return [*(one.feeds for one in trials[:count]), *special[:1]]


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def compare_pads(
    verification: Verification,
    converted: Path,
    run: Callable[[Feeds], PadRuns],
    feeds: Sequence[Feeds],
    asked: Sequence[Source],
    runtime: str,
) -> Verification:
    """Compares each Pad of the converted model with the other runtime's, on the other runtime's data.

    Returns:
        The verification, ``"different"`` if a Pad differs.
    """
    described, _ = described_pads(converted, onnx.load(converted, load_external_data=False), asked)
    wrong: dict[str, str] = {}
    seen: set[str] = set()
    try:
        for one in feeds:
            there = run(one)
            for pad in described:
                if pad.output in there and (detail := _difference(pad, *there[pad.output])) is not None:
                    seen.add(pad.path)
                    if detail:
                        wrong.setdefault(pad.path, f"{pad.output}: for the data that it has in {runtime}, {detail}")
    except RuntimeError as error:
        note = f"{runtime} does not run the original with its Pads as outputs: {error}"
        return replace(verification, notes=(*verification.notes, note))
    if not seen:
        return verification
    if not wrong:
        told = SAID if len(seen) == len(described) else f"{len(seen)} of {len(described)}: {SAID}"
        at = len(verification.notes) - (verification.outcome != "equal")  # the last note goes into the error's text
        notes = (*verification.notes[:at], told.format(runtime), *verification.notes[at:])
        verification = replace(verification, notes=notes)
    pads = verification.pads or tuple(_untold(pad, seen, runtime) for pad in described)
    pads = tuple(
        replace(pad, exercise="exercised", equal=False, right=False, detail=wrong[pad.path])
        if pad.path in wrong
        else pad
        for pad in pads
    )
    return replace(verification, outcome="different" if wrong else verification.outcome, pads=pads)


def _untold(pad: DescribedPad, seen: Collection[str], runtime: str) -> PadComparison:
    """The comparison of a Pad that the comparison of the outputs does not list."""
    if pad.path in seen:
        return PadComparison(pad.path, pad.form, "exercised", True, (pad.output,))
    return PadComparison(pad.path, pad.form, "not exercised", detail=f"{runtime} has no Pad that gives '{pad.output}'")


def _difference(pad: DescribedPad, inputs: Sequence[np.ndarray], output: np.ndarray) -> str | None:
    """The difference of a Pad of the converted model, "" for none; None if its inputs are others."""
    if any(isinstance(given, str) for given in pad.inputs[1:]) and len(pad.inputs) != len(inputs):
        return None
    given = [inputs[i] if isinstance(one, str) else one for i, one in enumerate(pad.inputs)]
    try:
        return describe_difference(output, pad.expected(given))
    except PadError as error:
        return f"padops refuses it: {error}"
