"""What a case expects by the rules, and the parts that sources of cases share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from padops.conformance.arrays import random_array
from padops.conformance.peers.request import Request
from padops.spec import reference
from padops.spec.dtypes import by_name
from padops.spec.plan import PadError


def integers(values: Iterable[int], dtype: str = "int64") -> np.ndarray:
    """Return an integer input with one axis."""
    return np.array([*values], dtype)


def draw_array(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Return an input of random bits, from a drawn seed."""
    return random_array(np.random.default_rng(int(rng.integers(1 << 32))), by_name(dtype), shape)


def number(text: str) -> int:
    """Parse a number of an id, which has one spelling; another spelling is a ValueError."""
    if text != str(int(text)):
        raise ValueError(f"the number {text!r} is spelled in another way")
    return int(text)


def seed_of(text: str) -> int:
    """Return a seed that is the same on every machine."""
    return crc32(text.encode())


@dataclass(frozen=True)
class Expected:
    """The result of a case by the rules: an output, or an error."""

    output: np.ndarray | None
    rule: str | None = None
    message: str | None = None


def expect(case: Request) -> Expected:
    """Compute the expected result with ``padops.spec.reference``."""
    try:
        return Expected(reference.run(case.op, case.attributes, case.inputs, "pad"))
    except PadError as error:
        return Expected(None, error.rule, str(error))
