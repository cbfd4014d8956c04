"""The store of terms: what both models compute, each computation once.

A term is a head and the terms that it is applied to. Two values with one term compute the same, on every runtime: names,
the order of nodes and what is declared of them are no part of a term. What is proved equal later is united.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from padops.convert.proof.digests import digest_of
from padops.convert.proof.knowledge import Facts, Shape

ABSENT = -1  # an optional input that is not given
NOTHING = Facts()


class Kind(Enum):
    """What a term is.

    Attributes:
        INPUT: An input of the graph: ``name``, and ``type`` (serialized, without its shape).
        CONSTANT: Known elements: ``type`` (an element type), ``dims``, ``digest``.
        OPERATOR: One output of a node: ``domain``, ``name`` (the op_type), ``version``, ``attributes``, ``output`` of
            ``outputs``. The inputs are the node's, without trailing absent ones, then a BODY for each graph attribute.
        PAD: A Pad of ONNX, whichever version or domain says it: ``mode``, and ``fill`` where an attribute gives one
            whose element type is not known. The inputs are data, pads, fill or ABSENT, axes or ABSENT.
        FORMAL: An input of a body: ``site`` (the body), ``output`` (which input).
        BODY: The graph of If, Loop, Scan, ...: ``name`` (the attribute), ``output`` formals of ``outputs`` inputs. The
            inputs are the formals, what the body gives, and last what it computes for nothing.
        OPAQUE: Something that is equal to nothing but itself: ``site``.
    """

    INPUT = "input"
    CONSTANT = "constant"
    OPERATOR = "operator"
    PAD = "pad"
    FORMAL = "formal"
    BODY = "body"
    OPAQUE = "opaque"


@dataclass(frozen=True)
class Head:
    """What a term applies to its inputs; which fields count is said at :class:`Kind`.

    Attributes:
        kind: What it is.
        domain: Of an operator; ``""`` for ONNX's own.
        name: The op_type, the name of an input or of a graph attribute.
        version: The ``since_version`` of the operator's schema; the opset where there is no schema.
        attributes: Names, types (``onnx.AttributeProto.AttributeType``) and values, sorted, defaults filled in. A float
            is its 4 bytes, a string is bytes, a tensor is its term.
        output: Which output of a node; which formal; how many formals a body has.
        outputs: Outputs of the node; inputs and results of a body together, without what is computed for nothing.
        mode: Of a Pad: ``"constant"``, ``"edge"``, ``"reflect"``, ``"wrap"``.
        fill: Of a Pad: the 4 bytes of a float attribute; else ``b""``.
        type: Of an input: its serialized type; of a constant: the number of its element type.
        dims: Of a constant.
        digest: Of a constant: its bytes, or the SHA-256 of them.
        site: Of a formal and of an opaque term: a number that nothing else has.
    """

    kind: Kind
    domain: str = ""
    name: str = ""
    version: int = 0
    attributes: tuple[tuple[str, int, Any], ...] = ()
    output: int = 0
    outputs: int = 1
    mode: str = ""
    fill: bytes = b""
    type: int | bytes = 0
    dims: tuple[int, ...] = ()
    digest: bytes = b""
    site: int = 0


class Terms:
    """The store.

    Attributes:
        assumed: What facts rest on where they are not facts, one sentence each, with how often.
        names: Of terms, a value of the original that has it (of the converted model, where the original has none).
        computed: Whether the original gets to a value that equals a term, wherever it gets to where the two are compared.
            Only of such a term may be said that it has a value at all.
        shared: Whether both models have a value that equals a term.
    """

    def __init__(self) -> None:
        self.assumed: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.computed: Callable[[int], bool] = lambda term: True
        self.shared: Callable[[int], bool] = lambda term: False
        self._ids: dict[tuple[Head, tuple[int, ...]], int] = {}
        self._heads: list[Head] = []
        self._inputs: list[tuple[int, ...]] = []
        self._parent: list[int] = []
        self._size: list[int] = []
        self._united: list[tuple[int, Facts | None]] = []
        self._facts: dict[int, Facts] = {}
        self._sites = 0
        self._trusting = False

    def __len__(self) -> int:
        return len(self._heads)

    def add(self, head: Head, inputs: tuple[int, ...] = ()) -> int:
        """The term with this head and these inputs, made where there was none."""
        key = (head, inputs)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self._heads)
            self._heads.append(head)
            self._inputs.append(inputs)
            self._parent.append(found)
            self._size.append(1)
        return found

    def add_constant(self, array: np.ndarray, dtype: int) -> int:
        """The term of known elements."""
        return self.add_stored(dtype, array.shape, digest_of(array), lambda: array)

    def add_stored(
        self, dtype: int, dims: tuple[int, ...], digest: bytes, read: Callable[[], np.ndarray | None]
    ) -> int:
        """The term of a constant that is not held."""
        term = self.add(Head(Kind.CONSTANT, type=dtype, dims=tuple(dims), digest=digest))
        self._facts.setdefault(term, Facts(dtype, tuple(dims), read))
        return term

    def new_site(self) -> int:
        """A number that no formal and no opaque term has yet."""
        self._sites += 1
        return self._sites

    def find(self, term: int) -> int:
        """The representative of all terms that are proved equal to this one; ABSENT stays ABSENT."""
        if term == ABSENT:
            return term
        while self._parent[term] != term:
            term = self._parent[term]
        return term

    def unite(self, a: int, b: int) -> None:
        """Says that two terms are equal: only after a proof."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        if self._size[a] < self._size[b]:
            a, b = b, a
        self._parent[b] = a
        self._size[a] += self._size[b]
        self._united.append((b, self._facts.get(a)))
        self._facts[a] = self._facts.get(a, NOTHING).together(self._facts.get(b, NOTHING))

    def is_united(self, term: int) -> bool:
        """Whether the term was united with another one."""
        return self._size[self.find(term)] > 1

    def mark(self) -> int:
        """A point that :meth:`undo` goes back to."""
        return len(self._united)

    def undo(self, mark: int) -> None:
        """Takes back what was united since: it held only inside of a body."""
        while len(self._united) > mark:
            term, facts = self._united.pop()
            root = self._parent[term]
            self._size[root] -= self._size[term]
            self._parent[term] = term
            self._facts[root] = facts or NOTHING

    def head(self, term: int) -> Head:
        """What the term applies. Equal terms may have different heads: this is the head of the very one."""
        return self._heads[term]

    def inputs(self, term: int) -> tuple[int, ...]:
        """What it is applied to, in order; ABSENT for an optional input that is not given."""
        return self._inputs[term]

    def op(self, term: int) -> str:
        """The op_type of an operator of ONNX itself; ``""`` for everything else."""
        head = self._heads[term]
        return head.name if head.kind is Kind.OPERATOR and head.domain == "" else ""

    def attribute(self, term: int, name: str, default: Any = None) -> Any:
        """An attribute of the term's head, a default of its schema included; see :class:`Head`."""
        return next((value for key, _, value in self._heads[term].attributes if key == name), default)

    def constant(self, term: int) -> np.ndarray | None:
        """The elements, where the term or one that equals it is a constant that can be held; else None."""
        read = self._fact(term).read
        return None if read is None else read()

    def dtype(self, term: int) -> int | None:
        """The element type, as ``onnx.TensorProto`` numbers it, where it is known."""
        return self._fact(term).dtype or None

    def shape(self, term: int) -> Shape | None:
        """The dims, where they are known; None where not even the rank is.

        Facts alone; within ``trusting``, also what the original declares, and each such answer is an assumption.
        """
        fact = self._fact(term)
        if not self._trusting or fact.declared is None:
            return fact.shape
        found = fact.trusted()
        if found != fact.shape:
            self.assume(f"what the original declares is right: the value '{fact.name}' has dims {list(fact.declared)}")
        return found

    @contextmanager
    def trusting(self) -> Iterator[None]:
        """Takes what the original declares of dims for true, where nothing else is known."""
        self._trusting = True
        try:
            yield
        finally:
            self._trusting = False

    def set_dtype(self, term: int, dtype: int) -> None:
        """Says what the element type is."""
        self._facts[self.find(term)] = replace(self._fact(term), dtype=dtype)

    def set_shape(self, term: int, shape: Shape) -> None:
        """Says what the dims are, in place of what was known of them."""
        self._facts[self.find(term)] = replace(self._fact(term), shape=tuple(shape))

    def is_declared(self, term: int) -> bool:
        """Whether the original declares more of the dims than is known."""
        fact = self._fact(term)
        return fact.declared is not None and fact.trusted() != fact.shape

    def declare(self, term: int, shape: Shape, name: str) -> None:
        """Says what the original declares the dims of a value to be."""
        self._facts[self.find(term)] = replace(self._fact(term), declared=tuple(shape), name=name)

    def known(self, terms: Iterable[int]) -> dict[int, Facts]:
        """What is known of terms, to be given back to :meth:`know`."""
        return {self.find(term): self._fact(term) for term in terms}

    def know(self, facts: dict[int, Facts]) -> None:
        """Says again what :meth:`known` gave, and nothing else, of the same terms; what was united since is taken back."""
        self._facts.update(facts)

    def _fact(self, term: int) -> Facts:
        return self._facts.get(self.find(term), NOTHING)

    def assume(self, sentence: str) -> None:
        """Notes that a proof rests on what is no fact."""
        self.assumed[sentence] = self.assumed.get(sentence, 0) + 1

    def walk(self, *roots: int) -> Iterator[int]:
        """The terms that the roots are made of, themselves included, each once."""
        seen: set[int] = set()
        todo = [root for root in roots if root != ABSENT]
        while todo:
            term = todo.pop()
            if term not in seen:
                seen.add(term)
                yield term
                todo += [one for one in self._inputs[term] if one != ABSENT]
