"""The reference's answer for tensors that its loops in Python are too slow for: the same rules, the map by NumPy.

What is checked, and the plan, are ``padops.spec.reference``'s own; only the positions come from arrays instead of one
call of ``source_index`` for each. ``tests/csrc/test_session_fuzz.py`` compares the two on all that is small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from padops.spec import reference
from padops.spec.dialects import OPS, Node, make_node_plan
from padops.spec.plan import AxisPlan, Mode, Plan

FEW = 4000  # positions of all axes together that the reference itself maps in a few milliseconds


def run(op_type: str, attributes: Mapping[str, Any], inputs: Sequence[np.ndarray | None], node: str = "") -> np.ndarray:
    """What ``padops.spec.reference.run`` gives.

    Raises:
        PadError: A rule is broken.
    """
    data = inputs[0]
    this = Node(OPS[op_type], node, attributes, list(inputs))
    fill = reference.read_inputs(this, data.dtype)
    plan = make_node_plan(this, data.shape)
    return reference.execute(plan, data, fill) if sum(plan.shape) <= FEW else execute(plan, data, fill)


def execute(plan: Plan, data: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """Takes the elements axis by axis, the axis that shrinks most first, and puts the fill where it belongs."""
    if 0 in plan.shape:
        return np.empty(plan.shape, data.dtype)
    maps = [positions(axis, plan.mode) for axis in plan.axes]
    output = data
    for i in sorted(range(len(maps)), key=lambda i: len(maps[i]) / max(data.shape[i], 1)):
        output = taken(output, i, maps[i], fill)
    return output


def taken(data: np.ndarray, axis: int, wanted: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """``data`` at the wanted positions of one axis; -1 stands for the fill."""
    if len(wanted) == data.shape[axis] and (wanted == np.arange(len(wanted))).all():
        return data
    shape = (*data.shape[:axis], len(wanted), *data.shape[axis + 1 :])
    output = np.empty(shape, data.dtype)
    shown = wanted >= 0
    before = (slice(None),) * axis
    if shown.all():
        output[...] = data[(*before, wanted)]
    else:
        output[...] = fill
        output[(*before, shown)] = data[(*before, wanted[shown])]
    return output


def positions(axis: AxisPlan, mode: Mode) -> np.ndarray:
    """Return the source of each output position of an axis, -1 for the fill: ``source_index`` for arrays (P2, P6)."""
    offset = np.arange(axis.output, dtype=np.int64) - axis.begin
    extent = axis.extent
    if axis.interior:
        offset, gap = np.divmod(offset, axis.interior + 1)
        return np.where((gap == 0) & (offset >= 0) & (offset < extent), axis.start + offset, -1)
    inside = (offset >= 0) & (offset < extent)
    if mode is Mode.CONSTANT:
        return np.where(inside, axis.start + offset, -1)
    if mode is Mode.EDGE:
        offset = np.clip(offset, 0, extent - 1)
    elif mode is Mode.WRAP:
        offset %= max(extent, 1)
    elif mode is Mode.SYMMETRIC:
        offset %= max(2 * extent, 1)
        offset = np.minimum(offset, 2 * extent - 1 - offset)
    elif mode is Mode.REFLECT:
        turned = offset % max(2 * (extent - 1), 1)
        offset = np.where(inside, offset, np.minimum(turned, 2 * (extent - 1) - turned))
    return axis.start + offset
