"""The examples that the specifications print, under the name of their document.

The documents print numbers without a type, so each example is a case of two types. This file repeats no outputs: the
rules lead to the printed outputs, as the tests of padops show.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from padops.conformance.arrays import integers, random_array
from padops.conformance.peers.request import Request
from padops.spec.dtypes import by_name

LEFT, AROUND = (0, 2, 0, 0), (2, 1, 1, 1)
# ONNX's examples since opset 11: the number, the mode and the amounts; wrap is of opset 19 and later.
ONNX = ((1, "constant", LEFT), (2, "reflect", LEFT), (3, "edge", LEFT), (4, "wrap", AROUND))
# The document of Pad 1 contradicts itself: its paddings lead to another output than it prints.
OLD_ONNX = (
    (2, "pads", "example", [0, 2, 0, 0]),
    (1, "paddings", "example-printed-output", [0, 2, 0, 0]),
    (1, "paddings", "example-printed-paddings", [0, 0, 2, 0]),
)
OPENVINO = {"positive": ((0, 1), (2, 3)), "negative": ((-1, -1), (-1, -1)), "mixed": ((2, -1), (-1, 3))}
NGRAPH = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}
# The drawings of TensorFlow's page on SAME and VALID, and its convolution of 7 by 8.
SAME: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("drawing-same", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "SAME_UPPER"}),
    ("drawing-valid", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "VALID"}),
    ("conv2d", (1, 7, 8, 3), {"kernel_shape": [4, 4], "strides": [3, 3], "data_format": "NHWC"}),
)


def _array(dtype: str, values: Any) -> np.ndarray:
    return np.array(values, by_name(dtype).numpy)


def cases() -> Iterator[Request]:
    """Yield all cases."""
    for dtype in ("float", "double"):
        data = _array(dtype, [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]])
        for edition in (11, 13, 18, 19, 21, 23, 24, 25):
            for number, mode, pads in ONNX[: None if edition >= 19 else 3]:
                fill = _array(dtype, 0.0) if mode == "constant" else None
                inputs = (data, integers(pads), fill) + ((None,) if edition >= 18 else ())
                id = f"specification/Pad_{edition}/example-{number}/{dtype}"
                yield Request(id, f"Pad_{edition}", edition, {"mode": mode}, inputs)
        for edition, attribute, name, amounts in OLD_ONNX:
            id = f"specification/Pad_{edition}/{name}/{dtype}"
            yield Request(id, f"Pad_{edition}", edition, {attribute: amounts}, (data,))
    for op, names in (("OpenVINOPad_1", ["positive"]), ("OpenVINOPad_12", [*OPENVINO])):
        for name, mode, dtype in product(names, ("constant", "edge", "reflect", "symmetric"), ("float", "int32")):
            given = (_array(dtype, np.arange(1, 13).reshape(3, 4)), *map(integers, OPENVINO[name]), None)
            for constants, held in (((), ""), ((1, 2), "/held")):
                id = f"specification/{op}/{name}-{mode}/{dtype}{held}"
                yield Request(id, op, 0, {"pad_mode": mode}, given, constants)
    for dtype in ("float", "int32"):
        given = (_array(dtype, np.arange(1, 10).reshape(3, 3)), _array(dtype, 42))
        yield Request(f"specification/NGraphPad_0/example/{dtype}", "NGraphPad_0", 0, NGRAPH, given)
    for name, shape, attributes in SAME:
        data = random_array(np.random.default_rng(1), by_name("float"), shape)
        yield Request(f"specification/SamePad_1/{name}/float", "SamePad_1", 0, attributes, (data, None))
