"""Replaces the Pads that ONNX Runtime refuses by the padops operators that mirror them."""

from __future__ import annotations

from collections.abc import Iterable

import onnx

from padops.convert.model.nesting import nodes_of
from padops.convert.verify.pad_terms import version_of
from padops.convert.verify.schemas import imports_of
from padops.convert.verify.schemas import version_of as schema_version
from padops.spec.dialects import DOMAIN

MICROSOFT_IS = 13  # com.microsoft::Pad behaves like this version of ONNX's Pad


def mirrored(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model with each ONNX Pad replaced by the padops operator that mirrors it."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    parts: list[tuple[onnx.ModelProto | onnx.FunctionProto, Iterable[onnx.NodeProto]]] = [(made, made.graph.node)]
    parts += [(row, row.node) for row in made.functions]
    for part, nodes in parts:
        versions = imports_of(part)
        for _, node in nodes_of(nodes):
            version = version_of(node.domain, node.op_type, schema_version("", "Pad", versions.get("", 1)))
            if version is not None and node.domain != DOMAIN:
                node.domain, node.op_type = DOMAIN, f"Pad_{version or MICROSOFT_IS}"
        if DOMAIN not in versions:
            part.opset_import.add(domain=DOMAIN, version=1)
    return made
