"""SAME padding: amounts that follow from the shape, as TensorFlow's padding="SAME" and ONNX's auto_pad say (S1)."""

from __future__ import annotations

from collections.abc import Sequence

from padops.plural import plural
from padops.spec.dialects.node import Attribute, Input, Node, Op
from padops.spec.dtypes import types_of
from padops.spec.plan import LARGEST, Amounts, Crop, PadError

AUTO_PADS = ("SAME_UPPER", "SAME_LOWER", "VALID")
# Only where the channels stand matters; the number of spatial axes is that of kernel_shape.
DATA_FORMATS = ("NCHW", "NHWC", "NCW", "NWC", "NCDHW", "NDHWC")


def _same_attributes(node: Node, shape: Sequence[int]) -> list[Amounts]:
    """SAME padding of the spatial axes, from the shape (S1)."""
    kernel = node.attribute("kernel_shape")
    spatial, rank = len(kernel), len(shape)
    if rank != spatial + 2:
        raise node.error(
            "S1", f"data has rank {rank}, expected {spatial + 2} for a kernel_shape of {plural(spatial, 'value')}"
        )
    strides = node.list_or("strides", spatial, 1)
    dilations = node.list_or("dilations", spatial, 1)
    for name, values in (("kernel_shape", kernel), ("strides", strides), ("dilations", dilations)):
        if len(values) != spatial:
            raise node.error(
                "S1", f"{name} has {plural(len(values), 'value')}, expected {spatial} (1 per spatial axis)"
            )
        for value in values:
            if not 1 <= value <= LARGEST:
                raise node.error("S1", f"{name} has {value}, expected 1 to {LARGEST}")
    first = 2 if node.attribute("data_format").startswith("NC") else 1
    amounts = [Amounts(0, 0)] * rank
    for i in range(spatial):
        try:
            begin, end = same_padding(shape[first + i], kernel[i], strides[i], dilations[i], node.attribute("auto_pad"))
        except PadError as error:
            raise node.error(error.rule, error.detail) from None
        amounts[first + i] = Amounts(begin, end)
    return amounts


def same_padding(
    input: int, kernel: int, stride: int = 1, dilation: int = 1, mode: str = "SAME_UPPER"
) -> tuple[int, int]:
    """The amounts that TensorFlow and ONNX pad one spatial axis with (S1).

    Args:
        input: Elements of the axis, n.
        kernel: Elements of the kernel along it, k.
        stride: s.
        dilation: d.
        mode: ``"SAME_UPPER"`` (TensorFlow's SAME: the odd element at the end), ``"SAME_LOWER"`` (at the beginning) or
            ``"VALID"``; ``"SAME"`` is ``"SAME_UPPER"``.

    Returns:
        Elements to add before and after: with o = ceil(n/s), total = max((o-1)s + (k-1)d + 1 - n, 0), halved.

    Raises:
        PadError: S1 for another mode or an amount out of range, P10 for a dilated kernel beyond any tensor.
    """
    if mode not in (*AUTO_PADS, "SAME"):
        raise PadError("S1", f"auto_pad '{mode}' is not one of {', '.join(AUTO_PADS)}", "SamePad_1")
    for name, value, least in (
        ("input", input, 0),
        ("kernel", kernel, 1),
        ("stride", stride, 1),
        ("dilation", dilation, 1),
    ):
        if value < least:
            raise PadError("S1", f"{name} is {value}, expected {least} or more", "SamePad_1")
    if (kernel - 1) * dilation > LARGEST:
        raise PadError("P10", f"a kernel of {kernel} with dilation {dilation} is beyond {LARGEST}", "SamePad_1")
    if mode == "VALID":
        return 0, 0
    outputs = -(-input // stride)
    total = max((outputs - 1) * stride + (kernel - 1) * dilation + 1 - input, 0)
    small, large = total // 2, total - total // 2
    return (large, small) if mode == "SAME_LOWER" else (small, large)


def op() -> Op:
    """The row of SAME padding, which neither ONNX nor TensorFlow has as an operator of its own."""
    return Op(
        name="SamePad_1",
        inputs=(Input("data", "T"), Input("pad_value", "T", optional=True)),
        attributes=(
            Attribute("auto_pad", "string", default=AUTO_PADS[0], choices=AUTO_PADS),
            Attribute("data_format", "string", default="NCHW", choices=DATA_FORMATS),
            Attribute("dilations", "ints", default=[]),
            Attribute("kernel_shape", "ints", required=True),
            Attribute("mode", "string", default="constant"),
            Attribute("strides", "ints", default=[]),
        ),
        mode="mode",
        modes=("constant", "edge", "reflect", "symmetric", "wrap"),
        types=types_of(25),
        crop=Crop.FULL,
        fill="pad_value",
        amounts=_same_attributes,
    )
