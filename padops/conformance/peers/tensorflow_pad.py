"""``tf.pad``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("tensorflow", "tensorflow-cpu")
REFUSALS = (tf.errors.OpError,)
UNSUPPORTED = (tf.errors.UnimplementedError, tf.errors.NotFoundError)

MODES = {"constant": "CONSTANT", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def pad(data: np.ndarray, pairs: Sequence[tuple[int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """Return the output as an array; TensorFlow returns strings as UTF-8.

    ``tf.pad`` reads only the low 32 bits of amounts in an int64 array, but all bits of amounts in an int64 tensor.
    """
    filled = {"constant_values": tf.constant(fill)} if mode == "constant" and fill is not None else {}
    tensor = tf.pad(tf.constant(data), np.array(pairs, np.int64).reshape(-1, 2), mode=MODES[mode], **filled)
    array = np.asarray(tensor.numpy())
    if tensor.dtype != "string":
        return array
    texts = np.empty(array.shape, object)
    texts.reshape(-1)[:] = [text.decode() for text in np.asarray(array, object).reshape(-1).tolist()]
    return texts


def arguments(request: Request) -> tuple[np.ndarray, list[tuple[int, int]], str, np.ndarray | None]:
    request.amounts()  # raises Skipped for wrong amounts
    if request.mode not in MODES:
        raise Unsupported(f"tf.pad has no mode {request.mode}")
    if request.dtype.bits in (2, 4) or request.dtype.name in ("float8e8m0", "float8e4m3fnuz", "float8e5m2fnuz"):
        raise Unsupported(f"tf.pad has no {request.dtype.name}")
    pairs = request.pairs("tf.pad", may_crop=False)
    fill = request.fill  # in every mode, because it raises Skipped for wrong fills
    return request.data, pairs, request.mode, fill if request.mode == "constant" else None
