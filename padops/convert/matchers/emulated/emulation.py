"""Finds the Pad of one axis whose result a Concat or a Gather gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import onnx_ir as ir

from padops.convert.matchers.emulated.chains import COPIES, Block, Reader, Step
from padops.convert.matchers.emulated.maps import DATA, AxisPad, Map, find_pad, joined, taken
from padops.convert.model.graphs import NodeSite, attribute_value, constant
from padops.convert.model.types import Types
from padops.convert.pads.operands import Dims
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS
from padops.spec.plan import Mode

MOST_INPUTS = 32  # of a Concat
MOST_STEPS = 8  # from an input to the data
MOST_ANCESTORS = 64  # values that are followed to see whether data are computed from constants alone
BLOCKS = ("Constant", "ConstantOfShape", "Expand")


@dataclass(frozen=True)
class Emulation:
    """A Pad of one axis."""

    root: ir.Node  # the node that gives the padded data
    data: ir.Value
    axis: int  # not negative if the rank is known; else as the node writes it
    rank: int | None  # the rank of the data; None if unknown
    pad: AxisPad
    fill: np.ndarray | None  # for mode constant, one element of rank 0; else None
    nodes: tuple[ir.Node, ...]  # all nodes whose work the Pad does, ``root`` last


def find(site: NodeSite, types: Types) -> Emulation | None:
    """The Pad whose result a node gives; None if there is none."""
    node, opset = site.node, site.scope.opset
    inputs = [value for value in node.inputs if value is not None]
    if node.domain != "" or opset is None or opset < FIRST_WITH_INPUTS or len(inputs) != len(node.inputs):
        return None
    axis = _axis(node)
    if axis is None or len(node.outputs) != 1:
        return None
    if node.op_type == "Gather":
        return _find_gathered(site, types, axis)
    if node.op_type != "Concat" or not 1 < len(inputs) <= MOST_INPUTS:
        return None
    found = (_find_joined(site, types, axis, inputs, data) for data in _common(inputs, node.graph))
    return next((emulation for emulation in found if emulation is not None), None)


def _axis(node: ir.Node) -> int | None:
    if "axis" not in node.attributes and node.op_type == "Gather":
        return 0
    axis: int | None = attribute_value(node, "axis", ir.AttributeType.INT)
    return axis


def _common(inputs: Sequence[ir.Value], graph: ir.Graph | ir.Function | None) -> Iterator[ir.Value]:
    """Values from which all inputs except possible blocks of fill may be taken, the nearest first.

    Only the operators are read, so a Concat of other values costs next to nothing.
    """
    chains = []
    for value in dict.fromkeys(inputs):
        chain = [value]
        while len(chain) <= MOST_STEPS and (before := _copied(chain[-1], graph)) is not None:
            chain.append(before)
        chains.append(chain)
    near = sorted(((depth, value) for chain in chains for depth, value in enumerate(chain)), key=lambda row: row[0])
    for data in dict.fromkeys(value for _, value in near):
        if all(data in chain or _may_be_block(chain[0]) for chain in chains):
            yield data


def _copied(value: ir.Value, graph: ir.Graph | ir.Function | None) -> ir.Value | None:
    """The value of which a value may be a copy; None if its node copies nothing."""
    node = value.producer()
    if node is None or node.domain != "" or node.op_type not in COPIES or node.graph is not graph:
        return None
    return node.inputs[0] if node.inputs else None


def _may_be_block(value: ir.Value) -> bool:
    node = value.producer()
    if node is None:
        return value.is_initializer()
    return node.domain == "" and node.op_type in BLOCKS


def _find_joined(
    site: NodeSite, types: Types, axis: int, inputs: Sequence[ir.Value], data: ir.Value
) -> Emulation | None:
    """The Pad of ``data`` that a Concat is."""
    dims, rank = _dims(data, site.node.outputs[0], types)
    if rank is not None and not -rank <= axis < rank:
        return None
    reader = Reader(site, types, axis if rank is None else axis % rank, rank)
    parts: list[Map] = []
    nodes: list[ir.Node] = []
    blocks: list[Block] = []
    keeps, least = False, 0
    for value in inputs:
        steps = _steps(value, data, reader)
        if steps is not None:
            parts.append(reduce(lambda shown, step: step.wrap(shown), reversed(steps), DATA))
            nodes += [node for step in reversed(steps) for node in step.nodes]
            keeps = keeps or all(step.keeps for step in steps)
            least = max(least, *(step.rank for step in steps), 0)
            continue
        block = reader.block(value)
        if block is None or not _fits(block, dims, reader.axis):
            return None
        parts.append(block.map)
        nodes += block.nodes
        blocks.append(block)
    if not keeps or _may_be_shape(data, reader, least) or len({bits(block.element) for block in blocks}) > 1:
        return None
    fill = blocks[0].element if blocks else None
    return _emulation(reader, data, dims, joined(parts), (*dict.fromkeys(nodes), site.node), fill)


def _find_gathered(site: NodeSite, types: Types, axis: int) -> Emulation | None:
    """The Pad that a Gather is: its constant indices repeat some elements, or count from the end."""
    node = site.node
    data, indices = node.inputs[0], constant(node.inputs[1], site.scope) if len(node.inputs) == 2 else None
    if data is None or indices is None or indices.ndim != 1 or indices.dtype.kind not in "iu":
        return None
    if indices.size < 2 or (len(np.unique(indices)) == indices.size and indices.min() >= 0):
        return None
    dims = types.shape(data)
    if dims is None or not -len(dims) <= axis < len(dims):
        return None
    reader = Reader(site, types, axis % len(dims), len(dims))
    if _may_be_shape(data, reader):
        return None
    return _emulation(reader, data, dims, taken(DATA, indices.tolist()), (node,), None)


def _emulation(
    reader: Reader, data: ir.Value, dims: Dims | None, shown: Map, nodes: tuple[ir.Node, ...], fill: np.ndarray | None
) -> Emulation | None:
    """The Pad of one axis whose map is ``shown``; None if there is none, or the data follow from constants."""
    pad = find_pad(shown, None if dims is None else dims[reader.axis])
    if pad is None or (fill is None) != (pad.mode is not Mode.CONSTANT):
        return None
    if _is_computed_from_constants(data):
        return None
    return Emulation(nodes[-1], data, reader.axis, reader.rank, pad, fill, nodes)


def _may_be_shape(data: ir.Value, reader: Reader, least: int = 0) -> bool:
    """Whether data of at least ``least`` axes may be a vector of integers, such as a shape."""
    axes = reader.rank or max(least, reader.axis + 1, -reader.axis)
    return axes == 1 and reader.types.name(data, reader.site.node.outputs[0]) in ("int32", "int64", None)


def _dims(data: ir.Value, output: ir.Value, types: Types) -> tuple[Dims | None, int | None]:
    """The dims and the rank of the data."""
    dims = types.shape(data)
    known = types.shape(output) if dims is None else dims
    return dims, None if known is None else len(known)


def _steps(value: ir.Value, data: ir.Value, reader: Reader) -> list[Step] | None:
    """The steps from a value to the data; None if the value is no copy of the data along the axis."""
    steps: list[Step] = []
    while value is not data:
        step = reader.step(value)
        if step is None or len(steps) == MOST_STEPS:
            return None
        steps.append(step)
        value = step.value
    return steps


def _fits(block: Block, dims: Dims | None, axis: int) -> bool:
    """Whether a block has the other dims of the data; a computed block always has them, or Concat fails."""
    if block.dims is None:
        return True
    if dims is None or len(dims) != len(block.dims):
        return False
    return all(i == axis or one == other for i, (one, other) in enumerate(zip(block.dims, dims)))


def _is_computed_from_constants(data: ir.Value) -> bool:
    """Whether ONNX Runtime may compute a value while it loads the model."""
    pending, seen = [data], {data}
    while pending and len(seen) <= MOST_ANCESTORS:
        value = pending.pop()
        node = value.producer()
        if node is None and (value.is_graph_input() or not value.is_initializer()):
            return False
        if node is not None:
            if node.graph is None or not node.inputs and (node.domain, node.op_type) != ("", "Constant"):
                return False
            more = [x for x in node.inputs if x is not None and x not in seen]
            pending += more
            seen.update(more)
    return not pending


def bits(element: np.ndarray) -> object:
    """The bits of one element; the element itself for a string."""
    return element.item() if element.dtype.kind == "O" else element.tobytes()
