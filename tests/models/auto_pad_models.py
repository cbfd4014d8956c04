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

MS = "com.microsoft"
NAMES = ("n", "c", "h", "w", "d")
WF = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
UINT8 = onnx.TensorProto.UINT8
K3 = {"kernel_shape": (3, 3), "strides": (3, 2)}  # of which SAME_LOWER, too, begins in two ways


def node_model(
    op: str,
    shape: Sequence[int | str | None] | None,
    attributes: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray] | None = None,
    *,
    opset: int = 22,
    domain: str = "",
    outputs: Sequence[tuple[str, int]] = (("y", FLOAT),),
    type: int = FLOAT,
) -> onnx.ModelProto:
    """A model of one node with the data ``x``; the other inputs are initializers, named as the inputs are."""
    names = list(tensors or {})
    node = helper.make_node(op, ["x", *names], [o for o, _ in outputs], name="same", domain=domain, **attributes)
    return model(
        [node],
        opset,
        ir_version=10,
        inputs=[("x", type, shape)],
        outputs=[(name, kind, None if shape is None else [None] * len(shape)) for name, kind in outputs],
        tensors=[tensor(name, array, array.dtype) for name, array in (tensors or {}).items()],
        imports=[(domain, 1)] if domain else [],
    )


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


def whole(rng: np.random.Generator, shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """Small integers, so that sums are exact."""
    low = 0 if np.dtype(dtype).kind == "u" else -9
    return rng.integers(low, 10, shape).astype(dtype)


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return native.bits(a) == native.bits(b)


def messages(message: Any) -> Iterator[Any]:
    """A protobuf message and all inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for item in [value] if hasattr(value, "ListFields") else value:
                yield from messages(item)
