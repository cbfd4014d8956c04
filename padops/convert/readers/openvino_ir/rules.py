"""The rule of each type of layer: arithmetic here, the others in the modules beside.

A rule adds nodes, and gives a value for each output of the layer; it takes the inputs of the layer. Rules follow
OpenVINO's and ONNX's specifications; ``tests/convert/readers/test_convert_openvino_layers.py`` compares each with
OpenVINO's CPU device (2026.4.1; onnxruntime 1.31.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature
from math import inf

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.readers.openvino_ir.layer import FLOATS, Layer, Unreadable
from padops.convert.readers.openvino_ir.moves import MOVES
from padops.convert.readers.openvino_ir.sequences import SEQUENCES
from padops.convert.readers.openvino_ir.sums import SUMS
from padops.convert.readers.openvino_ir.values import Values
from padops.convert.readers.openvino_ir.windows import WINDOWS
from padops.plural import plural

# Layers that equal an ONNX operator, with its name, by the number of their inputs.
UNARY = {
    **{name: name for name in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp")},
    **{name: name for name in ("IsNaN", "Log", "Mish", "NonZero", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt")},
    **{"HSwish": "HardSwish", "LogicalNot": "Not", "Negative": "Neg", "ReLU": "Relu", "SoftPlus": "Softplus"},
    **{"Ceiling": "Ceil", "Floor": "Floor", "SoftSign": "Softsign", "Tan": "Tan", "Tanh": "Tanh"},
}
BINARY = {
    **{name: name for name in ("Add", "Equal", "Greater", "Less")},
    **{"ConvertLike": "CastLike", "GreaterEqual": "GreaterOrEqual", "LessEqual": "LessOrEqual"},
    **{"LogicalAnd": "And", "LogicalOr": "Or", "LogicalXor": "Xor", "Maximum": "Max", "Minimum": "Min"},
    **{"Multiply": "Mul", "Power": "Pow", "Subtract": "Sub"},
}
OF_FLOATS = ("Ceiling", "Floor")

# Values of attributes that change nothing, so that no rule reads them; "*" is every layer, or every value.
WITHOUT_EFFECT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("*", "auto_broadcast"): ("numpy",),
    ("*", "activations_alpha"): ("*",),  # of a sequence; the activations that are read have none
    ("*", "activations_beta"): ("*",),
    ("Divide", "m_pythondiv"): ("*",),  # of integers, OpenVINO rounds towards zero all the same
    ("Gather", "batch_dims"): ("0",),
    ("Interpolate", "antialias"): ("false",),
    ("NonZero", "output_type"): ("i64",),
    ("Round", "mode"): ("half_to_even",),
    ("ScatterElementsUpdate", "use_init_val"): ("true",),
    ("Squeeze", "allow_axis_skip"): ("false",),
    ("TopK", "stable"): ("*",),  # ONNX's is
}


def _unary(layer: Layer, data: str) -> str:
    if layer.node.op_type in OF_FLOATS and layer.type not in FLOATS:
        raise Unreadable("ONNX has it only for floats")
    return layer.add(UNARY[layer.node.op_type], data)


def _binary(layer: Layer, first: str, second: str) -> str:
    return layer.add(BINARY[layer.node.op_type], first, second)


def _divide(layer: Layer, first: str, second: str) -> str:
    if layer.type not in (*FLOATS, TensorProto.INT32, TensorProto.INT64):
        raise Unreadable("OpenVINO rounds quotients of small integers to the nearest, ONNX towards zero")
    return layer.add("Div", first, second)


def _convert(layer: Layer, data: str) -> str:
    return layer.add("Cast", data, to=layer.element_type("destination_type"))


def _select(layer: Layer, condition: str, then: str, otherwise: str) -> str:
    return layer.add("Where", condition, then, otherwise)


def _range(layer: Layer, start: str, stop: str, step: str) -> str:
    type = layer.element_type("output_type") if layer.word("output_type", "") else layer.type
    return layer.add("Range", *(layer.of_type(name, type) for name in (start, stop, step)))


def _cumsum(layer: Layer, data: str, axis: str) -> str:
    marks = {name: int(layer.flag(name, "false")) for name in ("exclusive", "reverse")}
    return layer.add("CumSum", data, axis, **marks)


# Activations.


def _clamp(layer: Layer, data: str) -> str:
    limits = [layer.decimal(name) for name in ("min", "max")]
    for name, limit in zip(("min", "max"), limits):
        if layer.type not in FLOATS and (not limit.is_integer() or abs(limit) > 2**31 - 1):
            raise Unreadable(f"{name}='{layer.word(name)}' is not an integer of the data's type")
    return layer.add("Clip", data, *map(layer.like, limits))


def _gelu(layer: Layer, data: str) -> str:
    return layer.add(
        "Gelu", data, approximate=layer.choice("approximation_mode", {"erf": "none", "tanh": "tanh"}, "erf")
    )


def _hsigmoid(layer: Layer, data: str) -> str:
    return layer.add("HardSigmoid", data, alpha=1 / 6, beta=0.5)


def _hard_sigmoid(layer: Layer, data: str, alpha: str, beta: str) -> str:
    return layer.add("HardSigmoid", data, alpha=layer.number(alpha), beta=layer.number(beta))


def _selu(layer: Layer, data: str, alpha: str, scale: str) -> str:
    return layer.add("Selu", data, alpha=layer.number(alpha), gamma=layer.number(scale))


def _prelu(layer: Layer, data: str, slope: str) -> str:
    dims = layer.dims(slope)
    if len(dims) == 1 and dims != [1]:
        raise Unreadable("OpenVINO reads a slope of one dim along axis 1, ONNX along the last")
    return layer.add("PRelu", data, slope)


def _swish(layer: Layer, data: str, beta: str = "") -> str:
    scaled = data if not beta or layer.values.constant(beta) == 1 else layer.add("Mul", data, beta)
    return layer.add("Mul", data, layer.add("Sigmoid", scaled))


def _fake_quantize(layer: Layer, data: str, low: str, high: str, new_low: str, new_high: str) -> str:
    """As OpenVINO's CPU device computes it: the formula of its documentation gives other numbers for ties."""
    layer.choice("auto_broadcast", {"numpy": None, "none": None}, "numpy")
    if layer.type not in FLOATS:
        raise Unreadable("its data are no floats")
    levels = layer.integer("levels")
    if levels < 2:
        raise Unreadable(f"levels is {levels}, expected 2 or more")
    lowest, highest = (layer.values.array(name) for name in (low, high))
    if lowest is not None and highest is not None and np.equal(lowest, highest).any():
        raise Unreadable("its limits of inputs are equal, where OpenVINO's CPU device gives NaN")
    steps = layer.like(levels - 1)
    scale = layer.add("Div", steps, layer.add("Sub", high, low))
    shift = layer.add("Mul", layer.add("Neg", low), scale)
    inside = layer.add("Max", data, layer.add("Min", low, high))
    inside = layer.add("Min", inside, layer.add("Max", low, high))
    level = layer.add("Round", layer.add("Add", layer.add("Mul", inside, scale), shift))
    step = layer.add("Div", layer.add("Sub", new_high, new_low), steps)
    return layer.add("Add", layer.add("Mul", level, step), new_low)


Rule = Callable[..., "str | list[str]"]
RULES: Mapping[str, Rule] = {
    **dict.fromkeys(UNARY, _unary), **dict.fromkeys(BINARY, _binary),
    **{**MOVES, **SEQUENCES, **SUMS, **WINDOWS}, "Clamp": _clamp, "Convert": _convert, "CumSum": _cumsum,
    "Divide": _divide, "FakeQuantize": _fake_quantize, "Gelu": _gelu, "HSigmoid": _hsigmoid,
    "HardSigmoid": _hard_sigmoid, "PReLU": _prelu, "Range": _range, "Select": _select, "Selu": _selu, "Swish": _swish,
}  # fmt: skip


def _pad(layer: Layer, data: str, begin: str, end: str, fill: str = "") -> str:
    """The inputs of a Pad, which stays a layer."""
    return ""


@cache
def _inputs_of(rule: Rule) -> tuple[int, float]:
    """The least and the most inputs of the layers that a rule takes."""
    inputs = list(signature(rule).parameters.values())[1:]
    least = sum(one.default is Parameter.empty and one.kind is Parameter.POSITIONAL_OR_KEYWORD for one in inputs)
    return least, inf if any(one.kind is Parameter.VAR_POSITIONAL for one in inputs) else len(inputs)


def is_read(node: onnx.NodeProto, values: Values) -> bool:
    """Whether a rule takes a layer."""
    try:
        onnx_nodes(node, values, keep=False)
    except Unreadable:
        return False
    return True


def onnx_nodes(node: onnx.NodeProto, values: Values, keep: bool = True) -> list[onnx.NodeProto]:
    """The operators that a layer is; a Pad stays as it is. Unless ``keep``, the names between them are free again.

    Raises:
        Unreadable: ONNX has nothing like it, or it is damaged.
    """
    rule = RULES.get(node.op_type, _pad if node.op_type == "Pad" else None)
    if rule is None:
        raise Unreadable("there is no rule for this type of layer")
    least, most = _inputs_of(rule)
    if not least <= len(node.input) <= most:
        expected = f"{least}" if least == most else f"{least} or more" if most == inf else f"{least} to {most}"
        raise Unreadable(f"it has {plural(len(node.input), 'input')}, expected {expected}")
    if not node.output:
        raise Unreadable("it has no outputs")
    if rule is _pad:
        return [node]
    layer, kept = Layer(node, values), False
    try:
        given = rule(layer, *node.input)
        layer.refuse_what_is_not_read(WITHOUT_EFFECT)
        given = [given] if isinstance(given, str) else given
        if len(given) < len(node.output):
            raise Unreadable(f"it has {plural(len(node.output), 'output')}, expected {len(given)}")
        kept = keep
        return layer.finish(given) if keep else []
    except (IndexError, OverflowError, TypeError, ValueError) as error:  # NumPy and protobuf refuse odd numbers
        raise Unreadable(" ".join(str(error).split())) from error
    finally:
        if not kept:
            layer.forget()
