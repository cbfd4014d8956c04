"""What has to hold for a model to run, and for this package to follow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import z3

from padops.convert.proof.symbolic.integers import POSITION, Int, Integers, Truth, is_open
from padops.convert.proof.symbolic.tensors import Fails, Index

OVERFLOW = "integers beyond their type"
SHORT = 64  # elements that are each asked about, rather than any of them


@dataclass(frozen=True)
class Requirement:
    """What has to hold for a term to be computed.

    Attributes:
        condition: What has to hold.
        given: Where: for an index within a shape, in a branch that is taken.
        what: What fails elsewhere, in words.
        ours: Whether it is this package that cannot go on elsewhere, rather than the model.
    """

    condition: Truth
    given: tuple[Truth, ...]
    what: str
    ours: bool = False


@dataclass
class Demands:
    """What one of the two models asks for.

    Attributes:
        required: For it to run.
        assumable: Those of ``required`` that speak of no index: they can be built upon once it runs.
        musts: What this package can follow it by: proved for both models, else nothing is said.
    """

    required: list[Requirement] = field(default_factory=list)
    assumable: list[Requirement] = field(default_factory=list)
    musts: list[Requirement] = field(default_factory=list)


class Asking:
    """Collects what has to hold.

    Attributes:
        integers: The arithmetic.
        most: That a dim or an amount is taken to be.
        demands: What the model that is looked at asks for.
        is_original: Whether that is the original, and not the converted model.
    """

    def __init__(self, most: int) -> None:
        self.integers = Integers()
        self.most = most
        self.demands = Demands()
        self.is_original = True
        self._path: list[Truth] = []
        self._count = 0

    def require(self, condition: Truth, what: str) -> None:
        """Says what has to hold for a term to be computed.

        Raises:
            Fails: It never does.
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
        """The same of every index within a shape."""
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
        """Any position from 0 on, below ``beyond``."""
        self._count += 1
        high = self.integers.bounds(beyond)[1]
        made = z3.Int(f"{POSITION}{name} {self._count}")
        return made if math.isinf(high) else self.integers.bound(made, 0, max(int(high) - 1, 0))

    def within(self, condition: Truth, *amounts: Int) -> None:
        """Says what P10 limits: proofs hold within its limits, which the conditions of an outcome name."""
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
        """Says what has to hold for this package to follow a term: it is proved for either model."""
        condition = self.integers.known(condition)
        if is_open(condition) or not condition:
            self.demands.musts.append(Requirement(condition, (*self._path, *given), what, ours=True))
