"""SAME computed the long way: every window of every operator gathered by NumPy, tap by tap, from the formula S1.

Nothing of padops is used. With small integers as data every sum is exact, in whatever order it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Geometry:
    """What an operator does along its spatial axes: one number each."""

    kernel: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    mode: str

    def outputs(self, sizes: Sequence[int]) -> list[int]:
        return [-(-n // s) for n, s in zip(sizes, self.strides, strict=True)]

    def begins(self, sizes: Sequence[int]) -> list[int]:
        rows = zip(sizes, self.kernel, self.strides, self.dilations, strict=True)
        totals = [max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) for n, k, s, d in rows]
        return [total // 2 if self.mode == "SAME_UPPER" else total - total // 2 for total in totals]


def windows(data: np.ndarray, geometry: Geometry, outside: float) -> np.ndarray:
    """``[N, C, outputs…, taps]`` of ``[N, C, sizes…]``; taps outside the data are ``outside``."""
    sizes = data.shape[2:]
    for i, (n, o, b) in enumerate(zip(sizes, geometry.outputs(sizes), geometry.begins(sizes))):
        taps = np.arange(o)[:, None] * geometry.strides[i] - b + np.arange(geometry.kernel[i]) * geometry.dilations[i]
        axis = data.ndim - (len(sizes) - i)
        shown = np.take(data, np.clip(taps, 0, n - 1), axis)
        within = ((taps >= 0) & (taps < n)).reshape([*taps.shape, *[1] * (data.ndim - axis - 1)])
        shown = np.where(within, shown, np.asarray(outside, data.dtype))
        data = np.moveaxis(shown, axis + 1, 2)  # taps before the sizes that are still to come
    taps = range(2, 2 + len(sizes))  # the last axis first
    data = np.moveaxis(data, taps, range(-1, -1 - len(sizes), -1))
    return data.reshape(*data.shape[:2], *geometry.outputs(sizes), -1)


def max_pool(data: np.ndarray, geometry: Geometry) -> np.ndarray:
    lowest = -np.inf if data.dtype.kind == "f" else np.iinfo(data.dtype).min
    return windows(data, geometry, lowest).max(-1)


def average_pool(data: np.ndarray, geometry: Geometry, count_include_pad: int = 0) -> np.ndarray:
    taps = windows(data, geometry, 0)
    counts = windows(np.ones_like(data), geometry, 0).sum(-1)
    return taps.sum(-1) / (np.asarray(taps.shape[-1], data.dtype) if count_include_pad else counts)


def lp_pool(data: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Of p = 1."""
    return np.abs(windows(data, geometry, 0)).sum(-1)


def conv(data: np.ndarray, weights: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Of ``weights [M, C, kernel…]``; computed as integers of 64 bits or as doubles."""
    wide = np.int64 if data.dtype.kind in "iu" else np.float64
    flat = weights.reshape(*weights.shape[:2], -1).astype(wide)
    return np.einsum("nc...t,mct->nm...", windows(data, geometry, 0).astype(wide), flat)


def conv_transpose(data: np.ndarray, weights: np.ndarray, geometry: Geometry, more: Sequence[int]) -> np.ndarray:
    """Of ``weights [C, M, kernel…]``: every product added where it belongs, then cropped to size * stride."""
    sizes, rank = data.shape[2:], data.ndim - 2
    extents = [(k - 1) * d + 1 for k, d in zip(geometry.kernel, geometry.dilations)]
    whole = [(n - 1) * s + e + m for n, s, e, m in zip(sizes, geometry.strides, extents, more)]
    result = np.zeros((data.shape[0], weights.shape[1], *whole))
    for place in np.ndindex(*sizes):
        for tap in np.ndindex(*geometry.kernel):
            at = tuple(p * s + t * d for p, s, t, d in zip(place, geometry.strides, tap, geometry.dilations))
            result[(slice(None), slice(None), *at)] += data[(..., *place)] @ weights[(..., *tap)]
    for i in range(rank):
        total = whole[i] - sizes[i] * geometry.strides[i]
        begin = total // 2 if geometry.mode == "SAME_UPPER" else total - total // 2
        result = np.take(result, np.arange(begin, begin + sizes[i] * geometry.strides[i]), 2 + i)
    return result
