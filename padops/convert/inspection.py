"""``padops.inspect``: what each Pad of a model is, what the installed onnxruntime does with it, and what to do about that."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from padops.convert.arguments import check_kinds, choose_sources, stated_minor
from padops.convert.errors import UsageError, os_errors_as
from padops.convert.facts import PadFacts, Road, Verdict
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite
from padops.convert.model.reading import Source, given_model, read_document
from padops.convert.model.types import Types
from padops.convert.pad_facts import facts_of, pad_of, why_too_new
from padops.convert.pads.match import Match, Rewrite, Unconvertible, Unneeded
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.convert.records import SCHEMA
from padops.convert.runners import asked_here, in_several_graphs, notes_on_runners
from padops.convert.runtimes.beside_rules import as_others_may, ask
from padops.convert.runtimes.builtin_rules import reaches_provider
from padops.convert.runtimes.builtin_support import CONCAT_SINCE
from padops.convert.sources import find_pads, foreign_domains
from padops.convert.sources.converted import RENAMED
from padops.convert.targets import CHECKS
from padops.runtime.installed import NEWEST_MINOR, installed_minor, installed_version, versions
from padops.runtime.provider import FIRST_MINOR


@dataclass(frozen=True, repr=False)
class Inspection:
    """What is in a model, as ``padops.inspect`` finds it.

    Attributes:
        path: The file, or None where the model was none.
        opsets: The opset imports by domain.
        runtime: The onnxruntime that the verdicts are about, such as ``"onnxruntime 1.31.1"``.
        pads: Each Pad, in the order of the graph, then of the functions.
        options: What ``padops convert`` needs to be told to see all of them, as on its command line.
        notes: What else there is to say of the model.
        roads: What makes the whole model run, the best first; empty where nothing has to be done, or nothing can be.
        left_out: How many Pads are none of ``pads``, because ``select`` leaves them out.
        providers: The execution providers that the verdicts are about, first choice first; empty for the CPU's alone.
        domains: Where the exporter left its framework's nodes, as named or found.
        convert: What ``padops.InferenceSession`` has to be told as ``convert`` to convert it in memory; empty where it needs nothing.
    """

    path: Path | None
    opsets: dict[str, int]
    runtime: str
    pads: tuple[PadFacts, ...]
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    roads: tuple[Road, ...] = ()
    left_out: int = 0
    providers: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    convert: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """One line."""
        return f"<Inspection of {self.path or 'a model'}: {self.summary()}>"

    @property
    def failing(self) -> tuple[PadFacts, ...]:
        """The Pads that this onnxruntime does not run, or may get wrong."""
        return tuple(pad for pad in self.pads if not pad.runs)

    def summary(self) -> str:
        """How many Pads there are, and what onnxruntime does with them: ``"3 Pads: 2 run, 1 refused"``.

        Where ``select`` leaves some out, it says so: ``"3 Pads, 1 selected: 1 refused"``.
        """
        counts = Counter(pad.verdict for pad in self.pads)
        told = ", ".join(f"{counts[verdict]} {SAID[verdict]}" for verdict in get_args(Verdict) if counts[verdict])
        count = len(self.pads) + self.left_out
        selected = f", {len(self.pads)} selected" if self.left_out else ""
        return f"{count} Pad{'' if count == 1 else 's'}{selected}" + (f": {told}" if told else "")

    def commands(self) -> dict[Road, str]:
        """For each of the roads, the line that takes it, quoted so that it can be pasted."""
        name = str(self.path or "model.onnx")
        convert = shlex.join(["padops", "convert", name, *self.options])
        named = f", providers={json.dumps(list(self.providers))}" if self.providers else ""
        session = f"session = padops.InferenceSession({_quoted(name)}{named}"
        lines: dict[Road, str] = {
            "session": f"{session})",
            "memory": f"{session}, convert={self.convert!r})" if self.convert else f"{session})",
            "convert": f"{convert} -o OUT.onnx",
            "lower": f"{convert} -o OUT.onnx --target onnx",
        }
        return {road: lines[road] for road in self.roads}

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values: what ``padops inspect --json`` prints."""
        counts = Counter(pad.verdict for pad in self.pads)
        return {
            "schema": SCHEMA,
            "versions": versions(),
            "path": None if self.path is None else str(self.path),
            "opsets": self.opsets,
            "runtime": self.runtime,
            "counts": {verdict: counts[verdict] for verdict in get_args(Verdict)},
            "left_out": self.left_out,
            "roads": list(self.roads),
            "commands": self.commands(),
            **({"providers": list(self.providers)} if self.providers else {}),
            "pads": [
                pad.to_json() | {"roads": list(pad.roads)} | ({"runner": pad.runner} if self.providers else {})
                for pad in self.pads
            ],
            "notes": list(self.notes),
        }


def _quoted(name: str) -> str:
    """A string as Python reads it, in double quotes where it has nothing but what can be printed."""
    return json.dumps(name, ensure_ascii=False) if name.isprintable() else repr(name)


# How many Pads of each verdict there are, in words.
SAID: dict[Verdict, str] = {
    "runs": "run",
    "runs if": "run if the data fit",
    "may be wrong": "may be wrong",
    "wrong": "wrong",
    "refuses": "refused",
    "breaks a rule": "broken",
    "unknown": "unknown",
}


def inspect(
    model: Source,
    *,
    select: Literal["all", "needed"] = "all",
    custom_domains: Collection[str] = (),
    follow_links: bool = False,
    base_dir: str | os.PathLike[str] | None = None,
    providers: Sequence[str] = (),
    here: bool = False,
    onnxruntime: str | None = None,
) -> Inspection:
    """Says of each Pad of a model what it is, what the installed onnxruntime does with it, and what makes it run.

    Pads are those of ONNX in any form, ``com.microsoft::Pad``, those of TensorFlow, nGraph, OpenVINO, PyTorch and Caffe2, functions
    of ONNX whose bodies pad, Slices and Concats that do what a Pad does, the operators of padops, and SAME_UPPER and SAME_LOWER of
    convolutions and poolings. What else has "pad" in its name is named as unknown. The model is neither changed nor run: what
    onnxruntime does is known from measurements of its releases.

    Args:
        model: As the source of ``padops.convert``.
        select: ``"needed"`` leaves those Pads out that this onnxruntime runs.
        custom_domains: As for ``padops.convert``.
        follow_links: As for ``padops.convert``.
        base_dir: As for ``padops.convert``.
        providers: The execution providers of the session that the verdicts are about, first choice first; by default the CPU's
            alone. Each Pad then says who runs it, with padops beside them.
        here: Whether the installed onnxruntime itself is asked who runs each Pad: a ``padops.InferenceSession`` with the
            providers is created, which takes what that takes.
        onnxruntime: The release that the verdicts are about, such as ``"1.22"``, in place of the installed one.

    Returns:
        The Pads, and what makes the model run.

    Raises:
        UsageError: An argument is wrong.
        PadopsError: The model cannot be read.
    """
    check_kinds({"follow_links": follow_links, "here": here}, {"base_dir": base_dir}, None, 0)
    if isinstance(providers, str) or not all(isinstance(name, str) for name in providers):
        raise UsageError(f"providers is {providers!r}, expected names of execution providers")
    if here and onnxruntime is not None:
        words = "asks the installed onnxruntime, and {} is about another one"
        raise UsageError("here " + words.format("onnxruntime"), "--here " + words.format("--onnxruntime"))
    if select not in ("all", "needed"):
        raise UsageError(f"select is {select!r}, expected 'all' or 'needed'")
    asked = choose_sources("explicit", custom_domains, emulations=True)
    source = given_model(model)
    with os_errors_as("cannot read", source):
        document = read_document(source, base_dir, follow_links, for_pads=True)
        document.data_files(follow_links, needed=False)
    types, minor = Types(document), installed_minor() if onnxruntime is None else stated_minor(onnxruntime)
    found = find_pads(document.model, types, asked)
    by_itself = foreign_domains(found)
    domains = tuple(sorted({*custom_domains, *by_itself}))
    if set(by_itself).difference(custom_domains):
        found = find_pads(document.model, types, choose_sources("explicit", domains, emulations=True))
    pads = [_inspected(site, match, types, minor, providers) for site, match in found]
    if document.refused:  # no road leads past the layers that are in its way
        pads = [replace(pad, roads=()) for pad in pads]
    pads, said = in_several_graphs(pads, providers, minor)
    notes = [*_notes(document, types, pads), *notes_on_runners(pads, providers), *said]
    if here:
        pads, said = asked_here(source, pads, providers)
        notes += said
    selected = tuple(pad for pad in pads if select == "all" or not pad.runs)
    told: dict[str, Any] = {} if set(custom_domains) <= set(by_itself) else {"custom_domains": list(domains)}
    told |= {"follow_links": True} if follow_links else {}
    options = _options(found, domains, follow_links)
    return Inspection(
        path=Path(document.foreign[0].name) if document.foreign else document.path,
        opsets={} if document.foreign else dict(document.model.graph.opset_imports),
        runtime=_runtime(minor) if onnxruntime is None else f"onnxruntime {onnxruntime}",
        pads=selected,
        options=options,
        notes=tuple(notes),
        roads=_common(pads, minor),
        left_out=len(pads) - len(selected),
        providers=tuple(providers),
        domains=domains,
        convert=told | ({"auto_pad": "explicit"} if told and "--auto-pad" in options else {}),
    )


def _notes(document: Document, types: Types, pads: list[PadFacts]) -> tuple[str, ...]:
    notes = [f"padops cannot convert it: {document.refused}"] if document.refused else []
    notes += [types.problem] if types.problem and not document.refused else []
    return (*notes, "the model has no Pad") if not pads and not types.problem else tuple(notes)


def _runtime(minor: int) -> str:
    found = installed_version()
    if found is None:
        return f"onnxruntime 1.{NEWEST_MINOR}, as none is installed"
    return " ".join(found)


def _inspected(site: NodeSite, match: Match, types: Types, minor: int, providers: Sequence[str]) -> PadFacts:
    match = as_others_may(match, providers)
    info = pad_of(site, match, types)
    facts = facts_of(site, match, types, minor, info)
    judged = facts.verdict not in ("breaks a rule", "unknown")
    if providers and judged and info is not None and match.runs_as is not None:
        answer = ask(info, match.runs_as, providers, minor)
        facts = replace(facts, verdict=answer.verdict, why=answer.why, runner=answer.runner)
    if facts.verdict in ("runs", "breaks a rule", "unknown"):
        return facts
    return replace(facts, roads=_roads(site, match, info, minor))


def _roads(site: NodeSite, match: Match, info: PadInfo | None, minor: int) -> tuple[Road, ...]:
    """What makes a Pad run."""
    if match.verdict is not None or why_too_new(site, minor):
        return ()
    roads: list[Road] = []
    found = match.runs_as
    if match.already == "padops" or (found and info and reaches_provider(info, found, minor)):
        roads.append("session")
    if match.replacement is not None and match.already in (None, RENAMED):
        roads.append("convert")
        if _can_be_lowered(site, match, info):
            roads.append("lower")
    elif match.already == "padops" and info is not None and _can_be_lowered(site, match, info):
        roads.append("lower")
    return tuple(roads)


def _can_be_lowered(site: NodeSite, match: Match, info: PadInfo | None) -> bool:
    """Whether there are standard operators that do the same; they are written, and thrown away."""
    if (site.scope.opset or 0) < CONCAT_SINCE:
        return False
    if info is None:
        return isinstance(match.replacement, Rewrite)  # whose amounts are written out
    try:
        CHECKS["onnx"](info, site)
    except (Unconvertible, Unneeded):  # Unneeded: it would stay as it is
        return False
    return True


def _options(
    found: list[tuple[NodeSite, Match]], custom_domains: Collection[str], follow_links: bool
) -> tuple[str, ...]:
    """What the converter has to be told."""
    same = any((site.node.domain, site.node.op_type) in WINDOW_OPERATORS for site, _ in found)
    named = [part for domain in custom_domains for part in ("--custom-domain", domain)]
    return (*(("--auto-pad", "explicit") if same else ()), *named, *(("--follow-links",) if follow_links else ()))


def _common(pads: list[PadFacts], minor: int) -> tuple[Road, ...]:
    """The roads that make every Pad run, the best first: of those that run only for some data where no other is left."""
    failing = [pad for pad in pads if not pad.runs]
    wanting = failing or [pad for pad in pads if pad.verdict == "runs if"]
    roads = {road for road in get_args(Road) if wanting and all(road in pad.roads for pad in wanting)}
    # A session that runs the others as they are converts what it has to; of what depends on the data, only on old releases.
    both = all({"session", "convert"}.intersection(pad.roads) for pad in wanting)
    if wanting and both and "session" not in roads and (failing or minor < FIRST_MINOR):
        roads.add("memory")
    return tuple(road for road in get_args(Road) if road in roads)
