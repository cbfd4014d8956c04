"""TensorFlow's own Pads: nodes that tf2onnx does not translate if the user asks so.

``--custom-ops MirrorPad:DOMAIN,PadV2:DOMAIN,Pad:DOMAIN`` writes nodes with TensorFlow's inputs and attributes in the
user's domain; without ``:DOMAIN``, in a domain of tf2onnx. In the branches of an If, tf2onnx 1.17.0 loses the domain,
so nodes of the default domain are recognised as well.

All become OpenVINOPad_12: it takes amounts of any integer type at run time, and reaches as far as TensorFlow: n - 1
elements for REFLECT and n for SYMMETRIC, where n is the size of the axis (P4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

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


@dataclass(frozen=True)
class _TensorflowPad:
    """A node, read as TensorFlow's Pad: ``paddings``, constant or not, has shape [rank, 2]."""

    data: ir.Value
    paddings: ir.Value | np.ndarray
    fill: ir.Value | None
    mode: str

    def replacement(self, begins: Operand, ends: Operand) -> Replacement:
        return Replacement(OP, (self.data, begins, ends, self.fill), {"pad_mode": ir.AttrString("pad_mode", self.mode)})


def match_tensorflow_pad(site: NodeSite, types: Types, domains: Collection[str]) -> Match | None:
    """Recognises MirrorPad, PadV2 and Pad of the user's ``domains``, of tf2onnx's domain, and with a lost domain."""
    node = site.node
    if node.op_type not in INPUTS or node.op_identifier() in site.scope.model.functions:
        return None
    if node.domain not in (*domains, OWN_DOMAIN) and not _has_lost_its_domain(site, types, domains):
        return None
    if node.op_type == "Pad" and (set(node.attributes) - set(OF_TENSORFLOW) or len(node.inputs) != 2):
        return None  # of another framework
    return matched(f"TensorFlow {node.op_type} in the domain '{node.domain}'", lambda notes: _match(site, types))


def _match(site: NodeSite, types: Types) -> Match:
    node, pad = site.node, _read(site, types)
    needed = f"ONNX Runtime has no {node.op_type} in the domain '{node.domain}'"
    return Match("", pad.replacement(*_columns(pad)), partial(_apply, pad=pad), needed=needed)


def _has_lost_its_domain(site: NodeSite, types: Types, domains: Collection[str]) -> bool:
    """Whether a node of the default domain is TensorFlow's, if the user has named a domain of TensorFlow's nodes."""
    node = site.node
    if node.domain != "" or not domains:
        return False
    if node.op_type != "Pad":  # ONNX has no MirrorPad and no PadV2
        return True
    shape = types.shape(node.inputs[1]) if len(node.inputs) == 2 and not node.attributes else None
    return (
        shape is not None
        and len(shape) == 2
        and shape[1] == 2
        and (
            shape[0] != 1
            or types.name(node.inputs[1]) == "int32"  # amounts of ONNX's own Pad may be [1, 2], but only int64
        )
    )


def _read(site: NodeSite, types: Types) -> _TensorflowPad:
    node = site.node
    expected = INPUTS[node.op_type]
    if len(node.inputs) != expected or None in node.inputs:
        given = sum(value is not None for value in node.inputs)
        raise Unconvertible(f"it has {plural(given, 'input')}, expected {expected}")
    known = (*OF_TENSORFLOW, "mode") if node.op_type == "MirrorPad" else OF_TENSORFLOW
    if foreign := sorted(set(node.attributes) - set(known)):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    mode = "constant"
    if node.op_type == "MirrorPad":
        text = string_attribute(node, "mode", "")
        if text not in MODES:
            raise Unconvertible(f"mode {text!r} is not one of {', '.join(MODES)}")
        mode = MODES[text]
    data, paddings = node.inputs[0], node.inputs[1]
    assert data is not None and paddings is not None
    type_name = types.name(data, *node.outputs)
    if type_name is not None and type_name not in OPS[OP].types:
        raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
    check_integers(site, paddings=1)
    array = evaluate(paddings, site.scope, types)
    _check_shape(list(array.shape) if array is not None else types.shape(paddings), types.shape(data))
    if array is not None and (array < 0).any():
        raise Unconvertible(f"its paddings are {array.tolist()}, and TensorFlow takes no negative ones")
    fill = node.inputs[2] if node.op_type == "PadV2" else None
    return _TensorflowPad(data, paddings if array is None else array, fill, mode)


def _check_shape(shape: Sequence[int | None] | None, data: Sequence[int | None] | None) -> None:
    """Refuses paddings whose known shape is not [rank, 2]."""
    if shape is None:
        return
    rank = "rank" if data is None else len(data)
    if len(shape) != 2 or shape[1] not in (2, None) or (data is not None and shape[0] not in (len(data), None)):
        raise Unconvertible(f"its paddings have shape {list(shape)}, expected [{rank}, 2]")


def _apply(site: NodeSite, constants: Constants, pad: _TensorflowPad) -> Applied:
    """Adds two nodes in front of the node that split unknown paddings into begins and ends."""
    columns = _columns(pad)
    if isinstance(pad.paddings, ir.Value):
        columns = [_column(pad.paddings, i, site, constants, role) for i, role in enumerate(ROLES)]
    return Applied([site.node], site, pad.replacement(*columns))


def _columns(pad: _TensorflowPad) -> list[Operand]:
    """Begins and ends; stand-ins if they are known only at run time."""
    if isinstance(pad.paddings, np.ndarray):
        return [np.ascontiguousarray(column, np.int64) for column in pad.paddings.T]
    return [ir.Value(name=role) for role in ROLES]


def _column(paddings: ir.Value, i: int, site: NodeSite, constants: Constants, role: str) -> ir.Value:
    index = constants.add(np.array(i, np.int64), site, f"{role}_column")
    return constants.insert("Gather", [paddings, index], site, role, [ir.AttrInt64("axis", 1)])
