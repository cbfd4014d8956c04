"""The conditions under which a model runs, and under which the proofs can follow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import z3

from padops.convert.proof.result import Fails
from padops.convert.proof.symbolic.integers import POSITION, Int, Integers, Truth, is_open
from padops.convert.proof.symbolic.tensors import Index

OVERFLOW = "integers beyond their type"
SHORT = 64  # up to so many elements each get a condition; more share one for an unknown index


@dataclass(frozen=True)
class Requirement:
    """A condition under which a term can be computed."""

    condition: Truth  # the condition
    given: tuple[Truth, ...]  # where it must hold: for an index within a shape, in a taken branch
    what: str  # the failure if it does not hold, in words
    ours: bool = False  # whether then only the proofs cannot follow, rather than the model failing


@dataclass
class Demands:
    """The conditions of one model."""

    required: list[Requirement] = field(default_factory=list)  # conditions for it to run
    # Those of ``required`` without an index: facts wherever the original runs
    assumable: list[Requirement] = field(default_factory=list)
    # Conditions for the proofs to follow it. They must be proved for both models
    musts: list[Requirement] = field(default_factory=list)


class Asking:
    """Collects the conditions of a model."""

    def __init__(self, most: int) -> None:
        self.integers = Integers()  # the arithmetic
        self.most = most  # the limit of dims and amounts
        self.demands = Demands()  # the conditions of the current model
        self.is_original = True  # whether the current model is the original
        self._path: list[Truth] = []
        self._count = 0

    def require(self, condition: Truth, what: str) -> None:
        """Adds a condition under which the model runs; ``what`` is the failure in words.

        Raises:
            Fails: The condition never holds.
        """
        condition = self.integers.known(condition)
        if not is_open(condition):
            if condition:
                return
            if not self._path:
                raise Fails(what)
        asked = Requirement(condition, tuple(self._path), what)
        self.demands.required.append(asked)
        self.demands.assumable.append(asked)

    def require_each(self, shape: Sequence[Int], condition: Callable[[Index], Truth], what: str) -> None:
        """As ``require``, for every index within a shape."""
        if not any(map(is_open, shape)) and np.prod(shape, dtype=object) <= SHORT:
            for place in np.ndindex(*shape):
                self.require(condition(list(place)), what)
            return
        index = [self.unknown("at", dim) for dim in shape]
        inside = [self.integers.all(at >= 0, at < dim) for at, dim in zip(index, shape)]
        asked = self.integers.known(condition(index))
        if is_open(asked) or not asked:
            self.demands.required.append(Requirement(asked, (*self._path, *inside), what))

    def unknown(self, name: str, beyond: Int) -> z3.ArithRef:
        """An unknown position from 0 to ``beyond`` - 1."""
        self._count += 1
        high = self.integers.bounds(beyond)[1]
        made = z3.Int(f"{POSITION}{name} {self._count}")
        return made if math.isinf(high) else self.integers.bound(made, 0, max(int(high) - 1, 0))

    def within(self, condition: Truth, *amounts: Int) -> None:
        """Assumes a P10 condition, and amounts within ``most``: proofs hold within these limits, as outcomes say."""
        if not self.is_original:
            return
        condition = self.integers.known(condition)
        if is_open(condition):
            self.demands.assumable.append(Requirement(condition, tuple(self._path), "P10"))
        for amount in filter(is_open, amounts):
            small = z3.And(amount >= -self.most, amount <= self.most)
            self.demands.assumable.append(Requirement(small, tuple(self._path), "P10"))
            if amount.decl().kind() == z3.Z3_OP_UNINTERPRETED and not self._path:
                self.integers.bound(amount, -self.most, self.most)

    def must(self, condition: Truth, what: str, given: tuple[Truth, ...] = ()) -> None:
        """Adds a condition under which the proofs can follow a term; it is proved for both models."""
        condition = self.integers.known(condition)
        if is_open(condition) or not condition:
            self.demands.musts.append(Requirement(condition, (*self._path, *given), what, ours=True))
