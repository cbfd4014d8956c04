"""Nodes that call themselves a Pad in a domain that no other source knows: listed, so that none is passed over."""

from __future__ import annotations

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.sources.match import Match

TENSORFLOWS_OWN = ("PadV2", "MirrorPad")  # a Pad of an unknown domain may be anybody's


def match_unknown_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises a Pad of a foreign domain, unless it calls a function of the model, whose body is looked into."""
    node = site.node
    if node.op_type not in ("Pad", *TENSORFLOWS_OWN) or node.op_identifier() in site.scope.model.functions:
        return None
    domain = node.domain or "ai.onnx"
    reason = f"the domain {domain} is not one that padops knows"
    if node.op_type != "Pad":
        reason = f"{node.op_type} is TensorFlow's; it is converted where its domain is named: --custom-domain {domain}"
    return Match(f"{domain}::{node.op_type}", reason=reason)
