"""The Python kernel of the domain ``padops.pyop``; see ``padops/runtime/pyop.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.pad_info import PadInfo
from padops.convert.targets.native import set_operator, values
from padops.spec import pyop_node

IN_PYTHON = f"in Python, as {pyop_node.DOMAIN}::{pyop_node.OP_TYPE}"
STRINGS_END_AT_NUL = "onnxruntime-extensions ends a string at its first NUL"


def check(pad: PadInfo, site: NodeSite) -> None:
    """Refuses a Pad that the kernel cannot do.

    Raises:
        Unconvertible: The kernel lacks the type, or a function's caller gives an attribute.
    """
    if (reason := pyop_node.refusal(pad.type)) is not None:
        raise Unconvertible(reason)
    for attribute in pad.attributes.values():
        _plain(attribute)


def emit(pad: PadInfo, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    """Turns the node into the Pad's operator, in Python; it keeps its name, outputs and metadata.

    Raises:
        Unconvertible: As ``check``; nothing has been changed.
    """
    check(pad, site)
    attributes = {name: _plain(attribute) for name, attribute in pad.attributes.items()}
    given = [value is not None for value in pad.given]
    texts = pyop_node.encode(pad.op.name, attributes, given, pad.name)
    inputs = [value for value in values(pad, site, constants) if value is not None]
    if len(inputs) < pyop_node.SLOTS:
        empty = constants.add(np.zeros(0, np.int64), site, "absent")
        inputs += [empty] * (pyop_node.SLOTS - len(inputs))
    operator = (pyop_node.DOMAIN, pyop_node.VERSION, pyop_node.OP_TYPE)
    set_operator(site, operator, inputs, [ir.AttrString(name, text) for name, text in texts.items()])
    return (IN_PYTHON, STRINGS_END_AT_NUL) if pad.type == "string" else (IN_PYTHON,)


def _plain(attribute: ir.Attr) -> Any:
    """The value of an attribute, for JSON."""
    if attribute.is_ref():
        raise Unconvertible(
            f"its attribute {attribute.name} is given by the caller of the function, and a Python kernel has its own "
            "attributes only"
        )
    value = attribute.value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return list(value) if isinstance(value, (tuple, list)) else value
