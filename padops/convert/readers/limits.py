"""Limits on the sizes that a file may ask for, checked before memory is used."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np

from padops.convert.errors import PadopsError
from padops.spec.plan import LARGEST

LARGEST_TEXT = 1 << 31  # bytes of a JSON or XML file; what Python makes of it takes ten times as many
MOST_LINES = 20  # of a list in a message
HIGHEST_RANK = 32  # of a tensor; NumPy's own limit before 2.0


def read_text(path: Path) -> bytes:
    """The bytes of a file that is to be parsed as a whole.

    Raises:
        PadopsError: It has more than ``LARGEST_TEXT``.
    """
    if (size := path.stat().st_size) > LARGEST_TEXT:
        raise PadopsError(f"{path} has {size} bytes; files of text are read up to {LARGEST_TEXT}")
    return path.read_bytes()


def listing(lines: Sequence[str]) -> str:
    """The parts of a file that cannot be converted, for the end of a message: up to ``MOST_LINES``."""
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return " " + "; ".join([*lines[:MOST_LINES], *more])


def static_dims(dims: Sequence[int | str | None] | None) -> list[int] | None:
    """The dims if all are known, else None; an unknown dim is None or a name."""
    known = [dim for dim in dims or () if isinstance(dim, int)]
    return known if dims is not None and len(known) == len(dims) else None


def too_large(dims: Sequence[int | None]) -> str | None:
    """Why no tensor can have these dims (None for a dynamic one; none is negative), or None."""
    if len(dims) > HIGHEST_RANK:
        return f"{len(dims)} dims, more than {HIGHEST_RANK}"
    known = [dim for dim in dims if dim is not None]
    if max(known, default=0) > LARGEST:
        return f"a dim beyond {LARGEST} [P10]"
    return f"more than {LARGEST} elements [P10]" if prod(known) > LARGEST else None


def ask_for(size: int, what: str) -> None:
    """Checks that there is memory for so many bytes, none of which is touched; ``what`` needs them, for the message.

    Raises:
        PadopsError: There is not that much.
    """
    try:
        np.empty(size, np.uint8)
    except (MemoryError, ValueError) as error:  # ValueError: more than an address can be
        raise PadopsError(f"{what} {size} bytes, for which there is no memory") from error
