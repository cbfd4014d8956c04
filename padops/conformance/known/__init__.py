"""Every known divergence of a real Pad from the rules of docs/semantics.md: ``KNOWN`` of each peer's file.

Of several that match, the first one that the outcome fits counts. ``divergences.py`` says what the fields mean.
"""

from __future__ import annotations

import json
from pathlib import Path

from padops.conformance.divergences import Divergence
from padops.conformance.peers import PEERS
from padops.conformance.peers.parts import peer_files, value_of

# A case that shows each known divergence: it is part of every run, so that one that has gone is noticed.
EXAMPLES: dict[str, str] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))

_ROWS: list[Divergence] = [row for file in peer_files() for row in value_of(file, "KNOWN") or ()]
KNOWN: tuple[Divergence, ...] = tuple(sorted(_ROWS, key=lambda row: [*PEERS].index(row.peer)))
