"""A model in another version of the standard operators, by onnx's version converter.

The converter has no adapter for most versions of Pad. So each Pad becomes its operator of padops first, which has no
versions; the target then writes the Pads for the new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from math import prod
from typing import Any

import onnx
from onnx import checker, helper, inliner, version_converter

from padops.convert.analysis import Analysis
from padops.convert.errors import PadopsError
from padops.convert.model.reading import read_document
from padops.convert.rewrite import Request, convert_pads

LARGE = 256  # elements of a constant that no adapter reads: amounts, axes and shapes have fewer
FIRST_IR = 4  # the first version of the format whose initializers need not be inputs


def in_opset(analysis: Analysis, opset: int) -> Analysis:
    """The model with the standard operators of version ``opset``; its Pads are operators of padops.

    Local functions are inlined: the converter would drop them. The given document is changed.

    Raises:
        PadopsError: onnx has no adapter for an operator of the model, or what it makes is no model.
    """
    document = analysis.document
    before = document.model.graph.opset_imports.get("")
    if before in (None, opset):
        return analysis
    convert_pads(analysis, Request(fold=False, fallback=False))
    message = inliner.inline_local_functions(document.message(), convert_version=True)
    large = {row.name: row for row in message.graph.initializer if prod(row.dims) > LARGE}
    light = onnx.ModelProto()
    light.CopyFrom(message)
    _keep(light.graph.initializer, [row for row in light.graph.initializer if row.name not in large])
    inputs = list(message.graph.input)
    listed = {value.name for value in inputs}
    light.graph.input.extend(
        helper.make_tensor_value_info(name, row.data_type, row.dims)
        for name, row in large.items()
        if name not in listed
    )
    try:
        made = version_converter.convert_version(light, opset)
        checker.check_model(made)  # some of its adapters leave attributes that the older operator lacks
    except (RuntimeError, checker.ValidationError) as error:
        why = " ".join(str(error).split()).rpartition("failed: ")[2]
        text = f"onnx's version converter does not bring the model from opset {before} to {opset}: {why}"
        raise PadopsError(text) from error
    _keep(made.graph.input, inputs)
    made.graph.initializer.extend(large.values())
    least = helper.find_min_ir_version_for([helper.make_opsetid("", opset)], ignore_unknown=True)
    made.ir_version = min(message.ir_version, max(least, FIRST_IR))
    made.metadata_props.extend(message.metadata_props)
    changed = read_document(made, base_dir=document.base_dir)
    changed.path, changed.size, changed.sha256 = document.path, document.size, document.sha256
    changed.foreign, changed.touched = document.foreign, set(changed.model.graph)
    return Analysis(changed, analysis.asked, analysis.progress)


def _keep(rows: Any, kept: Sequence[Any]) -> None:
    """Leaves these messages in a list of messages."""
    kept = [deepcopy(row) for row in kept]
    del rows[:]
    rows.extend(kept)
