"""Pads of OpenVINO, as ``ir/`` reads them from an IR, and of nGraph, its predecessor.

The attributes ``padding_below`` and ``padding_above`` distinguish nGraph's from the Pads of other frameworks, in a
domain that the user has named or in the domain ``ngraph``.
"""

from __future__ import annotations

from collections.abc import Collection

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
    return matched(form, lambda notes: Match(form, _replacement(node)))


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


NGRAPH = "ngraph"
NGRAPH_PAD = OPS["NGraphPad_0"]
AMOUNTS = ("padding_below", "padding_above", "padding_interior")


def match_ngraph_pad(site: NodeSite, types: Types, domains: Collection[str] = ()) -> Match | None:
    """Recognises a node with nGraph's attributes, in the user's ``domains`` or the domain ``ngraph``."""
    node = site.node
    if node.op_type != "Pad" or node.domain not in (*domains, NGRAPH) or not set(AMOUNTS[:2]) & set(node.attributes):
        return None
    form = f"nGraph Pad in the domain '{node.domain}'"
    return matched(form, lambda notes: Match(form, _of_ngraph(node, types)))


def _of_ngraph(node: ir.Node, types: Types) -> Replacement:
    if len(node.inputs) != 2 or None in node.inputs:
        given = sum(value is not None for value in node.inputs)
        raise Unconvertible(
            f"it has {plural(given, 'input')}, expected 2: {' and '.join(row.name for row in NGRAPH_PAD.inputs)}"
        )
    if foreign := sorted(set(node.attributes) - {*AMOUNTS, NGRAPH_PAD.mode}):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    for name in AMOUNTS:
        if name not in node.attributes and name != "padding_interior":
            raise Unconvertible(f"it has no attribute {name}")
        if name in node.attributes and node.attributes[name].type != ir.AttributeType.INTS:
            raise Unconvertible(f"its attribute {name} is of type {node.attributes[name].type.name}, expected INTS")
    type_name = types.name(*node.inputs, *node.outputs)
    if type_name is not None and type_name not in NGRAPH_PAD.types:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
    attributes = {name: node.attributes[name] for name in AMOUNTS if name in node.attributes}
    if NGRAPH_PAD.mode in node.attributes:
        attributes[NGRAPH_PAD.mode] = _ngraph_mode(node.attributes[NGRAPH_PAD.mode])
    return Replacement(NGRAPH_PAD.name, tuple(node.inputs), attributes)


def _ngraph_mode(attribute: ir.Attr) -> ir.Attr:
    """The mode by its name; nGraph's own serializer writes the number of its C++ enumeration."""
    if attribute.is_ref():
        return attribute
    value = attribute.value
    if attribute.type == ir.AttributeType.INT and 0 <= value < len(NGRAPH_PAD.modes):
        return ir.AttrString(NGRAPH_PAD.mode, NGRAPH_PAD.modes[value])
    if attribute.type == ir.AttributeType.STRING and value.upper() in NGRAPH_PAD.modes:
        return ir.AttrString(NGRAPH_PAD.mode, value.upper())
    raise Unconvertible(f"{NGRAPH_PAD.mode} {value!r} is not one of {', '.join(NGRAPH_PAD.modes)} [P9]")
