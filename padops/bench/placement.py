"""Which execution provider ran which nodes of a session: the parts into which a network falls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from padops.runtime.provider import CPU, EP_NAMES

ON_PROCESSOR = (CPU, *EP_NAMES)
_COPY = "Memcpy"  # its operators are MemcpyFromHost and MemcpyToHost
_COMPILED = re.compile(r"_\d+$")  # the end of the name of a node that a provider compiled from several


@dataclass(frozen=True)
class Placement:
    """The providers that ran the nodes of a network.

    Attributes:
        parts: Nodes that a provider compiled from several nodes; for providers that run node by node, such as WebGPU's,
            the stretches of the run without another provider's node.
        copies: Memcpys between a device and the CPU.
        elsewhere: Nodes that the CPU's provider and padops' providers ran.
    """

    parts: int
    copies: int
    elsewhere: int


def placement_of(profile: Path) -> Placement:
    """The placement in a profile of onnxruntime. A node that ran several times counts once.

    Args:
        profile: The file that ``end_profiling`` names.
    """
    events = json.loads(profile.read_text(encoding="utf-8"))
    nodes = {
        (event["name"], event["args"].get("node_index")): (event["args"]["op_name"], event["args"]["provider"])
        for event in events
        if event.get("args", {}).get("provider")
    }
    return placement_among(nodes.values())


def placement_among(nodes: Iterable[tuple[str, str]]) -> Placement:
    """The placement of nodes in the order of the run.

    Args:
        nodes: The operator and the provider of each node.
    """
    ran = list(nodes)
    copies = sum(operator.startswith(_COPY) for operator, _ in ran)
    elsewhere = sum(provider in ON_PROCESSOR and not operator.startswith(_COPY) for operator, provider in ran)
    parts = 0
    for provider, stretch in groupby((row for row in ran if not _moves_alone(row)), key=lambda row: row[1]):
        if provider in ON_PROCESSOR:
            continue
        compiled = [bool(_COMPILED.search(operator)) for operator, _ in stretch]
        parts += sum(compiled) + sum(not is_compiled for is_compiled, _ in groupby(compiled))
    return Placement(parts, copies, elsewhere)


def _moves_alone(row: tuple[str, str]) -> Any:
    """Whether a node belongs to no part: a Memcpy, whichever provider is said to run it."""
    return row[0].startswith(_COPY)
