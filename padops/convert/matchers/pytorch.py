"""PyTorch's own Pads: nodes of the library ATen that PyTorch's exporter does not translate.

``operator_export_type=ONNX_ATEN``, and ``ONNX_ATEN_FALLBACK`` for operators that ONNX lacks, write
``org.pytorch.aten::ATen`` with the operator's name as an attribute; before PyTorch 1.11, in the default domain.
``ONNX_FALLTHROUGH`` writes the operator as the node's type. The inputs are PyTorch's arguments.

The amounts are in the order of ``torch.nn.functional.pad``: the last axis first, begin and end of each. ``reflect``,
``replicate`` and ``symmetric`` extend the uncropped data (FULL of P3), so they become OpenVINOPad_12, which reaches as
far as PyTorch (P4). ``circular`` crops first, as ONNX does, so it becomes a Pad of ONNX; so does ``constant``.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, attribute_value, remove_unused
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    Applied,
    Match,
    Replacement,
    Unconvertible,
    check_node,
    check_type,
    in_mode,
    matched,
    settle_version,
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


# The operators: the names of the inputs after the data, the mode if it is no input, and the number of axes if the
# operator always pads the same number.
Signature = tuple[tuple[str, ...], str, int | None]
OPERATORS: dict[str, Signature] = {
    **dict.fromkeys(("pad", "_pad_enum"), (("pads", "mode", "fill"), "", None)),
    "constant_pad_nd": (("pads", "fill"), "constant", None),
    "_pad_circular": (("pads",), "circular", None),
    **{f"reflection_pad{count}d": (("pads",), "reflect", count) for count in (1, 2, 3)},
    **{f"replication_pad{count}d": (("pads",), "replicate", count) for count in (1, 2, 3)},
    **{f"symmetric_pad{count}d": (("pads",), "symmetric", count) for count in (1, 2, 3)},
}


def operator_of(node: ir.Node) -> str | None:
    """Return the name of PyTorch's operator that a node calls; None if it calls none."""
    if node.op_type == CALL and node.domain in (*DOMAINS, ""):
        name: str | None = attribute_value(node, "operator", ir.AttributeType.STRING)
        return name
    return node.op_type if node.domain in DOMAINS else None


def match_pytorch_pad(site: NodeSite, types: Types) -> Match | None:
    name = operator_of(site.node)
    if name not in OPERATORS or site.node.op_identifier() in site.scope.model.functions:
        return None
    return matched(f"PyTorch {name}", lambda: _read(site, types, name))


def _read(site: NodeSite, types: Types, name: str) -> Match | Replacement:
    node, (names, implied, axes) = site.node, OPERATORS[name]
    check_node(node, (2, 1 + len(names)), ("operator", "overload_name"))
    if overload := attribute_value(node, "overload_name", ir.AttributeType.STRING, ""):
        raise Unconvertible(f"its overload is '{overload}', which padops does not know")
    given = {role: value for role, value in zip(names, node.inputs[1:]) if value is not None}
    mode = MODES[implied or _mode(name, given.get("mode"), site, types)]
    pads, data = given["pads"], node.inputs[0]
    array = evaluate(pads, site.scope, types)
    count = _axes_with_amounts(array, types.shape(pads), axes)
    shape = types.shape(data)
    rank = None if shape is None else len(shape)
    if rank is not None and count > rank:
        raise Unconvertible(f"it has amounts for {plural(count, 'axis')}, but its data have rank {rank}")
    type_name = types.name(data, *node.outputs)
    if mode in EXTENDED and rank is not None:
        check_type(type_name, OPS[FULL])
        op = FULL
    elif mode == "symmetric" or (mode in EXTENDED and (array is None or (array < 0).any())):
        raise Unconvertible(f"the rank of its data is not known, and ONNX has no {mode} that crops as PyTorch's does")
    else:
        op = settle_version(FIRST_WITH_AXES if rank is None else FIRST_WITH_INPUTS, type_name, [mode])
    fill = None
    if mode == "constant" and "fill" in given:
        fill = _pytorch_fill(evaluate(given["fill"], site.scope, types), type_name)
    # For each amount of the new Pad, begins then ends, its index in PyTorch's; one past the end stands for 0.
    of_axes = range(count) if rank is None else range(rank)[::-1]
    order = np.array([min(2 * i + side, 2 * count) for side in (0, 1) for i in of_axes], np.int64)
    roles = ["pads_begin", "pads_end"] if op == FULL else ["pads"]

    def made(*amounts: Operand) -> Replacement:
        named = None if rank is not None else -1 - np.arange(count, dtype=np.int64)
        return in_mode(op, mode, data, *amounts, fill, named)

    if array is not None:
        return made(*np.split(np.append(array, 0)[order].astype(np.int64), len(roles)))

    def apply(site: NodeSite, constants: Constants) -> Applied:
        """Reorder unknown amounts by nodes in front of the node, and remove the input of the mode.

        The exporter writes the mode as a Constant that is invalid in ONNX and that ONNX Runtime rejects.
        """
        node.resize_inputs(2)
        remove_unused([value for role, value in given.items() if role != "pads"])
        known = pads
        if rank is not None and rank > count:
            none = constants.add(np.zeros(1, np.int64), site, "no_amount")
            known = constants.insert("Concat", [pads, none], site, "amounts", [ir.AttrInt64("axis", 0)])
        gathered = []
        for role, part in zip(roles, np.split(order, len(roles))):
            at = constants.add(part, site, f"{role}_at")
            gathered.append(constants.insert("Gather", [known, at], site, role))
        return Applied([node], site, made(*gathered))

    return Match("", made(*(ir.Value(name=role) for role in roles)), apply)


def _mode(name: str, given: ir.Value | None, site: NodeSite, types: Types) -> str:
    if given is None and name == "pad":
        return "constant"
    maker, array = given.producer() if given is not None else None, evaluate(given, site.scope, types)
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


def _axes_with_amounts(array: np.ndarray | None, shape: list[int | None] | None, axes: int | None) -> int:
    if array is not None and array.dtype.kind not in "iu":
        raise Unconvertible(f"its amounts are of type {array.dtype.name}, expected integers")
    dims = shape if array is None else list(array.shape)
    if dims is not None and len(dims) != 1:
        raise Unconvertible(f"its amounts have shape {dims}, expected a list")
    count = dims[0] if dims is not None else None
    if count is None and axes is None:
        raise Unconvertible("the number of its amounts is not known")
    if count is not None and (count % 2 if axes is None else count != 2 * axes):
        expected = "an even number" if axes is None else str(2 * axes)
        raise Unconvertible(f"it has {plural(count, 'amount')}, expected {expected}")
    return axes if axes is not None else (count or 0) // 2


def _pytorch_fill(array: np.ndarray | None, type_name: str | None) -> np.ndarray | None:
    """Return the fill as one element of the data's type, converted as in PyTorch; None for the default fill.

    PyTorch converts to 16-bit floats through float, and truncates fractions for integers.
    """
    if array is None or array.size != 1 or array.dtype.kind not in "biuf":
        raise Unconvertible("its value is not one constant number")
    value = array.reshape(-1)[0]
    if not any(value.tobytes()):
        return None
    if type_name is None:
        raise Unconvertible(f"the value {value} has to become an element of the data's type, which is not known")
    dtype = by_name(type_name).numpy
    fill: np.ndarray | None = None
    if dtype.kind == "b":
        fill = np.array(bool(value))
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        fill = np.array(int(value), dtype) if np.isfinite(value) and limits.min <= int(value) <= limits.max else None
    elif dtype.kind != "O":
        with np.errstate(over="ignore", invalid="ignore"):
            fill = np.asarray(value).astype(np.float64 if type_name == "double" else np.float32).astype(dtype)
        fill = None if np.isinf(np.float64(fill)) and np.isfinite(value) else fill
    if fill is None:
        raise Unconvertible(f"the value {value} is not of the data's type, {type_name}")
    return fill
