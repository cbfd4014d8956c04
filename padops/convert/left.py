"""Nodes that a conversion leaves although the installed onnxruntime does not run them as specified."""

from __future__ import annotations

from collections.abc import Iterable

from padops.convert.conversion import Conversion
from padops.convert.errors import PadsLeftError
from padops.convert.facts import PadFacts
from padops.convert.matchers import find_pads
from padops.convert.matchers.auto_pad import match_auto_pad
from padops.convert.matchers.auto_pad.window import SAME
from padops.convert.model.document import Document
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of
from padops.runtime.installed import installed_minor

SHOWN = 3  # of the nodes that are named


def same_left(document: Document, types: Types) -> list[str]:
    """A note on convolutions and poolings that pad SAME and that onnxruntime refuses or gets wrong; empty if none."""
    minor = installed_minor()
    found = find_pads(document.model, types, (match_auto_pad,))
    judged = [
        (match.replacement is not None, facts_of(site, match, types, minor))
        for site, match in found
        if (match.replacement or match.judge) and not match.verdict
    ]
    notes = []
    for helps in (True, False):
        failing = [f"{node.path} ({node.form}): {node.why}" for can, node in judged if can == helps and not node.runs]
        if not failing:
            continue
        count = f"SAME of {len(failing)} node{'' if len(failing) == 1 else 's'} is refused or wrong in ONNX Runtime"
        named = "; ".join([*failing[:SHOWN], *([f"and {len(failing) - SHOWN} more"] if len(failing) > SHOWN else [])])
        ask = "--auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"
        notes.append(f"{count}: {named}. {ask if helps else '--auto-pad explicit cannot write its amounts out'}")
    return notes


def same_wrong(pads: Iterable[PadFacts | None]) -> list[str]:
    """What onnxruntime does with each SAME that it gets wrong, or may, and that no conversion helps."""
    gets = {"wrong": "gets", "may be wrong": "may get"}
    failing = [pad for pad in pads if pad and pad.mode in SAME and pad.verdict in gets and "convert" not in pad.roads]
    return [f"{gets[pad.verdict]} {pad.path} ({pad.form}) wrong: {pad.why}" for pad in failing]


def check_left(conversion: Conversion, strict: bool) -> None:
    """Refuses a conversion that leaves Pads.

    Without ``strict``, only Pads count that keep ONNX Runtime from running the model: it refuses them, or they break a
    rule in the main graph; and SAME that was to be written out, and that ONNX Runtime gets wrong.

    Raises:
        PadsLeftError: Names the first such Pad.
    """
    left = conversion.unconverted
    if not strict:
        left = tuple(record for record in left if record.path in conversion._fatal)
    if not left:
        return
    first, *others = left
    count = f"{1 + len(others)} of {len(conversion.records)} Pads cannot be converted"
    more = f", and {len(others)} more" if others else ""
    wrong = first.facts is not None and first.facts.verdict == "wrong"
    does = "gets the model wrong" if wrong else "does not run the model"
    why = "" if strict else f", and ONNX Runtime {does} as it is"
    raise PadsLeftError(f"{count}{why}: {first.why()}{more}", conversion)
