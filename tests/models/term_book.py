"""Terms written by hand, for the tests of single rules of the proofs."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from padops.convert.proof import windows
from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

FLOAT, UINT8, INT8, INT64, FLOAT16 = 1, 2, 3, 7, 10
KIND = onnx.AttributeProto
IMAGE = ("N", 1, 5, 6)


class Book:
    """A store with the few terms that these tests need."""

    def __init__(self) -> None:
        self.terms = Terms()

    def input(self, name: str, dtype: int = FLOAT, shape: Any = IMAGE) -> int:
        made = self.terms.add(Head(Kind.INPUT, name=name, type=b""))
        self.terms.set_dtype(made, dtype)
        if shape is not None:
            self.terms.set_shape(made, shape)
        return made

    def constant(self, values: Any, dtype: int = FLOAT) -> int:
        return self.terms.add_constant(np.array(values, onnx.helper.tensor_dtype_to_np_dtype(dtype)), dtype)

    def op(self, name: str, *inputs: int, version: int = 11, **attributes: Any) -> int:
        rows = []
        for key, value in attributes.items():
            kind = KIND.INTS if isinstance(value, tuple) else KIND.STRING if isinstance(value, bytes) else KIND.INT
            rows.append((key, int(kind), value))
        return self.terms.add(
            Head(Kind.OPERATOR, name=name, version=version, attributes=tuple(sorted(rows))), tuple(inputs)
        )

    def pad(self, data: int, amounts: Any, fill: int = ABSENT, mode: str = "constant") -> int:
        made = self.terms.add(Head(Kind.PAD, mode=mode), (data, self.constant(amounts, INT64), fill, ABSENT))
        if (dtype := self.terms.dtype(data)) is not None:
            self.terms.set_dtype(made, dtype)
        return made


class WindowBook(Book):
    """A store, of which two terms are asked."""

    def same(self, a: int, b: int) -> Outcome | None:
        found = windows.same(self.terms, a, b, lambda one, other: self.terms.find(one) == self.terms.find(other))
        again = windows.same(self.terms, b, a, lambda one, other: self.terms.find(one) == self.terms.find(other))
        assert (found and found.verdict) == (again and again.verdict), "it does not matter which one is the original"
        return found

    def why(self, a: int, b: int) -> str:
        """Why two windows are not proved."""
        found = self.same(a, b)
        assert found is not None and (found.verdict, found.rule) == (Verdict.UNKNOWN, "window")
        return found.why


def spatial(pads: tuple[int, ...] = (1, 2, 3, 4)) -> list[int]:
    half = len(pads) // 2
    return [0, 0, *pads[:half], 0, 0, *pads[half:]]
