"""``jax.lax.pad`` for the constant mode, also with interior padding; ``jax.numpy.pad`` for the other modes."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from padops.conformance.peers.request import INTEGERS, Request, Unsupported
from padops.spec.plan import Amounts

PACKAGES = ("jax", "jaxlib")
REFUSALS = (ValueError,)

# JAX also has the other types of at most one byte, but its CPU backend computes some of them in other types.
TYPES = ("float", "double", "float16", "bfloat16", "bool", *INTEGERS)


def pad(data: np.ndarray, triples: Sequence[tuple[int, int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """Pad an array by (begin, end, interior) of each axis; ``mode`` has NumPy's name; ``fill`` is for mode constant."""
    jax.config.update("jax_enable_x64", True)
    with jax.ensure_compile_time_eval():
        if mode == "constant":
            return np.asarray(jax.lax.pad(jnp.asarray(data), jnp.asarray(fill), triples))
        pairs = np.array([triple[:2] for triple in triples], np.int64).reshape(-1, 2)
        return np.asarray(jnp.pad(jnp.asarray(data), pairs, mode=mode))


def arguments(request: Request) -> tuple[np.ndarray, list[tuple[int, int, int]], str, np.ndarray | None]:
    """Return the arguments of ``pad``; SAME amounts come from ``jax.lax.padtype_to_pads``."""
    request.require_type(TYPES)
    amounts = _same(request) if request.op.startswith("SamePad") else request.amounts()
    if max((max(abs(a.begin), abs(a.end)) for a in amounts), default=0) >= 1 << 40:
        raise Unsupported("amounts beyond 40 bits")
    if request.mode != "constant" and any(a.crops for a in amounts):
        raise Unsupported("jax.numpy.pad accepts no negative amounts")
    if request.mode != "constant" and any(a.interior for a in amounts):
        raise Unsupported("jax.numpy.pad has no interior padding")
    return request.data, [(a.begin, a.end, a.interior) for a in amounts], request.mode, request.value


def _same(request: Request) -> list[Amounts]:
    from jax.lax import padtype_to_pads  # here, because the other arguments need no JAX

    given, shape = request.attributes, request.data.shape
    request.amounts()  # raises Skipped for wrong amounts
    kernel = list(given["kernel_shape"])
    strides, dilations = (list(given.get(name) or [1] * len(kernel)) for name in ("strides", "dilations"))
    first = 2 if given.get("data_format", "NCHW").startswith("NC") else 1
    padding = {"SAME_UPPER": "SAME", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID"}[given.get("auto_pad", "SAME_UPPER")]
    windows = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = padtype_to_pads(shape[first : first + len(kernel)], windows, strides, padding)
    amounts = [Amounts(0, 0)] * len(shape)
    for i, (low, high) in enumerate(pads):
        amounts[first + i] = Amounts(int(low), int(high))
    return amounts
