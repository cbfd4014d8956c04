"""Whether type, dims and elements of a tensor fit together."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import onnx
import onnx_ir as ir

from padops.convert.errors import PadopsError

MAX_ELEMENTS = (1 << 63) - 1

Tensor = onnx.TensorProto

# The field that has the elements of a type where there are no raw data, and how many entries an element takes.
FIELDS: dict[int, tuple[str, int]] = {
    Tensor.FLOAT: ("float_data", 1),
    Tensor.COMPLEX64: ("float_data", 2),
    Tensor.DOUBLE: ("double_data", 1),
    Tensor.COMPLEX128: ("double_data", 2),
    Tensor.INT64: ("int64_data", 1),
    Tensor.UINT32: ("uint64_data", 1),
    Tensor.UINT64: ("uint64_data", 1),
    Tensor.STRING: ("string_data", 1),
}
OTHERS = ("int32_data", 1)  # of all smaller types; those of 4 and 2 bits share an entry as they share a byte


def check_tensor(tensor: onnx.TensorProto, place: str) -> None:
    """Refuses a tensor that cannot be read; of external data only type and dims are looked at. Messages name ``place``.

    Raises:
        PadopsError: Its element type is none, or its elements are more or fewer than its dims say.
    """
    bits = _bits(tensor, place)
    if lowest := min((dim for dim in tensor.dims if dim < 0), default=0):
        raise PadopsError(f"{place}: dims {_listed(tensor.dims)} have the negative size {lowest}")
    count = prod(tensor.dims)
    if count > MAX_ELEMENTS:
        raise PadopsError(f"{place}: dims {_listed(tensor.dims)} are more than {MAX_ELEMENTS} elements")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return
    if tensor.HasField("raw_data") and tensor.data_type != Tensor.STRING:
        present, needed, field, unit = len(tensor.raw_data), (count * bits + 7) // 8, "raw_data", "bytes"
    else:
        field, entries = FIELDS.get(tensor.data_type, OTHERS)
        if field != "int32_data" and tensor.int32_data:  # which would be read instead
            raise PadopsError(f"{place}: it has {len(tensor.int32_data)} values in int32_data beside those in {field}")
        present, unit = len(getattr(tensor, field)), "values"
        needed = (count * bits + 7) // 8 if bits and bits < 8 else count * entries
    if present != needed:
        name = ir.DataType(tensor.data_type).name.lower()
        raise PadopsError(f"{place}: {present} {unit} in {field}, {name} of dims {_listed(tensor.dims)} needs {needed}")


def _bits(tensor: onnx.TensorProto, place: str) -> int:
    """Bits of an element, 0 for strings."""
    try:
        dtype = ir.DataType(tensor.data_type)
    except ValueError:
        dtype = ir.DataType.UNDEFINED
    if dtype == ir.DataType.UNDEFINED:
        raise PadopsError(f"{place}: {tensor.data_type} is no element type that onnx {onnx.__version__} knows")
    return 0 if dtype == ir.DataType.STRING else dtype.bitwidth


def _listed(dims: Iterable[int], most: int = 16) -> str:
    """Dims for a message, which has no room for thousands of them."""
    shown = [str(dim) for dim in dims]
    return f"[{', '.join(shown[:most])}{', …' if len(shown) > most else ''}]"
