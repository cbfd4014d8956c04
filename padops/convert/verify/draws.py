"""Random inputs that matter to a model: of sizes that it accepts and that its Pads do not overlook, several sets of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from padops.convert.errors import PadopsError
from padops.convert.verify.feeds import Input
from padops.convert.verify.hints import Hints
from padops.spec.dtypes import by_name

# Tried in this order for dims that the model leaves open; audio models have favourites of their own.
SIZES = (256, 64, 512, 576, 16, 128, 1024, 4096, 16000, 32, 8, 4, 3, 2, 1)
FIRST = (256, None, 4096, 576, 64, 16000, 1024, 3)  # what each turn begins with; None: past the reach of the Pads
LONG = 1 << 18  # elements of an input that a turn may begin with: above that, a network takes seconds
HIGHEST = (9, 2, 1)  # integers that are not pixels or samples go from 0 to this: they may be indices, axes or amounts
RANKS = (2, 4, 3, 1, 0)  # of an input of which not even the rank is known
MAX_ELEMENTS = 1 << 22  # of one input
MAX_RANDOM = 1 << 31  # of one input that leaves no dim open
SAMPLES = ("int8", "uint8", "int16", "uint16")  # types of which every value is as good as another
FLOATS = ("float", "float16", "double", "bfloat16")
WORDS = ("", "pad", "été", "a longer string than fits beside its length")
# What one turn tries first of integers that size nothing: those that a Cast rounds or a Clip cuts.
WIDE = (0, 1, -1, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, -(1 << 31) - 1, (1 << 53) + 1, -(1 << 53) - 1, (1 << 63) - 1)
WIDE_TURN = 1  # of each 4
LARGEST_AMOUNT = 5  # of amounts that are an input

# What is put among the random numbers of a turn. NaN and infinities spread, so that other turns are without them.
SPRINKLED: Mapping[int, tuple[float, ...]] = {1: (-0.0, 1e-40, -1e-310), 3: (np.nan, np.inf, -0.0, -np.inf)}
# Of single floats, such as a lowest and a highest frequency: at every other turn, each is so many times the one before.
LOWEST_SINGLE, RATIO = 40.0, 50.0
WORTH_SPRINKLING = 4  # elements; a threshold of NaN would leave nothing to compare


class CannotDrawError(PadopsError):
    """There is no room for random inputs."""


@dataclass(frozen=True)
class Draw:
    """One attempt: the shapes of the inputs, and what integers are to be.

    Attributes:
        turn: The set of inputs that it is for.
        shapes: By the names of the inputs.
        highest: See ``HIGHEST``.
        length: How many steps the data have; None where integers are not lengths.
        wide: Whether integers that size nothing are of all magnitudes.
    """

    turn: int
    shapes: Mapping[str, tuple[int, ...]]
    highest: int
    length: int | None
    wide: bool = False


def random_inputs(inputs: Sequence[Input], seed: int, turn: int, hints: Hints) -> Iterator[dict[str, np.ndarray]]:
    """Sets of inputs to try one after the other until the model takes one.

    Raises:
        CannotDrawError: An input is too large.
    """
    lengths = [row for row in inputs if _may_be_length(row, inputs, hints)]
    plain: list[int] = list(HIGHEST if any(_is_index(row) for row in inputs) else HIGHEST[:1])
    rounds = [[(plain[0], True), (plain[0], False)] if lengths else [(plain[0], False)]]
    if turn % 4 == 3:
        rounds[0].reverse()
    rounds += [[(highest, False)] for highest in plain[1:]]
    wide = turn % 4 == WIDE_TURN and any(_is_wide(row, hints) for row in inputs)
    for choices in rounds:
        for sizes in _open_sizes(inputs, turn, hints.reach):
            shapes = _shapes(inputs, sizes, hints)
            if any(prod(shapes[row.name]) > MAX_ELEMENTS for row in inputs if row.dims is None or _open(row)):
                continue
            for row in inputs:  # before the machine tries
                if (count := prod(shapes[row.name])) > MAX_RANDOM:
                    raise CannotDrawError(f"cannot verify: the input {row} would take {count} random numbers")
            if wide:  # once: a model that takes them as indices refuses them
                wide = False
                yield _made(inputs, Draw(turn, shapes, plain[0], None, wide=True), seed, hints)
            for highest, as_lengths in choices:
                length = _steps(inputs, shapes) if as_lengths else None
                yield _made(inputs, Draw(turn, shapes, highest, length), seed, hints)


def _made(inputs: Sequence[Input], draw: Draw, seed: int, hints: Hints) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, draw.turn])
    flags = [row.name for row in inputs if row.type == "bool" and prod(draw.shapes[row.name]) == 1]
    try:
        made = {}
        for row in inputs:
            if row.name in flags:
                value = (draw.turn >> flags.index(row.name)) % 2 == 0
                made[row.name] = np.full(draw.shapes[row.name], value)
            else:
                made[row.name] = _random(row, draw, rng, inputs, hints)
        return made
    except MemoryError as error:
        raise CannotDrawError(f"cannot verify: there is no memory for random inputs: {error}") from error


def _is_index(row: Input) -> bool:
    """Whether an input is of integers that may be anything."""
    return row.type not in SAMPLES and "int" in row.type


def _is_wide(row: Input, hints: Hints) -> bool:
    """Whether any integer may be tried as an element of an input."""
    named = {*hints.special, *hints.amounts, *hints.axes, *hints.small, *hints.fills}
    return row.name in hints.wide - named and _is_index(row) and by_name(row.type).bits >= 32


def _may_be_length(row: Input, inputs: Sequence[Input], hints: Hints) -> bool:
    """Whether an input may say how much of the data counts: a number, or one for each of a batch."""
    known = {*hints.special, *hints.amounts, *hints.axes, *hints.small}
    if not _is_index(row) or by_name(row.type).bits < 32 or row.name in known or row.dims is None or len(row.dims) > 2:
        return False
    if len(row.dims) == 2 and row.dims[1] != 1:
        return False
    batches = _batches(inputs)
    return all(isinstance(dim, int) for dim in row.dims) or "len" in row.name.lower() or row.dims[0] in batches


def _steps(inputs: Sequence[Input], shapes: Mapping[str, tuple[int, ...]]) -> int:
    """How many steps the data have: the last open dim of the first input that has one, else the last dim of the largest."""
    for row in inputs:
        places = [i for i, dim in enumerate(row.dims or ()) if not isinstance(dim, int)]
        if not _is_index(row) and places and shapes[row.name][places[-1]] > 1:
            return shapes[row.name][places[-1]]
    largest = max(shapes.values(), key=prod)
    return max(largest[-1] if largest else 1, 1)


def _open(row: Input) -> list[str]:
    """Names of the open dims of an input; those without a name are called by their place."""
    dims = enumerate(row.dims or ())
    return [dim if isinstance(dim, str) else f"{row.name}[{axis}]" for axis, dim in dims if not isinstance(dim, int)]


def _batches(inputs: Sequence[Input]) -> set[str]:
    """Open dims that come first in an input of rank 2 or more."""
    return {_open(row)[0] for row in inputs if row.dims and len(row.dims) > 1 and not isinstance(row.dims[0], int)}


def _open_sizes(inputs: Sequence[Input], turn: int, reach: int) -> Iterator[dict[str, int]]:
    """Sizes of the open dims to try, another one first at each turn; a batch is 1 or 2 as long as possible."""
    past = 2 * reach + 3 if 0 < reach < MAX_ELEMENTS else SIZES[1]
    first = FIRST[turn % len(FIRST)] or past
    shift = turn % len(SIZES)
    ranks = RANKS if any(row.dims is None for row in inputs) else RANKS[:1]
    names = list(dict.fromkeys(name for row in inputs for name in _open(row)))
    batches = _batches(inputs)
    for rank in ranks:
        seen = []
        steps = [name for name in names if name not in batches]
        ways = [steps, *([name] for name in names), names, *map(list, combinations(names, 2))]
        ones = {**dict.fromkeys(names, 1), "rank": rank}
        twos = {**ones, **dict.fromkeys(batches, 2)}
        for way in ways[:40]:
            for i, size in enumerate((first, *SIZES[shift:], *SIZES[:shift], past)):
                for base in (twos, ones) if turn % 4 == 2 and batches and way == steps and i == 0 else (ones,):
                    sizes = {**base, **dict.fromkeys(way, size), "": size}
                    long = i == 0 and any(prod(_shape(row, sizes)) > LONG for row in inputs)
                    if sizes not in seen and not long:
                        seen.append(sizes)
                        yield sizes


def _shapes(inputs: Sequence[Input], sizes: Mapping[str, int], hints: Hints) -> dict[str, tuple[int, ...]]:
    """The shapes of all inputs. What a Pad reads beside its data has the only shape that the Pad takes, where that is open."""
    shapes = {row.name: _shape(row, sizes) for row in inputs}
    for row in inputs:
        if row.name in hints.fills and row.dims is None:
            shapes[row.name] = (1,) if sizes["rank"] == 1 else ()
        if row.name in hints.amounts and (row.dims is None or (len(row.dims) == 1 and _open(row))):
            data = hints.amounts[row.name].data
            shapes[row.name] = shapes[row.name][:1] if data is None else (2 * len(shapes[data]),)
    return shapes


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if row.dims is None:
        return (sizes[""],) * sizes["rank"]
    names = iter(_open(row))
    return tuple(dim if isinstance(dim, int) else sizes[next(names)] for dim in row.dims)


def _random(row: Input, draw: Draw, rng: np.random.Generator, inputs: Sequence[Input], hints: Hints) -> np.ndarray:
    dtype, shape = by_name(row.type), draw.shapes[row.name]
    if row.name in hints.axes:
        return _axes(shape, draw.shapes.get(hints.axes[row.name] or ""), rng).astype(dtype.numpy)
    if row.name in hints.amounts:
        return _amounts(row.name, draw, rng, hints).astype(dtype.numpy)
    if row.type == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if row.type == "string":
        return np.array([WORDS[i] for i in rng.integers(0, len(WORDS), prod(shape))], object).reshape(shape)
    if prod(shape) == 1 and hints.special.get(row.name):
        values = [*hints.special[row.name], draw.highest]
        return np.full(shape, values[draw.turn % len(values)], dtype.numpy)
    if row.type in SAMPLES:
        info = np.iinfo(dtype.numpy)
        return rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
    if draw.length is not None and _may_be_length(row, inputs, hints):
        return _lengths(shape, draw, rng).astype(dtype.numpy)
    if draw.wide and _is_wide(row, hints):
        info = np.iinfo(dtype.numpy)
        near = np.array([number for number in WIDE if info.min <= number <= info.max], dtype.numpy)
        return np.asarray(near[rng.integers(0, len(near), shape)])
    if "int" in row.type and dtype.bits >= 8:
        return rng.integers(0, draw.highest, shape, endpoint=True).astype(dtype.numpy)
    if dtype.bits < 8:
        return rng.integers(0, 1 << dtype.bits, shape, np.uint8).view(dtype.numpy)
    numbers = np.asarray(rng.standard_normal(shape))
    if row.type in FLOATS and prod(shape) == 1 and draw.turn % 2:
        singles = [one.name for one in inputs if one.type in FLOATS and prod(draw.shapes[one.name]) == 1]
        numbers = np.full(shape, LOWEST_SINGLE * RATIO ** singles.index(row.name) * rng.uniform(1, 2))
    elif row.type in FLOATS:
        _sprinkle(numbers, SPRINKLED.get(draw.turn % 4, ()), rng)
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(numbers) if row.type == "float8e8m0" else numbers).astype(dtype.numpy)


def _sprinkle(numbers: np.ndarray, values: Sequence[float], rng: np.random.Generator) -> None:
    """Puts a few special values among the numbers."""
    count = min(len(values), numbers.size // WORTH_SPRINKLING)
    places = rng.choice(numbers.size, count, replace=False)
    numbers.reshape(-1)[places] = values[:count]


def _lengths(shape: Sequence[int], draw: Draw, rng: np.random.Generator) -> np.ndarray:
    """From half of the data to all of them; the first is all of them at every other turn."""
    assert draw.length is not None, "it is asked for only where there are lengths"
    made = np.asarray(rng.integers(max(draw.length // 2, 1), draw.length, shape, endpoint=True))
    if made.size and draw.turn % 2 == 0:
        made.reshape(-1)[0] = draw.length
    return made


def _axes(shape: Sequence[int], data: Sequence[int] | None, rng: np.random.Generator) -> np.ndarray:
    """Different axes; some of them counted from the end, where the rank of the data is known."""
    count = prod(shape)
    rank = count if data is None else len(data)
    chosen = rng.permutation(max(rank, count))[:count]
    if data is not None and rank >= count:
        chosen = np.where(rng.integers(0, 2, count) == 1, chosen - rank, chosen)
    return chosen.reshape(shape)


def _amounts(name: str, draw: Draw, rng: np.random.Generator, hints: Hints) -> np.ndarray:
    """Amounts that no data are too small for; at least one of them pads."""
    told, shape = hints.amounts[name], draw.shapes[name]
    dims = draw.shapes.get(told.data or "", ()) if told.limited else ()
    count = prod(shape)
    limits = (
        [dim - 1 for dim in dims] * 2 if 2 * len(dims) == count else [min(dims, default=LARGEST_AMOUNT + 1) - 1] * count
    )
    highest = np.clip(limits, 0, min(LARGEST_AMOUNT, draw.highest)).astype(np.int64)
    made = rng.integers(0, highest, endpoint=True)
    if not made.any():
        made = np.minimum(highest, 1)
    return made.reshape(shape)
