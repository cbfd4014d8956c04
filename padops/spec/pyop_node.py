"""The node for the Python kernel: one operator, ``Pad`` of the domain ``padops.pyop``, for all operators of padops.

``padops/runtime/pyop.py`` has the kernel, and explains why it always has ``SLOTS`` inputs and only string attributes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from padops.spec.dialects import OPS

DOMAIN = "padops.pyop"
VERSION = 1
OP_TYPE = "Pad"
SLOTS = 4  # the most inputs of any operator; every converted model depends on this number
ATTRIBUTES = ("op", "node", "given", "attributes")
# fmt: off
TYPES = ("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "double", "uint32", "uint64")
# fmt: on


def refusal(type_name: str | None) -> str | None:
    """Return why a Pad of this element type cannot be a Python kernel, or None if it can.

    ``type_name`` is None if only ONNX Runtime infers the type, when it loads the model. The function accepts such a
    type: ONNX Runtime itself refuses a type without a kernel.
    """
    if type_name is None or type_name in TYPES:
        return None
    return f"its data are {type_name}: onnxruntime-extensions aborts the process if it passes this type to Python"


def encode(op_type: str, attributes: Mapping[str, Any], given: Sequence[bool], node: str = "") -> dict[str, str]:
    """Return the attributes of the ``padops.pyop`` node that is equivalent to a ``padops`` node.

    The new node's inputs are the ``given`` inputs, in their order, then empty tensors up to ``SLOTS`` inputs. A float
    attribute becomes the integer of its 32 bits, because JSON does not keep the bits of a NaN.
    """
    op = OPS[op_type]
    floats = {row.name for row in op.attributes if row.type == "float"}
    with np.errstate(over="ignore"):
        plain = {
            name: int(np.float32(value).view(np.uint32)) if name in floats else value
            for name, value in attributes.items()
        }
    names = [row.name for row, there in zip(op.inputs, given) if there]
    texts = (op_type, node, " ".join(names), json.dumps(plain, sort_keys=True))
    return dict(zip(ATTRIBUTES, texts, strict=True))


def decode(fields: Mapping[str, str], arrays: Sequence[Any]) -> tuple[str, dict[str, Any], list[Any], str]:
    """Return the node that :func:`encode` encoded: operator, attributes, inputs (None if absent) and name."""
    op = OPS[fields["op"]]
    floats = {row.name for row in op.attributes if row.type == "float"}
    attributes = {
        name: np.uint32(value).view(np.float32) if name in floats else value
        for name, value in json.loads(fields["attributes"]).items()
    }
    present = dict(zip(fields["given"].split(), arrays))
    return op.name, attributes, [present.get(row.name) for row in op.inputs], fields["node"]
