"""One case: a Pad with its inputs, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from padops.conformance.arrays import pack, random_array
from padops.conformance.peers.request import OfOperator
from padops.spec import reference
from padops.spec.dtypes import by_name
from padops.spec.plan import PadError


@dataclass(frozen=True)
class Recipe:
    """One input: explicit values, or random bits."""

    dtype: str  # the element type, a name of ``padops.spec.dtypes``
    shape: tuple[int, ...]
    seed: int = 0  # of the random bits; unused with values
    values: tuple[Any, ...] | None = None  # the elements in order, or None

    def array(self) -> np.ndarray:
        """Make the input, the same at every call."""
        row = by_name(self.dtype)
        if self.values is None:
            return random_array(np.random.default_rng(self.seed), row, self.shape)
        made = np.empty(len(self.values), row.numpy)
        made[:] = np.array(self.values, object if row.name == "string" else None).astype(row.numpy)
        return made.reshape(self.shape)


def integers(values: Any, dtype: str = "int64", shape: tuple[int, ...] | None = None) -> Recipe:
    """Return an integer input, with one axis unless ``shape`` is set."""
    values = tuple(int(value) for value in values)
    return Recipe(dtype, (len(values),) if shape is None else shape, values=values)


def number(text: str) -> int:
    """Parse a number of an id, which has one spelling.

    Raises:
        ValueError: The text is another spelling, or no number.
    """
    if text != str(int(text)):
        raise ValueError(f"the number {text!r} is spelled in another way")
    return int(text)


def seed_of(text: str) -> int:
    """Return a seed that is the same on every machine."""
    return crc32(text.encode())


@dataclass(frozen=True)
class Case(OfOperator):
    """A Pad with its inputs."""

    id: str  # describes the case, and never changes its meaning; ``cases.find_case`` makes the case from it again
    # ``"table"``, ``"specification"``, ``"random"`` or ``"upstream"``: the module of ``cases`` that made it.
    origin: str
    op: str  # an operator of the domain ``padops``
    opset: int  # of ``ai.onnx``, for peers that run the Pad of ONNX; 0 for operators that ONNX lacks
    attributes: Mapping[str, Any]  # the attributes of the node
    inputs: tuple[Recipe | None, ...]  # in the operator's order, None for an absent input
    constant_inputs: tuple[int, ...] = ()  # positions of the inputs that a model has as constants
    static: bool = False  # whether a model declares the shapes of its inputs
    dtype: str = field(init=False)
    rank: int = field(init=False)

    def __post_init__(self) -> None:
        data = self.inputs[0]
        assert data is not None  # every Pad has data
        object.__setattr__(self, "dtype", data.dtype)
        object.__setattr__(self, "rank", len(data.shape))

    def arrays(self) -> list[np.ndarray | None]:
        """Return the inputs."""
        return [None if recipe is None else recipe.array() for recipe in self.inputs]

    def request(self) -> dict[str, Any]:
        """Return the case for a peer, in types that every Python can unpickle."""
        same = {name: getattr(self, name) for name in ("id", "op", "opset", "attributes", "constant_inputs", "static")}
        return {**same, "inputs": [None if array is None else pack(array) for array in self.arrays()]}


@dataclass(frozen=True)
class Expected:
    """The result of a case by the rules: an output, or an error."""

    output: np.ndarray | None
    rule: str | None = None
    message: str | None = None


def expect(case: Case) -> Expected:
    """Compute the expected result with ``padops.spec.reference``."""
    try:
        return Expected(reference.run(case.op, case.attributes, case.arrays(), "pad"))
    except PadError as error:
        return Expected(None, error.rule, str(error))
