"""What is known of the value of a term, and what is merely declared of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Dim = int | str | None  # elements; a symbol, the same number wherever it stands; or nothing known
Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Facts:
    """What is known of a value.

    Attributes:
        dtype: Its element type; 0 where it is unknown.
        shape: Its dims, or None.
        read: Gives the elements of a constant.
        declared: What the original declares its dims to be, or None: no fact.
        name: The value that the original declares.
    """

    dtype: int = 0
    shape: Shape | None = None
    read: Callable[[], np.ndarray | None] | None = None
    declared: Shape | None = None
    name: str = ""

    def together(self, other: Facts) -> Facts:
        """What is known of a value of which both are known."""
        named = self if self.declared is not None else other
        return Facts(
            self.dtype or other.dtype,
            _both(self.shape, other.shape),
            self.read or other.read,
            named.declared,
            named.name,
        )

    def trusted(self) -> Shape | None:
        """The dims, those that the original declares where no number is known."""
        if self.shape is None or self.declared is None or len(self.shape) != len(self.declared):
            return self.declared if self.shape is None else self.shape
        return tuple(said if isinstance(said, int) else dim for dim, said in zip(self.shape, self.declared))


def _both(one: Shape | None, other: Shape | None) -> Shape | None:
    """What two descriptions of the same dims say together; a number says more than a symbol."""
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple(p if isinstance(p, int) or q is None or (p and isinstance(q, str)) else q for p, q in zip(one, other))
