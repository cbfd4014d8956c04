"""Rules of a provider, from what it did with the probes.

A condition whose models fail gives a rule, for the modes that fail, with the worst that happened. A model for which an
earlier rule holds, which is not less bad, gives none: padops compiles a Pad of which a provider dies, so that the
provider does not even see it. Whether a rule holds is asked where ``padops.inspect`` asks it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, get_args

from padops.convert.analysis import Analysis
from padops.convert.model.document import given_model, read_document
from padops.convert.pads.match import RunsAs
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes import find_fault
from padops.probe.asking import SURELY_FAILING, Seen
from padops.probe.models import model_of
from padops.probe.probes import IN_EVERY_MODE, LIMITED, Probe
from padops.runtime.installed import installed_minor
from padops.runtime.provider_rules import KNOWN_PROVIDERS, MODES, Does, KnownProvider, ProviderRule
from padops.spec.dtypes import DTYPES

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
