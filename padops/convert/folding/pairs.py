"""Joins two successive Pads of which only the second is read: for any shape, one Pad does what both do.

- **constant** with the same fill, if the first only adds: it adds fill, and the second adds more of it or crops. So the
  amounts are summed, for any signs of the second's.
- **edge**, if both only add: the last element of the first's output is the last element of the data.
- **any mode**, if both only add, on different axes: each axis has a map of its own (P2). Both must be of ONNX, of
  OpenVINO or of nGraph, which limit the amounts differently (P4).

On the same axis, reflect and symmetric continue from the elements that the first has added, with another period; they
are never one Pad, and wrap neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from padops.convert.folding.candidate import NOTHING, Candidate, sum_of
from padops.convert.folding.forms import can_write_amounts, write_amounts
from padops.convert.model.constants import Constants
from padops.spec.plan import Amounts, Mode


def join(first: Candidate, second: Candidate, constants: Constants) -> tuple[ir.Node, ...] | None:
    """Gives the second Pad the amounts of both; the caller then removes the first.

    Returns:
        The changed nodes; None if the Pads cannot be joined.
    """
    uses = first.site.scope.index.last_uses(first.output)
    one_after_the_other = len(uses) == 1 and not first.output.is_graph_output()
    if not one_after_the_other or second.site.node.graph is not first.site.node.graph:
        return None
    if first.amounts is None or second.amounts is None or not _may_join(first, first.amounts, second, second.amounts):
        return None
    if not can_write_amounts(second):
        return None
    write_amounts(second, sum_of(first.amounts, second.amounts), constants)
    return (second.site.node,)


def _may_join(
    first: Candidate, first_amounts: Sequence[Amounts], second: Candidate, second_amounts: Sequence[Amounts]
) -> bool:
    if first.mode is None or first.mode is not second.mode or not first.only_adds:
        return False
    if not first_amounts or len(first_amounts) != len(second_amounts):
        return False
    if any(amounts.interior for amounts in second_amounts):
        return False
    if first.mode is Mode.CONSTANT:
        return first.fill is not None and first.fill == second.fill
    if not second.only_adds:
        return False
    if first.mode is Mode.EDGE:
        return True
    apart = all(NOTHING in pair for pair in zip(first_amounts, second_amounts, strict=True))
    return apart and first.op.limit is second.op.limit
