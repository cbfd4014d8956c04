"""Maps from output positions to source positions, for nodes that only move data and for chains of such nodes.

Along the padded axis, each node maps positions of its output to positions of its input. The maps of successive nodes
compose to one map. ``find_pad`` finds the Pad of one axis that equals a map, for every size of the axis:

- **The size is known.** ``find_pad`` compares the map with the Pad's map (P2), position by position.
- **The size is unknown.** Each bound of the nodes must lie within ``reach`` elements of an end of the axis. Then on an
  axis of more than ``2 * reach`` elements, no Slice clamps a bound and no two bounds cross. If the axis gets one more
  element, only the middle of the nodes' map and of the Pad's map gets longer. So two sizes above ``2 * reach`` decide
  for all longer sizes. ``find_pad`` also compares every shorter size, including 0. It skips the sizes for which the
  nodes fail: the Pad may return any result for them.
- **Some sizes are too short.** For such a size n, a Slice returns fewer elements, but a Pad repeats elements or refuses
  the data. So ``find_pad`` tries a Pad with each amount capped: at n for circular data, at n - 1 for mirrored data.

A chain has only nodes that keep all other axes unchanged: a Slice of two axes ends it. If an Expand, a Tile or a block
of fill changes another axis, the Concat fails, because its other inputs have the dims of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, attribute_value, constant
from padops.convert.model.types import Types, evaluate
from padops.spec.plan import AxisPlan, Mode, source_index

FILL = -1  # in a map: a position that shows no data
LONGEST = 1 << 20  # the most elements of an axis for which maps are written out
UNBOUNDED = 1 << 59  # longer than any axis (P10): as a bound of a Slice, the end of the axis
MOST_SIZES = 128  # the largest reach for which all sizes are compared
# If several modes show the same elements, the first mode counts.
MODES = (Mode.WRAP, Mode.REFLECT, Mode.EDGE, Mode.SYMMETRIC)
# The operators of a step from a value to its source. (A Gather precedes an Unsqueeze.)
COPIES = ("Identity", "Slice", "Gather", "Unsqueeze", "Expand", "Tile")
INT_MAX = (2**31 - 1, 2**63 - 1)  # as the end of a Slice: the end of the data
MOST_STEPS = 8  # from an input to the data
LARGEST_FILL = 1 << 22  # the most elements of a block of fill that are compared

Show = Callable[[np.ndarray], np.ndarray]  # from the positions that an input shows to the output's positions
FAILS = (IndexError, ValueError)  # from a ``Show``: the nodes fail for this size, or make far more elements than a Pad


@dataclass(frozen=True)
class AxisPad:
    mode: Mode
    begin: int
    end: int
    # The largest size for which the nodes differ from the Pad; None if they never differ.
    differs: int | None = None
    # If ``differs`` is set: 0 or 1, so that the nodes equal the Pad at any size n if the Pad's amounts are capped at
    # n - spared; None if neither number fits.
    spared: int | None = None


def _positions(parts: Sequence[Sequence[Step]], size: int) -> np.ndarray:
    """Return each output element's position in the data, or ``FILL``; raise one of ``FAILS`` if the nodes fail."""
    return np.concatenate([reduce(lambda inner, step: step.show(inner), part, np.arange(size)) for part in parts])


def find_pad(parts: Sequence[Sequence[Step]], size: int | None) -> AxisPad | None:
    """Return the Pad whose map equals the map of a Concat of parts, or None. A part lists steps from the data."""
    probe = size
    if probe is None:
        reaches = [step.reach for part in parts for step in part]
        if None in reaches or (reach := sum(filter(None, reaches))) > MOST_SIZES:
            return None
        probe = 4 * reach + 8
    if probe > LONGEST:
        return None
    try:
        pad = _pad_of(_positions(parts, probe), probe)
    except FAILS:
        return None
    if pad is None or size is not None:
        return pad

    def differs(n: int, spared: int = -UNBOUNDED) -> bool:
        """Return whether the nodes differ at size ``n`` from the Pad with its amounts capped at ``n - spared``."""
        most = max(n - spared, 0)
        try:
            return not _is(replace(pad, begin=min(pad.begin, most), end=min(pad.end, most)), _positions(parts, n), n)
        except FAILS:
            return False

    if differs(probe + 1):
        return None
    largest = next((fewer for fewer in range(probe - 1, -1, -1) if differs(fewer)), None)
    if largest is None:
        return pad
    spared = next((k for k in (0, 1) if not any(differs(n, k) for n in range(probe + 2))), None)
    return replace(pad, differs=largest, spared=spared)


def _pad_of(found: np.ndarray, size: int) -> AxisPad | None:
    """Return the Pad whose map at ``size`` is ``found``, or None; the first whole copy of the data sets ``begin``."""
    added = len(found) - size
    if size == 0 or added <= 0:
        return None
    starts = np.flatnonzero(found[: added + 1] == 0).tolist()
    begin = next((i for i in starts if (found[i : i + size] == np.arange(size)).all()), None)
    if begin is None:
        return None
    pads = (AxisPad(mode, begin, added - begin) for mode in ((Mode.CONSTANT,) if FILL in found else MODES))
    return next((pad for pad in pads if _is(pad, found, size)), None)


def _is(pad: AxisPad, found: np.ndarray, size: int) -> bool:
    """Return whether the Pad's map for a size equals ``found``."""
    if len(found) != pad.begin + size + pad.end or (found[pad.begin : pad.begin + size] != np.arange(size)).any():
        return False
    if pad.mode is not Mode.CONSTANT and size == 0 < len(found):
        return False  # P5
    if pad.mode is Mode.SYMMETRIC and max(pad.begin, pad.end) > size:
        return False  # P4: OpenVINOPad_12 has this mode
    plan = AxisPlan(size, 0, size, pad.begin, 0, len(found))
    return np.array_equal(found, source_index(plan, pad.mode, np.arange(len(found))))


@dataclass(frozen=True)
class Step:
    """A node, or a Gather and its Unsqueeze, between a value and its source; or a block of equal elements."""

    value: ir.Value | None  # the source; None for a block
    nodes: tuple[ir.Node, ...]
    show: Show
    reach: int | None = 0  # the number that its bounds add to a map's reach; None if the map then has no reach
    keeps: bool = True  # whether the nodes keep every other axis for any inputs
    rank: int = 0  # the least rank of the result
    element: np.ndarray | None = None  # one element of a block, of rank 0
    # The other dims of a block that is a constant; None for a computed block, whose other dims follow from the data.
    dims: Sequence[int] | None = None


def _tiled(times: int, inner: np.ndarray) -> np.ndarray:
    if len(inner) * times > LONGEST:
        raise ValueError
    return np.tile(inner, times)


def copied(value: ir.Value, graph: ir.Graph | ir.Function | None) -> tuple[ir.Node, ir.Value] | None:
    """Return a value's node in ``graph`` and the node's first input, if the node may copy this input; else None."""
    node = value.producer()
    if node is None or node.domain != "" or node.op_type not in COPIES or node.graph is not graph:
        return None
    return None if not node.inputs or (data := node.inputs[0]) is None else (node, data)


@dataclass(frozen=True)
class Reader:
    """Reads the nodes of one graph along one axis."""

    site: NodeSite  # a node of the graph
    types: Types
    axis: int  # not negative if the rank is known; else as the nodes write it
    rank: int | None  # the rank of the data; None if unknown

    def steps(self, value: ir.Value, data: ir.Value) -> list[Step] | None:
        """Return the steps from the data to a value; None if the value does not copy the data along the axis."""
        steps: list[Step] = []
        while value is not data:
            step = self._step(value)
            if step is None or step.value is None or len(steps) == MOST_STEPS:
                return None
            steps.insert(0, step)
            value = step.value
        return steps

    def _step(self, value: ir.Value) -> Step | None:
        """Return the step from a value to its source; None if the value is no copy along the axis."""
        found = copied(value, self.site.node.graph)
        if found is None:
            return None
        node, data = found
        match node.op_type:
            case "Identity":
                return Step(data, (node,), lambda inner: inner)
            case "Slice":
                return self._slice(node, data)
            case "Expand" | "Tile":  # the second input has a number for each axis
                numbers = self._parts(node.inputs[1]) if len(node.inputs) == 2 else None
                if numbers is None or (count := self._entry(numbers)) is None or not 0 <= count <= LONGEST:
                    return None
                expanded: Show = lambda inner: inner if count == 1 else np.broadcast_to(inner, count)
                show = expanded if node.op_type == "Expand" else partial(_tiled, count)
                return Step(data, (node,), show, keeps=False, rank=len(numbers))
        return self._gather(node, data)

    def block(self, value: ir.Value) -> Step | None:
        node = value.producer()
        if node is None or (node.domain, node.op_type) == ("", "Constant"):
            return self._constant_block(value)
        if node.domain != "" or node.graph is not self.site.node.graph:
            return None
        element: np.ndarray | None = None
        if node.op_type == "ConstantOfShape":
            tensor = attribute_value(node, "value", ir.AttributeType.TENSOR, ir.Tensor(np.zeros(1, np.float32)))
            element, shape = None if tensor is None else tensor.numpy(), node.inputs[0]
        elif node.op_type == "Expand" and len(node.inputs) == 2:
            element, shape = constant(node.inputs[0], self.site.scope), node.inputs[1]
        size = None if element is None or element.size != 1 else self._entry(self._parts(shape))
        if element is None or size is None or not 0 <= size < LONGEST:
            return None
        return Step(None, (node,), lambda _: np.full(size, FILL), keeps=False, element=element.reshape(()))

    def _same_axis(self, axis: int | None) -> bool | None:
        """Return whether an axis is the axis of this reader; None if unknown."""
        if axis is None:
            return None
        if self.rank is not None:
            return -self.rank <= axis < self.rank and axis % self.rank == self.axis
        return axis == self.axis if (axis < 0) == (self.axis < 0) else None

    def _slice(self, node: ir.Node, data: ir.Value) -> Step | None:
        starts, ends = self._integers(node, 1), self._integers(node, 2)
        count = len(starts or ())
        axes, steps = self._integers(node, 3, list(range(count))), self._integers(node, 4, [1] * count)
        columns = [column for column in (starts, ends, steps, axes) if column is not None and len(column) == count]
        if len(columns) < 4 or 0 in columns[2]:
            return None
        mine = None
        for *row, axis in zip(*columns):
            same = self._same_axis(axis)
            if same is None or (same and mine is not None):
                return None
            if same:
                mine = row
            elif row[0] != 0 or (row[1] < UNBOUNDED and row[1] not in INT_MAX) or row[2] != 1:
                return None  # the node slices another axis
        start, end, step = mine or (0, UNBOUNDED, 1)
        if end in INT_MAX:
            if step < 0:
                return None  # in ONNX the slice is empty; ONNX Runtime reads all up to the first element
            end = UNBOUNDED
        reach = sum(abs(bound) for bound in (start, end) if abs(bound) < UNBOUNDED)
        # A backward Slice begins at the first element or later in ONNX, unlike in Python.
        show = lambda inner: inner[max(start, -len(inner)) : end : step]
        return Step(data, (node,), show, reach if step in (1, -1) else None)

    def _gather(self, node: ir.Node, data: ir.Value | None) -> Step | None:
        """Return the step of a Gather, or of an Unsqueeze after a Gather with one index; the indices are constant."""
        nodes: tuple[ir.Node, ...] = (node,)
        if node.op_type == "Unsqueeze":
            axes = attribute_value(node, "axes", ir.AttributeType.INTS, self._integers(node, 1))
            before = data.producer() if data is not None else None
            if before is None or (before.domain, before.op_type, before.graph) != ("", "Gather", node.graph):
                return None
            if axes is None or len(axes) != 1 or not self._same_axis(axes[0]):
                return None
            nodes, data = (before, node), before.inputs[0]
        indices = evaluate(dict(enumerate(nodes[0].inputs)).get(1), self.site.scope, self.types)
        if data is None or indices is None or indices.dtype.kind not in "iu" or indices.ndim != 2 - len(nodes):
            return None
        if not self._same_axis(attribute_value(nodes[0], "axis", ir.AttributeType.INT, 0)):
            return None
        at = indices.reshape(-1).astype(np.int64)
        return Step(data, nodes, lambda inner: inner[at], max(map(abs, at.tolist()), default=0) + 1)

    def _entry(self, parts: list[int | None] | None) -> int | None:
        """Return the axis's entry in a vector with one number per axis; 1 if the vector is too short."""
        if parts is None or (self.rank is None and self.axis >= 0):
            return None  # such vectors are aligned to the last axis
        position = self.axis if self.rank is None else self.axis - self.rank
        return parts[position] if -position <= len(parts) else 1

    def _parts(self, shape: ir.Value | None, joined: bool = True) -> list[int | None] | None:
        """Return the elements of a vector, with None for each unknown element; None if their number is unknown."""
        array = evaluate(shape, self.site.scope, self.types)
        if array is not None:
            return array.tolist() if array.ndim == 1 and array.dtype.kind in "iu" else None
        node = None if shape is None else shape.producer()
        if joined and node is not None and (node.domain, node.op_type) == ("", "Concat"):
            parts = [self._parts(value, joined=False) for value in node.inputs]
            known = [part for part in parts if part is not None]
            return [entry for part in known for entry in part] if len(known) == len(parts) else None
        dims = self.types.shape(shape)
        return [None] * dims[0] if dims is not None and len(dims) == 1 and dims[0] is not None else None

    def _constant_block(self, value: ir.Value) -> Step | None:
        array = constant(value, self.site.scope, LARGEST_FILL)
        if array is None or array.size == 0 or array.ndim == 0:
            return None
        if self.rank is not None and array.ndim != self.rank or not -array.ndim <= self.axis < array.ndim:
            return None
        flat = array.reshape(-1)
        content = flat if flat.dtype.kind == "O" else np.ascontiguousarray(flat).view(np.uint8).reshape(flat.size, -1)
        if not (content == content[0]).all():
            return None
        others = [*array.shape]
        size = others.pop(self.axis)
        return Step(None, (), lambda _: np.full(size, FILL), keeps=False, element=flat[0:1].reshape(()), dims=others)

    def _integers(self, node: ir.Node, i: int, absent: list[int] | None = None) -> list[int] | None:
        value = node.inputs[i] if len(node.inputs) > i else None
        if value is None:
            return absent
        array = evaluate(value, self.site.scope, self.types)
        return array.reshape(-1).tolist() if array is not None and array.dtype.kind in "iu" else None
