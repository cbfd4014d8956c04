"""nGraph's Pad of version 0: attributes give the amounts, interior ones included.

The attributes ``padding_below`` and ``padding_above`` distinguish it from the Pads of other frameworks, in a domain
that the user has named or in the domain ``ngraph``.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Replacement, Unconvertible, matched
from padops.plural import plural
from padops.spec.dialects import OPS

DOMAIN = "ngraph"
OP = OPS["NGraphPad_0"]
AMOUNTS = ("padding_below", "padding_above", "padding_interior")


def match_ngraph_pad(site: NodeSite, types: Types, domains: Collection[str] = ()) -> Match | None:
    """Recognises a node with nGraph's attributes, in the user's ``domains`` or the domain ``ngraph``."""
    node = site.node
    if node.op_type != "Pad" or node.domain not in (*domains, DOMAIN) or not set(AMOUNTS[:2]) & set(node.attributes):
        return None
    return matched(f"nGraph Pad in the domain '{node.domain}'", lambda notes: _replacement(node, types))


def _replacement(node: ir.Node, types: Types) -> Replacement:
    if len(node.inputs) != 2 or None in node.inputs:
        given = sum(value is not None for value in node.inputs)
        raise Unconvertible(
            f"it has {plural(given, 'input')}, expected 2: {' and '.join(row.name for row in OP.inputs)}"
        )
    if foreign := sorted(set(node.attributes) - {*AMOUNTS, OP.mode}):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    for name in AMOUNTS:
        if name not in node.attributes and name != "padding_interior":
            raise Unconvertible(f"it has no attribute {name}")
        if name in node.attributes and node.attributes[name].type != ir.AttributeType.INTS:
            raise Unconvertible(f"its attribute {name} is of type {node.attributes[name].type.name}, expected INTS")
    type_name = types.name(*node.inputs, *node.outputs)
    if type_name is not None and type_name not in OP.types:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
    attributes = {name: node.attributes[name] for name in AMOUNTS if name in node.attributes}
    if OP.mode in node.attributes:
        attributes[OP.mode] = _mode(node.attributes[OP.mode])
    return Replacement(OP.name, tuple(node.inputs), attributes)


def _mode(attribute: ir.Attr) -> ir.Attr:
    """The mode by its name; nGraph's own serializer writes the number of its C++ enumeration."""
    if attribute.is_ref():
        return attribute
    value = attribute.value
    if attribute.type == ir.AttributeType.INT and 0 <= value < len(OP.modes):
        return ir.AttrString(OP.mode, OP.modes[value])
    if attribute.type == ir.AttributeType.STRING and value.upper() in OP.modes:
        return ir.AttrString(OP.mode, value.upper())
    raise Unconvertible(f"{OP.mode} {value!r} is not one of {', '.join(OP.modes)} [P9]")
