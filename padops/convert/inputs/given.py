"""The inputs of a model, and the caller's arrays for them."""

from __future__ import annotations

import json
import os
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import onnx

from padops.convert.errors import PadopsError, UsageError, library_errors
from padops.spec.dtypes import by_name, by_numpy, by_onnx

Inputs = str | os.PathLike[str] | Mapping[str, np.ndarray]  # a file, or arrays by input name
Feeds = dict[str, np.ndarray]  # arrays by input name

FEW = 16  # the most elements of an optional input that runs set
# Errors of zipfile and NumPy for damaged files, in addition to the errors of any library.
DAMAGES = (zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError, EOFError, OSError, RuntimeError)


@dataclass(frozen=True)
class Input:
    """One input of a model; ``dims`` has numbers, names and None (dynamic), or is None if the rank is unknown."""

    name: str
    type: str
    dims: tuple[int | str | None, ...] | None

    def __str__(self) -> str:
        dims = "any rank" if self.dims is None else ", ".join("?" if d is None else str(d) for d in self.dims)
        return f"{self.name}: {self.type}[{dims}]"

    def dynamic(self, rank: int = 0) -> list[str]:
        """Return the names of the dynamic dims, ``input[axis]`` for unnamed dims. ``rank`` replaces an unknown rank."""
        dims = enumerate((None,) * rank if self.dims is None else self.dims)
        names = [(dim, f"{self.name}[{axis}]") for axis, dim in dims if not isinstance(dim, int)]
        return [dim or unnamed for dim, unnamed in names]

    def shape(self, sizes: Mapping[str, int], rank: int = 0) -> tuple[int, ...]:
        """Return the shape; ``sizes`` has the size of each dim that ``dynamic`` names."""
        names = iter(self.dynamic(rank))
        dims = (None,) * rank if self.dims is None else self.dims
        return tuple(dim if isinstance(dim, int) else sizes[next(names)] for dim in dims)


def inputs_of(message: onnx.ModelProto) -> list[Input]:
    return [_input(value) for value in required_inputs(message)]


def optional_inputs(message: onnx.ModelProto) -> list[Input]:
    """Return the small optional inputs, such as amounts, axes and fills; initializers hold their defaults."""
    few = {tensor.name for tensor in message.graph.initializer if prod(tensor.dims) <= FEW}
    return [_input(value) for value in message.graph.input if value.name in few & overridable_inputs(message)]


def overridable_inputs(model: onnx.ModelProto) -> set[str]:
    """Return the optional inputs, whose initializers callers may replace; before IR version 4, there are none."""
    given = {tensor.name for tensor in model.graph.initializer}
    return {value.name for value in model.graph.input if value.name in given} if model.ir_version >= 4 else set()


def required_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs that a caller must pass, in order."""
    held = {tensor.name for tensor in model.graph.initializer}
    held |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in held]


def _input(value: onnx.ValueInfoProto) -> Input:
    tensor = value.type.tensor_type
    row = by_onnx(tensor.elem_type) if value.type.HasField("tensor_type") else None
    if row is None:
        raise PadopsError(f"input '{value.name}' is not a tensor of a supported element type")
    if not tensor.HasField("shape"):
        return Input(value.name, row.name, None)
    # Some exporters write -1 for a dynamic dim.
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]
    dims = [None if isinstance(dim, int) and dim < 0 else dim for dim in dims]
    return Input(value.name, row.name, tuple(dims))


def load_inputs(source: Inputs, inputs: Sequence[Input]) -> dict[str, np.ndarray]:
    """Return the caller's arrays; refuse a file with arrays that the model does not accept."""
    arrays: dict[str, np.ndarray] = {}
    if isinstance(source, Mapping):
        for name, array in source.items():
            with library_errors(f"input '{name}'"):
                arrays[name] = np.asarray(array)
        return arrays
    path, part = Path(source), f"the inputs in {source}"
    try:
        with library_errors(part, *DAMAGES), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about headers that Python 2 wrote
            with path.open("rb") as file:
                if not zipfile.is_zipfile(file):
                    words = [json.dumps(str(path.with_suffix(".npz"))), *(f"{row.name}=..." for row in inputs)]
                    raise PadopsError(f"{path} is not an .npz file; numpy.savez({', '.join(words)}) writes one")
                file.seek(0)
                with np.load(file, allow_pickle=False) as archive:
                    for name in archive.files:
                        with library_errors(f"'{name}' in {part}", *DAMAGES):
                            arrays[name] = np.asarray(archive[name])
    except PadopsError as error:
        missing = isinstance(error.__cause__, FileNotFoundError)
        raise UsageError(f"{path} does not exist" if missing else str(error)) from error
    _check(arrays, inputs, str(path))
    return arrays


def fit_inputs(given: Mapping[str, np.ndarray], inputs: Sequence[Input]) -> dict[str, np.ndarray]:
    """Return the arrays in the model's types; unsigned integers may hold the bits of types that NumPy lacks."""
    _check(given, inputs)
    fitted = {}
    for row in inputs:
        array, wanted = given[row.name], by_name(row.type).numpy
        array = array.view(wanted) if _holds_bits(array.dtype, wanted) else array
        fitted[row.name] = _texts(array, row.name) if row.type == "string" else array
    return fitted


def _check(arrays: Mapping[str, np.ndarray], inputs: Sequence[Input], file: str = "") -> None:
    """Reject arrays of types or shapes that the model does not accept."""
    names, takes = [row.name for row in inputs], ", ".join(map(str, inputs))
    if missing := [name for name in names if name not in arrays]:
        given = f"{file} has {'only ' if arrays else 'no array'}{', '.join(map(repr, arrays))}; " if file else ""
        raise UsageError(f"the inputs lack '{missing[0]}'; {given}the model takes {takes}")
    if unknown := [name for name in arrays if name not in names]:
        raise UsageError(f"'{unknown[0]}' is not an input of the model, which takes {takes}")
    for row in inputs:
        dtype, shape, wanted = arrays[row.name].dtype, arrays[row.name].shape, by_name(row.type)
        if not _holds_bits(dtype, wanted.numpy) and by_numpy(dtype) is not wanted:
            raise UsageError(f"input '{row.name}' is {dtype}, expected {row.type}")
        dims = shape if row.dims is None else row.dims
        if len(shape) != len(dims) or any(isinstance(dim, int) and n != dim for n, dim in zip(shape, dims)):
            raise UsageError(f"input '{row.name}' has the shape {list(shape)}; the model takes {row}")


def _holds_bits(dtype: np.dtype, wanted: np.dtype) -> bool:
    """Return whether an unsigned integer type holds the bits of a type that NumPy lacks."""
    return dtype.kind == "u" and wanted.kind == "V" and dtype.itemsize == wanted.itemsize


def _texts(array: np.ndarray, name: str) -> np.ndarray:
    """Return an array of strings as Python objects; refuse code points that UTF-8 cannot encode."""
    with library_errors(f"input '{name}'", SystemError):  # NumPy's error for codes that are no character
        texts = array.astype(object)
        for text in texts.flat:
            if isinstance(text, str):
                text.encode()
    return texts
