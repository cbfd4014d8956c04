"""Layers that onnxifier's rules would get wrong, or would make invalid: one check for each, with what was measured.

A check says why a layer cannot be converted, or None. (onnxifier 2.0.3, against OpenVINO 2026.4.1 on the CPU.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import TensorProto

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE)


@dataclass(frozen=True)
class Seen:
    """What is known of a layer.

    Attributes:
        node: The layer.
        attributes: Its attributes.
        type: Element type of its first input, None if it has none.
        shapes: Dims of its inputs, a string for each that is open; None where not even the rank is known.
        constants: Elements of its inputs, None for those that are not constant, or large.
    """

    node: onnx.NodeProto
    attributes: Mapping[str, str]
    type: int | None
    shapes: list[list[int | str] | None]
    constants: list[Any]

    def flag(self, name: str) -> bool:
        """Whether an attribute says true, or a mask has a one."""
        text = self.attributes.get(name, "")
        return text.lower() == "true" or "1" in text


def _average_pool(seen: Seen) -> str | None:
    if seen.attributes.get("rounding_type") == "ceil" and seen.attributes.get("exclude-pad") == "false":
        return "with rounding_type='ceil', OpenVINO counts the pads that exclude-pad='false' includes in its own way"
    return _pool(seen)


def _pool(seen: Seen) -> str | None:
    kind = seen.attributes.get("rounding_type", "floor")
    return None if kind in ("floor", "ceil") else f"onnxifier takes rounding_type='{kind}' for 'floor'"


def _broadcast(seen: Seen) -> str | None:
    if seen.attributes.get("mode") == "explicit" and None in seen.constants[1:]:
        return "mode='explicit' with a target shape or axes that are not constant"
    return None


def _clamp(seen: Seen) -> str | None:
    if seen.type not in FLOATS:
        limits = {name: float(seen.attributes.get(name, "nan")) for name in ("min", "max")}
        for name, limit in limits.items():
            if not limit.is_integer() or abs(limit) > 2**31 - 1:
                return f"{name}='{seen.attributes.get(name)}' is not an integer of the data's type"
    return None


def _divide(seen: Seen) -> str | None:
    """Of 32 and 64 bits, OpenVINO rounds towards zero as ONNX does, whatever m_pythondiv says."""
    if seen.type in (*FLOATS, TensorProto.INT32, TensorProto.INT64):
        return None
    return "OpenVINO rounds quotients of small integers to the nearest, ONNX towards zero"


def _deconvolution(seen: Seen) -> str | None:
    return "onnxifier drops the input output_shape" if len(seen.node.input) > 2 else None


def _group_convolution(seen: Seen) -> str | None:
    weights = seen.shapes[1]
    return "onnxifier makes an invalid Conv of a single group" if weights and weights[0] == 1 else None


def _matmul(seen: Seen) -> str | None:
    for name, shape in zip(("transpose_a", "transpose_b"), seen.shapes):
        if seen.flag(name) and (shape is None or len(shape) < 2):
            return f"{name} of a vector, or of an input of unknown rank"
    return None


def _mvn(seen: Seen) -> str | None:
    """Rules of onnxifier normalise over all axes from the first on, and forget the mode of eps where they do more."""
    shape, axes = seen.shapes[0], seen.constants[1] if len(seen.constants) > 1 else None
    if shape is None or axes is None:
        return "axes that are not constant, or data of unknown rank"
    rank = len(shape)
    last = list(range(rank - len(axes), rank))
    if [axis % rank for axis in axes] != last:
        return f"axes={axes} are not the last {len(axes)} of {rank} in order"
    if seen.attributes.get("eps_mode", "").lower() != "inside_sqrt" and len(axes) < 2:
        return "eps_mode='outside_sqrt' with a single axis"
    return None


def _prelu(seen: Seen) -> str | None:
    slope = seen.shapes[1]
    if slope is None or len(slope) == 1 and slope[0] != 1:
        return "OpenVINO reads a slope of one dim along axis 1, ONNX along the last"
    return None


def _rounding(seen: Seen) -> str | None:
    return None if seen.type in FLOATS else "ONNX has it only for floats"


def _slice(seen: Seen) -> str | None:
    return "onnxifier takes the data for the steps where there are no axes" if len(seen.node.input) == 4 else None


def _strided_slice(seen: Seen) -> str | None:
    if not (seen.flag("begin_mask") or seen.flag("end_mask")):
        return None
    strides = seen.constants[3] if len(seen.constants) > 3 else [1]
    if strides is None or min(strides, default=1) < 0:
        return "begin_mask or end_mask with strides that are negative or not constant"
    return None


def _swish(seen: Seen) -> str | None:
    return "onnxifier drops the input beta" if len(seen.node.input) > 1 and seen.constants[1] != 1 else None


def _transpose(seen: Seen) -> str | None:
    return None if seen.constants[1] else "onnxifier guesses an order that is empty or not constant"


CHECKS: Mapping[str, Callable[[Seen], str | None]] = {
    "AvgPool": _average_pool,
    "Broadcast": _broadcast,
    "Ceiling": _rounding,
    "Clamp": _clamp,
    "ConvolutionBackpropData": _deconvolution,
    "Divide": _divide,
    "Floor": _rounding,
    "GroupConvolution": _group_convolution,
    "GroupConvolutionBackpropData": _deconvolution,
    "MVN": _mvn,
    "MatMul": _matmul,
    "MaxPool": _pool,
    "PReLU": _prelu,
    "Slice": _slice,
    "StridedSlice": _strided_slice,
    "Swish": _swish,
    "Transpose": _transpose,
}
