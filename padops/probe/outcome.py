"""What ``padops probe`` found of a provider: its rules, whether they help, and the file that has them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from padops.probe.asking import Asked, ProbeError, Seen, ask_all
from padops.probe.probes import PROBES, Probe
from padops.probe.rules import first_rule, rules_of
from padops.runtime.installed import processor, versions
from padops.runtime.provider_rules import BY_NAME, ProviderRule

SAID = {"refuses": "refuses it", "wrong": "gets it wrong", "dies": "ends the process, or does not answer"}


@dataclass(frozen=True)
class Outcome:
    """What is known of a provider after it was asked.

    Attributes:
        asked: The provider.
        about: What onnxruntime tells of it.
        seen: What it did with each probe, in a stock session.
        rules: The rules that follow.
        fuses: Whether it claims nodes that another provider has, so that padops must put others in their place.
        beside: What became of the probes that failed, or that padops takes, with padops and these rules beside it.
        is_taking: Whether it ran any node of a model without Pads.
    """

    asked: Asked
    about: Mapping[str, Any]
    seen: tuple[Seen, ...]
    rules: tuple[ProviderRule, ...]
    fuses: bool = False
    beside: tuple[Seen, ...] = ()
    is_taking: bool = True

    @property
    def version(self) -> str:
        """The releases of onnxruntime and, if it is one, of the plugin."""
        plugin = self.about["plugin"]
        return f"onnxruntime {self.about['onnxruntime']}" + (f", plugin {plugin}" if plugin else "")

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The probes that no rule makes right, each with what happened."""
        bare = {row.probe for row in self.seen if row.is_bare}
        lines = [
            f"{_named(row)}: with padops and these rules beside it, {_said(row)}"
            for row in self.beside
            if row.does != "right" and row.probe not in bare
        ]
        pairs = ((row, first_rule(row.probe, self.rules)) for row in self.seen if row.fails and not row.is_bare)
        unruled = (row for row, rule in pairs if rule is None or rule.does == "leaves")
        return (*(f"{_named(row)}: no condition holds for it, and {_said(row)}" for row in unruled), *lines)

    @property
    def unhelped(self) -> tuple[str, ...]:
        """The probes that fail without their Pads, too: what the provider does with these Pads is not known."""
        rows = [row for row in self.seen if row.is_bare]
        return tuple(f"{_named(row)}: it {SAID[row.without_pad]} without the Pad, too" for row in rows)

    @property
    def needless(self) -> tuple[Seen, ...]:
        """The probes that the provider runs right, and whose Pads padops takes all the same."""
        return tuple(self._taken("right"))

    @property
    def needless_of_cpu(self) -> tuple[Seen, ...]:
        """The same of probes that the provider leaves."""
        return tuple(self._taken("leaves"))

    def _taken(self, does: str) -> Iterator[Seen]:
        for row in self.seen:
            rule = first_rule(row.probe, self.rules) if row.does == does else None
            if rule is not None and rule.does != "leaves":
                yield row

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the rules should know."""
        told = [] if self.is_taking else ["the provider took no node of a model without Pads"]
        more = [_named(row) for row in self.needless]
        told += [f"padops takes as well, though the provider runs them right: {', '.join(more)}"] if more else []
        return (*told, *self.unhelped)


def _named(row: Seen) -> str:
    return f"{row.probe.case.name} ({row.probe.when})"


def _said(row: Seen) -> str:
    return f"the session {SAID[row.does]}" + (f": {row.why}" if row.why else "")


def probe(
    asked: Asked, probes: Sequence[Probe] = PROBES, advance: Callable[[int], None] = lambda done: None
) -> Outcome:
    """Asks a provider, and tries the rules that follow.

    Args:
        asked: The provider.
        probes: The models.
        advance: Gets the number of models that are done.

    Raises:
        ProbeError: onnxruntime does not have the provider, or the provider does not run a model without Pads.
    """
    about = asked.about()
    bare = asked.model(probes[0], with_pad=False)
    if bare.fails:
        raise ProbeError(f"{asked.provider}: a model without Pads does not run: it {SAID[bare.does]}: {bare.why}")
    seen = tuple(ask_all(asked, probes, advance))
    found = Outcome(asked, about, seen, rules_of(seen), is_taking=bare.is_shared)
    failed = [row for row in seen if row.fails and row.without_pad == "right"] or [row for row in seen if row.fails]
    if not failed:
        return found
    found = replace(found, fuses=_fuses(found, failed[0].probe))
    tried = [row.probe for row in seen if row.fails or row in (*found.needless, *found.needless_of_cpu)]
    return replace(found, beside=tuple(_beside(found, tried)))


def _fuses(found: Outcome, failed: Probe) -> bool:
    """Whether the provider loses its own nodes unless padops compiles those that it takes; known, or tried."""
    if (known := BY_NAME.get(found.asked.provider)) is not None:
        return known.fuses
    for fuses in (False, True):
        (row,) = _beside(replace(found, fuses=fuses), [failed])
        if row.does == "right" and row.is_shared:
            return fuses
    return False


def _beside(found: Outcome, probes: Sequence[Probe]) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rules.json")
        file.write_text(text_of(found, tried=False), encoding="utf-8")
        for row in probes:
            yield found.asked.model(row, rules=str(file))


def text_of(found: Outcome, tried: bool = True) -> str:
    """The content of the file of rules, with a rule in each line; ``tried=False``: without what people alone read."""
    content: dict[str, Any] = {"names": [found.asked.provider], "version": found.version}
    content |= {"fuses": True} if found.fuses else {}
    content["sources"] = {"default": f"measured: padops probe {found.asked.provider}"}
    if tried:
        content["measured"] = {
            "padops": versions()["padops"],
            "onnxruntime": found.about["onnxruntime"],
            "plugin": found.about["plugin"],
            "processor": processor(),
            "devices": found.about["devices"],
            "options": dict(found.asked.options),
            "models": len(found.seen),
        }
        content |= {"note": "; ".join(found.notes)} if found.notes else {}
        content |= {"unexplained": list(found.unexplained)} if found.unexplained else {}
    content["rules"] = [_row_of(rule) for rule in found.rules]
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {_json(value)}" for name, value in content.items()) + "\n}\n"


def _row_of(rule: ProviderRule) -> dict[str, Any]:
    row: dict[str, Any] = {"does": rule.does, "when": rule.when}
    row |= {"modes": list(rule.modes)} if rule.modes else {}
    row |= {"limit": rule.limit} if rule.limit else {}
    return row | ({"types": list(rule.types)} if rule.types else {})


def _json(value: object) -> str:
    if not isinstance(value, list) or not value or isinstance(value[0], str):
        return json.dumps(value, ensure_ascii=False)
    return "[\n" + ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n  ]"
