"""Finds, describes and judges each Pad of a document once, and keeps the results for all callers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.matchers import MATCHERS, Matcher, match_pad
from padops.convert.matchers.onnx_pad import RENAMED, operator_of
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite, values_behind, walk
from padops.convert.model.types import Types
from padops.convert.pads.match import MICROSOFT, Match
from padops.convert.pads.pad_info import PadInfo, all_known, describe
from padops.convert.records import Dim, PadFacts, PadRecord, Status, Verdict
from padops.convert.runtimes import first_with, judge, known_amounts, needs, newest_opset
from padops.runtime.installed import installed_minor
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, axis_positions, make_node_plan
from padops.spec.plan import NOTHING, Amounts, Mode, PadError, check_axes, dilated_size
from padops.spec.schemas import register_schemas
from padops.terminal import Progress

BROKEN = re.compile(r" \[(P\d+|S1)\]$")  # the end of a reason that names a rule
DOUBTED = ("wrong", "may be wrong")  # verdicts
Shape = tuple[Dim, ...]


class Analysis:
    """The Pads of a document. A pass that changes the document calls ``renew``, which forgets the Pads."""

    def __init__(
        self, document: Document, asked: Sequence[Matcher] = MATCHERS, progress: Progress | None = None
    ) -> None:
        self.document, self.asked, self.progress = document, asked, progress
        self.done: list[PadRecord] = []  # of Pads that an earlier pass has written as nodes without a Pad
        self.problem: str | None = None  # why types could not be inferred for the conversion, or None
        self.renew()

    def renew(self) -> None:
        self.types = Types(self.document)
        self.__dict__.pop("sites", None)
        self.__dict__.pop("pads", None)

    @cached_property
    def sites(self) -> list[NodeSite]:
        return list(walk(self.document.model))

    @cached_property
    def pads(self) -> list[Pad]:
        return self.find(self.asked)

    def find(self, asked: Sequence[Matcher]) -> list[Pad]:
        """Return the Pads that the matchers in ``asked`` recognize, in graph order."""
        found = []
        for site in self.sites:
            # A function of padops' domain is an operator's fallback: it runs if the library is absent.
            inside_fallback = isinstance(site.scope.root, ir.Function) and site.scope.root.domain == DOMAIN
            if not inside_fallback and (match := match_pad(site, self.types, asked)) is not None:
                found.append(Pad(site, match, self.types))
        if found:  # before types are inferred
            register_schemas()
        return found

    def doubted(self) -> tuple[dict[str, str], dict[str, str]]:
        """Map values that depend on a (possibly) wrong Pad to the reason: one map with optimisation, one without."""
        found: dict[str, str] = {}
        unoptimised: dict[str, str] = {}
        for pad in self.pads:
            facts = pad.facts(installed_minor())
            if facts.verdict in DOUBTED:
                verdict, why = pad.verdict(installed_minor(), optimised=False)
                for name in values_behind(self.document.model, [pad.site.node]):
                    found.setdefault(name, f"{facts.path}: {facts.why}")
                    if verdict in DOUBTED:
                        unoptimised.setdefault(name, f"{facts.path}: {why}")
        return found, unoptimised


@dataclass(frozen=True, eq=False)
class Pad:
    """One Pad of a model, with its description and verdicts."""

    site: NodeSite
    match: Match
    types: Types

    @cached_property
    def info(self) -> PadInfo | None:
        """The Pad's description; None if the match has no operator of padops."""
        return None if self.match.pad is None else describe(self.match.pad, self.site, self.types)

    @cached_property
    def broken(self) -> str | None:
        """The rule that the Pad breaks whatever its data, so that not even the converted Pad can run; else None."""
        if (info := self.info) is None:
            return None
        if info.problem is not None:
            return re.sub(r"^padops::\w+ '[^']*': ", "", info.problem)  # the path names the node already
        if info.type is not None and info.type not in info.op.types:
            return None
        try:
            if info.node is not None and all_known(info.dims) and info.mode is not None:
                make_node_plan(info.node, info.dims)
            # ``amounts`` checks its own rules (P8), even if the caller of a function chooses the mode.
            elif (amounts := info.amounts) and info.mode is not None:
                check_axes(info.dims or [None] * len(amounts), amounts, info.mode, info.op.limit, info.op.clamp)
            return _broken_by_shapes(info)
        except PadError as error:
            return f"{error.detail} [{error.rule}]"

    def facts(self, minor: int) -> PadFacts:
        """Return the Pad's facts with the verdict of onnxruntime 1.``minor``; call this before the model changes."""
        site, info, types = self.site, self.info, self.types
        node, domain = site.node, site.node.domain
        verdict, why = self.verdict(minor)
        if verdict not in ("breaks a rule", "unknown") and (too_new := self.too_new(minor)):
            verdict, why = "refuses", too_new
        data = info.data if info else node.inputs[0] if node.inputs else None
        shape = _named(data, info.dims if info else None, types)
        stated = _named(node.outputs[0], None, types) if node.outputs else None
        rows: Sequence[Amounts] | None = None
        told: dict[str, Any] = {"mode": None, "fill": None, "amounts": None, **self.match.facts}
        if info is not None:
            known = known_amounts(info)
            rows = known if known or (info.rank == 0 and info.node is not None) else None
            told = {"mode": info.mode and info.mode.value, "fill": _fill(info)}
            told["amounts"] = rows and tuple((a.begin, a.end, a.interior)[: 3 if a.interior else 2] for a in rows)
        return PadFacts(
            path=site.path,
            name=node.name or "",
            form=self.match.form,
            operator=f"{domain}::{node.op_type}" if domain else node.op_type,
            opset=site.scope.opset if domain == "" else site.scope.root.opset_imports.get(domain),
            type=info.type if info else types.name(data, *node.outputs[:1]),
            input_shape=shape,
            output_shape=_output(shape, stated, rows),
            verdict=verdict,
            why=why,
            **told,
        )

    def record(self, status: Status, reason: str | None = None) -> PadRecord:
        match, node = self.match, self.site.node
        op_type = match.op_type if match.already or status == "converted" else None
        corrects = match.needed if status == "converted" and match.judge is not None else None
        return PadRecord(self.site.path, node.name or "", match.form, status, op_type, reason, match.notes, corrects)

    def too_new(self, minor: int) -> str | None:
        """Return why onnxruntime 1.``minor`` cannot load the model (a missing opset or kernel); else None."""
        site, node = self.site, self.site.node
        if (node.domain, node.op_type) == ("", "ConvInteger") and node.inputs and minor < 24:
            if self.types.name(node.inputs[0]) == "int8":
                return f"onnxruntime 1.{minor} has no ConvInteger of int8; 1.24 has"
        opset, newest = site.scope.root.opset_imports.get(""), newest_opset(minor)
        if opset is None or newest is None or opset <= newest:
            return None
        later = first_with(opset)
        loads = f"; 1.{later} does" if later else ""
        return f"onnxruntime 1.{minor} loads no model of opset {opset}, but up to {newest}{loads}"

    def verdict(self, minor: int, optimised: bool = True) -> tuple[Verdict, str]:
        """Return onnxruntime 1.``minor``'s verdict, with or without graph optimisation, and the reason."""
        match = self.match
        if match.verdict is not None:
            return match.verdict
        if match.already:
            return _of_padops(self.site, match.already) if self.broken is None else ("breaks a rule", self.broken)
        if match.stays:
            if match.status == "not needed":
                return "runs", match.reason or ""
            if match.judge is None:
                return ("breaks a rule" if BROKEN.search(match.reason or "") else "unknown"), match.reason or ""
            verdict, why = match.judge(minor)
            return verdict, why if verdict == "runs" else f"{why}; {match.reason}"
        if self.broken is not None:
            return "breaks a rule", self.broken
        if match.judge is not None:
            return match.judge(minor)
        if match.runs_as is not None:
            return judge(self.seen, match.runs_as, minor, optimised)
        return ("runs", match.runs) if self.needed is None else ("refuses", self.needed)

    @cached_property
    def seen(self) -> PadInfo:
        """The Pad that ONNX Runtime runs, which may differ from ``info``."""
        seen = self.info if self.match.seen is None else describe(*self.match.seen, self.types)
        assert seen is not None, "a Pad is described"
        return seen

    @property
    def needed(self) -> str | None:
        """Why some release of ONNX Runtime does not run the unchanged nodes as specified; None if all releases do."""
        match, node = self.match, self.site.node
        if match.needed is not None or match.runs:
            return match.needed
        if match.runs_as is None and node.domain not in ("", MICROSOFT):
            return f"ONNX Runtime has no {node.op_type} in the domain '{node.domain}'"
        if match.runs_as is None:
            return f"ONNX Runtime refuses this form: {match.form}"
        return needs(self.seen, match.runs_as)


def always_runs(site: NodeSite) -> bool:
    """Return whether every run executes a node: directly in the main graph, or in a function that such a node calls."""
    if site.scope.owner is not None:
        return False
    root = site.scope.root
    return not isinstance(root, ir.Function) or any(map(always_runs, site.scope.index.calls(root)))


def _broken_by_shapes(info: PadInfo) -> str | None:
    """Return the rule broken by the fill's shape, the amounts' shape or constant axes; None if they break none."""
    fill = info.fill_dims
    if info.mode is Mode.CONSTANT and all_known(fill) and prod(fill) != 1:
        return f"{info.op.fill} has {prod(fill)} elements, expected one [P7]"
    pads, axes = info.pads_dims, info.input("axes")
    if isinstance(axes, np.ndarray):
        if twice := [axis for axis, n in Counter(axes.reshape(-1).tolist()).items() if n > 1]:
            return f"axes={axes.tolist()} names axis {twice[0]} twice [P8]"
        if info.rank is not None:
            axis_positions(axes, info.rank)  # raises PadError for wrong axes
    count = info.rank if axes is None else axes.size if isinstance(axes, np.ndarray) else None
    if info.some_axes or count is None or info.op.input_index("pads") is None or not all_known(pads):
        return None
    if pads not in ([2 * count], [1, 2 * count]):
        return f"pads has shape {list(pads)}, expected [{2 * count}] [P8]"
    return None


def _of_padops(site: NodeSite, target: str) -> tuple[Verdict, str]:
    """Return the verdict on an operator of padops: without the library, ONNX Runtime needs the operator's fallback."""
    renamed = f"a prefix has renamed {operator_of(site.node.op_type)}" if target == RENAMED else ""
    if site.node.op_identifier() in site.scope.model.functions:
        slow = f"{renamed}, so padops' library does not run it; padops convert fixes that"
        more = slow if renamed else "with padops' library it is faster"
        return "runs", f"ONNX Runtime runs the function that the model has for it; {more}"
    if renamed:
        return "refuses", f"{renamed}, and neither padops' library nor the model has that name"
    domain = pyop_node.DOMAIN if target == "pyop" else DOMAIN
    return "refuses", f"ONNX Runtime does not know the domain {domain} without padops"


def _named(value: ir.Value | None, dims: Sequence[int | None] | None, types: Types) -> Shape | None:
    """Return the dims; unknown dims get their names from the model."""
    dims = types.shape(value) if dims is None else dims
    if dims is None:
        return None
    stated = value.shape if value is not None else None
    if stated is None or len(stated) != len(dims):
        return tuple(dims)
    names = [None if isinstance(dim, int) else dim.value for dim in stated]
    return tuple(name if dim is None else dim for dim, name in zip(dims, names))


def _output(shape: Shape | None, stated: Shape | None, amounts: Sequence[Amounts] | None) -> Shape | None:
    """Return the output's dims, computed from the data's dims and the amounts; use the ``stated`` dims for the rest."""
    if shape is None or amounts is None or len(shape) != len(amounts):
        return stated
    found = list(shape)
    for axis, (dim, row) in enumerate(zip(shape, amounts)):
        if isinstance(dim, int):
            found[axis] = max(row.begin + dilated_size(dim, row.interior) + row.end, 0)
        elif row != NOTHING:
            found[axis] = stated[axis] if stated is not None and len(stated) == len(shape) else None
    return tuple(found)


def _fill(info: PadInfo) -> str | None:
    if Mode.CONSTANT not in info.known_modes:
        return None
    if info.has_default_fill:
        return {"string": "''", "bool": "False"}.get(info.type or "", "0")
    fill = info.known_fill
    if fill is None:
        return "at run time"
    if fill.size != 1:
        return f"{fill.size} elements"
    element = fill.reshape(-1)[0]
    if isinstance(element, bytes):
        element = element.decode(errors="replace")
    return repr(element) if isinstance(element, str) else str(np.asarray(element).item())
