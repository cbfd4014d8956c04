"""S1 in TensorFlow itself: the padding="SAME" of its convolutions and pools; tf.pad is the suite's business.

``PADOPS_EXAMPLES`` sets how many are drawn.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from dataclasses import dataclass
from functools import cache

import native
import numpy as np
import onnx.parser
import tensorflow as tf
from case_strategies import TYPES, explore
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "1000"))

CONVOLUTIONS = (tf.nn.conv1d, tf.nn.conv2d, tf.nn.conv3d)
POOLS = {
    "max": (tf.nn.max_pool1d, tf.nn.max_pool2d, tf.nn.max_pool3d),
    "average": (tf.nn.avg_pool1d, tf.nn.avg_pool2d, tf.nn.avg_pool3d),
}


@dataclass(frozen=True)
class Window:
    """A convolution or a pool over one to three axes.

    Attributes:
        kind: ``"conv"``, ``"max"`` or ``"average"``.
        type: padops' name of the element type.
        data_format: ``"NWC"``, ``"NHWC"``, ``"NCHW"`` or ``"NDHWC"``.
        padding: ``"SAME"`` or ``"VALID"``.
    """

    kind: str
    type: str
    data_format: str
    padding: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    channels: int


@st.composite
def windows(draw):
    """A window and its data: small integers, so that every sum and every average is exact."""
    kind = draw(st.sampled_from(["conv", "max", "average"]))
    spatial = draw(st.sampled_from([1, 2, 2, 2, 3]))

    def each(most: int) -> tuple[int, ...]:
        return draw(st.tuples(*[st.integers(1, most)] * spatial))

    # TensorFlow's CPU has no other layouts, and pools other types only over one axis or two, with the channels last.
    element = draw(st.sampled_from(["float", "float", "double", "int8"])) if kind == "max" and spatial < 3 else "float"
    layouts = {1: ["NWC"], 2: ["NHWC", "NCHW"] if element == "float" else ["NHWC"], 3: ["NDHWC"]}
    window = Window(
        kind,
        element,
        draw(st.sampled_from(layouts[spatial])),
        "SAME" if draw(st.integers(0, 4)) else "VALID",
        each(5 if spatial < 3 else 3),
        each(7),
        each(4) if kind == "conv" else (1,) * spatial,
        # Of one channel TensorFlow's convolutions are wrong, in oneDNN's code, where one output column is left.
        draw(st.integers(2 if kind == "conv" else 1, 3)),
    )
    sizes = each(13 if spatial < 3 else 7)
    if window.padding == "VALID":
        # onnxruntime refuses a window that does not fit; TensorFlow gives no elements.
        sizes = tuple(max(n, (k - 1) * d + 1) for n, k, d in zip(sizes, window.kernel, window.dilations))
    batch = draw(st.integers(1, 2))
    nchw = window.data_format.startswith("NC")
    shape = (batch, window.channels, *sizes) if nchw else (batch, *sizes, window.channels)
    rng = np.random.default_rng([draw(st.integers(0, 2**32 - 1)), *shape])
    # A sum is divided by how many elements it has: a product of numbers up to 5, or of three up to 3.
    multiple = {1: 60, 2: 60**2, 3: 6**3}[spatial] if kind == "average" else 1
    return window, (rng.integers(-9, 10, shape) * multiple).astype(TYPES[window.type].numpy), rng


def of_tensorflow(window: Window, data: np.ndarray, filters: np.ndarray | None) -> np.ndarray:
    """``filters`` has TensorFlow's layout: the spatial axes, channels in, channels out."""
    spatial, tensor, layout = len(window.kernel), tf.constant(data), window.data_format
    if window.kind != "conv":
        pool = POOLS[window.kind][spatial - 1]
        return pool(tensor, window.kernel, window.strides, window.padding, data_format=layout).numpy()
    whole = (lambda values: [1, *values, 1]) if spatial == 3 else list  # conv3d wants them of every axis
    strides, dilations = whole(window.strides), whole(window.dilations)
    convolve = CONVOLUTIONS[spatial - 1]
    return convolve(tensor, filters, strides, window.padding, data_format=layout, dilations=dilations).numpy()


@cache
def model(window: Window):
    """SamePad_1, then a window of onnxruntime that pads nothing."""
    axes, kernel = list(range(len(window.kernel) + 2)), list(window.kernel)
    nchw = window.data_format.startswith("NC")
    where = f"kernel_shape = {kernel}, strides = {list(window.strides)}, dilations = {list(window.dilations)}"
    auto_pad = "VALID" if window.padding == "VALID" else "SAME_UPPER"
    group = window.channels if window.kind == "average" else 1
    slides, more = ("MaxPool", "") if window.kind == "max" else ("Conv", ", filters")
    groups = "" if window.kind == "max" else f", group = {group}"

    def slide(data: str, output: str) -> str:
        """Pads ``data``, and lays it out as ONNX wants it."""
        return f"""
            {output}_padded = padops.SamePad_1 <{where}, data_format = "{window.data_format}", auto_pad = "{auto_pad}">
                ({data}, fill)
            {output}_nchw = Transpose <perm = {axes if nchw else [0, axes[-1], *axes[1:-1]]}> ({output}_padded)
            {output} = {slides} <{where}{groups}> ({output}_nchw{more})"""

    nodes = slide("data", "result")
    if window.kind == "average":  # the padding does not count
        nodes = f"""
            shape = Shape (data)
            ones = ConstantOfShape <value = float[1] {{1.0}}> (shape)
            {slide("data", "sums")} {slide("ones", "counts")}
            result = Div (sums, counts)"""
    names = ["data", "fill", *(["filters"] if window.kind != "max" else [])]
    return native.session(
        onnx.parser.parse_model(
            f"""<ir_version: 9, opset_import: ["": 18, "padops": 1]>
            window ({", ".join(f"{window.type}[] {name}" for name in names)}) => ({window.type}[] output) {{ {nodes}
            output = Transpose <perm = {axes if nchw else [0, *axes[2:], 1]}> (result) }}"""
        )
    )


def lowest(dtype: np.dtype) -> np.ndarray:
    return np.array(np.iinfo(dtype).min if dtype.kind == "i" else np.finfo(dtype).min, dtype)


def test_windows_agree() -> None:
    """S1: shapes and values of convolutions and pools; max_pool pads with the lowest value of the type."""
    seen: Counter = Counter()

    def check(drawn_window) -> None:
        window, data, rng = drawn_window
        filters = None
        feeds = {"data": data, "fill": lowest(data.dtype) if window.kind == "max" else np.zeros((), data.dtype)}
        if window.kind == "conv":
            filters = rng.integers(-4, 5, (*window.kernel, window.channels, 2)).astype(np.float32)
            feeds["filters"] = np.ascontiguousarray(np.moveaxis(filters, (-1, -2), (0, 1)))
        elif window.kind == "average":
            feeds["filters"] = np.ones((window.channels, 1, *window.kernel), np.float32)
        output = model(window).run(None, feeds)[0]
        expected = of_tensorflow(window, data, filters)
        assert output.dtype == expected.dtype and np.array_equal(output, expected), window
        seen[window.kind, window.padding, window.data_format] += 1
        seen["stride > kernel"] += any(s > k for s, k in zip(window.strides, window.kernel))
        seen["dilation"] += max(window.dilations) > 1

    layouts = itertools.product(("conv", "max", "average"), ["SAME"], ("NWC", "NHWC", "NCHW", "NDHWC"))
    least = dict.fromkeys(layouts, 10) | {"stride > kernel": 100, "dilation": 100}
    met = lambda: EXAMPLES < 1000 or all(seen[key] >= count for key, count in least.items())
    explore(windows(), check, EXAMPLES, met)
    print({key if isinstance(key, str) else " ".join(key): count for key, count in seen.items()})
