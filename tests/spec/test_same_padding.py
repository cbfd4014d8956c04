"""S1: padops.same_padding against what SAME means, the kernel, ONNX's shape inference, JAX, OpenVINO and TensorFlow.

How the Pads of the last three move elements is the suite's business.
"""

from __future__ import annotations

from importlib import import_module
from itertools import product

import native
import numpy as np
import pytest
from onnx import helper, shape_inference
from small_models import FLOAT, model

import padops
from padops.spec.plan import LARGEST

# Every size, kernel, stride and dilation: kernels wider than the data, strides wider than the kernel.
WINDOWS = list(product(range(1, 16), range(1, 6), range(1, 8), range(1, 5)))
EMPTY = list(product([0], range(1, 6), range(1, 8), range(1, 5)))


def outputs(n: int, k: int, s: int, d: int, begin: int, end: int) -> int:
    """Positions of a window that pads ``begin`` and ``end``."""
    return (begin + n + end - (k - 1) * d - 1) // s + 1


def test_amounts_are_the_fewest() -> None:
    """SAME means ceil(n/s) outputs; no fewer elements give them, and the two sides differ by one at most."""
    for n, k, s, d in WINDOWS:
        begin, end = padops.same_padding(n, k, s, d)
        same = -(-n // s)
        if begin + end:
            assert outputs(n, k, s, d, begin, end) == same and outputs(n, k, s, d, begin, end - 1) < same
        else:
            assert outputs(n, k, s, d, 0, 0) >= same or k == 1
        assert end - begin in (0, 1)
        assert padops.same_padding(n, k, s, d, "SAME_LOWER") == (end, begin)
        assert padops.same_padding(n, k, s, d, "SAME") == (begin, end)
        assert padops.same_padding(n, k, s, d, "VALID") == (0, 0)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_kernel_pads_as_much(mode: str) -> None:
    """One of seven windows, as SamePad_1: where the data begins, and how much there is."""
    for n, k, s, d in WINDOWS[::7]:
        begin, end = padops.same_padding(n, k, s, d, mode)
        attributes = {"kernel_shape": [k], "strides": [s], "dilations": [d], "auto_pad": mode}
        output = native.run("SamePad_1", attributes, [np.ones([1, 1, n], np.int8)])
        assert output.tolist() == [[[0] * begin + [1] * n + [0] * end]]


def inferred(windows: list, mode: str) -> list[int]:
    """The output dims that ONNX infers for MaxPools with ``auto_pad``, all in one model."""
    nodes, inputs = [], []
    for i, (n, k, s, d) in enumerate(windows):
        inputs.append((f"i{i}", FLOAT, [1, 1, n]))
        attributes = {"kernel_shape": [k], "strides": [s], "dilations": [d], "auto_pad": mode}
        nodes.append(helper.make_node("MaxPool", [f"i{i}"], [f"o{i}"], **attributes))
    outputs = [(f"o{i}", FLOAT, None) for i in range(len(windows))]
    made = shape_inference.infer_shapes(model(nodes, 18, inputs=inputs, outputs=outputs), strict_mode=True)
    return [output.type.tensor_type.shape.dim[2].dim_value for output in made.graph.output]


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_onnx_infers_the_same_shape(mode: str) -> None:
    """Wherever a window fits, which SAME sees to."""
    windows = [w for w in WINDOWS if mode != "VALID" or w[0] > (w[1] - 1) * w[3]]
    expected = [outputs(*window, *padops.same_padding(*window, mode)) for window in windows]
    assert inferred(windows, mode) == expected


@pytest.mark.needs("jax")
@pytest.mark.parametrize("mode", ["SAME", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_jax(mode: str) -> None:
    """A dilated kernel is, to JAX, a larger one."""
    lax, of_jax = import_module("jax.lax"), {"SAME_UPPER": "SAME"}.get(mode, mode)
    for n, k, s, d in (*WINDOWS, *EMPTY):
        expected = lax.padtype_to_pads([n], [(k - 1) * d + 1], [s], of_jax)
        assert [padops.same_padding(n, k, s, d, mode)] == [tuple(pair) for pair in expected], (n, k, s, d)


@pytest.mark.needs("openvino")
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_openvino(mode: str) -> None:
    opset12 = import_module("openvino.opset12")
    for n, k, s, d in WINDOWS:
        data, filters = (opset12.parameter([1, 1, size], np.float32) for size in (n, k))
        convolution = opset12.convolution(data, filters, [s], [0], [0], [d], mode.lower())
        pool = opset12.max_pool(data, [s], [d], [0], [0], [k], "floor", mode.lower())
        for node in (convolution, pool):
            attributes = node.get_attributes()
            amounts = (*attributes["pads_begin"], *attributes["pads_end"])
            assert amounts == padops.same_padding(n, k, s, d, mode), (n, k, s, d, node.get_type_name())
            assert node.get_output_shape(0)[2] == -(-n // s)


@pytest.mark.needs("tensorflow")
def test_tensorflow() -> None:
    """SAME and VALID of padded data give the same sums; TensorFlow dilates no kernel that has a stride."""
    tf, rng = import_module("tensorflow"), np.random.default_rng(0)
    for n, k, s, d in WINDOWS:
        if s == 1 or d == 1:
            # Of one channel, TensorFlow's convolutions are wrong where one output column is left.
            data, filters = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((1, n, 2), (k, 2, 3)))
            padded = np.pad(data, [(0, 0), padops.same_padding(n, k, s, d), (0, 0)])
            same, valid = (
                tf.nn.conv1d(values, filters, s, padding, dilations=d).numpy()
                for values, padding in ((data, "SAME"), (padded, "VALID"))
            )
            np.testing.assert_array_equal(same, valid, err_msg=f"{(n, k, s, d)}")
            assert same.shape[1] == -(-n // s)


@pytest.mark.parametrize(
    "arguments, rule, text",
    [
        ((5, 3, 1, 1, "NOTSET"), "S1", "auto_pad 'NOTSET' is not one of SAME_UPPER, SAME_LOWER, VALID"),
        ((-1, 3), "S1", "input is -1, expected an integer of 0 or more"),
        ((13.5, 6), "S1", "input is 13.5, expected an integer of 0 or more"),
        ((5, 0), "S1", "kernel is 0, expected an integer of 1 or more"),
        ((5, 3, 0), "S1", "stride is 0, expected an integer of 1 or more"),
        ((5, 3, 1, -2), "S1", "dilation is -2, expected an integer of 1 or more"),
        ((5, 3, 1, LARGEST), "P10", f"a kernel of 3 with dilation {LARGEST} is beyond {LARGEST}"),
    ],
)
def test_errors(arguments: tuple, rule: str, text: str) -> None:
    with pytest.raises(padops.PadError) as caught:
        padops.same_padding(*arguments)
    assert (caught.value.rule, caught.value.detail) == (rule, text)
