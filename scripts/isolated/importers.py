"""Arguments and conversions for peers that read an ONNX model and have ``pad(model, fed)``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from padops.conformance.model import feeds, standard_model, without_pad
from padops.conformance.peers.request import Request

if TYPE_CHECKING:
    import numpy as np
    import onnx


def arguments_of(types: Collection[str], request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """The arguments of ``pad`` for a peer with these types: an ONNX model, whose output has a rank, and its inputs."""
    request.require_type(types)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


def pad_without_pad(pad: Callable[..., np.ndarray], types: Collection[str], request: Request) -> np.ndarray:
    """The output of ``pad``, for a peer with these types, for the model converted with ``--without-pad``."""
    request.require_type(types)
    return pad(without_pad(request), feeds(request, request.inputs))
