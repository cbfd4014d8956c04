"""Operators of the domain ``padops``: what an earlier conversion made."""

from __future__ import annotations

from padops.convert.graphs import Found
from padops.convert.sources.finding import Finding
from padops.convert.types import Types
from padops.dialects import DOMAIN, OPS


def find(found: Found, types: Types) -> Finding | None:
    """Recognises a node that is converted already."""
    node = found.node
    if node.domain != DOMAIN:
        return None
    form = f"{DOMAIN}::{node.op_type}"
    if node.op_type not in OPS:
        return Finding(form, reason="this version of padops does not know the operator")
    return Finding(form, status="already converted", op_type=node.op_type)
