"""Reads the constants of models into terms, by their bytes. Large external data are hashed and never held in memory."""

from __future__ import annotations

import hashlib
import os
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from padops.convert.errors import PadopsError, library_errors, os_errors_as
from padops.convert.model.external import check_entries
from padops.convert.verify.schemas import attribute_value
from padops.convert.verify.terms import Head, Kind, Terms, digest_of_bytes
from padops.plural import plural

HELD = 1 << 20  # bytes up to which an external constant is read into memory
_BY_ATTRIBUTE = (  # attributes of Constant, their element type and NumPy's
    (("value_int", "value_ints"), TensorProto.INT64, np.int64),
    (("value_float", "value_floats"), TensorProto.FLOAT, np.float32),
    (("value_string", "value_strings"), TensorProto.STRING, object),
)
BLOCK = 1 << 22  # bytes that are read at once of a larger constant


class Constants:
    """The constants of both models; a file range that both use is hashed once."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._digests: dict[tuple[object, ...], bytes] = {}

    def add(self, tensor: onnx.TensorProto, folder: Path | None) -> int:
        """The term of a tensor.

        Raises:
            PadopsError: It cannot be read.
        """
        dims = tuple(tensor.dims)
        if tensor.data_location == TensorProto.EXTERNAL:
            return self._external(tensor, dims, folder)
        if tensor.data_type == TensorProto.STRING:
            return self._terms.add_constant(_strings(tensor), TensorProto.STRING)
        if not tensor.HasField("raw_data") and np.isnan([*tensor.float_data, *tensor.double_data]).any():
            bare = onnx.TensorProto(
                float_data=tensor.float_data, double_data=tensor.double_data
            )  # NaNs keep their bits
            digest = digest_of_bytes(b"NaN" + bare.SerializeToString())
            return self._terms.add_stored(tensor.data_type, dims, digest, lambda: _read(tensor))
        if not tensor.HasField("raw_data") or _packed_bits(tensor.data_type):
            return self._terms.add_constant(_read(tensor), tensor.data_type)
        data = tensor.raw_data
        expected = prod(dims) * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        if len(data) != expected:
            has = f"has {plural(len(data), 'byte')}, but its dims {list(dims)} need {expected}"
            raise PadopsError(f"constant '{tensor.name}' {has}")
        return self._terms.add_stored(tensor.data_type, dims, digest_of_bytes(data), lambda: _read(tensor))

    def of_attribute(self, row: onnx.AttributeProto, folder: Path | None) -> int | None:
        """The term of a Constant, by its only attribute; None for an attribute that Constant does not have.

        Raises:
            PadopsError: It cannot be read.
        """
        if row.name == "value" and row.HasField("t"):
            return self.add(row.t, folder)
        if row.name == "sparse_value":
            return self.add_sparse(row.sparse_tensor, folder)
        for names, number, dtype in _BY_ATTRIBUTE:
            if row.name in names:
                return self._terms.add_constant(np.array(onnx.helper.get_attribute_value(row), dtype), number)
        return None

    def of_any(self, row: onnx.AttributeProto, folder: Path | None) -> Any:
        """An attribute's value, by its bits; tensors as terms. A list of graphs equals no other. ``row`` has no graph.

        Raises:
            PadopsError: A tensor cannot be read.
        """
        if row.HasField("t"):
            return self.add(row.t, folder)
        if row.HasField("sparse_tensor"):
            return self.add_sparse(row.sparse_tensor, folder)
        if row.graphs:
            return self._terms.new_site()
        if row.tensors or row.sparse_tensors:
            tensors = [self.add(tensor, folder) for tensor in row.tensors]
            return (*tensors, *(self.add_sparse(tensor, folder) for tensor in row.sparse_tensors))
        return attribute_value(row)

    def add_sparse(self, tensor: onnx.SparseTensorProto, folder: Path | None) -> int:
        """The term of a sparse tensor: equal bytes give equal terms, and no rule reads its elements.

        Raises:
            PadopsError: It cannot be read.
        """
        heads = [self._terms.head(self.add(part, folder)) for part in (tensor.values, tensor.indices)]
        said = [tuple(tensor.dims), *((head.type, head.dims, head.digest) for head in heads)]
        return self._terms.add(Head(Kind.CONSTANT, name="sparse", digest=hashlib.sha256(repr(said).encode()).digest()))

    def _external(self, tensor: onnx.TensorProto, dims: tuple[int, ...], folder: Path | None) -> int:
        location, offset, length = check_entries(tensor, "a constant")
        if folder is None:
            raise PadopsError(f"constant '{tensor.name}' lies in the file {location!r}, but no folder is given")
        path = folder / location
        length = min(length, _bytes_of(tensor, dims))
        if length <= HELD:
            return self._terms.add_constant(_read(_with_data(tensor, path, offset, length)), tensor.data_type)
        digest = (b"\2" if _packed_bits(tensor.data_type) else b"\1") + self._digest(path, offset, length)
        return self._terms.add_stored(tensor.data_type, dims, digest, lambda: None)

    def _digest(self, path: Path, offset: int, length: int) -> bytes:
        """The SHA-256 of a range of a file, read block by block."""
        with os_errors_as("cannot read", path), open(path, "rb") as file:
            state = os.fstat(file.fileno())
            key = (state.st_dev, state.st_ino, state.st_mtime_ns, offset, length)
            if key in self._digests:
                return self._digests[key]
            digest, left = hashlib.sha256(), length
            file.seek(offset)
            while left:
                block = file.read(min(left, BLOCK))
                if not block:
                    raise PadopsError(
                        f"{path} ends {plural(left, 'byte')} before the constant that lies in it from {offset} on"
                    )
                digest.update(block)
                left -= len(block)
        return self._digests.setdefault(key, digest.digest())


def _bytes_of(tensor: onnx.TensorProto, dims: tuple[int, ...]) -> int:
    """The bytes of a tensor in a file; 4-bit and 2-bit types are packed."""
    if bits := _packed_bits(tensor.data_type):
        return (prod(dims) * bits + 7) // 8
    return prod(dims) * int(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize)


def _packed_bits(dtype: int) -> int:
    """The bits of a packed element type; 0 for another type."""
    name = str(TensorProto.DataType.Name(dtype))
    return 2 if name in ("INT2", "UINT2") else 4 if name in ("INT4", "UINT4", "FLOAT4E2M1") else 0


def _strings(tensor: onnx.TensorProto) -> np.ndarray:
    if len(tensor.string_data) != prod(tensor.dims):
        has = f"has {len(tensor.string_data)} strings, its dims {list(tensor.dims)}"
        raise PadopsError(f"constant '{tensor.name}' {has}")
    return np.array(list(tensor.string_data), object).reshape(tuple(tensor.dims))


def _with_data(tensor: onnx.TensorProto, path: Path, offset: int, length: int) -> onnx.TensorProto:
    """An external tensor with its bytes inside. onnx itself refuses symbolic links, which caches use."""
    with os_errors_as("cannot read", path), open(path, "rb") as file:
        file.seek(offset)
        data = file.read(length)
    if len(data) < length:
        left = length - len(data)
        raise PadopsError(f"{path} ends {plural(left, 'byte')} before the constant that lies in it from {offset} on")
    return onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=data)


def _read(tensor: onnx.TensorProto) -> np.ndarray:
    with library_errors(f"constant '{tensor.name}'"):
        return numpy_helper.to_array(tensor)
