"""Random workloads, from a seed: they measure the engine on shapes that it was not tuned for."""

from __future__ import annotations

import random
from math import exp, log, prod

from padops.bench.workloads import MODES, Workload
from padops.spec.dtypes import by_name

TYPES = ("uint8", "bool", "int16", "float", "int32", "int64", "double")
COMPARED = ("padops", "built-in", "copy", "copy by all", "copy by padops")  # who is timed on them
MIN_BYTES, MAX_BYTES = 1 << 10, 100 << 20


def draw_workloads(count: int, seed: int) -> tuple[Workload, ...]:
    """Pads of 1 KB to 100 MB, evenly over the orders of magnitude, with one to five axes.

    Args:
        seed: The same seed gives the same workloads; a smaller ``count`` gives the first of them.
    """
    rng = random.Random(seed)
    return tuple(_draw(rng, f"random {seed}.{i}") for i in range(count))


def _draw(rng: random.Random, name: str) -> Workload:
    dtype, mode, rank = rng.choice(TYPES), rng.choice(MODES), rng.randint(1, 5)
    elements = exp(rng.uniform(log(MIN_BYTES), log(MAX_BYTES))) / (by_name(dtype).bits / 8)
    shape = _shape(rng, rank, elements)
    padded = rng.sample(range(rank), rng.randint(1, min(rank, 3)))
    pairs = [_amounts(rng, size, mode) if axis in padded else (0, 0) for axis, size in enumerate(shape)]
    begin, end = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    words = ", ".join(f"{axis}: {pairs[axis]}" for axis in sorted(padded))
    return Workload(f"{name} {mode} {dtype} {list(shape)} {words}", shape, begin, end, mode, dtype)


def _shape(rng: random.Random, rank: int, elements: float) -> tuple[int, ...]:
    """Dims with about so many elements; the shares of the axes are random."""
    shares = [rng.expovariate(1) for _ in range(rank)]
    shape = [max(1, round(elements ** (share / sum(shares)))) for share in shares]
    while prod(shape) > 2 * elements:  # where many dims were rounded up
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
