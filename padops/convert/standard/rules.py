"""What breaks a rule whatever the data are, and so is refused before it runs, in the words of the kernel."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.standard.subject import Subject
from padops.spec import plan
from padops.spec.dialects import Node
from padops.spec.plan import Mode, PadError


def node_of(subject: Subject) -> Node | None:
    """The node as its dialect sees it, or None where some of that is not known before it runs."""
    if any(attribute.is_ref() for attribute in subject.attributes.values()):
        return None
    attributes = {key: attribute.value for key, attribute in subject.attributes.items()}
    inputs = [None if row.kind == "T" else value for row, value in zip(subject.op.inputs, subject.inputs, strict=True)]
    return None if any(isinstance(x, ir.Value) for x in inputs) else Node(subject.op, subject.name, attributes, inputs)


def check(subject: Subject) -> None:
    """Refuses a Pad that no data of its type and rank can make right.

    Raises:
        PadError: Which rule it breaks: of P6, P8 and S1 what attributes do, and P7.
    """
    op, dims, node = subject.op, subject.fill_dims, node_of(subject)
    if dims is not None and None not in dims and prod(dims) != 1 and subject.known_modes == (Mode.CONSTANT,):
        raise PadError("P7", f"{op.fill} has {prod(dims)} elements, expected one", op.name, subject.name)
    if node is None or (rank := _rank(subject)) is None:
        return
    interiors = [plan.Amounts(0, 0, amounts.interior) for amounts in op.amounts(node, [1] * rank)]
    try:
        plan.make_plan([1] * rank, interiors, subject.known_modes[0], op.crop)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


def _rank(subject: Subject) -> int | None:
    """The rank of the data or, where nothing says it, one that the attributes or the axes allow for."""
    if subject.dims is not None:
        return len(subject.dims)
    if isinstance(axes := subject.input("axes"), np.ndarray):
        return 2 * int(np.abs(axes).max(initial=0)) + 1  # where none of those from the end meets one from the beginning
    for name, more in (("padding_below", 0), ("kernel_shape", 2)):
        if subject.has_attribute(name):
            return len(subject.attributes[name].value) + more
    return None
