"""The files of ``padops/rules/``: what each execution provider of onnxruntime does with Pads, as data.

Each provider has one file; ``cpu.json`` is that of onnxruntime's own Pad. ``conditions.json`` says what the conditions
mean that the other files name. The library has the same files within itself (``csrc/rules.cmake``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "rules"
NOT_OF_OTHERS = ("conditions", "cpu")  # the files that have no rules of another provider


def read_rules(name: str) -> dict[str, Any]:
    """The content of a file of ``padops/rules/``, by its name without ``.json``."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return content


def providers_with_rules() -> Iterator[tuple[str, dict[str, Any]]]:
    """The names of the files of other providers, with their content, by name."""
    for path in sorted(FOLDER.glob("*.json")):
        if path.stem not in NOT_OF_OTHERS:
            yield path.name, read_rules(path.stem)
