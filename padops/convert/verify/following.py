"""Which terms the rules follow to their inputs. Following ends at terms that compute with data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnx import TensorProto

from padops.convert.verify.moves.definitions import is_pad
from padops.convert.verify.schemas import INTEGERS
from padops.convert.verify.terms import ABSENT, GIVEN, Terms

# Each element of the result is an element of an input, or a known number.
FOLLOWED = {
    "Cast", "CenterCropPad", "ConstantOfShape", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Reshape",
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
    return terms.op(term) in FOLLOWED or is_pad(terms.head(term))


def is_followed(terms: Terms, term: int) -> bool:
    """Whether the rules follow a term to its inputs: it moves data, or computes integers."""
    if moves_data(terms, term):
        return True
    if terms.op(term) not in ARITHMETIC:
        return False
    dtype = terms.dtype(term)
    return dtype is None or dtype in (TensorProto.BOOL, *INTEGERS)


def cone(terms: Terms, root: int, ends: Callable[[int], bool] | None = None) -> Iterator[int]:
    """Yields the terms below a followed term, root first, each once, including the terms where following ends.

    ``ends`` returns True for terms below the root that must not be followed.
    """
    seen, todo = {root}, [root]
    while todo:
        term = todo.pop()
        yield term
        if not is_followed(terms, term) or (term != root and ends is not None and ends(term)):
            continue
        for one in terms.inputs(term):
            if one != ABSENT and one not in seen:
                seen.add(one)
                todo.append(one)
