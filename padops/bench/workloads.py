"""The workloads of the benchmark: shapes from real networks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, prod, sqrt

import numpy as np

from padops.spec.dtypes import by_name, to_bytes

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    name: str  # short, and unique
    shape: Shape  # of the data
    amounts: Mapping[int, int | tuple[int, int]]  # of each padded axis: for both sides, or (before, after)
    mode: str = "constant"  # mode constant pads with 0
    dtype: str = "float"  # a name of ``padops.spec.dtypes``
    interior: Shape = ()  # amounts between neighbouring elements of each axis; empty for none

    @property
    def output_shape(self) -> Shape:
        interior = self.interior or (0,) * len(self.shape)
        return tuple(b + (n - 1) * (i + 1) + 1 + e for n, (b, e), i in zip(self.shape, self.pairs, interior))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Begin and end of each axis."""
        amounts = (self.amounts.get(axis, 0) for axis in range(len(self.shape)))
        return [(given, given) if isinstance(given, int) else given for given in amounts]

    @property
    def output_bytes(self) -> int:
        """The size of the output in bytes; for strings, the size of NumPy's pointers to the strings."""
        bits = by_name(self.dtype).bits or 64
        return (prod(self.output_shape) * bits + 7) // 8

    def data(self) -> np.ndarray:
        """Returns the elements of the data, the same at every call."""
        dtype = by_name(self.dtype)
        if dtype.name == "string":
            return np.array([f"token {i % 997}" for i in range(prod(self.shape))], object).reshape(self.shape)
        most = {"bool": 2, "int4": 8}.get(dtype.name, 100)
        return np.random.default_rng(0).integers(0, most, self.shape).astype(dtype.numpy)


@dataclass(frozen=True)
class Memory:
    """The memory of a workload's data and output; both begin at a cache line, like the memory of ONNX Runtime."""

    source: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, workload: Workload) -> Memory:
        """Allocates the memory, writes the workload's data into the source, and fills the target."""
        raw = np.frombuffer(b"" if workload.dtype == "string" else to_bytes(workload.data()), np.uint8)
        memory = cls(_aligned(raw.size), _aligned(workload.output_bytes))
        memory.source[:] = raw
        memory.target[:] = 0xA5
        return memory

    def view(self, workload: Workload) -> np.ndarray:
        """Returns the source with the workload's type and shape, for types of whole bytes."""
        return self.source.view(by_name(workload.dtype).numpy).reshape(workload.shape)


def _aligned(size: int) -> np.ndarray:
    room = np.empty(size + 64, np.uint8)
    begin = -room.ctypes.data % 64
    return room[begin : begin + size]


MODES = ("constant", "reflect", "edge", "symmetric", "wrap")
_IMAGE, _FEATURES, _UHD = (1, 3, 224, 224), (1, 64, 256, 256), (3, 2160, 3840)
_NHWC, _SEQUENCE, _CACHE = (8, 56, 56, 96), (32, 512, 768), (1, 32, 2048, 128)

WORKLOADS: tuple[Workload, ...] = (
    *(Workload(f"image {mode}", _IMAGE, {2: 3, 3: 3}, mode=mode) for mode in MODES),
    *(Workload(f"features {mode}", _FEATURES, {2: 1, 3: 1}, mode=mode) for mode in MODES),
    Workload("nhwc", _NHWC, {1: 4, 2: 4}),
    Workload("4k uint8", _UHD, {1: 16, 2: 16}, dtype="uint8"),
    Workload("4k float", _UHD, {1: 16, 2: 16}),
    Workload("audio reflect", (1, 480000), {1: 200}, mode="reflect"),
    Workload("volume", (1, 8, 64, 64, 64), {2: 1, 3: 1, 4: 1}),
    Workload("sequence", _SEQUENCE, {1: (0, 16)}),
    Workload("mask bool", (8, 1, 1024, 1024), {2: (0, 64), 3: (0, 64)}, dtype="bool"),
    Workload("tokens int64", (64, 384), {1: (0, 128)}, dtype="int64"),
    Workload("kv cache +1", _CACHE, {2: (0, 1)}),
    Workload("kv cache +512", _CACHE, {2: (0, 512)}),
    Workload("crop", _FEATURES, {2: -8, 3: -8}),
    # On these four workloads, an earlier engine was slower than the built-in Pad, on a CPU that it was not tuned for.
    Workload("stft reflect", (4, 240000), {1: 512}, mode="reflect"),
    Workload("letterbox", (1, 3, 480, 640), {2: 80}),
    Workload("swin nhwc", (1, 150, 200, 96), {1: (0, 4), 2: (0, 3)}),
    Workload("image uint8", (1, 3, 1080, 1920), {2: 4, 3: 4}, dtype="uint8"),
    Workload("small maps", (1, 512, 14, 14), {2: 1, 3: 1}),  # rows shorter than a cache line
    Workload("far reflect", (1, 128, 32, 32), {3: 31}, mode="reflect"),  # as far as ONNX allows
    Workload("long edge", (1, 480000), {1: 24000}, mode="edge"),
    Workload("tiny", (2, 3), {0: 1, 1: 1}),
    Workload("no-op", _FEATURES, {}),
    Workload("image float16", _IMAGE, {2: 3, 3: 3}, dtype="float16"),
    Workload("nhwc float16", _NHWC, {1: 4, 2: 4}, dtype="float16"),
    Workload("sequence float16", _SEQUENCE, {1: (0, 16)}, dtype="float16"),
    Workload("kv cache +1 float16", _CACHE, {2: (0, 1)}, dtype="float16"),
    Workload("features float16", _FEATURES, {2: 1, 3: 1}, dtype="float16"),
    Workload("features int16", _FEATURES, {2: 1, 3: 1}, dtype="int16"),
    Workload("features bool", _FEATURES, {2: 1, 3: 1}, dtype="bool"),
    Workload("features int4", _FEATURES, {2: 1, 3: 1}, dtype="int4"),
    Workload("nhwc int4", _NHWC, {1: 4, 2: 4}, dtype="int4"),
    Workload("kv cache +1 int4", _CACHE, {2: (0, 1)}, dtype="int4"),
    Workload("strings", (1000, 1000), {0: 1, 1: 1}, dtype="string"),
    Workload("interior", (1, 64, 128, 128), {}, interior=(0, 0, 1, 1)),
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
    """Returns random Pads; every fourth has an image as its data. The size of the data is log-uniform."""
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
    return Workload(f"{name}{' image' * is_image} {mode} {dtype} {list(shape)} {words}", shape, pairs, mode, dtype)


def _shape(rng: random.Random, rank: int, elements: float) -> Shape:
    """Returns a random shape that has about this number of elements."""
    shares = [rng.expovariate(1) for _ in range(rank)]
    shape = [max(1, round(elements ** (share / sum(shares)))) for share in shares]
    while prod(shape) > 2 * elements:  # if many dims were rounded up
        largest = max(range(rank), key=shape.__getitem__)
        shape[largest] = max(1, shape[largest] // 2)
    return tuple(shape)


def _amounts(rng: random.Random, size: int, mode: str) -> tuple[int, int]:
    """Draws the begin and the end of an axis: two equal amounts, one amount and 0, or a crop.

    In mode reflect, no amount exceeds n − 1, the limit of ONNX Runtime.
    """
    most = max(0, size - 1) if mode == "reflect" else size
    kind = rng.choice(("both", "both", "begin", "end", "crop"))
    if kind == "crop" and size > 4:
        return -rng.randint(0, size // 4), -rng.randint(0, size // 4)
    amount = min(most, rng.choice((1, 1, 2, 3, 8, 16, rng.randint(1, 64), max(1, size // 4))))
    return {"begin": (amount, 0), "end": (0, amount)}.get(kind, (amount, amount))
