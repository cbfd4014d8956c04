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
    node, already = site.node, "padops"
    form = f"{node.domain}::{node.op_type}"
    if node.domain == pyop_node.DOMAIN:
        already = "pyop"
        try:
            made = _of_python_kernel(node)
        except (ValueError, AttributeError, OverflowError, TypeError) as error:
            return Match(form, reason=f"its attributes cannot be read: {error}")
    elif node.domain == DOMAIN:
        op_type = operator_of(node.op_type)
        made = Replacement(op_type, tuple(node.inputs), dict(node.attributes)) if op_type is not None else None
    else:
        return None
    if made is None:
        return Match(form, reason="this version of padops does not know the operator")
    if wrong := misfit(made):
        return Match(form, reason=wrong)
    if already == "padops" and made.op_type != node.op_type:
        return Match(form, made, already=RENAMED, notes=(f"{made.op_type} again, which a prefix had renamed",))
    return Match(form, made, already=already)


def operator_of(name: str) -> str | None:
    """Return the operator of padops that a node or function name of the domain means; None without one.

    ``onnx.compose.add_prefix`` renames operators that have a function in the model: ``a/Pad_11`` is a Pad_11.
    """
    return max((known for known in OPS if name.endswith(known)), key=len, default=None)  # SamePad_1 ends with Pad_1


def _of_python_kernel(node: ir.Node) -> Replacement | None:
    """Return the native operator of a Python kernel's node; None for an unknown node."""
    given = [node.attributes[name] for name in pyop_node.ATTRIBUTES if name in node.attributes]
    texts = {a.name: a.value for a in given if a.type == ir.AttributeType.STRING and not a.is_ref()}
    if node.op_type != pyop_node.OP_TYPE or len(texts) != len(pyop_node.ATTRIBUTES) or texts["op"] not in OPS:
        return None
    op_type, plain, inputs, _ = pyop_node.decode(texts, node.inputs)
    return Replacement(
        op_type, tuple(inputs), {name: _attribute(op_type, name, value) for name, value in plain.items()}
    )


def _attribute(op_type: str, name: str, value: object) -> ir.Attr:
    kind = next((row.type for row in OPS[op_type].attributes if row.name == name), None)
    if kind == "ints" and isinstance(value, list) and all(type(item) is int for item in value):
        return ir.AttrInt64s(name, value)
    if kind == "string" and isinstance(value, str):
        return ir.AttrString(name, value)
    if kind == "float" and isinstance(value, np.float32):
        return ir.AttrFloat32(name, float(value))
    raise ValueError(f"{op_type} has no attribute {name} that is {value!r}")
