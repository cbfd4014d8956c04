"""The request to a peer, and the exceptions that a peer raises if it has no answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from padops.conformance.arrays import pack, unpack
from padops.spec.dialects import OPS, Node, Op
from padops.spec.dtypes import DType, dtype_of
from padops.spec.plan import Amounts, PadError

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")  # types that most peers have


class Unsupported(Exception):
    """The peer reports that it lacks the type, mode or operator."""


class Refused(Exception):
    """The implementation refuses the case, but not with an exception of ``REFUSALS``."""


@contextmanager
def unsupported_where(marks: Collection[str | type[Exception]]) -> Iterator[None]:
    """Convert errors of these types, or with one of these texts, to Unsupported; other errors stay unchanged."""
    try:
        yield
    except Exception as error:
        if any(mark in str(error) if isinstance(mark, str) else isinstance(error, mark) for mark in marks):
            raise Unsupported(str(error)) from error
        raise


class Skipped(Exception):
    """The peer cannot run the case, because its interface cannot express the case."""


@dataclass(frozen=True, eq=False)
class Request:
    """A case: a Pad with its inputs, as the suite makes it and every peer receives it."""

    id: str  # describes the case, and never changes its meaning; ``cases.find_case`` makes the case from it again
    op: str  # an operator of the domain ``padops``
    opset: int  # of ``ai.onnx``, for peers that run the Pad of ONNX; 0 for operators that ONNX lacks
    attributes: Mapping[str, Any]  # the attributes of the node
    inputs: tuple[np.ndarray | None, ...]  # in the operator's order, None for an absent input
    constant_inputs: tuple[int, ...] = ()  # positions of the inputs that a model has as constants
    static: bool = False  # whether a model declares the shapes of its inputs

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> Request:
        """Return the request in a message that ``sent`` returned."""
        inputs = tuple(None if packed is None else unpack(packed) for packed in sent["inputs"])
        return cls(**{**sent, "inputs": inputs})

    def sent(self) -> dict[str, Any]:
        """Return the request as a message for a peer's process, in types that every Python can unpickle."""
        return {**vars(self), "inputs": [None if array is None else pack(array) for array in self.inputs]}

    @property
    def origin(self) -> str:
        """The source of the case: table, specification, random or upstream."""
        return self.id.split("/")[0]

    @property
    def row(self) -> Op:
        return OPS[self.op]

    @property
    def mode(self) -> str:
        """The mode in lower case, with NumPy's name; the default if the node has no mode."""
        default = next(row.default for row in self.row.attributes if row.name == self.row.mode)
        return str(self.attributes.get(self.row.mode, default or "")).lower()

    def require_type(self, types: Collection[str]) -> None:
        if self.dtype.name not in types:
            raise Unsupported(f"the suite does not run this peer with {self.dtype.name}")

    @property
    def data(self) -> np.ndarray:
        """The first input, which every case has."""
        data = self.inputs[0]
        assert data is not None
        return data

    @property
    def dtype(self) -> DType:
        return dtype_of(self.data)

    @property
    def fill(self) -> np.ndarray:
        """The fill as an array of rank 0, for peers whose interface has a fill value."""
        position = self.row.input_index(self.row.fill)
        dtype = self.data.dtype
        if position is None:
            with np.errstate(over="ignore"):
                return np.asarray(self.attributes.get(self.row.fill, 0.0), np.float32).astype(dtype)
        given = self.inputs[position] if position < len(self.inputs) else None
        if given is None:
            return np.array("", object) if dtype.kind == "O" else np.zeros((), dtype)
        if given.size != 1:
            raise Skipped(f"a fill of {given.size} elements")
        return given.reshape(())

    @property
    def value(self) -> np.ndarray | None:
        """The fill in mode constant, else None; for peers that accept a fill only in mode constant."""
        return self.fill if self.mode == "constant" else None

    def amounts(self) -> list[Amounts]:
        """Return the amounts of every axis, for peers that accept numbers."""
        if self.attributes.get(self.row.mode, self.row.modes[0]) not in self.row.modes:
            raise Skipped("a mode that the operator does not know")
        try:
            return self.row.amounts(Node(self.row, "pad", self.attributes, self.inputs), self.data.shape)
        except PadError as error:
            raise Skipped(f"the operator refuses these amounts: {error.detail}") from None

    def pairs(self, function: str, may_crop: bool = True) -> list[tuple[int, int]]:
        """Return begin and end of every axis; raise Unsupported for interior padding, or a crop if not ``may_crop``."""
        amounts = self.amounts()
        if any(a.interior for a in amounts):
            raise Unsupported(f"{function} has no interior padding")
        if not may_crop and any(min(a.begin, a.end) < 0 for a in amounts):
            raise Unsupported(f"{function} accepts no negative amounts")
        return [(a.begin, a.end) for a in amounts]
