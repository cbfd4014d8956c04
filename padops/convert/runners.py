"""Which execution provider of a session runs each Pad, for ``padops.inspect``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from padops.convert.facts import PadFacts
from padops.plural import plural
from padops.runtime.provider import CPU, EP_NAMES, FIRST_NAME
from padops.runtime.provider_rules import BY_NAME
from padops.runtime.session_rules import Rules

OURS_AND_CPU = (*EP_NAMES, CPU)
NAMES_APART_SINCE = 25  # since onnxruntime 1.25, compiled nodes of two graphs of a model have two names


def notes_on_runners(pads: Sequence[PadFacts], providers: Sequence[str], ruled: Rules) -> Iterator[str]:
    """Notes on the providers: which have rules of a file, or none; and the cost of Pads on the processor."""
    for row in (ruled[name] for name in providers if name in ruled):
        if row.file and row is not BY_NAME.get(row.name):
            yield f"the rules of {row.name} are those in {row.file} ({row.version})"
    if unknown := [name for name in providers if name not in (*ruled, *OURS_AND_CPU)]:
        yield f"padops has no rules for {' and '.join(unknown)}: it stands behind, and takes what is left for the CPU"
    between = [pad for pad in pads if pad.runner in OURS_AND_CPU]
    if between and any(name not in OURS_AND_CPU for name in providers):
        unless = f", unless {' or '.join(unknown)} takes them" if unknown else ""
        count = f"{len(between)} of {plural(len(pads), 'Pad')} {'runs' if len(between) == 1 else 'run'}"
        yield (
            f"{count} on the processor{unless}: where another provider runs the nodes before and behind such a Pad, "
            "they are two parts instead of one, and a device's data are copied to the processor and back"
        )


def in_several_graphs(
    pads: Sequence[PadFacts], providers: Sequence[str], minor: int, rules: Rules
) -> tuple[list[PadFacts], list[str]]:
    """The Pads with their runners in a model that the session lowers, and a note; else the Pads unchanged.

    onnxruntime before 1.25 refuses a model if padops takes Pads in two of its graphs before a provider that fuses; then
    the session lowers the model. ``minor`` is the release 1.x of onnxruntime.
    """
    provider = next((name for name in providers if name in rules and rules[name].fuses), "")
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
