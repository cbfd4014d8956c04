"""The rules of one session: padops' own, those of a file of the caller, and what the version of a plugin changes.

The library has padops' own rules. ``PadopsFirstExecutionProvider`` reads others from the files that its option
``rules`` names, one in a line.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from padops.runtime.provider_rules import BY_NAME, KnownProvider, known_by

LOG = logging.getLogger("padops")
Rules = Mapping[str, KnownProvider]


def rules_with(path: str | os.PathLike[str] | None) -> Rules:
    """The rules by the provider's name: padops' own, and those of a file of the same form, which go before.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no file of rules; the message says what is wrong.
    """
    if path is None:
        return BY_NAME
    return {**BY_NAME, **{row.name: row for row in read_file(path)[1]}}


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[KnownProvider]]:
    """The content of a file of rules, and its providers.

    Raises:
        OSError, ValueError: As above.
    """
    file = os.fspath(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: expected JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file}: expected an object with the rules of a provider")
    return content, list(known_by(content, file))


def check_used(path: str | os.PathLike[str] | None, rules: Rules, providers: Collection[str]) -> None:
    """Refuses a file that has rules for none of the providers.

    Raises:
        ValueError: Names those that it has rules for.
    """
    named = [] if path is None else [name for name, row in rules.items() if row.file == os.fspath(path)]
    if path is not None and not set(named) & set(providers):
        told = f"{os.fspath(path)} has rules for {', '.join(named)}, and for none of {', '.join(providers)}"
        raise ValueError(told)


def of_plugin(row: KnownProvider, version: str) -> KnownProvider:
    """The rules that hold for a version of a plugin; "" for a provider that is built into onnxruntime."""
    held = tuple(rule for rule in row.rules if not _is_reached(rule.plugin_before, version))
    return row if held == row.rules else replace(row, rules=held)


def _is_reached(first: str, version: str) -> bool:
    """Whether a version is ``first`` or a later one; "" is none."""
    one, other = ([int(part) for part in re.findall(r"\d+", text)] for text in (first, version))
    return bool(one) and other >= one


def in_front_of(rows: Iterable[tuple[KnownProvider, str]]) -> dict[str, str]:
    """The options of ``PadopsFirstExecutionProvider`` before providers: their rules, each with the plugin's version."""
    before, files = [], []
    for row, version in rows:
        before.append(f"{row.name} {version}".rstrip())
        files += [os.path.abspath(row.file)] if row is not BY_NAME.get(row.name) else []
    return {"before": ",".join(before)} | ({"rules": "\n".join(dict.fromkeys(files))} if files else {})


def without_rules(name: str) -> str:
    """What is said of a provider that padops has no rules for."""
    return f"padops has no rules for it, and stands behind it; to measure it and stand in front: padops probe {name}"


@cache
def tell_without_rules(name: str) -> None:
    """Logs of a provider without rules, once in this process, that a session has it."""
    LOG.warning("%s: %s", name, without_rules(name))
