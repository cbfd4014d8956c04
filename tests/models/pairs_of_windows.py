"""Pairs that differ where a Pad became the padding of a convolution or a pooling that cannot take it, or not so."""

from __future__ import annotations

import numpy as np
from crafted_pair import Pair, pair

IMAGE = "float[N,1,H,W] x => float[A,B,C,D] y"
WEIGHTS = "float[1,1,2,2] w = {1, 2, 3, 4}"
KERNEL = "kernel_shape = [2, 2]"
AROUND = "p = Constant <value_ints = [0, 0, 1, 1, 0, 0, 1, 1]> ()\n"


def image(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def padded(
    op: str,
    attributes: str = "",
    others: str = "",
    pads: str = "[0, 0, 1, 1, 0, 0, 1, 1]",
    fill: str = "0.0",
    mode: str = "constant",
) -> str:
    """A Pad in front of an operator."""
    given = f"p = Constant <value_ints = {pads}> ()\nf = Constant <value_float = {fill}> ()\n"
    chosen = f"<{attributes}> " if attributes else ""
    return given + f'a = Pad <mode = "{mode}"> (x, p, f)\ny = {op} {chosen}(a{others})'


def own(op: str, attributes: str = "", others: str = "", pads: str = "[1, 1, 1, 1]") -> str:
    """An operator that pads by itself."""
    joined = ", ".join(part for part in (attributes, f"pads = {pads}") if part)
    return f"y = {op} <{joined}> (x{others})"


def convolutions() -> list[Pair]:
    def conv(name: str, first: str, second: str, x: np.ndarray | None = None) -> Pair:
        x = image(1, 1, 3, 3) if x is None else x
        return pair(f"Conv: {name}", IMAGE, first, second, held=WEIGHTS, x=x)

    w = ", w"
    right = own("Conv", "", w)
    strided = "strides = [2, 2]"
    return [
        conv("a fill of 1", padded("Conv", others=w, fill="1.0"), right),
        conv("edge", padded("Conv", others=w, mode="edge"), right),
        conv("reflect", padded("Conv", others=w, mode="reflect"), right),
        conv(
            "begin and end",
            padded("Conv", others=w, pads="[0, 0, 1, 0, 0, 0, 0, 1]"),
            own("Conv", "", w, "[0, 1, 1, 0]"),
        ),
        conv(
            "height and width",
            padded("Conv", others=w, pads="[0, 0, 1, 0, 0, 0, 1, 0]"),
            own("Conv", "", w, "[0, 1, 0, 1]"),
        ),
        conv("one more", padded("Conv", others=w), own("Conv", "", w, "[1, 1, 1, 2]")),
        conv("a padded batch", padded("Conv", others=w, pads="[1, 0, 1, 1, 0, 0, 1, 1]"), right),
        conv("the Pad is gone", padded("Conv", others=w), own("Conv", "", w, "[0, 0, 0, 0]")),
        conv("a crop", padded("Conv", others=w, pads="[0, 0, 1, -1, 0, 0, 1, 1]"), own("Conv", "", w, "[1, 0, 1, 1]")),
        conv("what it padded before", AROUND + "a = Pad (x, p)\ny = Conv <pads = [1, 1, 1, 1]> (a, w)", right),
        conv(
            "SAME_UPPER of an even kernel",
            padded("Conv", others=w, pads="[0, 0, 1, 1, 0, 0, 0, 0]"),
            'y = Conv <auto_pad = "SAME_UPPER"> (x, w)',
        ),
        conv(
            "SAME_LOWER by strides, for some sizes",
            padded("Conv", strided, w, "[0, 0, 1, 1, 0, 0, 0, 0]"),
            f'y = Conv <{strided}, auto_pad = "SAME_LOWER"> (x, w)',
            image(1, 1, 4, 4),
        ),
        conv("strides", padded("Conv", strided, w), own("Conv", "", w)),
        conv("dilations", padded("Conv", "dilations = [2, 1]", w), own("Conv", "dilations = [1, 2]", w)),
        conv(
            "the data of another",
            AROUND + "a = Pad (x, p)\ny = Conv (a, w)",
            "b = Neg (x)\n" + right.replace("(x", "(b"),
        ),
        pair(
            "Conv: other weights",
            IMAGE,
            padded("Conv", others=w),
            right,
            held=(WEIGHTS, WEIGHTS.replace("4}", "5}")),
            x=image(1, 1, 2, 2),
        ),
        pair(
            "Conv: padded channels",
            "float[N,1,H,W] x => float[A,B,C,D] y",
            padded("Conv", others=w, pads="[0, 1, 1, 1, 0, 0, 1, 1]"),
            right,
            held=("float[1,2,2,2] w = {0, 0, 0, 0, 1, 2, 3, 5}", WEIGHTS),
            x=image(1, 1, 2, 2),
        ),
        pair(
            "Conv: groups",
            "float[N,2,H,W] x => float[A,B,C,D] y",
            padded("Conv", "group = 2", w),
            own("Conv", "group = 1", w),
            held=("float[2,1,1,1] w = {1, 2}", "float[2,2,1,1] w = {1, 1, 2, 2}"),
            x=image(1, 2, 1, 1),
        ),
        pair(
            "ConvTranspose pads by a crop",
            IMAGE,
            padded("ConvTranspose", others=w),
            own("ConvTranspose", others=w),
            held=WEIGHTS,
            x=image(1, 1, 3, 3),
        ),
    ]


def integers() -> list[Pair]:
    signature = "uint8[N,1,H,W] x => int32[A,B,C,D] y"
    held = "uint8[1,1,2,2] w = {1, 2, 3, 4}, uint8 z = {3}, uint8 f = {3}, uint8 o = {0}"
    quantized = held + ", float s = {1}"
    line = "uint8[N,1,H,W] x => uint8[A,B,C,D] y"
    x = image(1, 1, 2, 2).astype(np.uint8)

    def given(fill: str) -> str:
        return AROUND + f"a = Pad (x, p{fill})\n"

    first = given(", f") + "y = ConvInteger (a, w, z)"
    linear = "y = QLinearConv <pads = {}> ({}, s, {}, w, s, o, s, o)"
    return [
        pair(
            "ConvInteger: a fill of 0, and a zero point of 3",
            signature,
            given("") + "y = ConvInteger (a, w, z)",
            "y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)",
            held=held,
            x=x,
        ),
        pair(
            "ConvInteger: a fill of 3, and no zero point",
            signature,
            given(", f") + "y = ConvInteger (a, w)",
            "y = ConvInteger <pads = [1, 1, 1, 1]> (x, w)",
            held=held,
            x=x,
        ),
        pair(
            "ConvInteger: the zero point is gone",
            signature,
            first,
            "y = ConvInteger <pads = [1, 1, 1, 1]> (x, w)",
            held=held,
            x=x,
        ),
        pair(
            "ConvInteger: a zero point of the run",
            "uint8[N,1,H,W] x, uint8 z => int32[A,B,C,D] y",
            first,
            "y = ConvInteger <pads = [1, 1, 1, 1]> (x, w, z)",
            held=held.replace(", uint8 z = {3}", ""),
            x=x,
            z=np.uint8(4),
        ),
        pair(
            "QLinearConv: a fill of 0, and a zero point of 3",
            line,
            given("") + linear.format("[0, 0, 0, 0]", "a", "z"),
            linear.format("[1, 1, 1, 1]", "x", "z"),
            held=quantized,
            x=x,
        ),
        pair(
            "QLinearConv: a fill of 3, and a zero point of 0",
            line,
            given(", f") + linear.format("[0, 0, 0, 0]", "a", "o"),
            linear.format("[1, 1, 1, 1]", "x", "o"),
            held=quantized,
            x=x,
        ),
    ]


def poolings() -> list[Pair]:
    def pool(name: str, first: str, second: str, x: np.ndarray, **options: object) -> Pair:
        return pair(name, IMAGE, first, second, x=x, **options)

    include = KERNEL + ", count_include_pad = 1"
    ceil = KERNEL + ", strides = [2, 2], ceil_mode = 1"
    low, nan = "-340282346638528859811704183484516925440.0", -np.full((1, 1, 2, 2), np.inf, np.float32)
    whole = ("int8[N,1,H,W] x => int8[A,B,C,D] y", "int8 f = {0}", "int8 f = {-127}")
    ints = AROUND + "a = Pad (x, p, f)\ny = MaxPool <kernel_shape = [2, 2]> (a)", own("MaxPool", KERNEL)
    below = -image(1, 1, 2, 2)
    return [
        pool(
            "AveragePool: what is padded does not count",
            padded("AveragePool", KERNEL),
            own("AveragePool", KERNEL),
            below,
        ),
        pool(
            "AveragePool: ceil_mode",
            padded("AveragePool", ceil + ", count_include_pad = 1"),
            own("AveragePool", ceil + ", count_include_pad = 1"),
            image(1, 1, 3, 3),
        ),
        pool("AveragePool: a fill of 1", padded("AveragePool", KERNEL, fill="1.0"), own("AveragePool", include), below),
        pool(
            "AveragePool: it pads, and does not count that",
            AROUND + f"a = Pad (x, p)\ny = AveragePool <{KERNEL}, pads = [1, 0, 0, 0]> (a)",
            own("AveragePool", include, pads="[2, 1, 1, 1]").replace("[2, 2]", "[3, 3]"),
            below,
        ),
        pool(
            "AveragePool: another kernel",
            padded("AveragePool", KERNEL),
            own("AveragePool", include.replace("[2, 2]", "[2, 3]")),
            below,
        ),
        pool("AveragePool: no elements", padded("AveragePool", KERNEL), own("AveragePool", include), image(1, 1, 0, 2)),
        pool("AveragePool: edge", padded("AveragePool", KERNEL, mode="edge"), own("AveragePool", include), below),
        pool("MaxPool: a fill of 0", padded("MaxPool", KERNEL), own("MaxPool", KERNEL), below),
        pool(
            "MaxPool: the lowest fill beside minus infinity",
            padded("MaxPool", KERNEL, fill=low),
            own("MaxPool", KERNEL),
            nan,
        ),
        pool("MaxPool: ceil_mode", padded("MaxPool", ceil, fill="-1.0"), own("MaxPool", ceil), image(1, 1, 3, 3)),
        pair("MaxPool: int8, a fill of 0", whole[0], *ints, held=whole[1], x=np.full((1, 1, 2, 2), -5, np.int8)),
        pair("MaxPool: int8, a fill of -127", whole[0], *ints, held=whole[2], x=np.full((1, 1, 2, 2), -128, np.int8)),
        pool("LpPool: a fill of 1", padded("LpPool", KERNEL, fill="1.0"), own("LpPool", KERNEL), below),
        pool("GlobalAveragePool has no padding", padded("GlobalAveragePool"), "y = GlobalAveragePool (x)", below),
        pair(
            "MaxPool: indices into the padded data",
            "float[N,1,H,W] x => float[A,B,C,D] y, int64[A,B,C,D] z",
            padded("MaxPool", KERNEL, fill="-5.0").replace("y =", "y, z ="),
            own("MaxPool", KERNEL).replace("y =", "y, z ="),
            x=image(1, 1, 2, 2),
        ),
    ]


def window_pairs() -> list[Pair]:
    return [*convolutions(), *integers(), *poolings()]
