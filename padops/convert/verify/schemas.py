"""Reads imports, versions, attributes with defaults, and element types from models and schemas."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any

import onnx

from padops.spec.dialects import DOMAIN, OPS

FLOAT, INT, STRING = onnx.AttributeProto.FLOAT, onnx.AttributeProto.INT, onnx.AttributeProto.STRING
INTEGERS = tuple(onnx.TensorProto.DataType.Value(f"{sign}INT{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64))


def imports_of(message: onnx.ModelProto | onnx.FunctionProto) -> dict[str, int]:
    return {plain_domain(row.domain): row.version for row in message.opset_import}


def is_fallback(function: onnx.FunctionProto) -> bool:
    """Returns whether a function is a fallback: it runs in place of an operator of padops if the library is absent."""
    return function.domain == DOMAIN and function.name in OPS


def plain_domain(domain: str) -> str:
    """Returns the domain, or ``""`` for ``"ai.onnx"``: both are names of ONNX's own domain."""
    return "" if domain == "ai.onnx" else domain


def type_name(dtype: int) -> str:
    """Returns the name of an element type, in lower case; ``dtype`` is a number of ``onnx.TensorProto``."""
    return str(onnx.TensorProto.DataType.Name(dtype)).lower()


@lru_cache(None)
def schema(domain: str, op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def version_of(domain: str, op_type: str, opset: int) -> int:
    """Returns the ``since_version`` of the operator in an opset; the opset itself if onnx has no schema."""
    found = None if domain == DOMAIN else schema(domain, op_type, opset)
    return opset if found is None else found.since_version


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """Returns a hashable value for an attribute without graphs or tensors; two values are equal only for equal bits."""
    kind = attribute.type
    if kind in (INT, STRING):
        return attribute.i if kind == INT else attribute.s
    if kind in (onnx.AttributeProto.INTS, onnx.AttributeProto.STRINGS):
        return tuple(attribute.ints or attribute.strings)
    bare = deepcopy(attribute)
    bare.DiscardUnknownFields()
    for field, _ in attribute.ListFields():
        if field.name in ("name", "type", "doc_string") or (kind == FLOAT and field.name != "f"):
            bare.ClearField(field.name)
    data = bare.SerializeToString(deterministic=True)  # a Python float would make a signalling NaN quiet
    return (data[-4:] or bytes(4)) if kind == FLOAT else data


@lru_cache(None)
def defaults_of(domain: str, op_type: str, opset: int) -> tuple[tuple[str, int, Any], ...]:
    """Returns the names, types and values of an operator's default attributes."""
    if domain == DOMAIN:
        given = OPS[op_type].attributes if op_type in OPS else ()
        defaults = [onnx.helper.make_attribute(row.name, row.default) for row in given
                    if isinstance(row.default, (str, float))]  # fmt: skip
    else:
        found = schema(domain, op_type, opset)
        defaults = [] if found is None else [row.default_value for _, row in sorted(found.attributes.items())]
    return tuple((row.name, row.type, attribute_value(row)) for row in defaults if row.type)


@lru_cache(None)
def takes(op_type: str, version: int, dtype: int) -> bool:
    """Returns whether the first input of an ONNX operator may have an element type."""
    found = schema("", op_type, version)
    return found is not None and f"tensor({type_name(dtype)})" in found.inputs[0].types
