"""What a session with other execution providers does with one Pad, as far as known without running it.

The providers are asked in the session's order. ``padops/rules/`` has the rules of each, and ``builtin.py`` judges
by those of the CPU provider. If a model leaves open whether a rule holds, the provider may take the Pad and be wrong;
then the Pad goes to padops, so that the results are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from padops.convert.pads.match import Match, RunsAs
from padops.convert.pads.pad_info import PadInfo, all_known
from padops.convert.records import Verdict
from padops.convert.runtimes.builtin import judge, known_amounts, loads, reaches_provider
from padops.runtime.provider import CPU, EP_NAME, FIRST_NAME, OPERATORS_NAME
from padops.runtime.provider_rules import CONDITIONS, KnownProvider, ProviderRule
from padops.runtime.session_rules import Rules
from padops.spec.dialects import onnx_op
from padops.spec.plan import Amounts, Mode

FILLS = tuple(when for when, row in CONDITIONS.items() if row["of"] == "fill")


def _fill_holds(when: str, pad: PadInfo) -> bool | None:
    """Whether ``when``, one of ``FILLS``, holds for the fill, an input or an attribute; None if the model is open."""
    position = pad.op.input_index(pad.op.fill)
    if position is None:
        value = pad.attributes.get(pad.op.fill)
        if value is None or when not in ("rounded fill", "endless value"):
            return False
        if value.is_ref():
            return None
        number = np.float32(value.value)
        if when == "rounded fill":
            return _is_rounded(number)
        beyond = pad.type == "float16" and bool(abs(number) > np.finfo(np.float16).max)
        return not np.isfinite(number) or beyond
    given = pad.inputs[position]
    if given is None:
        return False
    is_array = isinstance(given, np.ndarray)
    count = prod(pad.fill_dims) if all_known(pad.fill_dims) else None
    match when:
        case "computed fill":
            return not is_array
        case "computed scalar fill":
            return not is_array and (None if pad.fill_dims is None else not pad.fill_dims)
        case "bare fill not one" if pad.input("axes") is not None:
            return False
        case "fill not one" | "bare fill not one":
            return None if count is None else count != 1
        case "fill empty":
            return None if count is None else count == 0
        case "rounded fill":
            return isinstance(given, np.ndarray) and given.size == 1 and _is_rounded(given.reshape(()))
    return False


def _is_rounded(fill: np.generic | np.ndarray) -> bool:
    """Whether a provider that reads the fill as a float changes it: a rounded or large integer, or a negative zero."""
    if fill.dtype.name in ("float32", "float16"):
        return bool(fill == 0 and np.signbit(fill))
    if fill.dtype.name not in ("int32", "uint32", "int64"):
        return False
    number = int(fill)
    return int(np.float32(number)) != number or not -(1 << 31) <= number < 1 << 31


SURELY: dict[str, Verdict] = {"refuses": "refuses", "wrong": "wrong", "dies": "refuses"}
SAID = {"refuses": "refuses it", "wrong": "gets it wrong", "dies": "ends the process"}


@dataclass(frozen=True)
class Answer:
    """What a session does with a Pad."""

    verdict: Verdict  # what it does without padops
    why: str
    runner: str  # the provider that runs the Pad in a ``padops.InferenceSession`` with the same providers; "" if none


def ask(pad: PadInfo, found: RunsAs, providers: Sequence[str], minor: int, rules: Rules) -> Answer:
    """What a session of onnxruntime 1.``minor`` does with a Pad, which it runs as the operator ``found``.

    ``providers`` has its providers, first choice first; the CPU provider is always the last. ``rules`` has their rules.
    """
    unknown: list[str] = []
    for name in providers:
        if name in (CPU, EP_NAME, FIRST_NAME):
            break
        if name == OPERATORS_NAME:
            continue
        if name not in rules:
            unknown.append(name)
        elif found.domain == "" and loads(pad, found):
            fault = find_fault(rules[name], pad, found, minor)
            if fault is None:
                return Answer("runs", _with(unknown, f"{name} runs it"), name)
            rule, sure = fault
            if rule.does != "leaves":
                text = f"{name} {SAID[rule.does]}{'' if sure else ', or may do so with other data'} ({said_of(rule)})"
                runner = FIRST_NAME if reaches_provider(pad, found, minor) else ""
                return Answer(SURELY[rule.does] if sure else "may be wrong", _with(unknown, text), runner)
    verdict, why = judge(pad, found, minor)
    return Answer(verdict, _with(unknown, why), EP_NAME if reaches_provider(pad, found, minor) else "")


def as_others_may(match: Match, providers: Sequence[str]) -> Match:
    """The match, without the CPU provider's verdict "refuses" if another provider may take the node."""
    others = set(providers).difference((CPU, EP_NAME, FIRST_NAME))
    refused = match.verdict is not None and match.verdict[0] == "refuses"
    return replace(match, verdict=None) if others and refused else match


def _with(unknown: Sequence[str], text: str) -> str:
    """The text, preceded by the providers without rules, which may take the Pad."""
    return f"unless {' or '.join(unknown)} takes it, which padops has no rules for: {text}" if unknown else text


def said_of(rule: ProviderRule) -> str:
    """The Pads that a rule covers, in words."""
    what = CONDITIONS[rule.when].get("said", rule.when).format(limit=rule.limit)
    return f"mode {' or '.join(rule.modes)}: {what}" if rule.modes else what


def find_fault(row: KnownProvider, pad: PadInfo, found: RunsAs, minor: int) -> tuple[ProviderRule, bool] | None:
    """The first rule by which a provider leaves a Pad or may fail at it, and whether it surely holds; None if none."""
    for rule in row.rules:
        if rule.before and minor >= rule.before:
            continue
        modes = [mode.value for mode in pad.known_modes]
        in_mode = not rule.modes or (all(mode in rule.modes for mode in modes) or None)
        if in_mode is None and not any(mode in rule.modes for mode in modes):
            continue
        holds = _holds(rule, pad, found)
        sure = None if holds is None or (holds and in_mode is None) else holds
        if sure or (sure is None and rule.does != "leaves"):
            return rule, bool(sure)
    return None


def _holds(rule: ProviderRule, pad: PadInfo, found: RunsAs) -> bool | None:
    """Whether a rule, its modes aside, holds for a Pad; None if the model leaves it open."""
    version = int(onnx_op(found.opset).removeprefix("Pad_"))
    amounts = known_amounts(pad) if pad.node is not None and pad.dims is not None else None
    match rule.when:
        case "always":
            return True
        case "axes":
            return pad.input("axes") is not None
        case "axes and fill":
            return pad.input("axes") is not None and pad.input(pad.op.fill) is not None
        case "axes but all" | "axes turned" if pad.input("axes") is None:
            return False
        case "axes but all":
            named = _named_axes(pad)
            return None if named is None else sorted(named) != list(range(len(pad.dims or ())))
        case "axes turned":
            named = _named_axes(pad)
            if named is None or amounts is None:
                return None if named is None else named != sorted(named)
            turned = [amounts[axis] for axis in named if 0 <= axis < len(amounts)] != list(amounts)
            # In the wrong order, a reflection may be too long for its axis, and refused.
            return None if turned and pad.mode is Mode.REFLECT else turned
        case "open rank":
            return pad.dims is None
        case "open dims":
            return pad.dims is None or None in pad.dims
        case "computed":
            return amounts is None
        case "rank above":
            return None if pad.dims is None else len(pad.dims) > rule.limit
        case "sizes above":
            return False if pad.dims is not None and len(pad.dims) <= rule.limit else None
        case "above":
            return version > rule.limit
        case "below":
            return version < rule.limit
        case "other types":
            return None if pad.type is None else pad.type not in rule.types
        case "rank below":
            return pad.dims is not None and len(pad.dims) < rule.limit
        case "empty":
            rows = amounts or [Amounts(0, 0)] * len(pad.dims or ())
            known = [(dim, dim + row.begin + row.end) for dim, row in zip(pad.dims or (), rows) if dim is not None]
            return any(0 in sizes for sizes in known)  # of the data or the output
        case "empty axis" if 0 not in (pad.dims or ()):
            return False
        case "nodes behind":
            return False if rule.types and pad.around.operators and pad.around.operators <= {*rule.types} else None
        case "in a body":
            return pad.around.in_body
        case "axes beside":
            return None if pad.input("axes") is not None and not pad.around.operators.isdisjoint(rule.types) else False
    if rule.when in FILLS:
        return _fill_holds(rule.when, pad)
    holds = None if amounts is None else _amounts_hold(rule.when, pad, amounts)
    return None if holds and rule.when == "cut away" else holds


def _named_axes(pad: PadInfo) -> list[int] | None:
    """The input axes of a Pad, not negative; None if the model leaves open whether they are all axes.

    Computed axes that are fewer than all give [-1], which no Pad has.
    """
    axes = pad.input("axes")
    if pad.dims is None:
        return None
    rank, amounts = len(pad.dims), (pad.pads_dims or [None])[-1]
    if not isinstance(axes, np.ndarray):
        return [-1] if amounts is not None and amounts != 2 * rank else None
    return [int(axis) + rank * (int(axis) < 0) for axis in axes.reshape(-1)]


def _amounts_hold(when: str, pad: PadInfo, amounts: Sequence[Amounts]) -> bool | None:
    """Whether a condition on the amounts holds for any axis; None if the model leaves it open."""
    if when == "crop":
        return any(_is_cropped(row) for row in amounts)
    answer: bool | None = False
    for dim, row in zip(pad.dims or (), amounts):
        cropped, added = _is_cropped(row), max(row.begin, row.end)
        # Whether the condition may hold for an axis with these amounts, for some size.
        if not (cropped if when in ("cut beyond", "cut away") else added > 0 and (when != "crop beyond" or cropped)):
            continue
        if dim is None:
            answer = None
            continue
        left = dim + min(row.begin, 0) + min(row.end, 0)
        if when == "empty axis":
            holds = dim == 0
        elif when in ("single", "cut beyond", "cut away"):
            holds = left == 1 if when == "single" else left < (when == "cut away")
        else:
            holds = added > (dim if when == "beyond all" else left) - (pad.mode is Mode.REFLECT)
        if holds:
            return True
    return answer


def _is_cropped(row: Amounts) -> bool:
    return min(row.begin, row.end) < 0
