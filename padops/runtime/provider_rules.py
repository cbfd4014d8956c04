"""Which Pads other execution providers of onnxruntime do not run right, read from ``padops/rules/``.

The library has the same table, which CMake makes from the same files, and reads it when onnxruntime asks which nodes it
takes. ``convert/runtimes.py`` judges Pads by the table, as for onnxruntime's own
Pad. ``python3 scripts/providers.py NAME`` runs the cases on a machine that has the provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from padops.runtime.provider import CPU, EP_NAMES
from padops.runtime.rule_files import providers_with_rules, read_rules

Does = Literal["leaves", "refuses", "wrong", "dies"]

NOT_RUN = "not run"
SUFFIX = "ExecutionProvider"
MODES = ("constant", "edge", "reflect", "wrap")  # that ONNX's Pad has
STRING, STRINGS, NUMBER, OBJECT = "a string", "a list of strings", "a whole number", "an object"
# What is in a file of rules, and what in a rule; the first ones have to be. The library has the same: rule_files.cpp.
OF_FILE = {
    **{"names": STRINGS, "version": STRING, "sources": OBJECT, "rules": "a list of objects", "fuses": "true or false"},
    **{"moves": STRINGS, "note": STRING, "expands_no_scalar": STRINGS, "measured": OBJECT, "unexplained": STRINGS},
}
OF_RULE = {
    **{"does": STRING, "when": STRING, "source": STRING, "modes": STRINGS, "limit": NUMBER, "types": STRINGS},
    **{"before": NUMBER, "plugin_before": STRING, "note": STRING},
}
# Each condition of a rule: what it is of, when it holds (m elements of an axis are left by a crop, n were there), and
# the words for the Pads of which it holds.
CONDITIONS: dict[str, dict[str, str]] = read_rules("conditions")


@dataclass(frozen=True)
class ProviderRule:
    """Pads that a provider does not run right.

    Attributes:
        does: ``"leaves"``: the next provider is asked. ``"refuses"``: the session is not created, or fails when it
            runs. ``"wrong"``: the results are. ``"dies"``: the process ends.
        when: Which Pads: one of ``CONDITIONS``.
        source: How the rule is known.
        modes: The modes that the rule holds for; empty for all.
        limit, types: See the condition.
        before: The first onnxruntime 1.x for which the rule does not hold; 0 if it holds for all.
        plugin_before: The first version of a plugin for which the rule does not hold, such as ``"0.4.0"``; "" if it
            holds for all, or if the provider is built into onnxruntime.
    """

    does: Does
    when: str
    source: str
    modes: tuple[str, ...] = ()
    limit: int = 0
    types: tuple[str, ...] = ()
    before: int = 0
    plugin_before: str = ""


@dataclass(frozen=True)
class KnownProvider:
    """One provider.

    Attributes:
        name: As ``providers=[...]`` takes it.
        version: The release that the rules were measured with; ``NOT_RUN`` if they were read in its source.
        fuses: Whether it claims nodes that another provider has, so that padops must put other nodes in their place.
        rules: The first rule that holds counts. If none holds, the provider runs the Pad right.
        moves: Element types for which it takes Slice, Concat, Expand and Tile and keeps every bit, as
            ``python3 scripts/provider_parts.py`` measures; empty if not measured.
        expands_no_scalar: Element types of which its Expand takes no value of rank 0.
        file: Where the rules stand.
    """

    name: str
    version: str
    fuses: bool
    rules: tuple[ProviderRule, ...]
    moves: tuple[str, ...] = ()
    expands_no_scalar: tuple[str, ...] = ()
    file: str = ""

    @property
    def needs_padops(self) -> bool:
        """Whether it refuses some Pads, gets them wrong or dies of them."""
        return any(rule.does != "leaves" for rule in self.rules)

    @property
    def was_run(self) -> bool:
        """Whether the rules have been measured."""
        return self.version != NOT_RUN


def known_by(content: Mapping[str, Any], file: str) -> Iterator[KnownProvider]:
    """The providers of one file, which have the same rules and different names.

    Raises:
        ValueError: The file has something unknown; the message names the file and the row.
    """
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
        if name in found and not _is_a(found[name], what):
            raise ValueError(f"{where}, {name}: expected {what}")


def _is_a(value: object, what: str) -> bool:
    if what.startswith("a list"):
        kind = str if what == STRINGS else dict
        return isinstance(value, list) and all(isinstance(part, kind) for part in value)
    if what == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, {STRING: str, OBJECT: dict}.get(what, bool))


_ROWS = [row for file, content in providers_with_rules() for row in known_by(content, f"padops/rules/{file}")]
KNOWN_PROVIDERS = tuple(sorted(_ROWS, key=lambda row: not row.was_run))  # the measured ones first
BY_NAME: Mapping[str, KnownProvider] = {row.name: row for row in KNOWN_PROVIDERS}
RULED = (*BY_NAME, CPU, *EP_NAMES)  # the providers of which padops knows what they do with Pads


def full_names(names: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """The providers' names in onnxruntime, from short names in any case; unknown names unchanged."""
    known = {name.removesuffix(SUFFIX).lower(): name for name in (*RULED, *others)}
    return [known.get(name.lower().removesuffix(SUFFIX.lower()), name) for name in names]


def needing_padops(names: Iterable[str]) -> list[str]:
    """The providers among these that refuse some Pads, get them wrong or die of them."""
    return [name for name in names if name in BY_NAME and BY_NAME[name].needs_padops]
