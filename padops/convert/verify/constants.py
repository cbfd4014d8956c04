"""Gives constants of equal type, dims and bytes the same term. Large external data are hashed, never kept in memory."""

from __future__ import annotations

from functools import partial
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, numpy_helper

from padops.convert.errors import PadopsError, library_errors, os_errors_as
from padops.convert.model.external import check_entries
from padops.convert.verify.schemas import attribute_value
from padops.convert.verify.terms import Head, Kind, Terms, digest_of
from padops.plural import plural

HELD = 1 << 20  # the most bytes of an external constant that is read into memory
_BY_ATTRIBUTE = (  # attributes of Constant, their element type and NumPy type; PyTorch writes strings as ``value``
    (("value_int", "value_ints"), TensorProto.INT64, np.int64),
    (("value_float", "value_floats"), TensorProto.FLOAT, np.float32),
    (("value_string", "value_strings", "value"), TensorProto.STRING, object),
)


class Constants:
    """The constants of both models; a file range that both use is hashed once."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._digests: dict[tuple[object, ...], bytes] = {}

    def add(self, tensor: onnx.TensorProto, folder: Path | None) -> int:
        if tensor.data_location == TensorProto.EXTERNAL:
            return self._external(tensor, folder)
        array = _read(tensor)
        digest = digest_of(array)
        read = (lambda: array) if array.nbytes <= HELD else partial(_read, tensor)
        return self.terms.add_stored(tensor.data_type, array.shape, digest, read)

    def of_attribute(self, row: onnx.AttributeProto, folder: Path | None) -> int | None:
        """Returns the term of a Constant with this one attribute; None if the attribute is unknown or sparse."""
        if row.name == "value" and row.HasField("t"):
            return self.add(row.t, folder)
        for names, number, dtype in _BY_ATTRIBUTE:
            if row.name in names and (row.name != "value" or row.type == onnx.AttributeProto.STRING):
                return self.terms.add_constant(np.array(onnx.helper.get_attribute_value(row), dtype), number)
        return None

    def of_any(self, row: onnx.AttributeProto, folder: Path | None) -> Any:
        """Returns an attribute's value, or its tensor's term. Two lists of tensors, or of graphs, are never equal."""
        if row.HasField("t"):
            return self.add(row.t, folder)
        if row.HasField("sparse_tensor"):
            return self.add_sparse(row.sparse_tensor, folder)
        return object() if row.graphs or row.tensors or row.sparse_tensors else attribute_value(row)

    def add_sparse(self, tensor: onnx.SparseTensorProto, folder: Path | None) -> int:
        """Returns the term of a sparse tensor: equal bytes have equal terms, and no rule reads the elements."""
        heads = [self.terms.head(self.add(part, folder)) for part in (tensor.values, tensor.indices)]
        said = [tuple(tensor.dims), *((head.type, head.dims, head.digest) for head in heads)]
        return self.terms.add(Head(Kind.CONSTANT, name="sparse", digest=sha256(repr(said).encode()).digest()))

    def _external(self, tensor: onnx.TensorProto, folder: Path | None) -> int:
        location, offset, given = check_entries(tensor, "a constant")
        if folder is None:
            raise PadopsError(f"constant '{tensor.name}' lies in the file {location!r}, but no folder is given")
        path, dims, bits = folder / location, tuple(tensor.dims), ir.DataType(tensor.data_type).bitwidth
        length = min(given, (prod(dims) * bits + 7) // 8)
        if length <= HELD:
            data = _part(path, offset, length).tobytes()
            array = _read(TensorProto(name=tensor.name, data_type=tensor.data_type, dims=dims, raw_data=data))
            return self.terms.add_constant(array, tensor.data_type)
        with os_errors_as("cannot read", path):
            state = path.stat()
        key = (state.st_dev, state.st_ino, state.st_mtime_ns, offset, length)
        if key not in self._digests:
            self._digests[key] = sha256(_part(path, offset, length).data).digest()
        return self.terms.add_stored(tensor.data_type, dims, self._digests[key], lambda: None)


def _part(path: Path, offset: int, length: int) -> np.ndarray:
    """Maps a part of a file into memory. onnx's own reader refuses symbolic links, which caches use."""
    with os_errors_as("cannot read", path):
        if (lacking := offset + length - path.stat().st_size) > 0:
            lies = f"before the end of the constant that begins at offset {offset}"
            raise PadopsError(f"{path} ends {plural(lacking, 'byte')} {lies}")
        return np.memmap(path, np.uint8, "r", offset, (length,)) if length else np.empty(0, np.uint8)


def _read(tensor: onnx.TensorProto) -> np.ndarray:
    with library_errors(f"constant '{tensor.name}'"):
        if tensor.data_type == TensorProto.STRING:  # strings may be bytes that are not text
            return np.array([*tensor.string_data], object).reshape(tuple(tensor.dims))
        return numpy_helper.to_array(tensor)
