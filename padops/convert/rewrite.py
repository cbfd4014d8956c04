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
from padops.convert.model.graphs import Found, walk
from padops.convert.model.types import Types
from padops.convert.records import PadRecord
from padops.convert.sources import SOURCES, Source
from padops.convert.sources.builtin_support import needs, runs
from padops.convert.sources.match import Edit, Finding, Put, Unconvertible, Unneeded
from padops.convert.targets import CALLED, TARGETS
from padops.spec.dialects import DOMAIN
from padops.spec.schemas import register_schemas


class ConvertPads(ir.passes.InPlacePass):
    """Looks at every node of the document's model, and records what it did with each Pad.

    Attributes:
        told: A record of each Pad; filled by the call.
        problem: What kept types from being inferred, or None.
    """

    def __init__(
        self, document: Document, select: str = "all", target: str = "padops", asked: Sequence[Source] = SOURCES
    ) -> None:
        super().__init__()
        self.told: dict[ir.Node, PadRecord] = {}
        self.problem: str | None = None
        self._document = document
        self._select = select
        self._sources = asked
        self._target = target

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Converts in place; nodes keep their names, outputs and metadata."""
        types = Types(self._document)
        findings = self._find(model, types)
        if findings:  # before the first node is changed: targets ask for types and shapes
            register_schemas()
            types.settle()
        put = partial(TARGETS[self._target], types=types)
        constants: Constants | None = None
        for found, finding in findings:
            record = self._decide(found, finding)
            if record.status == "converted":
                constants = constants or Constants(model)
                record = self._change(found, finding, constants, put, record)
            self.told[found.node] = record
        self.problem = types.problem
        return ir.passes.PassResult(model, modified=bool(self._document.touched))

    def _find(self, model: ir.Model, types: Types) -> list[tuple[Found, Finding]]:
        """Every Pad of the model; all are found before the first is changed."""
        findings = []
        for found in walk(model):
            # A function of this domain is what an operator falls back on where the library is absent.
            inside_fallback = isinstance(found.scope.root, ir.Function) and found.scope.root.domain == DOMAIN
            if not inside_fallback and (finding := sources.find(found, types, self._sources)) is not None:
                findings.append((found, finding))
        return findings

    def _change(self, found: Found, finding: Finding, constants: Constants, put: Put, record: PadRecord) -> PadRecord:
        """Changes the node; gives the record, with what the target has to say."""
        if isinstance(finding.draft, Edit):
            try:
                self._document.touched.update(finding.draft.apply(found, constants, put))
            except Unconvertible as why:  # perhaps in the middle of it, so that nothing can be left as it was
                raise PadopsError(f"{found.path} cannot be converted: {why}") from why
            return record
        try:
            notes = put(finding.draft, found, constants)
        except Unconvertible as why:
            return finding.record(found, "left", str(why))
        except Unneeded as why:
            return finding.record(found, "not needed", str(why))
        self._document.touched.add(found.node)
        made = CALLED.get(self._target, record.op_type)
        return replace(record, op_type=made, notes=(*record.notes, *(notes or ())))

    def _decide(self, found: Found, finding: Finding) -> PadRecord:
        if finding.draft is None or finding.already == self._target:
            return finding.record(found, finding.status, finding.reason)
        if self._select == "all" or finding.already:
            return finding.record(found, "converted")
        if finding.facts is None:
            why, fine = finding.draft.needed, finding.draft.runs
        else:
            facts = finding.facts()
            why, fine = needs(facts), runs(facts)
        if why is None:
            return finding.record(found, "not needed", fine)
        return replace(finding, notes=(*finding.notes, why)).record(found, "converted")
