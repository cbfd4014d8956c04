"""The result of one ONNX operator on known elements or on ids: onnx's reference implementation computes it.

The reference shares no code with the converter. Where runtimes disagree with it, or with one another, nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from padops.convert.model.inference import ENDLESS
from padops.convert.verify.schemas import FLOAT
from padops.convert.verify.terms import Fails, Head, Unsupported

MOST = 1 << 16  # elements of an operand of arithmetic; amounts and shapes have few
SAFE = 1 << 30  # magnitude of operands whose sums and products surely fit into int64
SUMS = {"Abs", "Add", "Clip", "CumSum", "Div", "Max", "Min", "Mod", "Mul", "Neg", "Range", "ReduceMax", "ReduceMin",
        "ReduceProd", "ReduceSum", "Sign", "Sub"}  # fmt: skip
ALIKE = {"Add", "Div", "Mod", "Mul", "Sub", "Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}


def apply(head: Head, values: Sequence[np.ndarray | None], most: int) -> np.ndarray:
    """One output of an operator of ONNX, unless the operator fails or its result is not known."""
    attributes = {name: value for name, _, value in head.attributes}
    _check(head, attributes, values, most)
    given = tuple(value is not None for value in values)
    feeds = {f"i{place}": value for place, value in enumerate(values) if value is not None}
    try:
        with np.errstate(all="raise"):
            if head.name == "Div":  # onnx's reference rounds down, ONNX towards 0
                one, other = (np.asarray(value) for value in values)
                found = np.abs(one) // np.abs(other)
                return np.asarray(np.where((one < 0) == (other < 0), found, -found), one.dtype)
            (found,) = _evaluator(head, given).run(None, feeds)
    except (ValueError, IndexError) as error:
        raise Fails(f"{head.name}: {error}") from error
    except Exception as error:  # onnx's reference raises any type
        raise Unsupported(f"{head.name}: {error}") from error
    return np.asarray(found)


@lru_cache(4096)
def _evaluator(head: Head, given: tuple[bool, ...]) -> ReferenceEvaluator:
    names = [f"i{place}" if is_given else "" for place, is_given in enumerate(given)]
    outputs = [f"o{place}" for place in range(head.outputs)]
    constants = {name: np.frombuffer(value, np.float32)[0].item() if kind == FLOAT else value
                 for name, kind, value in head.attributes}  # fmt: skip
    node = helper.make_node(head.name, names, outputs, **constants)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, None) for name in names if name]
    graph = helper.make_graph([node], "part", inputs, [onnx.ValueInfoProto(name=outputs[head.output])])
    imports = [helper.make_opsetid("", head.version)]
    return ReferenceEvaluator(helper.make_model(graph, opset_imports=imports, ir_version=10))


def _check(head: Head, attributes: dict[str, Any], values: Sequence[np.ndarray | None], most: int) -> None:
    """Rejects operations that the reference computes but runtimes refuse, or disagree on."""
    op, data, rest = head.name, values[0], [value for value in values[1:] if value is not None]
    if data is None or any(isinstance(value, tuple) and value[:1] == ("@",) for value in attributes.values()):
        raise Unsupported(f"{op} without data, or with attributes of a function's caller")
    rank, axis = data.ndim, attributes.get("axis")
    if op == "Squeeze" and (attributes.get("axes") == () or any(not one.size for one in rest)):
        raise Unsupported("Squeeze with an empty list of axes")
    if axis is not None and not -rank <= axis < rank + (op == "Flatten"):
        raise Fails(f"{op} along axis {axis} of rank {rank}")
    if op == "Slice" and rest:
        _check_slice(rank, [*values[1:], None, None][:4])
    if op == "Split":
        lengths = rest[0].tolist() if rest else list(attributes.get("split") or ())
        size = data.shape[axis or 0]
        if sum(lengths) != size if lengths else (head.version < 18 and size % head.outputs):
            raise Fails(f"Split of {size} elements into {lengths or head.outputs}")
    if op in ("Reshape", "Expand", "Tile", "ConstantOfShape") and head.version < 5:
        raise Unsupported(f"{op} of version {head.version}")
    if op == "Reshape" and min(rest[0].tolist(), default=0) < -1:
        raise Fails(f"Reshape to {rest[0].tolist()}")
    if op in ("Expand", "Tile") and (rest[0].size > 16 or data.size * prod(max(int(n), 1) for n in rest[0]) > most):
        raise Unsupported(f"{op} by {rest[0].tolist()} is too large")
    if op == "Gather" and rest[0].size > most:
        raise Unsupported(f"{op} of {rest[0].size} elements")
    if op in ALIKE and len({value.dtype for value in (data, *rest)}) != 1:
        raise Fails(f"{op} of inputs of several types")
    if op == "Range" and (rest[1].reshape(-1)[0] == 0 or abs(int(rest[0] - data) // int(rest[1])) > MOST):
        raise Unsupported("Range by 0, or of many elements")
    if op.startswith("Reduce") and (not data.size or (rest and not rest[0].size) or attributes.get("axes") == ()):
        raise Unsupported(f"{op} of nothing")
    if op in SUMS:
        for value in (data, *rest):
            if value.dtype.kind not in "iu" or value.size > MOST:
                raise Unsupported(f"{op} of {value.dtype}, or of many elements")
            far = value.size and max(abs(int(value.max())), abs(int(value.min()))) > SAFE
            if far and op not in ("Clip", "Max", "Min", "Sign"):
                raise Unsupported("an integer beyond its type")


def _check_slice(rank: int, lists: Sequence[np.ndarray | None]) -> None:
    starts, ends, axes, steps = lists
    assert starts is not None and ends is not None, "the operator has them as inputs"
    count = starts.size
    chosen = list(range(count)) if axes is None else axes.tolist()
    if any(one is not None and one.size != count for one in lists) or any(not -rank <= at < rank for at in chosen):
        raise Fails("Slice with lists of several lengths, or of axes that the data lack")
    if len({at % rank for at in chosen}) < count:
        raise Unsupported("Slice of one axis twice")
    if steps is not None and (steps < 0).any() and np.isin(ends, ENDLESS).any():
        raise Unsupported("a Slice backward to the largest integer, which runtimes do not agree on")
