"""What the tests of folding share: models at every level of optimisation, and records in short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import native
import numpy as np
import onnx
import roads
from onnx import helper
from small_models import FLOAT, model, pad, tensor

import padops
from padops.convert import Conversion
from padops.runtime.ort_values import run_session


def fold(source: Any, **options: Any) -> Conversion:
    """``padops.convert`` without fallback functions."""
    return padops.convert(source, **{"fallback": False} | options)


def outcomes(conversion: Conversion) -> list[tuple[str, str, tuple[str, ...]]]:
    """Of each Pad: the last part of its path, what became of it, and where to."""
    last = lambda path: path.rpartition("/")[2]
    return [(last(row.path), row.status, tuple(map(last, row.into))) for row in conversion.records]


def operators(message: Any) -> list[str]:
    """The operators of a graph or a function, in order; those of padops with their domain."""
    graph = message.graph if isinstance(message, onnx.ModelProto) else message
    return [f"{node.domain}::{node.op_type}" if node.domain == "padops" else node.op_type for node in graph.node]


def run(message: onnx.ModelProto, feeds: Mapping[str, np.ndarray], level: str = "all") -> list[tuple]:
    """The bits of every output, in a session with the library."""
    options = roads.options(level)
    padops.register(options)
    return [native.bits(array) for array in run_session(native.session(message, options), feeds)]


def padded(
    amounts: Sequence[int],
    op: str | onnx.NodeProto = "Relu",
    *,
    others: Mapping[str, np.ndarray] | None = None,
    kind: int = FLOAT,
    result: int | None = None,
    shape: Sequence[int | str | None] | None = None,
    fill: Any = None,
    opset: int = 17,
    mode: str | None = None,
    **attributes: Any,
) -> onnx.ModelProto:
    """A Pad called ``pad`` in front of one node, whose other inputs are initializers named as the inputs are."""
    others, dtype = others or {}, helper.tensor_dtype_to_np_dtype(kind)
    tensors = [tensor("pads", amounts), *(tensor(n, a, a.dtype) for n, a in others.items())]
    if fill is not None:
        tensors.append(tensor("fill", fill, dtype))
    given = ["x", "pads", *(["fill"] if fill is not None else [])]
    if isinstance(op, str):
        op = helper.make_node(op, ["p", *others], ["y"], "node", **attributes)
    nodes, dims = [pad(given, "p", name="pad", **({"mode": mode} if mode else {})), op], [None] * (len(amounts) // 2)
    return model(nodes, opset, ir_version=9, inputs=[("x", kind, shape or dims)], outputs=[("y", result or kind, dims)],
                 tensors=tensors)  # fmt: skip
