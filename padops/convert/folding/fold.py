"""The pass that folds the Pads of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

import onnx_ir as ir

from padops.convert import sources
from padops.convert.folding.candidate import Candidate, Change, candidate
from padops.convert.folding.casts import drop_casts, is_cast
from padops.convert.folding.consumers import Refusal, apply, consumers_of, is_consumer
from padops.convert.folding.pairs import join
from padops.convert.folding.removal import remove
from padops.convert.model.constants import Constants
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.types import Types
from padops.convert.pads.match import Replacement
from padops.convert.records import PadRecord
from padops.convert.runtimes.builtin_rules import needs
from padops.convert.sources import SOURCES, Source
from padops.convert.targets import STANDARD
from padops.progress import Progress, counted
from padops.spec.dialects import DOMAIN
from padops.spec.plan import Mode

FOLDED: Final = "folded"


class FoldPads(ir.passes.InPlacePass):
    """Folds the Pads of the document's model, and records what it did with each.

    Attributes:
        records: The record of each folded Pad, by its node.
        notes: The notes on each Pad that stays, by its node.
        paths: The original path of every node: without a name, its path changes once a node before it is gone.

    Args:
        document: The model.
        select: As for ``convert``.
        target: As for ``convert``.
        asked: The sources of Pads.
        former: The nodes' paths before the Pads were converted; None before the conversion.
        progress: The receiver of progress, or None.
    """

    def __init__(
        self,
        document: Document,
        select: str = "all",
        target: str = "padops",
        asked: Sequence[Source] = SOURCES,
        former: Mapping[ir.Node, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.records: dict[ir.Node, PadRecord] = {}
        self.notes: dict[ir.Node, tuple[str, ...]] = {}
        self.paths: dict[ir.Node, str] = dict(former or {})
        self._after_conversion = former is not None
        self._document = document
        self._select = select
        self._target = target
        self._sources = asked
        self._progress = progress
        self._types = Types(document)
        self._candidates: dict[ir.Node, tuple[tuple[object, ...], Candidate | None]] = {}

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Folds in place, until there is nothing left to fold."""
        everything = list(walk(model))
        self.paths = {site.node: site.path for site in everything} | self.paths
        what = "looking for what the conversion lets fold" if self._after_conversion else "looking for what folds"
        sites = counted(what, everything, self._progress)
        pads = {site.node: site for site in sites if self._candidate(site) is not None}
        folded = 0
        while any(steps := [self._fold(site, pads) for site in pads.values() if site.node.graph is not None]):
            folded += sum(steps)
        for site in pads.values():
            if site.node.graph is not None and (pad := self._candidate(site)) is not None:
                self._explain(pad)
        return ir.passes.PassResult(model, modified=folded > 0)

    def _fold(self, site: NodeSite, pads: dict[ir.Node, NodeSite]) -> bool:
        """Applies the first rule that fits a Pad."""
        pad = self._candidate(site)
        if pad is None or not _is_worth_a_look(pad, pads):
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
        made = drop_casts(pad, self._target, self._types, self._constants)
        if made is None:
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
        """Lets a Pad take over the work of the Pad in front of it."""
        if self._after_conversion and self._target in STANDARD:
            return False  # two lowered Pads are two for a reason
        node = pad.data.producer()
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
        for consumer in taking:
            apply(consumer)
        into = tuple(self.paths[consumer.node] for consumer in taking)
        amounts = ", ".join(dict.fromkeys(f"pads {consumer.pads}" for consumer in taking))
        self._record(pad, removal, (amounts,), into)
        return True

    @cached_property
    def _constants(self) -> Constants:
        return Constants(self._document.model)

    def _explain(self, pad: Candidate) -> None:
        """Notes why a Pad in front of convolutions or poolings stays."""
        try:
            consumers_of(pad, self._types)
        except Refusal as why:
            self._note(pad.site.node, f"not folded: {why}")

    def _record(self, pad: Candidate, removal: Change, notes: tuple[str, ...], into: tuple[str, ...]) -> None:
        node = pad.site.node
        self._document.touched.update(removal.touched)
        record = pad.match.record(pad.site, FOLDED)
        notes = (*self.notes.pop(node, ()), *notes)
        self.records[node] = replace(record, path=self.paths[node], op_type=None, notes=notes, into=into)

    def _note(self, node: ir.Node, *notes: str) -> None:
        self.notes[node] = (*self.notes.get(node, ()), *notes)

    def _candidate(self, site: NodeSite) -> Candidate | None:
        """The Pad that a node is; None if it is none, was not selected, or breaks a rule.

        It is read again only if its inputs, its attributes or the types have changed.
        """
        node = site.node
        state = (*node.op_identifier(), *node.inputs, *node.attributes.values(), self._types.settled)
        if node not in self._candidates or self._candidates[node][0] != state:
            self._candidates[node] = state, self._read(site)
        return self._candidates[node][1]

    def _read(self, site: NodeSite) -> Candidate | None:
        if isinstance(site.scope.root, ir.Function) and site.scope.root.domain == DOMAIN:
            return None  # an operator's fallback, for sessions without the library
        match = sources.match_pad(site, self._types, self._sources)
        if match is None or not isinstance(match.replacement, Replacement):
            return None
        pad = candidate(site, match, self._types)
        if pad is None or self._select == "all" or match.already or needs(pad.info, match.runs_as):
            return pad
        return None


def _is_worth_a_look(pad: Candidate, pads: Mapping[ir.Node, NodeSite]) -> bool:
    """Whether the neighbours of a Pad let a rule fit; for most Pads none does, so no types need to be inferred."""
    before = pad.data.producer()
    if pad.changes_nothing or before in pads or is_cast(before):
        return True
    return pad.mode is Mode.CONSTANT and any(is_consumer(use.node) for use in pad.output.uses())
