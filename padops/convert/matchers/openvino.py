"""OpenVINO's Pad, as ``ir/`` reads it from an IR: Pad-1 and Pad-12."""

from __future__ import annotations

import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Replacement, Unconvertible, matched, string_attribute
from padops.plural import plural
from padops.spec.dialects import OPS

DOMAIN = "ai.intel.openvino"
VERSIONS = {"opset1": 1, "opset12": 12}


def match_openvino_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises a Pad layer. Its amounts, of any integer type, constant or not, and its fill stay unchanged."""
    node = site.node
    if node.domain != DOMAIN or node.op_type != "Pad":
        return None
    form = f"OpenVINO Pad of {string_attribute(node, 'version', 'an unknown opset')}"
    return matched(form, lambda notes: _replacement(node))


def _replacement(node: ir.Node) -> Replacement:
    version = string_attribute(node, "version", "")
    if version not in VERSIONS:
        raise Unconvertible(f"its version is '{version}', expected {' or '.join(VERSIONS)}")
    op = OPS[f"OpenVINOPad_{VERSIONS[version]}"]
    if not 3 <= len(node.inputs) <= 4:
        raise Unconvertible(f"it has {plural(len(node.inputs), 'input')}, expected 3 or 4")
    if foreign := sorted(set(node.attributes) - {op.mode, "version"}):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    mode = string_attribute(node, op.mode, "")
    if mode not in op.modes:
        raise Unconvertible(f"{op.mode} '{mode}' is not one of {', '.join(op.modes)} [P9]")
    return Replacement(op.name, tuple(node.inputs), {op.mode: ir.AttrString(op.mode, mode)})
