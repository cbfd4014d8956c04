"""The store of terms: both models' computations, each stored once.

A term is a head and its inputs, which are terms. Two values have the same term if the same operator computes both with
the same version and attributes, from the same inputs, in one graph. A term holds no names, no node order and no
declared dims. Terms that are later proved equal are united (union-find).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from padops.convert.records import RegionRecord

ABSENT = -1  # an optional input that is not given
Dim = int | str | None  # a number of elements, a symbol, or None if unknown
Shape = tuple[Dim, ...]
Read = Callable[[], np.ndarray | None]  # returns a constant's elements; None if they do not fit into memory


def digest_of(array: np.ndarray) -> bytes:
    """Returns the SHA-256 of a constant's elements; each string is hashed with its length."""
    if array.dtype != object:
        return sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).digest()
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.reshape(-1)]
    return sha256(b"".join(len(text).to_bytes(8, "little") + text for text in texts)).digest()


class Kind(Enum):
    INPUT = "input"  # an input of the graph
    CONSTANT = "constant"  # known elements
    # One output of a node. The inputs are the node's inputs up to the last present input, then a BODY for each graph
    # attribute, and for a call the BODY of its function
    OPERATOR = "operator"
    PAD = "pad"  # a Pad of ONNX, of any version and domain. The inputs are data, pads, fill or ABSENT, axes or ABSENT
    FORMAL = "formal"  # an input or an attribute of a body
    # The graph of If, Loop, Scan, ..., or a function. The inputs are formals, results, then values that the body does
    # not use
    BODY = "body"


GIVEN = (Kind.INPUT, Kind.CONSTANT, Kind.FORMAL)  # these always have a value


@dataclass(frozen=True)
class Head:
    """The operation of a term."""

    kind: Kind
    domain: str = ""  # the operator's domain; ``""`` is ONNX's own
    name: str = ""  # the op_type, or the name of an input, of a graph attribute or of a function
    version: int = 0  # the ``since_version`` of the operator's schema; the opset where there is no schema
    # Names, types (``onnx.AttributeProto.AttributeType``) and values, sorted, defaults filled in. A float is its 4
    # bytes, a string is bytes, a tensor is its term
    attributes: tuple[tuple[str, int, Any], ...] = ()
    output: int = 0  # the index of a node's output or of a formal; for a body, the number of formals
    outputs: int = 1  # the number of a node's outputs; for a body, the number of its formals and results
    mode: str = ""  # a Pad's mode: ``"constant"``, ``"edge"``, ``"reflect"``, ``"wrap"``
    fill: bytes = b""  # a Pad's fill, if it is a float attribute: 4 bytes; else ``b""``
    type: int | bytes = 0  # an input's serialized type; a constant's element type as ``onnx.TensorProto`` numbers it
    dims: tuple[int, ...] = ()  # a constant's dims
    digest: bytes = b""  # the SHA-256 of a constant's bytes
    place: tuple[str, ...] = ()  # the bodies around a node: a node inside a branch differs from the same node outside
    site: int = 0  # a number that makes a random node unique


@dataclass(frozen=True)
class Facts:
    dtype: int = 0  # the element type; 0 if unknown
    shape: Shape | None = None  # the dims; None if not even the rank is known
    read: Read | None = None  # returns the elements of a constant

    def together(self, other: Facts) -> Facts:
        """Merges the facts of one value from two sources; numbers win over symbols as dims."""
        one, more = self.shape, other.shape
        if one is not None and more is not None and len(one) == len(more):
            one = tuple(q if p is None or (isinstance(q, int) and isinstance(p, str)) else p for p, q in zip(one, more))
        return Facts(self.dtype or other.dtype, more if one is None else one, self.read or other.read)


class Fails(Exception):
    """A term fails for all data of these dims; the error text has the reason."""


class Unsupported(Exception):
    """The proofs cannot determine a term's value; the error text has the reason."""


# A rule's verdict on one pair of terms: the region without its name and operators.
outcome = partial(RegionRecord, "", (), ())


class Terms:
    def __init__(self) -> None:
        # For a term, the name of its value: in the original, else in the converted model
        self.names: dict[int, str] = {}
        # Whether the original, whenever it computes the compared pair, also computes a value equal to the term
        self.computed: Callable[[int], bool] = lambda term: True
        self.shared: Callable[[int], bool] = lambda term: False  # whether both models have a value equal to the term
        self._ids: dict[tuple[Head, tuple[int, ...]], int] = {}
        self._heads: list[Head] = []
        self._inputs: list[tuple[int, ...]] = []
        self._parent: list[int] = []
        self.united: set[int] = set()  # all terms that are equal to another term
        self._facts: dict[int, Facts] = {}

    def add(self, head: Head, inputs: tuple[int, ...] = ()) -> int:
        """Returns the term with this head and these inputs; creates it if the store has none."""
        found = self._ids.setdefault((head, inputs), len(self._heads))
        if found == len(self._heads):
            self._heads.append(head)
            self._inputs.append(inputs)
            self._parent.append(found)
        return found

    def add_constant(self, array: np.ndarray, dtype: int) -> int:
        """Returns the term of known elements (strings: an object array); ``dtype`` is an ``onnx.TensorProto`` type."""
        return self.add_stored(dtype, array.shape, digest_of(array), lambda: array)

    def add_stored(self, dtype: int, dims: tuple[int, ...], digest: bytes, read: Read) -> int:
        """Returns the term of a constant; ``read`` returns its elements, and ``digest`` is their :func:`digest_of`."""
        term = self.add(Head(Kind.CONSTANT, type=dtype, dims=tuple(dims), digest=digest))
        self._facts.setdefault(term, Facts(dtype, tuple(dims), read))
        return term

    def find(self, term: int) -> int:
        """Returns the representative of the term's equality class; ABSENT stays ABSENT."""
        while term != ABSENT and self._parent[term] != term:
            term = self._parent[term]
        return term

    def unite(self, a: int, b: int) -> None:
        """Makes two terms equal. Call this only after a proof."""
        if (a := self.find(a)) != (b := self.find(b)):
            self._facts[a] = self.facts(a).together(self.facts(b))
            self._parent[b] = a
            self.united |= {a, b}

    def head(self, term: int) -> Head:
        """Returns the term's own head; equal terms may have different heads."""
        return self._heads[term]

    def inputs(self, term: int) -> tuple[int, ...]:
        """Returns the term's inputs, in order; ABSENT for an optional input that is not given."""
        return self._inputs[term]

    def op(self, term: int) -> str:
        """Returns the op_type of an ONNX operator; ``""`` for any other term."""
        head = self._heads[term]
        return head.name if head.kind is Kind.OPERATOR and head.domain == "" else ""

    def attribute(self, term: int, name: str, default: Any = None) -> Any:
        """Returns an attribute's value, schema defaults included, in the form that :class:`Head` describes."""
        return next((value for key, _, value in self._heads[term].attributes if key == name), default)

    def constant(self, term: int) -> np.ndarray | None:
        """Returns the elements, if the term equals a constant that fits into memory; else None."""
        read = self.facts(term).read
        return None if read is None else read()

    def dtype(self, term: int) -> int | None:
        """Returns the element type, as ``onnx.TensorProto`` numbers it; None if unknown."""
        return self.facts(term).dtype or None

    def shape(self, term: int) -> Shape | None:
        """Returns the dims that follow from the inputs; None if even the rank is unknown."""
        return self.facts(term).shape

    def facts(self, term: int) -> Facts:
        """Returns the known facts of the term's value."""
        return self._facts.get(self.find(term)) or Facts()

    def learn(self, term: int, dtype: int, shape: Shape | None) -> None:
        """Adds an element type and dims to the known facts of the term's value."""
        self._facts[self.find(term)] = self.facts(term).together(Facts(dtype, shape))

    def walk(self, *roots: int, through: Callable[[int], bool] = lambda term: True) -> Iterator[int]:
        """Yields the roots and the terms below, each once; does not descend from a term where ``through`` is False."""
        seen: set[int] = {ABSENT}
        todo = [*roots]
        while todo:
            term = todo.pop()
            if term not in seen:
                seen.add(term)
                yield term
                todo += self._inputs[term] if through(term) else ()
