"""``padops.inspect``: for each Pad of a model, onnxruntime's verdict, the Pad's provider, and the ways to run it."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from padops.convert.analysis import Analysis, Pad
from padops.convert.arguments import check_kinds, check_known, choose_matchers, rules_of_session, stated_minor
from padops.convert.errors import UsageError, os_errors_as
from padops.convert.matchers import foreign_domains
from padops.convert.model.document import Source, given_model, read_document
from padops.convert.pads.match import Unconvertible, Unneeded
from padops.convert.pads.window_operators import WINDOW_OPERATORS
from padops.convert.records import SCHEMA, PadFacts, Road, Verdict
from padops.convert.rewrite import CHECKS
from padops.convert.runtimes import ask, reaches_provider
from padops.convert.standard.graph_builder import FIRST
from padops.plural import plural
from padops.runtime.installed import NEWEST_MINOR, installed_minor, installed_version, versions
from padops.runtime.provider import CPU, EP_NAME, EP_NAMES, FIRST_MINOR, FIRST_NAME
from padops.runtime.provider_rules import BY_NAME, SUFFIX, Rules, with_measured_here
from padops.spec import pyop_node


@dataclass(frozen=True, repr=False)
class Inspection:
    """The Pads of a model and their fixes, as ``padops.inspect`` returns them.

    Attributes:
        path: The model's file; None if the model was an object.
        opsets: The opset imports by domain.
        runtime: The onnxruntime that the verdicts hold for, such as ``"onnxruntime 1.31.1"``.
        pads: Each Pad, in the order of the graph, then of the functions.
        options: The options with which ``padops convert`` finds all these Pads.
        notes: Notes on the whole model.
        roads: The ways to run the whole model, the best first; empty if the model already runs, or no way makes it run.
        left_out: The number of Pads that ``select`` leaves out of ``pads``.
        providers: The execution providers that the verdicts hold for, first choice first; empty: the CPU provider.
        rules: The file of rules for one of the providers; empty for padops' own rules.
        domains: The domains whose nodes padops reads as a framework's: named by the caller, or found by padops.
        convert: The argument ``convert`` with which ``padops.InferenceSession`` converts the model in memory; empty if
            the session needs none.
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
    rules: str = ""
    domains: tuple[str, ...] = ()
    convert: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Inspection of {self.path or 'a model'}: {self.summary()}>"

    @property
    def failing(self) -> tuple[PadFacts, ...]:
        """The Pads that this onnxruntime does not run, or may get wrong."""
        return tuple(pad for pad in self.pads if not pad.runs)

    def summary(self) -> str:
        """Return the number of Pads and onnxruntime's verdicts: ``"3 Pads: 2 run, 1 refused"``.

        If ``select`` leaves Pads out: ``"3 Pads, 1 selected: 1 refused"``.
        """
        return summary_of(self.pads, self.left_out)

    def commands(self) -> dict[Road, str]:
        """Map each of ``roads`` to the Python line or command that runs the model in this way, quoted for pasting."""
        name = str(self.path or "model.onnx")
        file = f"./{name}" if name.startswith("-") else name
        convert = shlex.join(["padops", "convert", file, *self.options])
        target = ["--target", "onnx"]
        if ruled := [one for one in self.providers if one in BY_NAME or (self.rules and one not in OURS_AND_CPU)]:
            target += ["--for", ruled[0].removesuffix(SUFFIX).lower(), *(["--rules", self.rules] if self.rules else [])]
        session = f"session = padops.InferenceSession({_quoted(name)}{session_arguments(self)}"
        lines: dict[Road, str] = {
            "session": f"{session})",
            "memory": f"{session}, convert={self.convert!r})" if self.convert else f"{session})",
            "convert": f"{convert} -o OUT.onnx",
            "lower": f"{convert} -o OUT.onnx {shlex.join(target)}",
        }
        return {road: lines[road] for road in self.roads}

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values, as ``padops inspect --json`` prints it for each model."""
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
            **({"rules": self.rules} if self.rules else {}),
            "pads": [
                pad.to_json() | {"roads": list(pad.roads)} | ({"runner": pad.runner} if self.providers else {})
                for pad in self.pads
            ],
            "notes": list(self.notes),
        }


def session_arguments(inspection: Inspection) -> str:
    """Return a session's arguments for the providers and rules: ``, providers=["CUDAExecutionProvider"]``."""
    named = f", providers={json.dumps(list(inspection.providers))}" if inspection.providers else ""
    return named + (f", rules={_quoted(inspection.rules)}" if inspection.rules else "")


def _quoted(name: str) -> str:
    """Return a string as a Python literal, in double quotes if all its characters are printable."""
    return json.dumps(name, ensure_ascii=False) if name.isprintable() else repr(name)


# The words for Pads of each verdict, after their number.
SAID: dict[Verdict, str] = {
    "runs": "run",
    "runs if": "run if the data fit",
    "may be wrong": "may be wrong",
    "wrong": "wrong",
    "refuses": "refused",
    "breaks a rule": "breaking a rule",
    "unknown": "unknown",
}


def summary_of(pads: Sequence[PadFacts], left_out: int) -> str:
    """Return the text of ``Inspection.summary``."""
    counts = Counter(pad.verdict for pad in pads)
    told = ", ".join(f"{counts[verdict]} {SAID[verdict]}" for verdict in get_args(Verdict) if counts[verdict])
    selected = f", {len(pads)} selected" if left_out else ""
    return f"{plural(len(pads) + left_out, 'Pad')}{selected}" + (f": {told}" if told else "")


def inspect(
    model: Source,
    *,
    select: Literal["all", "needed"] = "all",
    custom_domains: Collection[str] = (),
    follow_links: bool = False,
    base_dir: str | os.PathLike[str] | None = None,
    providers: Sequence[str] = (),
    rules: str | os.PathLike[str] | None = None,
    onnxruntime: str | None = None,
) -> Inspection:
    """Describe each Pad of a model, the verdict of the installed onnxruntime, and the ways to run the Pad.

    padops finds the Pads of ONNX in any form, ``com.microsoft::Pad``, the Pads of TensorFlow, nGraph, OpenVINO, PyTorch
    and Caffe2, functions of ONNX whose bodies pad, emulated Pads (such as Slices and a Concat), the operators of
    padops, and SAME_UPPER and SAME_LOWER of convolutions and poolings. It lists other operators with "pad" in the name
    as unknown. It neither changes nor runs the model: the verdicts follow from measurements of onnxruntime's releases.

    Args:
        model: The model, in any form that ``padops.convert`` accepts as its source.
        select: ``"needed"`` leaves out the Pads that this onnxruntime runs.
        custom_domains: As for ``padops.convert``.
        follow_links: As for ``padops.convert``.
        base_dir: As for ``padops.convert``.
        providers: The execution providers of the session, first choice first; by default, the CPU provider alone. If
            any are named, each Pad's ``runner`` is the provider that runs this Pad in a ``padops.InferenceSession``.
        rules: A file of rules for one of the providers, as ``padops probe`` writes it. By default, padops' own rules.
        onnxruntime: The release for the verdicts, such as ``"1.22"``; by default, the installed release.

    Returns:
        The Pads, and the ways to run the model.

    Raises:
        UsageError: An argument is wrong.
        PadopsError: The model cannot be read.
    """
    check_kinds({"follow_links": follow_links}, {"base_dir": base_dir, "rules": rules}, None, 0)
    if select not in ("all", "needed"):
        raise UsageError(f"select is {select!r}, expected 'all' or 'needed'")
    ruled = rules_of_session(providers, rules)
    asked = choose_matchers("explicit", custom_domains, emulations=True)
    source = given_model(model)
    with os_errors_as("cannot read", source):
        document = read_document(source, base_dir, follow_links, for_pads=True)
        document.data_files(follow_links, needed=False)
    minor = installed_minor() if onnxruntime is None else stated_minor(onnxruntime)
    ruled = with_measured_here(ruled, providers) if onnxruntime is None else ruled
    check_known(providers, ruled)
    analysis = Analysis(document, asked)
    found = analysis.pads
    by_itself = foreign_domains([pad.site for pad in found])
    domains = tuple(sorted({*custom_domains, *by_itself}))
    if set(by_itself).difference(custom_domains):
        found = analysis.find(choose_matchers("explicit", domains, emulations=True))
    pads = [_inspected(pad, minor, providers, ruled) for pad in found]
    if document.refused:  # the reader refused layers, so no road runs the model
        pads = [replace(pad, roads=()) for pad in pads]
    pads, said = _in_several_graphs(pads, providers, minor, ruled)
    problem = analysis.types.problem
    notes = [f"padops cannot convert it: {document.refused}"] if document.refused else [problem] if problem else []
    notes += ["the model has no Pad"] if not pads and not problem else []
    notes += [*_notes_on_runners(pads, providers, ruled), *said]
    selected = tuple(pad for pad in pads if select == "all" or not pad.runs)
    installed = installed_version() or (f"onnxruntime 1.{NEWEST_MINOR}, as none is installed",)
    told: dict[str, Any] = {} if set(custom_domains) <= set(by_itself) else {"custom_domains": list(domains)}
    told |= {"follow_links": True} if follow_links else {}
    same = any((pad.site.node.domain, pad.site.node.op_type) in WINDOW_OPERATORS for pad in found)
    named = [part for domain in domains for part in ("--custom-domain", domain)]
    options = (*(("--auto-pad", "explicit") if same else ()), *named, *(("--follow-links",) if follow_links else ()))
    return Inspection(
        path=Path(document.foreign[0].name) if document.foreign else document.path,
        opsets={} if document.foreign else dict(document.model.graph.opset_imports),
        runtime=f"onnxruntime {onnxruntime}" if onnxruntime is not None else " ".join(installed),
        pads=selected,
        options=options,
        notes=tuple(notes),
        roads=_common(pads, minor),
        left_out=len(pads) - len(selected),
        providers=tuple(providers),
        rules="" if rules is None else os.fspath(rules),
        domains=domains,
        convert=told | ({"auto_pad": "explicit"} if told and "--auto-pad" in options else {}),
    )


def _inspected(pad: Pad, minor: int, providers: Sequence[str], rules: Rules) -> PadFacts:
    others = set(providers).difference((CPU, EP_NAME, FIRST_NAME))
    if others and pad.match.verdict is not None and pad.match.verdict[0] == "refuses":
        pad = replace(pad, match=replace(pad.match, verdict=None))  # another provider may claim it
    match, info, facts = pad.match, pad.info, pad.facts(minor)
    judged, found = facts.verdict not in ("breaks a rule", "unknown"), match.runs_as
    if providers and judged and info is not None and found is not None:
        verdict, why, runner = ask(info, found, providers, minor, rules)
        facts = replace(facts, verdict=verdict, why=why, runner=runner)
    if facts.verdict == "runs" or not judged or match.verdict is not None or pad.too_new(minor):
        return facts
    roads: list[Road] = []
    kernel = match.already == "pyop" and pyop_node.refusal(info.type if info else None) is None
    if kernel or match.already == "padops" or (found and info and reaches_provider(info, found, minor)):
        roads.append("session")
    if not match.stays:
        roads += ["convert"] if match.already != "padops" else []
        roads += ["lower"] if _can_be_lowered(pad) else []
    return replace(facts, roads=tuple(roads))


def _can_be_lowered(pad: Pad) -> bool:
    """Return whether standard operators can replace a Pad: try to write the operators, then discard them."""
    if (pad.site.scope.opset or 0) < FIRST["Concat"]:
        return False
    if pad.info is None:
        return pad.match.apply is not None  # explicit amounts need no other operators
    try:
        CHECKS["onnx"](pad.info, pad.site)
    except (Unconvertible, Unneeded):  # Unneeded: the Pad would stay unchanged
        return False
    return True


def _common(pads: list[PadFacts], minor: int) -> tuple[Road, ...]:
    """Return the ways, best first, that run every failing Pad, or, if no Pad fails, every Pad that may fail."""
    failing = [pad for pad in pads if not pad.runs]
    wanting = failing or [pad for pad in pads if pad.verdict == "runs if"]
    roads = {road for road in get_args(Road) if wanting and all(road in pad.roads for pad in wanting)}
    # In memory, a session can convert Pads that it cannot run, and on old releases also Pads that may fail.
    both = all({"session", "convert"}.intersection(pad.roads) for pad in wanting)
    if wanting and both and "session" not in roads and (failing or minor < FIRST_MINOR):
        roads.add("memory")
    return tuple(road for road in get_args(Road) if road in roads)


OURS_AND_CPU = (*EP_NAMES, CPU)
NAMES_APART_SINCE = 25  # from onnxruntime 1.25 on, compiled nodes of two graphs of a model have different names


def _notes_on_runners(pads: Sequence[PadFacts], providers: Sequence[str], ruled: Rules) -> Iterator[str]:
    """Yield notes: the origin of rules from a file, providers without rules, and how many Pads run on the processor."""
    for row in (ruled[name] for name in providers if name in ruled):
        if row.file and row is not BY_NAME.get(row.name):
            yield f"the rules of {row.name} are those in {row.file} ({row.version})"
    if unknown := [name for name in providers if name not in (*ruled, *OURS_AND_CPU)]:
        named = " and ".join(unknown)
        yield f"padops has no rules for {named}: padops stands behind, and runs the Pads that are left for the CPU"
    between = [pad for pad in pads if pad.runner in OURS_AND_CPU]
    if between and any(name not in OURS_AND_CPU for name in providers):
        unless = f", unless {' or '.join(unknown)} takes them" if unknown else ""
        count = f"{len(between)} of {plural(len(pads), 'Pad')} {'runs' if len(between) == 1 else 'run'}"
        yield (
            f"{count} on the processor{unless}: where another provider runs the nodes before and behind such a Pad, "
            "they are two parts instead of one, and a device's data are copied to the processor and back"
        )


def _in_several_graphs(
    pads: Sequence[PadFacts], providers: Sequence[str], minor: int, rules: Rules
) -> tuple[list[PadFacts], list[str]]:
    """Return the Pads, and a note if padops would run Pads in several graphs beside another provider.

    Old releases of onnxruntime refuse this, so the session lowers the model, and the other provider runs these Pads.
    """
    provider = next((name for name in providers if name in rules and rules[name].fuses), "")
    # The main graph (into which onnxruntime inlines functions), or the body of a node.
    places = [pad.path.rpartition("/")[0] for pad in pads if pad.runner == FIRST_NAME]
    graphs = {place if place.startswith("graph/") else "graph" for place in places}
    if not provider or minor >= NAMES_APART_SINCE or len(graphs) < 2:
        return list(pads), []
    note = (
        f"onnxruntime 1.{minor} refuses Pads that padops takes before {provider} in {len(graphs)} graphs of one model: "
        "padops.InferenceSession lowers the model for it in memory"
    )
    return [replace(pad, runner=provider) if pad.runner == FIRST_NAME else pad for pad in pads], [note]
