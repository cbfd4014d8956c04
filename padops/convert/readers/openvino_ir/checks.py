"""Layers that onnxifier's rules get wrong or make invalid: one check or row for each, with the measurement.

A check says why a layer cannot be converted, or None. (onnxifier 2.0.3; OpenVINO 2026.4.1 and onnxruntime 1.31.1, CPU.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import TensorProto

from padops.convert.readers.openvino_ir.own import FLOATS
from padops.convert.readers.openvino_ir.values import Dims, Values, amounts, attributes_of, decimal, integers


@dataclass(frozen=True)
class Seen:
    """What is known of a layer."""

    node: onnx.NodeProto
    attributes: Mapping[str, str]
    type: int | None  # element type of its first input, None if it has none
    dims: list[Dims]  # those of its inputs
    constants: list[Any]  # elements of its inputs, None for those that are not constant, or large
    # Of a pool, or of what has auto_pad, begin and end of each spatial axis, None where only a run can tell.
    amounts: list[tuple[int, int]] | None

    @staticmethod
    def of(node: onnx.NodeProto, values: Values) -> Seen:
        """Looks at a layer."""
        arrays = [values.constant(name) for name in node.input]
        attributes = attributes_of(node)
        follow = node.op_type in ("AvgPool", "MaxPool") or attributes.get("auto_pad", "").startswith("same_")
        return Seen(
            node,
            attributes,
            values.types[node.input[0]] if node.input else None,
            [values.dims[name] for name in node.input],
            [None if array is None else array.tolist() for array in arrays],
            amounts(node, values) if follow else None,
        )

    def flag(self, name: str) -> bool:
        """Whether an attribute says true, or a mask has a one."""
        text = self.attributes.get(name, "")
        return text.lower() == "true" or "1" in text


def _average_pool(seen: Seen) -> str | None:
    if not seen.flag("exclude-pad"):
        if seen.attributes.get("rounding_type") == "ceil":
            return (
                "with rounding_type='ceil', OpenVINO counts the pads that exclude-pad='false' includes in its own way"
            )
        if seen.amounts is None:
            return "auto_pad with exclude-pad='false' and spatial dims that are dynamic"
    return _pool(seen)


def _pool(seen: Seen) -> str | None:
    kind = seen.attributes.get("rounding_type", "floor")
    if kind not in ("floor", "ceil"):
        return f"onnxifier takes rounding_type='{kind}' for 'floor'"
    if seen.amounts is None and max(integers(seen.attributes, "dilations", missing=""), default=1) > 1:
        return "ONNX Runtime ignores the dilations where it computes the amounts of auto_pad itself"
    for size, pads in zip(integers(seen.attributes, "kernel"), seen.amounts or []):
        if max(pads) >= size:
            return f"ONNX Runtime refuses a pad of {max(pads)} for a kernel of {size}"
    return None


def _batch_norm(seen: Seen) -> str | None:
    version = seen.attributes.get("version")
    return None if version == "opset5" else f"inputs of {version} are in another order than onnxifier takes them in"


def _clamp(seen: Seen) -> str | None:
    if seen.type not in FLOATS:
        for name in ("min", "max"):
            limit = decimal(seen.attributes, name)
            if not limit.is_integer() or abs(limit) > 2**31 - 1:
                return f"{name}='{seen.attributes.get(name)}' is not an integer of the data's type"
    return None


def _deconvolution(seen: Seen) -> str | None:
    if len(seen.node.input) > 2:
        return "onnxifier drops the input output_shape"
    auto_pad = seen.attributes.get("auto_pad")
    return None if auto_pad in ("explicit", "valid") else f"auto_pad='{auto_pad}'"


def _interpolate(seen: Seen) -> str | None:
    mode = seen.attributes.get("mode")
    if mode not in ("nearest", "linear_onnx", "cubic"):
        return f"ONNX does not have mode='{mode}'"
    if seen.attributes.get("nearest_mode") == "simple":
        return "ONNX does not have nearest_mode='simple'"
    version = seen.attributes.get("version")
    return None if version in ("opset4", "opset11") else f"onnxifier guesses what the inputs of {version} are"


def _matmul(seen: Seen) -> str | None:
    for name, dims in zip(("transpose_a", "transpose_b"), seen.dims):
        if seen.flag(name) and (dims is None or len(dims) < 2):
            return f"{name} of a vector, or of an input of unknown rank"
    return None


CHECKS: Mapping[str, Callable[[Seen], str | None]] = {
    "AvgPool": _average_pool,
    "BatchNormInference": _batch_norm,
    "Clamp": _clamp,
    "ConvolutionBackpropData": _deconvolution,
    "GroupConvolutionBackpropData": _deconvolution,
    "Interpolate": _interpolate,
    "MatMul": _matmul,
    "MaxPool": _pool,
}

# What is always wrong with a layer where a condition holds.
_SINGLE_GROUP = (
    lambda seen: bool(seen.dims[1]) and seen.dims[1][0] == 1,
    "onnxifier makes an invalid Conv of a single group",
)
_NO_FLOATS = (lambda seen: seen.type not in FLOATS, "ONNX has it only for floats")
_NO_AXES = (lambda seen: seen.constants[1] == [], "ONNX reduces all axes where the list of them is empty")
WRONG_WHERE: Mapping[str, tuple[Callable[[Seen], bool], str]] = {
    "Broadcast": (
        lambda seen: seen.attributes.get("mode") == "explicit" and None in seen.constants[1:],
        "mode='explicit' with a target shape or axes that are not constant",
    ),
    "Ceiling": _NO_FLOATS,
    # Of 32 and 64 bits, OpenVINO rounds towards zero as ONNX does, whatever m_pythondiv says.
    "Divide": (
        lambda seen: seen.type not in (*FLOATS, TensorProto.INT32, TensorProto.INT64),
        "OpenVINO rounds quotients of small integers to the nearest, ONNX towards zero",
    ),
    "Floor": _NO_FLOATS,
    "GatherND": (
        lambda seen: (
            seen.attributes.get("version") == "opset5" and integers(seen.attributes, "batch_dims", missing="0") > [1]
        ),
        "GatherND of opset5 makes one dim of all its batch dims, ONNX's does not",
    ),
    "GroupConvolution": _SINGLE_GROUP,
    "GroupConvolutionBackpropData": _SINGLE_GROUP,
    "PReLU": (
        lambda seen: seen.dims[1] is None or (len(seen.dims[1]) == 1 and seen.dims[1][0] != 1),
        "OpenVINO reads a slope of one dim along axis 1, ONNX along the last",
    ),
    **{f"Reduce{name}": _NO_AXES for name in ("L1", "L2", "Max", "Mean", "Min", "Prod", "Sum")},
    "ScaledDotProductAttention": (
        lambda seen: None in seen.constants[3:],
        "onnxifier may take another value for a mask or scale that is not constant",
    ),
    "Slice": (lambda seen: len(seen.node.input) == 4, "onnxifier takes the data for the axes that are not there"),
    "Swish": (lambda seen: len(seen.node.input) > 1 and seen.constants[1] != 1, "onnxifier drops the input beta"),
}


def wrong_with(seen: Seen) -> str | None:
    """Why a layer with a rule cannot be converted all the same, or None."""
    kind = seen.node.op_type
    holds, reason = WRONG_WHERE.get(kind, (None, ""))
    if holds is not None and holds(seen):
        return reason
    return CHECKS[kind](seen) if kind in CHECKS else None
