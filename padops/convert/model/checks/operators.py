"""Refuses wrong numbers of inputs and outputs, attributes with values of other types, tensors that do not fit dims."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from math import prod

import onnx
import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.plural import plural

# Exporters write Pad in forms of other versions, which the converter knows; ONNX Runtime does not count what Constant
# has.
NOT_COUNTED = ("Pad", "Constant")

Counts = tuple[tuple[int, int], tuple[int, int]]


def default_version(imports: Mapping[str, int], ir_version: int) -> int | None:
    """The version of the default domain among imports, or None where none is meant; before IR 3 models meant 1."""
    before_imports = 1 if ir_version < 3 else None
    return imports.get("", before_imports)


def check_counts(node: onnx.NodeProto, version: int | None, functions: Collection[str], label: str) -> None:
    """Refuses a node of the default domain with too few or too many inputs or outputs; ``label`` names it.

    ``functions`` are the names of the model's functions in the default domain, of which ``version`` is imported.

    Raises:
        PadopsError: With the numbers.
    """
    known = node.domain == "" and version is not None and version <= onnx.defs.onnx_opset_version()
    if not known or node.op_type in NOT_COUNTED or node.op_type in functions:
        return
    counts = _counts(node.op_type, version)
    if counts is None:
        return
    for what, names, (least, most) in zip(("input", "output"), (node.input, node.output), counts):
        if not least <= len(names) <= most:
            expected = f"at least {least}" if len(names) < least else f"at most {most}"
            raise PadopsError(
                f"{label} has {plural(len(names), what)}; {node.op_type} of version {version} has {expected}"
            )


@lru_cache(maxsize=4096)
def _counts(op_type: str, version: int) -> Counts | None:
    """The least and the most inputs and outputs of an operator, or None where onnx does not know it."""
    try:
        schema = onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None
    return (schema.min_input, schema.max_input), (schema.min_output, schema.max_output)


MAX_ELEMENTS = (1 << 63) - 1

Tensor = onnx.TensorProto

# The field that has the elements of a type where there are no raw data, and how many entries an element takes.
ELEMENT_FIELDS: dict[int, tuple[str, int]] = {
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
        raise PadopsError(f"{place}: dims {_listed(tensor.dims)} make more than {MAX_ELEMENTS} elements")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return
    if tensor.HasField("raw_data") and tensor.data_type != Tensor.STRING:
        present, needed, field, unit = len(tensor.raw_data), (count * bits + 7) // 8, "raw_data", "byte"
    else:
        field, entries = ELEMENT_FIELDS.get(tensor.data_type, OTHERS)
        if field != "int32_data" and tensor.int32_data:  # which would be read instead
            raise PadopsError(
                f"{place}: it has {plural(len(tensor.int32_data), 'value')} in int32_data beside those in {field}"
            )
        present, unit = len(getattr(tensor, field)), "value"
        needed = (count * bits + 7) // 8 if bits and bits < 8 else count * entries
    if present != needed:
        name = ir.DataType(tensor.data_type).name.lower()
        raise PadopsError(
            f"{place}: {plural(present, unit)} in {field}, {name} of dims {_listed(tensor.dims)} needs {needed}"
        )


def _bits(tensor: onnx.TensorProto, place: str) -> int:
    """Bits of an element, 0 for strings."""
    try:
        dtype = ir.DataType(tensor.data_type)
    except ValueError:
        dtype = ir.DataType.UNDEFINED
    if dtype == ir.DataType.UNDEFINED:
        raise PadopsError(f"{place}: onnx {onnx.__version__} knows no element type {tensor.data_type}")
    return 0 if dtype == ir.DataType.STRING else dtype.bitwidth


def _listed(dims: Iterable[int], most: int = 16) -> str:
    """Dims for a message, which has no room for thousands of them."""
    shown = [str(dim) for dim in dims]
    return f"[{', '.join(shown[:most])}{', …' if len(shown) > most else ''}]"


Attribute = onnx.AttributeProto

# The field that has the value of an attribute, by its type.
FIELDS = {
    Attribute.FLOAT: "f",
    Attribute.INT: "i",
    Attribute.STRING: "s",
    Attribute.TENSOR: "t",
    Attribute.SPARSE_TENSOR: "sparse_tensor",
    Attribute.GRAPH: "g",
    Attribute.TYPE_PROTO: "tp",
    Attribute.FLOATS: "floats",
    Attribute.INTS: "ints",
    Attribute.STRINGS: "strings",
    Attribute.TENSORS: "tensors",
    Attribute.GRAPHS: "graphs",
    Attribute.TYPE_PROTOS: "type_protos",
}
MESSAGES = {"t", "sparse_tensor", "g", "tp"}  # whose absence is no value; an absent number is 0, as in an empty list
VALUES = {*FIELDS.values(), "sparse_tensors"}


def check_attribute(attribute: onnx.AttributeProto, owner: str, inside_function: bool) -> None:
    """Refuses an attribute whose value is not of its type, or that refers to a function's where there is none.

    Raises:
        PadopsError: Says what is wrong with it.
    """
    place = f"{owner}: the attribute '{attribute.name}'"
    if not attribute.name:
        raise PadopsError(f"{owner}: an attribute has no name")
    field = FIELDS.get(attribute.type)
    if field is None:
        raise PadopsError(f"{place} has the type {attribute.type}, which ONNX does not define")
    present = {row.name for row, _ in attribute.ListFields()} & VALUES
    if attribute.ref_attr_name:
        if not inside_function:
            raise PadopsError(f"{place} refers to '{attribute.ref_attr_name}' of a function, and stands in none")
        if present:
            raise PadopsError(
                f"{place} refers to '{attribute.ref_attr_name}', and has a value in '{min(present)}' as well"
            )
        return
    kind = Attribute.AttributeType.Name(attribute.type)
    if wrong := present - {field}:
        raise PadopsError(f"{place} is of type {kind}, but has a value in '{min(wrong)}'")
    if field in MESSAGES and not present:
        raise PadopsError(f"{place} is of type {kind}, but has no value")
    if field in ("t", "tensors"):
        for tensor in [attribute.t] if field == "t" else attribute.tensors:
            check_tensor(tensor, f"{place}, tensor '{tensor.name}'")
