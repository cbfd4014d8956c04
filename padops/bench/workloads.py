"""The workloads of the benchmark: shapes from real networks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, prod, sqrt

import numpy as np

from padops.spec.bits import to_bytes
from padops.spec.dtypes import by_name

Shape = tuple[int, ...]
Amounts = Mapping[int, int | tuple[int, int]]  # of the padded axes: on both sides, or before and after


@dataclass(frozen=True)
class Workload:
    """One Pad."""

    name: str  # short, and unique
    shape: Shape  # of the data
    begin: Shape  # amounts before each axis
    end: Shape  # amounts after each axis
    mode: str = "constant"  # which pads with 0
    dtype: str = "float"  # a name of ``padops.spec.dtypes``
    interior: Shape = ()  # amounts between any two elements of each axis; empty for none

    @property
    def output_shape(self) -> Shape:
        interior = self.interior or (0,) * len(self.shape)
        return tuple(b + (n - 1) * (i + 1) + 1 + e for n, b, e, i in zip(self.shape, self.begin, self.end, interior))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Begin and end of each axis."""
        return list(zip(self.begin, self.end))

    @property
    def output_bytes(self) -> int:
        """The bytes to write; for strings, the bytes of NumPy's pointers."""
        bits = by_name(self.dtype).bits or 64
        return (prod(self.output_shape) * bits + 7) // 8

    def data(self) -> np.ndarray:
        """The same random elements at every call."""
        dtype = by_name(self.dtype)
        if dtype.name == "string":
            return np.array([f"token {i % 997}" for i in range(prod(self.shape))], object).reshape(self.shape)
        most = {"bool": 2, "int4": 8}.get(dtype.name, 100)
        return np.random.default_rng(0).integers(0, most, self.shape).astype(dtype.numpy)


def _around(name: str, shape: Shape, pads: Amounts, mode: str = "constant", dtype: str = "float") -> Workload:
    pairs = [(p, p) if isinstance(p, int) else p for p in (pads.get(i, 0) for i in range(len(shape)))]
    return Workload(name, shape, tuple(b for b, _ in pairs), tuple(e for _, e in pairs), mode, dtype)


@dataclass(frozen=True)
class Memory:
    """The memory that all implementations of a workload read, and that some write, if they accept the caller's.

    Both arrays are bytes that begin at a cache line, as the runtime's own tensors do; sub-byte elements are packed.
    """

    source: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, workload: Workload) -> Memory:
        """Allocates memory, writes the workload's data, and touches both sides."""
        raw = np.frombuffer(b"" if workload.dtype == "string" else to_bytes(workload.data()), np.uint8)
        memory = cls(_aligned(raw.size), _aligned(workload.output_bytes))
        memory.source[:] = raw
        memory.target[:] = 0xA5
        return memory

    def view(self, workload: Workload) -> np.ndarray:
        """The source with its type and shape, for types of whole bytes."""
        return self.source.view(by_name(workload.dtype).numpy).reshape(workload.shape)


def _aligned(size: int) -> np.ndarray:
    room = np.empty(size + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size]


MODES = ("constant", "reflect", "edge", "symmetric", "wrap")
_IMAGE, _FEATURES, _UHD = (1, 3, 224, 224), (1, 64, 256, 256), (3, 2160, 3840)
_NHWC, _SEQUENCE, _CACHE = (8, 56, 56, 96), (32, 512, 768), (1, 32, 2048, 128)

WORKLOADS: tuple[Workload, ...] = (
    *(_around(f"image {mode}", _IMAGE, {2: 3, 3: 3}, mode=mode) for mode in MODES),
    *(_around(f"features {mode}", _FEATURES, {2: 1, 3: 1}, mode=mode) for mode in MODES),
    _around("nhwc", _NHWC, {1: 4, 2: 4}),
    _around("4k uint8", _UHD, {1: 16, 2: 16}, dtype="uint8"),
    _around("4k float", _UHD, {1: 16, 2: 16}),
    _around("audio reflect", (1, 480000), {1: 200}, mode="reflect"),
    _around("volume", (1, 8, 64, 64, 64), {2: 1, 3: 1, 4: 1}),
    _around("sequence", _SEQUENCE, {1: (0, 16)}),
    _around("mask bool", (8, 1, 1024, 1024), {2: (0, 64), 3: (0, 64)}, dtype="bool"),
    _around("tokens int64", (64, 384), {1: (0, 128)}, dtype="int64"),
    _around("kv cache +1", _CACHE, {2: (0, 1)}),
    _around("kv cache +512", _CACHE, {2: (0, 512)}),
    _around("crop", _FEATURES, {2: -8, 3: -8}),
    # On these four, an earlier engine was slower than the built-in Pad, on a CPU that it was not tuned for.
    _around("stft reflect", (4, 240000), {1: 512}, mode="reflect"),
    _around("letterbox", (1, 3, 480, 640), {2: 80}),
    _around("swin nhwc", (1, 150, 200, 96), {1: (0, 4), 2: (0, 3)}),
    _around("image uint8", (1, 3, 1080, 1920), {2: 4, 3: 4}, dtype="uint8"),
    _around("small maps", (1, 512, 14, 14), {2: 1, 3: 1}),  # rows shorter than a cache line
    _around("far reflect", (1, 128, 32, 32), {3: 31}, mode="reflect"),  # as far as ONNX allows
    _around("long edge", (1, 480000), {1: 24000}, mode="edge"),
    _around("tiny", (2, 3), {0: 1, 1: 1}),
    _around("no-op", _FEATURES, {}),
    _around("image float16", _IMAGE, {2: 3, 3: 3}, dtype="float16"),
    _around("nhwc float16", _NHWC, {1: 4, 2: 4}, dtype="float16"),
    _around("sequence float16", _SEQUENCE, {1: (0, 16)}, dtype="float16"),
    _around("kv cache +1 float16", _CACHE, {2: (0, 1)}, dtype="float16"),
    _around("features float16", _FEATURES, {2: 1, 3: 1}, dtype="float16"),
    _around("features int16", _FEATURES, {2: 1, 3: 1}, dtype="int16"),
    _around("features bool", _FEATURES, {2: 1, 3: 1}, dtype="bool"),
    _around("features int4", _FEATURES, {2: 1, 3: 1}, dtype="int4"),
    _around("nhwc int4", _NHWC, {1: 4, 2: 4}, dtype="int4"),
    _around("kv cache +1 int4", _CACHE, {2: (0, 1)}, dtype="int4"),
    _around("strings", (1000, 1000), {0: 1, 1: 1}, dtype="string"),
    Workload("interior", (1, 64, 128, 128), (0, 0, 0, 0), (0, 0, 0, 0), interior=(0, 0, 1, 1)),
)

QUICK = (
    "image constant", "image reflect", "features constant", "nhwc", "4k float", "tokens int64", "kv cache +1", "tiny",
)  # fmt: skip

# Random workloads measure the engine on shapes that it was not tuned for.
TYPES = ("uint8", "bool", "int16", "float", "int32", "int64", "double")
COMPARED = ("padops", "unmodified", "built-in", "copy", "copy by all", "copy by padops")  # the implementations to time
MIN_BYTES, MAX_BYTES = 1 << 10, 100 << 20
IMAGE_TYPES, MIN_IMAGE, MAX_IMAGE = ("uint8", "int16", "float16"), 300_000, 30_000_000


def random_workloads(count: int, seed: int) -> tuple[Workload, ...]:
    """Pads of 1 KB to 100 MB, evenly over the orders of magnitude, with one to five axes; every fourth is an image.

    An image has one, three or four channels of 8 or 16 bits, before or behind its height and width, and 0.3 to 30 MB.
    The same seed gives the same workloads; a smaller ``count`` gives the first of them.
    """
    rng = random.Random(seed)
    return tuple(_random_workload(rng, f"random {seed}.{i}", i % 4 == 3) for i in range(count))


def _random_workload(rng: random.Random, name: str, is_image: bool) -> Workload:
    dtype, mode = rng.choice(IMAGE_TYPES if is_image else TYPES), rng.choice(MODES)
    rank, channels = (4, rng.choice((1, 3, 4))) if is_image else (rng.randint(1, 5), 1)
    least, most = (MIN_IMAGE, MAX_IMAGE) if is_image else (MIN_BYTES, MAX_BYTES)
    elements = exp(rng.uniform(log(least), log(most))) / (by_name(dtype).bits / 8) / channels
    shape: Shape
    if is_image:
        height = round(sqrt(elements * rng.uniform(0.5, 2)))
        plane, first = (height, round(elements / height)), rng.choice((1, 2))  # the axis of the height
        shape, padded = (1, *plane, channels) if first == 1 else (1, channels, *plane), [first, first + 1]
    else:
        shape = _shape(rng, rank, elements)
        padded = sorted(rng.sample(range(rank), rng.randint(1, min(rank, 3))))
    pairs = {axis: _amounts(rng, shape[axis], mode) for axis in padded}
    words = ", ".join(f"{axis}: {pair}" for axis, pair in pairs.items())
    return _around(f"{name}{' image' * is_image} {mode} {dtype} {list(shape)} {words}", shape, pairs, mode, dtype)


def _shape(rng: random.Random, rank: int, elements: float) -> Shape:
    """Returns dims with about ``elements`` elements; the shares of the axes are random."""
    shares = [rng.expovariate(1) for _ in range(rank)]
    shape = [max(1, round(elements ** (share / sum(shares)))) for share in shares]
    while prod(shape) > 2 * elements:  # if many dims were rounded up
        largest = max(range(rank), key=shape.__getitem__)
        shape[largest] = max(1, shape[largest] // 2)
    return tuple(shape)


def _amounts(rng: random.Random, size: int, mode: str) -> tuple[int, int]:
    """Begin and end of an axis: both alike, one alone, or a crop. ONNX Runtime reflects no further than n − 1."""
    most = max(0, size - 1) if mode == "reflect" else size
    kind = rng.choice(("both", "both", "begin", "end", "crop"))
    if kind == "crop" and size > 4:
        return -rng.randint(0, size // 4), -rng.randint(0, size // 4)
    amount = min(most, rng.choice((1, 1, 2, 3, 8, 16, rng.randint(1, 64), max(1, size // 4))))
    return {"begin": (amount, 0), "end": (0, amount)}.get(kind, (amount, amount))
