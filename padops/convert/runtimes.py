"""How ONNX Runtime runs unchanged Pads, as far as padops knows this without a run.

``padops/rules/cpu.json`` has the facts that were measured for ONNX Runtime's own kernels, and states in words which
Pads the kernels run correctly, refuse or get wrong. ``_faults`` yields the faults of a Pad for all releases; the file
states the effect of each fault and the releases with the fault. ``--select needed`` considers the faults of all
releases, because a model may run on any release; ``padops inspect`` considers the faults of the installed release.

A session with other execution providers offers a Pad to the providers in their order. ``padops/rules/`` has the rules
of each provider. If the model does not determine whether a rule holds, the provider may claim the Pad and compute wrong
results. In a ``padops.InferenceSession``, padops then claims the Pad first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from padops.convert.pads.match import MICROSOFT, RunsAs
from padops.convert.pads.pad_info import PadInfo, all_known
from padops.convert.records import Verdict
from padops.plural import plural
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR, read_rules
from padops.runtime.provider import CPU, EP_NAME, FIRST_MINOR, FIRST_NAME, OPERATORS_NAME
from padops.runtime.provider_rules import CONDITIONS, KnownProvider, ProviderRule, Rules
from padops.spec.dialects import OPS, onnx_op
from padops.spec.dtypes import by_name
from padops.spec.plan import Amounts, Mode, PadError


@dataclass(frozen=True)
class Fault:
    """A deviation of ONNX Runtime from the specification of a Pad."""

    does: Verdict  # the verdict; ``"runs"`` if only the reason is of interest
    why: str  # the reason, with placeholders in braces for the parts that differ between Pads
    before: int | None = None  # the first release 1.x without the fault; None if all later releases have it
    since: int = 0  # the first release 1.x with the fault
    # The first release 1.x with this verdict; earlier releases may be wrong instead of refusing.
    may_be_wrong_before: int = 0
    needs_rank: bool = False  # whether shape inference refuses the Pad as soon as it knows the rank of the data
    by_optimiser: bool = False  # whether a session without graph optimisation runs the Pad as specified


_CPU = read_rules("cpu")
FAULTS = {name: Fault(**row) for name, row in _CPU["faults"].items()}

_KERNELS: dict[str, Any] = _CPU["kernels"]
KERNELS: dict[str, dict[str, int]] = _KERNELS["first_opsets"]  # by domain and element type: the first opset
LATER_KERNELS: dict[str, dict[str, dict[str, int]]] = _KERNELS["later"]  # types that got a kernel in a later release
IN_SCHEMA: dict[str, list[str]] = _KERNELS["in_schema"]  # by domain other than ONNX's: the types
CASTS_RIGHT_SINCE = int(_KERNELS["first_opset_of_casts"])  # ONNX Runtime can cast a Pad of float16 from here on

# The newest opset that a release 1.x loads; a row applies until the release of the next row.
NEWEST_OPSETS = {int(since): int(newest) for since, newest in _CPU["newest_opsets"]["since"].items()}
MOVED: dict[str, int] = _CPU["moved"]["first_opsets"]  # types that Gather, Concat, Slice, Reshape and If move
# Types that a Cast to another type and back keeps bit by bit, with the other type and the first opset.
EXACT_CASTS = {name: (str(proxy), int(since)) for name, (proxy, since) in _CPU["exact_casts"]["by"].items()}

FIRST_WITH_INPUTS = 11  # in earlier opsets, amounts and fill are attributes
FIRST_WITH_AXES = 18
MODES_SINCE = {Mode.CONSTANT: 1, Mode.EDGE: 1, Mode.REFLECT: 1, Mode.WRAP: 19}  # the first opset of each mode


def has_type(name: str | None, opset: int, domain: str = "") -> bool:
    """Return whether ONNX Runtime's Pad of an opset moves an element type without a cast."""
    return name is not None and KERNELS[domain].get(name, opset + 1) <= opset


def has_modes(pad: PadInfo, opset: int) -> bool:
    """Return whether ONNX's Pad of an opset has all possible modes of ``pad``, under the same names."""
    alike = len(pad.modes) == 1 or pad.modes[0].islower()
    return alike and all(MODES_SINCE.get(mode, opset + 1) <= opset for mode in pad.known_modes)


def has_identity(name: str | None, opset: int) -> bool:
    """Return whether an opset's Identity accepts a type; for an unknown type, whether it accepts all types."""
    if name is None:
        return bool(opset < _CPU["identity"]["first_opset_with_more"])
    since: int | None = _CPU["identity"]["first_opsets"].get(name, 1)
    return since is not None and opset >= since


def taking_pooling(pad: PadInfo) -> str:
    """Return the description of a pooling behind the Pad, if ONNX Runtime may fold the Pad into it; else ""."""
    # It folds a Pad in mode constant without axes, if the amounts are constants and the fill is absent or a constant 0.
    if not pad.around.pooling or Mode.CONSTANT not in pad.known_modes or pad.may_have_interior:
        return ""
    fill = pad.known_fill
    if fill is not None and (fill.dtype.kind in "OSU" or any(fill.tobytes())):
        return ""
    amounts = known_amounts(pad)
    # The amounts of batch and channels, unless Transposes may move other axes to their places.
    others = () if pad.around.transposing else amounts[:2]
    if any(one.begin or one.end for one in others) or any(one.crops for one in amounts):
        return ""
    return pad.around.pooling


def known_amounts(pad: PadInfo) -> tuple[Amounts, ...]:
    """Return the amounts of each axis; empty if they are unknown or break a rule."""
    try:
        return pad.amounts or ()
    except PadError:
        return ()


def newest_opset(minor: int) -> int | None:
    """Return the newest opset that onnxruntime 1.``minor`` loads; None for an unmeasured release."""
    if not OLDEST_MINOR <= minor <= NEWEST_MINOR:
        return None
    return NEWEST_OPSETS[max(since for since in NEWEST_OPSETS if since <= minor)]


def first_with(opset: int) -> int | None:
    """Return the first release 1.x that loads an opset; None if no measured release does."""
    return next((since for since, newest in NEWEST_OPSETS.items() if newest >= opset), None)


def _is_row(pad: PadInfo) -> bool:
    """Return whether the amounts are known and have two dims; False if the axes are known to be empty."""
    pads, axes = pad.input("pads"), pad.input("axes")
    return isinstance(pads, np.ndarray) and pads.ndim > 1 and not (isinstance(axes, np.ndarray) and axes.size == 0)


def _has_int32_axes(pad: PadInfo) -> bool:
    axes = pad.input("axes")
    return isinstance(axes, np.ndarray) and axes.dtype == np.int32


# The first releases 1.x without two faults.
CROPS_RIGHT, WRAPS_RIGHT = (FAULTS[name].before or 0 for name in ("nothing left by a crop", "wrap beyond in front"))
UNTOLD = "it does not find out how many dims the data have"  # a condition on forms that shape inference refuses


def limits(pad: PadInfo, minor: int = 0) -> list[str]:
    """Return the conditions under which release 1.``minor`` (0: every release) runs a Pad as specified."""
    if pad.node is not None and all_known(pad.dims):
        return []
    found = _limits_of_rank(pad)
    if pad.mode is Mode.CONSTANT and minor >= CROPS_RIGHT:
        return found
    if pad.mode is Mode.WRAP and minor >= WRAPS_RIGHT and pad.only_adds:
        return found
    amounts = known_amounts(pad)
    if minor and pad.dims is not None and len(amounts) == len(pad.dims):
        for axis, (dim, row) in enumerate(zip(pad.dims, amounts)):
            least = max(-row.begin, 0) + max(-row.end, 0) + 1  # the smallest size for which ONNX Runtime is right
            if pad.mode is Mode.REFLECT:
                least += max(row.begin, row.end, 0)
            elif pad.mode is Mode.WRAP and minor < WRAPS_RIGHT:
                least += max(row.begin, 1) - 1
            if dim is None and (row.begin or row.end) and least > 1:
                found.append(f"axis {axis} has {least} elements or more")
        return found
    if pad.mode in (Mode.REFLECT, Mode.WRAP):
        found.append(f"no amount is more than the axis has elements to {pad.mode.value}")
    if pad.mode is not Mode.REFLECT and not pad.only_adds:
        found.append("no axis is cropped away wholly")
    return found


def _limits_of_rank(pad: PadInfo) -> list[str]:
    """Return the conditions on the rank of the data; empty if the model states the rank."""
    pads = pad.input("pads")
    if pad.dims is not None:
        return []
    if _has_int32_axes(pad) or _is_row(pad):
        return [UNTOLD]
    if pad.open_axes and isinstance(pads, np.ndarray):
        return [f"it does not find out that the data have another rank than {pads.size // 2}"]
    lists = [pad.attributes[name] for name in ("pads", "paddings") if name in pad.attributes]
    counted = any(isinstance(one, np.ndarray) and one.size for one in (pad.input("axes"), pads))
    counted = counted or any(not attribute.is_ref() and len(attribute.value) for attribute in lists)
    return [] if counted else ["the data have at least one dim"]


def _find(pad: PadInfo, name: str, before: int | None = None, **told: object) -> Fault:
    """Return the fault named ``name`` in ``cpu.json``, with its reason formatted by ``told``."""
    row = FAULTS[name]
    does: Verdict = "runs if" if row.needs_rank and pad.dims is None else row.does
    return replace(row, does=does, why=row.why.format(before=row.before, **told), before=before or row.before)


def _faults(pad: PadInfo, found: RunsAs) -> Iterator[Fault]:
    pads, axes, dims, mode = pad.input("pads"), pad.input("axes"), pad.fill_dims, pad.mode
    if found.opset < min(KERNELS[found.domain].values()):
        yield _find(pad, "no kernel of the opset", opset=found.opset)
    if pad.type is None:
        yield _find(pad, "open type")
    elif pad.type == "float16":
        if found.domain == "" and found.opset < CASTS_RIGHT_SINCE:
            yield _find(pad, "float16 without casts", casts_since=CASTS_RIGHT_SINCE)
        yield _find(pad, "float16")
    elif not has_type(pad.type, found.opset, found.domain):
        later = LATER_KERNELS.get(found.domain, {}).get(pad.type)
        before = later["first_release"] if later and found.opset >= later["first_opset"] else None
        yield _find(pad, "no kernel of the type", before, type=pad.type, opset=found.opset)
    if found.external:
        yield _find(pad, "external", inputs=" and ".join(found.external))
    if _has_int32_axes(pad):
        yield _find(pad, "int32 axes")
    elif axes is not None and pad.around.transposing:
        yield _find(pad, "axes among Transposes")
    yield from _open_axes(pad)
    if found.domain == "" and _is_row(pad):
        yield _find(pad, "pads of two dims")
    if pad.dims == [] or (pad.dims is None and axes is None and isinstance(pads, np.ndarray) and not pads.size):
        yield _find(pad, "rank 0")
    if mode is not Mode.CONSTANT and all_known(dims) and prod(dims) != 1:
        unread = f", which mode {mode.value} does not even read" if mode else ""
        yield _find(pad, "fill not one", elements=plural(prod(dims), "element"), unread=unread)
    amounts = known_amounts(pad)
    empty = False
    if mode in (Mode.EDGE, Mode.REFLECT) and all_known(pad.dims) and len(amounts) == len(pad.dims):
        sizes = [(size, row.begin + size + row.end) for size, row in zip(pad.dims, amounts)]
        empty = any(not size for size, _ in sizes) and all(size or not padded for size, padded in sizes)
    if not empty:  # ONNX Runtime checks nothing else if the data are empty and no empty axis is extended
        for axis, (size, row) in enumerate(zip(pad.dims or (), amounts)):
            yield from _reach_of(pad, axis, size, row.begin, row.end)
    if found.domain == "" and axes is None and (pooling := taking_pooling(pad)):
        yield _find(pad, "pooling", pooling=pooling)


def _open_axes(pad: PadInfo) -> Iterator[Fault]:
    pads = pad.input("pads")
    if not pad.open_axes or not pad.dims or not isinstance(pads, np.ndarray):
        return
    if pads.size != 2 * len(pad.dims):
        yield _find(pad, "open axes, fewer", rank=len(pad.dims), amounts=plural(pads.size, "amount"))
    elif len(set(pads.reshape(2, -1).sum(axis=0).tolist())) > 1:
        yield _find(pad, "open axes, all")


def _reach_of(pad: PadInfo, axis: int, size: int | None, begin: int, end: int) -> Iterator[Fault]:
    """Yield the faults that follow from an axis's amounts; mode reflect must add fewer elements than a crop leaves."""
    modes = pad.known_modes
    if pad.mode is Mode.REFLECT and begin * end < 0:
        yield _find(pad, "reflect of a crop", axis=axis, begin=begin, end=end)
    if size is None:
        return
    left = size + min(begin, 0) + min(end, 0)
    where = f"axis {axis}: {begin}, {end} of {plural(size, 'element')}"
    others = "another mode than constant"
    if not size and modes != (Mode.CONSTANT,) and (begin or end or Mode.WRAP in modes):
        yield _find(pad, "empty axis", mode=pad.mode.value if pad.mode else others, where=where)
    if pad.mode is Mode.REFLECT and max(begin, end) > max(left - 1, 0):
        yield _find(pad, "reflect beyond", where=where)
    if modes != (Mode.CONSTANT,) and begin + size + end == 0 and size:
        yield _find(pad, "cropped to nothing", axis=axis, mode=f"mode {pad.mode.value}" if pad.mode else others)
    if size and left < 0 or (left < size and left == 0 and begin + size + end > 0):
        yield _find(pad, "nothing left by a crop", where=where)
    if Mode.WRAP in modes and begin > left:
        yield _find(pad, "wrap beyond in front", where=where)


def needs(pad: PadInfo, found: RunsAs) -> str | None:
    """Return why some release of ONNX Runtime does not run this Pad as specified; None if all releases do."""
    return next((fault.why for fault in _faults(pad, found)), None)


def judge(pad: PadInfo, found: RunsAs, minor: int, optimised: bool = True) -> tuple[Verdict, str]:
    """Return the verdict of ONNX Runtime 1.``minor`` on a Pad, and the reason, with or without graph optimisation."""
    if pad.type is not None and (since := by_name(pad.type).since) > minor:
        return "refuses", f"onnxruntime 1.{minor} has no tensor({pad.type}); 1.{since} has"
    rows = [row for row in _faults(pad, found) if optimised or not row.by_optimiser]
    faults = [row for row in rows if row.since <= minor and (row.before is None or minor < row.before)]
    for fault in faults:
        if fault.does not in ("runs", "runs if"):
            return ("may be wrong" if minor < fault.may_be_wrong_before else fault.does), fault.why
    found_limits = [] if pad.type is not None else [f"ONNX Runtime has a Pad of their type at opset {found.opset}"]
    found_limits += [UNTOLD] if found.external and pad.dims is None else limits(pad, minor)
    text = "ONNX Runtime runs it" + (f", as long as {' and '.join(found_limits)}" if found_limits else "")
    return ("runs if" if found_limits else "runs"), "; ".join([text, *(fault.why for fault in faults)])


def reaches_provider(pad: PadInfo, found: RunsAs, minor: int) -> bool:
    """Return whether ONNX Runtime 1.``minor`` asks padops' provider about a Pad before it might refuse the model."""
    if minor < FIRST_MINOR or (pad.type is not None and by_name(pad.type).since > minor):
        return False
    if found.domain == MICROSOFT:
        return pad.type in (None, *IN_SCHEMA[MICROSOFT])
    return loads(pad, found)


def loads(pad: PadInfo, found: RunsAs) -> bool:
    """Return whether ONNX Runtime offers a Pad of ONNX to providers rather than refusing the model."""
    in_schema = pad.type in (None, *OPS[onnx_op(found.opset)].types)
    unread = found.external or _is_row(pad) or _has_int32_axes(pad) or any(_open_axes(pad))
    return in_schema and not unread


def runs(pad: PadInfo) -> str:
    """Return why a Pad needs no conversion: every ONNX Runtime release runs it, under the listed conditions."""
    text = f"ONNX Runtime runs it: {pad.type}, {pad.mode.value if pad.mode else 'the caller sets the mode'}"
    found = limits(pad)
    return f"{text}, as long as {' and '.join(found)}" if found else text


FILLS = tuple(when for when, row in CONDITIONS.items() if row["of"] == "fill")


def _fill_holds(when: str, pad: PadInfo) -> bool | None:
    """Return whether the condition ``when``, one of ``FILLS``, holds for the fill; None if the model leaves it open."""
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
    given, array = pad.inputs[position], pad.known_fill
    if given is None or (when == "bare fill not one" and pad.input("axes") is not None):
        return False
    if when.startswith("computed"):
        scalar = when == "computed fill" or (None if pad.fill_dims is None else not pad.fill_dims)
        return array is None and scalar
    if when == "rounded fill":
        return array is not None and array.size == 1 and _is_rounded(array.reshape(()))
    if when == "endless value":
        return False
    count = prod(pad.fill_dims) if all_known(pad.fill_dims) else None
    return None if count is None else count == 0 if when == "fill empty" else count != 1


def _is_rounded(fill: np.generic | np.ndarray) -> bool:
    """Return whether a provider that reads the fill as a float would change it: the fill is rounded, large, or -0."""
    if fill.dtype.name in ("float32", "float16"):
        return bool(fill == 0 and np.signbit(fill))
    if fill.dtype.name not in ("int32", "uint32", "int64"):
        return False
    number = int(fill)
    return int(np.float32(number)) != number or not -(1 << 31) <= number < 1 << 31


# For each behaviour of a provider in a rule, the verdict and the words for it.
DOES: dict[str, tuple[Verdict, str]] = {
    "refuses": ("refuses", "refuses it"), "wrong": ("wrong", "gets it wrong"), "dies": ("refuses", "ends the process")
}  # fmt: skip


def ask(pad: PadInfo, found: RunsAs, providers: Sequence[str], minor: int, rules: Rules) -> tuple[Verdict, str, str]:
    """Predict how a session of onnxruntime 1.``minor`` without padops runs a Pad.

    The session runs the Pad as the operator ``found``; ``rules`` has the rules of each provider. ``providers`` has the
    session's providers, first choice first, the CPU provider last. The result is the verdict; its reason; and the
    provider that runs the Pad in a ``padops.InferenceSession`` with the same providers ("": none).
    """
    unknown: list[str] = []
    reached = reaches_provider(pad, found, minor)
    answer: tuple[Verdict, str, str] = (*judge(pad, found, minor), EP_NAME if reached else "")
    for name in providers:
        if name in (CPU, EP_NAME, FIRST_NAME):
            break
        if name != OPERATORS_NAME and name not in rules:
            unknown.append(name)
        elif name != OPERATORS_NAME and found.domain == "" and loads(pad, found):
            fault = find_fault(rules[name], pad, found, minor)
            if fault is None:
                answer = "runs", f"{name} runs it", name
                break
            rule, sure = fault
            if rule.does != "leaves":
                surely, does = DOES[rule.does]
                text = f"{name} {does}{'' if sure else ', or may do so with other data'} ({said_of(rule)})"
                answer = surely if sure else "may be wrong", text, FIRST_NAME if reached else ""
                break
    verdict, why, runner = answer
    if unknown:  # these providers may claim the Pad
        why = f"unless {' or '.join(unknown)}, for which padops has no rules, runs it: {why}"
    return verdict, why, runner


def said_of(rule: ProviderRule) -> str:
    what = CONDITIONS[rule.when].get("said", rule.when).format(limit=rule.limit)
    return f"mode {' or '.join(rule.modes)}: {what}" if rule.modes else what


def find_fault(row: KnownProvider, pad: PadInfo, found: RunsAs, minor: int) -> tuple[ProviderRule, bool] | None:
    """Return the first rule by which a provider surely leaves a Pad or may fail, and whether the rule surely holds."""
    for rule in row.rules:
        if rule.before and minor >= rule.before:
            continue
        in_modes = [not rule.modes or mode.value in rule.modes for mode in pad.known_modes]
        if not any(in_modes):
            continue
        holds = _holds(rule, pad, found)
        sure = None if holds and not all(in_modes) else holds
        if sure or (sure is None and rule.does != "leaves"):
            return rule, bool(sure)
    return None


def _holds(rule: ProviderRule, pad: PadInfo, found: RunsAs) -> bool | None:
    """Return whether a rule holds for a Pad, ignoring the rule's modes; None if the model leaves this open."""
    version = int(onnx_op(found.opset).removeprefix("Pad_"))
    amounts = known_amounts(pad) if pad.node is not None and pad.dims is not None else None
    dims, operators, when = pad.dims, pad.around.operators, rule.when
    rank, has_axes = None if dims is None else len(dims), pad.input("axes") is not None
    rows = {
        "always": True,
        "axes": has_axes,
        "axes and fill": has_axes and pad.input(pad.op.fill) is not None,
        "axes beside": None if has_axes and not operators.isdisjoint(rule.types) else False,
        "open rank": rank is None,
        "open dims": dims is None or None in dims,
        "computed": amounts is None,
        "rank above": None if rank is None else rank > rule.limit,
        "rank below": rank is not None and rank < rule.limit,
        "sizes above": False if rank is not None and rank <= rule.limit else None,
        "above": version > rule.limit,
        "below": version < rule.limit,
        "other types": None if pad.type is None else pad.type not in rule.types,
        "nodes behind": False if rule.types and operators and operators <= {*rule.types} else None,
        "in a body": pad.around.in_body,
    }
    if when in rows:
        return rows[when]
    if when in FILLS:
        return _fill_holds(when, pad)
    if when in ("axes but all", "axes turned"):
        return _axes_hold(when, pad, amounts) if has_axes else False
    if when == "empty":
        added = amounts or [Amounts(0, 0)] * (rank or 0)
        known = [(dim, dim + row.begin + row.end) for dim, row in zip(dims or (), added) if dim is not None]
        return any(0 in sizes for sizes in known)  # of the data or the output
    if when == "empty axis" and 0 not in (dims or ()):
        return False
    holds = None if amounts is None else _amounts_hold(when, pad, amounts)
    return None if holds and when == "cut away" else holds


def _axes_hold(when: str, pad: PadInfo, amounts: Sequence[Amounts] | None) -> bool | None:
    """Return whether ``axes`` omits an axis, or is in an order that matters; None if the model leaves this open."""
    axes = pad.input("axes")
    if pad.dims is None:
        return None
    rank, count = len(pad.dims), (pad.pads_dims or [None])[-1]
    if isinstance(axes, np.ndarray):
        named = [int(axis) + rank * (int(axis) < 0) for axis in axes.reshape(-1)]
    elif count is not None and count != 2 * rank:
        named = [-1]  # an axis that no Pad has
    else:
        return None
    if when == "axes but all":
        return sorted(named) != list(range(rank))
    if amounts is None:
        return named != sorted(named)
    turned = [amounts[axis] for axis in named if 0 <= axis < len(amounts)] != list(amounts)
    # With amounts in the wrong order, a reflection may exceed its axis; the provider then refuses the Pad.
    return None if turned and pad.mode is Mode.REFLECT else turned


def _amounts_hold(when: str, pad: PadInfo, amounts: Sequence[Amounts]) -> bool | None:
    """Return whether a condition on the amounts holds for at least one axis; None if the model leaves this open."""
    if when == "crop":
        return any(row.crops for row in amounts)
    answer: bool | None = False
    for dim, row in zip(pad.dims or (), amounts):
        cropped, added = row.crops, max(row.begin, row.end)
        # Skip an axis whose amounts meet the condition at no size.
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
