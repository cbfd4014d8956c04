"""``auto_pad`` SAME_UPPER and SAME_LOWER become amounts that are written out, by rule S1.

A source of the converter that is asked only with ``auto_pad="explicit"``. A node comes out in one of three ways:

- **explicit pads**: all amounts are known. They are where the size is; and where it is not but the stride is 1, or
  every size begins with the same amount.
- **SamePad_1** in front of the node, which then pads nothing itself: the amounts follow from the shape at run time. It
  fills with what the operator reads outside its data: 0, the zero point, or the lowest value of the type.
- **explicit pads, by size**: an If that chooses between nodes with explicit pads, where the data cannot be padded: of
  an AveragePool that counts only data; of a MaxPool that gives indices, is in a function, where types are unknown, or
  is of double.

Bits stay as they are wherever ONNX Runtime computes SAME rightly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.sources.auto_pad.amounts import Amount, transposed
from padops.convert.sources.auto_pad.operators import OPERATORS
from padops.convert.sources.auto_pad.reading import Reading, read, read_mode
from padops.convert.sources.auto_pad.rewrites import Choices, by_size, explicit, same_pad
from padops.convert.sources.match import Emit, Match, Rewrite, Unconvertible

MOST_BRANCHES = 64
EXPLICIT = "explicit pads"


def find(site: NodeSite, types: Types) -> Match | None:
    """Recognises a node that pads SAME; others, those with VALID or without auto_pad included, are no concern of it."""
    node = site.node
    operator = OPERATORS.get((node.domain, node.op_type))
    if operator is None or "auto_pad" not in node.attributes:
        return None
    name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    try:
        mode = read_mode(site)
        if mode is None:
            return None
        return _finding(f"{name} auto_pad={mode}", read(site, operator, mode, types))
    except Unconvertible as why:
        return Match(f"{name} auto_pad={node.attributes['auto_pad'].value or 'of the caller'}", reason=str(why))


def _finding(form: str, reading: Reading) -> Match:
    """What the node is to become.

    Raises:
        Unconvertible: Nothing that does the same.
    """
    if reading.operator.transposed:
        amounts = [transposed(axis, more, reading.mode) for axis, more in zip(reading.axes, reading.output_padding)]
        if None in amounts:
            raise Unconvertible(
                "its stride is larger than its kernel with output_padding, so that there is nothing to crop; ONNX, its "
                "reference and TensorFlow do not agree on the elements that are missing"
            )
        return _explicit(form, reading, amounts)
    choices = [axis.amounts(reading.mode) for axis in reading.axes]
    fits = not reading.operator.pooling or all(map(_fits, choices, (axis.kernel for axis in reading.axes)))
    if fits and all(choice is not None and len(choice) == 1 for choice in choices):
        return _explicit(form, reading, [choice[0] for choice in choices])
    if reading.unpadded:
        return _by_size(form, reading, choices, fits)
    notes = () if fits else ("ONNX Runtime takes no pads as large as the kernel",)
    return Match(form, _edit("SamePad_1", reading, partial(same_pad, reading=reading)), notes=notes)


def _fits(choice: list[Amount] | None, kernel: int) -> bool:
    """Whether ONNX Runtime takes the amounts for a pooling."""
    return choice is None or all(amount.begin < kernel and amount.end < kernel for amount in choice)


def _explicit(form: str, reading: Reading, amounts: list[Amount]) -> Match:
    pads = [amount.begin for amount in amounts] + [amount.end for amount in amounts]
    return Match(form, _edit(EXPLICIT, reading, partial(explicit, pads=pads)), notes=(f"pads {pads}",))


def _by_size(form: str, reading: Reading, choices: Choices, fits: bool) -> Match:
    told = f"it {reading.unpadded}"
    if not fits:
        raise Unconvertible(f"{told}, and ONNX Runtime takes no pads as large as the kernel")
    if None in choices:
        raise Unconvertible(f"{told}, and its strides leave too many amounts to choose from")
    if (branches := prod(map(len, choices))) > MOST_BRANCHES:
        raise Unconvertible(f"{told}, and there are {branches} amounts to choose from, more than {MOST_BRANCHES}")
    if reading.opset is None or reading.opset < 7:
        raise Unconvertible(f"{told}, and opset {reading.opset} cannot choose by size")
    notes = (f"an If chooses between {branches} pads by the size; {told}",)
    return Match(form, _edit(EXPLICIT, reading, partial(by_size, reading=reading, choices=choices)), notes=notes)


def _edit(op_type: str, reading: Reading, apply: Callable[[NodeSite, Constants, Emit], Sequence[ir.Node]]) -> Rewrite:
    """The edit, with what ONNX Runtime makes of the node as it is (measured with onnxruntime 1.31.1)."""
    needed = None
    pooling = reading.operator.pooling
    if reading.operator.transposed:
        pass  # right by itself
    elif any(axis.dilation > 1 for axis in reading.axes):
        needed = "ONNX Runtime refuses SAME with a dilation"
        if pooling:
            needed = "ONNX Runtime computes SAME as if there were no dilation"
    elif pooling and any(axis.least < 0 for axis in reading.axes):
        needed = "ONNX Runtime pads by a negative amount where the stride is larger than the kernel"
    return Rewrite(op_type, apply, needed, "ONNX Runtime pads it rightly by itself", corrects=pooling)
