"""Which execution provider of a session runs each Pad, for ``padops.inspect``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from padops.convert.errors import UsageError
from padops.convert.facts import PadFacts
from padops.convert.model.reading import Source
from padops.runtime.provider import CPU, EP_NAMES, FIRST_NAME, runtime_minor
from padops.runtime.provider_rules import BY_NAME

OURS_AND_CPU = (*EP_NAMES, CPU)
LISTED = ("Pad", "com.microsoft::Pad")  # the operators whose nodes onnxruntime lists with their providers
NAMES_APART_SINCE = 25  # since onnxruntime 1.25, compiled nodes of two graphs of a model have two names


def notes_on_runners(pads: Sequence[PadFacts], providers: Sequence[str]) -> Iterator[str]:
    """Notes on the providers: which have no rules, and the cost of Pads on the processor."""
    if unknown := [name for name in providers if name not in (*BY_NAME, *OURS_AND_CPU)]:
        yield f"padops has no rules for {' and '.join(unknown)}: it stands behind, and takes what is left for the CPU"
    between = [pad for pad in pads if pad.runner in OURS_AND_CPU]
    if between and any(name not in OURS_AND_CPU for name in providers):
        unless = f", unless {' or '.join(unknown)} takes them" if unknown else ""
        yield (
            f"{len(between)} of {len(pads)} Pads run on the processor{unless}: where another provider runs the nodes "
            "before and behind such a Pad, they are two parts instead of one, and a device's data are copied to the "
            "processor and back"
        )


def in_several_graphs(
    pads: Sequence[PadFacts], providers: Sequence[str], minor: int
) -> tuple[list[PadFacts], list[str]]:
    """The Pads with their runners in a model that the session lowers, and a note; else the Pads unchanged.

    onnxruntime before 1.25 refuses a model if padops takes Pads in two of its graphs before a provider that fuses; then
    the session lowers the model. ``minor`` is the release 1.x of onnxruntime.
    """
    provider = next((name for name in providers if name in BY_NAME and BY_NAME[name].fuses), "")
    graphs = {_graph_of(pad) for pad in pads if pad.runner == FIRST_NAME}
    if not provider or minor >= NAMES_APART_SINCE or len(graphs) < 2:
        return list(pads), []
    note = (
        f"onnxruntime 1.{minor} refuses Pads that padops takes before {provider} in {len(graphs)} graphs of one model: "
        "padops.InferenceSession lowers the model for it in memory"
    )
    return [replace(pad, runner=provider) if pad.runner == FIRST_NAME else pad for pad in pads], [note]


def _graph_of(pad: PadFacts) -> str:
    """The graph of a Pad: the main graph (into which onnxruntime inlines functions), or the body of a node."""
    graph, _, _ = pad.path.rpartition("/")
    return graph if graph.startswith("graph/") else "graph"


def asked_here(source: Source, pads: Sequence[PadFacts], providers: Sequence[str]) -> tuple[list[PadFacts], list[str]]:
    """The Pads with the providers to which the installed onnxruntime assigns them, and a note that says so, or why not.

    Raises:
        UsageError: The source is no file.
    """
    from padops.runtime.assignment import FIRST_MINOR_THAT_TELLS, who_runs

    if not isinstance(source, str | os.PathLike):
        raise UsageError("here needs a file, which onnxruntime can read")
    if (minor := runtime_minor()) < FIRST_MINOR_THAT_TELLS:
        why = f"onnxruntime tells it from 1.{FIRST_MINOR_THAT_TELLS} on, and this is 1.{minor}"
        return list(pads), [f"who runs each Pad is not known: {why}"]
    try:
        runners = who_runs(source, providers)
    except Exception as error:  # onnxruntime's exceptions have no base of their own
        names = ", ".join(providers) or "its CPU"
        why = f"of the model as it is, onnxruntime creates no session with {names}: {' '.join(str(error).split())}"
        return list(pads), [f"who runs each Pad is not known: {why}"]
    unlisted = next((name for name in providers if name not in OURS_AND_CPU), "")
    alike = Counter(pad.name for pad in pads if _is_listed(pad))
    known = [_is_listed(pad) and alike[pad.name] == 1 for pad in pads]
    asked = [
        replace(pad, runner=runners.get(pad.name, unlisted)) if told else pad
        for pad, told in zip(pads, known, strict=True)
    ]
    if all(known):
        return asked, ["who runs each Pad is what the installed onnxruntime says"]
    others = "padops' rules say who runs them" if providers else "who runs them is not known"
    return asked, [
        f"who runs {sum(known)} of {len(pads)} Pads is what the installed onnxruntime says; it lists the others under "
        f"no unique name: {others}"
    ]


def _is_listed(pad: PadFacts) -> bool:
    """Whether onnxruntime lists a Pad by its name; it renames the Pads of functions when it inlines them."""
    return pad.operator in LISTED and bool(pad.name) and not pad.path.startswith("function ")
