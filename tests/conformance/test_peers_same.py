"""S1 in JAX, OpenVINO and TensorFlow themselves; how their Pads move elements is the suite's business."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from padops.spec.dialects import same_padding


def windows(first: int) -> Iterator[tuple[int, int, int, int]]:
    """2,100 windows: the size of the data, of the kernel, the stride and the dilation."""
    return product(range(first, first + 15), range(1, 6), range(1, 8), range(1, 5))


@pytest.mark.needs("jax")
@pytest.mark.parametrize("mode", ["SAME", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_jax(mode: str) -> None:
    """A dilated kernel is, to JAX, a larger one."""
    lax, of_jax = import_module("jax.lax"), {"SAME_UPPER": "SAME"}.get(mode, mode)
    for n, k, s, d in windows(0):
        expected = lax.padtype_to_pads([n], [(k - 1) * d + 1], [s], of_jax)
        assert [same_padding(n, k, s, d, mode)] == [tuple(pair) for pair in expected], (n, k, s, d)


@pytest.mark.needs("openvino")
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_openvino(mode: str) -> None:
    opset12 = import_module("openvino.opset12")
    for n, k, s, d in windows(1):
        data, filters = (opset12.parameter([1, 1, size], np.float32) for size in (n, k))
        convolution = opset12.convolution(data, filters, [s], [0], [0], [d], mode.lower())
        pool = opset12.max_pool(data, [s], [d], [0], [0], [k], "floor", mode.lower())
        for node in (convolution, pool):
            attributes = node.get_attributes()
            amounts = (*attributes["pads_begin"], *attributes["pads_end"])
            assert amounts == same_padding(n, k, s, d, mode), (n, k, s, d, node.get_type_name())
            assert node.get_output_shape(0)[2] == -(-n // s)


@pytest.mark.needs("tensorflow")
def test_tensorflow() -> None:
    """SAME and VALID of padded data give the same sums; TensorFlow dilates no kernel that has a stride."""
    tf, rng = import_module("tensorflow"), np.random.default_rng(0)
    for n, k, s, d in windows(1):
        if s == 1 or d == 1:
            # Of one channel, TensorFlow's convolutions are wrong where one output column is left.
            data, filters = rng.integers(-9, 10, (1, n, 2)), rng.integers(-9, 10, (k, 2, 3))
            data, filters = data.astype(np.float32), filters.astype(np.float32)
            padded = np.pad(data, [(0, 0), same_padding(n, k, s, d), (0, 0)])
            same, valid = (
                tf.nn.conv1d(values, filters, s, padding, dilations=d).numpy()
                for values, padding in ((data, "SAME"), (padded, "VALID"))
            )
            np.testing.assert_array_equal(same, valid, err_msg=f"{(n, k, s, d)}")
            assert same.shape[1] == -(-n // s)
