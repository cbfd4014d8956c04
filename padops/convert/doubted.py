"""The values that the installed ONNX Runtime may get wrong in a model, since it gets a Pad wrong."""

from __future__ import annotations

from collections.abc import Sequence

from padops.convert.matchers import Matcher, find_pads
from padops.convert.model.document import Document
from padops.convert.model.reach import values_behind
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of
from padops.runtime.installed import installed_minor

DOUBTED = ("wrong", "may be wrong")  # verdicts on a Pad


def doubted_values(document: Document, sources: Sequence[Matcher]) -> dict[str, str]:
    """The values behind Pads that the installed ONNX Runtime gets wrong, or may, each with the Pad and the reason."""
    types, minor = Types(document), installed_minor()
    found: dict[str, str] = {}
    for site, match in find_pads(document.model, types, tuple(sources)):
        facts = facts_of(site, match, types, minor)
        if facts.verdict in DOUBTED:
            behind = values_behind(document.model, [site.node])
            found |= {name: f"{site.path}: {facts.why}" for name in behind if name not in found}
    return found
