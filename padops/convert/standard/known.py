"""What is known of a node before it runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.sources.match import Replacement, Unconvertible, misfit, type_of
from padops.convert.standard.graph_builder import Operand
from padops.convert.standard.pad_info import PadInfo
from padops.spec.dialects import INTEGER_KINDS, OPS, Node, Op
from padops.spec.dtypes import by_numpy
from padops.spec.plan import PadError


def replacement_of(node: ir.Node) -> Replacement:
    """What an operator of padops is, as a replacement of itself."""
    return Replacement(node.op_type, tuple(node.inputs), dict(node.attributes))


def pad_info_of(replacement: Replacement, site: NodeSite, types: Types) -> PadInfo:
    """The node that a replacement describes, with everything that the model says of it.

    Raises:
        Unconvertible: It has too many inputs or lacks one, or one is of the wrong type; it lacks an attribute, or one says
            what its operator does not know (P8, P9, S1).
    """
    op = OPS[replacement.op_type]
    if wrong := misfit(replacement):
        raise Unconvertible(wrong)
    given = (*replacement.inputs, *(None,) * (len(op.inputs) - len(replacement.inputs)))
    inputs = [given[0], *(_known(value, site, types) for value in given[1:])]
    for row, array in zip(op.inputs, inputs):
        if row.kind in INTEGER_KINDS and isinstance(array, np.ndarray) and array.dtype.kind not in "iu":
            raise Unconvertible(f"its input {row.name} is of type {type_of(array)}, expected integers")
    name, modes = site.node.name or "", _modes(op, replacement.attributes, site.node.name or "")
    position = op.input_index(op.fill)
    fill = None if position is None else given[position]
    fill_dims = list(fill.shape) if isinstance(fill, np.ndarray) else types.shape(fill)
    type_name, dims = _type(replacement, site, types), types.shape(given[0])
    pad = PadInfo(op, inputs, replacement.attributes, type_name, dims, modes, given, fill_dims, name=name)
    position = op.input_index("pads")
    pads = None if position is None else given[position]
    pad.flat_pads = not isinstance(pads, ir.Value) or len(types.shape(pads) or [0, 0]) == 1
    position = op.input_index("axes")
    axes = None if position is None else given[position]
    pad.wide_axes = not isinstance(axes, ir.Value) or types.name(axes) == "int64"
    return pad


def _modes(op: Op, attributes: Mapping[str, ir.Attr], name: str) -> tuple[str, ...]:
    """What the mode may be."""
    given = {key: attribute.value for key, attribute in attributes.items() if not attribute.is_ref()}
    try:
        if len(given) == len(attributes):
            Node(op, name, given).mode()
        mode = None if op.mode in attributes and op.mode not in given else Node(op, name, given).attribute(op.mode)
        if mode is not None and mode not in op.modes:
            raise PadError("P9", f"{op.mode} '{mode}' is not one of {', '.join(op.modes)}", op.name, name)
    except PadError as error:
        raise Unconvertible(str(error)) from error
    return op.modes if mode is None else (mode,)


def _known(value: ir.Value | np.ndarray | None, site: NodeSite, types: Types) -> Operand | None:
    if value is None or isinstance(value, np.ndarray):
        return value
    array = evaluate(value, site.scope, types)
    if array is None:
        return value
    if array.dtype.kind in "OSU":  # onnx_ir has the strings of a tensor as bytes
        return np.array([_text(item) for item in array.reshape(-1)], object).reshape(array.shape)
    return array


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _type(replacement: Replacement, site: NodeSite, types: Types) -> str | None:
    """The element type of the data, which the fill and the output have too."""
    op = OPS[replacement.op_type]
    position = op.input_index(op.fill)
    same = [replacement.inputs[i] for i in (0, position) if i is not None and i < len(replacement.inputs)]
    for value in same:
        if isinstance(value, np.ndarray):
            return by_numpy(value.dtype).name
    return types.name(*same, *site.node.outputs)
