"""How a conversion is verified, and what a failed verification says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from padops.convert.conversion import Conversion
from padops.convert.model.document import Document
from padops.convert.records import Verification
from padops.convert.sources import SOURCES, Source
from padops.convert.verify.feeds import Inputs, inputs_of, load_inputs
from padops.convert.verify.hints import Hints, special_values


def comparison(
    document: Document,
    inputs: Inputs | None,
    seed: int,
    conversion: Conversion | None = None,
    asked: Sequence[Source] = SOURCES,
) -> Callable[[Path, Path], Verification]:
    """What compares two model files. It alone needs onnxruntime, once it is called.

    Args:
        document: The model.
        inputs: What to run both with; None for random numbers.
        seed: Of those.
        conversion: Which values may differ, and why; None where all have to agree.
        asked: What counts as a Pad of the original.
    """
    from padops.convert.verify.compare import Case, compare

    given = load_inputs(inputs) if inputs is not None else None
    corrected = conversion._corrected if conversion else frozenset()
    case = Case(inputs_of(document.message()), given, seed, Hints(special_values(document.model)), corrected, asked)
    run: Callable[[Path, Path], Verification] = partial(compare, case=case)
    if document.is_openvino:
        from padops.convert.verify.openvino import compare_with_openvino

        run = partial(compare_with_openvino, Path(document.foreign[0].name), case)
    records = conversion.records if conversion else ()
    wrong = "; ".join(f"{record.path}: {record.corrects}" for record in records if record.corrects)

    def compare_and_say(original: Path, converted: Path) -> Verification:
        verification = run(original, converted)
        if verification.outcome != "corrected":
            return verification
        note = f"the outputs differ because the converted model corrects the original ({wrong})"
        return replace(verification, notes=(*verification.notes, note))

    return compare_and_say


def mismatch(verification: Verification, corrected: Collection[str]) -> str:
    """What a failed verification found, in one sentence."""
    if verification.outcome == "fails":
        return "the converted model fails: " + "; ".join(verification.notes)
    differing = [output for output in verification.outputs if not output.equal]
    if not differing:
        pads = [pad for pad in verification.pads if not pad.equal]
        count = "1 Pad gives" if len(pads) == 1 else f"{len(pads)} Pads give"
        return f"{count} something else, though all outputs agree; {pads[0].path}: {pads[0].detail}"
    differing = [output for output in differing if output.name not in corrected] or differing
    count = "1 output differs" if len(differing) == 1 else f"{len(differing)} outputs differ"
    return f"{count}; {differing[0].name}: {differing[0].detail}"


def undecided(verification: Verification) -> str:
    """What a verification leaves open, in one sentence."""
    first, *others = verification.doubts
    return f"it could not be told whether the models agree: {first}" + (f", and {len(others)} more" if others else "")
