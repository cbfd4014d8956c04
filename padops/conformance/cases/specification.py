"""The examples that the specifications print, under the name of their document.

The documents print numbers without a type, so each example is a case of every type in ``TYPES``. This file repeats no
outputs: the rules lead to the printed outputs, as the tests of padops show.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from padops.conformance.case import Case, Recipe, integers

# ONNX Pad, all editions.
DATA = (1.0, 1.2, 2.3, 3.4, 4.5, 5.7)
# OpenVINO Pad-1 and Pad-12, as three rows of four.
TWELVE = tuple(range(1, 13))


def _onnx(edition: int) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    left, around = (0, 2, 0, 0), (2, 1, 1, 1)
    yield "example-1", {"mode": "constant"}, [left, 0.0]
    yield "example-2", {"mode": "reflect"}, [left]
    yield "example-3", {"mode": "edge"}, [left]
    if edition >= 19:
        yield "example-4", {"mode": "wrap"}, [around]


def _onnx_cases() -> Iterator[Case]:
    for dtype in ("float", "double"):
        data = Recipe(dtype, (3, 2), values=DATA)
        for edition in (11, 13, 18, 19, 21, 23, 24, 25):
            for name, attributes, (pads, *value) in _onnx(edition):
                fill = Recipe(dtype, (), values=tuple(value)) if value else None
                inputs = (data, integers(pads), fill, *((None,) if edition >= 18 else ()))
                id = f"specification/Pad_{edition}/{name}/{dtype}"
                yield Case(id, "specification", f"Pad_{edition}", edition, attributes, inputs)
        for edition, attribute, name, pads in (
            (2, "pads", "example", [0, 2, 0, 0]),
            (1, "paddings", "example-printed-output", [0, 2, 0, 0]),
            # The document contradicts itself: its paddings lead to another output than it prints.
            (1, "paddings", "example-printed-paddings", [0, 0, 2, 0]),
        ):
            id = f"specification/Pad_{edition}/{name}/{dtype}"
            yield Case(id, "specification", f"Pad_{edition}", edition, {attribute: pads}, (data,))


def _openvino_cases() -> Iterator[Case]:
    printed = {"positive": ((0, 1), (2, 3)), "negative": ((-1, -1), (-1, -1)), "mixed": ((2, -1), (-1, 3))}
    for edition, names in ((1, ("positive",)), (12, tuple(printed))):
        for name in names:
            for mode in ("constant", "edge", "reflect", "symmetric"):
                for dtype in ("float", "int32"):
                    inputs = (Recipe(dtype, (3, 4), values=TWELVE), *map(integers, printed[name]), None)
                    op = f"OpenVINOPad_{edition}"
                    for constants in ((), (1, 2)):
                        id = f"specification/{op}/{name}-{mode}/{dtype}" + ("/held" if constants else "")
                        yield Case(id, "specification", op, 0, {"pad_mode": mode}, inputs, constants)


def _other_cases() -> Iterator[Case]:
    """Yield nGraph's example, the drawings of TensorFlow's page on SAME and VALID, and its convolution of 7 by 8."""
    attributes: dict[str, Any] = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}
    for dtype in ("float", "int32"):
        inputs = (Recipe(dtype, (3, 3), values=tuple(range(1, 10))), Recipe(dtype, (), values=(42,)))
        yield Case(f"specification/NGraphPad_0/example/{dtype}", "specification", "NGraphPad_0", 0, attributes, inputs)
    for name, shape, attributes in (
        ("drawing-same", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "SAME_UPPER"}),
        ("drawing-valid", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "VALID"}),
        ("conv2d", (1, 7, 8, 3), {"kernel_shape": [4, 4], "strides": [3, 3], "data_format": "NHWC"}),
    ):
        data = (Recipe("float", shape, seed=1), None)
        yield Case(f"specification/SamePad_1/{name}/float", "specification", "SamePad_1", 0, attributes, data)


@cache
def cases() -> tuple[Case, ...]:
    """Return all cases."""
    return (*_onnx_cases(), *_openvino_cases(), *_other_cases())
