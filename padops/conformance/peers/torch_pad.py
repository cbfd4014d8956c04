"""``torch.nn.functional.pad``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("torch",)
REFUSALS = (RuntimeError,)
UNSUPPORTED = ("not implemented for",)

TYPES = ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8")
MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}


def prepare(
    tensor: torch.Tensor, pairs: Sequence[tuple[int, int]], mode: str, fill: float = 0
) -> Callable[[], torch.Tensor]:
    """Return a function that pads by (begin, end) of every axis; ``mode`` has NumPy's name.

    PyTorch lists the innermost axis first. All modes but constant need two axes before the padded axes.
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
    """Return the output of the function that ``prepare`` returns, as an array."""
    tensor = torch.from_numpy(np.array(data, order="C"))
    output: np.ndarray = prepare(tensor, pairs, mode, 0 if fill is None else fill.item())().numpy()
    return output


def arguments(request: Request) -> tuple[np.ndarray, list[tuple[int, int]], str, np.ndarray | None]:
    request.amounts()  # raises Skipped for wrong amounts
    if request.dtype.name not in TYPES:
        raise Unsupported(f"torch.nn.functional.pad has no {request.dtype.name}")
    if request.mode not in MODES:
        raise Unsupported(f"torch.nn.functional.pad has no mode {request.mode}")
    pairs = request.pairs("torch.nn.functional.pad")
    if max((abs(amount) for pair in pairs for amount in pair), default=0) >= 1 << 62:
        raise Unsupported("amounts beyond 62 bits")
    untouched = next((i for i, pair in enumerate(pairs) if any(pair)), len(pairs))
    if request.mode != "constant" and len(pairs) - untouched > 3:
        raise Unsupported("torch.nn.functional.pad extends at most three axes in this mode")
    return request.data, pairs, request.mode, request.value
