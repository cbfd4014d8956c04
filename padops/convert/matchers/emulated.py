"""Emulated Pads: nodes that only move data, and together do the same as one Pad.

PyTorch's TorchScript exporter writes ``pad(mode="circular")`` and circular convolutions with a Concat for each axis::

    1234  ->  34 (Slice), 1234, 1 (Slice)  ->  3412341 (Concat)

People write Pads by hand: a flip (a backward Slice) beside the data; an edge that Expand or Tile repeats; a block of
zeros; a Gather that repeats elements. ``maps.py`` takes one axis at a time, and describes each input of the Concat by a
map from the input's positions to positions in the data. It compares the joined maps with the map of a Pad, so the
choice of nodes does not matter. Two such Pads become one if they have the same mode and fill, the later Pad has the
higher axis, and nothing else reads the value between them. (``folding`` joins other Pads.) Data of unknown size may be
shorter than the amounts. Then a Pad with computed amounts replaces the nodes, but only if fewer nodes are left.

An emulation stays in three cases:

- The opset is older than 11: a Pad would have no fallback.
- The nodes differ from a Pad for a size that the model allows, and a Pad with computed amounts cannot replace them. The
  record states the sizes.
- The data are a vector of integers, or are computed from constants alone. ONNX Runtime may compute such values while
  it loads the model, but only with its own operators.

**tf2onnx's symmetric Pad**: the nodes add one element at each end of every affected axis, reflect about these elements,
and remove them again::

    1234  ->  012340  ->  2101234043  ->  21123443

The reflection is a Pad, too. For each axis, a mask selects the elements to keep: it is true, except at ``begin`` and
``-1 - end``, the places of the two added elements. The masks need the shape of the reflected data, so the emulation is
one cluster of seven or more nodes. Each mask starts as a vector of ones. To check this vector, the converter evaluates
its nodes for two shapes. No two dims of a shape are equal, so the results hold for all shapes. The converter replaces
the nodes only if the masks are right and nothing else reads the values between the nodes. For a convolution, tf2onnx
puts a Transpose (from channels-last) behind the reflection. After the conversion, the Transpose follows the Pad.

The amounts must be constant. TensorFlow and OpenVINOPad_12 refuse an amount larger than the axis (P4). The emulation
accepts such an amount, and repeats the element that it has added at the opposite end. So an emulation stays if an
amount is known to be larger than its axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.matchers import onnx_pad
from padops.convert.matchers.maps import LONGEST, MOST_STEPS, AxisPad, Reader, Step, copied, find_pad
from padops.convert.model.graphs import Constants, NodeSite, Scope, attribute_value, constant, replace_in_place
from padops.convert.model.types import REFUSALS, Types, collect, remove_unread, run_nodes
from padops.convert.pads.match import Applied, Match, Replacement, Unconvertible, check_type, in_mode, settle_version
from padops.convert.runtimes import FIRST_WITH_INPUTS
from padops.spec.dialects import DOMAIN, OPS
from padops.spec.plan import Mode

MOST_INPUTS = 32  # of a Concat
MOST_ANCESTORS = 64  # the most values to examine, to find whether constants alone determine the data
BLOCKS = ("Constant", "ConstantOfShape", "Expand")
SYMMETRIC_OP = "OpenVINOPad_12"
FIRST_WITH_WRAP = 19
FIRST_WITH_INTEGERS = 12  # the first opset whose Min and Max accept integers
Bounds = Sequence[int]  # per axis: the largest amount minus the size, ``LONGEST`` if unbounded


@dataclass(frozen=True)
class Emulation:
    """A Pad of one axis."""

    data: ir.Value
    axis: int  # not negative if the rank is known; else as the node writes it
    rank: int | None  # the rank of the data; None if unknown
    pad: AxisPad
    fill: np.ndarray | None  # for mode constant, one element of rank 0; else None
    nodes: tuple[ir.Node, ...]  # all nodes that the Pad replaces; the last node makes the padded data

    @property
    def padded(self) -> ir.Value:
        return self.nodes[-1].outputs[0]


def find(site: NodeSite, types: Types) -> Emulation | None:
    node, opset = site.node, site.scope.opset
    inputs = [value for value in node.inputs if value is not None]
    if node.domain != "" or opset is None or opset < FIRST_WITH_INPUTS or len(inputs) != len(node.inputs):
        return None
    axis: int | None = attribute_value(node, "axis", ir.AttributeType.INT, 0 if node.op_type == "Gather" else None)
    if axis is None or len(node.outputs) != 1:
        return None
    if node.op_type == "Gather":
        if len(inputs) != 2 or constant(inputs[1], site.scope) is None or types.shape(inputs[0]) is None:
            return None
        return _find_of(inputs[0], site, types, axis, node.outputs)
    if node.op_type != "Concat" or not 1 < len(inputs) <= MOST_INPUTS:
        return None
    found = (_find_of(data, site, types, axis, inputs) for data in _common(inputs, node.graph))
    return next((emulation for emulation in found if emulation is not None), None)


def _common(inputs: Sequence[ir.Value], graph: ir.Graph | ir.Function | None) -> Iterator[ir.Value]:
    """Yield values, nearest first, for which each input may be a copy of the value, or a block of fill."""
    chains = []
    for value in dict.fromkeys(inputs):
        chain = [value]
        while len(chain) <= MOST_STEPS and (found := copied(chain[-1], graph)) is not None:
            chain.append(found[1])
        chains.append(chain)
    near = sorted(((depth, value) for chain in chains for depth, value in enumerate(chain)), key=lambda row: row[0])
    for data in dict.fromkeys(value for _, value in near):
        made = [chain[0].producer() for chain in chains if data not in chain]
        if all(node is None or (node.domain == "" and node.op_type in BLOCKS) for node in made):
            yield data


def _find_of(data: ir.Value, site: NodeSite, types: Types, axis: int, inputs: Sequence[ir.Value]) -> Emulation | None:
    """Return the Pad of ``data`` that the node emulates; ``inputs`` are a Concat's inputs, or a Gather's outputs."""
    dims = types.shape(data)
    known = types.shape(site.node.outputs[0]) if dims is None else dims
    rank = None if known is None else len(known)
    if rank is not None and not -rank <= axis < rank:
        return None
    reader = Reader(site, types, axis if rank is None else axis % rank, rank)
    others = None if dims is None else [dim for i, dim in enumerate(dims) if i != reader.axis]
    parts: list[list[Step]] = []
    for value in inputs:
        steps = reader.steps(value, data)
        if steps is None:
            block = reader.block(value)
            if block is None or (block.dims is not None and block.dims != others):  # Concat fails with other dims
                return None
            steps = [block]
        parts.append(steps)
    every = [step for part in parts for step in part]
    elements = {bits(step.element): step.element for step in every if step.element is not None}
    keeps = any(all(step.keeps for step in part) for part in parts)
    # Data of one axis may be a vector of integers, such as a shape.
    axes = reader.rank or max(*(step.rank for step in every), reader.axis + 1, -reader.axis)
    is_shape = axes == 1 and types.name(data, site.node.outputs[0]) in ("int32", "int64", None)
    if not keeps or is_shape or len(elements) > 1:
        return None
    pad = find_pad(parts, None if dims is None else dims[reader.axis])
    if pad is None or (pad.mode is Mode.CONSTANT) != bool(elements) or _is_computed_from_constants(data):
        return None
    nodes = (*(node for step in every for node in step.nodes), site.node)
    return Emulation(data, reader.axis, rank, pad, next(iter(elements.values()), None), tuple(dict.fromkeys(nodes)))


def _is_computed_from_constants(data: ir.Value) -> bool:
    """Return whether ONNX Runtime may compute a value while it loads the model."""
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
    return element.item() if element.dtype.kind == "O" else element.tobytes()


def match_emulated_pad(site: NodeSite, types: Types) -> Match | None:
    last = find(site, types)
    if last is None or _goes_on(last, site, types):
        return None
    found = _chain(last, site, types)
    nodes = [node for emulation in found for node in emulation.nodes]
    name = "circular" if last.pad.mode is Mode.WRAP else last.pad.mode.value
    form = f"{name} emulation ({', '.join(dict.fromkeys(node.op_type for node in nodes))})"
    gone = [nodes[-1]]  # the last node, which becomes the Pad, and the nodes whose results nothing else reads
    for node in reversed(nodes[:-1]):
        value = node.outputs[0]
        if node not in gone and not value.is_graph_output() and all(use.node in gone for use in value.uses()):
            gone.insert(0, node)
    notes = [f"one operator for {', '.join(node.name or node.outputs[0].name or node.op_type for node in gone)}"]
    try:
        bounds = _bounds(found, site, len(gone))
        made = _replacement(found, bounds, types)
    except Unconvertible as why:
        return Match(form, status="not needed", reason=f"ONNX Runtime runs it as it is; {why}")
    if bounds is not None:
        notes.append("its amounts are computed, since the nodes reach no further than the data")

    def apply(site: NodeSite, constants: Constants) -> Applied:
        data, amounts, *others = made.inputs
        assert isinstance(data, ir.Value) and isinstance(amounts, np.ndarray)
        read = [value for value in dict.fromkeys(site.node.inputs) if value is not None]
        replace_in_place(site.node, DOMAIN, made.op_type, [data])
        remove_unread(read)
        if bounds is None:
            return Applied([site.node], site, made)
        amounts = _bounded(data, amounts, bounds, site, constants)
        return Applied([site.node], site, replace(made, inputs=(data, amounts, *others)))

    return Match(form, made, apply, notes=tuple(notes), runs="ONNX Runtime runs it")


def _bounds(found: Sequence[Emulation], site: NodeSite, gone: int) -> Bounds | None:
    """Return bounds for amounts if an axis may be too short, else None; raise Unconvertible if bounds do not help."""
    short = next((emulation for emulation in found if emulation.pad.differs is not None), None)
    if short is None:
        return None
    pad, opset = short.pad, site.scope.opset
    sizes = f"fewer than {pad.differs + 1} elements" if pad.differs else "no element"
    why = f"a Pad of {pad.begin}, {pad.end} does something else where axis {short.axis} has {sizes}"
    if pad.spared is None or short.rank is None or opset is None or opset < FIRST_WITH_INTEGERS:
        raise Unconvertible(why)
    bounds = [0] * short.rank
    for emulation in found:
        spared = emulation.pad.spared
        bounds[emulation.axis] = LONGEST if spared is None else -spared
    if gone <= 4 + any(bounds) + (-1 in bounds):  # the Pad, and the nodes of ``_bounded``
        raise Unconvertible(f"{why}, and a Pad with computed amounts saves no nodes")
    return bounds


def _chain(last: Emulation, site: NodeSite, types: Types) -> list[Emulation]:
    """Return the emulations that one Pad replaces, in order; the emulation of the last axis comes last."""
    found = [last]
    while (node := found[0].data.producer()) is not None and node.graph is site.node.graph:
        before = find(NodeSite(node, site.path, site.scope), types)
        if before is None or not _are_one(before, found[0]):
            break
        found.insert(0, before)
    return found


def _goes_on(emulation: Emulation, site: NodeSite, types: Types) -> bool:
    """Return whether one Pad replaces this emulation and a later emulation together."""
    for node in dict.fromkeys(use.node for use in emulation.padded.uses()):
        if node.graph is site.node.graph:
            after = find(NodeSite(node, site.path, site.scope), types)
            if after is not None and after.data is emulation.padded and _are_one(emulation, after):
                return True
    return False


def _are_one(first: Emulation, second: Emulation) -> bool:
    """Return whether one Pad replaces two emulations; the second emulation pads the first's result.

    The order of the axes does not change the result. But padops joins two emulations only if the second one has the
    higher axis, so that no emulation belongs to two Pads: with axes 2, 3 and 2, the first two become one Pad.
    """
    padded, both = first.padded, (first, second)
    one, other = ((x.rank, x.pad.mode, None if x.fill is None else (x.fill.dtype, bits(x.fill))) for x in both)
    if one != other or first.rank is None or first.axis >= second.axis or padded.is_graph_output():
        return False
    if any(x.pad.differs is not None and x.pad.spared is None for x in both):
        return False  # for small sizes, an emulation differs from a Pad even with smaller amounts
    return all(use.node in second.nodes for use in padded.uses())


def _replacement(found: Sequence[Emulation], bounds: Bounds | None, types: Types) -> Replacement:
    """Return the Pad that replaces all emulations, with its amounts before ``_bounded`` caps them."""
    first, last = found[0], found[-1]
    mode, type_name = last.pad.mode, types.name(first.data, last.padded)
    rank = first.rank
    begins, ends = np.zeros((2, 1 if rank is None else rank), np.int64)
    for emulation in found:  # with an unknown rank, there is one emulation, and the Pad names its axis
        at = emulation.axis if rank is not None else 0
        begins[at], ends[at] = emulation.pad.begin, emulation.pad.end
    axes = np.array([first.axis]) if rank is None else None
    if mode is Mode.SYMMETRIC:
        check_type(type_name, OPS[SYMMETRIC_OP])
        if axes is not None or bounds is not None:
            raise Unconvertible(f"{SYMMETRIC_OP} needs constant amounts for every axis, but some are not known")
        return in_mode(SYMMETRIC_OP, mode.value, first.data, begins, ends)
    op_type = settle_version(FIRST_WITH_WRAP, type_name, {mode.value})
    fill = last.fill
    if fill is not None and not (fill.item() if fill.dtype.kind == "O" else any(fill.tobytes())):
        fill = None  # the default (P7)
    return in_mode(op_type, mode.value, first.data, np.concatenate([begins, ends]), fill, axes)


def _bounded(data: ir.Value, amounts: np.ndarray, bounds: Bounds, site: NodeSite, constants: Constants) -> ir.Value:
    """In front of the padding node of ``site``, add nodes that bound the amounts by the size of the data.

    If an axis has only 2 elements, a Slice of the last 3 returns 2; a Pad by 3 would repeat one. So the amounts are::

        x -> Shape -> Concat with itself -> [Add ``bounds`` -> Max 0 ->] Min with the amounts -> pads
    """
    dims = constants.insert("Shape", [data], site, "shape")
    most = constants.insert("Concat", [dims, dims], site, "sizes", [ir.AttrInt64("axis", 0)])
    if any(bounds):
        more = constants.add(np.array([*bounds, *bounds], np.int64), site, "more")
        most = constants.insert("Add", [most, more], site, "most")
    if -1 in bounds:
        most = constants.insert("Max", [most, constants.add(np.zeros(1, np.int64), site, "nothing")], site, "left")
    pads = constants.insert("Min", [most, constants.add(amounts, site, "amounts")], site, "pads")
    pads.shape = ir.Shape([len(amounts)])
    return pads


@dataclass
class _Cluster:
    scope: Scope
    nodes: list[ir.Node]  # first the two Pads, last the node that makes the result
    amounts: np.ndarray  # the amounts of all axes of the data, begins then ends
    order: list[int] | None = None  # the axes of the result, if a Transpose follows the reflection; else None

    @property
    def replacement(self) -> Replacement:
        return in_mode(SYMMETRIC_OP, "symmetric", self.nodes[0].inputs[0], *np.split(self.amounts.astype(np.int64), 2))


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
    apply: Callable[[NodeSite, Constants], Applied] = partial(_replace_cluster, emulation=emulation)
    if first is not node:
        note, apply = f"converted with {first.name or 'the Pad before it'}", lambda site, constants: Applied([])
    form = "symmetric emulation of tf2onnx"
    return Match(form, emulation.replacement, apply, plain.runs_as, (plain.pad, second), notes=(note,))


def _recognise(first: ir.Node, scope: Scope, types: Types) -> _Cluster | None:
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
    found = _Cluster(scope, [first, readers[0]], amounts)
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


def _removes(found: _Cluster, compress: ir.Node, axis: int, sizes: np.ndarray, types: Types) -> bool:
    """Return whether a Compress removes an axis's added elements; if so, add the Compress and its mask to ``found``."""
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
    for more in (0, 1):  # evaluates ``ones`` for two shapes
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


def _replace_cluster(site: NodeSite, constants: Constants, emulation: _Cluster) -> Applied:
    """Turn the last node into the operator, or into the Transpose behind the operator, and remove the other nodes."""
    made = emulation.replacement
    *others, last = emulation.nodes
    read = [value for node in emulation.nodes for value in node.inputs if value is not None]
    data, operator = others[0].inputs[0], last
    if emulation.order is not None:
        padded = ir.Value(name=constants.fresh(f"{last.outputs[0].name}_padded"))
        operator = ir.Node(DOMAIN, SYMMETRIC_OP, [data], outputs=[padded], name=padded.name)
        last.prepend(operator)
        replace_in_place(last, "", "Transpose", [padded], [ir.AttrInt64s("perm", emulation.order)])
    else:
        replace_in_place(last, DOMAIN, SYMMETRIC_OP, [data])
    site.scope.graph.remove(others, safe=True)
    remove_unread(read)
    return Applied([last], NodeSite(operator, site.path, site.scope), made)


def _amounts(node: ir.Node, mode: str, scope: Scope) -> np.ndarray | None:
    """Return the constant amounts of a Pad with only data, amounts and a mode; else None."""
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
