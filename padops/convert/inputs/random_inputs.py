"""Sets of random inputs for a model, of sizes that the model accepts and that exercise its Pads.

For small models, the module also draws many small inputs that are likely to show a difference of two models: sizes 0, 1
and 2, odd, even and prime sizes; sizes and numbers on both sides of each constant; amounts of both signs, some larger
than the data; and integers beyond 2^53. The verification skips inputs on which the original model fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.inputs.given import Feeds, Input
from padops.convert.inputs.pads import Hints
from padops.convert.model.nesting import nodes_of
from padops.spec.dtypes import by_name

# Sizes of dynamic dims in the order of trial, odd and even; some are typical of audio models.
SIZES = (64, 256, 37, 512, 576, 16, 128, 1024, 4096, 16000, 99, 32, 8, 5, 4, 3, 2, 1)
FIRST = (64, None, 37, 256, 99, 16000, 1025, 3)  # each turn's first size; None: larger than the Pads' amounts
APART = 3  # in every other turn, each dim exceeds the dim before it by this number, if the model accepts that
MOST_OTHERS = 12  # within this number of first attempts, attempts at sizes that the model has not run on go first
LONG = 1 << 18  # the most elements of a turn's first inputs: with more elements, a network runs for seconds
HIGHEST = (9, 2, 1)  # integers except pixels and samples go from 0 to this number: they may be indices, axes or amounts
RANKS = (2, 4, 3, 1, 0)  # tried for an input of unknown rank
MAX_ELEMENTS = 1 << 22  # of one input with dynamic dims
MAX_RANDOM = 1 << 31  # elements of one input of fixed dims
SAMPLES = ("int8", "uint8", "int16", "uint16")  # types whose values are uniformly random: pixels, samples
FLOATS = ("float", "float16", "double", "bfloat16")
WORDS = ("", "pad", "été", "a longer string than fits beside its length")
LARGEST_AMOUNT = 5  # for amounts that are an input
FEW_ATTEMPTS = 4  # the last attempt of each group of this size has no amount above 1

# By turn modulo 4, special values among the random numbers of models that only move data
SPRINKLED: Mapping[int, tuple[float, ...]] = {1: (-0.0, 1e-40, -1e-310), 3: (np.nan, np.inf, -0.0, -np.inf)}
# Single floats, such as a lowest and a highest frequency: in every other turn, each is RATIO times the one before.
LOWEST_SINGLE, RATIO = 40.0, 50.0
WORTH_SPRINKLING = 4  # numbers for each special value: a single number, such as a threshold, does not become NaN
# For ``many_inputs``:
SMALL_SIZES = (1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 32)  # of dynamic dims, in the order of the first turns
SMALL_RANKS = (2, 1, 3, 4, 0)  # tried for an unknown rank
FEW_ELEMENTS = 64  # the most elements of a constant whose numbers become marks
LARGEST_MARK = 1 << 17  # the largest mark that is also tried as a size
LARGE_TOTAL = 1 << 12  # the most elements of all inputs in most turns, with dynamic dims
LARGEST_TOTAL = 1 << 20  # the most elements of all inputs in any turn
MOST_STEPS = 9  # the largest integer for a model with Loops: a value may double in each step
EDGES = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65536, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 53) + 1,
        (1 << 62) + 3)  # fmt: skip
BEYOND = tuple(sign * one for sign in (1, -1) for one in ((1 << 45) + 1, (1 << 53) + 1, (1 << 60) + 7, (1 << 62) + 3))
# A model may scale its input before it compares it with a constant, so inputs include these multiples of a constant.
TIMES = (1.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
SPECIAL = (0.0, -0.0, 1e-40, np.nan, np.inf, -np.inf, 65504.0, 3e38)


class CannotDrawError(PadopsError):
    """Random inputs would be too large."""


@dataclass(frozen=True)
class Draw:
    """One attempt at a set of inputs."""

    turn: int  # the index of the set
    attempt: int  # the index of the attempt; each attempt has other numbers
    shapes: Mapping[str, tuple[int, ...]]  # the shapes of the inputs, by name
    highest: int  # the largest integer; see ``HIGHEST``
    length: int | None  # the number of steps of the data, for inputs that are lengths; None without such inputs


def random_inputs(inputs: Sequence[Input], seed: int, turn: int, hints: Hints) -> Iterator[dict[str, np.ndarray]]:
    """Yield attempts at one set of inputs; ``turn`` selects the first sizes, scalar bools and special values."""
    has_lengths = any(_may_be_length(row, inputs, hints) for row in inputs)
    attempts = count()
    for i, highest in enumerate(HIGHEST if any(_is_index(row) for row in inputs) else HIGHEST[:1]):
        choices = [True, False] if has_lengths and i == 0 else [False]
        if turn % 4 == 3:
            choices.reverse()
        for sizes in _open_sizes(inputs, turn, hints.reach):
            shapes = _shapes(inputs, sizes, hints)
            if any(prod(shapes[row.name]) > MAX_ELEMENTS for row in inputs if row.dims is None or row.dynamic()):
                continue
            for row in inputs:  # refuse before memory is allocated
                if (numbers := prod(shapes[row.name])) > MAX_RANDOM:
                    raise CannotDrawError(f"cannot verify: the input {row} would need {numbers} random numbers")
            for as_lengths in choices:
                length = _steps(inputs, shapes) if as_lengths else None
                yield _made(inputs, Draw(turn, next(attempts), shapes, highest, length), seed, hints)


def unlike(attempts: Iterable[Feeds], taken: Sequence[Feeds]) -> Iterator[Feeds]:
    """Yield all attempts; among the first ``MOST_OTHERS``, attempts with the shapes of ``taken`` inputs come last."""
    shapes = [_shapes_of(feeds) for feeds in taken]
    again: list[Feeds] = []
    left = iter(attempts)
    for feeds in islice(left, MOST_OTHERS):
        if _shapes_of(feeds) in shapes:
            again.append(feeds)
        else:
            yield feeds
    yield from again
    yield from left


def _shapes_of(feeds: Feeds) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in feeds.items()}


def _made(inputs: Sequence[Input], draw: Draw, seed: int, hints: Hints) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, draw.turn, draw.attempt])
    flags = [row.name for row in inputs if row.type == "bool" and prod(draw.shapes[row.name]) == 1]
    try:
        return {
            row.name: np.full(draw.shapes[row.name], (draw.turn >> flags.index(row.name)) % 2 == 0)
            if row.name in flags
            else _random(row, draw, rng, inputs, hints)
            for row in inputs
        }
    except MemoryError as error:
        raise CannotDrawError(f"cannot verify: there is no memory for random inputs: {error}") from error


def _is_index(row: Input) -> bool:
    """Return whether an input's integers may be indices, axes, amounts or lengths."""
    return row.type not in SAMPLES and "int" in row.type


def _may_be_length(row: Input, inputs: Sequence[Input], hints: Hints) -> bool:
    """Return whether an input may hold lengths of the data: one number, or one number for each batch element."""
    known = {*hints.special, *hints.amounts, *hints.axes, *hints.small, *hints.steps}
    if not _is_index(row) or by_name(row.type).bits < 32 or row.name in known or row.dims is None or len(row.dims) > 2:
        return False
    if len(row.dims) == 2 and row.dims[1] != 1:
        return False
    fixed = all(isinstance(dim, int) for dim in row.dims)
    return fixed or "len" in row.name.lower() or row.dims[0] in _batches(inputs)


def _steps(inputs: Sequence[Input], shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Return the number of steps of the data, such as frames of audio: the last dynamic dim of a data input."""
    for row in inputs:
        places = [i for i, dim in enumerate(row.dims or ()) if not isinstance(dim, int)]
        if not _is_index(row) and places and shapes[row.name][places[-1]] > 1:
            return shapes[row.name][places[-1]]
    largest = max(shapes.values(), key=prod)
    return max(largest[-1] if largest else 1, 1)


def _batches(inputs: Sequence[Input]) -> set[str]:
    """Return the dynamic first dims of inputs of rank 2 or more."""
    return {row.dynamic()[0] for row in inputs if row.dims and len(row.dims) > 1 and not isinstance(row.dims[0], int)}


def _open_sizes(inputs: Sequence[Input], turn: int, reach: int) -> Iterator[dict[str, int]]:
    """Yield sizes to try for the dynamic dims; each turn begins with its own size, and some turns with batches of 2."""
    past = 2 * reach + 3 if 0 < reach < MAX_ELEMENTS else SIZES[1]
    first = FIRST[turn % len(FIRST)] or past
    shift = turn % len(SIZES)
    ranks = RANKS if any(row.dims is None for row in inputs) else RANKS[:1]
    names = list(dict.fromkeys(name for row in inputs for name in row.dynamic()))
    batches = _batches(inputs)
    for rank in ranks:
        seen = []
        steps = [name for name in names if name not in batches]
        ones = {**dict.fromkeys(names, 1), "rank": rank}
        if turn % 2 and len(steps) > 1:
            yield {**ones, "": first} | {name: first + APART * at for at, name in enumerate(steps)}
        ways = [steps, *([name] for name in names), names, *map(list, combinations(names, 2))]
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
    """Return the shapes of all inputs. Fills, amounts and axes of unknown shape get the shape that the Pad needs."""
    shapes = {row.name: _shape(row, sizes) for row in inputs}
    for row in inputs:
        if row.name in hints.fills and row.dims is None:
            shapes[row.name] = (1,) if sizes["rank"] == 1 else ()
        if row.name in hints.conditions and row.dims is None:
            shapes[row.name] = ()
    fixed = {row.name for row in inputs if row.dims is not None and (len(row.dims) != 1 or not row.dynamic())}
    for name, told in hints.amounts.items():
        if name in shapes and name not in fixed:
            axis_count = told.axis_count
            if told.axes in fixed:
                axis_count = prod(shapes[told.axes])
            elif axis_count is None and told.data in shapes:
                axis_count = len(shapes[told.data])
            shapes[name] = shapes[name][:1] if axis_count is None else (told.ends * axis_count,)
        if name in shapes and told.axes in shapes and told.axes not in fixed:
            shapes[told.axes] = (prod(shapes[name]) // 2,)
    return shapes


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return (sizes[""],) * sizes["rank"] if row.dims is None else row.shape(sizes)


def _random(row: Input, draw: Draw, rng: np.random.Generator, inputs: Sequence[Input], hints: Hints) -> np.ndarray:
    dtype, shape = by_name(row.type), draw.shapes[row.name]
    if row.name in hints.axes:
        return _axes(shape, draw.shapes.get(hints.axes[row.name] or ""), rng).astype(dtype.numpy)
    if row.name in hints.amounts:
        return _amounts(row.name, draw, rng, hints).astype(dtype.numpy)
    if (made := _of_few_values(row.type, shape, rng)) is not None:
        return made
    if prod(shape) == 1 and hints.special.get(row.name):
        values = [*hints.special[row.name], draw.highest]
        return np.full(shape, values[draw.turn % len(values)], dtype.numpy)
    if row.type in SAMPLES:
        info = np.iinfo(dtype.numpy)
        return rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
    if draw.length is not None and _may_be_length(row, inputs, hints):  # from half to all of the steps
        lengths = np.asarray(rng.integers(max(draw.length // 2, 1), draw.length, shape, endpoint=True))
        if draw.turn % 2 == 0:
            lengths.reshape(-1)[:1] = draw.length
        return lengths.astype(dtype.numpy)
    if "int" in row.type:
        # If a Loop runs no step, the dims of its stacked outputs depend on ONNX Runtime's inference of the body.
        return rng.integers(int(row.name in hints.steps), draw.highest, shape, endpoint=True).astype(dtype.numpy)
    numbers = np.asarray(rng.standard_normal(shape))
    if row.type in FLOATS and prod(shape) == 1 and draw.turn % 2:
        singles = [one.name for one in inputs if one.type in FLOATS and prod(draw.shapes[one.name]) == 1]
        numbers = np.full(shape, LOWEST_SINGLE * RATIO ** singles.index(row.name) * rng.uniform(1, 2))
    elif row.type in FLOATS:
        # Special values replace a few of the numbers.
        special = SPRINKLED.get(draw.turn % 4, ()) if hints.moves else ()
        fewer = min(len(special), numbers.size // WORTH_SPRINKLING)
        numbers.reshape(-1)[rng.choice(numbers.size, fewer, replace=False)] = special[:fewer]
    return _cast(numbers, row.type)


def _of_few_values(type_name: str, shape: Sequence[int], rng: np.random.Generator) -> np.ndarray | None:
    """Return random bools, texts or elements of less than a byte; None for another type."""
    dtype = by_name(type_name)
    if type_name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if type_name == "string":
        return np.array([WORDS[i] for i in rng.integers(0, len(WORDS), prod(shape))], object).reshape(shape)
    return rng.integers(0, 1 << dtype.bits, shape, np.uint8).view(dtype.numpy) if dtype.bits < 8 else None


def _cast(numbers: np.ndarray, type_name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(numbers) if type_name == "float8e8m0" else numbers).astype(by_name(type_name).numpy)


def _axes(shape: Sequence[int], data: Sequence[int] | None, rng: np.random.Generator) -> np.ndarray:
    """Return distinct random axes; some are negative if the data's rank is known."""
    count = prod(shape)
    rank = count if data is None else len(data)
    chosen = rng.permutation(max(rank, count))[:count]
    if data is not None and rank >= count:
        chosen = np.where(rng.integers(0, 2, count) == 1, chosen - rank, chosen)
    return chosen.reshape(shape)


def _amounts(name: str, draw: Draw, rng: np.random.Generator, hints: Hints) -> np.ndarray:
    """Return random amounts that the data allow; at least one is positive, if the data allow a positive amount."""
    told, shape = hints.amounts[name], draw.shapes[name]
    dims = draw.shapes.get(told.data or "", ()) if told.limited else ()
    lowest = min(dims, default=LARGEST_AMOUNT + 1)
    limits = (
        [dim - 1 for dim in dims] * told.ends if told.ends * len(dims) == prod(shape) else [lowest - 1] * prod(shape)
    )
    largest = 1 if draw.attempt % FEW_ATTEMPTS == FEW_ATTEMPTS - 1 else LARGEST_AMOUNT
    highest = np.clip(limits, 0, min(largest, draw.highest)).astype(np.int64)
    made = rng.integers(0, highest, endpoint=True)
    if draw.attempt % 2:  # nodes that read the output may allow few sizes: leave about half of the amounts at 0
        made *= rng.integers(0, 2, made.shape)
    if not made.any():
        made = np.minimum(highest, 1)
    return made.reshape(shape)


@dataclass(frozen=True)
class Marks:
    """The constants of two models: values at which the models' behaviour may change."""

    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    has_loops: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """For each integer n the sizes n - 1, n and n + 1, all in ascending order."""
        near = {abs(mark) + more for mark in self.integers for more in (-1, 0, 1)}
        return tuple(sorted(size for size in near if 0 <= size <= LARGEST_MARK and size not in SMALL_SIZES))


def marks_of(*models: onnx.ModelProto) -> Marks:
    """Return the numbers in the constants and attributes of some models."""
    numbers: set[float] = set()
    has_loops = False
    for model in models:
        tensors = list(model.graph.initializer)
        for nodes in (model.graph.node, *(row.node for row in model.functions if row.domain != "padops")):
            within = [node for _, node in nodes_of(nodes)]
            has_loops = has_loops or any(node.op_type == "Loop" for node in within)
            for row in (row for node in within for row in node.attribute):
                numbers |= {*row.ints, *row.floats} | ({row.i} if row.type == row.INT else set())
                numbers |= {row.f} if row.type == row.FLOAT else set()
                tensors += [row.t] if row.type == row.TENSOR else []
                tensors += row.g.initializer
        for tensor in tensors:
            outside = tensor.data_location == tensor.EXTERNAL or tensor.data_type == tensor.STRING
            if not outside and prod(tensor.dims) <= FEW_ELEMENTS:
                array = numpy_helper.to_array(tensor).reshape(-1)
                numbers |= {one.item() for one in (array if array.dtype.kind in "iuf" else array.astype(np.float64))}
    known = sorted(number for number in numbers if np.isfinite(number))
    return Marks(tuple(int(number) for number in known if number == int(number)), tuple(map(float, known)), has_loops)


def many_inputs(
    inputs: Sequence[Input], marks: Marks, sizing: Collection[str], moves: bool, seed: int, count: int
) -> Iterator[Feeds]:
    """Yield ``count`` sets of inputs: in the first sets, all dynamic dims have one size; later, each has its own size.

    At most one element of each ``sizing`` input is large. If the models only move data (``moves``), floats may be NaN.
    """
    ladder = tuple(size for size in (*SMALL_SIZES, *marks.sizes) if size or moves)  # a network needs elements
    names = list(dict.fromkeys(name for row in inputs for name in row.dynamic(max(SMALL_RANKS))))
    for turn in range(count):
        rng = np.random.default_rng([seed, turn])
        if turn < len(ladder):
            sizes = dict.fromkeys(names, ladder[turn])
        else:
            sizes = {name: ladder[int(rng.integers(0, len(ladder) if rng.random() < 0.2 else 10))] for name in names}
        rank = SMALL_RANKS[turn % len(SMALL_RANKS)]
        shapes = {row.name: row.shape(sizes, rank) for row in inputs}
        most = LARGEST_TOTAL if turn < 2 * len(ladder) and not sizing else LARGE_TOTAL
        while sum(map(prod, shapes.values())) > most and any(sizes.values()):
            sizes[max(sizes, key=lambda name: sizes[name])] //= 2
            shapes = {row.name: row.shape(sizes, rank) for row in inputs}
        if sum(map(prod, shapes.values())) > LARGEST_TOTAL:
            return
        size = max((dim for shape in shapes.values() for dim in shape), default=3)
        grown = [prod(2 * dim + 4 for dim in shape) for shape in shapes.values()]
        room = max(LARGEST_TOTAL // max(grown, default=1), 2)
        rooms = {row.name: room if row.name in sizing else 0 for row in inputs}
        if marks.has_loops:  # any integer may decide a size
            rooms = dict.fromkeys(rooms, MOST_STEPS)
        yield {row.name: _elements(row, shapes[row.name], marks, (size, rooms[row.name]), moves, rng) for row in inputs}


def _elements(
    row: Input, shape: tuple[int, ...], marks: Marks, limits: tuple[int, int], moves: bool, rng: np.random.Generator
) -> np.ndarray:
    """Return random elements; ``limits``: the largest dim of any input, and the limit of the integers (0: no limit)."""
    if (few := _of_few_values(row.type, shape, rng)) is not None:
        return few
    if "int" in row.type:
        info = np.iinfo(by_name(row.type).numpy)
        made = _sizes(shape, marks, limits, rng) if limits[1] else _integers(shape, info, marks, limits[0], rng)
        cut = [min(max(int(one), int(info.min)), int(info.max)) for one in made.flat]
        return np.array(cut, info.dtype).reshape(shape)
    return _cast(_floats(shape, marks, moves, rng), row.type)


def _sizes(shape: tuple[int, ...], marks: Marks, limits: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return amounts, axes, indices or shapes: small, of both signs, or beyond the data; sometimes one is large."""
    room, reach = limits[1], min(limits)
    ways = ((-2, 4), (0, 3), (0, reach + 1), (0, 2 * reach + 4), (-reach - 1, 2 * reach + 4))
    made = rng.integers(*ways[int(rng.integers(0, len(ways)))], shape)
    if made.size and rng.random() < 0.15 and not marks.has_loops:
        # No memory suffices for such sizes, but a Clip or a Cast may cut them.
        made.flat[int(rng.integers(0, made.size))] = BEYOND[int(rng.integers(0, len(BEYOND)))]
    elif made.size and rng.random() < 0.4:
        large = [one + more for one in (*map(abs, marks.integers), room, reach) for more in (-1, 0, 1)]
        near = [one for one in large if 0 <= one <= room] or [1]
        made = np.minimum(np.abs(made), 2)
        made.flat[int(rng.integers(0, made.size))] = near[int(rng.integers(0, len(near)))]
    return np.minimum(made, room) if marks.has_loops else np.asarray(made)


def _integers(shape: tuple[int, ...], info: np.iinfo, marks: Marks, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return integers of all magnitudes, or integers near the models' constants."""
    way = int(rng.integers(0, 4))
    if way == 0:
        return np.asarray(rng.integers(-size - 1, 2 * size + 4, shape))
    if way == 1 and marks.integers:
        near = [mark * times + more for mark in marks.integers for times in (-2, -1, 1, 2) for more in (-1, 0, 1)]
        near += [sign * (abs(mark) // 2) + more for mark in marks.integers for sign in (-1, 1) for more in (-1, 0, 1)]
    elif way == 2:
        return np.asarray(rng.integers(info.min, info.max, shape, info.dtype, endpoint=True))
    else:
        near = [one for mark in EDGES for one in (mark, -mark, mark - 1, -mark - 1)]
        near += [int(info.min), int(info.max)]
    return np.asarray(np.array(near, object)[rng.integers(0, len(near), shape)], object).reshape(shape)


def _floats(shape: tuple[int, ...], marks: Marks, moves: bool, rng: np.random.Generator) -> np.ndarray:
    way = int(rng.integers(0, 4 if moves else 3))
    numbers = np.asarray(rng.standard_normal(shape))
    if way == 1:
        numbers = numbers * 10.0 ** rng.uniform(-3, 9 if moves else 3, shape)
    elif way == 2 and marks.floats:
        near = np.array(marks.floats)[rng.integers(0, len(marks.floats), shape)] * rng.choice(TIMES, shape)
        if rng.random() < 0.3:
            near = np.divide(1.0, near, out=np.zeros_like(near), where=near != 0)
        numbers = near * (1 + rng.choice([-1e-3, 0.0, 1e-3], shape)) + rng.choice([-1.0, 0.0, 1.0], shape)
    elif way == 3 and numbers.size:
        places = rng.integers(0, numbers.size, max(numbers.size // 4, 1))
        numbers.reshape(-1)[places] = np.array(SPECIAL)[rng.integers(0, len(SPECIAL), places.size)]
    return np.asarray(numbers)
