"""Convolutions, pools and resizing: layers with a kernel or spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.ir.layer import Layer, Unreadable
from padops.convert.ir.reader import static_dims
from padops.plural import plural
from padops.spec.dialects import same_padding
from padops.spec.plan import PadError

Amounts = list[tuple[int, int]]  # begin and end of each spatial axis
AUTO_PAD = {name: name.upper() for name in ("explicit", "notset", "valid", "same_upper", "same_lower")}
EXPLICIT = ("EXPLICIT", "NOTSET")
WHERE = {name: name for name in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")}
NEAREST = {name: name for name in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")}


def _amounts(layer: Layer, kernel: list[int]) -> Amounts | None:
    """Return the amounts of each spatial axis of a convolution or pool; None if only a run can determine them."""
    mode = layer.choice("auto_pad", AUTO_PAD, "explicit")
    begin, end = (layer.integers(name, None if mode in EXPLICIT else "") for name in ("pads_begin", "pads_end"))
    if mode in EXPLICIT:
        if len(begin) != len(end):
            raise Unreadable(f"pads_begin has {plural(len(begin), 'value')}, pads_end {len(end)}")
        return list(zip(begin, end))
    sizes = static_dims((layer.values.dims[layer.node.input[0]] or [])[2:])
    if not kernel or sizes is None or len(kernel) != len(sizes):
        return None
    strides, dilations = (layer.integers(name, "") or [1] * len(kernel) for name in ("strides", "dilations"))
    if wrong := [numbers for numbers in (strides, dilations) if len(numbers) != len(kernel)]:
        raise Unreadable(f"strides or dilations have {plural(len(wrong[0]), 'value')}, expected {len(kernel)}")
    try:
        axes = zip(sizes, kernel, strides, dilations)
        return [same_padding(size, extent, stride, dilation, mode) for size, extent, stride, dilation in axes]
    except PadError as error:
        raise Unreadable(error.detail) from None


def _window(layer: Layer, kernel: list[int], amounts: Amounts | None) -> dict[str, Any]:
    """Return a window's attributes; known amounts replace auto_pad, which ONNX Runtime gets wrong with dilations."""
    given: dict[str, Any] = {name: layer.integers(name, "") for name in ("strides", "dilations")}
    given = {name: numbers for name, numbers in {**given, "kernel_shape": kernel}.items() if numbers}
    if amounts is None:
        return {**given, "auto_pad": layer.choice("auto_pad", AUTO_PAD)}
    return {**given, "pads": [pair[side] for side in (0, 1) for pair in amounts]}


def _weights(layer: Layer, weights: str) -> tuple[str, int, list[int]]:
    """Return the weights without a group axis, as ONNX requires; the number of groups; and the kernel if known."""
    dims = layer.values.dims[weights]
    if not layer.node.op_type.startswith("Group"):
        return weights, 1, static_dims((dims or [])[2:]) or []
    static = static_dims(dims)
    if static is None or len(static) < 3:
        raise Unreadable(f"the dims of its input '{weights}' are not known, or have no group axis")
    wanted = [static[0] * static[1], *static[2:]]
    if weights in layer.values.tensors:
        tensor = onnx.TensorProto()
        tensor.CopyFrom(layer.values.tensors[weights])
        tensor.dims[:] = wanted
        return layer.tensor(tensor), static[0], static[3:]
    return layer.add("Reshape", weights, layer.constant(wanted)), static[0], static[3:]


def _convolution(layer: Layer, data: str, weights: str) -> str:
    weights, groups, kernel = _weights(layer, weights)
    return layer.add("Conv", data, weights, group=groups, **_window(layer, kernel, _amounts(layer, kernel)))


def _deconvolution(layer: Layer, data: str, weights: str, output_shape: str = "") -> str:
    weights, groups, kernel = _weights(layer, weights)
    mode = layer.choice("auto_pad", AUTO_PAD, "explicit")
    padding = layer.integers("output_padding", "")
    amounts = _amounts(layer, kernel)
    if output_shape:
        amounts = _amounts_to(layer, data, kernel, layer.numbers(output_shape).tolist(), mode)
    elif mode.startswith("SAME"):
        raise Unreadable(f"auto_pad='{mode.lower()}' without an output_shape")
    window: dict[str, Any] = {"output_padding": padding} if padding else {}
    window |= _window(layer, kernel, amounts)
    return layer.add("ConvTranspose", data, weights, group=groups, **window)


def _amounts_to(layer: Layer, data: str, kernel: list[int], wanted: list[int], mode: str) -> Amounts:
    """Return the amounts for a deconvolution's output shape; SAME_UPPER puts the larger half at the beginning."""
    sizes = static_dims(layer.dims(data)[2:])
    if not mode.startswith("SAME") or sizes is None:
        raise Unreadable("output_shape with explicit amounts, or with spatial dims that are dynamic")
    strides, dilations = (layer.integers(name, "") or [1] * len(kernel) for name in ("strides", "dilations"))
    more = layer.integers("output_padding", "") or [0] * len(kernel)
    if {len(numbers) for numbers in (sizes, strides, dilations, more, wanted)} != {len(kernel)}:
        raise Unreadable("its attributes and its output_shape have different numbers of axes")
    amounts = []
    for size, extent, stride, dilation, added, given in zip(sizes, kernel, strides, dilations, more, wanted):
        cut = max(stride * (size - 1) + dilation * (extent - 1) + 1 + added - given, 0)
        amounts.append((cut - cut // 2, cut // 2) if mode == "SAME_UPPER" else (cut // 2, cut - cut // 2))
    return amounts


def _pool(layer: Layer, kernel: list[int], amounts: Amounts | None) -> dict[str, Any]:
    ceil = layer.choice("rounding_type", {"floor": 0, "ceil": 1}, "floor")
    if amounts is None and max(layer.integers("dilations", ""), default=1) > 1:
        raise Unreadable("ONNX Runtime ignores the dilations if it computes the amounts from auto_pad")
    for size, pads in zip(kernel, amounts or []):
        if max(pads) >= size:
            raise Unreadable(f"ONNX Runtime refuses a pad of {max(pads)} for a kernel of {size}")
    return {**_window(layer, kernel, amounts), "ceil_mode": ceil}


def _average_pool(layer: Layer, data: str) -> str:
    kernel, counts = layer.integers("kernel"), not layer.flag("exclude-pad")
    amounts = _amounts(layer, kernel)
    if counts and layer.word("rounding_type", "floor") == "ceil":
        raise Unreadable("with rounding_type='ceil' and exclude-pad='false', OpenVINO counts the pads in its own way")
    if counts and amounts is None:
        raise Unreadable("auto_pad with exclude-pad='false' and spatial dims that are dynamic")
    return layer.add("AveragePool", data, count_include_pad=int(counts), **_pool(layer, kernel, amounts))


def _max_pool(layer: Layer, data: str) -> list[str]:
    """Return the largest elements and their indices; a later step drops indices that nothing reads."""
    kernel = layer.integers("kernel")
    attributes = _pool(layer, kernel, _amounts(layer, kernel))
    if len(layer.node.output) == 1:
        return [layer.add("MaxPool", data, **attributes)]
    largest = layer.add("MaxPool", data, count=2, **attributes)
    found = layer.nodes[-1].output[1]
    if axis := layer.integer("axis", "0"):  # an index counts the elements from this axis on
        count = layer.add("ReduceProd", layer.add("Shape", data, start=axis), keepdims=0)
        found = layer.add("Mod", found, count)
    type = layer.element_type("index_element_type", "i64")
    return [largest, found if type == TensorProto.INT64 else layer.add("Cast", found, to=type)]


def _interpolate(layer: Layer, data: str, wanted: str, *others: str) -> str:
    """Write a Resize without ``axes``: ONNX Runtime (1.32) moves a Transpose past a Resize, but keeps its ``axes``."""
    has_both = layer.choice("version", {"opset4": True, "opset11": False})  # sizes and scales
    if any(layer.integers("pads_begin", "0") + layer.integers("pads_end", "0")):
        raise Unreadable("ONNX's Resize does not have pads_begin and pads_end")
    by_sizes = layer.choice("shape_calculation_mode", {"sizes": True, "scales": False})
    attributes: dict[str, Any] = {
        "mode": layer.choice("mode", {"nearest": "nearest", "linear_onnx": "linear", "cubic": "cubic"}),
        "coordinate_transformation_mode": layer.choice("coordinate_transformation_mode", WHERE, "half_pixel"),
        "nearest_mode": layer.choice("nearest_mode", NEAREST, "round_prefer_floor"),
        "cubic_coeff_a": layer.decimal("cube_coeff", "-0.75"),
    }
    if has_both:
        wanted, others = (wanted if by_sizes else others[0] if others else ""), others[1:]
    if not wanted or len(others) > 1:
        raise Unreadable(f"it has {plural(len(layer.node.input), 'input')}")
    axes = layer.numbers(others[0]).reshape(-1).tolist() if others else list(range(len(layer.dims(data))))
    full = _of_all_axes(layer, data, wanted, axes, by_sizes)
    return layer.add("Resize", data, *(("", "", full) if by_sizes else ("", full)), **attributes)


def _of_all_axes(layer: Layer, data: str, wanted: str, axes: list[int], by_sizes: bool) -> str:
    """Return the sizes or scales of all axes, even if the layer states only the sizes or scales of some axes."""
    dims = layer.values.static(data) if by_sizes else [1] * len(layer.dims(data))
    numbers = layer.values.array(wanted)
    type, onnx_type = (np.int64, TensorProto.INT64) if by_sizes else (np.float32, TensorProto.FLOAT)
    if dims is None or numbers is None:
        base = layer.add("Shape", data) if dims is None else layer.constant(dims, type)
        return layer.add("ScatterElements", base, layer.constant(axes), layer.of_type(wanted, onnx_type))
    full = np.array(dims, type)
    if numbers.size != len(axes) or any(not -full.size <= axis < full.size for axis in axes):
        raise Unreadable(f"its sizes or scales ({plural(numbers.size, 'number')}) do not fit the axes {axes}")
    full[axes] = numbers.reshape(-1)
    return layer.constant(full, type)


WINDOWS: Mapping[str, Callable[..., str | list[str]]] = {
    "AvgPool": _average_pool, "Convolution": _convolution, "ConvolutionBackpropData": _deconvolution,
    "GroupConvolution": _convolution, "GroupConvolutionBackpropData": _deconvolution, "Interpolate": _interpolate,
    "MaxPool": _max_pool,
}  # fmt: skip
