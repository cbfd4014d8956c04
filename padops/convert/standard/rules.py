"""What breaks a rule whatever the data are, and so is refused before it runs, in the words of the kernel."""

from __future__ import annotations

from math import prod

import numpy as np

from padops.convert.pads.operands import all_known
from padops.convert.pads.pad_info import PadInfo
from padops.spec import plan
from padops.spec.plan import Mode, PadError


def check(pad: PadInfo) -> None:
    """Refuses a Pad that no data of its type and rank can make right.

    Raises:
        PadError: Which rule it breaks: of P6, P8 and S1 what attributes do, and P7.
    """
    op, dims, node = pad.op, pad.fill_dims, pad.node
    if all_known(dims) and prod(dims) != 1 and pad.known_modes == (Mode.CONSTANT,):
        raise PadError("P7", f"{op.fill} has {prod(dims)} elements, expected one", op.name, pad.name)
    if node is None or (rank := _rank(pad)) is None:
        return
    interiors = [plan.Amounts(0, 0, amounts.interior) for amounts in op.amounts(node, [1] * rank)]
    try:
        plan.make_plan([1] * rank, interiors, pad.known_modes[0], op.crop)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


def _rank(pad: PadInfo) -> int | None:
    """The rank of the data or, where nothing says it, one that the attributes or the axes allow for."""
    if pad.dims is not None:
        return len(pad.dims)
    if isinstance(axes := pad.input("axes"), np.ndarray):
        return 2 * int(np.abs(axes).max(initial=0)) + 1  # where none of those from the end meets one from the beginning
    for name, more in (("padding_below", 0), ("kernel_shape", 2)):
        if pad.has_attribute(name):
            return len(pad.attributes[name].value) + more
    return None
