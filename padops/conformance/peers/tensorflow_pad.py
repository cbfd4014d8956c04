"""``tf.pad``."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("tensorflow-cpu", "tensorflow")

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

MODES = {"constant": "CONSTANT", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def run(request: Request) -> np.ndarray:
    """The CPU kernels."""
    amounts = request.amounts()
    if request.mode not in MODES:
        raise Unsupported(f"tf.pad has no mode {request.mode}")
    if request.dtype.bits in (2, 4) or request.dtype.name in ("float8e8m0", "float8e4m3fnuz", "float8e5m2fnuz"):
        raise Unsupported(f"tf.pad has no {request.dtype.name}")
    if any(a.interior for a in amounts):
        raise Unsupported("tf.pad has no interior padding")
    if any(min(a.begin, a.end) < 0 for a in amounts):
        raise Unsupported("tf.pad takes no negative amounts")
    pairs = np.array([(a.begin, a.end) for a in amounts], np.int64).reshape(-1, 2)
    strings = request.dtype.name == "string"
    data, fill = (_encode(array) if strings else array for array in (request.data, request.fill))
    try:
        given = {"constant_values": tf.constant(fill)} if request.mode == "constant" else {}
        output = tf.pad(tf.constant(data), pairs, mode=MODES[request.mode], **given).numpy()
    except (tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
        raise Unsupported(str(error)) from error
    return _decode(np.asarray(output, object)) if strings else output


def _encode(array: np.ndarray) -> np.ndarray:
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [text.encode() for text in array.reshape(-1).tolist()]
    return made


def _decode(array: np.ndarray) -> np.ndarray:
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [text.decode() for text in array.reshape(-1).tolist()]
    return made
