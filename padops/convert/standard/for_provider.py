"""One Pad in what an execution provider runs right on its device, by its rules in ``padops/rules/``.

A Pad that the provider runs right stays; so does one that it runs in another form, without axes. Any other becomes
parts of the data (``parts.py``), which the providers take, or what the amounts and the shape need where they are not
known. What the provider takes in no form, such as a type that it does not have, becomes what ONNX Runtime's processor
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod

import onnx_ir as ir

from padops.convert.pads.match import RunsAs
from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.surroundings import ALONE
from padops.convert.runtimes.beside_rules import FILLS, find_fault, said_of
from padops.convert.runtimes.builtin_rules import judge, reaches_provider
from padops.convert.runtimes.builtin_support import (
    EXACT_CASTS,
    FIRST_WITH_INPUTS,
    has_modes,
    known_amounts,
    taking_pooling,
)
from padops.convert.standard.numbers import emit, ints, reshape
from padops.runtime.installed import NEWEST_MINOR
from padops.runtime.provider_rules import KnownProvider, ProviderRule
from padops.spec.dialects import OPS, make_node_plan, onnx_op, onnx_pad
from padops.spec.plan import Amounts, Limit, Mode

OLDEST = 20  # onnxruntime 1.20, whose Pad is the least right
ANY_RELEASE = 0  # of onnxruntime: no rule is taken for mended
NOTHING = Amounts(0, 0)
NEGATIVE = (Amounts(-1, -1),)  # for amounts that are not known
FIRST_WITH_KERNEL = 2  # before, Pad has another attribute, and no kernel

NO_BETTER = ("cut away",)  # the provider runs some of these Pads, and no lowered form of them
# Rules for nodes of any operator: no other nodes help.
OF_ALL_NODES = ("open rank", "open dims", "computed", "in a body")
NOT_RUN = "by rules that were not run"


class Way(Enum):
    """The form in which an execution provider takes a Pad."""

    ANY = "any"  # none is meant: what ONNX Runtime's processor runs right
    PAD = "Pad"  # one Pad of the standard
    CROPPED = "cropped"  # the same in mode constant, behind a Slice, so that it takes nothing away
    PARTS = "parts"  # what moves parts of the data; see ``parts.py``


@dataclass(frozen=True)
class Choice:
    """What becomes of a Pad."""

    way: Way | None  # the new form of the Pad; None if it stays
    left: str = ""  # why the provider takes it in no form; "" if it takes the new form


def choose(pad: PadInfo, may_stay: bool, row: KnownProvider, opset: int) -> Choice:
    """Decides what becomes of a Pad that breaks no rule, as far as is known.

    ``may_stay`` says whether the node is ONNX's Pad already, in the form of its version.
    """
    found = RunsAs("", opset)
    row = replace(row, rules=tuple(rule for rule in row.rules if rule.when not in NO_BETTER))
    if pad.dims == []:
        return Choice(Way.ANY)  # nothing is to be done
    as_it_is = pad.op.name == onnx_op(opset) and reaches_provider(pad, found, NEWEST_MINOR)
    stays = may_stay and as_it_is and not is_changed(pad)
    if stays and find_fault(row, pad, found, ANY_RELEASE) is None:
        return Choice(None)
    standard = _is_of_standard(pad, opset)
    judged = _without_axes(pad, standard, opset)
    fault = find_fault(row, judged, found, ANY_RELEASE)
    if standard and fault is None and not taking_pooling(pad):
        return Choice(Way.PAD)
    left = fault is None or fault[0].does == "leaves" or fault[0].when == "sizes above"
    if fault is not None and left and (fault[0].when in OF_ALL_NODES or _of_all_pads(fault[0])):
        if stays and judge(pad, found, OLDEST)[0] == "runs":
            return Choice(None, said_of(fault[0]))
        return Choice(Way.ANY if pad.mode in (Mode.CONSTANT, None) else Way.PARTS, said_of(fault[0]))
    if row.moves and pad.type is not None and pad.type not in row.moves and left:
        proxy, _ = EXACT_CASTS.get(pad.type, (None, 0))  # it takes what stands between the casts
        return Choice(Way.PARTS if proxy in row.moves else Way.ANY, f"any node of {pad.type}")
    of_fill = replace(row, rules=tuple(rule for rule in row.rules if rule.when in FILLS))
    if fault is not None and standard and _crops_elsewhere(fault, pad) and not taking_pooling(pad):
        if find_fault(of_fill, judged, found, ANY_RELEASE) is None:
            return Choice(Way.CROPPED)
    return Choice(Way.PARTS)


def is_changed(pad: PadInfo) -> bool:
    """Whether ONNX Runtime may make another thing of a Pad."""
    return bool(taking_pooling(pad)) or pad.open_axes or (pad.input("axes") is not None and pad.around.transposing)


def with_expandable_fill(pad: PadInfo, row: KnownProvider | None) -> PadInfo:
    """The Pad; a computed fill that the provider cannot expand gets a dim."""
    fill, scalars = pad.input(pad.op.fill), () if row is None else row.expands_no_scalar
    if pad.type not in scalars or not isinstance(fill, ir.Value) or pad.fill_dims != []:
        return pad
    inputs = [reshape(fill, ints(1)) if value is fill else value for value in pad.inputs]
    return replace(pad, inputs=inputs, given=inputs, fill_dims=[1])


def _crops_elsewhere(fault: tuple[ProviderRule, bool], pad: PadInfo) -> bool:
    """Whether a constant Pad is right behind a Slice that crops; the crop leaves some of each axis."""
    rule, sure = fault
    return pad.mode is Mode.CONSTANT and (rule.when == "crop" or (rule.when in ("cut beyond", "empty") and not sure))


def _of_all_pads(rule: ProviderRule) -> bool:
    return rule.when == "always" and not rule.modes


def rank_limit(pad: PadInfo, row: KnownProvider) -> int:
    """The most dims of the data that the provider takes, if the Pad has more and may be ``narrowed``; else 0."""
    limit = min((rule.limit for rule in row.rules if rule.when in ("rank above", "sizes above")), default=0)
    return limit if limit and len(pad.dims or ()) > limit and _can_be_narrowed(pad) else 0


def _can_be_narrowed(pad: PadInfo) -> bool:
    """Whether an ONNX Pad has known amounts and dims, adds or crops something, and has an output with elements."""
    if pad.op.amounts.__module__ != onnx_pad.__name__ or pad.node is None or pad.mode is None:
        return False
    if not all_known(pad.dims):
        return False
    shape = make_node_plan(pad.node, pad.dims).shape
    return 0 not in (*pad.dims, *shape) and any(one != NOTHING for one in known_amounts(pad))


def narrowed(pad: PadInfo, limit: int, write: Callable[[PadInfo], Operand]) -> ir.Value:
    """A Pad of data with at most ``limit`` dims: neighbours without padding become one dim, until ``write`` is done."""
    assert all_known(pad.dims), "only such a Pad is narrowed"
    amounts, dims = known_amounts(pad), [*pad.dims]
    to_pad = [i for i, one in enumerate(amounts) if one != NOTHING]
    value: Operand = pad.data
    for axes in [to_pad] if len(_groups(to_pad, len(dims))) <= limit else [[i] for i in to_pad]:
        groups = _groups(axes, len(dims))
        shape = [prod(dims[i] for i in group) for group in groups]
        rows = [amounts[group[0]] if group[0] in axes else NOTHING for group in groups]
        narrow = reshape(value, ints(*shape))
        assert isinstance(narrow, ir.Value), "the data are not known"
        value = write(_plain_pad(pad, narrow, shape, rows))
        for i in axes:
            dims[i] += amounts[i].begin + amounts[i].end
        value = emit("Reshape", [value, ints(*dims)])
    assert isinstance(value, ir.Value), "something is padded"
    return value


def _groups(axes: Sequence[int], rank: int) -> list[list[int]]:
    """The axes of a tensor, those side by side together that are none of ``axes``."""
    groups: list[list[int]] = []
    for i in range(rank):
        if i and i not in axes and i - 1 not in axes:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _plain_pad(pad: PadInfo, data: ir.Value, dims: Sequence[int], amounts: Sequence[Amounts]) -> PadInfo:
    """A Pad of the same mode and fill, of other data."""
    assert pad.mode is not None, "only such a Pad is narrowed"
    flat = ints(*(one.begin for one in amounts), *(one.end for one in amounts))
    inputs: list[Operand | None] = [data, flat, _fill(pad), None]
    mode = {"mode": ir.AttrString("mode", pad.mode.value)}
    return replace(
        pad,
        op=OPS["Pad_25"],
        inputs=inputs,
        given=inputs,
        attributes=mode,
        dims=dims,
        rank=len(dims),
        modes=(pad.mode.value,),
        around=ALONE,
    )


def _fill(pad: PadInfo) -> Operand | None:
    """The fill; None for the default."""
    return pad.input(pad.op.fill) if pad.op.input_index(pad.op.fill) is not None else pad.known_fill


def note_of(said: str, row: KnownProvider) -> str:
    """A note about a provider; it also tells whether the provider's rules were not run."""
    return said if row.was_run else ", ".join(filter(None, (said, NOT_RUN)))


def _is_of_standard(pad: PadInfo, opset: int) -> bool:
    """Whether the standard has a Pad at an opset that does the same, where the amounts of all axes are given to it."""
    if pad.mode is None or pad.may_have_interior or not has_modes(pad, opset) or opset < FIRST_WITH_KERNEL:
        return False
    if pad.type not in OPS[onnx_op(opset)].types:
        return False
    if pad.op.amounts.__module__ == onnx_pad.__name__ or pad.mode is Mode.CONSTANT:
        return True
    checked = pad.op.limit is Limit.NONE or all_known(pad.dims)
    return checked and bool(pad.dims) and all(min(row.begin, row.end) >= 0 for row in known_amounts(pad) or NEGATIVE)


def _without_axes(pad: PadInfo, same_mode: bool, opset: int) -> PadInfo:
    """A Pad of all axes, to be judged: in the same or in constant mode, with the fill if the mode uses it."""
    amounts = known_amounts(pad) if pad.node is not None else ()
    flat = ints(*(row.begin for row in amounts), *(row.end for row in amounts))
    if pad.mode is Mode.CONSTANT and opset < FIRST_WITH_INPUTS and pad.attributes.get(pad.op.fill) is not None:
        value = pad.attributes[pad.op.fill]
        attributes = {"pads": ir.AttrInt64s("pads", flat.tolist()), value.name: value}
        return replace(
            pad, op=OPS["Pad_2"], inputs=[pad.data], given=[pad.data], attributes=attributes, modes=("constant",)
        )
    inputs: list[Operand | None] = [
        pad.data,
        flat if amounts else pad.data,  # the data stand for what is not known
        _fill(pad) if pad.mode is Mode.CONSTANT else None,
        None,
    ]
    modes = (pad.mode.value,) if same_mode and pad.mode is not None else ("constant",)
    return replace(pad, op=OPS["Pad_25"], inputs=inputs, given=inputs, attributes={}, modes=modes)
