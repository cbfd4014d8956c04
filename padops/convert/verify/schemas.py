"""The operators' schemas in onnx: versions, attribute defaults, element types."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import Any

import numpy as np
import onnx

FLOAT, INT, STRING = onnx.AttributeProto.FLOAT, onnx.AttributeProto.INT, onnx.AttributeProto.STRING
PADOPS = "padops"
# Attribute defaults of padops' operators, from the table in docs/semantics.md.
_MODE = ("mode", STRING, b"constant")
_ZERO = ("value", FLOAT, np.float32(0).tobytes())
_PADOPS_DEFAULTS: dict[str, tuple[tuple[str, int, Any], ...]] = {
    "Pad_1": (_MODE, _ZERO),
    "Pad_2": (_MODE, _ZERO),
    "NGraphPad_0": (("pad_mode", STRING, b"CONSTANT"),),
    "SamePad_1": (("auto_pad", STRING, b"SAME_UPPER"), ("data_format", STRING, b"NCHW"), _MODE),
}
VERSIONS = (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)  # of ONNX's Pad
OPERATORS = {"NGraphPad_0", "OpenVINOPad_1", "OpenVINOPad_12", "SamePad_1", *(f"Pad_{number}" for number in VERSIONS)}


def plain_domain(domain: str) -> str:
    """A domain, with ``""`` for ``"ai.onnx"``, its other name."""
    return "" if domain == "ai.onnx" else domain


def type_name(dtype: int) -> str:
    """The name of an element type, in lower case; ``dtype`` is as ``onnx.TensorProto`` numbers it."""
    return str(onnx.TensorProto.DataType.Name(dtype)).lower()


@lru_cache(None)
def schema(domain: str, op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    """The schema of an operator in an opset of its domain; None if onnx has none."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


@lru_cache(None)
def version_of(domain: str, op_type: str, opset: int) -> int:
    """The ``since_version`` of the operator in an opset; the opset itself if onnx has no schema."""
    found = None if domain == PADOPS else schema(domain, op_type, opset)
    return opset if found is None else found.since_version


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """A hashable value of an attribute, equal only for equal bits. Not for graphs and tensors."""
    kind = attribute.type
    if kind == FLOAT:
        return _float_bits(attribute)
    if kind == INT:
        return attribute.i
    if kind == STRING:
        return attribute.s
    if kind == onnx.AttributeProto.INTS:
        return tuple(attribute.ints)
    if kind == onnx.AttributeProto.FLOATS and not np.isnan(attribute.floats).any():
        return np.array(attribute.floats, np.float32).tobytes()
    if kind == onnx.AttributeProto.STRINGS:
        return tuple(attribute.strings)
    bare = deepcopy(attribute)
    bare.ClearField("doc_string")
    return bare.SerializeToString(deterministic=True)


def _float_bits(attribute: onnx.AttributeProto) -> bytes:
    """The 4 bytes of a float as the message has them: as a Python float, a signalling NaN would become quiet."""
    if not np.isnan(attribute.f):
        return bytes(np.float32(attribute.f).tobytes())
    bare = deepcopy(attribute)
    for field in ("name", "type", "doc_string"):
        bare.ClearField(field)
    return bytes(bare.SerializeToString()[-4:])


@lru_cache(None)
def defaults_of(domain: str, op_type: str, opset: int) -> tuple[tuple[str, int, Any], ...]:
    """The names, types and values of an operator's default attributes."""
    if domain == PADOPS:
        return _PADOPS_DEFAULTS.get(op_type, (_MODE,) if op_type.startswith("Pad_") else ())
    found = schema(domain, op_type, opset)
    rows = {} if found is None else {name: row.default_value for name, row in found.attributes.items()}
    return tuple((name, row.type, attribute_value(row)) for name, row in sorted(rows.items()) if row.type)


@lru_cache(None)
def takes(op_type: str, version: int, dtype: int) -> bool:
    """Whether the first input of an ONNX operator may have an element type."""
    found = schema("", op_type, version)
    if found is None:
        return False
    return f"tensor({type_name(dtype)})" in found.inputs[0].types


def numpy_type(dtype: int) -> np.dtype:
    """NumPy's type of an element type."""
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(dtype))
