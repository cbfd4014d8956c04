"""What onnx says of operators: since when they are as they are, what their attributes are by default, which types they take."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import onnx

FLOAT, INT, STRING, TENSOR, GRAPH = (
    onnx.AttributeProto.FLOAT,
    onnx.AttributeProto.INT,
    onnx.AttributeProto.STRING,
    onnx.AttributeProto.TENSOR,
    onnx.AttributeProto.GRAPH,
)
PADOPS = "padops"
# Defaults of the operators of padops: docs/semantics.md has the table.
_MODE = ("mode", STRING, b"constant")
_ZERO = ("value", FLOAT, np.float32(0).tobytes())
_PADOPS_DEFAULTS: dict[str, tuple[tuple[str, int, Any], ...]] = {
    "Pad_1": (_MODE, _ZERO),
    "Pad_2": (_MODE, _ZERO),
    "NGraphPad_0": (("pad_mode", STRING, b"CONSTANT"),),
    "SamePad_1": (("auto_pad", STRING, b"SAME_UPPER"), ("data_format", STRING, b"NCHW"), _MODE),
}
OPERATORS = {f"Pad_{version}" for version in (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)} | {
    "NGraphPad_0",
    "OpenVINOPad_1",
    "OpenVINOPad_12",
    "SamePad_1",
}
# Versions of one operator that say the same of the types that both take: the changelog of onnx names more types, or
# more ways to write what could be written before, and nothing else. Sources: docs/Changelog.md of onnx, "Version 13 of
# the default ONNX operator set" (bfloat16), "14" (integers for Relu, Add, ...; CumSum), "16" (Where, LeakyRelu, ...),
# and what onnx.defs says of types and attributes, which tests/convert/proof/test_schemas.py compares.
SAME_VERSIONS: dict[str, tuple[int, ...]] = {
    "Abs": (6, 13),
    "Add": (7, 13, 14),
    "Ceil": (6, 13),
    "Concat": (11, 13),
    "Div": (7, 13, 14),
    "Equal": (7, 11, 13, 19),
    "Erf": (9, 13),
    "Exp": (6, 13),
    "Expand": (8, 13),
    "Floor": (6, 13),
    "Gather": (11, 13),
    "GatherElements": (11, 13),
    "Gemm": (11, 13),
    "LeakyRelu": (6, 16),
    "Log": (6, 13),
    "MatMul": (1, 9, 13),
    "Mul": (7, 13, 14),
    "Neg": (6, 13),
    "PRelu": (9, 16),
    "Relu": (6, 13, 14),
    "Sigmoid": (6, 13),
    "Sqrt": (6, 13),
    "Sub": (7, 13, 14),
    "Tanh": (6, 13),
    "Tile": (6, 13),
    "Transpose": (1, 13, 21, 23, 24, 25),
    "Where": (9, 16),
}


@lru_cache(None)
def schema(domain: str, op_type: str, opset: int) -> onnx.defs.OpSchema | None:
    """The schema of an operator in an opset of its domain; None where onnx has none."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


@lru_cache(None)
def version_of(domain: str, op_type: str, opset: int) -> int:
    """Since when the operator is as it is in this opset; the opset itself where onnx does not know it."""
    found = None if domain == PADOPS else schema(domain, op_type, opset)
    return opset if found is None else found.since_version


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """What an attribute says, so that equal bits and nothing else are equal; graphs and tensors are not asked for."""
    kind = attribute.type
    if kind == FLOAT:
        return _float_bits(attribute)
    if kind == INT:
        return attribute.i
    if kind == STRING:
        return attribute.s
    if kind == onnx.AttributeProto.INTS:
        return tuple(attribute.ints)
    if kind == onnx.AttributeProto.FLOATS:
        return b"".join(_float_bits(onnx.AttributeProto(f=value)) for value in attribute.floats)
    if kind == onnx.AttributeProto.STRINGS:
        return tuple(attribute.strings)
    bare = onnx.AttributeProto()
    bare.CopyFrom(attribute)
    bare.ClearField("doc_string")
    return bare.SerializeToString(deterministic=True)


def _float_bits(attribute: onnx.AttributeProto) -> bytes:
    """The four bytes of a float as the message has it; by way of Python's float a signalling NaN would lose its mark."""
    if not np.isnan(attribute.f):
        return bytes(np.float32(attribute.f).tobytes())
    bare = onnx.AttributeProto()
    bare.CopyFrom(attribute)
    for field in ("name", "type", "doc_string"):
        bare.ClearField(field)
    return bytes(bare.SerializeToString()[-4:])


@lru_cache(None)
def defaults_of(domain: str, op_type: str, opset: int) -> tuple[tuple[str, int, Any], ...]:
    """Names, types and values of the attributes that a node has when it says nothing of them."""
    if domain == PADOPS:
        return _PADOPS_DEFAULTS.get(op_type, (_MODE,) if op_type.startswith("Pad_") else ())
    found = schema(domain, op_type, opset)
    rows = {} if found is None else {name: row.default_value for name, row in found.attributes.items()}
    return tuple((name, row.type, attribute_value(row)) for name, row in sorted(rows.items()) if row.type)


def are_same_version(op_type: str, one: int, other: int) -> bool:
    """Whether two versions of an operator of ONNX differ in nothing but the types that they take."""
    versions = SAME_VERSIONS.get(op_type, ())
    return one == other or (one in versions and other in versions)


@lru_cache(None)
def takes(op_type: str, version: int, dtype: int, last: bool = False) -> bool:
    """Whether the first input of an operator of ONNX may have an element type."""
    found = schema("", op_type, version)
    if found is None:
        return False
    return f"tensor({onnx.TensorProto.DataType.Name(dtype).lower()})" in found.inputs[-1 if last else 0].types
