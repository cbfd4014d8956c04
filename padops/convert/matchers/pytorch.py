"""PyTorch's own Pads: nodes of the library ATen that PyTorch's exporter does not translate.

``operator_export_type=ONNX_ATEN``, and ``ONNX_ATEN_FALLBACK`` for operators that ONNX lacks, write
``org.pytorch.aten::ATen`` with the operator's name as an attribute; before PyTorch 1.11, in the default domain.
``ONNX_FALLTHROUGH`` writes the operator as the node's type. The inputs are PyTorch's arguments.

The amounts are in the order of ``torch.nn.functional.pad``: the last axis first, begin and end of each. ``reflect``,
``replicate`` and ``symmetric`` extend the uncropped data (FULL of P3), so they become OpenVINOPad_12, which reaches as
far as PyTorch (P4). ``circular`` crops first, as ONNX does, so it becomes a Pad of ONNX; so does ``constant``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, attribute_value, remove_unused
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    Applied,
    Match,
    Replacement,
    Unconvertible,
    matched,
    settle_version,
    string_attribute,
)
from padops.convert.pads.pad_info import Operand
from padops.convert.runtimes import FIRST_WITH_AXES, FIRST_WITH_INPUTS
from padops.plural import plural
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_name

DOMAIN = "org.pytorch.aten"
DOMAINS = (DOMAIN, "aten")
CALL = "ATen"  # the operator that names another one
FULL = "OpenVINOPad_12"

# PyTorch's name of each mode, and ONNX's; in the order of ``_pad_enum``'s numbers.
NUMBERED = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}
# PyTorch 2.13 has no symmetric mode. The proposed mode (pytorch#189480) reflects with the edge and has no number.
MODES = NUMBERED | {"symmetric": "symmetric"}
EXTENDED = ("reflect", "edge", "symmetric")  # the modes that extend the uncropped data


@dataclass(frozen=True)
class _Signature:
    """The signature of an operator after the data and the amounts."""

    mode: str | None = None  # the mode of an operator with one mode; else None
    axes: int | None = None  # the number of axes of an operator that always pads the same number; else None
    has_mode: bool = False  # whether the third input is the mode
    has_fill: bool = False  # whether the last input is the fill

    @property
    def inputs(self) -> int:
        return 2 + self.has_mode + self.has_fill


OPERATORS = {
    "pad": _Signature(has_mode=True, has_fill=True),
    "_pad_enum": _Signature(has_mode=True, has_fill=True),
    "constant_pad_nd": _Signature("constant", has_fill=True),
    "_pad_circular": _Signature("circular"),
    **{f"reflection_pad{count}d": _Signature("reflect", count) for count in (1, 2, 3)},
    **{f"replication_pad{count}d": _Signature("replicate", count) for count in (1, 2, 3)},
    **{f"symmetric_pad{count}d": _Signature("symmetric", count) for count in (1, 2, 3)},
}


@dataclass(frozen=True)
class _PytorchPad:
    """A node, read as PyTorch's Pad."""

    data: ir.Value
    pads: Operand  # the amounts, known or not: begin and end of the last axis, then of the axis before it
    count: int  # the number of axes with amounts
    rank: int | None  # the rank of the data; None if unknown
    op: str
    mode: str  # the mode, in the spelling of ``op``
    fill: np.ndarray | None  # the fill of mode constant; None for the default

    @property
    def order(self) -> list[int]:
        """For each amount of the new Pad, begins then ends, its index in ``pads``; one past the end stands for 0."""
        axes = list(range(self.count)) if self.rank is None else list(reversed(range(self.rank)))
        none = 2 * self.count
        return [2 * i + end if i < self.count else none for end in (0, 1) for i in axes]

    @property
    def amounts(self) -> np.ndarray | None:
        return np.append(self.pads, 0)[self.order].astype(np.int64) if isinstance(self.pads, np.ndarray) else None

    def replacement(self, *amounts: Operand) -> Replacement:
        """Return the new Pad with these amounts: one list, or two for OpenVINO's Pad."""
        if self.op == FULL:
            return Replacement(self.op, (self.data, *amounts), {"pad_mode": ir.AttrString("pad_mode", self.mode)})
        axes = None if self.rank is not None else -1 - np.arange(self.count, dtype=np.int64)
        inputs = (self.data, *amounts, self.fill, axes)[: len(OPS[self.op].inputs)]
        return Replacement(self.op, inputs, {"mode": ir.AttrString("mode", self.mode)})

    @property
    def roles(self) -> list[str]:
        return ["pads_begin", "pads_end"] if self.op == FULL else ["pads"]

    def known(self) -> Replacement:
        """Return the new Pad, with stand-ins for computed amounts."""
        if self.amounts is None:
            return self.replacement(*(ir.Value(name=role) for role in self.roles))
        return self.replacement(*np.split(self.amounts, len(self.roles)))


def operator_of(node: ir.Node) -> str | None:
    """Return the name of PyTorch's operator that a node calls; None if it calls none."""
    if node.op_type == CALL and node.domain in (*DOMAINS, ""):
        return string_attribute(node, "operator", "")
    return node.op_type if node.domain in DOMAINS else None


def match_pytorch_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    name = operator_of(node)
    if name not in OPERATORS or node.op_identifier() in site.scope.model.functions:
        return None

    def read(notes: list[str]) -> Match:
        pad = _read(site, types, name, notes)
        needed = f"ONNX Runtime has no {node.op_type} in the domain '{node.domain}'"
        return Match("", pad.known(), partial(_apply, pad=pad), needed=needed)

    return matched(f"PyTorch {name}", read)


def _read(site: NodeSite, types: Types, name: str, notes: list[str]) -> _PytorchPad:
    node, signature = site.node, OPERATORS[name]
    _check_form(node, signature)
    data, given = node.inputs[0], node.inputs[1]
    assert data is not None and given is not None
    ask: Callable[[int], np.ndarray | None] = lambda i: evaluate(_input(node, i), site.scope, types)
    mode = MODES[_mode(node, name, signature, ask)]
    array = evaluate(given, site.scope, types)
    count = _axes_with_amounts(array, types.shape(given), signature)
    shape = types.shape(data)
    rank = None if shape is None else len(shape)
    if rank is not None and count > rank:
        raise Unconvertible(f"it has amounts for {plural(count, 'axis')}, but its data have rank {rank}")
    type_name = types.name(data, *node.outputs)
    if mode in EXTENDED and rank is not None:
        if type_name is not None and type_name not in OPS[FULL].types:
            raise Unconvertible(f"its data are {type_name}, which no Pad of padops has")
        op = FULL
    elif mode == "symmetric":
        raise Unconvertible("the rank of its data is not known, and ONNX has no mode symmetric")
    elif mode in EXTENDED and (array is None or (array < 0).any()):
        raise Unconvertible("the rank of its data is not known, and its amounts may crop")
    else:
        op = settle_version(FIRST_WITH_AXES if rank is None else FIRST_WITH_INPUTS, type_name, [mode], notes)
    fill = None
    if mode == "constant" and signature.has_fill and _input(node, signature.inputs - 1) is not None:
        fill = _pytorch_fill(ask(signature.inputs - 1), type_name)
    return _PytorchPad(data, given if array is None else array, count, rank, op, mode, fill)


def _check_form(node: ir.Node, signature: _Signature) -> None:
    """Refuse a node that does not fit PyTorch's declaration of the operator."""
    if foreign := sorted(set(node.attributes) - {"operator", "overload_name"}):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    if overload := string_attribute(node, "overload_name", ""):
        raise Unconvertible(f"its overload is '{overload}', which padops does not know")
    if not 2 <= len(node.inputs) <= signature.inputs:
        expected = "2" if signature.inputs == 2 else f"2 to {signature.inputs}"
        raise Unconvertible(f"it has {plural(len(node.inputs), 'input')}, expected {expected}")
    if node.inputs[0] is None or node.inputs[1] is None:
        raise Unconvertible("its data and its amounts are not both given")


def _input(node: ir.Node, i: int) -> ir.Value | None:
    return node.inputs[i] if i < len(node.inputs) else None


def _mode(node: ir.Node, name: str, signature: _Signature, ask: Callable[[int], np.ndarray | None]) -> str:
    if not signature.has_mode:
        assert signature.mode is not None
        return signature.mode
    if _input(node, 2) is None and name == "pad":
        return "constant"
    given, array = node.inputs[2], ask(2)
    maker = None if given is None else given.producer()
    item: str | int | None = None
    if maker is not None and maker.op_type == "Constant":  # an exporter's, whose ``value`` is a string, not a tensor
        item = attribute_value(maker, "value", ir.AttributeType.STRING)
    if not item and array is not None and array.size == 1:
        element = array.reshape(-1)[0]
        item = int(element) if array.dtype.kind in "iu" else str(element)
        item = element.decode(errors="replace") if isinstance(element, bytes) else item
    if item is None:
        raise Unconvertible("its mode is not constant")
    if name == "_pad_enum" and isinstance(item, int) and 0 <= item < len(NUMBERED):
        return list(NUMBERED)[item]
    if name == "pad" and isinstance(item, str) and item in MODES:
        return item
    raise Unconvertible(f"mode {item!r} is not one of {', '.join(MODES)} [P9]")


def _axes_with_amounts(array: np.ndarray | None, shape: object, signature: _Signature) -> int:
    if array is not None and array.dtype.kind not in "iu":
        raise Unconvertible(f"its amounts are of type {array.dtype.name}, expected integers")
    dims = list(array.shape) if array is not None else shape
    if isinstance(dims, list) and len(dims) == 1 and isinstance(dims[0], int):
        if dims[0] % 2 or dims[0] // 2 != (dims[0] // 2 if signature.axes is None else signature.axes):
            expected = "an even number" if signature.axes is None else str(2 * signature.axes)
            raise Unconvertible(f"it has {plural(dims[0], 'amount')}, expected {expected}")
        return dims[0] // 2
    if isinstance(dims, list) and len(dims) != 1:
        raise Unconvertible(f"its amounts have shape {dims}, expected a list")
    if signature.axes is None:
        raise Unconvertible("the number of its amounts is not known")
    return signature.axes


def _apply(site: NodeSite, constants: Constants, pad: _PytorchPad) -> Applied:
    """Reorder unknown amounts by nodes in front of the node, and remove the input of the mode.

    The exporter writes the mode as a Constant that is invalid in ONNX and that ONNX Runtime rejects.
    """
    kept = 2 if pad.amounts is None else 1  # ONNX Runtime warns about known amounts that nothing reads
    former = list(site.node.inputs[kept:])
    site.node.resize_inputs(kept)
    remove_unused([value for value in former if value is not None], site.scope.index)
    if pad.amounts is not None:
        return Applied([site.node], site, pad.known())
    assert isinstance(pad.pads, ir.Value)
    pads = pad.pads
    if pad.rank is not None and pad.rank > pad.count:
        none = constants.add(np.zeros(1, np.int64), site, "no_amount")
        pads = constants.insert("Concat", [pads, none], site, "amounts", [ir.AttrInt64("axis", 0)])
    parts = np.split(np.array(pad.order, np.int64), len(pad.roles))
    made = [
        constants.insert("Gather", [pads, constants.add(part, site, f"{role}_at")], site, role)
        for part, role in zip(parts, pad.roles, strict=True)
    ]
    return Applied([site.node], site, pad.replacement(*made))


def _pytorch_fill(array: np.ndarray | None, type_name: str | None) -> np.ndarray | None:
    """Return the fill as one element of the data's type, converted as in PyTorch; None for the default fill.

    PyTorch converts to 16-bit floats through float, and truncates fractions for integers.
    """
    if array is None or array.size != 1 or array.dtype.kind not in "biuf":
        raise Unconvertible("its value is not one constant number")
    value = array.reshape(-1)[0]
    if value == 0 and not np.signbit(value):
        return None
    if type_name is None:
        raise Unconvertible(f"the value {value} has to become an element of the data's type, which is not known")
    row = by_name(type_name)
    refused = Unconvertible(f"the value {value} is not of the data's type, {type_name}")
    if row.numpy.kind in "iu":
        limits = np.iinfo(row.numpy)
        if not np.isfinite(value) or not limits.min <= int(value) <= limits.max:
            raise refused
        return np.array(int(value), row.numpy)
    if row.numpy.kind == "b":
        return np.array(bool(value))
    if row.numpy.kind == "O":
        raise refused
    with np.errstate(over="ignore", invalid="ignore"):
        fill = np.asarray(value).astype(np.float64 if type_name == "double" else np.float32).astype(row.numpy)
    if np.isinf(np.float64(fill)) and np.isfinite(value):
        raise refused
    return fill
