"""The results of ``padops probe`` for a provider: its rules, their effect, and the file of rules."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from padops.convert.analysis import Analysis
from padops.convert.errors import PadopsError, UsageError
from padops.convert.model.document import given_model, read_document
from padops.convert.pads.match import RunsAs
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes import find_fault
from padops.probe.probes import IN_EVERY_MODE, LIMITED, PROBES, Case, expected_of, feeds_of, model_of
from padops.processes import Pickled
from padops.runtime.installed import installed_minor, processor, versions
from padops.runtime.provider_rules import BY_NAME, KNOWN_PROVIDERS, MODES, KnownProvider, ProviderRule
from padops.spec.dtypes import DTYPES

SEVERITY = ("dies", "wrong", "refuses", "leaves")  # the faults of a provider, worst first
SURELY_FAILING = SEVERITY[:3]


@dataclass(frozen=True)
class Seen:
    """The result of a provider for a probe."""

    probe: Case
    does: str  # ``"right"``, or as ``does`` of a rule; a process that does not answer in time counts as dead
    why: str = ""  # the error, or the difference; "" if there is none
    without_pad: str = ""  # after a failure, the result of the model without its Pad; "" if not run
    is_shared: bool = True  # whether the provider ran any node

    @property
    def fails(self) -> bool:
        """Whether the provider claims the Pad and does not run it correctly."""
        return self.does in SURELY_FAILING

    @property
    def is_bare(self) -> bool:
        """Whether the model also fails without its Pad, so that no rule helps."""
        return self.without_pad in SURELY_FAILING


@dataclass(frozen=True)
class Asked:
    """A provider as the caller names it, and the program that probes it."""

    provider: str  # its name
    library: str = ""  # the file of a plugin; "" for a provider that onnxruntime already has
    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 60.0  # the limit for one model, including the start of its process
    program: Sequence[str] = ("-m", "padops.probe.running")  # the arguments of Python for the process

    def about(self) -> dict[str, Any]:
        """Returns onnxruntime's version, the plugin's version, and the devices; or raises PadopsError."""
        told = self._answer({})
        if told["does"] == "dies":
            raise PadopsError(f"{self.provider}: {told['why']} while it loaded the provider's library")
        if self.provider not in told["providers"]:
            raise UsageError(
                f"onnxruntime {told['onnxruntime']} has no provider {self.provider} here; it has "
                f"{', '.join(told['providers'])}; for a plugin, name its library with --library"
            )
        return told

    def model(self, probe: Case, rules: str | None = None, with_pad: bool = True) -> Seen:
        """Runs a probe on the provider: in a stock session, or with padops and a file of ``rules``."""
        feeds = {name: array for name, array in feeds_of(probe).items() if with_pad or name in ("x", "c")}
        told = self.run(model_of(probe, with_pad), feeds, expected_of(probe, with_pad), rules)
        return Seen(probe, told["does"], told["why"], is_shared=told.get("is_shared", False))

    def run(
        self, model: bytes, feeds: Mapping[str, np.ndarray], expected: np.ndarray, rules: str | None = None
    ) -> dict[str, Any]:
        """Runs any model on the provider; returns ``does`` and ``why``, as in ``Seen``."""
        return self._answer({"model": model, "feeds": feeds, "expected": expected, "rules": rules})

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        named = {"provider": self.provider, "library": self.library, "options": dict(self.options)}
        with closing(Pickled("the process", self.seconds, self.program)) as process:
            try:
                told: dict[str, Any] = process.ask({**named, **question})
            except RuntimeError as error:
                if process.gone:
                    return {"does": "dies", "why": str(error)}
                raise PadopsError(f"{self.provider}: {error}") from error
        return {"does": ""} | told


# ---- From results to rules. A condition with failing models yields a rule for the failing modes, with the worst fault.
# A model yields no rule if an earlier rule about an equal or worse fault holds for it: padops compiles a Pad that would
# crash a provider, so the provider never sees the Pad. find_fault, as in padops.inspect, decides whether a rule holds.

MEASURED = "measured"  # the source of each rule, until the file names the machine
# OF_LAYOUT: the operators whose layout ONNX Runtime changes for a provider, from the rules of another provider.
# OF_MODELS: the operators of the models in which only the Pad matters.
OF_LAYOUT = next(rule.types for row in KNOWN_PROVIDERS for rule in row.rules if rule.when == "axes beside")
OF_MODELS = ("Constant", "Pad", "Relu")


def rules_of(seen: Sequence[Seen]) -> tuple[ProviderRule, ...]:
    """Returns the rules for all faults, in this order, because padops applies the first rule that holds for a Pad:

    1. "leaves" rules for Pads to which a rule of group 2 possibly applies, for example because the rank is open;
    2. rules about crashes, and about models that fail although the provider leaves the Pad;
    3. the other "leaves" rules;
    4. the other rules.

    Group 2 precedes group 3, because a provider may crash when onnxruntime offers it the Pad, and onnxruntime may
    damage a model even earlier. Group 3 precedes group 4, because a provider does not fail on a Pad that it leaves.

    A model with Convs yields no rule if the model also fails without its Pad.
    """
    seen = [row for row in seen if not (row.is_bare and (row.probe.before or row.probe.behind))]
    of_condition: dict[str, list[Seen]] = defaultdict(list)
    for row in seen:
        of_condition[row.probe.when].append(row)
    leaving: list[ProviderRule] = []
    for when, rows in of_condition.items():
        left = [row for row in rows if row.does == "leaves" and not is_held(row.probe, leaving, surely=True)]
        leaving += _rules_for(when, left)
    first: list[ProviderRule] = []
    failing: list[ProviderRule] = []
    for when, rows in of_condition.items():
        rows = [row for row in rows if row.fails]
        for rules, spoilt in ((first, True), (failing, False)):
            part = [row for row in rows if (row.does == "dies" or is_held(row.probe, leaving, surely=True)) == spoilt]
            before = first if spoilt else [*first, *failing]
            # Skip the models for which a rule about an equal or worse fault holds.
            worse = {does: [rule for rule in before if _severity(rule) <= SEVERITY.index(does)] for does in SEVERITY}
            rules += _rules_for(when, [row for row in part if not is_held(row.probe, worse[row.does])])
    # The early rules hold for left models to which a rule of ``first`` may apply, and hold for no failing model.
    spared = [row for row in seen if row.does == "leaves" and is_held(row.probe, first)]
    spared = [row for row in spared if not is_held(row.probe, first, surely=True)]
    failed = [row for row in seen if row.fails]

    def holds(rule: ProviderRule, rows: Sequence[Seen]) -> bool:
        return any(is_held(row.probe, [rule], surely=True) for row in rows)

    early = [rule for rule in leaving if holds(rule, spared) and not holds(rule, failed)]
    late = [rule for rule in leaving if rule not in early]
    return (*early, *sorted(first, key=_severity), *late, *sorted(failing, key=_severity))


def _severity(row: Seen | ProviderRule) -> int:
    return SEVERITY.index(row.does)


def is_held(probe: Case, rules: Sequence[ProviderRule], surely: bool = False) -> bool:
    """Returns whether a rule may apply to a probe's Pad; with ``surely``, whether the first such rule surely applies.

    A rule may apply if the model leaves open whether it applies, for example because dims are open. But a "leaves" rule
    counts only if it surely applies.
    """
    fault = _fault_of(probe, rules)
    return fault is not None and (fault[1] or not surely)


def _fault_of(probe: Case, rules: Sequence[ProviderRule]) -> tuple[ProviderRule, bool] | None:
    """Returns the first rule that may apply to the Pad of a probe, and whether it surely applies; else None."""
    pad, found = _pad_of(probe)
    return find_fault(KnownProvider("", "", False, tuple(rules)), pad, found, installed_minor())


@cache
def _pad_of(probe: Case) -> tuple[PadInfo, RunsAs]:
    document = read_document(given_model(model_of(probe)), None, False, for_pads=True)
    (pad,) = Analysis(document).pads
    assert pad.info is not None and pad.match.runs_as is not None, "every probe has one Pad of ONNX"
    return pad.info, pad.match.runs_as


def _rules_for(when: str, rows: Sequence[Seen]) -> Iterator[ProviderRule]:
    """Yields rules with the condition ``when`` for ``rows``, the models that fail or are left to the CPU provider."""
    of_modes: dict[tuple[Any, Any], set[str]] = defaultdict(set)
    if when == "other types":
        for name in dict.fromkeys(row.probe.type for row in rows):
            part = [row for row in rows if row.probe.type == name]
            modes = _listed({row.probe.mode for row in part}) if name in IN_EVERY_MODE else ()
            of_modes[min(part, key=_severity).does, modes].add(name)
        for (does, modes), names in of_modes.items():
            types = tuple(row.name for row in DTYPES if row.name not in names)
            yield ProviderRule(does, when, MEASURED, modes, types=types)
        return
    for mode in dict.fromkeys(row.probe.mode for row in rows):
        part = [row for row in rows if row.probe.mode == mode]
        limit, numbers = 0, [row.probe.number for row in part]
        if when in LIMITED:  # the condition holds for these models and all beyond them
            limit = max(numbers) + 1 if when in ("below", "rank below") else min(numbers) - 1
        of_modes[min(part, key=_severity).does, limit].add(mode)
    for (does, limit), found in of_modes.items():
        types = {"axes beside": OF_LAYOUT, "nodes behind": OF_MODELS}.get(when, ())
        yield ProviderRule(does, when, MEASURED, _listed(found), limit, types)


def _listed(modes: Collection[str]) -> tuple[str, ...]:
    """Returns the modes of a rule; empty if all modes fail."""
    return () if set(MODES) <= set(modes) else tuple(mode for mode in MODES if mode in modes)


SAID = {"refuses": "refuses it", "wrong": "gets it wrong", "dies": "ends the process, or does not answer"}


@dataclass(frozen=True)
class Outcome:
    """The results of probing a provider."""

    asked: Asked  # the provider
    about: Mapping[str, Any]  # its versions and devices
    seen: tuple[Seen, ...]  # the result of each probe, in a stock session
    rules: tuple[ProviderRule, ...]  # the resulting rules
    # Whether the provider claims nodes of other providers, so that padops must replace these nodes.
    fuses: bool = False
    # With padops and these rules beside the provider: the results of the probes that failed or that padops claims.
    beside: tuple[Seen, ...] = ()

    @property
    def version(self) -> str:
        """The versions of onnxruntime and, for a plugin, of the plugin."""
        plugin = self.about["plugin"]
        return f"onnxruntime {self.about['onnxruntime']}" + (f", plugin {plugin}" if plugin else "")

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The probes that still fail with these rules, with their faults; omits probes that fail even without a Pad."""
        bare = {row.probe for row in self.seen if row.is_bare}
        unruled = [row for row in self.seen if row.fails and not self.takes(row.probe)]
        told = [(row, "no condition holds for it, and") for row in unruled]
        told += [(row, "with padops and these rules beside it,") for row in self.beside if row.does != "right"]
        return tuple(
            f"{row.probe.name} ({row.probe.when}): {where} the session {SAID[row.does]}: {row.why}"
            for row, where in told
            if row.probe not in bare
        )

    def takes(self, probe: Case) -> bool:
        """Returns whether padops, with these rules, claims the Pad of a probe."""
        fault = _fault_of(probe, self.rules)
        return fault is not None and fault[0].does != "leaves"


def probe(asked: Asked, probes: Sequence[Case] = PROBES, advance: Callable[[int], None] = lambda done: None) -> Outcome:
    """Probes a provider, and tries the resulting rules; raises PadopsError if even a model without Pads fails."""
    about = asked.about()
    bare = asked.model(probes[0], with_pad=False)
    if bare.fails:
        raise PadopsError(
            f"{asked.provider}: a model without Pads does not run: the provider {SAID[bare.does]}: {bare.why}"
        )
    seen = []
    for done, one in enumerate(probes, 1):
        row = asked.model(one)
        seen.append(replace(row, without_pad=asked.model(one, with_pad=False).does) if row.fails else row)
        advance(done)
    found = Outcome(asked, about, tuple(seen), rules_of(seen))
    failed = [row for row in seen if row.fails and row.without_pad == "right"] or [row for row in seen if row.fails]
    if not failed:
        return found
    found = replace(found, fuses=_fuses(found, failed[0].probe))
    tried = [row.probe for row in seen if row.fails or found.takes(row.probe)]
    return replace(found, beside=tuple(_beside(found, tried)))


def _fuses(found: Outcome, failed: Case) -> bool:
    """Returns whether padops must compile its own Pads, because the provider also claims nodes that padops has claimed.

    padops' own rules state this for a known provider. For another provider, the failed probe runs with each setting
    in turn, until one works.
    """
    if (known := BY_NAME.get(found.asked.provider)) is not None:
        return known.fuses
    for fuses in (False, True):
        (row,) = _beside(replace(found, fuses=fuses), [failed])
        if row.does == "right" and row.is_shared:
            return fuses
    return False


def _beside(found: Outcome, probes: Sequence[Case]) -> Iterator[Seen]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rules.json")
        file.write_text(text_of(found, tried=False), encoding="utf-8")
        for row in probes:
            yield found.asked.model(row, rules=str(file))


def text_of(found: Outcome, tried: bool = True) -> str:
    """Returns the text of the file of rules; ``tried=False`` omits the fields ``measured`` and ``unexplained``."""
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
        content |= {"unexplained": list(found.unexplained)} if found.unexplained else {}
    fields = ("does", "when", "modes", "limit", "types")
    content["rules"] = [{name: getattr(rule, name) for name in fields if getattr(rule, name)} for rule in found.rules]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
