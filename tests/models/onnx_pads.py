"""Nodes of each operator of padops but SamePad, and what numpy.pad says of them.

numpy.pad knows neither negative amounts nor most element types: ``numpy_pad`` crops by itself and moves bits as
unsigned integers, so that it stays independent of padops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from padops.spec.dialects import OPS

ONNX_OPS = [name for name in OPS if name.startswith("Pad_")]
INPUT_OPS = [name for name in ONNX_OPS if OPS[name].input_index("pads") is not None]
AXES_OPS = [name for name in ONNX_OPS if OPS[name].input_index("axes") is not None]
FULL_OPS = ["OpenVINOPad_1", "OpenVINOPad_12", "NGraphPad_0"]  # which crop the extended data (P3)
MODES = ("constant", "edge", "reflect", "wrap")
NEWEST = "Pad_21"  # the newest whose every type all supported runtimes know


def modes_of(op: str) -> list[str]:
    return [mode for mode in MODES if mode in OPS[op].modes]


def storage(array: np.ndarray) -> np.ndarray:
    """The elements as unsigned integers; strings as they are."""
    return array if array.dtype.kind in "OUT" else array.view(f"u{array.dtype.itemsize}")


def numpy_pad(data: np.ndarray, pads: Sequence[int], mode: str, fill: np.ndarray | None = None) -> np.ndarray:
    """What P1–P4 say, in terms of numpy.pad: constant crops after padding, the other modes before (P3)."""
    begins, ends = pads[: data.ndim], pads[data.ndim :]
    added = [(max(b, 0), max(e, 0)) for b, e in zip(begins, ends)]

    def crop(array: np.ndarray) -> np.ndarray:
        return array[tuple(slice(max(-b, 0), n - max(-e, 0)) for b, e, n in zip(begins, ends, array.shape))]

    raw = storage(data)
    if mode != "constant":
        return np.pad(crop(raw), added, mode=mode).view(data.dtype)
    if fill is None:
        fill = np.array("", object) if data.dtype.kind in "OUT" else np.zeros((), data.dtype)
    value = storage(fill).reshape(())
    return crop(np.pad(raw, added, constant_values=value)).view(data.dtype)


def full_pad(
    data: np.ndarray, pads: Sequence[int], mode: str, fill: np.ndarray, interior: Sequence[int] = ()
) -> np.ndarray:
    """FULL (P3): a window on numpy.pad of the whole data, wide enough for any crop; interior first (P6)."""
    begins, ends = pads[: data.ndim], pads[data.ndim :]
    raw, value, mode = storage(data), storage(fill).reshape(()), mode.lower()
    if any(interior):
        spread = np.full([(n - 1) * (i + 1) + 1 for n, i in zip(raw.shape, interior)], value, raw.dtype)
        spread[tuple(slice(None, None, i + 1) for i in interior)] = raw
        raw = spread
    margins = [max(abs(b), abs(e)) + n for b, e, n in zip(begins, ends, raw.shape)]
    more = {"constant_values": value} if mode == "constant" else {}
    wide = np.pad(raw, [(margin, margin) for margin in margins], mode=mode, **more)
    window = tuple(slice(m - b, m + n + e) for m, b, n, e in zip(margins, begins, raw.shape, ends))
    return wide[window].view(data.dtype)


def node(op: str, mode: str, data: np.ndarray, pads: Sequence[int], fill: np.ndarray | None = None,
         interior: Sequence[int] = ()) -> tuple[dict[str, Any], list[np.ndarray | None]]:  # fmt: skip
    """The attributes and the inputs of a node; Pad_1 and Pad_2 take the fill as an attribute."""
    begins, ends = list(pads[: data.ndim]), list(pads[data.ndim :])
    if op in INPUT_OPS:
        axes = [None] if op in AXES_OPS else []
        return {"mode": mode}, [data, np.array(pads, np.int64), fill, *axes]
    if op.startswith("OpenVINO"):
        return {"pad_mode": mode}, [data, np.array(begins, np.int64), np.array(ends, np.int32), fill]
    if op == "NGraphPad_0":
        attributes = {"pad_mode": mode, "padding_below": begins, "padding_above": ends}
        return attributes | ({"padding_interior": list(interior)} if any(interior) else {}), [data, fill]
    amounts = {OPS[op].attributes[1].name: begins + ends}
    return {"mode": mode} | amounts | ({} if fill is None else {"value": float(fill)}), [data]
