"""``torch.nn.functional.pad``."""

from __future__ import annotations

import numpy as np
import torch

from padops.conformance.peers.request import Request, Unsupported

PACKAGES = ("torch",)

MODES = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
TYPES = ("float", "double", "float16", "bool", "int8", "int16", "int32", "int64", "uint8")


def run(request: Request) -> np.ndarray:
    """Amounts of the last axes, innermost first; the modes that extend want one or two axes before them."""
    amounts = request.amounts()
    if request.dtype.name not in TYPES:
        raise Unsupported(f"torch.nn.functional.pad has no {request.dtype.name}")
    if request.mode not in MODES:
        raise Unsupported(f"torch.nn.functional.pad has no mode {request.mode}")
    if any(a.interior for a in amounts):
        raise Unsupported("torch.nn.functional.pad has no interior padding")
    if max((max(abs(a.begin), abs(a.end)) for a in amounts), default=0) >= 1 << 62:
        raise Unsupported("amounts beyond 62 bits")
    flat = [amount for a in reversed(amounts) for amount in (a.begin, a.end)]
    data = torch.from_numpy(np.array(request.data, order="C"))
    if request.mode == "constant":
        return torch.nn.functional.pad(data, flat, value=_value(request.fill, data.dtype)).numpy()
    touched = max((i + 1 for i, a in enumerate(reversed(amounts)) if (a.begin, a.end) != (0, 0)), default=0)
    if not touched:
        return data.numpy()
    if touched > 3:
        raise Unsupported("torch.nn.functional.pad extends up to three axes")
    # A batch and a channel in front, so that every one of these axes counts as a spatial one.
    lead = data.shape[: data.ndim - touched]
    batch = data.reshape(1, int(np.prod(lead, dtype=np.int64)), *data.shape[data.ndim - touched :])
    try:
        padded = torch.nn.functional.pad(batch, flat[: 2 * touched], mode=MODES[request.mode])
    except (NotImplementedError, RuntimeError) as error:
        if "not implemented for" in str(error):
            raise Unsupported(str(error)) from error
        raise
    return padded.reshape(*lead, *padded.shape[2:]).numpy()


def _value(fill: np.ndarray, dtype: torch.dtype) -> int | float | bool:
    if dtype is torch.bool:
        return bool(fill)
    return float(fill) if dtype.is_floating_point else int(fill)
