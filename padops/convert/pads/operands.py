"""What a Pad reads: values of the graph, or arrays where they are known, and dims, each of which may be known or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
import onnx_ir as ir

Operand = ir.Value | np.ndarray  # a value of the graph, or its elements where they are known
Dims = Sequence[int | None]  # None for each that is not known


def all_known(dims: Dims | None) -> TypeGuard[Sequence[int]]:
    """Whether there are dims, and none of them is unknown."""
    return dims is not None and None not in dims
