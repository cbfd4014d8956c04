"""The rules of one session: padops' own, those of a file of the caller, and what the version of a plugin changes.

The library has padops' own rules. ``PadopsFirstExecutionProvider`` gets others as options: ``rule.000`` and following,
each with its parts between semicolons.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

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
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: expected JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{os.fspath(path)}: expected an object with the rules of a provider")
    return {**BY_NAME, **{row.name: row for row in known_by(content, os.fspath(path))}}


def of_plugin(row: KnownProvider, version: str) -> KnownProvider:
    """The rules that hold for a version of a plugin; "" for a provider that is built into onnxruntime."""
    held = tuple(rule for rule in row.rules if not _is_reached(rule.plugin_before, version))
    return row if held == row.rules else replace(row, rules=held)


def _is_reached(first: str, version: str) -> bool:
    """Whether a version is ``first`` or a later one; "" is none."""
    one, other = ([int(part) for part in re.findall(r"\d+", text)] for text in (first, version))
    return bool(one) and other >= one


def as_options(rows: Iterable[KnownProvider]) -> dict[str, str]:
    """The options that tell the library rules other than its own."""
    told = [text for row in rows if row != BY_NAME.get(row.name) for text in _as_texts(row)]
    return {f"rule.{at:03}": text for at, text in enumerate(told)}


def _as_texts(row: KnownProvider) -> Iterator[str]:
    yield f"{row.name};{'fuses' if row.fuses else ''}"
    for rule in row.rules:
        parts = (rule.does, rule.when, ",".join(rule.modes), rule.limit, ",".join(rule.types), rule.before)
        yield ";".join(map(str, parts))


def said_of_rules(row: KnownProvider, version: str) -> str:
    """Which rules of a provider a session has, in words."""
    return f"{row.file} ({row.version})" + (f", for version {version} of the plugin" if version else "")


def without_rules(name: str) -> str:
    """What is said of a provider that padops has no rules for."""
    return (
        "padops has no rules for it, and stands behind it; to measure it and stand in front: "
        f'padops probe {name} -o rules.json, then padops.InferenceSession(..., rules="rules.json")'
    )


def tell_without_rules(names: Iterable[str]) -> None:
    """Logs of each provider without rules, once in this process, that a session has it."""
    for name in names:
        _tell_once(name)


@cache
def _tell_once(name: str) -> None:
    LOG.warning("%s: %s", name, without_rules(name))
