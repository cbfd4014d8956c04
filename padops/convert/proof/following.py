"""Which terms are followed to what they are made of, and where that ends: at values that are computed from data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onnx import TensorProto

from padops.convert.proof.schemas import PADOPS
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

INTEGERS = {
    TensorProto.BOOL,
    TensorProto.INT8,
    TensorProto.INT16,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.UINT8,
    TensorProto.UINT16,
    TensorProto.UINT32,
    TensorProto.UINT64,
}
# Each element of the result is one of an input, or known.
MOVES = {
    "ConstantOfShape",
    "Concat",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Reshape",
    "ScatterElements",
    "ScatterND",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
}
# What computes amounts and shapes; followed where it gives integers.
ARITHMETIC = {
    "Abs",
    "Add",
    "And",
    "Clip",
    "CumSum",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "Or",
    "Range",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Shape",
    "Sign",
    "Size",
    "Sub",
}


BESIDES = Head(Kind.OPERATOR, domain="proof", name="Besides")  # its first input, where all of its inputs have a value


def moves_data(terms: Terms, term: int) -> bool:
    """Whether a term moves data, and computes nothing from them."""
    head = terms.head(term)
    if head.kind is Kind.PAD or terms.op(term) in MOVES or terms.op(term) == "Cast":
        return True
    return head.kind is Kind.OPERATOR and head.domain in (PADOPS, BESIDES.domain)


def is_followed(terms: Terms, term: int) -> bool:
    """Whether a term is looked behind: it moves data, or computes amounts."""
    if moves_data(terms, term):
        return True
    if terms.op(term) not in ARITHMETIC:
        return False
    dtype = terms.dtype(term)
    return dtype is None or dtype in INTEGERS


def cone(terms: Terms, root: int, ends: Callable[[int], bool] | None = None) -> Iterator[int]:
    """The terms that a term follows from, itself first, each once; those at its end are among them."""
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


def leaves(terms: Terms, root: int, ends: Callable[[int], bool] | None = None) -> list[int]:
    """Where following a term ends, but for constants."""
    found = (term for term in cone(terms, root, ends) if not is_followed(terms, term) or (ends and ends(term)))
    return [term for term in found if terms.head(term).kind is not Kind.CONSTANT]
