"""One Pad in what an execution provider runs right on its device, by the rules of ``padops/runtime/provider_rules.py``.

A Pad that the provider runs right stays; so does one that it runs in another form, without axes. Any other becomes parts of the
data (``parts.py``), which the providers take, or what the amounts and the shape need where they are not known. What the
provider takes in no form, such as a type that it does not have, becomes what ONNX Runtime's processor runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from padops.convert.sources.beside_rules import find_fault, said_of
from padops.convert.sources.builtin_support import has_modes, known_amounts, taking_pooling
from padops.convert.sources.match import RunsAs, Unneeded
from padops.convert.sources.operands import Operand, all_known
from padops.convert.sources.pad_info import PadInfo
from padops.convert.standard import lowering
from padops.convert.standard.arithmetic import ints
from padops.convert.standard.graph_builder import GraphBuilder
from padops.convert.standard.lowering import Way
from padops.runtime.provider_rules import KnownProvider, ProviderRule
from padops.spec.dialects import OPS, onnx_op, onnx_pad
from padops.spec.plan import Amounts, Limit, Mode

ANY_RELEASE = 0  # of onnxruntime: no rule is taken for mended
NEGATIVE = (Amounts(-1, -1),)  # for amounts that are not known

# What keeps a provider from a node of any operator: no other nodes help.
OF_ALL_NODES = ("open rank", "open dims", "computed")
NOT_RUN = "by rules that were not run"


@dataclass(frozen=True)
class Choice:
    """What becomes of a Pad.

    Attributes:
        way: What there is to be of it; None where it stays.
        left: What keeps the provider from it in any form, in words; "" where it takes what becomes of the Pad.
    """

    way: Way | None
    left: str = ""


def choose(pad: PadInfo, plain: bool, row: KnownProvider, opset: int) -> Choice:
    """What becomes of a Pad.

    Args:
        pad: The Pad.
        plain: Whether it is ONNX's Pad now.
        row: The provider.
        opset: Of the model.
    """
    found = RunsAs("", opset)
    if plain and not lowering.is_changed(pad) and find_fault(row, pad, found, ANY_RELEASE) is None:
        return Choice(None)
    standard = _is_of_standard(pad, opset)
    fault = find_fault(row, _without_axes(pad, standard), found, ANY_RELEASE)
    if standard and fault is None and not taking_pooling(pad):
        return Choice(Way.PAD)
    left = fault is None or fault[0].does == "leaves"
    if fault is not None and left and (fault[0].when in OF_ALL_NODES or _of_all_pads(fault[0])):
        return Choice(Way.ANY, said_of(fault[0]))
    if row.moves and pad.type not in row.moves and left:
        return Choice(Way.ANY, f"any node of {pad.type}")
    return Choice(Way.PARTS)


def _of_all_pads(rule: ProviderRule) -> bool:
    return rule.when == "always" and not rule.modes


def write(builder: GraphBuilder, pad: PadInfo, plain: bool, row: KnownProvider) -> tuple[Operand, str]:
    """Writes a Pad.

    Args:
        builder: Where to.
        pad: The Pad.
        plain: Whether it is ONNX's Pad now.
        row: The provider.

    Returns:
        The output, and what there is to say of the provider; "" where there is nothing.

    Raises:
        Unconvertible: It breaks a rule, or the opset has no way to do it.
        Unneeded: The provider runs it right.
    """
    choice = choose(pad, plain, row, builder.opset)
    if choice.way is None:
        raise Unneeded(_with(f"{row.name} runs it", row))
    builder.has_pad = choice.way is not Way.PARTS
    output = lowering.write(builder, pad, plain, choice.way)
    said = f"{row.name} leaves it ({choice.left})" if choice.left else ""
    return output, _with(said, row)


def _with(said: str, row: KnownProvider) -> str:
    """With that nobody has run the rules, where that is so."""
    return said if row.was_run else ", ".join(filter(None, (said, NOT_RUN)))


def _is_of_standard(pad: PadInfo, opset: int) -> bool:
    """Whether the standard has a Pad at an opset that does the same, where the amounts of all axes are given to it."""
    if pad.mode is None or pad.may_have_interior or not has_modes(pad, opset):
        return False
    if pad.type not in OPS[onnx_op(opset)].types:
        return False
    if pad.op.amounts.__module__ == onnx_pad.__name__ or pad.mode is Mode.CONSTANT:
        return True
    checked = pad.op.limit is Limit.NONE or all_known(pad.dims)
    return checked and bool(pad.dims) and all(min(row.begin, row.end) >= 0 for row in known_amounts(pad) or NEGATIVE)


def _without_axes(pad: PadInfo, same_mode: bool) -> PadInfo:
    """A Pad of all axes, to be judged: of the same mode, or else a constant one."""
    amounts = known_amounts(pad) if pad.node is not None else ()
    flat = ints(*(row.begin for row in amounts), *(row.end for row in amounts))
    inputs: list[Operand | None] = [pad.data, flat if amounts else pad.data, None, None]  # the data stand for what is not known
    modes = (pad.mode.value,) if same_mode and pad.mode is not None else ("constant",)
    return replace(pad, op=OPS["Pad_25"], inputs=inputs, given=inputs, attributes={}, modes=modes)
