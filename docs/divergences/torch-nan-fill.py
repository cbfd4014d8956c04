"""torch: Pad_11 of opset 11, mode constant, float16, rank 1.

the fill is a double, on whose way a NaN loses its bits [P7]

Needs numpy, torch.
Exits 1 where the output is not the expected one, 0 where it is.
Made by: padops conformance repro table/Pad_11/constant/float16/1/end/one/vector/absent.flat/held/2 --peer torch
Seen in torch 2.13.0+cpu.
"""

from __future__ import annotations

import sys

import numpy as np
import math
import torch

data = np.array([1.059], np.float16)
fill = np.frombuffer(bytes.fromhex("e6fd"), np.float16).reshape([])
expected = np.frombuffer(bytes.fromhex("3c3ce6fd"), np.float16).reshape([2])


MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def prepare(
    tensor: torch.Tensor, pairs: Sequence[tuple[int, int]], mode: str, fill: float = 0
) -> Callable[[], torch.Tensor]:
    """A Pad by (begin, end) of every axis, as a call without arguments, which alone the benchmark times.

    The mode is NumPy's word; only mode constant reads the fill. PyTorch takes the amounts of the last axes, innermost
    first. The modes that extend want two axes before those.
    """
    flat = [amount for pair in reversed(pairs) for amount in pair]
    if mode == "constant":
        return lambda: torch.nn.functional.pad(tensor, flat, value=fill)
    padded_axes = max((i + 1 for i, pair in enumerate(reversed(pairs)) if any(pair)), default=0)
    if not padded_axes:
        return lambda: tensor
    before = tensor.shape[: tensor.ndim - padded_axes]
    batch = tensor.reshape(1, math.prod(before), *tensor.shape[tensor.ndim - padded_axes :])

    def call() -> torch.Tensor:
        padded = torch.nn.functional.pad(batch, flat[: 2 * padded_axes], mode=MODES[mode])
        return padded.reshape(*before, *padded.shape[2:])

    return call


def pad(data: np.ndarray, pairs: Sequence[tuple[int, int]], mode: str, fill: np.ndarray | None) -> np.ndarray:
    """The same of an array."""
    tensor = torch.from_numpy(np.array(data, order="C"))
    output: np.ndarray = prepare(tensor, pairs, mode, 0 if fill is None else fill.item())().numpy()
    return output


def run():
    return pad(data, [(0, 1)], "constant", fill)


REFUSALS = (RuntimeError,)  # the errors that say that a case is wrong


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
