"""The table of the operators that move a window over their data and can pad by themselves.

Each operator reads a certain value outside its data. This value decides which Pad in front of the operator can replace
``auto_pad``, and which Pads ``folding.py`` can fold into the operator. The docstring of ``folding.py`` has
measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, attribute_value
from padops.convert.model.types import Types
from padops.convert.pads.match import MICROSOFT, Unconvertible, string_values
from padops.convert.pads.pad_info import all_known
from padops.plural import plural
from padops.spec.dialects import same_padding
from padops.spec.dtypes import by_name
from padops.spec.plan import LARGEST


@dataclass(frozen=True)
class WindowOperator:
    """How one operator pads its data."""

    # The value that the operator reads outside its data; "not counted": by default, an average counts only data.
    outside: Literal["zero", "zero point", "lowest", "not counted"] = "zero"
    # Whether ONNX Runtime accepts only amounts smaller than the kernel, and ignores dilations with SAME.
    pooling: bool = False
    weight: int | None = None  # the input whose shape determines the kernel if the attribute is absent
    zero_point: int | None = None  # the input with the zero point of the data
    # Whether the channels are the last axis, or the name of the attribute that states it.
    channels_last: bool | Literal["channels_last"] = False
    transposed: bool = False  # whether the amounts crop the output
    no_auto_pad: str | None = None  # why a node with ``auto_pad`` stays
    folds: bool = False  # whether the operator may absorb the amounts of a Pad
    no_fold: str | None = None  # why it may not absorb amounts; None if no reason is needed
    since: int = 0  # the first opset in which the operator can read ``outside``


NCHWC = "com.microsoft.nchwc"  # ONNX Runtime's domain of blocked data

WINDOW_OPERATORS: dict[tuple[str, str], WindowOperator] = {
    ("", "Conv"): WindowOperator(weight=1, folds=True),
    ("", "ConvInteger"): WindowOperator("zero point", weight=1, zero_point=2, folds=True),
    ("", "QLinearConv"): WindowOperator("zero point", weight=3, zero_point=2, folds=True),
    ("", "ConvTranspose"): WindowOperator(weight=1, transposed=True, no_fold="its pads crop the output"),
    ("", "MaxPool"): WindowOperator("lowest", pooling=True, folds=True),
    ("", "AveragePool"): WindowOperator("not counted", pooling=True, folds=True, since=7),  # count_include_pad
    ("", "LpPool"): WindowOperator(pooling=True),
    (MICROSOFT, "FusedConv"): WindowOperator(weight=1),
    (MICROSOFT, "NhwcConv"): WindowOperator(channels_last=True),
    (MICROSOFT, "NhwcFusedConv"): WindowOperator(channels_last=True),
    (MICROSOFT, "NhwcMaxPool"): WindowOperator("lowest", pooling=True, channels_last=True),
    (MICROSOFT, "QLinearAveragePool"): WindowOperator(
        "not counted", pooling=True, zero_point=2, channels_last="channels_last"
    ),
    (MICROSOFT, "QLinearConv"): WindowOperator("zero point", weight=3, zero_point=2, channels_last="channels_last"),
    (MICROSOFT, "MaxpoolWithMask"): WindowOperator(no_auto_pad="its mask would have to be padded with the data"),
    (MICROSOFT, "ConvTransposeWithDynamicPads"): WindowOperator(no_auto_pad="its amounts are an input"),
    **dict.fromkeys(
        ((NCHWC, "Conv"), (NCHWC, "MaxPool"), (NCHWC, "AveragePool")),
        WindowOperator(no_auto_pad=f"the domain {NCHWC} is ONNX Runtime's own; convert the unoptimised model"),
    ),
}

# Types whose lowest value is safe as a fill of a MaxPool. Floats are not safe: minus infinity may meet a NaN.
LOWEST_IS_EXACT = ("int8", "uint8")
MAX_STRIDES = 1 << 12  # the largest stride for which one size of each remainder is tried
OTHER_BITS = "changes the bits of results for NaN and minus infinity in padded data"
SAME = ("SAME_UPPER", "SAME_LOWER")
OTHERS = ("", "NOTSET", "VALID")
MISCOUNTED = "onnxruntime 1.21 to 1.24 count such padding of an AveragePool wrongly"


def is_miscounted(name: str, opset: int | None, pads: Sequence[int]) -> bool:
    """Return whether some release of ONNX Runtime counts these pads wrongly.

    The caller checks that the operator is one of ONNX's, and that the operator counts padding.

    From opset 19 on, where windows may be dilated, onnxruntime 1.21 to 1.24 (see ``model_words.MISCOUNTING``) end the
    windows of AveragePool's axis i after ``pads[2 * i + 1]`` elements of padding. The attribute ``pads`` lists all
    begins before all ends, so ``pads[2 * i + 1]`` is the end amount of axis i only for the last axis.
    """
    ends = len(pads) // 2
    return name == "AveragePool" and (opset or 19) >= 19 and any(pads[2 * i + 1] < pads[ends + i] for i in range(ends))


@dataclass(frozen=True)
class Amount:
    """The numbers of elements added before and after the data."""

    begin: int
    end: int
    # The amounts hold for sizes n with ``previous.below <= (n - 1) % stride < below``, or for any size if ``below`` is
    # None. The size 0 has the remainder stride - 1.
    below: int | None = None


@dataclass(frozen=True)
class Axis:
    """One spatial axis: its size (None if unknown), and the operator's kernel, stride and dilation along it."""

    size: int | None
    kernel: int
    stride: int
    dilation: int

    @property
    def extent(self) -> int:
        """The number of elements that the kernel spans, from the kernel's first element to its last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def min_total(self) -> int:
        """The sum of begin and end, before S1 replaces a negative sum by 0; the smallest sum if the size is unknown."""
        if self.size is not None:
            return (-(-self.size // self.stride) - 1) * self.stride + self.extent - self.size
        return self.extent - self.stride

    def amounts(self, mode: str, may_be_empty: bool) -> list[Amount] | None:
        """Return every pair of amounts that the axis may need; None if the stride has too many remainders to try.

        The sum of begin and end depends on the size n only through (n - 1) % stride. If two sizes need the same begin,
        their ends differ by at most one. Both sizes can use the larger end, because one more element at the end never
        makes room for another output. So only sizes with different begins need different amounts.

        An axis of 0 elements is an exception: one more element creates an output. So if the axis may be empty, the last
        remainder keeps its exact amounts, because size 0 has this remainder.
        """
        if self.size is not None or self.stride == 1:
            return [Amount(*self._same(self.size or 1, mode))]
        if self.stride > MAX_STRIDES:
            return None
        found: dict[int, Amount] = {}  # by begin; totals fall as the remainder rises
        for remainder in range(self.stride):
            begin, end = self._same(remainder + 1, mode)
            found[begin] = Amount(begin, max(end, found[begin].end if begin in found else 0), remainder + 1)
        rows = list(found.values())
        if may_be_empty and self.extent >= self.stride and rows[-1].end > end:
            rows[-1:] = [replace(rows[-1], below=self.stride - 1), Amount(begin, end, self.stride)]
        return rows if len(rows) > 1 else [Amount(a.begin, a.end) for a in rows]

    def crop(self, output_padding: int, mode: str) -> list[Amount] | None:
        """Return how to crop a transposed convolution to size * stride elements; None if its output is shorter."""
        total = self.extent + output_padding - self.stride
        if total < 0:
            return None
        begin = (total + (mode == "SAME_LOWER")) // 2
        return [Amount(begin, total - begin)]

    def _same(self, size: int, mode: str) -> tuple[int, int]:
        return same_padding(size, self.kernel, self.stride, self.dilation, mode)


class SameWindow:
    """A node with ``auto_pad``."""

    def __init__(self, site: NodeSite, operator: WindowOperator, mode: str, types: Types) -> None:
        """Read the node; raise ``Unconvertible`` if explicit amounts cannot replace its ``auto_pad``."""
        node = self.node = site.node
        self.operator, self.mode, self.opset = operator, mode, site.scope.opset
        if operator.no_auto_pad is not None:
            raise Unconvertible(operator.no_auto_pad)
        if "pads" in node.attributes:
            raise Unconvertible("it has auto_pad and pads, and ONNX allows only one of them; remove one")
        if not node.inputs or node.inputs[0] is None:
            raise Unconvertible("it has no data")
        if operator.transposed and "output_shape" in node.attributes:
            raise Unconvertible("output_shape sets the padding, which auto_pad only splits in two; remove output_shape")
        name = operator.channels_last
        last = bool(_value(node, name, ir.AttributeType.INT, 0)) if isinstance(name, str) else name
        given = dict(enumerate(node.inputs))
        kernel = _ints(node, "kernel_shape")
        if kernel is None:
            if operator.weight is None or last:
                raise Unconvertible("it has no kernel_shape")
            spatial = (types.shape(given.get(operator.weight)) or [])[2:]
            if not spatial or not all_known(spatial):
                raise Unconvertible("it has no kernel_shape, and the shape of its weights is not known")
            kernel = list(spatial)
        count, shape = len(kernel), types.shape(node.inputs[0])
        strides = _ints(node, "strides", count) or [1] * count
        dilations = _ints(node, "dilations", count) or [1] * count
        # The output_padding of a transposed convolution, for each spatial axis; zeros if the node has none.
        self.output_padding = (_ints(node, "output_padding", count) if operator.transposed else None) or [0] * count
        self.first = 1 if last else 2  # the position of the first spatial axis in the data
        if shape is not None and len(shape) != count + 2:
            expected = f"{count + 2} for a kernel of {plural(count, 'value')}"
            raise Unconvertible(f"its data have rank {len(shape)}, expected {expected} [S1]")
        sizes = [None] * count if shape is None else [dim or None for dim in shape[self.first : self.first + count]]
        self.axes = list(map(Axis, sizes, kernel, strides, dilations))
        # Whether an axis may have 0 elements: a pooling accepts such an axis if the batch is 0.
        self.may_be_empty = operator.pooling and not (shape or [None])[0]
        # The fill for the node's data; None means 0, the default of SamePad_1.
        self.fill: ir.Value | np.ndarray | None = given.get(operator.zero_point or -1)
        type_name = types.name(node.inputs[0], *node.outputs[:1]) if operator.outside == "lowest" else None
        if type_name is not None:
            dtype = by_name(type_name).numpy
            self.fill = np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)
        # The end of a sentence: why the data cannot be padded, or should not be padded (OTHER_BITS); "" if they can.
        self.unpadded = _unpadded(node, operator, type_name)

    @cached_property
    def choices(self) -> list[list[Amount] | None]:
        """The possible amounts of each axis; None for an axis without possible amounts, or with too many."""
        if self.operator.transposed:
            return [axis.crop(more, self.mode) for axis, more in zip(self.axes, self.output_padding)]
        return [axis.amounts(self.mode, self.may_be_empty) for axis in self.axes]

    @property
    def only(self) -> list[Amount | None]:
        """The amounts of each axis that has exactly one choice; None for the other axes."""
        return [choice[0] if choice and len(choice) == 1 else None for choice in self.choices]

    def is_miscounted(self, pads: Sequence[int]) -> bool:
        """Return whether some release of ONNX Runtime counts these pads of the node wrongly."""
        return not (self.node.domain or self.unpadded) and is_miscounted(self.node.op_type, self.opset, pads)


def read_mode(site: NodeSite) -> str | None:
    """Return SAME_UPPER or SAME_LOWER; None if ``auto_pad`` is "", NOTSET or VALID. Refuse an unknown ``auto_pad``."""
    if site.node.attributes["auto_pad"].is_ref():
        if not string_values(site, "auto_pad", "").isdisjoint(SAME):
            raise Unconvertible("the function's caller sets auto_pad")
        return None
    mode: str | None = attribute_value(site.node, "auto_pad", ir.AttributeType.STRING)
    if mode in OTHERS:
        return None
    if mode not in SAME:
        raise Unconvertible(f"auto_pad is '{mode}', expected one of {', '.join((*SAME, *OTHERS[1:]))}")
    return mode


def _unpadded(node: ir.Node, operator: WindowOperator, type_name: str | None) -> str:
    if operator.outside != "lowest":
        counted = operator.outside != "not counted" or _value(node, "count_include_pad", ir.AttributeType.INT, 0)
        return "" if counted else "counts only data"
    if len(node.outputs) > 1 and node.outputs[1].name:
        return "returns indices into the data"
    if type_name is None:
        return "has data of a type that is not known"
    if type_name == "double":
        return "has data of double, of which ONNX Runtime keeps a NaN only at the beginning of a window"
    return OTHER_BITS if type_name not in LOWEST_IS_EXACT else ""


def _ints(node: ir.Node, name: str, count: int | None = None) -> list[int] | None:
    """Return an attribute that lists sizes; None if it is absent or empty. Refuse sizes that break S1."""
    values, smallest = list(_value(node, name, ir.AttributeType.INTS, ())), 0 if name == "output_padding" else 1
    if values and count is not None and len(values) != count:
        raise Unconvertible(f"{name} has {plural(len(values), 'value')}, expected {count} (1 per spatial axis) [S1]")
    if wrong := [value for value in values if not smallest <= value <= LARGEST]:
        raise Unconvertible(f"{name} has {wrong[0]}, expected {smallest} to {LARGEST} [S1]")
    return values or None


def _value(node: ir.Node, name: str, kind: ir.AttributeType, absent: Any) -> Any:
    value = attribute_value(node, name, kind, absent)
    if value is None:
        raise Unconvertible(f"its attribute {name} is not of type {kind.name}, or the function's caller sets it")
    return value
