"""The Python kernel of the domain ``padops.pyop``; see ``padops/runtime/pyop.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.sources.match import Replacement, Unconvertible
from padops.convert.targets.placing import set_operator, values
from padops.runtime import pyop
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_numpy

IN_PYTHON = f"in Python, as {pyop.DOMAIN}::{pyop.OP_TYPE}"
STRINGS_END_AT_NUL = "onnxruntime-extensions ends a string at its first NUL"


def emit(replacement: Replacement, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    """Turns the node into the operator of the replacement, in Python; it stays the same node.

    Raises:
        Unconvertible: It cannot be one; nothing has been changed.
    """
    type_name = _type(replacement, site, types)
    if (reason := pyop.refusal(type_name)) is not None:
        raise Unconvertible(reason)
    attributes = {name: _plain(attribute) for name, attribute in replacement.attributes.items()}
    given = [value is not None for value in replacement.inputs]
    texts = pyop.encode(replacement.op_type, attributes, given, site.node.name or "")
    inputs = [value for value in values(replacement, site, constants) if value is not None]
    if len(inputs) < pyop.SLOTS:
        empty = constants.add(np.zeros(0, np.int64), site, "absent")
        inputs += [empty] * (pyop.SLOTS - len(inputs))
    operator = (pyop.DOMAIN, pyop.VERSION, pyop.OP_TYPE)
    set_operator(site, operator, inputs, [ir.AttrString(name, text) for name, text in texts.items()])
    return (IN_PYTHON, STRINGS_END_AT_NUL) if type_name == "string" else (IN_PYTHON,)


def _type(replacement: Replacement, site: NodeSite, types: Types) -> str | None:
    """The element type of the data, which the fill and the output have too."""
    position = OPS[replacement.op_type].input_index(OPS[replacement.op_type].fill)
    same = [replacement.inputs[i] for i in (0, position) if i is not None and i < len(replacement.inputs)]
    for value in same:
        if isinstance(value, np.ndarray):
            return by_numpy(value.dtype).name
    return types.name(*same, *site.node.outputs)


def _plain(attribute: ir.Attr) -> Any:
    """The value of an attribute as JSON has it."""
    if attribute.is_ref():
        raise Unconvertible(
            f"its attribute {attribute.name} is given by the caller of the function, and a Python kernel has its own "
            "attributes only"
        )
    value = attribute.value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return list(value) if isinstance(value, (tuple, list)) else value
