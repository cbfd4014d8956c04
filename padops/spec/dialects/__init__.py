"""The operators of the domain ``padops``: one row each, and a function that turns a node into a plan.

A dialect knows how its specification spells a Pad: which inputs and attributes carry the amounts, which modes it has
and how negative amounts act. It knows nothing of element types beyond their names, and nothing of ONNX Runtime. The
native library holds the same table in ``csrc/core/dialects.cpp``; ``tests/csrc/test_describe.py`` compares the two.
"""

from __future__ import annotations

from padops.spec.dialects import ngraph_pad, onnx_pad, openvino_pad, same_pad
from padops.spec.dialects.node import INTEGER_KINDS, Attribute, Input, Node, Op, make_node_plan
from padops.spec.dialects.onnx_pad import onnx_op
from padops.spec.dialects.same_pad import same_padding

DOMAIN = "padops"
VERSION = 1

OPS: dict[str, Op] = {
    op.name: op for op in (*onnx_pad.ops(), openvino_pad.op(1), openvino_pad.op(12), ngraph_pad.op(), same_pad.op())
}

__all__ = [
    "DOMAIN",
    "INTEGER_KINDS",
    "OPS",
    "VERSION",
    "Attribute",
    "Input",
    "Node",
    "Op",
    "make_node_plan",
    "onnx_op",
    "same_padding",
]
