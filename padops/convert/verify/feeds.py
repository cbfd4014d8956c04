"""What to run two models on: the caller's arrays, or random ones of a size that the model accepts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.errors import PadopsError, UsageError, library_errors
from padops.convert.model.graphs import constant, walk
from padops.convert.verify.npz import read_npz
from padops.spec.dtypes import by_name, by_numpy, by_onnx

Inputs = str | os.PathLike[str] | Mapping[str, np.ndarray]  # a file, or arrays by the names of the inputs

# Tried in this order for dims that the model leaves open; audio models have favourites of their own.
SIZES = (256, 64, 512, 576, 16, 128, 1024, 4096, 16000, 32, 8, 4, 3, 2, 1)
HIGHEST = (9, 2, 1)  # integers that are not pixels or samples go from 0 to this: they may be indices, axes or amounts
RANKS = (2, 4, 3, 1, 0)  # of an input of which not even the rank is known
MAX_ELEMENTS = 1 << 22  # of one input
MAX_RANDOM = 1 << 31  # of one input that leaves no dim open
SAMPLES = ("int8", "uint8", "int16", "uint16")  # types of which every value is as good as another
WORDS = ("", "pad", "été", "a longer string than fits beside its length")

LAST_CHARACTER, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


@dataclass(frozen=True)
class Input:
    """One input of a model: ``dims`` has numbers, names and None (open); it is None where the rank is unknown."""

    name: str
    type: str
    dims: tuple[int | str | None, ...] | None

    def __str__(self) -> str:
        dims = "any rank" if self.dims is None else ", ".join("?" if d is None else str(d) for d in self.dims)
        return f"{self.name}: {self.type}[{dims}]"


def inputs_of(message: onnx.ModelProto) -> list[Input]:
    """What a caller has to give to a model.

    Raises:
        PadopsError: An input is not a tensor of a type that ONNX Runtime has.
    """
    given = {tensor.name for tensor in message.graph.initializer}
    return [_input(value) for value in message.graph.input if value.name not in given]


def _input(value: onnx.ValueInfoProto) -> Input:
    tensor = value.type.tensor_type
    row = by_onnx(tensor.elem_type) if value.type.HasField("tensor_type") else None
    if row is None:
        raise PadopsError(
            f"input '{value.name}' is not a tensor of a type that can be fed; the model is not verifiable"
        )
    if not tensor.HasField("shape"):
        return Input(value.name, row.name, None)
    # Some exporters write -1 for a dim that is open.
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]
    dims = [None if isinstance(dim, int) and dim < 0 else dim for dim in dims]
    return Input(value.name, row.name, tuple(dims))


def special_values(model: ir.Model) -> dict[str, list[int]]:
    """Numbers that the model compares an input with, by the input's name: they choose branches."""
    inputs = {value: value.name for value in model.graph.inputs if value.name is not None}
    special: dict[str, list[int]] = {}
    for site in walk(model):
        if site.node.op_type != "Equal" or site.node.domain != "":
            continue
        for value, other in (site.node.inputs, site.node.inputs[::-1]):
            number = constant(other, site.scope)
            if value in inputs and number is not None and number.size == 1 and number.dtype.kind in "iu":
                special.setdefault(inputs[value], []).append(int(number.reshape(())))
    return special


def load_inputs(source: Inputs) -> dict[str, np.ndarray]:
    """The caller's arrays.

    Raises:
        PadopsError: The file cannot be read, or what is given makes no array.
    """
    if isinstance(source, Mapping):
        arrays = {}
        for name, array in source.items():
            with library_errors(f"input '{name}'"):
                arrays[name] = np.asarray(array)
        return arrays
    return read_npz(Path(source))


def fit_inputs(given: Mapping[str, np.ndarray], inputs: Sequence[Input]) -> dict[str, np.ndarray]:
    """The caller's arrays, as the model wants them; the bits of types that NumPy lacks may come as unsigned integers.

    Raises:
        UsageError: One is missing, not known to the model, or of the wrong type or shape.
        PadopsError: A text is none that a tensor can hold.
    """
    names = [row.name for row in inputs]
    if missing := [name for name in names if name not in given]:
        raise UsageError(f"the inputs lack '{missing[0]}'; the model takes {', '.join(map(str, inputs))}")
    if unknown := [name for name in given if name not in names]:
        raise UsageError(f"'{unknown[0]}' is not an input of the model, which takes {', '.join(map(str, inputs))}")
    fitted = {}
    for row in inputs:
        array, wanted = given[row.name], by_name(row.type)
        if array.dtype.kind == "u" and wanted.numpy.kind == "V" and array.dtype.itemsize == wanted.numpy.itemsize:
            array = array.view(wanted.numpy)
        if by_numpy(array.dtype) is not wanted:
            raise UsageError(f"input '{row.name}' is {array.dtype}, expected {row.type}")
        if not _takes(row, array.shape):
            raise UsageError(f"input '{row.name}' has the shape {list(array.shape)}; the model takes {row}")
        fitted[row.name] = _texts(array, row.name) if row.type == "string" else array
    return fitted


def _takes(row: Input, shape: Sequence[int]) -> bool:
    """Whether an array of a shape can be what an input declares."""
    if row.dims is None:
        return True
    return len(shape) == len(row.dims) and all(n == dim for n, dim in zip(shape, row.dims) if isinstance(dim, int))


def _texts(array: np.ndarray, name: str) -> np.ndarray:
    """Texts as Python objects, without code points that Python or UTF-8 cannot have."""
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        wrong = codes[(codes > LAST_CHARACTER) | ((codes >= SURROGATES[0]) & (codes <= SURROGATES[1]))]
        if wrong.size:
            raise PadopsError(f"input '{name}' has a text with U+{wrong[0]:04X}, which is no character")
    with library_errors(f"input '{name}'"):
        texts = array.astype(object)
        for text in texts.flat:
            if isinstance(text, str):
                text.encode()
    return texts


def random_inputs(
    inputs: Sequence[Input], seed: int, turn: int, special: Mapping[str, Sequence[int]]
) -> Iterator[dict[str, np.ndarray]]:
    """Sets of inputs to try one after the other until the model takes one.

    Args:
        inputs: What the model takes.
        seed: Of the random numbers.
        turn: 0, 1, …: each turn has other values; single bools and special values alternate from turn to turn.
        special: See ``special_values``.

    Raises:
        PadopsError: An input is too large.
    """
    for highest in HIGHEST if any(row.type not in SAMPLES and "int" in row.type for row in inputs) else HIGHEST[:1]:
        for sizes in _open_sizes(inputs, turn):
            shapes = {row: _shape(row, sizes) for row in inputs}
            if any(prod(shapes[row]) > MAX_ELEMENTS for row in inputs if row.dims is None or _open(row)):
                continue
            _refuse_vast(shapes)
            rng = np.random.default_rng([seed, turn])
            try:
                made = {row.name: _random(row, shapes[row], rng, highest, turn, special) for row in inputs}
            except MemoryError as error:
                raise PadopsError(f"cannot verify: there is no memory for random inputs: {error}") from error
            yield made


def _refuse_vast(shapes: Mapping[Input, tuple[int, ...]]) -> None:
    """Refuses inputs of more random numbers than any memory holds, before the machine tries."""
    for row, shape in shapes.items():
        if prod(shape) > MAX_RANDOM:
            raise PadopsError(f"cannot verify: the input {row} would take {prod(shape)} random numbers")


def _open(row: Input) -> list[str]:
    """Names of the open dims of an input; those without a name are called by their place."""
    dims = enumerate(row.dims or ())
    return [dim if isinstance(dim, str) else f"{row.name}[{axis}]" for axis, dim in dims if not isinstance(dim, int)]


def _open_sizes(inputs: Sequence[Input], turn: int) -> Iterator[dict[str, int]]:
    """Sizes of the open dims to try, another one first at each turn.

    Open dims that come first in an input of rank 2 or more are taken for a batch, of 1 as long as possible.
    """
    order = SIZES[turn % len(SIZES) :] + SIZES[: turn % len(SIZES)]
    ranks = RANKS if any(row.dims is None for row in inputs) else RANKS[:1]
    names = list(dict.fromkeys(name for row in inputs for name in _open(row)))
    first = {_open(row)[0] for row in inputs if row.dims and len(row.dims) > 1 and not isinstance(row.dims[0], int)}
    for rank in ranks:
        ones = {**dict.fromkeys(names, 1), "rank": rank}
        seen = []
        ways = [[n for n in names if n not in first], *([n] for n in names), names, *map(list, combinations(names, 2))]
        for way in ways[:40]:
            for size in order:
                sizes = {**ones, **dict.fromkeys(way, size), "": size}
                if sizes not in seen:
                    seen.append(sizes)
                    yield sizes


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if row.dims is None:
        return (sizes[""],) * sizes["rank"]
    names = iter(_open(row))
    return tuple(dim if isinstance(dim, int) else sizes[next(names)] for dim in row.dims)


def _random(
    row: Input,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    highest: int,
    turn: int,
    special: Mapping[str, Sequence[int]],
) -> np.ndarray:
    dtype = by_name(row.type)
    single = prod(shape) == 1
    if row.type == "bool":
        return np.full(shape, turn % 2 == 0) if single else rng.integers(0, 2, shape).astype(bool)
    if row.type == "string":
        return np.array(WORDS, object)[rng.integers(0, len(WORDS), shape)].reshape(shape)
    if single and special.get(row.name):
        values = [*special[row.name], highest]
        return np.full(shape, values[turn % len(values)], dtype.numpy)
    if row.type in SAMPLES:
        info = np.iinfo(dtype.numpy)
        return rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
    if "int" in row.type and dtype.bits >= 8:
        return rng.integers(0, highest, shape, endpoint=True).astype(dtype.numpy)
    if dtype.bits < 8:
        return rng.integers(0, 1 << dtype.bits, shape, np.uint8).view(dtype.numpy)
    numbers = rng.standard_normal(shape)
    return np.asarray(np.abs(numbers) if row.type == "float8e8m0" else numbers).astype(dtype.numpy)
