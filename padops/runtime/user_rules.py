"""Rules that ``padops probe`` has measured for this user: a file for each provider, in the user's configuration.

A session takes them by itself where everything is as it was measured.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.runtime.installed import installed_minor, installed_version, processor
from padops.runtime.provider import CPU, EP_NAMES, FIRST_MINOR
from padops.runtime.provider_rules import BY_NAME, KnownProvider
from padops.runtime.session_rules import Rules, read_file

if TYPE_CHECKING:
    from padops.runtime.chosen import Chosen

LOG = logging.getLogger("padops")
VARIABLE = "PADOPS_RULES"  # another folder; empty: none is read or written


def file_of(provider: str) -> Path | None:
    """Where the rules of a provider are looked for, and written by ``padops probe``; None if that is turned off."""
    named = os.environ.get(VARIABLE)
    if named is None:
        return Path(_configuration(), "padops", "rules", f"{provider}.json")
    return Path(named, f"{provider}.json") if named else None


def _configuration() -> str:
    """The folder in which the programs of a user keep their settings."""
    if sys.platform == "win32":
        return os.environ.get("APPDATA") or os.path.expanduser(r"~\AppData\Roaming")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support")
    named = os.environ.get("XDG_CONFIG_HOME", "")
    return named if os.path.isabs(named) else os.path.expanduser("~/.config")


def measured_for(names: Iterable[str]) -> bool:
    """Whether the user has a file for one of these providers."""
    return any(file is not None and file.is_file() for file in map(file_of, names))


def with_measured(rules: Rules, chosen: Sequence[Chosen]) -> Rules:
    """The rules, with those that were measured for this user in place of padops' own.

    Args:
        rules: By the provider's name.
        chosen: Those of a session that onnxruntime can create, in their order.
    """
    own = [one for one in chosen if one.name not in (CPU, *EP_NAMES) and rules.get(one.name) is BY_NAME.get(one.name)]
    rows = [row for one in own if measured_for([one.name]) and (row := _measured(one)) is not None]
    return {**rules, **{row.name: row for row in rows}}


def with_measured_here(rules: Rules, names: Sequence[str]) -> Rules:
    """The same for a session that names providers, without options; of those that this onnxruntime lacks, as given."""
    if not measured_for(names) or not installed_version() or installed_minor() < FIRST_MINOR:
        return rules
    from padops.runtime.chosen import Chosen, available  # onnxruntime takes time to load

    there = available()
    return with_measured(rules, [Chosen(name, {}) for name in names if name in there])


def _measured(one: Chosen) -> KnownProvider | None:
    """The rules in the user's file of a provider; None, and a warning, if they cannot be used."""
    from padops.runtime.chosen import described

    file = file_of(one.name)
    assert file is not None, "there is one"
    try:
        content, rows = read_file(file)
    except (OSError, ValueError) as error:
        _warn_once(f"the rules in {file} are not used: {error}")
        return None
    options = {str(key): str(value) for key, value in one.options.items()}
    told = described(one) | {"processor": processor(), "options": options}
    of_then = content.get("measured", {})
    differs = next((name for name, value in told.items() if of_then.get(name) != value), None)
    row = next((row for row in rows if row.name == one.name), None)
    if row is None or differs is not None:
        why = "they are of other providers" if row is None else _said(differs or "", of_then, told)
        command = " ".join(["padops probe", one.name, *(f"--option {key}={value}" for key, value in options.items())])
        _warn_once(f"the rules in {file} are not used: {why}; {command} measures anew")
        return None
    return row


def _said(name: str, then: dict[str, Any], now: dict[str, Any]) -> str:
    return f"{name} was {then.get(name)!r} when they were measured, and is {now[name]!r} in this session"


@cache
def _warn_once(text: str) -> None:
    LOG.warning(text)
