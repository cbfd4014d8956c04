"""The native kernels of the other dialects, bit for bit, against numpy.pad: every operator, mode and element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import native
import numpy as np
import pytest
from onnx_pads import storage

from padops.spec import reference
from padops.spec.dialects import OPS
from padops.spec.dtypes import DType

FULL_OPS = ["OpenVINOPad_1", "OpenVINOPad_12", "NGraphPad_0"]
EVERY = [
    pytest.param(op, mode, dtype, id=f"{op}-{mode}-{dtype.name}")
    for op in [*FULL_OPS, "SamePad_1"]
    for mode in OPS[op].modes
    for dtype in native.TYPES
]


def view_of_extension(
    data: np.ndarray,
    begins: Sequence[int],
    ends: Sequence[int],
    mode: str,
    fill: np.ndarray,
    interior: Sequence[int] = (),
) -> np.ndarray:
    """FULL (P3): a window on numpy.pad of the whole data, wide enough for any crop; interior first (P6)."""
    raw, value = storage(data), storage(fill).reshape(())
    if any(interior):
        spread = np.full([(n - 1) * (i + 1) + 1 for n, i in zip(raw.shape, interior)], value, raw.dtype)
        spread[tuple(slice(None, None, i + 1) for i in interior)] = raw
        raw = spread
    margin = max(map(abs, [*begins, *ends])) + max(raw.shape)
    wide = np.pad(raw, margin, mode=mode.lower(), **({"constant_values": value} if mode.lower() == "constant" else {}))
    window = tuple(slice(margin - b, margin + n + e) for b, n, e in zip(begins, raw.shape, ends))
    return wide[window].view(data.dtype)


def full_node(
    op: str, mode: str, data: np.ndarray, begins: Sequence[int], ends: Sequence[int], fill: np.ndarray, interior=()
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The attributes and inputs of a node of one of ``FULL_OPS``."""
    if op == "NGraphPad_0":
        attributes = {"pad_mode": mode, "padding_below": list(begins), "padding_above": list(ends)}
        return attributes | ({"padding_interior": list(interior)} if any(interior) else {}), [data, fill]
    return {"pad_mode": mode}, [data, np.array(begins, np.int64), np.array(ends, np.int32), fill]


def check(op: str, attributes: dict[str, Any], inputs: list[np.ndarray], expected: np.ndarray) -> None:
    assert native.bits(native.run(op, attributes, inputs)) == native.bits(expected)
    assert native.bits(reference.run(op, attributes, inputs)) == native.bits(expected)


@pytest.mark.parametrize(("op", "mode", "dtype"), EVERY)
def test_op_mode_type(op: str, mode: str, dtype: DType) -> None:
    """P1–P3, P7, S1: random bits; amounts of one sign and of both, within OpenVINO's limits (P4)."""
    rng = np.random.default_rng(dtype.onnx)
    fill = native.random_array(rng, dtype, ())
    if op == "SamePad_1":
        data = native.random_array(rng, dtype, (2, 3, 7, 5))
        attributes = {"mode": mode, "kernel_shape": [3, 4], "strides": [2, 1]}
        # o = 4 and 5, so total = 3·2 + 3 − 7 = 2 and 4 + 4 − 5 = 3.
        check(op, attributes, [data, fill], view_of_extension(data, (0, 0, 1, 1), (0, 0, 1, 2), mode, fill))
        return
    data = native.random_array(rng, dtype, (5, 4, 6))
    for begins, ends in (((2, 0, 1), (3, 1, 5)), ((-1, 3, -7), (2, -2, 3)), ((0, 1, 0), (0, 0, 0))):
        attributes, inputs = full_node(op, mode, data, begins, ends, fill)
        check(op, attributes, inputs, view_of_extension(data, begins, ends, mode, fill))


@pytest.mark.parametrize("dtype", native.TYPES, ids=lambda dtype: dtype.name)
def test_interior(dtype: DType) -> None:
    """P6: fill between neighbours, of each width, with crops that begin on and between elements."""
    rng = np.random.default_rng(dtype.onnx)
    data, fill = native.random_array(rng, dtype, (3, 4, 2)), native.random_array(rng, dtype, ())
    for begins, ends, interior in (
        ((1, 0, 2), (0, 3, 1), (1, 2, 0)),
        ((-1, -3, 0), (-2, 1, 0), (2, 1, 3)),
        ((0, 0, 0), (0, 0, 0), (0, 0, 4)),
        ((0, 0, -1), (0, 0, 1), (3, 0, 0)),
    ):
        attributes, inputs = full_node("NGraphPad_0", "CONSTANT", data, begins, ends, fill, interior)
        check("NGraphPad_0", attributes, inputs, view_of_extension(data, begins, ends, "CONSTANT", fill, interior))


@pytest.mark.parametrize("op", FULL_OPS)
@pytest.mark.parametrize("name", ["uint8", "float", "double"])
def test_large(op: str, name: str) -> None:
    """P2, P3: outputs that go through the thread pool."""
    rng = np.random.default_rng(1)
    dtype = native.by_name(name)
    fill = native.random_array(rng, dtype, ())
    for shape, begins, ends in (
        ((700_001,), (-13,), (50_021,)),
        ((900, 601), (7, -2), (-5, 30)),
        ((6, 60, 7, 300), (1, 0, -1, 0), (0, 2, 3, 0)),
    ):
        data = native.random_array(rng, dtype, shape)
        for mode in OPS[op].modes:
            attributes, inputs = full_node(op, mode, data, begins, ends, fill)
            expected = view_of_extension(data, begins, ends, mode, fill) if len(shape) < 4 else None
            got = native.bits(native.run(op, attributes, inputs))
            assert got == native.bits(expected if expected is not None else reference.run(op, attributes, inputs))


@pytest.mark.parametrize(
    ("auto_pad", "begins", "ends"),
    [("SAME_UPPER", (1, 1), (1, 2)), ("SAME_LOWER", (1, 2), (1, 1)), ("VALID", (0, 0), (0, 0))],
)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_same(data_format: str, auto_pad: str, begins, ends) -> None:
    """S1: which side gets the odd one, and where the channels stand; dilation counts."""
    data = native.random_array(np.random.default_rng(2), native.by_name("int16"), (2, 7, 5, 3))
    data = data if data_format == "NHWC" else np.moveaxis(data, -1, 1)
    attributes = {"kernel_shape": [2, 4], "strides": [2, 1], "dilations": [2, 1], "auto_pad": auto_pad}
    at = [2, 3] if data_format == "NCHW" else [1, 2]
    whole = [[0] * 4, [0] * 4]
    for side, amounts in zip(whole, (begins, ends)):
        for axis, amount in zip(at, amounts):
            side[axis] = amount
    expected = np.pad(data, list(zip(*whole)))
    check("SamePad_1", attributes | {"data_format": data_format}, [data], expected)
