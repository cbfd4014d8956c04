"""The ONNX operators of padops, and what numpy.pad says of them.

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


def node(
    op: str, mode: str, data: np.ndarray, pads: Sequence[int], fill: np.ndarray | None = None
) -> tuple[dict[str, Any], list[np.ndarray | None]]:
    """The attributes and the inputs of a node of any ONNX Pad; Pad_1 and Pad_2 take the fill as an attribute."""
    if op in INPUT_OPS:
        axes = [None] if op in AXES_OPS else []
        return {"mode": mode}, [data, np.array(pads, np.int64), fill, *axes]
    amounts = {OPS[op].attributes[1].name: list(pads)}
    return {"mode": mode} | amounts | ({} if fill is None else {"value": float(fill)}), [data]
