"""The pass that turns every Pad of a model into an operator of the domain ``padops``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import onnx_ir as ir

from padops.convert import sources
from padops.convert.errors import PadopsError
from padops.convert.model.constants import Constants
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite, walk
from padops.convert.model.types import Types
from padops.convert.records import PadRecord
from padops.convert.sources import SOURCES, Source
from padops.convert.sources.builtin_support import needs, runs
from padops.convert.sources.match import Emit, Match, Rewrite, Unconvertible, Unneeded
from padops.convert.targets import CALLED, TARGETS
from padops.spec.dialects import DOMAIN
from padops.spec.schemas import register_schemas


class ConvertPads(ir.passes.InPlacePass):
    """Looks at every node of the document's model, and records what it did with each Pad.

    Attributes:
        records: A record of each Pad; filled by the call.
        problem: What kept types from being inferred, or None.
    """

    def __init__(
        self, document: Document, select: str = "all", target: str = "padops", asked: Sequence[Source] = SOURCES
    ) -> None:
        super().__init__()
        self.records: dict[ir.Node, PadRecord] = {}
        self.problem: str | None = None
        self._document = document
        self._select = select
        self._sources = asked
        self._target = target

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Converts in place; nodes keep their names, outputs and metadata."""
        types = Types(self._document)
        matches = self._find(model, types)
        if matches:  # before the first node is changed: targets ask for types and shapes
            register_schemas()
            types.infer()
        emit = partial(TARGETS[self._target], types=types)
        constants: Constants | None = None
        for site, match in matches:
            record = self._decide(site, match)
            if record.status == "converted":
                constants = constants or Constants(model)
                record = self._change(site, match, constants, emit, record)
            self.records[site.node] = record
        self.problem = types.problem
        return ir.passes.PassResult(model, modified=bool(self._document.touched))

    def _find(self, model: ir.Model, types: Types) -> list[tuple[NodeSite, Match]]:
        """Every Pad of the model; all are found before the first is changed."""
        matches = []
        for site in walk(model):
            # A function of this domain is what an operator falls back on where the library is absent.
            inside_fallback = isinstance(site.scope.root, ir.Function) and site.scope.root.domain == DOMAIN
            if not inside_fallback and (match := sources.find(site, types, self._sources)) is not None:
                matches.append((site, match))
        return matches

    def _change(self, site: NodeSite, match: Match, constants: Constants, emit: Emit, record: PadRecord) -> PadRecord:
        """Changes the node; gives the record, with what the target has to say."""
        if isinstance(match.replacement, Rewrite):
            try:
                self._document.touched.update(match.replacement.apply(site, constants, emit))
            except Unconvertible as why:  # perhaps in the middle of it, so that nothing can be left as it was
                raise PadopsError(f"{site.path} cannot be converted: {why}") from why
            return record
        try:
            notes = emit(match.replacement, site, constants)
        except Unconvertible as why:
            return match.record(site, "unconverted", str(why))
        except Unneeded as why:
            return match.record(site, "not needed", str(why))
        self._document.touched.add(site.node)
        made = CALLED.get(self._target, record.op_type)
        return replace(record, op_type=made, notes=(*record.notes, *(notes or ())))

    def _decide(self, site: NodeSite, match: Match) -> PadRecord:
        if match.replacement is None or match.already == self._target:
            return match.record(site, match.status, match.reason)
        if self._select == "all" or match.already:
            return match.record(site, "converted")
        if match.facts is None:
            why, fine = match.replacement.needed, match.replacement.runs
        else:
            facts = match.facts()
            why, fine = needs(facts), runs(facts)
        if why is None:
            return match.record(site, "not needed", fine)
        return replace(match, notes=(*match.notes, why)).record(site, "converted")
