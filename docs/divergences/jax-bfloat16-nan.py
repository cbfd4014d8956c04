"""jax: Pad_18 of opset 18, mode reflect, bfloat16, rank 2.

the CPU backend computes bfloat16 by way of float, which changes the bits of NaNs [P7]

Needs numpy, jax.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_18/reflect/bfloat16/2/end/plain/scalar/absent.flat/fixed/0 --peer jax
Seen in jax 0.10.2, jaxlib 0.10.2.
"""

from __future__ import annotations

import sys

import numpy as np
import ml_dtypes
import jax
import jax.numpy as jnp

data = np.frombuffer(bytes.fromhex("33eaa457714087ff1303c32e109cd1916f7d"), ml_dtypes.bfloat16).reshape([3, 3])
expected = np.frombuffer(bytes.fromhex("33eaa4577140a45733ea87ff1303c32e130387ff109cd1916f7dd191109c"), ml_dtypes.bfloat16).reshape([3, 5])


def pad(data: np.ndarray, triples: Sequence[tuple[int, int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """Pads an array by (begin, end, interior) of every axis; ``mode`` is NumPy's, ``fill`` is for mode constant."""
    jax.config.update("jax_enable_x64", True)
    with jax.ensure_compile_time_eval():
        if mode == "constant":
            return np.asarray(jax.lax.pad(jnp.asarray(data), jnp.asarray(fill), triples))
        pairs = np.array([triple[:2] for triple in triples], np.int64).reshape(-1, 2)
        return np.asarray(jnp.pad(jnp.asarray(data), pairs, mode=mode))


def run():
    return pad(data, [(0, 0, 0), (0, 2, 0)], "reflect", None)


REFUSALS = (ValueError,)  # the errors that say that a case is wrong


def bits(array):
    if array.dtype.kind in "OUT":
        return "string", array.shape, array.tolist()
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return array.dtype, array.shape, raw.tobytes().hex()


print("expected:", "an error" if expected is None else f"{expected.dtype}{list(expected.shape)}")
if expected is not None:
    print(expected)
sys.stdout.flush()
try:
    got = run()
except Exception as error:
    print(f"got an error: {type(error).__name__}: {error}")
    sys.exit(expected is not None or not isinstance(error, REFUSALS))
print(f"got: {got.dtype}{list(got.shape)}")
print(got)
same = expected is not None and bits(got) == bits(expected)
print("the same bits" if same else "different")
if not same and str(got) == str(expected):  # NaNs of different bits print alike
    print("expected bits:", bits(expected)[-1])
    print("got bits:     ", bits(got)[-1])
sys.exit(not same)
