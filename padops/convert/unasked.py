"""What nobody has asked to be converted, though the installed onnxruntime does not run it as the model means it."""

from __future__ import annotations

from padops.convert.model.document import Document
from padops.convert.model.types import Types
from padops.convert.sources import find_pads
from padops.convert.sources.auto_pad import match_auto_pad
from padops.convert.sources.pad_facts import facts_of
from padops.runtime.installed import installed_minor

SHOWN = 3  # of the nodes that are named


def same_left(document: Document, types: Types) -> list[str]:
    """Convolutions and poolings that pad SAME and that onnxruntime refuses, or computes wrongly.

    Args:
        document: The model, which nothing has changed yet.
        types: Of it.

    Returns:
        What there is to say of them: a note, or nothing.
    """
    minor = installed_minor()
    found = find_pads(document.model, types, (match_auto_pad,))
    facts = [facts_of(site, match, types, minor) for site, match in found if match.replacement is not None]
    failing = [f"{node.path} ({node.form}): {node.why}" for node in facts if not node.runs]
    if not failing:
        return []
    count = f"SAME of {len(failing)} node{'' if len(failing) == 1 else 's'} is refused or wrong in ONNX Runtime"
    more = [f"and {len(failing) - SHOWN} more"] if len(failing) > SHOWN else []
    named = "; ".join([*failing[:SHOWN], *more])
    return [f"{count}: {named}. --auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"]
