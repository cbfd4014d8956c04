"""Pads that are emulated by Slices and a Concat, or by a Gather.

PyTorch's TorchScript exporter writes ``pad(mode="circular")`` and circular convolutions with a Concat for each axis::

    1234  ->  34 (Slice), 1234, 1 (Slice)  ->  3412341 (Concat)

People write Pads by hand: a flip (a backward Slice) beside the data; an edge that Expand or Tile repeats; a block of
zeros; indices that go beyond the first and the last element.

One axis at a time, ``chains.py`` reads the nodes and describes each input of the Concat as a map of positions in the
data. ``maps.py`` compares the joined maps with the map of a Pad: for the axis's size or, if the model leaves the size
open, for every size. So the choice of nodes does not matter. ``emulation.py`` combines both. A Pad then
absorbs the Pad in front of it if nothing else reads the value between them, both have the same mode, and its axis comes
later. (``folding`` joins other Pads.)

Data of an open size may be shorter than the amounts. Then a Pad with computed amounts (``bounds.py``) replaces the
nodes, if that makes fewer nodes.

Three kinds stay. Nodes that differ from a Pad for a size that the model allows; the record names the size. Vectors of
integers, and values computed from constants alone: ONNX Runtime computes shapes while it loads the model, but only with
its own operators. Everything before opset 11, where a Pad would have no fallback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.matchers.emulated.emulation import Emulation, bits, find
from padops.convert.matchers.emulated.maps import LONGEST
from padops.convert.model.constants import Constants
from padops.convert.model.evaluate import remove_unread
from padops.convert.model.graphs import Index, NodeSite, replace_in_place
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Match, Replacement, Rewrite, Unconvertible, settle_version
from padops.convert.pads.operands import Operand
from padops.spec.dialects import DOMAIN, OPS
from padops.spec.plan import Mode

SYMMETRIC_OP = "OpenVINOPad_12"
FIRST_WITH_WRAP = 19
FIRST_WITH_INTEGERS = 12  # of Min and Max
RUNS = "ONNX Runtime runs it as it is"


def match_emulated_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises the last node of an emulation."""
    last = find(site, types)
    if last is None or _goes_on(last, site, types):
        return None
    found = _chain(last, site, types)
    nodes = [node for emulation in found for node in emulation.nodes]
    name = "circular" if last.pad.mode is Mode.WRAP else last.pad.mode.value
    form = f"{name} emulation ({', '.join(dict.fromkeys(node.op_type for node in nodes))})"
    gone = _replaced(nodes)
    notes = [f"one operator for {', '.join(node.name or node.outputs[0].name or node.op_type for node in gone)}"]
    try:
        bounds = _bounds(found, site, len(gone))
        made = _replacement(found, bounds, types, notes)
    except Unconvertible as why:
        return Match(form, status="not needed", reason=f"{RUNS}; {why}")
    if bounds is not None:
        notes.append("its amounts are computed, since the nodes reach no further than the data")
    return Match(form, Rewrite(made.op_type, partial(_apply, made=made, bounds=bounds), made), notes=tuple(notes))


def _bounds(found: Sequence[Emulation], site: NodeSite, gone: int) -> Bounds | None:
    """The bounds of the amounts if an axis may be too short, else None; raises Unconvertible if they save no nodes."""
    short = next((emulation for emulation in found if emulation.pad.differs is not None), None)
    if short is None:
        return None
    pad, opset = short.pad, site.scope.opset
    sizes = f"fewer than {pad.differs + 1} elements" if pad.differs else "no element"
    why = f"a Pad of {pad.begin}, {pad.end} does something else where axis {short.axis} has {sizes}"
    if pad.spared is None or short.rank is None or opset is None or opset < FIRST_WITH_INTEGERS:
        raise Unconvertible(why)
    spared: list[int | None] = [0] * short.rank
    for emulation in found:
        spared[emulation.axis] = emulation.pad.spared
    bounds = Bounds(spared)
    if gone <= bounds.nodes + 1:
        raise Unconvertible(f"{why}, and to compute its amounts takes as many nodes")
    return bounds


def _chain(last: Emulation, site: NodeSite, types: Types) -> list[Emulation]:
    """The emulations that one Pad replaces, in order; the emulation of the last axis comes last."""
    found = [last]
    while (node := found[0].data.producer()) is not None and node.graph is site.node.graph:
        before = find(NodeSite(node, site.path, site.scope), types)
        if before is None or not _are_one(before, found[0], site.scope.index):
            break
        found.insert(0, before)
    return found


def _goes_on(emulation: Emulation, site: NodeSite, types: Types) -> bool:
    """Whether one Pad replaces this emulation together with a later one."""
    for node in dict.fromkeys(use.node for use in emulation.root.outputs[0].uses()):
        if node.graph is emulation.root.graph and node.op_type in ("Concat", "Gather"):
            after = find(NodeSite(node, site.path, site.scope), types)
            if (
                after is not None
                and after.data is emulation.root.outputs[0]
                and _are_one(emulation, after, site.scope.index)
            ):
                return True
    return False


def _are_one(first: Emulation, second: Emulation, index: Index) -> bool:
    """Whether two emulations, the second of the first's result, are one Pad.

    Each axis has a map of its own, so the order of the axes does not matter. Ascending axes give every emulation one
    place: of the axes 2, 3 and 2, the first two are one Pad.
    """
    padded = first.root.outputs[0]
    if padded.is_graph_output() or any(node not in second.nodes for node, _ in index.last_uses(padded)):
        return False  # the last uses first: there may be many
    if any(use.node not in second.nodes for use in padded.uses()):
        return False
    if first.pad.mode is not second.pad.mode or not (_is_bounded(first) and _is_bounded(second)):
        return False
    if first.rank is None or first.rank != second.rank or first.axis >= second.axis:
        return False
    one, other = first.fill, second.fill
    if one is None or other is None:
        return one is other
    return one.dtype == other.dtype and bits(one) == bits(other)


def _is_bounded(emulation: Emulation) -> bool:
    """Whether it is a Pad for every size, with smaller amounts for small sizes."""
    pad = emulation.pad
    return pad.differs is None or pad.spared is not None


def _replaced(nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """The nodes whose results nothing else reads, and the last node, which becomes the Pad."""
    kept = [nodes[-1]]
    for node in reversed(nodes[:-1]):
        value = node.outputs[0]
        if node not in kept and not value.is_graph_output() and all(use.node in kept for use in value.uses()):
            kept.append(node)
    return kept[::-1]


def _replacement(found: Sequence[Emulation], bounds: Bounds | None, types: Types, notes: list[str]) -> Replacement:
    """The Pad that replaces all emulations; with bounds, its amounts are still the largest.

    Raises:
        Unconvertible: There is no such Pad of the type, or for data of unknown rank.
    """
    first, last = found[0], found[-1]
    mode, type_name = last.pad.mode, types.name(first.data, last.root.outputs[0])
    begins, ends, axes = _amounts(found)
    if mode is Mode.SYMMETRIC:
        if type_name is not None and type_name not in OPS[SYMMETRIC_OP].types:
            raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
        if axes is not None or bounds is not None:
            raise Unconvertible(f"{SYMMETRIC_OP} has constant amounts for every axis, and they are not known")
        return Replacement(
            SYMMETRIC_OP, (first.data, begins, ends, None), {"pad_mode": ir.AttrString("pad_mode", mode.value)}
        )
    op_type = settle_version(FIRST_WITH_WRAP, type_name, {mode.value}, notes)
    fill = None if last.fill is None or _is_default(last.fill) else last.fill
    inputs: tuple[Operand | None, ...] = (first.data, np.concatenate([begins, ends]), fill, axes)
    return Replacement(op_type, inputs, {"mode": ir.AttrString("mode", mode.value)})


def _amounts(found: Sequence[Emulation]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Begins, ends and axes; the axes only if the rank is unknown, else None."""
    rank = found[0].rank
    if rank is None:
        (only,) = found
        return np.array([only.pad.begin]), np.array([only.pad.end]), np.array([only.axis])
    begins, ends = np.zeros((2, rank), np.int64)
    for emulation in found:
        begins[emulation.axis], ends[emulation.axis] = emulation.pad.begin, emulation.pad.end
    return begins, ends, None


def _is_default(fill: np.ndarray) -> bool:
    """Whether a fill is the default (P7)."""
    return not fill.item() if fill.dtype.kind == "O" else not any(fill.tobytes())


def _apply(site: NodeSite, constants: Constants, made: Replacement, bounds: Bounds | None) -> Applied:
    """Turns the last node into the Pad, and removes nodes that nothing reads any more."""
    data, amounts, *others = made.inputs
    assert isinstance(data, ir.Value), "the data are a value of the graph"
    read = [value for value in dict.fromkeys(site.node.inputs) if value is not None]
    replace_in_place(site.node, DOMAIN, made.op_type, [data])
    remove_unread(read, site.scope.index)
    if bounds is not None:
        assert isinstance(amounts, np.ndarray), "the largest amounts are known"
        made = replace(made, inputs=(data, bounds.write(data, amounts, site, constants), *others))
    return Applied([site.node], site, made)


@dataclass(frozen=True)
class Bounds:
    """Bounds of the amounts by the size of the data, computed at run time.

    A Slice of data that are too short gives the elements there are: the last 3 of 2 elements are 2. A Pad would repeat
    elements. So its amounts are::

        x -> Shape -> Concat twice -> [Add each axis's difference -> Max 0 ->] Min with the amounts -> pads
    """

    spared: Sequence[int | None]  # per axis: amounts <= size - spared; 1 if the edge is not repeated. None: unbounded.

    @property
    def nodes(self) -> int:
        """The number of nodes that compute the amounts."""
        return 3 + any(self._more) + (1 in self.spared)

    def write(self, data: ir.Value, amounts: np.ndarray, site: NodeSite, constants: Constants) -> ir.Value:
        """Adds the nodes that compute the amounts, in front of the padding node of ``site``.

        ``amounts`` are the unbounded amounts of every axis, begins then ends.
        """
        dims = constants.insert("Shape", [data], site, "shape")
        most = constants.insert("Concat", [dims, dims], site, "sizes", [ir.AttrInt64("axis", 0)])
        if any(self._more):
            more = constants.add(np.array([*self._more, *self._more], np.int64), site, "more")
            most = constants.insert("Add", [most, more], site, "most")
        if 1 in self.spared:
            most = constants.insert("Max", [most, constants.add(np.zeros(1, np.int64), site, "nothing")], site, "left")
        pads = constants.insert("Min", [most, constants.add(amounts, site, "amounts")], site, "pads")
        pads.shape = ir.Shape([len(amounts)])
        return pads

    @property
    def _more(self) -> list[int]:
        """Per axis: the largest amount minus the size."""
        return [LONGEST if spared is None else -spared for spared in self.spared]
