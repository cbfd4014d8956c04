"""The symmetric Pad as tf2onnx emulates it, because ONNX has no such mode.

The nodes pad every affected axis by one element, reflect about this element, and remove it again::

    1234  ->  012340  ->  2101234043  ->  21123443

The reflection is a Pad, too. For each axis, a mask states which elements to keep: ones, except at the two added
elements, begin and -1 - end. The masks need the shape of the reflected data, so the emulation is one cluster of seven
or more nodes. The converter evaluates the ones for two shapes with different dims, which decide all. It replaces the
nodes only if the masks are right and nothing else reads the values between them.

If the data come from a convolution, tf2onnx has moved the convolution's Transpose to channels last behind the
reflection. This Transpose stays, behind the operator.

The amounts must be constant. Like TensorFlow, OpenVINOPad_12 reaches n elements and refuses to reach further (P4); the
emulation would show the padding of the other end. So an emulation stays if it is known to reach further, or if its
amounts are known only at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.matchers import onnx_pad
from padops.convert.model.graphs import (
    Constants,
    NodeSite,
    Scope,
    attribute_value,
    constant,
    remove_unused,
    replace_in_place,
)
from padops.convert.model.types import REFUSALS, Types, collect, run_nodes
from padops.convert.pads.match import Applied, Match, Replacement, in_mode
from padops.spec.dialects import DOMAIN

OP = "OpenVINOPad_12"
FORM = "symmetric emulation of tf2onnx"


@dataclass
class _Emulation:
    scope: Scope
    nodes: list[ir.Node]  # first the two Pads, last the node that makes the result
    amounts: np.ndarray  # the amounts of all axes of the data, begins then ends
    order: list[int] | None = None  # the axes of the result, if a Transpose stands behind the reflection; else None

    @property
    def replacement(self) -> Replacement:
        return in_mode(OP, "symmetric", self.nodes[0].inputs[0], *np.split(self.amounts.astype(np.int64), 2))


def match_symmetric_emulation(site: NodeSite, types: Types) -> Match | None:
    """Recognise the two Pads of an emulation; the rewrite of the first Pad replaces all nodes."""
    node = site.node
    if not _is(node, "Pad") or not node.inputs or node.inputs[0] is None:
        return None
    before = node.inputs[0].producer()
    mode = attribute_value(node, "mode", ir.AttributeType.STRING)
    first = before if before is not None and _is(before, "Pad") and mode == "reflect" else node
    emulation = _recognise(first, site.scope, types)
    if emulation is None:
        return None
    second = NodeSite(emulation.nodes[1], site.path, site.scope)
    plain = onnx_pad.match_onnx_pad(second, types)
    if plain is None or plain.pad is None or plain.apply is not None:
        return None
    last = emulation.nodes[-1]
    note = f"one operator for the {len(emulation.nodes)} nodes up to {last.name or last.outputs[0].name}"
    apply: Callable[[NodeSite, Constants], Applied] = partial(_apply, emulation=emulation)
    if first is not node:
        note, apply = f"in one with {first.name or 'the Pad before it'}", lambda site, constants: Applied([])
    return Match(FORM, emulation.replacement, apply, plain.runs_as, (plain.pad, second), notes=(note,))


def _recognise(first: ir.Node, scope: Scope, types: Types) -> _Emulation | None:
    """Return the emulation that begins with ``first``; None if there is none."""
    added = _amounts(first, "constant", scope)
    readers = _readers(first)
    amounts = _amounts(readers[0], "reflect", scope) if added is not None and len(readers) == 1 else None
    if added is None or amounts is None or amounts.size % 2 or first.inputs[0] is None:
        return None
    most, shape = amounts.reshape(2, -1).max(axis=0), types.shape(first.inputs[0])
    rank, axes = most.size, np.flatnonzero(added[: most.size]).tolist()
    if added.size != amounts.size or (added[:rank] != added[rank:]).any() or not {*added.tolist()} <= {0, 1}:
        return None
    if not axes or (amounts < 0).any() or not {*np.flatnonzero(most).tolist()} <= {*axes}:
        return None
    if shape is not None and (len(shape) != rank or any(n is not None and n < m for n, m in zip(shape, most))):
        return None
    found = _Emulation(scope, [first, readers[0]], amounts)
    transpose = next((node for node in _readers(readers[0]) if _is(node, "Transpose")), None)
    if transpose is not None:
        found.order = list(attribute_value(transpose, "perm", ir.AttributeType.INTS) or ())
        found.nodes.append(transpose)
        if sorted(found.order) != list(range(rank)):
            return None
    # The sizes of the reflected data, which differ from each other.
    sizes = amounts[:rank] + amounts[rank:] + most.max() + 4 + np.arange(rank) * (2 * most.max() + 2)
    left = set(axes)
    while left:
        compress = next((node for node in _readers(found.nodes[-1]) if _is(node, "Compress")), None)
        at = -1 if compress is None else attribute_value(compress, "axis", ir.AttributeType.INT)
        if compress is None or at not in range(rank):
            return None
        axis = at if found.order is None else found.order[at]
        if axis not in left or not _removes(found, compress, axis, sizes, types):
            return None
        left.remove(axis)
    if any(node.graph is not first.graph for node in found.nodes):
        return None
    inner = [value for node in found.nodes[:-1] for value in node.outputs]
    if any(value.is_graph_output() or any(use.node not in found.nodes for use in value.uses()) for value in inner):
        return None
    return found


def _removes(found: _Emulation, compress: ir.Node, axis: int, sizes: np.ndarray, types: Types) -> bool:
    """Return whether a Compress removes the elements added to an axis; if so, collect its nodes."""
    scatter = compress.inputs[1].producer() if len(compress.inputs) == 2 and compress.inputs[1] is not None else None
    if scatter is None or not _is(scatter, "ScatterElements", "Scatter") or len(scatter.inputs) != 3:
        return False
    ones = scatter.inputs[0]
    if attribute_value(scatter, "axis", ir.AttributeType.INT, 0) != 0 or not {*scatter.attributes} <= {"axis"}:
        return False
    places, marks = (constant(value, found.scope) for value in scatter.inputs[1:])
    begin, end = (part[axis] for part in np.split(found.amounts, 2))
    if places is None or marks is None or places.tolist() != [begin, -1 - end] or marks.tolist() != [False, False]:
        return False
    nodes: list[ir.Node] = []
    for more in (0, 1):  # ``ones`` of two shapes
        shapes: dict[ir.Value, np.ndarray] = {}
        for node in found.nodes[1 : 2 if found.order is None else 3]:
            dims = sizes + more if node is found.nodes[1] else (sizes + more)[found.order]
            shapes |= {one.outputs[0]: dims for one in _readers(node) if _is(one, "Shape") and not one.attributes}
        leaves, nodes = dict(shapes), []
        try:
            known = ones is not None and collect(ones, found.scope, types, leaves, nodes)
            array = run_nodes(nodes, leaves, ones, found.scope.opset) if ones is not None and known and nodes else None
        except REFUSALS:
            return False
        if array is None or not np.array_equal(array, np.ones(sizes[axis] + more, bool)):
            return False
    read = {value for node in nodes for value in node.inputs}
    nodes = [one for value in shapes if value in read and (one := value.producer())] + nodes
    found.nodes += [*(node for node in nodes if node not in found.nodes), scatter, compress]
    return True


def _apply(site: NodeSite, constants: Constants, emulation: _Emulation) -> Applied:
    """Turn the last node into the operator, or into the Transpose behind it, and remove the other nodes."""
    made = emulation.replacement
    *others, last = emulation.nodes
    read = [value for node in emulation.nodes for value in node.inputs if value is not None]
    data, operator = others[0].inputs[0], last
    if emulation.order is not None:
        padded = ir.Value(name=constants.fresh(f"{last.outputs[0].name}_padded"))
        operator = ir.Node(DOMAIN, OP, [data], outputs=[padded], name=padded.name)
        last.prepend(operator)
        replace_in_place(last, "", "Transpose", [padded], [ir.AttrInt64s("perm", emulation.order)])
    else:
        replace_in_place(last, DOMAIN, OP, [data])
    site.scope.graph.remove(others, safe=True)
    remove_unused(read)
    return Applied([last], NodeSite(operator, site.path, site.scope), made)


def _amounts(node: ir.Node, mode: str, scope: Scope) -> np.ndarray | None:
    """Return the constant amounts of a Pad with only data, amounts and a mode; else None.

    The fill of the first Pad does not matter, because its elements are removed again.
    """
    given = attribute_value(node, "mode", ir.AttributeType.STRING, "constant")
    if not _is(node, "Pad") or given != mode or not {*node.attributes} <= {"mode", "pads"}:
        return None
    if len(node.outputs) != 1 or len(node.inputs) != 2 - ("pads" in node.attributes):
        return None
    if "pads" in node.attributes:
        listed = attribute_value(node, "pads", ir.AttributeType.INTS)
        return None if listed is None else np.array(listed, np.int64)
    array = constant(node.inputs[1], scope)
    return None if array is None else array.reshape(-1)


def _is(node: ir.Node, *op_types: str) -> bool:
    return node.domain == "" and node.op_type in op_types


def _readers(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node's first output as their first input."""
    return [use.node for use in node.outputs[0].uses() if use.idx == 0]
