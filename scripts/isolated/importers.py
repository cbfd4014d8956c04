"""Arguments and conversions for peers that read an ONNX model and have ``pad(model, fed)``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from padops.conformance.model import feeds, make_model, without_pad
from padops.conformance.peers.request import Request

if TYPE_CHECKING:
    import numpy as np
    import onnx


def arguments_of(types: Collection[str], request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Return ``pad``'s arguments for a peer with these types: an ONNX model, with its output's rank, and its inputs."""
    request.require_type(types)
    model = make_model(request, standard=True)
    return declare_shapes(model, request.data.ndim), feeds(request)


def declare_shapes(model: onnx.ModelProto, rank: int) -> onnx.ModelProto:
    """Declare the output's rank, which some importers need; return the same model."""
    shape = model.graph.output[0].type.tensor_type.shape
    shape.SetInParent()
    for i in range(rank):
        shape.dim.add().dim_param = f"d{i}"
    return model


def pad_without_pad(pad: Callable[..., np.ndarray], types: Collection[str], request: Request) -> np.ndarray:
    """Return the output of ``pad`` for the model converted with ``--without-pad``; the peer supports these types."""
    request.require_type(types)
    return pad(without_pad(request), feeds(request))
