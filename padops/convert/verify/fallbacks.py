"""Checks a model's fallback functions, which replace padops' operators in a session without the library."""

from __future__ import annotations

from dataclasses import replace

import onnx

from padops.convert.analysis import Analysis
from padops.convert.errors import PadopsError
from padops.convert.model.document import read_document
from padops.convert.model.inference import declarations
from padops.convert.records import RegionRecord
from padops.convert.standard.fallback import embed
from padops.convert.verify.schemas import is_fallback
from padops.convert.verify.terms import outcome

WITHOUT = "sessions without padops run this function, which padops of this version does not write"


def check_fallbacks(original: onnx.ModelProto, converted: onnx.ModelProto) -> list[RegionRecord]:
    """Returns a region for each fallback function of the converted model.

    A function must have the bytes that this version of padops writes, or the bytes of the original's function. For any
    other function, the region is not proved. padops' tests compare padops' own functions with the reference.
    """
    there, before = (
        {row.name: row.SerializeToString(deterministic=True) for row in model.functions if is_fallback(row)}
        for model in (converted, original)
    )
    fresh = _written(converted) if there.items() - before.items() else {}
    found = []
    for name, content in there.items():
        if content == fresh.get(name):
            region = outcome("proved", "fallback", "functions with the bytes that this version of padops writes")
        elif content == before.get(name):
            region = outcome("proved", "fallback", "functions with the bytes of the original's")
        else:
            region = outcome("unknown", "fallback", why=WITHOUT)
        found.append(replace(region, name=f"function padops::{name}", original=(name,), converted=(name,)))
    return found


def _written(converted: onnx.ModelProto) -> dict[str, bytes]:
    """Returns the fallback functions that padops writes for a model; none if the writing fails or changes a node."""
    try:
        light = declarations(converted)
        kept = [row for row in light.functions if not is_fallback(row)]
        del light.functions[:]
        light.functions.extend(kept)
        document = read_document(light)
        embed(Analysis(document))
    except PadopsError:
        return {}
    written = () if document.touched else document.proto.functions
    return {row.name: row.SerializeToString(deterministic=True) for row in written if is_fallback(row)}
