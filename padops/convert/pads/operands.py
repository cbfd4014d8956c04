"""The types of a Pad's operands and dims, which may be known or unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
import onnx_ir as ir

Operand = ir.Value | np.ndarray  # a value of the graph, or its elements if known
Dims = Sequence[int | None]  # None for each unknown dim


def all_known(dims: Dims | None) -> TypeGuard[Sequence[int]]:
    """Whether the rank and all dims are known."""
    return dims is not None and None not in dims
