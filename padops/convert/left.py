"""Nodes that a conversion leaves although the installed onnxruntime does not run them as specified."""

from __future__ import annotations

from padops.convert.conversion import Conversion
from padops.convert.errors import PadsLeftError
from padops.convert.model.document import Document
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of
from padops.convert.sources import find_pads
from padops.convert.sources.auto_pad import match_auto_pad
from padops.runtime.installed import installed_minor

SHOWN = 3  # of the nodes that are named


def same_left(document: Document, types: Types) -> list[str]:
    """A note on convolutions and poolings that pad SAME and that onnxruntime refuses or gets wrong; empty if none."""
    minor = installed_minor()
    found = find_pads(document.model, types, (match_auto_pad,))
    facts = [facts_of(site, match, types, minor) for site, match in found if match.replacement and not match.verdict]
    failing = [f"{node.path} ({node.form}): {node.why}" for node in facts if not node.runs]
    if not failing:
        return []
    count = f"SAME of {len(failing)} node{'' if len(failing) == 1 else 's'} is refused or wrong in ONNX Runtime"
    more = [f"and {len(failing) - SHOWN} more"] if len(failing) > SHOWN else []
    named = "; ".join([*failing[:SHOWN], *more])
    return [f"{count}: {named}. --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"]


def check_left(conversion: Conversion, strict: bool) -> None:
    """Refuses a conversion that leaves Pads.

    Args:
        conversion: The conversion.
        strict: Whether any Pad counts; else only Pads that keep ONNX Runtime from running the model: it refuses them,
            or they break a rule in the main graph.

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
    why = "" if strict else ", and ONNX Runtime does not run the model as it is"
    raise PadsLeftError(f"{count}{why}: {first.why()}{more}", conversion)
