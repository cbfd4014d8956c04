"""Facts about OpenVINO's layers and onnxifier's rules for them; each line was measured against OpenVINO.

``tests/convert/readers/test_convert_openvino_ir.py`` compares every type of layer that is listed here with OpenVINO's
CPU device.
"""

from __future__ import annotations

from collections.abc import Mapping

from padops.convert.readers.openvino_ir.own import OWN

# Layers that equal an ONNX operator, with its name.
SAME = {
    **{name: name for name in ("Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh")},
    **{name: name for name in ("CumSum", "Equal", "Erf", "Exp", "Floor", "Greater", "IsNaN", "Less", "Log", "Mish")},
    **{name: name for name in ("NonZero", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh", "Tile")},
    "Ceiling": "Ceil",
    "ConvertLike": "CastLike",
    "LogicalAnd": "And",
    "LogicalNot": "Not",
    "LogicalOr": "Or",
    "LogicalXor": "Xor",
    "Negative": "Neg",
    "SoftPlus": "Softplus",
    "SoftSign": "Softsign",
}

MAX_INPUTS = 1 << 20  # of a layer that takes any number

# Layers whose rule in onnxifier gives what OpenVINO gives, apart from what ``checks.py`` and the rest of this file say.
RULES = frozenset(
    """
    AvgPool BatchNormInference Broadcast Clamp Concat Convolution ConvolutionBackpropData DepthToSpace Divide Gather
    GatherElements GatherND Gelu GreaterEqual GroupConvolution GroupConvolutionBackpropData HSigmoid
    HSwish HardSigmoid Interpolate LessEqual MatMul MaxPool Maximum Minimum Multiply PReLU Power Range ReLU
    ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape ScaledDotProductAttention
    ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Select Selu Slice SoftMax SpaceToDepth Split Squeeze
    Subtract Swish TopK Unsqueeze VariadicSplit
    """.split()
)

# Values of attributes that change nothing, so that they may be dropped; "*" stands for every layer, or every value.
WITHOUT_EFFECT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("*", "auto_broadcast"): ("numpy",),
    ("CumSum", "exclusive"): ("false",),
    ("CumSum", "reverse"): ("false",),
    ("Divide", "m_pythondiv"): ("*",),  # see checks.py
    ("Gather", "batch_dims"): ("0",),
    ("Interpolate", "antialias"): ("false",),
    ("Interpolate", "cube_coeff"): ("-0.75",),  # the default of both; onnxifier looks for it under another name
    ("MaxPool", "axis"): ("0",),
    ("MaxPool", "index_element_type"): ("i64",),
    ("NonZero", "output_type"): ("i64",),
    ("Round", "mode"): ("half_to_even",),
    ("ScatterElementsUpdate", "use_init_val"): ("true",),
    ("ScatterNDUpdate", "reduction"): ("none",),
    ("Squeeze", "allow_axis_skip"): ("false",),
    ("TopK", "stable"): ("*",),  # ONNX's is
}

# Attributes that onnxifier drops although ONNX has them: layer, attribute, value, attribute and value of the ONNX node.
REPAIRS: tuple[tuple[str, str, str, str, int], ...] = (
    ("AvgPool", "exclude-pad", "true", "count_include_pad", 0),
    ("AvgPool", "exclude-pad", "false", "count_include_pad", 1),
    ("Reshape", "special_zero", "true", "allowzero", 0),
    ("Reshape", "special_zero", "false", "allowzero", 1),
    ("TopK", "sort", "value", "sorted", 1),
)

# What ONNX or onnxifier wants of an input, by layer and position, where OpenVINO takes more: elements of int64, int64
# for integers that are constant, a list (of rank 1), or a scalar (of rank 0).
INPUTS: Mapping[str, Mapping[int, str]] = {
    "Gather": {2: "scalar"},
    "GatherND": {1: "int64"},
    "HardSigmoid": {1: "scalar", 2: "scalar"},
    "Interpolate": {1: "constant int64"},
    "MVN": {1: "int64"},
    "ScatterElementsUpdate": {3: "scalar"},
    "ScatterNDUpdate": {1: "int64"},
    "Split": {1: "scalar"},
    "Squeeze": {1: "list"},
    "Tile": {1: "int64"},
    "Unsqueeze": {1: "list"},
    "VariadicSplit": {1: "scalar", 2: "int64"},
}

# How many inputs a layer has, where that is not one.
COUNTS: Mapping[tuple[int, int], str] = {
    (1, 2): "Squeeze Swish",
    (1, MAX_INPUTS): "Concat Einsum",
    (2, 2): """
        Add ConvertLike Convolution CumSum Divide Equal GatherElements GatherND Greater GreaterEqual GroupConvolution
        Less LessEqual LogicalAnd LogicalOr LogicalXor MVN MatMul Maximum Minimum Multiply PReLU Power ReduceL1 ReduceL2
        ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape Split Subtract Tile TopK Transpose Unsqueeze
        """,
    (2, 3): "Broadcast ConvolutionBackpropData GroupConvolutionBackpropData",
    (2, 4): "Interpolate",
    (3, 3): "Gather HardSigmoid Range ScatterNDUpdate Select Selu VariadicSplit",
    (3, 4): "Pad StridedSlice",
    (3, 6): "ScaledDotProductAttention",
    (4, 4): "ScatterElementsUpdate ScatterUpdate",
    (4, 5): "Slice",
    (5, 5): "BatchNormInference FakeQuantize",
    (6, 6): "GRUSequence RNNSequence",
    (7, 7): "LSTMSequence",
}
_COUNTS = {name: count for count, names in COUNTS.items() for name in names.split()}


def inputs_of(kind: str) -> tuple[int, int]:
    """The least and the most inputs that a layer has; any number for one that is not converted."""
    return _COUNTS.get(kind, (1, 1) if kind in RULES or kind in OWN or kind in SAME else (0, MAX_INPUTS))


def changes_nothing(kind: str, name: str, value: str) -> bool:
    """Whether an attribute of a layer may be dropped."""
    if name == "version":
        return True
    allowed = WITHOUT_EFFECT.get((kind, name), WITHOUT_EFFECT.get(("*", name), ()))
    return "*" in allowed or value in allowed
