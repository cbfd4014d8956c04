"""S1 in OpenVINO itself; how its Pads move elements is the suite's business."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from openvino import opset12

from padops.spec.dialects import same_padding


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_auto_pad_agrees(mode: str) -> None:
    """S1: the amounts and the output dims that Convolution and MaxPool compute, of 2,100 windows each."""
    for n, k, s, d in product(range(1, 16), range(1, 6), range(1, 8), range(1, 5)):
        data, filters = (opset12.parameter([1, 1, size], np.float32) for size in (n, k))
        convolution = opset12.convolution(data, filters, [s], [0], [0], [d], mode.lower())
        pool = opset12.max_pool(data, [s], [d], [0], [0], [k], "floor", mode.lower())
        for node in (convolution, pool):
            attributes = node.get_attributes()
            amounts = (*attributes["pads_begin"], *attributes["pads_end"])
            assert amounts == same_padding(n, k, s, d, mode), (n, k, s, d, node.get_type_name())
            assert node.get_output_shape(0)[2] == -(-n // s)
