"""The pass that turns every Pad of a model into an operator of the domain ``padops``.

It finds each Pad, describes it, and decides what it becomes and why; only then it changes nodes. A target may still
refuse a Pad, before it changes any node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.convert.matchers import MATCHERS, Matcher, find_pads
from padops.convert.model.constants import Constants
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pad_facts import broken_rule, pad_of
from padops.convert.pads.match import Match, Rewrite, Unconvertible, Unneeded
from padops.convert.pads.pad_info import PadInfo, describe
from padops.convert.records import PadRecord
from padops.convert.runtimes.builtin_rules import needs, runs
from padops.convert.targets import CHECKS, TARGETS
from padops.convert.targets.calls import declare_calls, declare_rows
from padops.progress import Progress, counted


@dataclass(frozen=True)
class Request:
    """The checked options of a conversion; ``convert`` describes them."""

    target: str = "padops"  # a key of ``TARGETS``
    select: str = "all"
    fold: bool = True
    fallback: bool = True
    matchers: Sequence[Matcher] = MATCHERS
    progress: Progress | None = None
    lowering: Mapping[str, Any] = field(default_factory=dict)  # the options of ``targets/onnx.py``

    @property
    def lowers(self) -> bool:
        """Whether Pads become operators of the standard."""
        return self.target == "onnx"


@dataclass(frozen=True)
class Decision:
    """The decision about one Pad."""

    site: NodeSite
    match: Match
    record: PadRecord  # its record, unless the target refuses the Pad
    info: PadInfo | None = None  # its description; None if it stays, or for a ``Rewrite``


@dataclass(frozen=True)
class Rewritten:
    """What ``convert_pads`` did."""

    records: dict[ir.Node, PadRecord]  # the record of each Pad, by its node
    problem: str | None  # why types could not be inferred, or None


def convert_pads(document: Document, request: Request) -> Rewritten:
    """Converts the Pads of the document's model in place; nodes keep their names, outputs and metadata."""
    types = Types(document)
    found = counted("deciding", find_pads(document.model, types, request.matchers), request.progress)
    decisions = [_decide(site, match, types, request) for site, match in found]
    records = {decision.site.node: decision.record for decision in decisions}
    converted = [decision for decision in decisions if decision.record.status == "converted"]
    if converted:
        constants = Constants(document.model)
        for decision in counted("converting", converted, request.progress):
            records[decision.site.node] = _apply(decision, request, document, constants, types)
        if not request.lowers:
            document.touched.update(declare_calls(document.model, types))
    document.touched.update(declare_rows([decision.site for decision in converted], types))
    document.write_back()
    return Rewritten(records, types.problem)


def always_runs(site: NodeSite) -> bool:
    """Whether every run reaches a node: it is in the main graph, or in a function that is called from there."""
    if site.scope.owner is not None:
        return False
    root = site.scope.root
    return not isinstance(root, ir.Function) or any(map(always_runs, site.scope.index.calls(root)))


def _decide(site: NodeSite, match: Match, types: Types, request: Request) -> Decision:
    """Decides what a Pad becomes, with the reason; changes nothing.

    A Pad that breaks a rule stays if every run reaches it. In a branch, it becomes an operator that names the rule when
    it runs; standard operators cannot.
    """
    made, info = match.replacement, pad_of(site, match, types)
    broken = None if info is None else broken_rule(info)
    if info is not None and broken is not None and (request.lowers or always_runs(site)):
        reason = f"padops::{info.op.name} '{info.name}': {broken}"
        return Decision(site, match, match.record(site, "unconverted", reason))
    if made is None or match.already == request.target:
        return Decision(site, match, match.record(site, match.status, match.reason))
    if isinstance(made, Rewrite):
        why, as_it_is, info = made.needed, made.runs, None
    else:
        assert info is not None, "a replacement is described"
        why, as_it_is = needs(info, match.runs_as), runs(info)
    told = match
    if request.select != "all" and not match.already:
        if why is None:
            return Decision(site, match, match.record(site, "not needed", as_it_is))
        told = replace(match, notes=(*match.notes, why))
    if isinstance(made, Rewrite) and made.pad is not None and request.target in CHECKS:
        try:
            CHECKS[request.target](describe(made.pad, site, types), site, **request.lowering)
        except Unconvertible as reason:
            return Decision(site, match, match.record(site, "unconverted", str(reason)))
    return Decision(site, match, told.record(site, "converted"), info)


def _apply(decision: Decision, request: Request, document: Document, constants: Constants, types: Types) -> PadRecord:
    """Changes the node; returns the record, with the target's notes."""
    site, match, record = decision.site, decision.match, decision.record
    emit = partial(TARGETS[request.target], **request.lowering)
    notes: Sequence[str] | None = ()
    if isinstance(match.replacement, Rewrite):
        done = match.replacement.apply(site, constants)
        document.touched.update(done.touched)
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
        document.touched.add(site.node)
    op_type = "standard ONNX" if request.lowers else record.op_type
    return replace(record, op_type=op_type, notes=(*record.notes, *(notes or ())))
