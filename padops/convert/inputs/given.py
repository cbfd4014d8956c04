"""The inputs of a model, and the caller's arrays for them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import onnx

from padops.convert.errors import PadopsError, UsageError, library_errors
from padops.convert.inputs.npz import Headers, read_npz
from padops.spec.dtypes import by_name, by_numpy, by_onnx

Inputs = str | os.PathLike[str] | Mapping[str, np.ndarray]  # a file, or arrays by input name
Feeds = dict[str, np.ndarray]  # arrays by input name

FEW = 16  # elements of an optional input that runs give
LAST_CHARACTER, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


@dataclass(frozen=True)
class Input:
    """One input of a model: ``dims`` has numbers, names and None (dynamic); it is None if the rank is unknown."""

    name: str
    type: str
    dims: tuple[int | str | None, ...] | None

    def __str__(self) -> str:
        dims = "any rank" if self.dims is None else ", ".join("?" if d is None else str(d) for d in self.dims)
        return f"{self.name}: {self.type}[{dims}]"

    def dynamic(self, rank: int = 0) -> list[str]:
        """The names of the dynamic dims; a dim without a name is named by its axis. ``rank`` stands for an unknown."""
        dims = enumerate((None,) * rank if self.dims is None else self.dims)
        names = [(dim, f"{self.name}[{axis}]") for axis, dim in dims if not isinstance(dim, int)]
        return [dim or unnamed for dim, unnamed in names]

    def shape(self, sizes: Mapping[str, int], rank: int = 0) -> tuple[int, ...]:
        """The dims, with ``sizes`` of the dynamic ones by name; see ``dynamic``."""
        names = iter(self.dynamic(rank))
        dims = (None,) * rank if self.dims is None else self.dims
        return tuple(dim if isinstance(dim, int) else sizes[next(names)] for dim in dims)


def inputs_of(message: onnx.ModelProto) -> list[Input]:
    """The inputs that a caller must give."""
    given = {tensor.name for tensor in message.graph.initializer}
    return [_input(value) for value in message.graph.input if value.name not in given]


def optional_inputs(message: onnx.ModelProto) -> list[Input]:
    """The inputs of few elements that a caller may give: amounts, axes, fills, with initializers as defaults."""
    few = {tensor.name for tensor in message.graph.initializer if prod(tensor.dims) <= FEW}
    return [_input(value) for value in message.graph.input if value.name in few & overridable_inputs(message)]


def overridable_inputs(model: onnx.ModelProto) -> set[str]:
    """The optional inputs: those with an initializer, which callers may replace. None before IR version 4."""
    given = {tensor.name for tensor in model.graph.initializer}
    return {value.name for value in model.graph.input if value.name in given} if model.ir_version >= 4 else set()


def required_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs that a caller must give, in order."""
    held = {tensor.name for tensor in model.graph.initializer}
    held |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in held]


def _input(value: onnx.ValueInfoProto) -> Input:
    tensor = value.type.tensor_type
    row = by_onnx(tensor.elem_type) if value.type.HasField("tensor_type") else None
    if row is None:
        raise PadopsError(
            f"input '{value.name}' is not a tensor of a type that can be fed; the model is not verifiable"
        )
    if not tensor.HasField("shape"):
        return Input(value.name, row.name, None)
    # Some exporters write -1 for a dynamic dim.
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]
    dims = [None if isinstance(dim, int) and dim < 0 else dim for dim in dims]
    return Input(value.name, row.name, tuple(dims))


def load_inputs(source: Inputs, inputs: Sequence[Input]) -> dict[str, np.ndarray]:
    """The caller's arrays. Of a file, the headers are checked against the model before any element is read.

    Raises:
        UsageError: The file cannot be read, or one of its arrays is missing, not known to the model, or of the wrong
            type or shape.
        PadopsError: A value makes no array.
    """
    if isinstance(source, Mapping):
        arrays = {}
        for name, array in source.items():
            with library_errors(f"input '{name}'"):
                arrays[name] = np.asarray(array)
        return arrays
    path = Path(source)
    try:
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError:  # read_npz fails of it too, and says it
        pass
    try:
        return read_npz(path, lambda headers: _check(headers, inputs, str(path)), [row.name for row in inputs])
    except UsageError:
        raise
    except PadopsError as error:
        raise UsageError(str(error)) from error


def fit_inputs(given: Mapping[str, np.ndarray], inputs: Sequence[Input]) -> dict[str, np.ndarray]:
    """The caller's arrays, in the model's types; types that NumPy lacks may come as unsigned integers of their bits."""
    _check({name: (array.dtype, array.shape) for name, array in given.items()}, inputs)
    fitted = {}
    for row in inputs:
        array, wanted = given[row.name], by_name(row.type).numpy
        array = array.view(wanted) if _holds_bits(array.dtype, wanted) else array
        fitted[row.name] = _texts(array, row.name) if row.type == "string" else array
    return fitted


def _check(headers: Headers, inputs: Sequence[Input], file: str = "") -> None:
    """Rejects arrays of types or shapes that the model does not take."""
    names = [row.name for row in inputs]
    if missing := [name for name in names if name not in headers]:
        given = f"{file} has {'only ' if headers else 'no array'}{', '.join(map(repr, headers))}; " if file else ""
        raise UsageError(f"the inputs lack '{missing[0]}'; {given}the model takes {', '.join(map(str, inputs))}")
    if unknown := [name for name in headers if name not in names]:
        raise UsageError(f"'{unknown[0]}' is not an input of the model, which takes {', '.join(map(str, inputs))}")
    for row in inputs:
        dtype, shape = headers[row.name]
        wanted = by_name(row.type)
        if not _holds_bits(dtype, wanted.numpy) and by_numpy(dtype) is not wanted:
            raise UsageError(f"input '{row.name}' is {dtype}, expected {row.type}")
        if not _takes(row, shape):
            raise UsageError(f"input '{row.name}' has the shape {list(shape)}; the model takes {row}")


def _holds_bits(dtype: np.dtype, wanted: np.dtype) -> bool:
    """Whether an unsigned integer has the bits of a type that NumPy lacks."""
    return dtype.kind == "u" and wanted.kind == "V" and dtype.itemsize == wanted.itemsize


def _takes(row: Input, shape: Sequence[int]) -> bool:
    """Whether a shape fits the declared dims of an input."""
    if row.dims is None:
        return True
    return len(shape) == len(row.dims) and all(n == dim for n, dim in zip(shape, row.dims) if isinstance(dim, int))


def _texts(array: np.ndarray, name: str) -> np.ndarray:
    """Texts as Python objects; rejects code points that UTF-8 cannot encode."""
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
