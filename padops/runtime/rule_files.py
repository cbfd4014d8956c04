"""The files of ``padops/rules/``: how each execution provider of onnxruntime handles Pads, as data.

Each provider has one file; ``cpu.json`` covers onnxruntime's own Pad. ``conditions.json`` defines the conditions that
the other files name. The library embeds the same files (``csrc/rules.cmake``).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "rules"


def read_rules(name: str) -> dict[str, Any]:
    """Return the content of a file of ``padops/rules/``, by its name without ``.json``."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content
