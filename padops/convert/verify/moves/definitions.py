"""Defines Pads: ONNX's Pad, CenterCropPad, Pads of other frameworks, and Pads of padops that mirror no ONNX Pad.

The definitions follow the Pads' documentation and docs/semantics.md. They share no code with the converter, because
they check the converter; tests compare them with ``padops/spec/plan.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto

from padops.convert.verify.schemas import INTEGERS
from padops.convert.verify.terms import GIVEN, Fails, Head, Kind, Terms, Unsupported
from padops.spec.dialects import DOMAIN

Attributes = dict[str, Any]
Known = Callable[[int], "np.ndarray | None"]  # returns the elements of an input, by its index; None if it is absent
ATEN = ("org.pytorch.aten", "aten")
TENSORFLOWS = {"MirrorPad": "", "PadV2": "constant", "Pad": "constant"}
NGRAPH_MODES = ("CONSTANT", "EDGE", "REFLECT", "SYMMETRIC")
TORCH_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap",
               "symmetric": "symmetric"}  # fmt: skip
TORCH_NUMBERS = ("reflect", "replicate", "circular", "constant")  # the modes of ``_pad_enum``, by number
TORCH = {"pad": "", "_pad_enum": "", "constant_pad_nd": "constant", "_pad_circular": "circular",
         **{f"{name}_pad{count}d": mode for count in (1, 2, 3) for name, mode in
            (("reflection", "reflect"), ("replication", "replicate"), ("symmetric", "symmetric"))}}  # fmt: skip
# Each element of the result is an element of an input, or a known number.
FOLLOWED = {*"Cast ConstantOfShape Concat DepthToSpace Expand Flatten Gather Reshape".split(),
            *"Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Where".split()}  # fmt: skip
# Operators that compute amounts and shapes; the rules follow them if the result has integers.
ARITHMETIC = {*"Abs Add And Clip CumSum Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul".split(),
              *"Neg Not Or Range ReduceMax ReduceMin ReduceProd ReduceSum Shape Sign Size Sub".split()}  # fmt: skip
# Operators that never fail: they have one input, and are elementwise or read only its dims.
TOTAL = {*"Abs Ceil Exp Floor Identity Neg Not Relu Shape Sigmoid Sign Size Sqrt Tanh".split()}
MOST = 2**59 - 1  # P10: the largest dim and amount
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


class Rules(NamedTuple):
    """The rules in which dialects differ."""

    crop: bool = False  # whether negative amounts crop before the rest is extended (P3 CROP), rather than after (FULL)
    limit: str = ""  # the limits (P4): ``""`` for none, ``"once"`` (reflects at most once) or ``"ngraph"``
    clamp: bool = False  # whether a negative dim becomes 0 instead of an error (P1)
    grows: bool = False  # whether negative amounts are an error


ONNX, SAME, NGRAPH = Rules(crop=True), Rules(), Rules(limit="ngraph")
ONCE, TENSORFLOW = Rules(limit="once"), Rules(limit="once", grows=True)
OPENVINO_1, OPENVINO_12 = ONCE, Rules(limit="once", clamp=True)


class Axis(NamedTuple):
    """One axis of a Pad: its size, the amounts at both ends, and the number of elements between neighbours (P6)."""

    size: int
    begin: int
    end: int
    interior: int = 0


def same_axis(size: int, kernel: int, stride: int, dilation: int, auto_pad: str) -> Axis:
    """Returns the amounts of SAME padding on one spatial axis (S1); ``auto_pad`` is SAME_UPPER, SAME_LOWER or VALID."""
    if auto_pad == "VALID":
        return Axis(size, 0, 0)
    windows = (size + stride - 1) // stride
    total = max((windows - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    half = total // 2
    return Axis(size, total - half, half) if auto_pad == "SAME_LOWER" else Axis(size, half, total - half)


def output(axis: Axis, rules: Rules) -> int:
    """Returns the size of the padded axis (P1)."""
    dilated = (axis.size - 1) * (axis.interior + 1) + 1 if axis.size else 0
    total = axis.begin + dilated + axis.end
    return max(total, 0) if rules.clamp else total


def window(axis: Axis, mode: str, rules: Rules) -> tuple[int, int]:
    """Returns the elements that a Pad extends (P3): the position of the first one, and their number."""
    if not rules.crop or mode == "constant":
        return 0, axis.size
    front, back = max(-axis.begin, 0), max(-axis.end, 0)
    return front, axis.size - front - back


def broken(axes: Sequence[Axis], mode: str, rules: Rules) -> Iterator[str]:
    """Yields the labels of the rules that a Pad breaks; checks P10 for each axis, but not for the whole output."""
    empty = any(output(axis, rules) == 0 for axis in axes)
    for axis in axes:
        size = output(axis, rules)
        if size < 0 or (rules.grows and min(axis.begin, axis.end) < 0):
            yield "P1"
        if axis.interior < 0 or (axis.interior and mode != "constant"):
            yield "P6"
        if max(abs(axis.begin), abs(axis.end), size) > MOST:
            yield "P10"
        if mode == "constant":
            continue
        most = max(axis.size - (mode == "reflect"), 0)
        if rules.limit == "once" and mode in ("reflect", "symmetric") and max(axis.begin, axis.end) > most:
            yield "P4"
        if rules.limit == "ngraph" and mode in ("edge", "reflect") and axis.size < (1 if mode == "edge" else 2):
            yield "P4"
        if not empty and window(axis, mode, rules)[1] < 1:
            yield "P5"


def positions(axis: Axis, mode: str, rules: Rules) -> np.ndarray:
    """Returns, as int64, the source position of each output position (P2, P6); -1 is the fill."""
    at = np.arange(output(axis, rules), dtype=np.int64)
    if not at.size:
        return at  # P5: an empty output may have nothing to extend from
    start, extent = window(axis, mode, rules)
    offset = at - axis.begin - start
    if mode == "constant":
        shown, gap = np.divmod(offset, axis.interior + 1)
        return np.asarray(np.where((gap == 0) & (shown >= 0) & (shown < axis.size), shown, -1))
    if mode == "edge":
        offset = np.clip(offset, 0, extent - 1)
    elif mode == "wrap":
        offset = offset % extent
    else:
        last = 2 * (extent - 1) if mode == "reflect" else 2 * extent - 1  # the sum of a position and its image
        offset = offset % max(last if mode == "reflect" else last + 1, 1)
        offset = np.minimum(offset, last - offset) if last else offset
    return np.asarray(start + offset)


class Definition(NamedTuple):
    axes: Sequence[Axis]
    mode: str
    rules: Rules
    fill: int = -1  # the index of the fill among the inputs; -1 for the default
    number: bool = False  # whether the fill is a number that becomes an element of the data's type
    value: bytes = b""  # the fill as the 4 bytes of a float


def dialect(head: Head) -> str:
    """Returns the dialect of a Pad; "" for any other operator."""
    if head.kind is not Kind.OPERATOR:
        return "onnx" if head.kind is Kind.PAD else ""
    name, names = head.name, {name for name, _, _ in head.attributes}
    if head.domain == "ai.intel.openvino" or (head.domain == DOMAIN and name.startswith("OpenVINOPad_")):
        return "" if head.domain != DOMAIN and name != "Pad" else "openvino"
    if "padding_below" in names and (head.domain == DOMAIN or (name == "Pad" and "padding_above" in names)):
        return "ngraph"
    if head.domain == DOMAIN:
        return "same" if name == "SamePad_1" else DOMAIN
    if head.domain in ATEN or (head.domain == "" and name == "ATen"):
        return "torch" if _torch_name(head) in TORCH else ""
    if head.domain == "" and name in ("CenterCropPad", "PadImage"):
        return name
    is_onnx = name == "Pad" and head.domain in ("", "com.microsoft")  # an ONNX Pad with wrong inputs
    is_tensorflow = name in TENSORFLOWS and not is_onnx and not names - {"T", "Tpaddings", "mode"}
    return "tensorflow" if is_tensorflow else ""


def is_total(terms: Terms, term: int) -> bool:
    """Returns whether a term has a value whenever its inputs have values, so that it never makes a run fail."""
    return terms.head(term).kind in GIVEN or terms.op(term) in TOTAL


def moves_data(terms: Terms, term: int) -> bool:
    """Returns whether a term only moves data, so that the rules can follow its elements to its inputs."""
    return terms.op(term) in FOLLOWED or bool(dialect(terms.head(term)))


def is_followed(terms: Terms, term: int) -> bool:
    """Returns whether a term moves data, or may compute integers or bools: the rules follow such terms to inputs."""
    return moves_data(terms, term) or (
        terms.op(term) in ARITHMETIC and terms.dtype(term) in (None, TensorProto.BOOL, *INTEGERS)
    )


def cone(terms: Terms, root: int, ends: Callable[[int], bool] = lambda term: False) -> Iterator[int]:
    """Yields the root and all terms that the rules reach from the root; stops at other terms where ``ends`` is True."""
    return terms.walk(root, through=lambda term: is_followed(terms, term) and (term == root or not ends(term)))


def data_rank(head: Head, given: Mapping[int, np.ndarray | None]) -> int | None:
    """Returns the rank of a Pad's data, by the number of amounts (P8); None if unknown, or if the Pad has axes."""
    whose, amounts = dialect(head), given.get(1)
    if whose == "ngraph":
        below = next(value for name, _, value in head.attributes if name == "padding_below")
        return None if below[:1] == ("@",) else len(below)
    if amounts is None or not amounts.ndim or whose not in ("onnx", "openvino", "tensorflow"):
        return None
    if whose == "onnx":
        return None if 3 in given else amounts.size // 2
    return len(amounts)


def _torch_name(head: Head) -> str:
    """Returns the operator of ATen that a node calls."""
    named = next((value for name, _, value in head.attributes if name == "operator"), b"")
    return str(named.decode(errors="replace")) if head.name == "ATen" else head.name


def defined(head: Head, shape: Sequence[int], known: Known) -> Definition:
    """Returns the effect of a Pad on data of a given shape; raises if amounts are unknown or do not fit (P8, S1)."""
    attributes: Attributes = {name: value for name, _, value in head.attributes}
    if any(isinstance(value, tuple) and value[:1] == ("@",) for value in attributes.values()):
        raise Unsupported("the function's caller sets attributes")
    match dialect(head):
        case "onnx":
            return _onnx(head, shape, known)
        case "CenterCropPad":
            return Definition(_centred(shape, known(1), attributes.get("axes")), "constant", ONNX)
        case "torch":
            return _torch(_torch_name(head), shape, known)
        case "PadImage":
            return _caffe2(attributes, shape)
        case "openvino":
            is_first = head.name == "OpenVINOPad_1" or attributes.get("version") == b"opset1"
            rules = OPENVINO_1 if is_first else OPENVINO_12
            return Definition(_rows(shape, known(1), known(2)), attributes.get("pad_mode", b"").decode(), rules, 3)
        case "ngraph":
            below, above, interior = (attributes.get(f"padding_{name}") for name in ("below", "above", "interior"))
            mode = attributes.get("pad_mode", b"CONSTANT")
            text_of = NGRAPH_MODES[mode] if isinstance(mode, int) else mode.decode()
            return Definition(_rows(shape, below, above, interior), text_of.lower(), NGRAPH, 1)
        case "same":
            return Definition(_same_axes(shape, attributes), attributes.get("mode", b"").decode(), SAME, 1)
        case "tensorflow":
            paddings = known(1)
            if paddings is None or paddings.shape != (len(shape), 2) or paddings.dtype.kind not in "iu":
                raise Fails(f"paddings do not fit rank {len(shape)}")
            mode = TENSORFLOWS[head.name] or attributes.get("mode", b"").decode().lower()
            fill = 2 if head.name == "PadV2" else -1
            return Definition(_rows(shape, paddings[:, 0], paddings[:, 1]), mode, TENSORFLOW, fill)
    raise Unsupported(f"{head.domain}::{head.name}")


def _rows(shape: Sequence[int], begins: Any, ends: Any, interior: Any = 0) -> list[Axis]:
    rows = (begins, ends, interior or [0] * len(shape))
    if any(row is None or np.ndim(row) != 1 or len(row) != len(shape) for row in rows):
        raise Fails(f"amounts {begins} and {ends} do not fit rank {len(shape)} [P8]")
    return [Axis(*(int(one) for one in row)) for row in zip(shape, *rows)]


def _placed(shape: Sequence[int], amounts: Iterable[tuple[int, int, int]]) -> list[Axis]:
    """Returns the axes of data; each row of ``amounts`` has an axis, its begin and its end; other axes have 0, 0."""
    found = [Axis(size, 0, 0) for size in shape]
    for axis, begin, end in amounts:
        found[axis] = Axis(shape[axis], begin, end)
    return found


def _same_axes(shape: Sequence[int], attributes: Attributes) -> list[Axis]:
    kernel = attributes.get("kernel_shape", ())
    strides, dilations = (attributes.get(name) or (1,) * len(kernel) for name in ("strides", "dilations"))
    lists = (kernel, strides, dilations)
    fits = all(len(one) == len(kernel) and all(number > 0 for number in one) for one in lists)
    if len(shape) != len(kernel) + 2 or not fits:
        raise Fails(f"kernel {kernel} and its strides and dilations do not fit rank {len(shape)} [S1]")
    first = 2 if attributes.get("data_format", b"NCHW").startswith(b"NC") else 1
    found = [Axis(size, 0, 0) for size in shape]
    auto_pad = attributes.get("auto_pad", b"SAME_UPPER").decode()
    for at, (size, stride, dilation) in enumerate(zip(kernel, strides, dilations), first):
        found[at] = same_axis(shape[at], size, stride, dilation, auto_pad)
    return found


def _torch(name: str, shape: Sequence[int], known: Known) -> Definition:
    """Returns the effect of an ATen Pad: its amounts are a begin and an end for each axis, the last axis first."""
    pads, mode, fill = known(1), TORCH[name], 2
    if not mode:
        given, fill = known(2), 3
        said = b"constant" if given is None else given.reshape(-1)[0]
        mode = said.decode() if isinstance(said, bytes) else TORCH_NUMBERS[int(said)]
    if mode not in TORCH_MODES:
        raise Unsupported(f"mode {mode!r}")
    if pads is None or pads.ndim != 1 or pads.size % 2 or pads.size > 2 * len(shape):
        raise Fails(f"amounts do not fit rank {len(shape)}")
    found = _placed(shape, ((-1 - at, *row) for at, row in enumerate(pads.reshape(-1, 2).tolist())))
    extends = mode in ("reflect", "replicate", "symmetric")
    return Definition(found, TORCH_MODES[mode], ONCE if extends else ONNX, fill, number=True)


def _caffe2(attributes: Attributes, shape: Sequence[int]) -> Definition:
    sides = [attributes.get(f"pad_{side}", 0) for side in "tlbr"]
    if "pads" in attributes or "pad" in attributes:
        sides = list(attributes.get("pads", [attributes.get("pad")] * 4))
    first = 2 if attributes.get("order", b"NCHW") == b"NCHW" else 1
    if len(shape) != 4 or len(sides) != 4:
        raise Fails(f"PadImage of rank {len(shape)}")
    found = _placed(shape, ((first + at, sides[at], sides[2 + at]) for at in range(2)))
    mode, value = attributes.get("mode", b"constant").decode(), attributes.get("value", bytes(4))
    return Definition(found, mode, ONCE, value=value)


def _centred(shape: Sequence[int], target: np.ndarray | None, axes: Sequence[int] | None) -> list[Axis]:
    """Returns the axes of a CenterCropPad, which adds or removes elements at both ends of an axis."""
    chosen = range(len(shape)) if axes is None else axes
    if target is None or target.size != len(chosen):
        raise Fails(f"CenterCropPad has the target shape {target} for {len(chosen)} axes")
    lacking = [size - shape[axis] for axis, size in zip(chosen, target.reshape(-1).tolist())]
    begins = [amount // 2 if amount > 0 else -(-amount // 2) for amount in lacking]
    return _placed(shape, zip(chosen, begins, (amount - begin for amount, begin in zip(lacking, begins))))


def _onnx(head: Head, shape: Sequence[int], known: Known) -> Definition:
    rank, amounts, axes = len(shape), known(1), known(3)
    if head.fill or head.mode not in MODES:
        raise Unsupported("the fill or the mode of a Pad is not known")
    if amounts is None or amounts.shape not in ((amounts.size,), (1, amounts.size)):
        raise Fails("pads are no list [P8]")
    if not rank and amounts.size:
        raise Unsupported("the data of a Pad are without axes")
    chosen = list(range(rank)) if axes is None else axes.reshape(-1).tolist()
    is_inside = all(-rank <= axis < rank for axis in chosen)
    if not is_inside or amounts.size != 2 * len(chosen) or len({axis % rank for axis in chosen}) < len(chosen):
        raise Fails(f"pads has {amounts.size} values for axes={chosen} and rank {rank} [P8]")
    return Definition(_placed(shape, zip(chosen, *amounts.reshape(2, -1).tolist())), head.mode, ONNX, 2)
