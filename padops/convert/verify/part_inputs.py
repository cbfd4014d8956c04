"""Thousands of random inputs for a part of a model that runs in isolation, small ones first.

A part's inputs are inner values of the model, so nothing tells which values they may have. So all kinds are tried:
sizes of 0, 1 and 2, odd, even and prime sizes, integers of both signs and beyond 2^53, floats of all magnitudes, and
numbers on both sides of the part's constants. The original refuses invalid inputs. ``whole_inputs`` gives inputs of the
whole model for which a part seems to differ, by the solver or by a run of the part in isolation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from padops.convert.verify.cut import CannotCut
from padops.convert.verify.feeds import Input
from padops.convert.verify.pads import is_pad, sources
from padops.convert.verify.probes import bodies
from padops.convert.verify.random_inputs import WORDS
from padops.convert.verify.sessions import Feeds
from padops.spec.dtypes import by_name

SIZES = (1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 31, 32)  # of dynamic dims, in the order of the first turns
RANKS = (2, 1, 3, 4, 0)  # tried for an unknown rank
FEW = 64  # the most elements of a constant whose numbers become marks
LARGEST_MARK = 1 << 17  # the largest mark that is also tried as a size
LARGE = 1 << 12  # elements of all inputs in most turns, with dynamic dims
LARGEST = 1 << 20  # elements of all inputs in any turn, with dynamic dims
MOST = 1 << 26  # elements of all inputs, with fixed dims
ELSEWHERE = 2  # the size of a dim that an example does not give
WIDE = (0, 1, 2, 127, 128, 255, 256, 32767, 32768, 65536, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 53) + 1,
        (1 << 62) + 3)  # fmt: skip
# The inputs that decide the size of the output.
SIZED_BY = {"Pad": (1, 3), "ConstantOfShape": (0,), "Range": (0, 1, 2), "Expand": (1,), "Tile": (1,), "Reshape": (1,),
            "OneHot": (1,), "Resize": (1, 2, 3), "Upsample": (1,), "Slice": (1, 2, 3, 4), "HannWindow": (0,),
            "HammingWindow": (0,), "BlackmanWindow": (0,), "MelWeightMatrix": (0, 1, 2, 3, 4), "DFT": (1, 2),
            "STFT": (1, 3), "CenterCropPad": (1,), "Col2Im": (1, 2), "AffineGrid": (1,), "MaxUnpool": (1, 2),
            "RoiAlign": (2,), "TopK": (1,), "SplitToSequence": (1,)}  # fmt: skip
# A part may scale its input before comparing it with a constant: so inputs are tried at these multiples of a constant.
TIMES = (1.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
SPECIAL = (0.0, -0.0, 1e-40, np.nan, np.inf, -np.inf, 65504.0, 3e38)


@dataclass(frozen=True)
class Marks:
    """The constants of a part, at which its behaviour may change."""

    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at and beside each integer, in order."""
        near = {abs(mark) + more for mark in self.integers for more in (-1, 0, 1)}
        return tuple(sorted(size for size in near if 0 <= size <= LARGEST_MARK and size not in SIZES))


def marks_of(*models: onnx.ModelProto) -> Marks:
    """The numbers in the constants and attributes of some models."""
    numbers: set[float] = set()
    for model in models:
        for located in bodies(model):
            tensors = list(getattr(located.body, "initializer", ()))
            for node in located.body.node:
                for row in node.attribute:
                    numbers |= {*row.ints, *row.floats} | ({row.i} if row.type == row.INT else set())
                    numbers |= {row.f} if row.type == row.FLOAT else set()
                    tensors += [row.t] if row.type == row.TENSOR else []
            for tensor in tensors:
                numbers |= _numbers(tensor)
    known = sorted(number for number in numbers if np.isfinite(number))
    return Marks(tuple(int(number) for number in known if number == int(number)), tuple(map(float, known)))


def _numbers(tensor: onnx.TensorProto) -> set[float]:
    """The elements of a small constant; empty for a large one."""
    outside = tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.data_type == onnx.TensorProto.STRING
    if outside or prod(tensor.dims) > FEW:
        return set()
    array = numpy_helper.to_array(tensor).reshape(-1)
    return {one.item() for one in (array if array.dtype.kind in "iuf" else array.astype(np.float64))}


def sizing_inputs(*models: onnx.ModelProto) -> set[str]:
    """The inputs of models that decide sizes: amounts, shapes, repeats, or values from which these are computed."""
    found: set[str] = set()
    for model in models:
        made = {name: node for node in model.graph.node for name in node.output if name}
        read = sources((name for node in model.graph.node for name in _sizing(node)), made)
        found |= read & {value.name for value in model.graph.input}
    return found


def _sizing(node: onnx.NodeProto) -> list[str]:
    """The inputs of a node that decide its output's size; any input, if the node has bodies or is no ONNX operator."""
    if node.domain not in ("", "ai.onnx") or any(row.HasField("g") for row in node.attribute):
        return list(node.input[is_pad(node) :])
    places = SIZED_BY.get(node.op_type, ())
    return [node.input[at] for at in places if at < len(node.input)]


def region_inputs(
    inputs: Sequence[Input], marks: Marks, sizing: Collection[str], seed: int, count: int
) -> Iterator[Feeds]:
    """``count`` sets of inputs: in the first sets, all dynamic dims have one size; then each has its own.

    ``sizing`` names the inputs that decide sizes: at most one of their elements is large.

    Raises:
        CannotCut: The inputs are too large.
    """
    ladder = (*SIZES, *marks.sizes)
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
        if (elements := sum(map(prod, shapes.values()))) > MOST:
            raise CannotCut(f"its inputs have {elements} elements, more than {MOST}")
        size = max((dim for shape in shapes.values() for dim in shape), default=3)
        room = max(LARGEST // max((prod(2 * dim + 4 for dim in shape) for shape in shapes.values()), default=1), 2)
        yield {
            row.name: elements_of(row, shapes[row.name], marks, size, room if row.name in sizing else None, rng)
            for row in inputs
        }


def elements_of(
    row: Input, shape: tuple[int, ...], marks: Marks, size: int, room: int | None, rng: np.random.Generator
) -> np.ndarray:
    """Random elements of one input, in one of several ways.

    ``size`` is the largest dim of the data. ``room`` is the largest element of an input that decides sizes; None for
    others.
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
        made = _integers(shape, info, marks, size, rng) if room is None else _sizes(shape, marks, size, room, rng)
        return np.array([min(max(int(one), int(info.min)), int(info.max)) for one in made.flat], dtype.numpy).reshape(
            shape
        )
    numbers = _floats(shape, marks, rng)
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(numbers) if row.type == "float8e8m0" else numbers).astype(dtype.numpy)


def _sizes(shape: tuple[int, ...], marks: Marks, size: int, room: int, rng: np.random.Generator) -> np.ndarray:
    """Amounts, axes, indices, shapes: small ones of both signs, or beyond the data; sometimes one is large."""
    reach = min(size, room)
    ways = ((-2, 4), (0, 3), (0, reach + 1), (0, 2 * reach + 4), (-reach - 1, 2 * reach + 4))
    made = rng.integers(*ways[int(rng.integers(0, len(ways)))], shape)
    if made.size and rng.random() < 0.4:
        large = [one + more for one in (*map(abs, marks.integers), room, reach) for more in (-1, 0, 1)]
        near = [one for one in large if 0 <= one <= room] or [1]
        made = np.minimum(np.abs(made), 2)
        made.flat[int(rng.integers(0, made.size))] = near[int(rng.integers(0, len(near)))]
    return np.asarray(made)


def _integers(shape: tuple[int, ...], info: np.iinfo, marks: Marks, size: int, rng: np.random.Generator) -> np.ndarray:
    """Integers of all magnitudes, or on both sides of the part's constants."""
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


def _floats(shape: tuple[int, ...], marks: Marks, rng: np.random.Generator) -> np.ndarray:
    way = int(rng.integers(0, 4))
    numbers = np.asarray(rng.standard_normal(shape))
    if way == 1:
        numbers = numbers * 10.0 ** rng.uniform(-3, 9, shape)
    elif way == 2 and marks.floats:
        near = np.array(marks.floats)[rng.integers(0, len(marks.floats), shape)] * rng.choice(TIMES, shape)
        if rng.random() < 0.3:
            near = np.divide(1.0, near, out=np.zeros_like(near), where=near != 0)
        numbers = near * (1 + rng.choice([-1e-3, 0.0, 1e-3], shape)) + rng.choice([-1.0, 0.0, 1.0], shape)
    elif way == 3 and numbers.size:
        places = rng.integers(0, numbers.size, max(numbers.size // 4, 1))
        numbers.reshape(-1)[places] = np.array(SPECIAL)[rng.integers(0, len(SPECIAL), places.size)]
    return np.asarray(numbers)


def whole_inputs(inputs: Sequence[Input], example: Mapping[str, Any], seed: int = 0) -> Feeds | None:
    """A model's inputs with the values, or only the dims, of an example.

    An example has arrays by name; or ``{"dims": [...], "values": [...]}`` by name, with or without values; or
    ``"dims"`` with all names' dims. An integer is the size of a dynamic dim.

    Returns:
        An array for each input, random if the example has no elements; None if the example has only inner values, or
        does not fit the inputs.
    """
    sizes = {name: value for name, value in example.items() if isinstance(value, int)}
    taken = {row.name for row in inputs}
    said = {name: _said(value) for name, value in named(example).items() if name in taken}
    if not said and not sizes:
        return None
    for row in inputs:
        if row.name not in said:
            continue
        shape = said[row.name][0]
        if row.dims is not None and len(row.dims) != len(shape):
            return None
        for dim, size in zip(row.dims or (), shape):
            if dim is not None and (sizes.setdefault(dim, size) if isinstance(dim, str) else dim) != size:
                return None
    feeds, rng = {}, np.random.default_rng(seed)
    for row in inputs:
        shape, elements = said.get(row.name, (_shape(row, sizes), None))
        if prod(shape) > LARGEST or min(shape, default=0) < 0:
            return None
        if elements is None:
            elements = elements_of(row, shape, Marks(), ELSEWHERE, ELSEWHERE, rng)
        feeds[row.name] = np.asarray(elements).astype(by_name(row.type).numpy).reshape(shape)
    return feeds


def named(example: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of an example, by name."""
    dims = example.get("dims")
    if isinstance(dims, Mapping):
        return {str(name): {"dims": list(shape)} for name, shape in dims.items()}
    return dict(example)


def _said(value: Any) -> tuple[tuple[int, ...], np.ndarray | None]:
    """The dims and the elements of one value; None for unknown elements."""
    if isinstance(value, np.ndarray):
        return value.shape, value
    shape = tuple(int(dim) for dim in value["dims"])
    values = value.get("values")
    return shape, None if values is None else np.array(values, object).reshape(shape)


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dim if isinstance(dim, int) else sizes.get(str(dim), ELSEWHERE) for dim in row.dims or ())
