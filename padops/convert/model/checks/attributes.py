"""Whether the attributes of a node say one thing, and of the type that they name."""

from __future__ import annotations

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.checks.tensors import check_tensor

Attribute = onnx.AttributeProto

# The field that has the value of an attribute, by its type.
FIELDS = {
    Attribute.FLOAT: "f",
    Attribute.INT: "i",
    Attribute.STRING: "s",
    Attribute.TENSOR: "t",
    Attribute.GRAPH: "g",
    Attribute.TYPE_PROTO: "tp",
    Attribute.FLOATS: "floats",
    Attribute.INTS: "ints",
    Attribute.STRINGS: "strings",
    Attribute.TENSORS: "tensors",
    Attribute.GRAPHS: "graphs",
    Attribute.TYPE_PROTOS: "type_protos",
}
MESSAGES = {"t", "g", "tp"}  # whose absence is no value; an absent number is 0, as in an empty list
VALUES = {*FIELDS.values(), "sparse_tensor", "sparse_tensors"}


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
        raise PadopsError(f"{place} is of type {attribute.type}, which no attribute has")
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
