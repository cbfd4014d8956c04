"""dask: Pad_23 of opset 23, mode wrap, int64, rank 1.

it takes one period of the data at most, and gives a smaller output than asked for, without an error [P2]

Needs numpy, dask.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro random/Pad_23/0/21 --peer dask
Seen in dask 2026.8.0.
"""

from __future__ import annotations

import sys

import numpy as np
import dask
import dask.array

data = np.array([1757041141850352401], np.int64)
expected = np.array([1757041141850352401, 1757041141850352401, 1757041141850352401, 1757041141850352401, 1757041141850352401], np.int64)


def pad(data: np.ndarray, pairs: Sequence[tuple[int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """``dask.array.pad`` by (begin, end) of every axis; ``fill`` is for mode constant."""
    given = {} if fill is None else {"constant_values": fill[()]}
    array = dask.array.from_array(data, chunks=-1)
    with dask.config.set(scheduler="synchronous"):
        return np.asarray(dask.array.pad(array, pairs, mode=mode, **given).compute())


def run():
    return pad(data, [(3, 1)], "wrap", None)


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
