"""The oracle: every Pad of padops in NumPy, rule by rule and without any concern for speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from padops.spec.dialects import OPS, Node, make_node_plan
from padops.spec.dtypes import by_numpy
from padops.spec.plan import Mode, Plan, source_index


def run(op_type: str, attributes: Mapping[str, Any], inputs: Sequence[np.ndarray | None], node: str = "") -> np.ndarray:
    """Run one operator of the domain ``padops`` on NumPy arrays.

    Args:
        op_type: A key of ``padops.OPS``.
        attributes: The attributes given to the node.
        inputs: The inputs in the operator's order; an absent optional input is None, or is left out at the end.
        node: The node's name, for error messages.

    Returns:
        The output, of the type of ``inputs[0]``; elements are copied bit for bit (P7).

    Raises:
        PadError: The node breaks a rule. Too many inputs break P8; an unknown attribute breaks P9.
        KeyError: The operator does not exist.
    """
    if op_type not in OPS:
        raise KeyError(f"padops has no operator {op_type!r}, expected one of {', '.join(OPS)}")
    op = OPS[op_type]
    arrays = [None if array is None else np.asarray(array) for array in inputs]
    this = Node(op, node, attributes, arrays)
    names = [row.name for row in op.attributes]
    if unknown := [name for name in attributes if name not in names]:
        raise this.error("P9", f"attribute {unknown[0]} is unknown, expected {' or '.join(names)}")
    if len(arrays) > len(op.inputs):
        raise this.error("P8", f"{len(arrays)} inputs, expected at most {len(op.inputs)}")
    data = arrays[0] if arrays else None
    if data is None:
        raise this.error("P8", f"input {op.inputs[0].name} is required")
    dtype = by_numpy(data.dtype)
    if dtype is None or dtype.name not in op.types:
        raise this.error("T", f"data is {data.dtype.name}, expected one of {', '.join(op.types)}")
    fill = read_inputs(this, data.dtype)
    plan = make_node_plan(this, data.shape)
    try:
        return execute(plan, data, fill)
    except MemoryError:
        size = (prod(plan.shape) * (dtype.bits or 64) + 7) // 8
        raise this.error("P10", f"no memory for an output of shape {[*plan.shape]} ({size} bytes)") from None


run_reference = run  # its name in ``padops``


def execute(plan: Plan, data: np.ndarray, fill: np.ndarray) -> np.ndarray:
    """Execute ``plan``, which was made for the shape of ``data``; ``fill`` is one element, of rank 0."""
    if not data.size or 0 in plan.shape:
        return np.full(plan.shape, fill, data.dtype)
    output = np.full(plan.shape, fill, data.dtype)
    sources = [source_index(axis, plan.mode, np.arange(axis.output)) for axis in plan.axes]
    targets = [np.flatnonzero(source >= 0) for source in sources]
    output[np.ix_(*targets)] = data[np.ix_(*(source[target] for source, target in zip(sources, targets)))]
    return output


def read_inputs(node: Node, dtype: np.dtype) -> np.ndarray:
    """Check the inputs in the operator's order (P9, P8, P7), and return the fill: rank 0, of type ``dtype``."""
    mode = node.mode()
    fill = np.array("", object) if dtype.kind in "OUT" else np.zeros((), dtype)
    if node.op.input_index(node.op.fill) is None:
        # Pad_1 and Pad_2: a float attribute, rounded once to the type of the data.
        with np.errstate(over="ignore"):
            fill = np.asarray(node.attribute(node.op.fill), np.float32).astype(dtype)
    for i, row in enumerate(node.op.inputs[1:], 1):
        array = node.inputs[i] if i < len(node.inputs) else None
        if row.kind != "T":
            node.integers(row.name)
        elif array is None and not row.optional:
            raise node.error("P8", f"input {row.name} is required")
        elif array is not None and mode is Mode.CONSTANT:  # one element of the data's type, copied, never converted
            if array.size != 1:
                raise node.error("P7", f"{row.name} has {array.size} elements, expected one")
            if by_numpy(array.dtype) is not by_numpy(dtype):
                raise node.error("T", f"{row.name} is {array.dtype.name}, but data is {dtype.name}")
            fill = array.astype(object).reshape(()) if dtype.kind in "OUT" else array.reshape(())
    return fill
