"""The known facts of a value, and its declared dims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Dim = int | str | None  # a number of elements; a symbol (one number wherever it stands); None: unknown
Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Facts:
    """The facts of a value.

    Attributes:
        dtype: The element type; 0 if unknown.
        shape: The dims; None if not even the rank is known.
        read: Returns the elements of a constant.
        declared: The dims that the original declares, or None. They are no fact.
        name: The name of the value with declared dims.
    """

    dtype: int = 0
    shape: Shape | None = None
    read: Callable[[], np.ndarray | None] | None = None
    declared: Shape | None = None
    name: str = ""

    def together(self, other: Facts) -> Facts:
        """The facts of one value from two sources."""
        named = self if self.declared is not None else other
        return Facts(
            self.dtype or other.dtype,
            _both(self.shape, other.shape),
            self.read or other.read,
            named.declared,
            named.name,
        )

    def trusted(self) -> Shape | None:
        """The dims, with declared numbers where none is known."""
        if self.shape is None or self.declared is None or len(self.shape) != len(self.declared):
            return self.declared if self.shape is None else self.shape
        return tuple(said if isinstance(said, int) else dim for dim, said in zip(self.shape, self.declared))


def _both(one: Shape | None, other: Shape | None) -> Shape | None:
    """Merges two descriptions of the same dims: numbers win over symbols."""
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple(p if isinstance(p, int) or q is None or (p and isinstance(q, str)) else q for p, q in zip(one, other))
