"""TensorFlow's own Pads: nodes that tf2onnx does not translate if the user asks so.

``--custom-ops MirrorPad:DOMAIN,PadV2:DOMAIN,Pad:DOMAIN`` writes nodes with TensorFlow's inputs and attributes in the
user's domain; without ``:DOMAIN``, in a domain of tf2onnx. In the branches of an If, tf2onnx 1.17.0 loses the domain,
so nodes of the default domain are recognised as well.

All become OpenVINOPad_12: it takes amounts of any integer type at run time, and reaches as far as TensorFlow: n - 1
elements for REFLECT and n for SYMMETRIC, where n is the size of the axis (P4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    Applied,
    Match,
    Replacement,
    Unconvertible,
    check_integers,
    matched,
    string_attribute,
)
from padops.convert.pads.pad_info import Operand
from padops.plural import plural
from padops.spec.dialects import OPS

OWN_DOMAIN = "ai.onnx.converters.tensorflow"  # tf2onnx's domain of custom nodes for which the user named none
MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
INPUTS = {"MirrorPad": 2, "PadV2": 3, "Pad": 2}
OF_TENSORFLOW = ("T", "Tpaddings")  # attributes that only repeat the types of the inputs
OP = "OpenVINOPad_12"
ROLES = ("pads_begin", "pads_end")


def match_tensorflow_pad(site: NodeSite, types: Types, domains: Collection[str]) -> Match | None:
    """Recognises MirrorPad, PadV2 and Pad of the user's ``domains``, of tf2onnx's domain, and with a lost domain."""
    node = site.node
    if node.op_type not in INPUTS or node.op_identifier() in site.scope.model.functions:
        return None
    if node.domain not in (*domains, OWN_DOMAIN) and not _has_lost_its_domain(site, types, domains):
        return None
    if node.op_type == "Pad" and (set(node.attributes) - set(OF_TENSORFLOW) or len(node.inputs) != 2):
        return None  # of another framework

    def read(notes: list[str]) -> Match:
        _check(site, types)
        mode = MODES[string_attribute(node, "mode", "") or ""] if node.op_type == "MirrorPad" else "constant"
        attributes = {"pad_mode": ir.AttrString("pad_mode", mode)}
        fill = node.inputs[2] if node.op_type == "PadV2" else None

        def pad(columns: Sequence[Operand]) -> Replacement:
            return Replacement(OP, (node.inputs[0], *columns, fill), attributes)

        def split(site: NodeSite, constants: Constants) -> Applied:
            """Adds two nodes in front of the node that split unknown paddings into begins and ends."""
            axis = [ir.AttrInt64("axis", 1)]
            at = [constants.add(np.array(i, np.int64), site, f"{role}_column") for i, role in enumerate(ROLES)]
            made = [constants.insert("Gather", [node.inputs[1], i], site, role, axis) for i, role in zip(at, ROLES)]
            return Applied([node], site, pad(made))

        needed = f"ONNX Runtime has no {node.op_type} in the domain '{node.domain}'"
        array = evaluate(node.inputs[1], site.scope, types)
        if array is None:
            return Match("", pad([ir.Value(name=role) for role in ROLES]), split, needed=needed)
        known = pad([np.ascontiguousarray(column, np.int64) for column in array.T])
        return Match("", known, lambda site, constants: Applied([node], site, known), needed=needed)

    return matched(f"TensorFlow {node.op_type} in the domain '{node.domain}'", read)


def _has_lost_its_domain(site: NodeSite, types: Types, domains: Collection[str]) -> bool:
    """Whether a node of the default domain is TensorFlow's, if the user has named a domain of TensorFlow's nodes."""
    node = site.node
    if node.domain != "" or not domains:
        return False
    if node.op_type != "Pad":  # ONNX has no MirrorPad and no PadV2
        return True
    shape = types.shape(node.inputs[1]) if len(node.inputs) == 2 and not node.attributes else None
    if shape is None or len(shape) != 2 or shape[1] != 2:
        return False
    return shape[0] != 1 or types.name(node.inputs[1]) == "int32"  # ONNX's own may be [1, 2], but only int64


def _check(site: NodeSite, types: Types) -> None:
    """Refuses what TensorFlow's Pads do not have."""
    node = site.node
    expected = INPUTS[node.op_type]
    if len(node.inputs) != expected or None in node.inputs:
        given = sum(value is not None for value in node.inputs)
        raise Unconvertible(f"it has {plural(given, 'input')}, expected {expected}")
    known = (*OF_TENSORFLOW, "mode") if node.op_type == "MirrorPad" else OF_TENSORFLOW
    if foreign := sorted(set(node.attributes) - set(known)):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    if node.op_type == "MirrorPad" and (text := string_attribute(node, "mode", "")) not in MODES:
        raise Unconvertible(f"mode {text!r} is not one of {', '.join(MODES)}")
    type_name = types.name(node.inputs[0], *node.outputs)
    if type_name is not None and type_name not in OPS[OP].types:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
    check_integers(site, paddings=1)
    array, data = evaluate(node.inputs[1], site.scope, types), types.shape(node.inputs[0])
    shape = types.shape(node.inputs[1]) if array is None else list(array.shape)
    if shape is not None:
        right = len(shape) == 2 and shape[1] in (2, None) and (data is None or shape[0] in (len(data), None))
        if not right:
            rank = "rank" if data is None else len(data)
            raise Unconvertible(f"its paddings have shape {list(shape)}, expected [{rank}, 2]")
    if array is not None and (array < 0).any():
        raise Unconvertible(f"its paddings are {array.tolist()}, and TensorFlow takes no negative ones")
