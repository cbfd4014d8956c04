"""Nodes that a conversion leaves although the installed onnxruntime does not run them as specified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from padops.convert.analysis import Analysis
from padops.convert.conversion import Conversion
from padops.convert.errors import PadsLeftError
from padops.convert.facts import PadFacts
from padops.convert.matchers import MATCHERS
from padops.convert.matchers.auto_pad import match_auto_pad
from padops.convert.matchers.auto_pad.window import SAME
from padops.convert.pads.match import Replacement, Unconvertible
from padops.convert.records import PadRecord, breaks_a_rule
from padops.convert.targets import CHECKS
from padops.plural import plural
from padops.progress import counted
from padops.runtime.installed import installed_minor

ASK = "--auto-pad explicit (in Python auto_pad='explicit') writes its amounts out"


def look_at(analysis: Analysis) -> tuple[dict[str, PadFacts], set[str]]:
    """The facts of each Pad by its path, before any change; and the paths of the Pads that fail or spoil every run.

    ONNX Runtime does not load a model with a Pad that it refuses. A Pad that breaks a rule may stand in a branch that
    is not taken, or in a function without calls.
    """
    found, fatal = {}, set()
    for pad in counted("looking at Pads", analysis.pads, analysis.progress):
        facts = found[pad.site.path] = pad.facts(installed_minor())
        wrong = facts.verdict == "wrong" and pad.match.judge is not None  # asked to write SAME out, it cannot
        if facts.verdict == "refuses" or wrong or (facts.verdict == "breaks a rule" and pad.always_runs):
            fatal.add(facts.path)
    return found, fatal


def same_left(analysis: Analysis) -> list[PadRecord]:
    """The convolutions and poolings that pad SAME and that onnxruntime refuses or gets wrong; none was asked for."""
    minor, records = installed_minor(), []
    for pad in analysis.find((match_auto_pad,)):
        match = pad.match
        nothing = match.replacement is None and match.judge is None
        if nothing or match.verdict or pad.too_new(minor):
            continue
        facts = pad.facts(minor)
        if not facts.runs:
            reason = f"{facts.why}; {ASK}" if match.replacement else facts.why
            records.append(replace(pad.record("unconverted", reason), notes=(), facts=facts))
    return records


def same_wrong(pads: Iterable[PadFacts | None]) -> list[str]:
    """What onnxruntime does with each SAME that it gets wrong, or may, and that no conversion helps."""
    gets = {"wrong": "gets", "may be wrong": "may get"}
    failing = [pad for pad in pads if pad and pad.mode in SAME and pad.verdict in gets and "convert" not in pad.roads]
    return [f"{gets[pad.verdict]} {pad.path} ({pad.form}) wrong: {pad.why}" for pad in failing]


def without_fallback(analysis: Analysis, missing: Mapping[str, str]) -> dict[str, str]:
    """What to say of the operators that have no fallback: why, and what to do.

    Args:
        missing: The reasons, by operator.
    """
    if not missing:
        return {}
    counts, stuck = Counter[str](), set()
    for pad in analysis.find(MATCHERS):
        if pad.match.already == "padops" and isinstance(pad.match.replacement, Replacement):
            counts[pad.site.node.op_type] += 1
            try:
                CHECKS["onnx"](pad.info, pad.site)
            except Unconvertible:
                stuck.add(pad.site.node.op_type)
    told = {}
    for op_type, why in missing.items():
        helps = "only sessions with padops run it"
        if op_type not in stuck:
            helps += ", but --target onnx (in Python padops.lower) writes standard ONNX"
        told[op_type] = f"no fallback for {op_type} ({plural(counts[op_type], 'Pad')}): {why}; {helps}"
    return told


def check_left(conversion: Conversion, strict: bool) -> None:
    """Refuses a conversion that leaves Pads, or whose Pads break a rule.

    Without ``strict``, only Pads count that keep ONNX Runtime from running the model: it refuses them, or they break a
    rule in every run; and SAME that was to be written out, and that ONNX Runtime gets wrong. With it, Pads without a
    fallback count as well, if fallbacks are wanted.

    Raises:
        PadsLeftError: Names the first such Pad.
    """
    records = conversion.records
    left = [record for record in records if record.status == "unconverted" or breaks_a_rule(record)]
    if not strict:
        left = [record for record in left if record.path in conversion._fatal]
    if not left:
        if strict and conversion.no_fallback:
            why = "; ".join(conversion.no_fallback.values())
            raise PadsLeftError(f"{why}; --no-fallback (in Python fallback=False) asks for none", conversion)
        return
    first, *others = left
    count, s = f"{len(left)} of {plural(len(records), 'Pad')}", "" if others else "s"
    more = f", and {len(others)} more" if others else ""
    if breaks_a_rule(first):
        count = f"{count} break{s} a rule, so no runtime runs the model" if not strict else f"{count} break{s} a rule"
    elif strict:
        count = f"{count} stay{s} unconverted"
    else:
        wrong = first.facts is not None and first.facts.verdict == "wrong"
        does = "gets the model wrong" if wrong else "does not run the model"
        count = f"{count} stay{s} unconverted, and ONNX Runtime {does} as it is"
    raise PadsLeftError(f"{count}: {first.why()}{more}", conversion)
