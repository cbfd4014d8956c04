"""``tf.pad``."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from padops.conformance.adapters import TENSORFLOW_MODES, from_tensorflow, prepare_tensorflow_pad
from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("tensorflow-cpu", "tensorflow")
REFUSALS = (tf.errors.OpError,)

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


def run_case(request: Request) -> np.ndarray:
    """The CPU kernels.

    Raises:
        Unsupported: TensorFlow has no such mode, type or amounts.
        Skipped: The operator does not take the amounts, or the fill has not one element.
    """
    request.amounts()  # skips what is wrong
    if request.mode not in TENSORFLOW_MODES:
        raise Unsupported(f"tf.pad has no mode {request.mode}")
    if request.dtype.bits in (2, 4) or request.dtype.name in ("float8e8m0", "float8e4m3fnuz", "float8e5m2fnuz"):
        raise Unsupported(f"tf.pad has no {request.dtype.name}")
    pairs = request.pairs("tf.pad", may_crop=False)
    fill = request.fill  # also where the mode has no use for it: it skips what is wrong
    try:
        paddings = np.array(pairs, np.int64).reshape(-1, 2)
        return from_tensorflow(prepare_tensorflow_pad(request.data, paddings, request.mode, fill)())
    except (tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
        raise Unsupported(str(error)) from error
