"""Which terms the rules follow to their inputs. Following ends at terms that compute with data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnx import TensorProto

from padops.convert.verify.moves.definitions import dialect
from padops.convert.verify.schemas import INTEGERS
from padops.convert.verify.terms import GIVEN, Terms

# Each element of the result is an element of an input, or a known number.
FOLLOWED = {
    "Cast", "ConstantOfShape", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Reshape",
    "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where",
}  # fmt: skip
# Operators that compute amounts and shapes; followed if the result has integers.
ARITHMETIC = {
    "Abs", "Add", "And", "Clip", "CumSum", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
    "Min", "Mod", "Mul", "Neg", "Not", "Or", "Range", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Shape",
    "Sign", "Size", "Sub",
}  # fmt: skip
# Operators that never fail: unary, and elementwise or of the dims alone.
TOTAL = {
    "Abs", "Ceil", "Exp", "Floor", "Identity", "Neg", "Not", "Relu", "Shape", "Sigmoid", "Sign", "Size", "Sqrt", "Tanh",
}  # fmt: skip


def is_total(terms: Terms, term: int) -> bool:
    """Whether a term has a value wherever its inputs have values, so that an unused term cannot fail."""
    return terms.head(term).kind in GIVEN or terms.op(term) in TOTAL


def moves_data(terms: Terms, term: int) -> bool:
    """Whether a term only moves data and the rules can follow its input elements."""
    return terms.op(term) in FOLLOWED or bool(dialect(terms.head(term)))


def is_followed(terms: Terms, term: int) -> bool:
    """Whether the rules follow a term to its inputs: it moves data, or computes integers."""
    if moves_data(terms, term):
        return True
    if terms.op(term) not in ARITHMETIC:
        return False
    dtype = terms.dtype(term)
    return dtype is None or dtype in (TensorProto.BOOL, *INTEGERS)


def cone(terms: Terms, root: int, ends: Callable[[int], bool] = lambda term: False) -> Iterator[int]:
    """Yields a term and the terms that it follows from; nothing below a term for which ``ends`` is True."""
    return terms.walk(root, through=lambda term: is_followed(terms, term) and (term == root or not ends(term)))
