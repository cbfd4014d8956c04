"""Convolutions, pools and resizing: what has a kernel or spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.readers.limits import static_dims
from padops.convert.readers.openvino_ir.layer import Layer, Unreadable
from padops.plural import plural
from padops.spec.dialects import same_padding
from padops.spec.plan import PadError

Amounts = list[tuple[int, int]]  # begin and end of each spatial axis
AUTO_PAD = {name: name.upper() for name in ("explicit", "notset", "valid", "same_upper", "same_lower")}
EXPLICIT = ("EXPLICIT", "NOTSET")


def _amounts(layer: Layer, kernel: list[int]) -> Amounts | None:
    """Begin and end of each spatial axis of a convolution or pool, None where only a run can tell.

    Raises:
        Unreadable: An attribute that says so is missing or wrong.
    """
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
    """The attributes that ONNX's convolutions and pools share.

    Amounts stand in place of auto_pad where the shape is known (S1): ONNX Runtime gets SAME with dilations wrong.
    """
    given: dict[str, Any] = {}
    given |= {name: numbers for name in ("strides", "dilations") if (numbers := layer.integers(name, ""))}
    if kernel:
        given["kernel_shape"] = kernel
    if amounts is None:
        return {**given, "auto_pad": layer.choice("auto_pad", AUTO_PAD)}
    return {**given, "pads": [pair[side] for side in (0, 1) for pair in amounts]}


def _weights(layer: Layer, weights: str) -> tuple[str, int, list[int]]:
    """The weights as ONNX has them, without an axis of the groups, the number of groups, and the kernel if known."""
    dims = layer.values.dims[weights]
    if not layer.node.op_type.startswith("Group"):
        return weights, 1, static_dims((dims or [])[2:]) or []
    static = static_dims(dims)
    if static is None or len(static) < 3:
        raise Unreadable(f"the dims of its input '{weights}' are not known, or not those of groups")
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
    more = {"output_padding": padding} if (padding := layer.integers("output_padding", "")) else {}
    amounts = _amounts(layer, kernel)
    if output_shape:
        amounts = _amounts_to(layer, data, kernel, layer.numbers(output_shape).tolist(), mode)
    elif mode.startswith("SAME"):
        raise Unreadable(f"auto_pad='{mode.lower()}' without an output_shape")
    window = _window(layer, kernel, amounts)
    return layer.add("ConvTranspose", data, weights, group=groups, **{**more, **window})


def _amounts_to(layer: Layer, data: str, kernel: list[int], wanted: list[int], mode: str) -> Amounts:
    """The amounts with which a deconvolution gives an output of a shape; SAME_UPPER has the odd one at the begin.

    Raises:
        Unreadable: Nothing says what they are.
    """
    sizes = static_dims(layer.dims(data)[2:])
    if not mode.startswith("SAME") or sizes is None:
        raise Unreadable("output_shape with explicit amounts, or with spatial dims that are dynamic")
    ones = [1] * len(kernel)
    strides, dilations = (layer.integers(name, "") or ones for name in ("strides", "dilations"))
    more = layer.integers("output_padding", "") or [0] * len(kernel)
    if {len(numbers) for numbers in (sizes, strides, dilations, more, wanted)} != {len(kernel)}:
        raise Unreadable("its attributes and its output_shape have different numbers of axes")
    amounts = []
    for size, extent, stride, dilation, added, given in zip(sizes, kernel, strides, dilations, more, wanted):
        cut = max(stride * (size - 1) + dilation * (extent - 1) + 1 + added - given, 0)
        amounts.append((cut - cut // 2, cut // 2) if mode == "SAME_UPPER" else (cut // 2, cut - cut // 2))
    return amounts


def _pool(layer: Layer, kernel: list[int], amounts: Amounts | None) -> dict[str, Any]:
    """The attributes of a pool.

    Raises:
        Unreadable: ONNX Runtime refuses them or gets them wrong.
    """
    ceil = layer.choice("rounding_type", {"floor": 0, "ceil": 1}, "floor")
    if amounts is None and max(layer.integers("dilations", ""), default=1) > 1:
        raise Unreadable("ONNX Runtime ignores the dilations where it computes the amounts of auto_pad itself")
    for size, pads in zip(kernel, amounts or []):
        if max(pads) >= size:
            raise Unreadable(f"ONNX Runtime refuses a pad of {max(pads)} for a kernel of {size}")
    return {**_window(layer, kernel, amounts), "ceil_mode": ceil}


def _average_pool(layer: Layer, data: str) -> str:
    kernel, counts = layer.integers("kernel"), not layer.flag("exclude-pad")
    amounts = _amounts(layer, kernel)
    if counts and layer.word("rounding_type", "floor") == "ceil":
        raise Unreadable(
            "with rounding_type='ceil', OpenVINO counts the pads that exclude-pad='false' includes in its own way"
        )
    if counts and amounts is None:
        raise Unreadable("auto_pad with exclude-pad='false' and spatial dims that are dynamic")
    return layer.add("AveragePool", data, count_include_pad=int(counts), **_pool(layer, kernel, amounts))


def _max_pool(layer: Layer, data: str) -> list[str]:
    """Elements and their indices; those are dropped later where nothing reads them."""
    kernel = layer.integers("kernel")
    attributes = _pool(layer, kernel, _amounts(layer, kernel))
    if len(layer.node.output) == 1:
        return [layer.add("MaxPool", data, **attributes)]
    largest = layer.add("MaxPool", data, count=2, **attributes)
    found = layer.nodes[-1].output[1]
    if axis := layer.integer("axis", "0"):  # the first of those that one index counts through
        inner = layer.add("Shape", data, start=axis)
        found = layer.add("Mod", found, layer.add("ReduceProd", inner, keepdims=0))
    type = layer.element_type("index_element_type", TensorProto.INT64)
    return [largest, found if type == TensorProto.INT64 else layer.add("Cast", found, to=type)]


def _interpolate(layer: Layer, data: str, wanted: str, *others: str) -> str:
    """Resize of all axes: ONNX Runtime (1.32) moves Transposes past one that names some, and leaves those names."""
    version = layer.word("version")
    if version not in ("opset4", "opset11"):
        raise Unreadable(f"only Interpolate of opset4 and opset11 is read, not of {version}")
    by_sizes = layer.choice("shape_calculation_mode", {"sizes": True, "scales": False})
    modes = {"nearest": "nearest", "linear_onnx": "linear", "cubic": "cubic"}
    if layer.word("mode") not in modes:
        raise Unreadable(f"ONNX does not have mode='{layer.word('mode')}'")
    nearest = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    where = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
    for name, known, usual in (
        ("nearest_mode", nearest, nearest[0]),
        ("coordinate_transformation_mode", where, where[0]),
    ):
        if layer.word(name, usual) not in known:
            raise Unreadable(f"ONNX does not have {name}='{layer.word(name)}'")
    if any(layer.integers("pads_begin", "0") + layer.integers("pads_end", "0")):
        raise Unreadable("ONNX does not have pads_begin and pads_end")
    if version == "opset4":
        if not others:
            raise Unreadable("it has no scales")
        wanted, others = (wanted if by_sizes else others[0]), others[1:]
    if len(others) > 1:
        raise Unreadable(f"it has {len(layer.node.input)} inputs, expected 2 or 3")
    axes = layer.numbers(others[0]).reshape(-1).tolist() if others else list(range(len(layer.dims(data))))
    full = (_all_sizes if by_sizes else _all_scales)(layer, data, wanted, axes)
    return layer.add(
        "Resize",
        data,
        *(("", "", full) if by_sizes else ("", full)),
        mode=modes[layer.word("mode")],
        coordinate_transformation_mode=layer.word("coordinate_transformation_mode", where[0]),
        nearest_mode=layer.word("nearest_mode", nearest[0]),
        cubic_coeff_a=layer.decimal("cube_coeff", "-0.75"),
    )


def _all_sizes(layer: Layer, data: str, wanted: str, axes: list[int]) -> str:
    sizes, dims = layer.values.constant(wanted), layer.values.static(data)
    if sizes is not None and dims is not None:
        return layer.constant(_put(np.array(dims), axes, sizes))
    base = layer.add("Shape", data) if dims is None else layer.constant(dims)
    return layer.add("ScatterElements", base, layer.constant(axes), layer.integral(wanted))


def _all_scales(layer: Layer, data: str, wanted: str, axes: list[int]) -> str:
    ones, scales = np.ones(len(layer.dims(data)), np.float32), layer.values.constant(wanted)
    if scales is not None:
        return layer.constant(_put(ones, axes, scales), np.float32)
    given = layer.of_type(wanted, TensorProto.FLOAT)
    return layer.add("ScatterElements", layer.constant(ones, np.float32), layer.constant(axes), given)


def _put(base: np.ndarray, axes: list[int], numbers: np.ndarray) -> np.ndarray:
    if numbers.size != len(axes):
        raise Unreadable(f"it has {numbers.size} sizes or scales for {plural(len(axes), 'axis')}")
    try:
        base[axes] = numbers.reshape(-1)
    except IndexError:
        raise Unreadable(f"its axes are {axes}, its data have {plural(base.size, 'axis')}") from None
    return base


WINDOWS: Mapping[str, Callable[..., str | list[str]]] = {
    "AvgPool": _average_pool,
    "Convolution": _convolution,
    "ConvolutionBackpropData": _deconvolution,
    "GroupConvolution": _convolution,
    "GroupConvolutionBackpropData": _deconvolution,
    "Interpolate": _interpolate,
    "MaxPool": _max_pool,
}
