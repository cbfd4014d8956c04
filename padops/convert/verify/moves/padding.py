"""Evaluates the Pads of one region on ids of elements."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.verify import schemas
from padops.convert.verify.moves import definitions, plan
from padops.convert.verify.moves.elements import Elements, Ids
from padops.convert.verify.pad_terms import zero
from padops.convert.verify.result import Fails, Unsupported
from padops.convert.verify.terms import ABSENT, Terms

Value = np.ndarray | Ids


class Padding:
    """The Pads of an evaluation; ``most`` limits the elements of any value."""

    def __init__(self, terms: Terms, most: int) -> None:
        self._terms, self._most = terms, most
        self._elements = Elements()
        self._values: dict[int, Value | Exception] = {}

    def _given(self, term: int) -> Value:
        found = self._values[term]
        if isinstance(found, Exception):
            raise found
        return found

    def _ids(self, value: Value) -> Ids:
        return value if isinstance(value, Ids) else self._elements.constant(value)

    def _known(self, term: int, what: str) -> np.ndarray:
        """The elements of a value that decides where other elements go.

        Raises:
            Unsupported: They are not known.
        """
        found = self._given(term)
        if isinstance(found, Ids):
            raise Unsupported(f"{what} that are computed from data")
        return found

    def _pad(self, term: int) -> Value:
        data, pads, fill, listed = self._terms.inputs(term)
        value, head = self._ids(self._given(data)), self._terms.head(term)
        if head.fill or head.mode not in plan.MODES:
            raise Unsupported("the fill or the mode of a Pad is not known")
        amounts = self._known(pads, "amounts of a Pad")
        axes = None if listed == ABSENT else self._known(listed, "axes of a Pad").reshape(-1).tolist()
        rank = value.ids.ndim
        if amounts.ndim != 1 and not (amounts.ndim == 2 and amounts.shape[0] == 1):
            raise Fails(f"pads has shape {list(amounts.shape)} [P8]")
        if not rank and amounts.size:
            raise Unsupported("a Pad of data without axes")
        chosen = list(range(rank)) if axes is None else axes
        if any(not -rank <= axis < rank for axis in chosen) or amounts.size != 2 * len(chosen):
            raise Fails(f"pads has {amounts.size} values for axes={chosen} [P8]")
        numbers, places = amounts.reshape(-1).tolist(), [axis % rank for axis in chosen]
        if len(set(places)) != len(places):
            raise Fails(f"axes={chosen} for rank {rank} [P8]")
        made = [plan.Axis(size, 0, 0) for size in value.ids.shape]
        for at, axis in enumerate(places):
            made[axis] = plan.Axis(value.ids.shape[axis], numbers[at], numbers[at + len(places)])
        return self._padded(value, definitions.Definition(made, head.mode, plan.ONNX), fill)

    def _foreign(self, term: int) -> Value:
        terms, inputs = self._terms, self._terms.inputs(term)

        def known(at: int) -> np.ndarray | None:
            return None if at >= len(inputs) or inputs[at] == ABSENT else self._known(inputs[at], "amounts of a Pad")

        def text(at: int) -> bytes | None:
            is_text = at < len(inputs) and inputs[at] != ABSENT and terms.op(inputs[at]) == "Constant"
            found = terms.attribute(inputs[at], "value") if is_text else None
            return found if isinstance(found, bytes) else None

        data = self._ids(self._given(inputs[0]))
        said = definitions.defined(terms.head(term), data.ids.shape, known, text)
        fill = inputs[said.fill] if 0 <= said.fill < len(inputs) else ABSENT
        if said.mode == "constant" and (any(said.value) or (said.number and fill != ABSENT)):
            number = np.frombuffer(said.value, "<f4") if said.value else self._known(fill, "the fill of a Pad")
            fill = terms.add_constant(_converted(number, data.dtype), data.dtype)
            self._values[fill] = self._terms.constant(fill)  # type: ignore[assignment]
        return self._padded(data, said, ABSENT if said.number and said.mode != "constant" else fill)

    def _padded(self, data: Ids, said: definitions.Definition, fill: int) -> Ids:
        axes, mode, rules = said.axes, said.mode, said.rules
        if fill != ABSENT:
            self._given(fill)  # modes that do not use the fill compute it too: it may fail
        if mode not in plan.MODES:
            raise Unsupported(f"a Pad of mode {mode!r}")
        if broken := next(plan.broken(axes, mode, rules), ""):
            raise Fails(f"a Pad of {list(data.ids.shape)} by {[tuple(axis[1:3]) for axis in axes]} [{broken}]")
        dims = [plan.output(axis, rules) for axis in axes]
        if prod(dims) > self._most:
            raise Unsupported(f"a value of {prod(dims)} elements, which is more than {self._most}")
        outside = self._outside(data, fill) if mode == "constant" else 0
        if 0 in dims:
            return Ids(np.empty(dims, np.int64), data.dtype)
        ids = data.ids
        for index, axis in enumerate(axes):
            shown = plan.positions(axis, mode, rules)
            if not axis.size:
                ids = np.full((*ids.shape[:index], len(shown), *ids.shape[index + 1 :]), outside, np.int64)
                continue
            ids = np.take(ids, np.maximum(shown, 0), index)
            if (shown < 0).any():
                ids[(slice(None),) * index + (shown < 0,)] = outside
        return Ids(ids, data.dtype)

    def _outside(self, data: Ids, fill: int) -> int:
        """The id of a Pad's fill."""
        if fill == ABSENT and not data.dtype:
            raise Unsupported("the fill of a Pad whose element type is not known")
        found = self._ids(zero(data.dtype)) if fill == ABSENT else self._ids(self._given(fill))
        if found.ids.size != 1:
            raise Fails(f"a fill of shape {list(found.ids.shape)} [P7]")
        if data.dtype and found.dtype and found.dtype != data.dtype:
            raise Fails(f"a fill of {schemas.type_name(found.dtype)} for {schemas.type_name(data.dtype)} [P7]")
        return int(found.ids.reshape(-1)[0])


def _converted(number: np.ndarray, dtype: int) -> np.ndarray:
    """A number as an element of a type, as PyTorch converts it: to 16-bit floats by way of float.

    Raises:
        Unsupported: The type cannot hold it.
    """
    if number.size != 1 or not dtype or dtype == TensorProto.STRING:
        raise Unsupported("a fill that is not one number, or of data of an unknown type")
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    one = number.reshape(())
    if kind.kind in "iu" and not np.iinfo(kind).min <= one <= np.iinfo(kind).max:
        raise Unsupported(f"a fill of {one} for {schemas.type_name(dtype)}")
    if kind.kind in "iub":
        return np.asarray(one.astype(kind))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(one.astype(np.float64 if dtype == TensorProto.DOUBLE else np.float32).astype(kind))
