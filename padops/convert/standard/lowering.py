"""Lowers one Pad to the fewest nodes.

For an execution provider, a Pad that the provider runs correctly remains a Pad, perhaps without the input ``axes``. Any
other Pad becomes other nodes. If the provider accepts no form of a Pad, for example because of its type, the Pad
becomes nodes for ONNX Runtime's CPU provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from itertools import groupby
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert import runtimes
from padops.convert.pads.match import RunsAs, Unconvertible, Unneeded
from padops.convert.pads.pad_info import ALONE, Operand, PadInfo, all_known
from padops.convert.runtimes import FIRST_WITH_INPUTS, find_fault, known_amounts, taking_pooling
from padops.convert.standard import ort_pad, pad_values
from padops.convert.standard.axes import MAX_POSITIONS, Work, by_parts, extend, extend_by_computing, fill, plan_of
from padops.convert.standard.graph_builder import FIRST, MAX_LISTED, emit, here, ints, part, reshape, scalar, take
from padops.convert.standard.pad_values import AxisAmounts, amounts_of, any_fill, given_fill, shape_of
from padops.runtime.installed import NEWEST_MINOR
from padops.runtime.provider_rules import KnownProvider
from padops.spec.dialects import OPS, make_node_plan, onnx_op
from padops.spec.dtypes import by_name
from padops.spec.plan import NOTHING, Amounts, Limit, Mode, PadError

OLDEST = 20  # onnxruntime 1.20, whose Pad has the most faults
ANY_RELEASE = 0  # of onnxruntime: no rule counts as fixed
FIRST_WITH_KERNEL = 2  # before opset 2, Pad has another attribute, and no kernel

NO_BETTER = ("cut away",)  # the provider runs some of these Pads, but no lowered form
# Rules about nodes of every operator, so other nodes do not help.
OF_ALL_NODES = ("open rank", "open dims", "computed", "in a body")
NOT_RUN = "by rules from its source, not tested"


# The forms of a Pad for an execution provider. STAYS: the unchanged node; PAD: one standard Pad; CROPPED: a Slice, and
# a Pad that crops nothing; PARTS: nodes that move parts of the data (see ``axes.py``). ANY: any nodes, for no provider.
Way = Enum("Way", ["STAYS", "ANY", "PAD", "CROPPED", "PARTS"])


def choose(pad: PadInfo, may_stay: bool, row: KnownProvider, opset: int) -> tuple[Way, str]:
    """Return the form of a Pad for the provider, and the reason if the provider accepts no form, else ""."""
    found = RunsAs("", opset)
    row = replace(row, rules=tuple(rule for rule in row.rules if rule.when not in NO_BETTER))
    if pad.dims == []:
        return Way.ANY, ""  # rank 0 passes through
    as_it_is = pad.op.name == onnx_op(opset) and runtimes.reaches_provider(pad, found, NEWEST_MINOR)
    stays = may_stay and as_it_is and not _is_changed(pad)
    if stays and find_fault(row, pad, found, ANY_RELEASE) is None:
        return Way.STAYS, ""
    standard = _is_of_standard(pad, opset)
    judged = _without_axes(pad, standard, opset)
    fault = find_fault(row, judged, found, ANY_RELEASE)
    if standard and fault is None and not taking_pooling(pad):
        return Way.PAD, ""
    rule, sure = fault or (None, False)
    left = rule is None or rule.does == "leaves" or rule.when == "sizes above"
    if rule is not None and left and (rule.when in OF_ALL_NODES or (rule.when == "always" and not rule.modes)):
        if stays and runtimes.judge(pad, found, OLDEST)[0] == "runs":
            return Way.STAYS, runtimes.said_of(rule)
        return Way.ANY if pad.mode in (Mode.CONSTANT, None) else Way.PARTS, runtimes.said_of(rule)
    if row.moves and pad.type is not None and pad.type not in row.moves and left:
        proxy, _ = runtimes.EXACT_CASTS.get(pad.type, (None, 0))  # the provider must accept the type between the casts
        return Way.PARTS if proxy in row.moves else Way.ANY, f"any node of {pad.type}"
    if rule is not None and standard and pad.mode is Mode.CONSTANT and not taking_pooling(pad):
        # A Pad behind a cropping Slice is right; the crop leaves elements on each axis.
        of_fill = replace(row, rules=tuple(rule for rule in row.rules if rule.when in runtimes.FILLS))
        elsewhere = rule.when == "crop" or (rule.when in ("cut beyond", "empty") and not sure)
        if elsewhere and find_fault(of_fill, judged, found, ANY_RELEASE) is None:
            return Way.CROPPED, ""
    return Way.PARTS, ""


def _is_changed(pad: PadInfo) -> bool:
    """Return whether ONNX Runtime's optimizers may change a Pad."""
    return bool(taking_pooling(pad)) or pad.open_axes or (pad.input("axes") is not None and pad.around.transposing)


def _with_expandable_fill(pad: PadInfo, row: KnownProvider | None) -> PadInfo:
    """Return the Pad; a computed scalar fill becomes a vector if the provider cannot expand scalars of its type."""
    fill, scalars = pad.input(pad.op.fill), () if row is None else row.expands_no_scalar
    if pad.type not in scalars or not isinstance(fill, ir.Value) or pad.fill_dims != []:
        return pad
    inputs = [reshape(fill, ints(1)) if value is fill else value for value in pad.inputs]
    return replace(pad, inputs=inputs, given=inputs, fill_dims=[1])


def _rank_limit(pad: PadInfo, row: KnownProvider) -> int:
    """Return the provider's rank limit if the Pad exceeds the limit and ``_narrowed`` can write the Pad, else 0."""
    limit = min((rule.limit for rule in row.rules if rule.when in ("rank above", "sizes above")), default=0)
    if not limit or not all_known(pad.dims) or len(pad.dims) <= limit or pad.node is None or pad.mode is None:
        return 0
    empty = 0 in (*pad.dims, *make_node_plan(pad.node, pad.dims).shape)
    return limit if pad.op.is_onnx and not empty and any(one != NOTHING for one in known_amounts(pad)) else 0


def _narrowed(pad: PadInfo, limit: int, row: KnownProvider) -> ir.Value:
    """Write a Pad on at most ``limit`` dims: merge unpadded adjacent axes before the Pad; split these axes after it."""
    assert all_known(pad.dims) and pad.mode is not None, "only such a Pad is narrowed"
    amounts, dims = known_amounts(pad), [*pad.dims]

    def groups_of(axes: Sequence[int]) -> list[list[int]]:
        """Return the axes of the data in groups: neighbours outside ``axes`` form one group."""
        return [list(group) for _, group in groupby(range(len(dims)), lambda i: i if i in axes else -1)]

    to_pad = [i for i, one in enumerate(amounts) if one != NOTHING]
    value = pad.data
    for axes in [to_pad] if len(groups_of(to_pad)) <= limit else [[i] for i in to_pad]:
        groups = groups_of(axes)
        shape = [prod(dims[i] for i in group) for group in groups]
        rows = [amounts[group[0]] if group[0] in axes else NOTHING for group in groups]
        plain = replace(pad, dims=shape, rank=len(shape), around=ALONE)
        narrow = emit("Reshape", [value, ints(*shape)])
        padded, _ = write(_of_all_axes(plain, narrow, _flat(rows), _provider_fill(pad), pad.mode), row=row)
        for i in axes:
            dims[i] += amounts[i].begin + amounts[i].end
        value = emit("Reshape", [padded, ints(*dims)])
    return value


def _flat(rows: Sequence[Amounts]) -> np.ndarray:
    return ints(*(row.begin for row in rows), *(row.end for row in rows))


def _provider_fill(pad: PadInfo) -> Operand | None:
    return pad.input(pad.op.fill) if pad.op.input_index(pad.op.fill) is not None else pad.known_fill


def _is_of_standard(pad: PadInfo, opset: int) -> bool:
    """Return whether the standard Pad of an opset, with the amounts of all axes, does the same as this Pad."""
    if pad.mode is None or pad.may_have_interior or not runtimes.has_modes(pad, opset) or opset < FIRST_WITH_KERNEL:
        return False
    if pad.type not in OPS[onnx_op(opset)].types:
        return False
    if pad.op.is_onnx or pad.mode is Mode.CONSTANT:
        return True
    checked, amounts = pad.op.limit is Limit.NONE or all_known(pad.dims), known_amounts(pad)
    return checked and bool(pad.dims) and bool(amounts) and not any(row.crops for row in amounts)


def _without_axes(pad: PadInfo, same_mode: bool, opset: int) -> PadInfo:
    """Return the Pad without axes, for the provider's rules to check; the mode is constant unless ``same_mode``."""
    amounts = known_amounts(pad) if pad.node is not None else ()
    flat = _flat(amounts)
    if pad.mode is Mode.CONSTANT and opset < FIRST_WITH_INPUTS and pad.attributes.get(pad.op.fill) is not None:
        value = pad.attributes[pad.op.fill]
        attributes = {"pads": ir.AttrInt64s("pads", flat.tolist()), value.name: value}
        return replace(
            pad, op=OPS["Pad_2"], inputs=[pad.data], given=[pad.data], attributes=attributes, modes=("constant",)
        )
    fill = _provider_fill(pad) if pad.mode is Mode.CONSTANT else None
    mode = pad.mode if same_mode and pad.mode is not None else Mode.CONSTANT
    return _of_all_axes(pad, pad.data, flat if amounts else pad.data, fill, mode)  # the data stand for unknown amounts


def _of_all_axes(pad: PadInfo, data: ir.Value, amounts: Operand, fill: Operand | None, mode: Mode) -> PadInfo:
    """Return a Pad as the newest Pad of ONNX, without axes."""
    inputs: list[Operand | None] = [data, amounts, fill, None]
    attributes = {"mode": ir.AttrString("mode", mode.value)}
    return replace(pad, op=OPS["Pad_25"], inputs=inputs, given=inputs, attributes=attributes, modes=(mode.value,))


def write(
    pad: PadInfo, plain: bool = False, may_stay: bool = False, row: KnownProvider | None = None
) -> tuple[Operand, str]:
    """Write a Pad for the provider ``row``, by default ONNX Runtime's CPU provider; return the output and a note or "".

    ``plain``: the node already is ONNX's Pad. As ONNX Runtime refuses this Pad for data of rank 0, the written nodes
    may refuse such data too. ``may_stay``: in addition, the node has exactly the inputs and attributes of its version.
    """
    try:
        if row is None:
            return _by_way(pad, plain, Way.ANY), ""
        _checked_amounts(pad)
        way, left = choose(pad, may_stay, row, here().opset)
        unsure = [] if row.was_run else [NOT_RUN]
        leaves = [f"{row.name} leaves it ({left})"] if left else []
        if way is Way.STAYS:
            stays = f"{leaves[0]}, and ONNX Runtime runs it on the processor" if leaves else f"{row.name} runs it"
            raise Unneeded(", ".join([stays, *unsure]))
        note = ", ".join([*leaves, *unsure])
        if not left and (limit := _rank_limit(pad, row)):
            return _narrowed(pad, limit, row), note
        here().has_pad = way is not Way.PARTS
        return _by_way(pad, plain, way, row), note
    except PadError as error:
        raise Unconvertible(str(PadError(error.rule, error.detail, pad.op.name, pad.name))) from error


def _by_way(pad: PadInfo, plain: bool, way: Way, row: KnownProvider | None = None) -> Operand:
    """Write a Pad in the form ``way`` (other parameters: see ``write``); raise ``PadError`` for a broken rule."""
    if len(pad.modes) > 1:
        raise Unconvertible("the function's caller sets the Pad's mode")
    if pad.type is not None and pad.type not in pad.op.types:
        raise Unconvertible(f"its data are {pad.type}, which {pad.op.name} does not accept")
    if pad.type is None and plain and here().has_pad and _is_changed(pad):
        return ort_pad.on_data(pad, None)  # the same Pad, hidden from the optimizers

    def write_moved(given: PadInfo) -> Operand:
        return _write(_with_expandable_fill(given, row), _checked_amounts(pad), plain, way)

    output = ort_pad.write_exact(pad, [pad.type], write_moved)
    if isinstance(output, ir.Value) or output.size or here().has_pad or output.dtype.kind not in "biuf":
        return output
    # OpenVINO, tract and TVM misread a constant without elements.
    may_fill, value = here().opset >= FIRST["ConstantOfShape"], {"value": ir.tensor(np.zeros(1, output.dtype))}
    return emit("ConstantOfShape", [ints(*output.shape)], value) if may_fill else output


def _checked_amounts(pad: PadInfo) -> Sequence[Amounts] | None:
    """Return the amounts of every axis, or None if only a run determines them; raise PadError for a broken rule."""
    pad_values.check(pad)
    if pad.dims is None or pad.node is None or pad.mode is None:
        return None
    if all_known(pad.dims):
        make_node_plan(pad.node, pad.dims)
    return pad.amounts


def _write(pad: PadInfo, known: Sequence[Amounts] | None, plain: bool, way: Way) -> Operand:
    unchecked = pad.op.limit is Limit.NGRAPH and pad.mode is not Mode.CONSTANT and pad.dims and None in pad.dims
    zero = known is not None and all(amounts == NOTHING for amounts in known)
    if pad.dims == [] or (zero and not unchecked):
        return pad.data
    shape = make_node_plan(pad.node, pad.dims).shape if pad.node and known is not None and all_known(pad.dims) else ()
    if 0 in shape:
        assert pad.type is not None, "write_exact refuses it"
        return np.zeros(shape, by_name(pad.type).numpy)
    if way is Way.PAD:
        return ort_pad.on_data(pad, ort_pad.own_amounts(pad))
    if way is Way.CROPPED:
        return ort_pad.on_data(pad, *ort_pad.cropped(pad, pad.data)[::-1])
    ranked = bool(pad.dims) or (plain and pad.dims is None)
    typed = runtimes.has_type(pad.type, here().opset)
    if plain and pad.type == "float16" and here().opset >= runtimes.CASTS_RIGHT_SINCE:
        # Such a Pad of ONNX Runtime may stay: the runtime casts the data to float and back. But a fill in a float
        # attribute might not be rounded if another operator read the fill.
        typed = typed or pad.op.input_index(pad.op.fill) is not None or pad.has_default_fill
    typed = typed and here().has_pad
    # A Pad that ONNX Runtime already ran stays as right as before.
    leaves_some = (typed and ort_pad.takes_inputs(here().opset, pad)) or pad.only_adds
    guarantees = ort_pad.Guarantees(typed, ranked, leaves_some)
    if known is not None and _fits(pad, known, guarantees):
        return ort_pad.on_data(pad, ort_pad.own_amounts(pad))
    if way is not Way.ANY and known is not None and (made := by_parts(pad, known)) is not None:
        return made
    if pad.mode is Mode.CONSTANT:
        return _fill(pad, known, shape, guarantees)
    if pad.dims is None:
        return ort_pad.write(pad, guarantees, branches=False)
    return _extend(pad, known)


def _fits(pad: PadInfo, known: Sequence[Amounts], guarantees: ort_pad.Guarantees) -> bool:
    """Return whether a single Pad of ONNX Runtime surely returns the right result for these amounts."""
    if not guarantees.typed or any(amounts.interior for amounts in known):
        return False
    if pad.known_modes == (Mode.CONSTANT,):
        shrinks = min(_flat(known), default=0) < 0
        if shrinks and not (ort_pad.keeps_elements(pad) if all_known(pad.dims) else not pad.op.clamp):
            return False
        if here().opset >= FIRST_WITH_INPUTS or pad.op.input_index(pad.op.fill) is None:
            return True
        given = given_fill(pad)  # before opset 11 a known float
        return given is None or (isinstance(given, np.ndarray) and given.dtype == np.float32)
    adds = max(_flat(known), default=0) > 0
    return adds and all_known(pad.dims) and bool(ort_pad.is_right(pad, scalar(0), amounts_of(pad)))


def _fill(
    pad: PadInfo, known: Sequence[Amounts] | None, output: Sequence[int], guarantees: ort_pad.Guarantees
) -> Operand:
    """Write mode constant if one Pad of ONNX Runtime is not enough; ``output`` is the output shape, () if unknown."""
    if output and 0 in (pad.dims or ()):
        with_what = any_fill(pad)
        if isinstance(with_what, np.ndarray) and prod(output) <= MAX_POSITIONS:
            return np.full(output, with_what)  # the output shows no element of the data
    rows = [(i, size, one) for i, (size, one) in enumerate(zip(pad.dims or (), known or ())) if one != NOTHING]
    only_adds = not any(one.crops or one.interior for _, size, one in rows if size is None)
    if known is not None and only_adds:
        work, with_what = Work.filling(pad)
        for i, size, one in rows:
            around = AxisAmounts(ints(one.begin), ints(one.end)) if size is None else plan_of(pad, size, one)
            fill(work, i, around, with_what)
        return work.value
    if here().has_pad or pad.dims is None or pad.may_have_interior:
        return ort_pad.write(pad, guarantees)
    work, with_what = Work.filling(pad)
    axes = pad.paddable_axes if known is None else [i for i, _, _ in rows]
    if pad.only_adds:
        left, shape = amounts_of(pad), shape_of(pad)
    else:
        work.value, left = ort_pad.cropped(pad, pad.data)
        shape = emit("Shape", [work.value])
    work.dims = [take(shape, ints(axis)) if axis in axes else dim for axis, dim in enumerate(work.dims)]
    for i in axes:
        fill(work, i, AxisAmounts(take(left.begin, ints(i)), take(left.end, ints(i))), with_what)
    return work.value


def _extend(pad: PadInfo, known: Sequence[Amounts] | None) -> Operand:
    """Write a Pad in any mode except constant, for data of known rank."""
    work = Work(pad)
    if known is None:
        extend_by_computing(work, pad.paddable_axes, amounts_of(pad))
        return work.value
    padded, dims = [i for i, one in enumerate(known) if one != NOTHING], pad.dims or ()
    crops = [i for i in padded if known[i].begin <= 0 and known[i].end <= 0]
    sizes = [size for i in crops if (size := dims[i]) is not None]
    if not crops or len(sizes) < len(crops):
        crops = []
    else:  # one Slice crops all axes
        plans = [plan_of(pad, size, known[i]) for i, size in zip(crops, sizes)]
        starts = [min(-known[i].begin, one.size) for i, one in zip(crops, plans)]
        stops = [start + one.output for start, one in zip(starts, plans)]
        work.value = part(work.value, ints(*starts), ints(*stops), ints(*crops))
        for i, one in zip(crops, plans):
            work.dims[i] = ints(one.output)
    to_compute = []
    for i, amounts in enumerate(known):
        size, extension = dims[i], None
        try:
            extension = None if size is None else plan_of(pad, size, amounts)
        except PadError as error:
            if error.rule != "P5":  # P5 is no error if another dim is 0 at run time
                raise
        listed = 0 if extension is None else extension.output - (0 if work.by_elements else extension.extent)
        if i not in crops and (i in padded or (extension is None and pad.op.limit is Limit.NGRAPH)):
            if extension is None or listed > MAX_LISTED:
                to_compute.append(i)
            else:
                extend(work, i, extension, pad.known_modes[0])
    extend_by_computing(work, to_compute, amounts_of(pad))
    return work.value
