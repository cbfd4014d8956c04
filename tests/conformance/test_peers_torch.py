"""PyTorch itself: torch.nn.functional.pad against padops.

It is the one peer that extends edges beyond a crop of all the data, and the one besides NumPy that wraps.
``PADOPS_EXAMPLES`` sets how many are drawn.
"""

from __future__ import annotations

import os
from collections import Counter

import native
import numpy as np
import pytest
import torch
from case_strategies import TYPES, Case, explore
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("PADOPS_EXAMPLES", "1000"))

# PyTorch's mode, and the operator of padops with its mode attribute.
MODES = {
    "constant": ("OpenVINOPad_12", {"pad_mode": "constant"}),
    "replicate": ("OpenVINOPad_12", {"pad_mode": "edge"}),
    "reflect": ("OpenVINOPad_12", {"pad_mode": "reflect"}),
    "circular": ("Pad_21", {"mode": "wrap"}),
}
TORCH_TYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
}
# Those that only copy: constant and circular.
COPIED = {
    "bool": torch.bool,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "float8e4m3fn": torch.float8_e4m3fn,
    "float8e4m3fnuz": torch.float8_e4m3fnuz,
    "float8e5m2": torch.float8_e5m2,
    "float8e5m2fnuz": torch.float8_e5m2fnuz,
}


def amounts(draw, mode: str, n: int) -> tuple[int, int]:
    """Begin and end of one axis, within what PyTorch takes."""
    if mode == "circular":  # mixed signs read memory that nothing was written to
        return draw(st.integers(0, n)), draw(st.integers(0, n))
    if mode == "reflect":
        begin = draw(st.integers(1 - n, n - 1))
        return begin, draw(st.integers(max(1 - n, 1 - n - begin), n - 1))
    if mode == "constant":
        begin = draw(st.integers(-n, n + 3))
        return begin, draw(st.integers(-n + max(-begin, 0), n + 3))
    begin = draw(st.integers(-n - 5, n + 5))
    return begin, draw(st.integers(1 - n - begin, max(1 - n - begin, 0) + 5))


@st.composite
def cases(draw) -> tuple[str, Case, list[int]]:
    """A mode, the case for padops, and PyTorch's list: the last axis first."""
    mode = draw(st.sampled_from(sorted(MODES)))
    spatial = draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    leading = len(shape)
    shape += draw(st.lists(st.integers(1, (9, 6, 4)[spatial - 1]), min_size=spatial, max_size=spatial))
    pairs = [(0, 0)] * leading + [amounts(draw, mode, n) for n in shape[leading:]]
    rng = np.random.default_rng([draw(st.integers(0, 2**32 - 1)), *shape])
    names = list(TORCH_TYPES if mode in ("reflect", "replicate") else TORCH_TYPES | COPIED)
    data = native.random_array(rng, TYPES[names[rng.integers(len(names))]], shape)
    begins, ends = (np.array(values, np.int64) for values in zip(*pairs))
    op, attributes = MODES[mode]
    inputs = [data, np.concatenate([begins, ends])] if op == "Pad_21" else [data, begins, ends]
    return mode, Case(op, attributes, inputs), [amount for pair in pairs[: leading - 1 : -1] for amount in pair]


def torch_pad(mode: str, data: np.ndarray, name: str, padding: list[int]) -> np.ndarray:
    """By way of integers as wide, which both libraries have."""
    bits = data.view(f"uint{data.dtype.itemsize * 8}")
    dtype = (TORCH_TYPES | COPIED)[name]
    output = torch.nn.functional.pad(torch.from_numpy(bits).view(dtype), padding, mode)
    return output.contiguous().view(getattr(torch, bits.dtype.name)).numpy().view(data.dtype)


def test_torch_pad_agrees() -> None:
    """P1–P3 FULL, P5 and P7: every bit."""
    seen: Counter[str] = Counter()

    def check(sample) -> None:
        mode, case, padding = sample
        result = native.bits(native.run(case.op, case.attributes, case.inputs, "n"))
        assert result == native.bits(torch_pad(mode, case.inputs[0], result[0], padding)), sample
        seen[mode] += 1
        seen[result[0]] += 1
        pairs = zip(padding[::2], padding[1::2], case.inputs[0].shape[::-1])
        seen["beyond the data"] += mode == "replicate" and any(b <= -n or e <= -n for b, e, n in pairs)
        seen["mixed signs"] += min(padding) < 0 < max(padding)

    least = dict.fromkeys(TORCH_TYPES | COPIED, 3) | dict.fromkeys(MODES, 100)
    least |= {"beyond the data": 20, "mixed signs": 100}
    met = lambda: EXAMPLES < 1000 or all(seen[key] >= count for key, count in least.items())
    explore(cases(), check, EXAMPLES, met)
    print(dict(seen))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-s"]))
