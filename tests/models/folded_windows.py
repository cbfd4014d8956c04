"""Random Pads in front of windows, and windows that pad SAME, with what NumPy makes of them.

The data are small integers, so that every sum is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import same_windows
from onnx import helper
from same_windows import Geometry
from small_models import model, pad, tensor

MS = "com.microsoft"
# Operator, domain, opsets, types of the data, whether a Pad may stand in front of it.
OPERATORS = (
    ("AveragePool", "", (11, 18, 19, 21, 22), "f4 f2", True),
    ("AveragePool", "", (19, 21, 22), "f4 f2", True),
    ("Conv", "", (1, 11, 21, 22), "f4 f2", True),
    ("ConvInteger", "", (10, 21), "u1 i1", True),
    ("QLinearConv", "", (10, 21), "u1 i1", True),
    ("MaxPool", "", (12, 21, 22), "u1 i1 f4 f2", True),
    ("LpPool", "", (11, 18, 22), "f4 f2", False),
    ("ConvTranspose", "", (11, 22), "f4", False),
    ("FusedConv", MS, (17,), "f4", False),
    ("NhwcMaxPool", MS, (17,), "u1 i1", False),
)


@dataclass(frozen=True)
class Padded(Geometry):
    """Windows with amounts of their own: those in front of each axis, then those behind."""

    pads: Sequence[int]

    def outputs(self, sizes: Sequence[int]) -> list[int]:
        rows = zip(sizes, self.kernel, self.strides, self.dilations, self.pads, self.pads[len(sizes) :], strict=False)
        return [(n + b + e - (k - 1) * d - 1) // s + 1 for n, k, s, d, b, e in rows]

    def begins(self, sizes: Sequence[int]) -> list[int]:
        return list(self.pads[: len(sizes)])


@dataclass
class Case:
    """A model, and what it gives."""

    what: str
    source: onnx.ModelProto
    feeds: dict[str, np.ndarray]
    expected: np.ndarray
    opset: int
    same: bool = True  # whether the window pads by SAME, and so is itself what inspect judges


def draw(seed: int) -> Case:
    """The case of a number."""
    rng = np.random.default_rng(seed)
    op, domain, opsets, kinds, may_follow = OPERATORS[seed % len(OPERATORS)]
    rank, follows = int(rng.integers(1, 4)), may_follow and bool(rng.integers(0, 2))
    dtype = np.dtype(rng.choice(kinds.split()))
    kernel, strides = rng.integers(1, 5, rank).tolist(), rng.integers(1, 4, rank).tolist()
    opset = int(rng.choice(opsets))
    if op.startswith("Nhwc") or op == "FusedConv":
        rank, kernel, strides = 2, (kernel * 2)[:2], (strides * 2)[:2]
    if op == "ConvTranspose":  # else there would be nothing to crop
        strides = [min(pair) for pair in zip(strides, kernel)]
    dilated = op not in ("ConvTranspose", "NhwcMaxPool") and (not op.endswith("gePool") or opset >= 19)
    dilated = dilated and (op != "LpPool" or opset >= 18)
    dilations = [int(rng.choice([1, 1, 2])) if dilated else 1 for _ in range(rank)]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": strides}
    attributes |= {"dilations": dilations} if dilated else {}
    attributes |= {"p": 1} if op == "LpPool" else {"activation": "Relu"} if op == "FusedConv" else {}
    count = int(rng.integers(0, 3) > 0) if op == "AveragePool" else 0
    attributes |= {"count_include_pad": count} if op == "AveragePool" else {}
    data = _whole(rng, [int(rng.integers(1, 3)), 2, *rng.integers(5, 9, rank).tolist()], dtype)
    others, outside = _others(rng, op, dtype, kernel)
    geometry: Geometry = Geometry(kernel, strides, dilations, str(rng.choice(["SAME_UPPER", "SAME_LOWER"])))
    tensors = [tensor(name, array, array.dtype) for name, array in others.items()]
    nodes, name = [], "x"
    if follows:
        own = [int(rng.integers(0, k)) for k in kernel * 2] if rng.integers(0, 2) else [0] * (2 * rank)
        if op == "AveragePool":  # onnxruntime 1.21 to 1.24 get others wrong, whether there is a Pad or not
            own = [min(own)] * (2 * rank)
        added = [int(rng.integers(0, k + 1)) for k in kernel * 2]
        attributes |= {"pads": own} if any(own) else {}
        amounts = [0, 0, *added[:rank], 0, 0, *added[rank:]]
        tensors.append(tensor("pads", amounts))
        fill = -1000 if outside == -np.inf else outside  # a window wholly of -inf is another matter
        tensors.append(tensor("fill", fill, dtype))
        nodes, name = [pad(["x", "pads", *(["fill"] if opset >= 11 else [])], "p", name="pad")], "p"
        if opset < 11:
            own_name = "paddings" if opset == 1 else "pads"
            nodes = [pad(["x"], "p", name="pad", value=float(fill), **{own_name: amounts})]
        data_seen = np.pad(data, [(0, 0), (0, 0), *zip(added[:rank], added[rank:])], constant_values=fill)
        geometry = Padded(kernel, strides, dilations, "", own)
    else:
        attributes["auto_pad"], data_seen = geometry.mode, data
    expected = _expected(op, data_seen, others, geometry, outside, count)
    last = op.startswith("Nhwc")
    fed, expected = (np.moveaxis(data, 1, -1), np.moveaxis(expected, 1, -1)) if last else (data, expected)
    nodes.append(helper.make_node(op, [name, *others], ["y"], name="node", domain=domain, **attributes))
    shape = list(fed.shape) if rng.integers(0, 3) else [None] * fed.ndim
    kinds_of = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in (data, expected)]
    source = model(nodes, opset, ir_version=8, tensors=tensors, imports=[(MS, 1)] if domain else [],
                   inputs=[("x", kinds_of[0], shape)], outputs=[("y", kinds_of[1], [None] * fed.ndim)])  # fmt: skip
    what = f"{seed}: {'Pad and ' if follows else ''}{op}-{opset} {dtype} {list(data.shape)} {attributes}"
    return Case(what, source, {"x": fed}, expected, opset, not follows)


def _whole(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)


def _others(
    rng: np.random.Generator, op: str, dtype: np.dtype, kernel: Sequence[int]
) -> tuple[dict[str, np.ndarray], int | float]:
    """The other inputs of a node, and the value that it reads outside of its data."""
    weights = _whole(rng, [2, 2, *kernel], dtype)
    point = np.array(3, dtype)
    if op == "ConvInteger":
        return {"w": weights, "xz": point}, 3
    if op == "QLinearConv":
        scales = [np.array(scale, np.float32) for scale in (0.5, 0.25, 4.0)]
        return {"xs": scales[0], "xz": point, "w": weights, "ws": scales[1], "wz": np.array(0, dtype),
                "ys": scales[2], "yz": np.array(5, dtype)}, 3  # fmt: skip
    if "Max" in op:
        return {}, -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)
    return ({"w": weights} if "Conv" in op else {}), 0


def _expected(
    op: str, data: np.ndarray, others: dict[str, np.ndarray], geometry: Geometry, outside: float, count: int
) -> np.ndarray:
    weights = others.get("w", data)
    if op == "AveragePool":
        return same_windows.average_pool(data.astype(np.float32), geometry, count).astype(data.dtype)
    if "Max" in op:
        return same_windows.windows(data, geometry, outside).max(-1)
    if op == "LpPool":
        return same_windows.lp_pool(data, geometry)
    if op == "ConvTranspose":
        return same_windows.conv_transpose(data, weights, geometry, [0] * (data.ndim - 2)).astype(data.dtype)
    sums = same_windows.conv(data.astype(np.int64) - (3 if "xz" in others else 0), weights, geometry)
    if op == "ConvInteger":
        return sums.astype(np.int32)
    if op == "QLinearConv":
        limits = np.iinfo(data.dtype)
        return np.clip(np.rint(sums * 0.03125) + 5, limits.min, limits.max).astype(data.dtype)
    return (np.maximum(sums, 0) if op == "FusedConv" else sums).astype(data.dtype)
