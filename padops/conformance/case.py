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
    """One input: values that are written down, or random bits.

    Attributes:
        dtype: The element type, a name of ``padops.spec.dtypes``.
        shape: The shape.
        seed: Of the bits; unused where there are values.
        values: The elements in order, or None.
    """

    dtype: str
    shape: tuple[int, ...]
    seed: int = 0
    values: tuple[Any, ...] | None = None

    def array(self) -> np.ndarray:
        """The input itself, the same at every call."""
        row = by_name(self.dtype)
        if self.values is None:
            return random_array(np.random.default_rng(self.seed), row, self.shape)
        made = np.empty(len(self.values), row.numpy)
        made[:] = np.array(self.values, object if row.name == "string" else None).astype(row.numpy)
        return made.reshape(self.shape)


def integers(values: Any, dtype: str = "int64", shape: tuple[int, ...] | None = None) -> Recipe:
    """An integer input, of one axis unless it has a shape."""
    values = tuple(int(value) for value in values)
    return Recipe(dtype, (len(values),) if shape is None else shape, values=values)


def seed_of(text: str) -> int:
    """A seed that is the same on every machine."""
    return crc32(text.encode())


@dataclass(frozen=True)
class Case(OfOperator):
    """A Pad with its inputs.

    Attributes:
        id: Says what the case is, and never means another one; ``cases.find_case`` makes the case from it again.
        origin: ``"table"``, ``"specification"``, ``"random"`` or ``"upstream"``: the module of ``cases`` that made it.
        op: An operator of the domain ``padops``.
        opset: Of ``ai.onnx``, for peers that run the Pad of ONNX; 0 for the operators that ONNX does not have.
        attributes: Those that the node has.
        inputs: In the operator's order, None where one is absent.
        rules: Labels of the rules (docs/semantics.md) that the case exercises.
        constant_inputs: Positions of the inputs that a model has as constants.
        static: Whether a model declares the shapes of its inputs.
    """

    id: str
    origin: str
    op: str
    opset: int
    attributes: Mapping[str, Any]
    inputs: tuple[Recipe | None, ...]
    rules: tuple[str, ...] = ()
    constant_inputs: tuple[int, ...] = ()
    static: bool = False
    dtype: str = field(init=False)
    rank: int = field(init=False)

    def __post_init__(self) -> None:
        data = self.inputs[0]
        assert data is not None  # every Pad has data
        object.__setattr__(self, "dtype", data.dtype)
        object.__setattr__(self, "rank", len(data.shape))

    def arrays(self) -> list[np.ndarray | None]:
        """The inputs."""
        return [None if recipe is None else recipe.array() for recipe in self.inputs]

    def request(self) -> dict[str, Any]:
        """What a peer gets, in types that every Python can unpickle."""
        return {
            "id": self.id,
            "op": self.op,
            "opset": self.opset,
            "attributes": dict(self.attributes),
            "inputs": [pack(array) for array in self.arrays()],
            "constant_inputs": self.constant_inputs,
            "static": self.static,
        }


@dataclass(frozen=True)
class Expected:
    """What the rules say of a case: an output, or an error."""

    output: np.ndarray | None
    rule: str | None = None
    message: str | None = None


def expect(case: Case) -> Expected:
    """Asks ``padops.spec.reference``."""
    try:
        return Expected(reference.run(case.op, case.attributes, case.arrays(), "pad"))
    except PadError as error:
        return Expected(None, error.rule, str(error))
