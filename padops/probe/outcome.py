"""What ``padops probe`` found of a provider: its rules, whether they help, and the file that has them."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np

from padops.convert.analysis import Analysis
from padops.convert.model.document import given_model, read_document
from padops.convert.pads.match import RunsAs
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes import find_fault
from padops.probe.models import expected_of, feeds_of, model_of
from padops.probe.probes import IN_EVERY_MODE, LIMITED, PROBES, Probe
from padops.processes import Pickled
from padops.runtime.installed import installed_minor, processor, versions
from padops.runtime.provider_rules import BY_NAME, KNOWN_PROVIDERS, MODES, Does, KnownProvider, ProviderRule
from padops.spec.dtypes import DTYPES

SECONDS = 60.0  # that one model may take, the start of its process included
PROGRAM = ("-m", "padops.probe.running")
SURELY_FAILING = "dies", "wrong", "refuses"  # what a provider does with a Pad that it does not run right, worst first


class ProbeError(Exception):
    """A provider cannot be asked; the message says why."""


@dataclass(frozen=True)
class Seen:
    """What a provider did with a probe."""

    probe: Probe
    does: str  # ``"right"``, or as in a rule; a process that is killed as it does not answer has died
    why: str = ""  # the error, or what differs; "" if there is nothing to say
    without_pad: str = ""  # what it did with the same model without its Pad, if it failed; "" if it was not asked
    is_shared: bool = True  # whether it ran any node

    @property
    def fails(self) -> bool:
        """Whether the provider takes the Pad and does not run it right."""
        return self.does in SURELY_FAILING

    @property
    def is_bare(self) -> bool:
        """Whether it fails without the Pad, too, so that no rule mends it."""
        return self.without_pad in SURELY_FAILING


@dataclass(frozen=True)
class Asked:
    """A provider as the caller names it, and the program that is asked."""

    provider: str  # its name
    library: str = ""  # the file of a plugin; "" for a provider that onnxruntime has without it
    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS  # the limit for one model
    program: Sequence[str] = PROGRAM  # the arguments of Python for the process

    def about(self) -> dict[str, Any]:
        """What onnxruntime tells of the provider: its own version, the plugin's, the devices.

        Raises:
            ProbeError: onnxruntime does not have the provider, or refuses or dies of its library.
        """
        told = self._answer({})
        if told["does"] == "dies":
            raise ProbeError(f"{self.provider}: {told['why']} when its library was loaded")
        if self.provider not in told["providers"]:
            hint = "" if self.library else "; --library names the library of a plugin"
            raise ProbeError(
                f"onnxruntime {told['onnxruntime']} has no provider {self.provider} here; it has "
                f"{', '.join(told['providers'])}{hint}"
            )
        return told

    def model(self, probe: Probe, rules: str | None = None, with_pad: bool = True) -> Seen:
        """What the provider does with a probe.

        Args:
            probe: The probe.
            rules: A file of rules, with which padops stands beside the provider; None for a stock session.
            with_pad: Whether the model has its Pad.
        """
        feeds = feeds_of(probe.case)
        if not with_pad:
            feeds = {name: array for name, array in feeds.items() if name in ("x", "c")}
        told = self.run(model_of(probe.case, with_pad), feeds, expected_of(probe.case, with_pad), rules)
        return Seen(probe, told["does"], told["why"], is_shared=told.get("is_shared", False))

    def run(
        self, model: bytes, feeds: Mapping[str, np.ndarray], expected: np.ndarray, rules: str | None = None
    ) -> dict[str, Any]:
        """What the provider does with any model: ``does`` and ``why``, as of ``Seen``."""
        return self._answer({"model": model, "feeds": feeds, "expected": expected, "rules": rules})

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        named = {"provider": self.provider, "library": self.library, "options": dict(self.options)}
        with closing(Pickled("the process", self.seconds, self.program)) as process:
            try:
                told: dict[str, Any] = process.ask({**named, **question})
            except RuntimeError as error:
                if process.is_gone:
                    return {"does": "dies", "why": str(error)}
                raise ProbeError(f"{self.provider}: {error}") from error
        return {"does": ""} | told


def ask_all(
    asked: Asked, probes: Sequence[Probe], advance: Callable[[int], None] = lambda done: None
) -> Iterator[Seen]:
    """What the provider does with each probe, and if it fails, with the same model without its Pad."""
    for done, probe in enumerate(probes, 1):
        seen = asked.model(probe)
        yield replace(seen, without_pad=asked.model(probe, with_pad=False).does) if seen.fails else seen
        advance(done)


# ---- The rules that follow. A condition whose models fail gives a rule, for the modes that fail, with the worst that
# happened. A model for which an earlier rule holds, which is not less bad, gives none: padops compiles a Pad of which a
# provider dies, so that the provider does not even see it. find_fault, of padops.inspect, says whether a rule holds.

SEVERITY: tuple[str, ...] = (*SURELY_FAILING, "leaves")
assert set(SEVERITY) == set(get_args(Does))
MEASURED = "measured"  # the source of each rule, until the file names the machine
# Operators of which ONNX Runtime changes the layout for a provider, as the rules of others name them; and those of the
# models that say what a provider does where no other node matters.
OF_LAYOUT = next(rule.types for row in KNOWN_PROVIDERS for rule in row.rules if rule.when == "axes beside")
OF_MODELS = ("Constant", "Pad", "Relu")


def rules_of(seen: Sequence[Seen]) -> tuple[ProviderRule, ...]:
    """The rules for all that is not right, in an order in which the first one that holds is true of every model.

    What a provider leaves for one reason it leaves whatever else is in the Pad, so that these rules come before others.
    But it may die when it is asked at all, and onnxruntime may spoil a model before it is asked: such rules come first,
    unless they may only hold for a model that is left, such as one of open rank. What fails at the Convs of a model
    without the Pad, too, tells nothing of the Pad.
    """
    seen = [row for row in seen if not (row.is_bare and (row.probe.case.before or row.probe.case.behind))]
    conditions = list(dict.fromkeys(row.probe.when for row in seen))
    leaving: list[ProviderRule] = []
    for when in conditions:
        rows = [row for row in seen if row.probe.when == when and row.does == "leaves"]
        leaving += _rules_for(when, [row for row in rows if not is_held(row.probe, leaving, surely=True)])
    first: list[ProviderRule] = []
    failing: list[ProviderRule] = []
    for when in conditions:
        rows = [row for row in seen if row.probe.when == when and row.fails]
        for rules, spoilt in ((first, True), (failing, False)):
            part = [row for row in rows if (row.does == "dies" or is_held(row.probe, leaving, surely=True)) == spoilt]
            before = first if spoilt else [*first, *failing]
            rules += _rules_for(when, [row for row in part if not is_told(row, before)])
    by_severity = [sorted(rules, key=lambda rule: SURELY_FAILING.index(rule.does)) for rules in (first, failing)]
    early = _early(seen, leaving, first)
    return (*early, *by_severity[0], *(rule for rule in leaving if rule not in early), *by_severity[1])


def _early(seen: Sequence[Seen], leaving: Sequence[ProviderRule], first: Sequence[ProviderRule]) -> list[ProviderRule]:
    """The rules of what is left that hold for models of which the first rules may hold, and for none that fails."""
    spared = [row.probe for row in seen if row.does == "leaves" and is_held(row.probe, first)]
    spared = [probe for probe in spared if not is_held(probe, first, surely=True)]
    failed = [row.probe for row in seen if row.fails]

    def holds(rule: ProviderRule, probes: Sequence[Probe]) -> bool:
        return any(is_held(probe, [rule], surely=True) for probe in probes)

    return [rule for rule in leaving if holds(rule, spared) and not holds(rule, failed)]


def is_told(row: Seen, rules: Sequence[ProviderRule]) -> bool:
    """Whether a rule that is not less bad than what happened holds for a probe that failed."""
    at = SURELY_FAILING.index(row.does)
    return is_held(row.probe, [rule for rule in rules if SURELY_FAILING.index(rule.does) <= at])


def is_held(probe: Probe, rules: Sequence[ProviderRule], surely: bool = False) -> bool:
    """Whether one of the rules holds for the Pad of a probe; without ``surely``, also if the model leaves it open."""
    fault = _fault_of(probe, rules)
    return fault is not None and (fault[1] or not surely)


def first_rule(probe: Probe, rules: Sequence[ProviderRule]) -> ProviderRule | None:
    """The rule that counts for the Pad of a probe; None if none does."""
    fault = _fault_of(probe, rules)
    return None if fault is None else fault[0]


def _fault_of(probe: Probe, rules: Sequence[ProviderRule]) -> tuple[ProviderRule, bool] | None:
    pad, found = _pad_of(probe)
    return find_fault(KnownProvider("", "", False, tuple(rules)), pad, found, installed_minor())


@cache
def _pad_of(probe: Probe) -> tuple[PadInfo, RunsAs]:
    document = read_document(given_model(model_of(probe.case)), None, False, for_pads=True)
    (pad,) = Analysis(document).pads
    assert pad.info is not None and pad.match.runs_as is not None, "every probe has one Pad of ONNX"
    return pad.info, pad.match.runs_as


def _rules_for(when: str, rows: Sequence[Seen]) -> Iterator[ProviderRule]:
    """The rules of one condition for models that are not right."""
    of_modes: dict[tuple[str, Any], set[str]] = defaultdict(set)
    if when == "other types":
        for name in dict.fromkeys(row.probe.case.type for row in rows):
            part = [row for row in rows if row.probe.case.type == name]
            modes = _listed({row.probe.case.mode for row in part}) if name in IN_EVERY_MODE else ()
            of_modes[_worst(part), modes].add(name)
        for (does, modes), names in of_modes.items():
            yield _rule(does, when, modes, types=tuple(row.name for row in DTYPES if row.name not in names))
        return
    for mode in dict.fromkeys(row.probe.case.mode for row in rows):
        part = [row for row in rows if row.probe.case.mode == mode]
        of_modes[_worst(part), _limit_of(when, [row.probe for row in part])].add(mode)
    for (does, limit), found in of_modes.items():
        types = {"axes beside": OF_LAYOUT, "nodes behind": OF_MODELS}.get(when, ())
        yield _rule(does, when, _listed(found), limit, types)


def _worst(rows: Sequence[Seen]) -> str:
    return min((row.does for row in rows), key=SEVERITY.index)


def _limit_of(when: str, probes: Sequence[Probe]) -> int:
    """The limit with which a condition holds for these models, and for all that lie further out."""
    if when not in LIMITED:
        return 0
    numbers = [probe.number for probe in probes]
    return max(numbers) + 1 if when in ("below", "rank below") else min(numbers) - 1


def _listed(modes: Collection[str]) -> tuple[str, ...]:
    """The modes of a rule; none if all fail."""
    return () if set(MODES) <= set(modes) else tuple(mode for mode in MODES if mode in modes)


def _rule(does: str, when: str, modes: tuple[str, ...], limit: int = 0, types: tuple[str, ...] = ()) -> ProviderRule:
    return ProviderRule(does, when, MEASURED, modes, limit, types)  # type: ignore[arg-type]  # one of ``Does``


SAID = {"refuses": "refuses it", "wrong": "gets it wrong", "dies": "ends the process, or does not answer"}


@dataclass(frozen=True)
class Outcome:
    """What is known of a provider after it was asked."""

    asked: Asked  # the provider
    about: Mapping[str, Any]  # what onnxruntime tells of it
    seen: tuple[Seen, ...]  # what it did with each probe, in a stock session
    rules: tuple[ProviderRule, ...]  # the rules that follow
    # Whether it claims nodes that another provider has, so that padops must put others in their place.
    fuses: bool = False
    # What became of the probes that failed, or that padops takes, with padops and these rules beside it.
    beside: tuple[Seen, ...] = ()
    is_taking: bool = True  # whether it ran any node of a model without Pads

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

    def taken(self, does: str) -> Iterator[Seen]:
        """The probes that the provider runs right, or leaves, and whose Pads padops takes all the same."""
        for row in self.seen:
            rule = first_rule(row.probe, self.rules) if row.does == does else None
            if rule is not None and rule.does != "leaves":
                yield row

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the rules should know."""
        told = [] if self.is_taking else ["the provider took no node of a model without Pads"]
        more = [_named(row) for row in self.taken("right")]
        told += [f"padops takes as well, though the provider runs them right: {', '.join(more)}"] if more else []
        # What the provider does with the Pads of models that fail without them, too, is not known.
        bare = [row for row in self.seen if row.is_bare]
        return (*told, *(f"{_named(row)}: it {SAID[row.without_pad]} without the Pad, too" for row in bare))


def _named(row: Seen) -> str:
    return f"{row.probe.case.name} ({row.probe.when})"


def _said(row: Seen) -> str:
    return f"the session {SAID[row.does]}" + (f": {row.why}" if row.why else "")


def probe(
    asked: Asked, probes: Sequence[Probe] = PROBES, advance: Callable[[int], None] = lambda done: None
) -> Outcome:
    """Asks a provider, and tries the rules that follow.

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
    taken = [*found.taken("right"), *found.taken("leaves")]
    tried = [row.probe for row in seen if row.fails or row in taken]
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
