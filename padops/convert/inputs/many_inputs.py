"""Many small inputs for a small model, at which two models may begin to differ.

Sizes of 0, 1 and 2, odd and even ones, primes; sizes and numbers on both sides of each constant in the models; amounts
of both signs and beyond the data; integers beyond 2^53. The original refuses what it does not take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.inputs.given import Feeds, Input
from padops.convert.inputs.random_inputs import WORDS
from padops.convert.model.nesting import nodes_of
from padops.spec.dtypes import by_name

SIZES = (1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 32)  # of dynamic dims, in the order of the first turns
RANKS = (2, 1, 3, 4, 0)  # tried for an unknown rank
FEW = 64  # the most elements of a constant whose numbers become marks
LARGEST_MARK = 1 << 17  # the largest mark that is also tried as a size
LARGE = 1 << 12  # elements of all inputs in most turns, with dynamic dims
LARGEST = 1 << 20  # elements of all inputs in any turn
MOST_STEPS = 9  # the largest integer for a model with Loops: in so many steps, a value may double each time
WIDE = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65536, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 53) + 1,
        (1 << 62) + 3)  # fmt: skip
BEYOND = tuple(sign * one for sign in (1, -1) for one in ((1 << 45) + 1, (1 << 53) + 1, (1 << 60) + 7, (1 << 62) + 3))
# A model may scale its input before comparing it with a constant: so inputs are tried at these multiples of a constant.
TIMES = (1.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
SPECIAL = (0.0, -0.0, 1e-40, np.nan, np.inf, -np.inf, 65504.0, 3e38)


@dataclass(frozen=True)
class Marks:
    """The constants of two models, at which their behaviour may change."""

    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    has_loops: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at and beside each integer, in order."""
        near = {abs(mark) + more for mark in self.integers for more in (-1, 0, 1)}
        return tuple(sorted(size for size in near if 0 <= size <= LARGEST_MARK and size not in SIZES))


def marks_of(*models: onnx.ModelProto) -> Marks:
    """The numbers in the constants and attributes of some models."""
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
            numbers |= _numbers(tensor)
    known = sorted(number for number in numbers if np.isfinite(number))
    return Marks(tuple(int(number) for number in known if number == int(number)), tuple(map(float, known)), has_loops)


def _numbers(tensor: onnx.TensorProto) -> set[float]:
    """The elements of a small constant; empty for a large one."""
    outside = tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.data_type == onnx.TensorProto.STRING
    if outside or prod(tensor.dims) > FEW:
        return set()
    array = numpy_helper.to_array(tensor).reshape(-1)
    return {one.item() for one in (array if array.dtype.kind in "iuf" else array.astype(np.float64))}


def many_inputs(
    inputs: Sequence[Input], marks: Marks, sizing: Collection[str], moves: bool, seed: int, count: int
) -> Iterator[Feeds]:
    """``count`` sets of inputs: in the first sets, all dynamic dims have one size; then each has its own.

    ``sizing`` names the inputs that decide sizes: at most one of their elements is large. In models with Loops any
    integer may decide one. ``moves`` says whether the models only move data: then infinities and NaN are drawn, too.
    """
    ladder = tuple(size for size in (*SIZES, *marks.sizes) if size or moves)  # a network is fed with something
    names = list(dict.fromkeys(name for row in inputs for name in row.dynamic(max(RANKS))))
    for turn in range(count):
        rng = np.random.default_rng([seed, turn])
        if turn < len(ladder):
            sizes = dict.fromkeys(names, ladder[turn])
        else:
            sizes = {name: ladder[int(rng.integers(0, len(ladder) if rng.random() < 0.2 else 10))] for name in names}
        rank = RANKS[turn % len(RANKS)]
        shapes = {row.name: row.shape(sizes, rank) for row in inputs}
        most = LARGEST if turn < 2 * len(ladder) and not sizing else LARGE
        while sum(map(prod, shapes.values())) > most and any(sizes.values()):
            largest = max(sizes, key=lambda name: sizes[name])
            sizes[largest] //= 2
            shapes = {row.name: row.shape(sizes, rank) for row in inputs}
        if sum(map(prod, shapes.values())) > LARGEST:
            return
        size = max((dim for shape in shapes.values() for dim in shape), default=3)
        room = max(LARGEST // max((prod(2 * dim + 4 for dim in shape) for shape in shapes.values()), default=1), 2)
        rooms = {row.name: room if row.name in sizing else 0 for row in inputs}
        if marks.has_loops:
            rooms = dict.fromkeys(rooms, MOST_STEPS)
        yield {row.name: _elements(row, shapes[row.name], marks, (size, rooms[row.name]), moves, rng) for row in inputs}


def _elements(
    row: Input, shape: tuple[int, ...], marks: Marks, limits: tuple[int, int], moves: bool, rng: np.random.Generator
) -> np.ndarray:
    """Random elements of one input, in one of several ways.

    ``limits`` are the largest dim of the data, and the largest element of an input that decides sizes; 0 for others.
    """
    dtype, count = by_name(row.type), prod(shape)
    if row.type == "string":
        return np.array([WORDS[i] for i in rng.integers(0, len(WORDS), count)], object).reshape(shape)
    if row.type == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.bits < 8:
        return rng.integers(0, 1 << dtype.bits, shape, np.uint8).view(dtype.numpy)
    if "int" in row.type:
        info = np.iinfo(dtype.numpy)
        made = _sizes(shape, marks, limits, rng) if limits[1] else _integers(shape, info, marks, limits[0], rng)
        cut = [min(max(int(one), int(info.min)), int(info.max)) for one in made.flat]
        return np.array(cut, dtype.numpy).reshape(shape)
    numbers = _floats(shape, marks, moves, rng)
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(numbers) if row.type == "float8e8m0" else numbers).astype(dtype.numpy)


def _sizes(shape: tuple[int, ...], marks: Marks, limits: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Amounts, axes, indices, shapes: small ones of both signs, or beyond the data; sometimes one is large."""
    room, reach = limits[1], min(limits)
    ways = ((-2, 4), (0, 3), (0, reach + 1), (0, 2 * reach + 4), (-reach - 1, 2 * reach + 4))
    made = rng.integers(*ways[int(rng.integers(0, len(ways)))], shape)
    if made.size and rng.random() < 0.15 and not marks.has_loops:
        # Nothing has memory for these, but a Clip or a Cast may cut them.
        made.flat[int(rng.integers(0, made.size))] = BEYOND[int(rng.integers(0, len(BEYOND)))]
    elif made.size and rng.random() < 0.4:
        large = [one + more for one in (*map(abs, marks.integers), room, reach) for more in (-1, 0, 1)]
        near = [one for one in large if 0 <= one <= room] or [1]
        made = np.minimum(np.abs(made), 2)
        made.flat[int(rng.integers(0, made.size))] = near[int(rng.integers(0, len(near)))]
    return np.minimum(made, room) if marks.has_loops else np.asarray(made)


def _integers(shape: tuple[int, ...], info: np.iinfo, marks: Marks, size: int, rng: np.random.Generator) -> np.ndarray:
    """Integers of all magnitudes, or on both sides of the models' constants."""
    way = int(rng.integers(0, 4))
    if way == 0:
        return np.asarray(rng.integers(-size - 1, 2 * size + 4, shape))
    if way == 1 and marks.integers:
        near = [mark * times + more for mark in marks.integers for times in (-2, -1, 1, 2) for more in (-1, 0, 1)]
        near += [sign * (abs(mark) // 2) + more for mark in marks.integers for sign in (-1, 1) for more in (-1, 0, 1)]
    elif way == 2:
        return np.asarray(rng.integers(info.min, info.max, shape, info.dtype, endpoint=True))
    else:
        near = [one for mark in WIDE for one in (mark, -mark, mark - 1, -mark - 1)] + [int(info.min), int(info.max)]
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
