"""Rules, read from ``padops/rules/``: the Pads that other execution providers of onnxruntime do not run correctly.

CMake builds the same table into the library for padops' provider, which reads it when onnxruntime offers nodes.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from padops.runtime.installed import RULES, installed_minor, installed_version, processor, read_rules
from padops.runtime.provider import CPU, EP_NAMES, FIRST_MINOR

if TYPE_CHECKING:
    from padops.runtime.chosen import Chosen

Does = Literal["leaves", "refuses", "wrong", "dies"]

NOT_RUN = "not run"
SUFFIX = "ExecutionProvider"
MODES = ("constant", "edge", "reflect", "wrap")  # the modes of ONNX's Pad
STRING, STRINGS, NUMBER, OBJECT = "a string", "a list of strings", "a whole number", "an object"
# The fields of a file of rules, and of a rule; the first fields are required. rule_files.cpp has the same fields.
OF_FILE = {
    **{"names": STRINGS, "version": STRING, "sources": OBJECT, "rules": "a list of objects", "fuses": "true or false"},
    **{"moves": STRINGS, "note": STRING, "expands_no_scalar": STRINGS, "measured": OBJECT, "unexplained": STRINGS},
}
OF_RULE = {
    **{"does": STRING, "when": STRING, "source": STRING, "modes": STRINGS, "limit": NUMBER, "types": STRINGS},
    **{"before": NUMBER, "plugin_before": STRING, "note": STRING},
}
# Each condition of a rule: its subject, when it holds (a crop leaves m of the n elements of an axis), and a short
# description of the Pads.
CONDITIONS: dict[str, dict[str, str]] = read_rules("conditions")


@dataclass(frozen=True)
class ProviderRule:
    """Pads that a provider does not run correctly."""

    # ``"leaves"``: onnxruntime asks the next provider. ``"refuses"``: the session fails when it is created or runs.
    # ``"wrong"``: the results are wrong. ``"dies"``: the process ends.
    does: Does
    when: str  # the condition, one of ``CONDITIONS``
    source: str  # the evidence for the rule
    modes: tuple[str, ...] = ()  # the modes to which the rule applies; empty for all
    limit: int = 0  # see the condition
    types: tuple[str, ...] = ()  # see the condition
    before: int = 0  # the first onnxruntime 1.x for which the rule does not hold; 0 if it holds for all
    plugin_before: str = ""  # the first plugin version without the rule, such as ``"0.4.0"``; "" if all have it


@dataclass(frozen=True)
class KnownProvider:
    name: str  # as in ``providers=[...]``
    version: str  # the release on which the rules were measured; ``NOT_RUN`` if the rules come from its source
    fuses: bool  # whether it claims nodes of other providers, so that padops must replace these nodes
    rules: tuple[ProviderRule, ...]  # the first rule that holds counts; if none holds, the provider is right
    # Element types for which its Slice, Concat, Expand and Tile keep every bit, as measured by ``python3
    # scripts/provider_parts.py``; empty if not measured.
    moves: tuple[str, ...] = ()
    expands_no_scalar: tuple[str, ...] = ()  # element types for which its Expand accepts no value of rank 0
    file: str = ""  # the file of the rules

    @property
    def needs_padops(self) -> bool:
        """Whether the provider refuses some Pads, computes them wrong or crashes on them."""
        return any(rule.does != "leaves" for rule in self.rules)

    @property
    def was_run(self) -> bool:
        """Whether the rules have been measured."""
        return self.version != NOT_RUN


def known_by(content: Mapping[str, Any], file: str) -> Iterator[KnownProvider]:
    """Yield the providers of one file: all have the file's rules, and each has its own name."""
    _check_members(file, content, OF_FILE, required=4)
    rules = tuple(_rule(row, content["sources"], f"{file}, rule {at}") for at, row in enumerate(content["rules"], 1))
    moves, scalars = tuple(content.get("moves", ())), tuple(content.get("expands_no_scalar", ()))
    for name in content["names"]:
        yield KnownProvider(name, content["version"], content.get("fuses", False), rules, moves, scalars, file)


def _rule(row: Mapping[str, Any], sources: Mapping[str, str], where: str) -> ProviderRule:
    _check_members(where, row, OF_RULE, required=2)
    _check(f"{where}, does", [row["does"]], get_args(Does))
    _check(f"{where}, when", [row["when"]], CONDITIONS)
    _check(f"{where}, source", [row.get("source", "default")], sources)
    _check(f"{where}, modes", row.get("modes", ()), MODES)
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    given.pop("note", None)
    return ProviderRule(**given | {"source": sources[row.get("source", "default")]})


def _check(where: str, found: Iterable[str], known: Iterable[str]) -> None:
    if unknown := [word for word in found if word not in known]:
        raise ValueError(f'{where}: "{unknown[0]}" is unknown; expected one of: {", ".join(known)}')


def _check_members(where: str, found: Mapping[str, Any], known: Mapping[str, str], required: int) -> None:
    _check(where, found, known)
    for at, (name, what) in enumerate(known.items()):
        if name not in found and at < required:
            raise ValueError(f'{where}: "{name}" is missing')
        if name in found and not _is(found[name], what):
            raise ValueError(f"{where}, {name}: expected {what}")


def _is(value: object, what: str) -> bool:
    """Return whether a JSON value has the type that ``what`` names, such as ``"a list of strings"``."""
    if what.startswith("a list"):
        kind = str if what == STRINGS else dict
        return isinstance(value, list) and all(isinstance(part, kind) for part in value)
    if what == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {STRING: str, OBJECT: dict}.get(what, bool))


_FILES = sorted(path for path in RULES.glob("*.json") if path.stem not in ("conditions", "cpu"))
_ROWS = [row for path in _FILES for row in known_by(read_rules(path.stem), f"padops/rules/{path.name}")]
KNOWN_PROVIDERS = tuple(sorted(_ROWS, key=lambda row: not row.was_run))  # measured providers first
BY_NAME: Mapping[str, KnownProvider] = {row.name: row for row in KNOWN_PROVIDERS}
RULED = (*BY_NAME, CPU, *EP_NAMES)  # the providers whose handling of Pads padops knows


def full_names(names: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Expand short names, in upper or lower case, to onnxruntime's names of the providers; keep unknown names."""
    known = {name.removesuffix(SUFFIX).lower(): name for name in (*RULED, *others)}
    return [known.get(name.lower().removesuffix(SUFFIX.lower()), name) for name in names]


# ---- The rules of one session: padops' own, built into the library; the rules in a caller's file, which
# PadopsFirstExecutionProvider reads by its option "rules"; and the changes by a plugin's version.

LOG = logging.getLogger("padops")
Rules = Mapping[str, KnownProvider]


def rules_with(path: str | os.PathLike[str] | None, providers: Iterable[str] = ()) -> Rules:
    """Return the rules by provider: a file's, else padops'; raise ValueError if a file has none of ``providers``."""
    if path is None:
        return BY_NAME
    rows = {row.name: row for row in _read_file(path)[1]}
    names = full_names(providers, rows)
    if names and rows.keys().isdisjoint(names):
        raise ValueError(f"{os.fspath(path)} has rules for {', '.join(rows)}, but not for {' or '.join(names)}")
    return {**BY_NAME, **rows}


def _read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[KnownProvider]]:
    """Return the content of a file of rules, and its providers."""
    file = os.fspath(path)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: expected JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file}: expected an object with the rules of a provider")
    return content, list(known_by(content, file))


def of_plugin(row: KnownProvider, version: str) -> KnownProvider:
    """Return a provider's rules that hold for a plugin version; "" is the version of a built-in provider."""

    def numbers(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", text)]

    reached = [rule for rule in row.rules if rule.plugin_before and numbers(version) >= numbers(rule.plugin_before)]
    return replace(row, rules=tuple(rule for rule in row.rules if rule not in reached)) if reached else row


def without_rules(name: str) -> str:
    """Return the message about a provider without rules."""
    return f"padops has no rules for it, and stands behind it; to measure it and stand in front: padops probe {name}"


# ---- Rules that padops probe has measured for this user, a file for each provider. A session uses them automatically
# if versions, options and devices are as measured.


def file_of(provider: str) -> Path | None:
    """Return the file in which ``padops probe`` keeps a provider's rules; None if ``PADOPS_RULES`` is empty."""
    named = os.environ.get("PADOPS_RULES")
    if named is not None:
        return Path(named, f"{provider}.json") if named else None
    if sys.platform == "win32":
        folder = os.environ.get("APPDATA") or os.path.expanduser(r"~\AppData\Roaming")
    elif sys.platform == "darwin":
        folder = os.path.expanduser("~/Library/Application Support")
    else:
        stated = os.environ.get("XDG_CONFIG_HOME", "")
        folder = stated if os.path.isabs(stated) else os.path.expanduser("~/.config")
    return Path(folder, "padops", "rules", f"{provider}.json")


def with_measured(rules: Rules, chosen: Sequence[Chosen]) -> Rules:
    """Return the rules; measured rules replace padops' own for chosen providers that are still as when measured."""
    found = dict(rules)
    for one in chosen:
        is_own = one.name not in (CPU, *EP_NAMES) and rules.get(one.name) is BY_NAME.get(one.name)
        file = file_of(one.name)
        if is_own and file is not None and file.is_file() and (row := _measured(one, file)) is not None:
            found[one.name] = row
    return found


def with_measured_here(rules: Rules, names: Sequence[str]) -> Rules:
    """Return the rules as ``with_measured`` does for providers without options; skip absent providers."""
    is_measured = any(file is not None and file.is_file() for file in map(file_of, names))
    if not is_measured or not installed_version() or installed_minor() < FIRST_MINOR:
        return rules
    from padops.runtime.chosen import Chosen, available  # onnxruntime takes time to load

    there = available()
    return with_measured(rules, [Chosen(name, {}) for name in names if name in there])


def _measured(one: Chosen, file: Path) -> KnownProvider | None:
    """Return a provider's rules from the user's file; if the rules do not apply, warn and return None."""
    from padops.runtime.chosen import described

    try:
        content, rows = _read_file(file)
    except (OSError, ValueError) as error:
        warn_once(f"the rules in {file} are not used: {error}")
        return None
    options = {str(key): str(value) for key, value in one.options.items()}
    told = described(one) | {"processor": processor(), "options": options}
    of_then = content.get("measured", {})
    differs = next((name for name, value in told.items() if of_then.get(name) != value), None)
    row = next((row for row in rows if row.name == one.name), None)
    if row is None or differs is not None:
        then, now = of_then.get(differs), told.get(differs or "")
        changed = f"{differs} was {then!r} when they were measured, and is {now!r} in this session"
        why = "they are of other providers" if row is None else changed
        command = " ".join(["padops probe", one.name, *(f"--option {key}={value}" for key, value in options.items())])
        warn_once(f"the rules in {file} are not used: {why}; {command} measures anew")
        return None
    return row


@cache
def warn_once(text: str) -> None:
    LOG.warning(text)
