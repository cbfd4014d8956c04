"""The pass that folds the Pads of a model.

A Pad is folded if the model without it returns the same bits for every input. This can hold for a Pad that changes
nothing, for the first of two successive Pads, and for a Pad that a convolution or pooling can absorb. The rules apply
to every Pad that ``matchers/`` recognizes in a single node, including operators of padops, in all graphs and functions
except fallbacks. A Pad that was not selected (``select="needed"``) stays, as does a Pad whose amounts are known to be
wrong. If a Pad would have failed at run time, folding the Pad removes this error.

Measurements at each level of graph optimisation compared the folded model with ONNX's own Pad and with padops' Pad:

- **Conv** (float, float16): equal to ONNX's own Pad at every level, also for infinite weights, NaN and -0, because ONNX
  Runtime itself folds ONNX's Pad from level basic on. At level all, ONNX Runtime's blocked kernels skip their own
  padding, so padops' Pad differs in two cases: an infinite weight times a padded zero is NaN, or a sum underflows
  to -0.
- **ConvInteger, QLinearConv**: equal at every level, if the fill is the zero point.
- **AveragePool** (float, float16): equal at every level, on two conditions: the node has ``count_include_pad`` or no
  pads of its own, and every release counts the new pads correctly (``is_miscounted``). onnxruntime 1.20.1 itself folds
  ONNX's Pad without counting the padding; a converted model counts it.
- **MaxPool** of int8 and uint8: equal at every level, if the fill is the lowest value.

ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads, so a Pad before such a pooling stays. The pass
does not fold these Pads either, because the folded model returns other bits:

- **MaxPool** of floats. If the fill is minus infinity and the data have a NaN, the order of the elements decides which
  value the pooling keeps. If the fill is the lowest finite number, it exceeds data of minus infinity. (From level basic
  on, ONNX Runtime itself folds ONNX's Pad even with a fill of 0, which changes the results.)
- ``ceil_mode``: the last window may begin in the padding; ONNX Runtime drops such a window only if the padding comes
  from the pooling's own pads.
- **ConvTranspose**: its pads crop the output, so a fold would subtract the Pad's amounts from these pads. ONNX Runtime
  refuses negative pads. Even if no difference is negative, infinite weights yield NaN in only one of the two models.
- A fill of -0, or with unknown bits; negative amounts; padded batches or channels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import onnx_ir as ir

from padops.convert.analysis import Analysis, Pad
from padops.convert.matchers import frameworks, match_pad
from padops.convert.model.graphs import Constants, NodeSite, constant, replace_in_place
from padops.convert.model.types import Types, remove_unread
from padops.convert.pads.match import MICROSOFT
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.window_operators import LOWEST_IS_EXACT, MISCOUNTED, WINDOW_OPERATORS, is_miscounted
from padops.convert.records import PadRecord
from padops.convert.rewrite import Request, convert_pads, given_inputs
from padops.convert.runtimes import has_identity
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import by_name
from padops.spec.plan import NOTHING, Amounts, Limit, Mode, PadError
from padops.terminal import counted

ZERO = b""  # stands for a fill whose bits are all 0


@dataclass(frozen=True)
class Candidate:
    """A Pad that breaks no rule and consists of one node."""

    found: Pad
    info: PadInfo
    amounts: tuple[Amounts, ...] | None  # the amounts of each axis, as ``PadInfo.amounts``

    @property
    def site(self) -> NodeSite:
        return self.found.site

    @property
    def output(self) -> ir.Value:
        return self.site.node.outputs[0]

    @cached_property
    def fill(self) -> bytes | ir.Value | None:
        """The fill's bits (``ZERO`` if all are 0); for unknown bits, the fill's value in the graph; else None."""
        if self.info.has_default_fill:
            return ZERO
        value = self.info.input(self.info.op.fill)
        return _bits_of(self.info.known_fill, value if isinstance(value, ir.Value) else None)

    @property
    def changes_nothing(self) -> bool:
        """Whether all amounts are known to be 0, and the Pad accepts data of any shape."""
        # nGraph's Pad refuses an empty axis even if it does not extend the axis (P4).
        refuses = self.info.op.limit is Limit.NGRAPH and self.info.mode not in (Mode.CONSTANT, Mode.SYMMETRIC)
        return not refuses and self.amounts is not None and all(amounts == NOTHING for amounts in self.amounts)

    @property
    def only_adds(self) -> bool:
        """Whether the amounts are known, none is negative, and the Pad adds no interior."""
        rows = self.amounts
        return rows is not None and not any(row.crops or row.interior for row in rows)


def _bits_of(array: np.ndarray | None, unknown: ir.Value | None = None) -> bytes | ir.Value | None:
    """Return the bits of an array's only element (``ZERO`` if all are 0), else None; without an array, ``unknown``."""
    if array is None or array.size != 1:
        return unknown if array is None else None
    if array.dtype.kind in "OSU":
        item = array.item()
        return item if isinstance(item, bytes) else str(item).encode()
    content = array.tobytes()
    return content if any(content) else ZERO


def _write_amounts(pad: Candidate, begins: list[int], ends: list[int], constants: Constants) -> bool:
    """Replace the node's amounts by one pair for every axis; return False if the node's form cannot hold them."""
    node, op, whole = pad.site.node, pad.info.op, begins + ends
    rows = {"pads": whole, "paddings": whole, "pads_begin": begins, "pads_end": ends}
    rows |= {"padding_below": begins, "padding_above": ends}
    is_onnx = node.domain in ("", MICROSOFT) and node.op_type == "Pad" and op.name.startswith("Pad_")
    if not is_onnx and node.domain not in (DOMAIN, frameworks.DOMAIN) and "padding_below" not in node.attributes:
        return False  # the amounts are in another order
    attributes = [ir.AttrInt64s(name, values) for name, values in rows.items() if name in node.attributes]
    given: list[ir.Value | None] = list(node.inputs)
    places = {row.name: i for i, row in enumerate(op.inputs) if row.name in rows and i < len(given)}
    if bool(attributes) == any(given[i] is not None for i in places.values()):
        return False
    for role, i in places.items():
        if not attributes:
            given[i] = constants.add(np.array(rows[role], np.int64), pad.site, role)
    if "pads" in places:
        given[3:] = []  # axes
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    replace_in_place(node, node.domain, node.op_type, given_inputs(given), [*node.attributes.values(), *attributes])
    remove_unread(former)
    return True


class Refusal(Exception):
    """A reader of the padded data cannot absorb the Pad; the message says why."""


def _consumers_of(pad: Candidate, types: Types) -> list[tuple[ir.Node, list[int]]]:
    """Return the readers of the padded data with their new pads; empty if a reader's operator absorbs no amounts."""
    if pad.info.mode is not Mode.CONSTANT or pad.changes_nothing or pad.output.is_graph_output():
        return []
    uses = list(pad.output.uses())
    for use in uses:
        operator = WINDOW_OPERATORS.get((use.node.domain, use.node.op_type))
        if use.idx != 0 or operator is None or not (operator.folds or operator.no_fold):
            return []
    return [_consumer(use.node, pad, types) for use in uses]


def _consumer(node: ir.Node, pad: Candidate, types: Types) -> tuple[ir.Node, list[int]]:
    """Return the node with its new pads; raise ``Refusal`` if the node cannot absorb the amounts."""
    operator, opset = WINDOW_OPERATORS[node.domain, node.op_type], pad.site.scope.opset

    def require(holds: object, why: str | None) -> None:
        if not holds:
            raise Refusal(f"{node.op_type} {node.name or node.outputs[0].name}: {why}")

    require(operator.no_fold is None, operator.no_fold)
    require(pad.amounts is not None, "the amounts are not known")
    require(pad.only_adds, "not all amounts are positive or 0")
    batch, channels, *spatial = (*(pad.amounts or ()), NOTHING, NOTHING)[: max(len(pad.amounts or ()), 2)]
    require(spatial and batch == NOTHING, "the batch is padded")
    require(channels == NOTHING, "the channels are padded")
    given = node.attributes.values()
    require(not any(row.is_ref() for row in given), "the function's caller sets its attributes")
    values = {row.name: row.value for row in given}
    mode, own = values.get("auto_pad", ""), values.get("pads", ())
    require(mode in ("", "NOTSET", "VALID"), f"auto_pad is {mode}")
    require(mode != "VALID" or not any(own), "auto_pad and pads are given together")
    require(not own or (len(own) == 2 * len(spatial) and min(own) >= 0), f"its pads are {list(own)}")
    added = [*(row.begin for row in spatial), *(row.end for row in spatial)]
    pads = [a + b for a, b in zip(own or [0] * len(added), added, strict=True)]
    if operator.outside == "lowest":
        kind = pad.info.type or ""
        require(kind in LOWEST_IS_EXACT, "which of a fill and a NaN is the largest depends on the order")
        lowest = np.array(np.iinfo(by_name(kind).numpy).min, by_name(kind).numpy)
        require(pad.fill == _bits_of(lowest), f"the fill is not the lowest value of {kind}")
    else:
        at = operator.zero_point if operator.outside == "zero point" else None
        point = node.inputs[at] if at is not None and at < len(node.inputs) else None
        wanted = ZERO if point is None else _bits_of(constant(point, pad.site.scope), point)
        what = "the zero point" if operator.outside == "zero point" else "0"
        require(wanted is not None and pad.fill is not None and pad.fill == wanted, f"the fill is not {what}")
    if operator.pooling:
        require(len(node.outputs) < 2 or not node.outputs[1].name, "it also returns indices into the padded data")
        require(not values.get("ceil_mode"), "with ceil_mode the last window may begin in the padding")
        uncounted = node.op_type == "AveragePool" and any(own) and not values.get("count_include_pad")
        require(not uncounted, "it does not count its own padding")
        kernel = values.get("kernel_shape", ())
        fits = len(kernel) * 2 == len(pads) and all(amount < n for amount, n in zip(pads, (*kernel, *kernel)))
        require(fits, "ONNX Runtime refuses pads as large as the kernel")
        empty = 0 in (types.shape(pad.info.data) or ())[2:]
        require(not empty, "ONNX Runtime refuses to pool an axis of 0 elements, whatever its pads")
    require((opset or 0) >= operator.since, f"it counts its padding from opset {operator.since} on")
    require(not is_miscounted(node.op_type, opset, pads), f"{MISCOUNTED} ({pads})")
    return node, pads


class FoldPads:
    """Folds the Pads of the document's model until none can be folded, and records each fold."""

    def __init__(self, analysis: Analysis, request: Request, former: Mapping[ir.Node, str] | None = None) -> None:
        """Fold in place. ``former`` has the nodes' paths before the conversion; None if no conversion came first."""
        self.records: dict[ir.Node, PadRecord] = {}  # of the folded Pads
        self.notes: dict[ir.Node, str] = {}  # on the Pads that stay
        self._joins = former is None or not request.lowers  # lowering writes two Pads on purpose
        self._analysis, self._types = analysis, analysis.types
        self._document, self._request = analysis.document, request
        # The original paths: the path of an unnamed node changes when an earlier node is removed.
        self.paths = {site.node: site.path for site in analysis.sites} | dict(former or {})
        found = {pad.site.node: pad for pad in counted("looking for what folds", analysis.pads, analysis.progress)}
        self._candidates = {node: self._selected(pad) for node, pad in found.items()}
        self._changed: set[ir.Node] = set()  # nodes with other inputs or attributes than in ``_candidates``
        pads = [pad.site for node, pad in found.items() if self._candidates[node] is not None]
        while any([self._fold(site) for site in pads if site.node.graph is not None]):
            pass
        for site in pads:
            if site.node.graph is not None and (stays := self._candidate(site)) is not None:
                try:
                    _consumers_of(stays, self._types)
                except Refusal as why:
                    self.notes[site.node] = f"not folded: {why}"
        if self.records:
            analysis.renew()
        self._document.write_back()

    def _fold(self, site: NodeSite) -> bool:
        pad = self._candidate(site)
        if pad is None:
            return False
        # QNN's provider composes no Identity of data without elements.
        is_empty = 0 in (pad.info.dims or ())
        return (
            (pad.changes_nothing and self._remove(pad, "it changes nothing", only_bypass=True))
            or self._join(pad)
            or (pad.changes_nothing and not is_empty and self._remove(pad, "it changes nothing"))
            or self._fuse_into_consumers(pad)
        )

    def _join(self, second: Candidate) -> bool:
        """Join two successive Pads if one Pad does the same for any shape; else return False.

        - **constant** with the same fill, if the first Pad only adds: one Pad with the summed amounts does the same,
          even if the second Pad crops, because a crop removes the added fill before the data.
        - **edge**, if both Pads only add: the first Pad's output ends in the same element as the data.
        - **any mode**, if both Pads only add, on different axes: each axis has its own map (P2). Both Pads must have
          the same limit of amounts (P4): the limits of ONNX, OpenVINO and nGraph differ.

        On the same axis, a second Pad in mode reflect, symmetric or wrap has another period, because it also repeats
        the elements that the first Pad added. So one Pad never does the same as the two Pads.
        """
        before = second.info.data.producer()
        first = self._candidates.get(before) if self._joins and before is not None else None
        if first is None or (first := self._candidate(first.site)) is None:
            return False
        self._types.infer()
        uses = first.output.uses()
        if len(uses) != 1 or first.output.is_graph_output() or second.site.node.graph is not first.site.node.graph:
            return False
        mode, pairs = first.info.mode, list(zip(first.amounts or (), second.amounts or ()))
        if not pairs or len(first.amounts or ()) != len(second.amounts or ()) or mode is not second.info.mode:
            return False
        if mode is None or not first.only_adds or any(amounts.interior for _, amounts in pairs):
            return False
        if mode is Mode.CONSTANT:
            fits = first.fill is not None and first.fill == second.fill
        else:
            apart = all(NOTHING in pair for pair in pairs) and first.info.op.limit is second.info.op.limit
            fits = second.only_adds and (mode is Mode.EDGE or apart)
        begins, ends = [a.begin + b.begin for a, b in pairs], [a.end + b.end for a, b in pairs]
        joined = fits and _write_amounts(second, begins, ends, self._constants)
        return joined and self._remove(first, "one Pad does what both did", into=[second.site.node])

    def _fuse_into_consumers(self, pad: Candidate) -> bool:
        try:
            taking = dict(_consumers_of(pad, self._types))
        except Refusal:
            return False
        amounts = ", ".join(dict.fromkeys(f"pads {pads}" for pads in taking.values()))
        if not taking or not self._remove(pad, amounts, only_bypass=True, into=taking):
            return False
        for node, pads in taking.items():
            node.attributes.pop("auto_pad", None)
            node.attributes.add(ir.AttrInt64s("pads", pads))
            if node.op_type == "AveragePool":
                node.attributes.add(ir.AttrInt64("count_include_pad", 1))
        return True

    @cached_property
    def _constants(self) -> Constants:
        return Constants(self._document.model)

    def _remove(self, pad: Candidate, note: str, only_bypass: bool = False, into: Collection[ir.Node] = ()) -> bool:
        """Remove and record a folded Pad, and remove nodes that only computed its amounts; False if the Pad must stay.

        The nodes that read the padded data then read the Pad's data. In two cases, the Pad becomes an Identity instead
        or, with ``only_bypass``, stays. First, its output is an output of a graph or a function, which must keep its
        name. Second, an inner graph reads the Pad's output, and a value in that graph may have the data's name and so
        hide the data.
        """
        self._types.infer()  # once a node is gone, types can no longer be inferred
        scope, node, data, output = pad.site.scope, pad.site.node, pad.site.node.inputs[0], pad.output
        assert data is not None and node.graph is not None, "no matcher finds a Pad without data"
        read = list(dict.fromkeys(value for value in node.inputs[1:] if value is not None))
        touched = dict.fromkeys(use.node for use in output.uses())
        read_inside = any(reader.graph is not node.graph for reader in touched)
        if output.is_graph_output() or (read_inside and scope.index.names[data.name] > 1):
            if only_bypass or scope.opset is None or not has_identity(self._types.name(data, output), scope.opset):
                return False
            replace_in_place(node, "", "Identity", [data])
            touched = {node: None}
        else:
            output.replace_all_uses_with(data)
            node.graph.remove(node, safe=True)
        remove_unread(read)
        self._document.touched.update(touched)
        self._changed.update(touched)
        paths = tuple(self.paths[one] for one in into)
        record = pad.found.record("folded")
        self.records[node] = replace(record, path=self.paths[node], op_type=None, notes=(note,), into=paths)
        return True

    def _candidate(self, site: NodeSite) -> Candidate | None:
        """Return the node's Pad, read again after a change of inputs or attributes; None if the Pad is no candidate."""
        if site.node in self._changed:
            self._changed.remove(site.node)
            match = match_pad(site, self._types, self._analysis.asked)
            self._candidates[site.node] = None if match is None else self._selected(Pad(site, match, self._types))
        return self._candidates[site.node]

    def _selected(self, pad: Pad) -> Candidate | None:
        """Return the Pad as a candidate, or None; a Pad that breaks a rule stays, so that a run raises the error."""
        if pad.match.apply is not None or (info := pad.info) is None or pad.broken is not None:
            return None
        try:
            found = Candidate(pad, info, info.amounts)
        except PadError:
            return None
        return found if self._request.select == "all" or pad.match.already or pad.needed else None


def convert_and_fold(analysis: Analysis, request: Request) -> dict[ir.Node, PadRecord]:
    """Fold Pads, convert the rest, then fold again; return the records in the original order.

    Each pass folds until nothing is left to fold. Earlier folds and conversions decide which Pads can be folded. For
    example, two Pads first become one Pad, and only this Pad can go into the convolution. A convolution can absorb
    amounts only after pads have replaced its own ``auto_pad``. TensorFlow's Pads can be joined only after their
    conversion.
    """
    passes = [FoldPads(analysis, request)]
    records, paths = convert_pads(analysis, request), passes[0].paths
    if any(record.status == "converted" for record in records.values()):
        passes.append(FoldPads(analysis, request, paths))
    records = {node: replace(record, path=paths.get(node, record.path)) for node, record in records.items()}
    for folding in passes:
        for node, record in folding.records.items():
            if node in paths:  # the conversion created the other nodes
                records[node] = replace(record, form=records[node].form if node in records else record.form)
        for node, note in folding.notes.items():
            if node in records:
                records[node] = replace(records[node], notes=(*dict.fromkeys((*records[node].notes, note)),))
    in_order = [*(node for node in paths if node in records), *(node for node in records if node not in paths)]
    return {node: records[node] for node in in_order}
