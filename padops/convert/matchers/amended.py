"""Inputs of ONNX's Pad that mean something though ONNX Runtime refuses them, and the inputs that say the same.

Float16 converters leave a fill of float beside data of float16, other tools write amounts of int32. Every release
(1.20 to 1.32) refuses both. It refuses amounts and axes in an external file, too, once it knows the rank of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite, attribute_value, constant
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Match, Replacement, Rewrite, Unconvertible, type_of
from padops.convert.pads.operands import Operand
from padops.convert.runtimes.builtin_support import CASTS_RIGHT_SINCE
from padops.spec.dialects import INTEGER_KINDS
from padops.spec.dtypes import by_name

AXES = ("int64", "int32")  # the types of axes that ONNX has; amounts are of int64


@dataclass
class Amended:
    """The inputs of a Pad, with an array in place of a constant that ONNX Runtime refuses."""

    inputs: list[Operand | None]  # data, pads, fill, axes; None where absent
    type: str | None  # the element type of the data; None if unknown
    wrong: list[str] = field(default_factory=list)  # what the node has that no version of Pad has, for its form
    external: list[str] = field(default_factory=list)  # the inputs whose elements are in an external file
    # Computed integers, with the Cast's output that stands for them until the Cast is there.
    casts: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def rewrite(self, made: Replacement) -> Replacement | Rewrite:
        """The Pad, behind the Casts that it needs."""
        if not self.casts:
            return made

        def apply(site: NodeSite, constants: Constants) -> Applied:
            inputs = list(made.inputs)
            for given, wide in self.casts.items():
                to = ir.AttrInt64("to", ir.DataType.INT64)
                cast = constants.insert("Cast", [given], site, wide.name or "", [to])
                cast.type, cast.shape = wide.type, wide.shape
                inputs = [cast if one is wide else one for one in inputs]
            return Applied([site.node], site, Replacement(made.op_type, tuple(inputs), made.attributes))

        return Rewrite(made.op_type, apply, made, f"ONNX Runtime refuses a Pad {' and '.join(self.wrong)}")


def refused(form: str, why: Unconvertible) -> Match:
    """The match of a node that is no valid Pad, and that padops cannot make one."""
    return Match(form, reason=str(why), verdict=("refuses", f"ONNX Runtime refuses a node of this form; {why}"))


def amend(site: NodeSite, types: Types) -> Amended:
    """Reads the inputs of a Pad of ONNX or of ONNX Runtime.

    Raises:
        Unconvertible: An input has another type, and no rule says what it means.
    """
    data, pads, fill, axes = (*site.node.inputs, None, None, None, None)[:4]
    amended = Amended([data, pads, fill, axes], types.name(data, *site.node.outputs))
    for i, (name, value, allowed) in enumerate([("pads", pads, ("int64",)), ("axes", axes, AXES)]):
        if value is not None:
            amended.inputs[1 + 2 * i] = _integers(amended, name, value, allowed, site, types)
    if fill is not None:
        amended.inputs[2] = _fill(amended, fill, site, types)
    return amended


def _integers(
    amended: Amended, name: str, value: ir.Value, allowed: tuple[str, ...], site: NodeSite, types: Types
) -> Operand:
    array = constant(value, site.scope)
    type_name = types.name(value) if array is None else type_of(array)
    if type_name is None or type_name in allowed:
        if array is None and _is_external(value):  # behind an Identity
            array = evaluate(value, site.scope, types)
        if array is None or not _is_external(value):
            return value
        amended.external.append(name)
        return array
    if type_name not in INTEGER_KINDS["integer"]:
        raise Unconvertible(f"its input {name} is of type {type_name}, expected integers")
    amended.wrong.append(f"with {name} of {type_name}")
    if array is None:
        array = evaluate(value, site.scope, types)
    if array is not None:
        if array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise Unconvertible(f"its input {name} has {int(array.max())}, more than int64 has")
        return array.astype(np.int64)
    if (site.scope.opset or 0) < CASTS_RIGHT_SINCE:
        raise Unconvertible(f"its input {name} is of type {type_name}, expected int64")
    shape = types.shape(value)
    wide = ir.Value(name=name, type=ir.TensorType(ir.DataType.INT64), shape=None if shape is None else ir.Shape(shape))
    amended.casts[value] = wide
    return wide


def _is_external(value: ir.Value) -> bool:
    """Whether the elements of a constant are in an external file; ONNX Runtime looks through Identity."""
    node = value.producer()
    while node is not None and node.op_type == "Identity" and node.inputs[0] is not None:
        value, node = node.inputs[0], node.inputs[0].producer()
    tensor = value.const_value
    if node is not None and node.op_type == "Constant":
        tensor = attribute_value(node, "value", ir.AttributeType.TENSOR)
    return isinstance(tensor, ir.ExternalTensor)


def _fill(amended: Amended, fill: ir.Value, site: NodeSite, types: Types) -> Operand | None:
    """The fill, cast if it is a constant of another type than the data."""
    array = constant(fill, site.scope)
    found, type_name = types.name(fill) if array is None else type_of(array), amended.type
    if type_name is None or found is None or found == type_name:
        amended.type = type_name or found
        return fill
    amended.wrong.append(f"with a fill of {found} for data of {type_name}")
    if attribute_value(site.node, "mode", ir.AttributeType.STRING) in ("edge", "reflect", "wrap"):
        return None  # the mode uses no fill (P7)
    differs = f"its fill is {found}, and its data are {type_name}"
    if array is None:
        array = evaluate(fill, site.scope, types)
    if array is None:
        raise Unconvertible(f"{differs}; cast the fill, which is computed")
    if "string" in (found, type_name) or "complex" in type_name + found:
        raise Unconvertible(f"{differs}; give it a fill of {type_name}")
    with np.errstate(all="ignore"):
        cast = array.astype(by_name(type_name).numpy)
    rounded = _is_float(found) and _is_float(type_name)
    for before, after in zip(_numbers(array), _numbers(cast), strict=True):
        if not _means(before, after, rounded):
            raise Unconvertible(f"{differs}, in which {before} would be {after}; give it a fill of {type_name}")
    return cast


def _is_float(type_name: str) -> bool:
    return "float" in type_name or type_name == "double"


def _numbers(array: np.ndarray) -> list[float]:
    """The elements as Python's numbers, which compare exactly."""
    return [int(one) if "int" in type_of(array) else float(one) for one in array.reshape(-1)]


def _means(before: float, after: float, rounded: bool) -> bool:
    """Whether a cast has kept a number; among floats it may round it, as P7 rounds the attribute ``value``."""
    if before != before:
        return after != after
    return abs(after) < np.inf if rounded and before and abs(before) < np.inf else before == after
