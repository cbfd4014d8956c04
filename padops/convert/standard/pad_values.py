"""Computes the values that the nodes for a Pad need (shape, fill, mode, amounts of each axis), and refuses wrong Pads.

Four numbers define a mode. For n elements and a position o relative to the first element: clamp o to [-slack, n - 1 +
slack], take m = o modulo the period ``factor * n + offset``, and show the element at the lesser of m and the mirror
image ``period + mirror - m``. If the mode is known only at run time, nodes look up the four numbers.

If amounts break P1, P4 or P5 at run time, a Gather fails, and its name lists these rules: ``P1_P4_P5``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import inner_graphs
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.pad_info import Operand, PadInfo, Surroundings, all_known
from padops.convert.runtimes import has_modes
from padops.convert.standard import graph_builder
from padops.convert.standard.graph_builder import Number, Numbers, cut, emit, here, ints, is_number, reshape, take
from padops.spec import plan
from padops.spec.dialects import AUTO_PADS, DATA_FORMATS, DOMAIN, Op
from padops.spec.dtypes import by_name
from padops.spec.plan import Crop, Limit, Mode, PadError

OF_SEVERAL_TYPES = "its fill is a float, and its data are of several types or of unknown type"
FIRST_WITH_REFERENCES = 12  # the first opset whose Constant accepts an attribute from the caller


class Lacking(Unconvertible):
    """A body needs the input ``name``, but some calls lack this input or give the input another type."""

    def __init__(self, name: str, op: Op) -> None:
        super().__init__(f"some nodes of {op.name} have no {name}, and the default for these nodes is not known")
        self.name = name


def shape_of(pad: PadInfo) -> Numbers:
    """Return the dims of the data, a vector."""
    if all_known(pad.dims):
        return ints(*pad.dims)
    return here().once(("shape", pad.data), lambda: emit("Shape", [pad.data]))


def rank_of(pad: PadInfo) -> Numbers:
    """Return the number of dims, a vector of one element."""
    if pad.dims is not None:
        return ints(len(pad.dims))
    return here().once(("rank", pad.data), lambda: emit("Shape", [shape_of(pad)]))


def given_fill(pad: PadInfo) -> Operand | None:
    """Return the given fill, which has one element and any rank; None if the fill is the default (P7)."""
    position = pad.op.input_index(pad.op.fill)
    if position is not None:
        return pad.inputs[position]
    if pad.has_default_fill:
        return None
    attribute = pad.attributes[pad.op.fill]
    if not attribute.is_ref():
        if pad.known_fill is None:
            raise Unconvertible(OF_SEVERAL_TYPES)
        return pad.known_fill
    value = _from_caller("value_float", attribute, ir.AttributeType.FLOAT)
    if pad.type is None:
        raise Unconvertible(OF_SEVERAL_TYPES)
    return value if pad.type == "float" else emit("Cast", [value], {"to": by_name(pad.type).onnx})


def any_fill(pad: PadInfo) -> Operand:
    """Return the given fill, or else the default, with rank 0 or 1."""
    fill = given_fill(pad)
    if isinstance(fill, np.ndarray):
        return fill.reshape(())
    if fill is None and pad.type is None and pad.op.input_index(pad.op.fill) is None:
        raise Unconvertible(OF_SEVERAL_TYPES)
    if pad.some_fill:
        raise Lacking(pad.op.fill, pad.op)
    if fill is not None:
        return fill if pad.fill_dims in ([], [1]) else emit("Reshape", [fill, ints(1)])
    if pad.type is None:
        raise Lacking(pad.op.fill, pad.op)
    return default_fill(pad.type)


def default_fill(type_name: str) -> np.ndarray:
    """Return the default of an absent fill (P7)."""
    dtype = by_name(type_name).numpy
    return np.array("", object) if dtype.kind == "O" else np.zeros((), dtype)


def _vector_of(pad: PadInfo, name: str) -> Numbers:
    """Return an attribute that is a list of integers, as a vector."""
    row = next(row for row in pad.op.attributes if row.name == name)
    attribute = pad.attributes.get(name)
    if attribute is None:
        return ints(*row.default)
    if not attribute.is_ref():
        return ints(*attribute.value)
    # The runtime's inference knows no shape for this constant until a node has processed it.
    return graph_builder.flatten(_from_caller("value_ints", attribute, ir.AttributeType.INTS))


def _choice_of(pad: PadInfo, name: str, options: Sequence[str]) -> Numbers:
    """Return the index of a string attribute's value in ``options``, as a scalar."""
    row = next(row for row in pad.op.attributes if row.name == name)
    attribute = pad.attributes.get(name)
    if len(options) == 1:
        return graph_builder.scalar(0)
    if attribute is None or not attribute.is_ref():
        said = row.default if attribute is None else attribute.value
        if said not in options:
            raise Unconvertible(f"{name} '{said}' is not one of {', '.join(options)}")
        return graph_builder.scalar(options.index(said))
    text = graph_builder.flatten(_from_caller("value_string", attribute, ir.AttributeType.STRING))
    # No operator compares strings at every opset, but TfIdfVectorizer counts words.
    counts = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0]}
    counts |= {"ngram_indexes": list(range(len(options))), "pool_strings": list(options)}
    return emit("ArgMax", [emit("TfIdfVectorizer", [text], counts)], {"axis": 0, "keepdims": 0})


def mode_of(pad: PadInfo) -> Numbers:
    """Return the index of the mode in ``pad.modes``, as a scalar."""
    if len(pad.modes) == 1 or not has_modes(pad, here().opset):
        return _choice_of(pad, pad.op.mode, pad.modes)
    # The element that ONNX Runtime's own Pad puts in front of 0, 1, 2 reveals its mode at every opset.
    probe = emit("Pad", [ints(0, 1, 2), ints(1, 0), -1], {"mode": mode_attribute(pad)}, role="mode")
    shown = {Mode.CONSTANT: -1, Mode.EDGE: 0, Mode.REFLECT: 1, Mode.WRAP: 2}
    table = ints(0, 0, 0, 0)
    for position, mode in enumerate(pad.known_modes):
        table[shown[mode]] = position
    return take(table, take(probe, 0))


def mode_attribute(pad: PadInfo) -> ir.Attr:
    """Return the mode in ONNX's spelling, or a reference to the caller's mode."""
    if len(pad.modes) == 1:
        return ir.AttrString("mode", pad.modes[0].lower())
    return reference("mode", pad.attributes[pad.op.mode], ir.AttributeType.STRING)


def reference(name: str, attribute: ir.Attr, kind: ir.AttributeType) -> ir.Attr:
    """Return an attribute of the given name and kind that refers to the caller's value for ``attribute``."""
    assert attribute.ref_attr_name is not None
    return ir.RefAttr(name, attribute.ref_attr_name, kind)


def _from_caller(name: str, attribute: ir.Attr, kind: ir.AttributeType) -> Number:
    """Return a Constant of the caller's value; refuse opsets without such Constants."""
    if (opset := here().opset) < FIRST_WITH_REFERENCES:
        why = f"a function's caller sets the attribute {attribute.name}, or nodes differ in this attribute"
        raise Unconvertible(f"{why}; this needs opset {FIRST_WITH_REFERENCES}, and the model has opset {opset}")
    return emit("Constant", [], {name: reference(name, attribute, kind)})


FAR = 2**60  # beyond any position; sums of a few such numbers are still int64

#                 factor, offset, mirror, slack
_EXTENSIONS = {
    Mode.CONSTANT: (1, 0, FAR, 0),  # only for data of rank 0, which have no positions
    Mode.EDGE: (1, 0, FAR, 0),
    Mode.REFLECT: (2, -2, 0, FAR),
    Mode.SYMMETRIC: (2, 0, -1, FAR),
    Mode.WRAP: (1, 0, FAR, FAR),
}


@dataclass(frozen=True)
class AxisAmounts:
    """The numbers of elements added (negative: removed): vectors with one number per axis."""

    begin: Numbers
    end: Numbers
    interior: Numbers | None = None

    def map(self, change: Callable[[Numbers], Numbers]) -> AxisAmounts:
        interior = None if self.interior is None else change(self.interior)
        return AxisAmounts(change(self.begin), change(self.end), interior)


def amounts_of(pad: PadInfo) -> AxisAmounts:
    """Return the amounts of every axis: arrays if the model determines them, else graph values."""
    if pad.dims and (known := pad.amounts) is not None:
        vectors = [ints(*column) for column in zip(*((one.begin, one.end, one.interior) for one in known))]
        return AxisAmounts(*vectors if vectors[2].any() else vectors[:2])
    if pad.has_attribute("kernel_shape"):
        return _same(pad)
    # A list has a number for each axis; if it is longer or shorter, Reshape fails (P8).
    if pad.op.input_index("pads_begin") is not None:
        lists = (_required(pad, name) for name in ("pads_begin", "pads_end"))
        numbers = (emit("Cast", [x], {"to": 7}) if isinstance(x, ir.Value) else x.astype(np.int64) for x in lists)
        return AxisAmounts(*(reshape(x, rank_of(pad)) for x in numbers))
    if not pad.has_attribute("padding_below"):
        return _pairs(pad)
    below, above, between = (_vector_of(pad, f"padding_{name}") for name in ("below", "above", "interior"))
    has_interior = isinstance(between, Number) or bool(between.any())
    if isinstance(between, Number):  # the calls differ; an absent interior is an empty list, and means zeros
        between = cut(np.concatenate([between, _filled(0, rank_of(pad))]), ints(0), rank_of(pad))
    begin, end = (reshape(x, rank_of(pad)) for x in (below, above))
    return AxisAmounts(begin, end, reshape(between, rank_of(pad)) if has_interior else None)


def _required(pad: PadInfo, name: str) -> Operand:
    given = pad.input(name)
    assert given is not None, "a Pad without it is refused: see misfit"
    return given


def pads_of(pad: PadInfo) -> Operand:
    """Return the amounts of an ONNX Pad, begins and then ends: of all axes, or of the axes in the input ``axes``."""
    name = next((row.name for row in pad.op.attributes if row.type == "ints"), None)
    return _required(pad, "pads") if name is None else _vector_of(pad, name)


def _pairs(pad: PadInfo) -> AxisAmounts:
    """Return the amounts of an ONNX Pad."""
    if pad.some_axes:
        raise Lacking("axes", pad.op)
    pads, axes, rank = pads_of(pad), pad.input("axes"), rank_of(pad)
    count = rank if axes is None else _count(axes)
    # Reshape fails if there are not two amounts for each axis (P8).
    pairs = reshape(pads, np.concatenate([ints(2), count]) if here().opset >= 14 else ints(2, -1))
    begin, end = take(pairs, 0), take(pairs, 1)
    if here().opset < 14:  # a 0 in a shape copies a dim of the input, and the list of pads has no second dim
        begin, end = reshape(begin, count), reshape(end, count)
    if axes is None:
        return AxisAmounts(begin, end)

    def spread(values: Numbers) -> Numbers:
        """Return one value for every axis: the value of a listed axis, 0 for another axis."""
        if isinstance(axes, ir.Value) or isinstance(rank, Number):
            return emit("ScatterElements", [_filled(0, rank), axes, values], {"axis": 0})
        positions = np.full(rank, axes.size, np.int64)
        positions[axes.reshape(-1)] = np.arange(axes.size)
        return take(np.concatenate([values, ints(0)]), positions)

    return AxisAmounts(spread(begin), spread(end))


def _same(pad: PadInfo) -> AxisAmounts:
    """Return the amounts of SAME; on the spatial axes, they follow from the shape (S1)."""
    kernel = _vector_of(pad, "kernel_shape")
    count = _count(kernel)
    ones = _filled(1, count)
    stride, dilation = (
        cut(np.concatenate([_vector_of(pad, name), ones]), ints(0), count) for name in ("strides", "dilations")
    )
    behind = ints(*(0 if name.startswith("NC") else 1 for name in DATA_FORMATS))
    last = reshape(take(behind, _choice_of(pad, "data_format", DATA_FORMATS)), ints(1))
    first = ints(2) - last
    size = cut(shape_of(pad), first, first + count)
    outputs = (size + stride - 1) // stride
    reach = (kernel - 1) * dilation + 1
    total = np.maximum((outputs - 1) * stride + reach - size, 0)
    small = total // 2
    large, none = total - small, small * ints(0)
    sides = {"SAME_UPPER": (small, large), "SAME_LOWER": (large, small), "VALID": (none, none)}
    chosen = _choice_of(pad, "auto_pad", AUTO_PADS)
    front, back = _filled(0, first), _filled(0, last)

    def pick(vectors: Sequence[Numbers]) -> Numbers:
        if not isinstance(chosen, Number):
            return vectors[int(chosen)]
        return take(emit("Concat", [np.expand_dims(vector, 0) for vector in vectors], {"axis": 0}), chosen)

    begin, end = (pick([sides[name][i] for name in AUTO_PADS]) for i in (0, 1))
    return AxisAmounts(np.concatenate([front, begin, back]), np.concatenate([front, end, back]))


def _count(vector: Operand) -> Numbers:
    return emit("Shape", [vector]) if isinstance(vector, ir.Value) else ints(vector.size)


def _filled(number: int, count: Numbers) -> Numbers:
    if isinstance(count, Number):
        return emit("ConstantOfShape", [count], {"value": ir.tensor(ints(number))})
    return np.full(count, number, np.int64)


Extension = Sequence[Numbers]  # the four scalars that define the mode


def look_up(modes: Sequence[Mode], choice: Numbers) -> Extension:
    return [select(column, choice) for column in zip(*(_EXTENSIONS[mode] for mode in modes))]


def _within(extension: Extension, positions: Numbers, size: Numbers) -> Numbers:
    """Return the element of the window (0 to ``size`` - 1) that each position shows, even a position outside it."""
    factor, offset, mirror, slack = extension
    if not is_number(slack, FAR):
        positions = np.maximum(np.minimum(positions, size - 1 + slack), -slack)
    if is_number(slack, 0):
        return positions
    # At least 1: a division by 0 fails even if no position is used.
    period = np.maximum(size * factor + offset, 1)
    if not here().has_pad and not isinstance(mirror, Number) and mirror != FAR:
        # tract's Mod of a shape's value may be negative, so Max makes positions 0 or more: OpenCV's Abs has no int64.
        # In mode wrap, positions may stay negative, because Gather accepts them.
        positions = np.maximum(positions, mirror - positions)
    remains: Numbers = positions % period
    return remains if is_number(mirror, FAR) else np.minimum(remains, period + mirror - remains)


def select(numbers: Sequence[int], choice: Numbers) -> Numbers:
    """Return ``numbers[choice]`` as a scalar; the scalar is known if ``choice`` is known or all numbers are equal."""
    return graph_builder.scalar(numbers[0]) if len(set(numbers)) == 1 else take(ints(*numbers), choice)


@dataclass(frozen=True)
class Extents:
    """The sizes and positions that define the output; each vector has one entry per axis."""

    size: Numbers  # elements of the source
    output: Numbers  # elements of the output
    shift: Numbers  # output position of the first element to extend from
    start: Numbers | None  # source position of this element; None for 0
    window: Numbers  # elements to extend from

    @staticmethod
    def of(op: Op, size: Numbers, amounts: AxisAmounts) -> Extents:
        """Return the extents of axes in a mode that extends rather than fills (P1, P3)."""
        output = amounts.begin + size + amounts.end
        if op.clamp:
            output = np.maximum(output, 0)
        if op.crop is Crop.FULL:
            return Extents(size, output, amounts.begin, None, size)
        front, back = np.minimum(amounts.begin, 0), np.minimum(amounts.end, 0)
        window = size + front + back
        return Extents(size, output, amounts.begin - front, -front, window)

    def shown(self, extension: Extension, axis: Operand | int, count: Numbers, step: Numbers | int) -> Numbers:
        """Return the source positions that the first ``count`` output positions show on an axis (P2)."""
        positions = graph_builder.arange(count, step) - take(self.shift, axis)
        shown = _within(extension, positions, take(self.window, axis))
        return shown if self.start is None else shown + take(self.start, axis)

    def checked_step(self, op: Op, modes: Sequence[Mode], choice: Numbers, amounts: AxisAmounts) -> Number:
        """Return 1, from a Gather that fails if amounts break P1, P4 or P5, for example if a dim would be negative."""
        least = graph_builder.lowest(self.output, ints(1))  # for data of rank 0, the 1 alone
        short = self.window - select([int(mode is not Mode.CONSTANT) for mode in modes], choice)
        # An output without elements needs nothing to extend from.
        nothing = np.minimum(-graph_builder.lowest(short, ints(0)), least)
        wrong = np.maximum(-least, nothing)
        if op.limit is Limit.NGRAPH:  # P4
            fewest = {Mode.EDGE: 1, Mode.REFLECT: 2}
            size = self.size - select([fewest.get(mode, 0) for mode in modes], choice)
            wrong = np.maximum(wrong, -graph_builder.lowest(size, ints(0)))
        elif op.limit is Limit.OPENVINO and {*modes} & {Mode.REFLECT, Mode.SYMMETRIC}:
            reaches = {Mode.REFLECT: -1, Mode.SYMMETRIC: 0}
            most = np.maximum(self.size + select([reaches.get(mode, FAR) for mode in modes], choice), 0)
            wrong = np.maximum(wrong, -graph_builder.lowest(most - amounts.begin, most - amounts.end, ints(0)))
        return emit("Gather", [ints(1), wrong], role="P1_P4_P5")


def apart(positions: Numbers, every: Numbers | int, count: Numbers | int) -> tuple[Numbers, Numbers]:
    """Return two arrays, with one entry for each position: whether the position shows an element, and which one (P6).

    The ``count`` elements are at the positions 0, ``every``, 2 * ``every`` and so on.
    """
    gap = positions % every
    shown = (positions - gap) // every
    return (shown > -1) & (shown < count) & (gap < 1), shown


MOST = 1  # the most Ifs out of which the runtime may move nodes
# Operators over which onnxruntime's QDQPropagationTransformer moves a DequantizeLinear.
PROPAGATING = frozenset(("MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"))


def check(pad: PadInfo) -> None:
    """Refuse a Pad that is wrong for all data of its type and rank."""
    op, dims, node = pad.op, pad.fill_dims, pad.node
    if all_known(dims) and prod(dims) != 1 and pad.known_modes == (Mode.CONSTANT,):
        raise PadError("P7", f"{op.fill} has {prod(dims)} elements, expected one", op.name, pad.name)
    if node is None:
        return
    if pad.rank is None:
        _ = pad.amounts  # raises PadError for a list that fits no rank
    if pad.dims is not None:
        rank = len(pad.dims)
    elif isinstance(axes := pad.input("axes"), np.ndarray):
        rank = 2 * int(np.abs(axes).max(initial=0)) + 1  # so that an axis from the end equals no axis from the start
    else:
        given = {"padding_below": 0, "kernel_shape": 2}
        ranks = [len(pad.attributes[name].value) + more for name, more in given.items() if pad.has_attribute(name)]
        if not ranks:
            return
        rank = ranks[0]
    try:
        interiors = [plan.Amounts(0, 0, amounts.interior) for amounts in op.amounts(node, [1] * rank)]
        plan.make_plan([1] * rank, interiors, pad.known_modes[0], op.crop)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


def check_nesting(nodes: Iterable[ir.Node], around: Surroundings) -> None:
    """Refuse the nodes for a Pad if ONNX Runtime would crash on them when it folds Ifs at load time.

    The runtime moves nodes out of an If with a constant condition, and frees the graph of the branch. A moved If or
    Loop still refers to values of this graph. The runtime reads the freed memory in two cases: a second move takes the
    node out of an outer If; or the moved node contains an If or a Loop that reads a value of the freed graph. Then the
    process crashes, the results have wrong dims, or the wrong branch runs (1.20 to 1.32; valgrind shows the reads). The
    Ifs of the model around the Pad count as well.
    """
    depth = depth_of(nodes)
    if around.folding and depth is not None and around.folding + depth > MOST:
        raise Unconvertible(
            "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop; "
            "onnxruntime crashes on this nesting when it folds the Ifs"
        )


def depth_of(nodes: Iterable[ir.Node]) -> int | None:
    """Return the largest number of nested Ifs around an If or Loop; None if there is no If or Loop."""
    found: list[int] = []
    for node in nodes:
        depths = [depth_of(graph) for _, graph in inner_graphs(node)]
        found += [0] if depths else []
        found += [depth + (node.op_type == "If") for depth in depths if depth is not None]
    return max(found, default=None)


def follows_dequantizing(value: Operand | None) -> bool:
    """Return whether onnxruntime (1.20 to 1.32) may move a DequantizeLinear to a value, and crash if an If reads it."""
    producer = value.producer() if isinstance(value, ir.Value) else None
    moved = False
    while producer is not None and (producer.op_type in PROPAGATING or producer.domain == DOMAIN):
        value, moved = producer.inputs[0], True
        producer = None if value is None else value.producer()
    return moved and producer is not None and producer.op_type == "DequantizeLinear"
