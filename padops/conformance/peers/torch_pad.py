"""``torch.nn.functional.pad``."""

from __future__ import annotations

import numpy as np
import torch

from padops.conformance.adapters import TORCH_MODES, prepare_torch_pad
from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("torch",)
REFUSALS = (RuntimeError,)

TYPES = ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8")


def run_case(request: Request) -> np.ndarray:
    """Amounts of the last axes, innermost first; the modes that extend want one or two axes before them.

    Raises:
        Unsupported: PyTorch has no such mode, type or amounts.
        Skipped: The operator does not take the amounts, or the fill has not one element.
        RuntimeError: It refuses the amounts.
    """
    request.amounts()  # skips what is wrong
    if request.dtype.name not in TYPES:
        raise Unsupported(f"torch.nn.functional.pad has no {request.dtype.name}")
    if request.mode not in TORCH_MODES:
        raise Unsupported(f"torch.nn.functional.pad has no mode {request.mode}")
    pairs = request.pairs("torch.nn.functional.pad")
    if max((abs(amount) for pair in pairs for amount in pair), default=0) >= 1 << 62:
        raise Unsupported("amounts beyond 62 bits")
    untouched = next((i for i, pair in enumerate(pairs) if any(pair)), len(pairs))
    if request.mode != "constant" and len(pairs) - untouched > 3:
        raise Unsupported("torch.nn.functional.pad extends up to three axes")
    tensor = torch.from_numpy(np.array(request.data, order="C"))
    fill = None if request.value is None else request.value.item()
    try:
        return prepare_torch_pad(tensor, pairs, request.mode, fill)().numpy()
    except (NotImplementedError, RuntimeError) as error:
        if request.mode != "constant" and "not implemented for" in str(error):
            raise Unsupported(str(error)) from error
        raise
