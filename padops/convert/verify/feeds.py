"""The inputs of a model, the caller's arrays for them, and the other options of a comparison.

And the interface on which callers of a model rely: its inputs and outputs, their order and types.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np
import onnx

from padops.convert.errors import PadopsError, UsageError, library_errors
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.built import overridable_inputs
from padops.convert.verify.inference import dims_of, forget_dims
from padops.convert.verify.npz import Headers, read_npz
from padops.spec.dtypes import by_name, by_numpy, by_onnx

Inputs = str | os.PathLike[str] | Mapping[str, np.ndarray]  # a file, or arrays by input name

FEW = 16  # elements of an optional input that runs give
BY_PLACE = "callers may take them by position"
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


@dataclass(frozen=True)
class Asked:
    """The options of a comparison."""

    inputs: Inputs | None = None  # the inputs for both models; None for random ones
    seed: int = 0  # the seed of random inputs
    rtol: float | None = None  # see ``Tolerance``
    atol: float | None = None  # see ``Tolerance``
    # The values behind Pads that ONNX Runtime gets wrong, or may, each with the reason
    doubted: Mapping[str, str] = field(default_factory=dict)
    run: bool = False  # whether to run both models even if they are proved to do the same

    @property
    def tolerance(self) -> Tolerance | None:
        """What the caller accepts; None if the original's own moves decide."""
        return None if self.rtol is None and self.atol is None else Tolerance(self.rtol, self.atol)


def inputs_of(message: onnx.ModelProto) -> list[Input]:
    """The inputs that a caller must give.

    Raises:
        PadopsError: An input is not a tensor of a type that ONNX Runtime has.
    """
    given = {tensor.name for tensor in message.graph.initializer}
    return [_input(value) for value in message.graph.input if value.name not in given]


def optional_inputs(message: onnx.ModelProto) -> list[Input]:
    """The inputs of few elements that a caller may give: amounts, axes, fills, with initializers as defaults."""
    few = {tensor.name for tensor in message.graph.initializer if prod(tensor.dims) <= FEW}
    return [_input(value) for value in message.graph.input if value.name in few & overridable_inputs(message)]


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
    """The caller's arrays, in the model's types; types that NumPy lacks may come as unsigned integers of their bits.

    Raises:
        UsageError: One is missing, not known to the model, or of the wrong type or shape.
        PadopsError: A tensor cannot hold a text.
    """
    _check({name: (array.dtype, array.shape) for name, array in given.items()}, inputs)
    fitted = {}
    for row in inputs:
        array, wanted = given[row.name], by_name(row.type).numpy
        array = array.view(wanted) if _holds_bits(array.dtype, wanted) else array
        fitted[row.name] = _texts(array, row.name) if row.type == "string" else array
    return fitted


def _check(headers: Headers, inputs: Sequence[Input], file: str = "") -> None:
    """Rejects arrays of types or shapes that the model does not take.

    Raises:
        UsageError: One is missing, not known to the model, or of the wrong type or shape.
    """
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


def other_interface(original: onnx.ModelProto, converted: onnx.ModelProto) -> tuple[str, ...]:
    """The changes of the interface that a caller of the original would notice, one sentence each.

    ``session.run(None, …)`` returns outputs by position, and C callers take ``session.get_inputs()[0]``. So the
    interface changes with the order and number of inputs and outputs. It also changes if an initializer can no longer
    be replaced. Dynamic dims, their names and defaults do not count: runs tell of these.
    """
    return tuple(_differences(original, converted))


def _differences(original: onnx.ModelProto, converted: onnx.ModelProto) -> Iterator[str]:
    lists = (
        ("inputs", required_inputs(original), required_inputs(converted)),
        ("outputs", original.graph.output, converted.graph.output),
    )
    for what, first, second in lists:
        if [value.name for value in first] != [value.name for value in second]:
            there = f"{_names(first)} in the original, and {_names(second)} in the converted model"
            yield f"the {what} are {there}; {BY_PLACE}"
            continue
        for one, other in zip(first, second):
            if told := _other_type(one.type, other.type):
                yield f"the {what[:-1]} '{one.name}' is {told}"
    replaceable, inputs = overridable_inputs(converted), {value.name: value for value in converted.graph.input}
    for value in original.graph.input:
        if value.name not in overridable_inputs(original):
            continue
        if value.name not in replaceable and value.name not in {row.name for row in required_inputs(converted)}:
            yield (
                f"a caller of the original may replace the initializer '{value.name}', "
                "and one of the converted model may not"
            )
        elif told := _other_type(value.type, inputs[value.name].type):
            yield f"the input '{value.name}' is {told}"


def required_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs that a caller must give, in order."""
    held = {tensor.name for tensor in model.graph.initializer}
    held |= {tensor.values.name for tensor in model.graph.sparse_initializer}
    return [value for value in model.graph.input if value.name not in held]


def _names(values: Sequence[onnx.ValueInfoProto]) -> str:
    return ", ".join(f"'{value.name}'" for value in values) or "none"


def _other_type(first: onnx.TypeProto, second: onnx.TypeProto) -> str:
    """The contradiction of two declared types, in element type or rank; "" for none, or if one does not tell."""
    kinds = [_kind(kind) for kind in (first, second)]
    ranks = [dims_of(kind) for kind in (first, second)]
    if None not in kinds and kinds[0] != kinds[1]:
        return f"{_said(first)} in the original, and {_said(second)} in the converted model"
    if ranks[0] is not None and ranks[1] is not None and len(ranks[0]) != len(ranks[1]):
        return f"of rank {len(ranks[0])} in the original, and of rank {len(ranks[1])} in the converted model"
    return ""


def _kind(kind: onnx.TypeProto) -> bytes | None:
    """A type without dims; None if it does not tell its element type."""
    if kind.WhichOneof("value") is None or (kind.HasField("tensor_type") and not kind.tensor_type.elem_type):
        return None
    bare = onnx.TypeProto()
    bare.CopyFrom(kind)
    bare.ClearField("denotation")
    forget_dims(bare)
    return bytes(bare.SerializeToString(deterministic=True))


def _said(kind: onnx.TypeProto) -> str:
    """A type as onnxruntime writes it."""
    which = kind.WhichOneof("value")
    if which in ("tensor_type", "sparse_tensor_type"):
        number = getattr(kind, which).elem_type
        known = number in onnx.TensorProto.DataType.values()
        name = onnx.TensorProto.DataType.Name(number).lower() if known else str(number)
        return f"{which.removesuffix('_type')}({name})"
    if which in ("sequence_type", "optional_type"):
        return f"{which.removesuffix('_type')}({_said(getattr(kind, which).elem_type)})"
    return str(which).removesuffix("_type")
