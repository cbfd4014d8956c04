"""Models of one node with ``auto_pad``, and what the tests of it share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper
from small_models import FLOAT, model, tensor

import padops
from padops.convert import Conversion, PadRecord

NAMES = ("n", "c", "h", "w", "d")
WF = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)


def node_model(op: str, shape: Sequence[int | str | None] | None, attributes: Mapping[str, Any],
               tensors: Mapping[str, np.ndarray] | None = None, *, opset: int = 22, domain: str = "",
               outputs: Sequence[tuple[str, int]] = (("y", FLOAT),), type: int = FLOAT) -> onnx.ModelProto:  # fmt: skip
    """A model of one node with the data ``x``; the other inputs are initializers, named as the inputs are."""
    held = tensors or {}
    node = helper.make_node(op, ["x", *held], [o for o, _ in outputs], name="same", domain=domain, **attributes)
    shown = [(name, kind, None if shape is None else [None] * len(shape)) for name, kind in outputs]
    return model([node], opset, ir_version=10, inputs=[("x", type, shape)], outputs=shown,
                 tensors=[tensor(name, array, array.dtype) for name, array in held.items()],
                 imports=[(domain, 1)] if domain else [])  # fmt: skip


def opened(message: onnx.ModelProto, optimised: bool = True) -> Callable[..., list[np.ndarray]]:
    """Return what runs a model, in one session."""
    options = native.session_options()
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = native.session(message, options)
    names = [i.name for i in session.get_inputs()]
    return lambda *feeds: session.run(None, dict(zip(names, feeds, strict=True)))


def run(message: onnx.ModelProto, *feeds: np.ndarray, optimised: bool = True) -> list[np.ndarray]:
    return opened(message, optimised)(*feeds)


def explicit(message: onnx.ModelProto, **options: Any) -> Conversion:
    return padops.convert(message, auto_pad="explicit", **options)


def only_record(conversion: Conversion) -> PadRecord:
    (record,) = conversion.records
    return record


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return native.bits(a) == native.bits(b)


def messages(message: Any) -> Iterator[Any]:
    """A protobuf message and all inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in [value] if hasattr(value, "ListFields") else value:
                yield from messages(item)
