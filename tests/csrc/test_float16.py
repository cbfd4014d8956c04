"""The fill of Pad_1 and Pad_2 is a float attribute, rounded once to the type of the data (P7)."""

from __future__ import annotations

import native
import numpy as np
import onnx
from onnx import helper
from small_models import model


def floats() -> np.ndarray:
    """Around every float16: itself, the midpoint to its neighbour and what lies next to that; both signs."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    above = np.append(halves[1:], np.float32(65536))  # where the next float16 would be, if it went on
    middle = (halves + above) / 2
    values = [halves, middle, np.nextafter(middle, halves), np.nextafter(middle, above)]
    positive = np.concatenate([*values, np.array([np.inf, 1e-45, 1e-30, 65535.9, 1e30], np.float32)])
    return np.concatenate([positive, -positive])


def nans() -> np.ndarray:
    """Quiet and signalling, with payloads in the upper and in the lower bits."""
    payloads = [1, 2, 0x1FFF, 0x2000, 0x3FFFFF, 0x400000, 0x400001, 0x402000, 0x7FE000, 0x7FFFFF]
    return np.array([sign | 0x7F800000 | payload for payload in payloads for sign in (0, 1 << 31)], np.uint32).view(
        np.float32
    )


def rounded(values: np.ndarray) -> np.ndarray:
    """Bits of the float16: numbers as NumPy rounds them, NaNs with the upper ten bits of their payload, or 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = values.astype(np.float16).view(np.uint16)
    raw = values.view(np.uint32)
    payload = np.maximum(raw >> 13 & 0x3FF, 1)
    return np.where(np.isnan(values), raw >> 16 & 0x8000 | 0x7C00 | payload, numbers).astype(np.uint16)


def fills(values: np.ndarray, dtype: int) -> np.ndarray:
    """What Pad_1 and Pad_2, in turns, put around an empty tensor, one node for each value."""
    nodes = []
    for i, value in enumerate(values):
        op, amounts = (("Pad_1", "paddings"), ("Pad_2", "pads"))[i % 2]
        nodes.append(helper.make_node(op, ["data"], [f"y{i}"], domain="padops", **{amounts: [0, 1]}))
        # Field 2 of AttributeProto, as bytes: a Python float is a double, and would make signalling NaNs quiet.
        raw = onnx.AttributeProto(name="value", type=onnx.AttributeProto.FLOAT).SerializeToString()
        nodes[-1].attribute.append(onnx.AttributeProto.FromString(raw + b"\x15" + value.tobytes()))
    nodes.append(helper.make_node("Concat", [f"y{i}" for i in range(len(values))], ["output"], axis=0))
    parts = {"inputs": [("data", dtype, [0])], "outputs": [("output", dtype, None)]}
    built = native.session(model(nodes, 18, ir_version=9, imports=[("padops", 1)], **parts))
    return built.run(None, {"data": np.zeros(0, helper.tensor_dtype_to_np_dtype(dtype))})[0]


def test_value_as_each_type() -> None:
    """P7: midpoints go to the even one, what lies next to them to the nearer; a double keeps NaNs.

    NaN payloads, denormals, infinities and −0 are among the values.
    """
    rng = np.random.default_rng(11)
    size = np.abs(floats())
    ends = floats()[(size < 2**-22) | (np.abs(size - 2**-14) < 2**-23) | (size > 65_400)]  # where branches of it meet
    values = np.concatenate([rng.choice(floats(), 1_200), ends, nans(), np.frombuffer(rng.bytes(4 * 180), np.float32)])
    assert (fills(values, onnx.TensorProto.FLOAT16).view(np.uint16) == rounded(values)).all()
    assert (fills(values, onnx.TensorProto.FLOAT).view(np.uint32) == values.view(np.uint32)).all()
    got = fills(values, onnx.TensorProto.DOUBLE)
    number = ~np.isnan(values)
    assert (got[number].view(np.uint64) == values[number].astype(np.float64).view(np.uint64)).all()
    assert np.isnan(got[~number]).all()
