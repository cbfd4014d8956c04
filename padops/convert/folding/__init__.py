"""The pass that folds the Pads of a model.

A Pad is folded if the model without it gives the same bits for every input. Here are a Pad that changes
nothing, two successive Pads, and the pass; ``rules.py`` has the others, with their measurements (onnxruntime 1.31.1 on
x86-64; optimisation off, basic, extended and all).

The rules apply to every form that ``matchers/`` knows, operators of padops included, in all graphs and functions; not
to forms of several nodes, nor to fallback functions. A Pad that was not selected (``select="needed"``) stays.

An invalid model may lose its error: nothing checks the amounts of a folded Pad. Only a Pad whose amounts are known to
be wrong stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import onnx_ir as ir

from padops.convert.analysis import Analysis, Pad
from padops.convert.folding.rules import (
    NOTHING,
    Candidate,
    Change,
    Refusal,
    apply,
    candidate,
    consumers_of,
    drop_casts,
    is_cast,
    is_consumer,
    write_amounts,
)
from padops.convert.matchers import match_pad
from padops.convert.model.graphs import Constants, NodeSite, replace_in_place, take_out
from padops.convert.model.types import Types, remove_unread
from padops.convert.records import PadRecord
from padops.convert.rewrite import Request, Rewritten, convert_pads
from padops.convert.runtimes.builtin import has_identity, needs
from padops.progress import counted
from padops.spec.plan import Mode


class FoldPads:
    """Folds the Pads of the document's model until nothing is left to fold, and records what it did with each."""

    def __init__(self, analysis: Analysis, request: Request, former: Mapping[ir.Node, str] | None = None) -> None:
        """Folds in place. ``former`` has the nodes' paths before the conversion; None: this is before it."""
        self.records: dict[ir.Node, PadRecord] = {}  # of the folded Pads
        self.notes: dict[ir.Node, tuple[str, ...]] = {}  # on the Pads that stay
        self._after_conversion = former is not None
        self._analysis, self._types = analysis, analysis.types
        self._document = analysis.document
        self._request = request
        self._candidates: dict[ir.Node, tuple[tuple[object, ...], Candidate | None]] = {}
        # The original paths: without a name, the path of a node changes once a node before it is gone.
        self.paths = {site.node: site.path for site in analysis.sites} | dict(former or {})
        what = "looking for what the conversion lets fold" if self._after_conversion else "looking for what folds"
        pads = {}
        for pad in counted(what, analysis.pads, analysis.progress):
            self._candidates[pad.site.node] = self._state(pad.site.node), self._selected(pad)
            if self._candidate(pad.site) is not None:
                pads[pad.site.node] = pad.site
        changed = False
        while any([self._fold(site, pads) for site in pads.values() if site.node.graph is not None]):
            changed = True
        for site in pads.values():
            if site.node.graph is not None and (stays := self._candidate(site)) is not None:
                try:
                    consumers_of(stays, self._types)
                except Refusal as why:
                    self._note(site.node, f"not folded: {why}")
        if changed:
            analysis.renew()
        self._document.write_back()

    def _fold(self, site: NodeSite, pads: dict[ir.Node, NodeSite]) -> bool:
        pad = self._candidate(site)
        before = None if pad is None else pad.info.data.producer()
        if pad is None or not (pad.changes_nothing or before in pads or is_cast(before)):
            # For most Pads, the neighbours let no rule fit, so no types need to be inferred.
            readers = [] if pad is None or pad.info.mode is not Mode.CONSTANT else pad.output.uses()
            if pad is None or not any(is_consumer(use.node) for use in readers):
                return False
        self._types.infer()  # once a node is gone, types can no longer be inferred
        return (
            self._drop_casts(pad)
            or self._remove(pad, only_bypass=True)
            or self._join(pad, pads)
            or self._remove(pad)
            or self._fuse_into_consumers(pad)
        )

    def _drop_casts(self, pad: Candidate) -> bool:
        if (made := drop_casts(pad, self._request.target, self._types, self._constants)) is None:
            return False
        self._document.touched.update(made.touched)
        self._note(pad.site.node, *made.notes)
        return True

    def _remove(self, pad: Candidate, only_bypass: bool = False) -> bool:
        if not pad.changes_nothing:
            return False
        # QNN's provider composes no Identity of data without elements.
        removal = remove(pad.site, self._types, only_bypass or 0 in (pad.info.dims or ()))
        if removal is None:
            return False
        self._record(pad, removal, ("it changes nothing", *removal.notes), ())
        return True

    def _join(self, pad: Candidate, pads: dict[ir.Node, NodeSite]) -> bool:
        if self._after_conversion and self._request.lowers:
            return False  # two lowered Pads are two for a reason
        node = pad.info.data.producer()
        before = None if node is None else pads.get(node)
        if before is None or (first := self._candidate(before)) is None:
            return False
        if (touched := join(first, pad, self._constants)) is None:
            return False
        removal = remove(before, self._types)
        assert removal is not None and not removal.notes, "only the second Pad reads the first"
        self._document.touched.update(touched)
        self._record(first, removal, ("one Pad does what both did",), (self.paths[pad.site.node],))
        self._note(pad.site.node, f"with what {self.paths[before.node]} did")
        return True

    def _fuse_into_consumers(self, pad: Candidate) -> bool:
        """Lets all readers of the padded data pad by themselves."""
        try:
            taking = consumers_of(pad, self._types)
        except Refusal:
            return False
        removal = remove(pad.site, self._types, only_bypass=True) if taking else None
        if removal is None:
            return False
        for node, pads in taking:
            apply(node, pads)
        into = tuple(self.paths[node] for node, _ in taking)
        amounts = ", ".join(dict.fromkeys(f"pads {pads}" for _, pads in taking))
        self._record(pad, removal, (amounts,), into)
        return True

    @cached_property
    def _constants(self) -> Constants:
        return Constants(self._document.model)

    def _record(self, pad: Candidate, removal: Change, notes: tuple[str, ...], into: tuple[str, ...]) -> None:
        node = pad.site.node
        self._document.touched.update(removal.touched)
        record = pad.found.record("folded")
        notes = (*self.notes.pop(node, ()), *notes)
        self.records[node] = replace(record, path=self.paths[node], op_type=None, notes=notes, into=into)

    def _note(self, node: ir.Node, *notes: str) -> None:
        self.notes[node] = (*self.notes.get(node, ()), *notes)

    def _candidate(self, site: NodeSite) -> Candidate | None:
        """The Pad that a node is; None if it is none any more, was not selected, or breaks a rule.

        It is read again only if its inputs or its attributes have changed.
        """
        state = self._state(site.node)
        if self._candidates[site.node][0] != state:
            match = match_pad(site, self._types, self._analysis.asked)
            again = None if match is None else self._selected(Pad(site, match, self._types))
            self._candidates[site.node] = state, again
        return self._candidates[site.node][1]

    def _state(self, node: ir.Node) -> tuple[object, ...]:
        return (*node.op_identifier(), *node.inputs, *node.attributes.values())

    def _selected(self, pad: Pad) -> Candidate | None:
        found = candidate(pad)
        if self._request.select == "all" or pad.match.already or found is None:
            return found
        return found if needs(found.info, pad.match.runs_as) else None


def remove(site: NodeSite, types: Types, only_bypass: bool = False) -> Change | None:
    """Removes the Pad of ``site``, and the nodes that only computed its amounts; None if the Pad has to stay.

    The readers of the padded data then read the data. An output of a graph or a function must keep its name, so its Pad
    becomes an Identity (unless ``only_bypass``), which ONNX Runtime removes by itself if it can. So does a Pad whose
    result an inner graph reads, if another value may hide the data's name there.
    """
    node = site.node
    data, output = node.inputs[0], node.outputs[0]
    assert data is not None, "no matcher finds a Pad without data"
    read = list(dict.fromkeys(value for value in node.inputs[1:] if value is not None))
    is_output = output.is_graph_output()
    read_inside = any(use.node.graph is not node.graph for use in output.uses())
    if is_output or (read_inside and site.scope.index.is_shared(data.name)):
        opset = site.scope.opset
        if only_bypass or opset is None or not has_identity(types.name(data, output), opset):
            return None
        replace_in_place(node, "", "Identity", [data])
        types.invalidate()
        remove_unread(read, site.scope.index)
        why = "its output is one of the graph" if is_output else "another value hides the name of its data"
        return Change((node,), (f"an Identity stays: {why}",))
    readers = tuple(dict.fromkeys(use.node for use in output.uses()))
    output.replace_all_uses_with(data)
    take_out(node)
    remove_unread(read, site.scope.index)
    return Change(readers)


def join(first: Candidate, second: Candidate, constants: Constants) -> tuple[ir.Node, ...] | None:
    """Gives the second of two successive Pads the amounts of both, if one Pad does the same for any shape; else None.

    - **constant** with the same fill, if the first only adds: it adds fill, and the second adds more of it or crops. So
      the amounts are summed, for any signs of the second's.
    - **edge**, if both only add: the last element of the first's output is the last element of the data.
    - **any mode**, if both only add, on different axes: each axis has a map of its own (P2). Both must be of ONNX, of
      OpenVINO or of nGraph, which limit the amounts differently (P4).

    On the same axis, reflect and symmetric continue from the elements that the first has added, with another period;
    they are never one Pad, and wrap neither. Returns the changed nodes; the caller then removes the first Pad.
    """
    uses = first.site.scope.index.last_uses(first.output)
    one_after_the_other = len(uses) == 1 and not first.output.is_graph_output()
    if not one_after_the_other or second.site.node.graph is not first.site.node.graph:
        return None
    mode, pairs = first.info.mode, list(zip(first.amounts or (), second.amounts or ()))
    if not pairs or len(first.amounts or ()) != len(second.amounts or ()) or mode is not second.info.mode:
        return None
    if mode is None or not first.only_adds or any(amounts.interior for _, amounts in pairs):
        return None
    if mode is Mode.CONSTANT:
        fits = first.fill is not None and first.fill == second.fill
    else:
        apart = all(NOTHING in pair for pair in pairs) and first.info.op.limit is second.info.op.limit
        fits = second.only_adds and (mode is Mode.EDGE or apart)
    begins, ends = [a.begin + b.begin for a, b in pairs], [a.end + b.end for a, b in pairs]
    return (second.site.node,) if fits and write_amounts(second, begins, ends, constants) else None


def convert_and_fold(analysis: Analysis, request: Request) -> tuple[Rewritten, list[PadRecord]]:
    """Folds Pads, converts the rest, and folds Pads that only the conversion has made foldable; in the original order.

    All decisions cannot be made before the first change, since earlier folds and conversions decide which Pad can be
    folded. Of three successive Pads, the first two become one, and only this one can go into the convolution; a
    convolution can take amounts once its own ``auto_pad`` has become pads; TensorFlow's Pads are read in their
    converted form. So each pass folds until nothing is left to fold.
    """
    passes = [FoldPads(analysis, request)]
    rewritten = convert_pads(analysis, request)
    if any(record.status == "converted" for record in rewritten.records.values()):
        passes.append(FoldPads(analysis, request, passes[0].paths))
    paths = passes[0].paths
    records = {node: replace(record, path=paths.get(node, record.path)) for node, record in rewritten.records.items()}
    for folding in passes:
        for node, record in folding.records.items():
            if node in paths:  # else the conversion has made it
                records[node] = replace(record, form=records[node].form if node in records else record.form)
        for node, notes in folding.notes.items():
            if node in records:
                records[node] = replace(records[node], notes=(*dict.fromkeys((*records[node].notes, *notes)),))
    positions = {node: position for position, node in enumerate(paths)}
    return rewritten, [records[node] for node in sorted(records, key=lambda node: positions.get(node, len(positions)))]
