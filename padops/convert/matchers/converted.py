"""Operators of padops, native or in Python, from an earlier conversion; another target may convert them again."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Replacement, misfit
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, OPS

RENAMED = "renamed"  # in ``Match.already``, in place of a target: an operator of padops under another name


def match_converted_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    if node.domain == pyop_node.DOMAIN:
        return _match_python_kernel(site)
    if node.domain != DOMAIN:
        return None
    form = f"{DOMAIN}::{node.op_type}"
    if (op_type := operator_of(node.op_type)) is None:
        return Match(form, reason="this version of padops does not know the operator")
    replacement = Replacement(op_type, tuple(node.inputs), dict(node.attributes))
    if wrong := misfit(replacement):
        return Match(form, reason=wrong)
    if op_type != node.op_type:
        return Match(form, replacement, already=RENAMED, notes=(f"{op_type} again, which a prefix had renamed",))
    return Match(form, replacement, already="padops")


def operator_of(name: str) -> str | None:
    """Return the operator of padops that a node or function name of the domain means; None without one.

    ``onnx.compose.add_prefix`` renames operators that have a function in the model: ``a/Pad_11`` is a Pad_11.
    """
    return max((known for known in OPS if name.endswith(known)), key=len, default=None)  # SamePad_1 ends with Pad_1


def _match_python_kernel(site: NodeSite) -> Match:
    """Return the match of a Python kernel's node: the native operator of the same name."""
    node = site.node
    form = f"{pyop_node.DOMAIN}::{node.op_type}"
    given = [attribute for name in pyop_node.ATTRIBUTES if (attribute := node.attributes.get(name)) is not None]
    texts = {a.name: a.value for a in given if a.type == ir.AttributeType.STRING and not a.is_ref()}
    if node.op_type != pyop_node.OP_TYPE or len(texts) != len(pyop_node.ATTRIBUTES) or texts["op"] not in OPS:
        return Match(form, reason="this version of padops does not know the operator")
    try:
        op_type, plain, inputs, _ = pyop_node.decode(texts, node.inputs)
        attributes = {name: _attribute(op_type, name, value) for name, value in plain.items()}
    except (ValueError, AttributeError, OverflowError, TypeError) as error:
        return Match(form, reason=f"its attributes cannot be read: {error}")
    replacement = Replacement(op_type, tuple(inputs), attributes)
    if wrong := misfit(replacement):
        return Match(form, reason=wrong)
    return Match(form, replacement, already="pyop")


def _attribute(op_type: str, name: str, value: object) -> ir.Attr:
    kind = next((row.type for row in OPS[op_type].attributes if row.name == name), None)
    if kind == "ints" and isinstance(value, list) and all(type(item) is int for item in value):
        return ir.AttrInt64s(name, value)
    if kind == "string" and isinstance(value, str):
        return ir.AttrString(name, value)
    if kind == "float" and isinstance(value, np.float32):
        return ir.AttrFloat32(name, float(value))
    raise ValueError(f"{op_type} has no attribute {name} that is {value!r}")
