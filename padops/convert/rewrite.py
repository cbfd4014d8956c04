"""The pass that turns every Pad of a model into an operator of the domain ``padops``.

It finds each Pad, describes it, and decides what it becomes and why; only then it changes nodes. A target may still
refuse a Pad, before it changes any node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from padops.convert import sources
from padops.convert.errors import PadopsError
from padops.convert.model.constants import Constants
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Match, Rewrite, Unconvertible, Unneeded
from padops.convert.pads.pad_info import PadInfo, describe
from padops.convert.records import PadRecord
from padops.convert.runtimes.builtin_rules import needs, runs
from padops.convert.sources import SOURCES, Source
from padops.convert.targets import CALLED, CHECKS, STANDARD, TARGETS
from padops.convert.targets.calls import declare_calls
from padops.convert.targets.scans import declare_rows
from padops.progress import Progress, counted


@dataclass(frozen=True)
class Decision:
    """The decision about one Pad.

    Attributes:
        site: The node.
        match: The match of its source.
        record: Its record, unless the target refuses the Pad.
        info: Its description; None if it stays, or for a ``Rewrite``.
    """

    site: NodeSite
    match: Match
    record: PadRecord
    info: PadInfo | None = None


class ConvertPads(ir.passes.InPlacePass):
    """Converts the Pads of the document's model, and records each.

    Attributes:
        records: The record of each Pad, by its node; filled by the call.
        problem: Why types could not be inferred, or None.
    """

    def __init__(
        self,
        document: Document,
        select: str = "all",
        target: str = "padops",
        asked: Sequence[Source] = SOURCES,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.records: dict[ir.Node, PadRecord] = {}
        self.problem: str | None = None
        self._document = document
        self._select = select
        self._sources = asked
        self._target = target
        self._progress = progress

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Converts in place; nodes keep their names, outputs and metadata."""
        types = Types(self._document)
        found = sources.find_pads(model, types, self._sources)
        pads = counted("deciding", found, self._progress)
        decisions = [self._decide(site, match, types) for site, match in pads]
        self.records = {decision.site.node: decision.record for decision in decisions}
        converted = [decision for decision in decisions if decision.record.status == "converted"]
        if converted:
            constants = Constants(model)
            for decision in counted("converting", converted, self._progress):
                self.records[decision.site.node] = self._apply(decision, constants, types)
        if converted and self._target not in STANDARD:
            self._document.touched.update(declare_calls(model, types))
        self._document.touched.update(declare_rows([decision.site for decision in converted], types))
        self.problem = types.problem
        return ir.passes.PassResult(model, modified=bool(self._document.touched))

    def _decide(self, site: NodeSite, match: Match, types: Types) -> Decision:
        """Decides what a Pad becomes, with the reason; changes nothing."""
        made = match.replacement
        if made is None or match.already == self._target:
            return Decision(site, match, match.record(site, match.status, match.reason))
        info = None
        if isinstance(made, Rewrite):
            why, as_it_is = made.needed, made.runs
        else:
            info = describe(made, site, types)
            why, as_it_is = needs(info, match.runs_as), runs(info)
        told = match
        if self._select != "all" and not match.already:
            if why is None:
                return Decision(site, match, match.record(site, "not needed", as_it_is))
            told = replace(match, notes=(*match.notes, why))
        if isinstance(made, Rewrite) and made.pad is not None and self._target in CHECKS:
            try:
                CHECKS[self._target](describe(made.pad, site, types), site)
            except Unconvertible as reason:
                return Decision(site, match, match.record(site, "unconverted", str(reason)))
        return Decision(site, match, told.record(site, "converted"), info)

    def _apply(self, decision: Decision, constants: Constants, types: Types) -> PadRecord:
        """Changes the node; returns the record, with the target's notes."""
        site, match, record = decision.site, decision.match, decision.record
        emit = TARGETS[self._target]
        notes: Sequence[str] | None = ()
        if isinstance(match.replacement, Rewrite):
            done = match.replacement.apply(site, constants)
            self._document.touched.update(done.touched)
            if match.replacement.pad is None:
                return record
            if done.replacement is not None and done.site is not None:
                try:
                    notes = emit(describe(done.replacement, done.site, types), done.site, constants, types)
                except Unconvertible as why:  # the target's check did not foresee it
                    raise PadopsError(f"{site.path} cannot be converted: {why}") from why
        else:
            assert decision.info is not None, "only of a rewrite there is none"
            try:
                notes = emit(decision.info, site, constants, types)
            except Unconvertible as why:
                return match.record(site, "unconverted", str(why))
            except Unneeded as why:
                return match.record(site, "not needed", str(why))
            self._document.touched.add(site.node)
        return replace(record, op_type=CALLED.get(self._target, record.op_type), notes=(*record.notes, *(notes or ())))
