"""Checks a model's fallback functions, which replace padops' operators in a session without the library.

A function must have the bytes that this version of padops writes, which padops' tests compare with the reference. Any
other function proves nothing.
"""

from __future__ import annotations

from copy import deepcopy

import onnx

from padops.convert.analysis import Analysis
from padops.convert.errors import PadopsError
from padops.convert.model.document import read_document
from padops.convert.model.inference import declarations
from padops.convert.records import RegionRecord
from padops.convert.standard.fallback import embed
from padops.convert.verify.schemas import is_fallback
from padops.convert.verify.terms import Outcome

RULE = "fallback"
WITHOUT = "sessions without padops run this function, which padops of this version does not write"


def check_fallbacks(original: onnx.ModelProto, converted: onnx.ModelProto) -> list[RegionRecord]:
    """Returns a region for each fallback function of the converted model, and each operator that lost its function."""
    there = {row.name: row for row in converted.functions if is_fallback(row)}
    before = {row.name: row for row in original.functions if is_fallback(row)}
    fresh: dict[str, onnx.FunctionProto] = {}
    if any(before.get(name) != row for name, row in there.items()):
        fresh = _written(converted)
    found = []
    for name, row in there.items():
        if _bytes(row) == _bytes(fresh.get(name)):
            outcome = Outcome("proved", RULE, "functions with the bytes that this version of padops writes")
        elif _bytes(row) == _bytes(before.get(name)):
            outcome = Outcome("proved", RULE, "functions with the bytes of the original's")
        else:
            outcome = Outcome("unknown", RULE, why=WITHOUT)
        found.append(RegionRecord(f"function padops::{name}", (name,), (name,), **vars(outcome)))
    return found


def _bytes(function: onnx.FunctionProto | None) -> bytes | None:
    return None if function is None else function.SerializeToString(deterministic=True)


def _written(converted: onnx.ModelProto) -> dict[str, onnx.FunctionProto]:
    """The functions that padops writes for a model's operators; none if it cannot, or not without changing a node."""
    try:
        light = deepcopy(declarations(converted))
        kept = [row for row in light.functions if not is_fallback(row)]
        del light.functions[:]
        light.functions.extend(kept)
        document = read_document(light)
        embed(Analysis(document))
    except PadopsError:
        return {}
    if document.touched:
        return {}
    return {row.name: row for row in document.message().functions if is_fallback(row)}
