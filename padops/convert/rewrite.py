"""The pass that turns every Pad of a model into an operator of the domain ``padops``.

It decides what each Pad becomes and why; only then it changes nodes. A target may still
refuse a Pad, before it changes any node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import onnx_ir as ir

from padops.convert.analysis import Analysis, Pad
from padops.convert.errors import PadopsError
from padops.convert.model.document import Document
from padops.convert.model.graphs import Constants
from padops.convert.pads.match import Rewrite, Unconvertible, Unneeded
from padops.convert.pads.pad_info import describe
from padops.convert.records import PadRecord
from padops.convert.runtimes.builtin import needs, runs
from padops.convert.targets import CHECKS, TARGETS, declare_calls, declare_rows
from padops.progress import counted


@dataclass(frozen=True)
class Request:
    """The checked options of a conversion; ``convert`` describes them."""

    target: str = "padops"  # a key of ``TARGETS``
    select: str = "all"
    fold: bool = True
    fallback: bool = True
    lowering: Mapping[str, Any] = field(default_factory=dict)  # the options of the target ``"onnx"``

    @property
    def lowers(self) -> bool:
        """Whether Pads become operators of the standard."""
        return self.target == "onnx"


@dataclass(frozen=True)
class Rewritten:
    """What ``convert_pads`` did."""

    records: dict[ir.Node, PadRecord]  # the record of each Pad, by its node
    problem: str | None  # why types could not be inferred, or None


def convert_pads(analysis: Analysis, request: Request) -> Rewritten:
    """Converts the Pads of the document's model in place; nodes keep their names, outputs and metadata."""
    document, types, progress = analysis.document, analysis.types, analysis.progress
    decided = [(pad, _decide(pad, request)) for pad in counted("deciding", analysis.pads, progress)]
    records = {pad.site.node: record for pad, record in decided}
    converted = [(pad, record) for pad, record in decided if record.status == "converted"]
    if decided:
        types.infer()  # before the first node is changed
    if converted:
        constants = Constants(document.model)
        for pad, record in counted("converting", converted, progress):
            records[pad.site.node] = _apply(pad, record, request, document, constants)
        if not request.lowers:
            document.touched.update(declare_calls(document.model, types))
        document.touched.update(declare_rows([pad.site for pad, _ in converted], types))
        analysis.renew()
    document.write_back()
    return Rewritten(records, types.problem)


def _decide(pad: Pad, request: Request) -> PadRecord:
    """The record of a Pad, with the reason, unless the target refuses it; changes nothing.

    A Pad that breaks a rule stays if every run reaches it. In a branch, it becomes an operator that names the rule when
    it runs; standard operators cannot.
    """
    match, made, info = pad.match, pad.match.replacement, pad.info
    if info is not None and pad.broken is not None and (request.lowers or pad.always_runs):
        return pad.record("unconverted", f"padops::{info.op.name} '{info.name}': {pad.broken}")
    if made is None or match.already == request.target:
        return pad.record(match.status, match.reason)
    if isinstance(made, Rewrite):
        why, as_it_is = made.needed, made.runs
    else:
        assert info is not None, "a replacement is described"
        why, as_it_is = needs(info, match.runs_as), runs(info)
    notes = match.notes
    if request.select != "all" and not match.already:
        if why is None:
            return pad.record("not needed", as_it_is)
        notes = (*notes, why)
    if isinstance(made, Rewrite) and info is not None and request.target in CHECKS:
        try:
            CHECKS[request.target](info, pad.site, **request.lowering)
        except Unconvertible as reason:
            return pad.record("unconverted", str(reason))
    return replace(pad.record("converted"), notes=notes)


def _apply(pad: Pad, record: PadRecord, request: Request, document: Document, constants: Constants) -> PadRecord:
    """Changes the node; returns the record, with the target's notes."""
    site, made, types = pad.site, pad.match.replacement, pad.types
    emit = partial(TARGETS[request.target], **request.lowering)
    notes: Sequence[str] | None = ()
    if isinstance(made, Rewrite):
        done = made.apply(site, constants)
        document.touched.update(done.touched)
        if made.pad is None:
            return record
        if done.replacement is not None and done.site is not None:
            try:
                notes = emit(describe(done.replacement, done.site, types), done.site, constants, types)
            except Unconvertible as why:  # the target's check did not foresee it
                raise PadopsError(f"{site.path} cannot be converted: {why}") from why
    else:
        assert pad.info is not None, "a replacement is described"
        try:
            notes = emit(pad.info, site, constants, types)
        except Unconvertible as why:
            return pad.record("unconverted", str(why))
        except Unneeded as why:
            return pad.record("not needed", str(why))
        document.touched.add(site.node)
    op_type = "standard ONNX" if request.lowers else record.op_type
    return replace(record, op_type=op_type, notes=(*record.notes, *(notes or ())))
