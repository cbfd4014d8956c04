"""The Pads of ONNX as one head: which versions and domains mean the same, and what of a node says nothing.

By docs/semantics.md all of them crop first (P3), have no limits (P4), and ignore the fill but in mode constant (P7). What
is not among them: OpenVINO's, nGraph's and SAME's Pads, which stay operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.proof.schemas import PADOPS
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

MODES = ("constant", "edge", "reflect", "wrap")
WRAP, AXES, AMOUNTS = 19, 18, 11  # the versions since which there are mode wrap, the input axes, amounts as an input
VERSIONS = (1, 2, 11, 13, 18, 19, 21, 23, 24, 25)
MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Spelling:
    """How a node says that it is a Pad.

    Attributes:
        domain: Of the operator.
        version: Of ONNX's Pad that it mirrors; 0 for that of com.microsoft.
        by_input: Whether the amounts are an input.
    """

    domain: str
    version: int
    by_input: bool


def spelling_of(domain: str, op_type: str, version: int, attributes: Mapping[str, Any]) -> Spelling | None:
    """What kind of Pad of ONNX a node is, or None where it is none."""
    by_input = not {"pads", "paddings"} & set(attributes)
    if domain == "" and op_type == "Pad":
        return Spelling("", version, by_input)
    if domain == MICROSOFT and op_type == "Pad":
        return Spelling(MICROSOFT, 0, by_input)
    name, _, number = op_type.partition("_")
    if domain == PADOPS and name == "Pad" and number.isdecimal() and int(number) in VERSIONS:
        return Spelling(PADOPS, int(number), by_input)
    return None


def pad_term(terms: Terms, spelling: Spelling, attributes: Mapping[str, Any], inputs: Sequence[int]) -> int | None:
    """The term of a Pad of ONNX; None for a node that is not as it should be, which stays an operator."""
    amounts_name = "paddings" if spelling.version == 1 else "pads"
    known = {"mode"} if spelling.by_input else {"mode", "value", amounts_name}
    mode = attributes.get("mode", b"constant")
    text = mode.decode("utf-8", "replace") if isinstance(mode, bytes) else ""
    if set(attributes) - known or text not in MODES:
        return None
    if spelling.domain == PADOPS and (text == "wrap" and spelling.version < WRAP or _has_wrong_form(spelling)):
        return None  # such a model is refused (P9)
    if not spelling.by_input:
        if len(inputs) != 1 or spelling.domain == MICROSOFT or amounts_name not in attributes:
            return None
        amounts = np.array(attributes[amounts_name], np.int64)
        value = attributes.get("value", bytes(4)) if text == "constant" else bytes(4)
        return _with_value(terms, text, inputs[0], terms.add_constant(amounts, TensorProto.INT64), value)
    most = 4 if spelling.domain != MICROSOFT and spelling.version >= AXES else 3
    if not 2 <= len(inputs) <= most or ABSENT in inputs[:2]:
        return None
    data, pads, fill, axes = (*inputs, ABSENT, ABSENT)[:4]
    if not _has_types(terms, data, pads, fill, axes):
        return None
    if fill != ABSENT and _says_nothing(terms, text, fill):
        fill = ABSENT
    return terms.add(Head(Kind.PAD, mode=text), (data, pads, fill, _as_int64(terms, axes)))


def _has_types(terms: Terms, data: int, pads: int, fill: int, axes: int) -> bool:
    """Whether the inputs of a Pad have types that it takes, as far as they are known: a model is refused for any other."""
    types = (None if one == ABSENT else terms.dtype(one) for one in (data, pads, fill, axes))
    kind, amounts, value, places = types
    return (
        amounts in (None, TensorProto.INT64)
        and (value is None or kind is None or value == kind)
        and places in (None, TensorProto.INT64, TensorProto.INT32)
    )


def types_of(spelling: Spelling) -> frozenset[str]:
    """The element types that a Pad takes, as onnx writes them; of padops' own, all that any version takes."""
    if spelling.domain == MICROSOFT:
        return frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
    version = VERSIONS[-1] if spelling.domain == PADOPS else spelling.version
    return frozenset(onnx.defs.get_schema("Pad", version).inputs[0].types)


def takes_type(version: int, dtype: int) -> bool:
    """Whether Pad of ONNX takes an element type in a version."""
    found = onnx.defs.get_schema("Pad", version)
    return f"tensor({TensorProto.DataType.Name(dtype).lower()})" in found.inputs[0].types


def _has_wrong_form(spelling: Spelling) -> bool:
    return spelling.by_input != (spelling.version >= AMOUNTS)


def is_regular(spelling: Spelling, mode: str) -> bool:
    """Whether the specification has a node of this form and mode: amounts where the version has them, no early wrap."""
    if spelling.domain == MICROSOFT:
        return spelling.by_input
    return not _has_wrong_form(spelling) and (mode != "wrap" or spelling.version >= WRAP)


def _with_value(terms: Terms, mode: str, data: int, pads: int, value: bytes) -> int:
    """A Pad whose fill is a float attribute: rounded once to the type of the data, where that is known (P7)."""
    dtype = terms.dtype(data)
    if value == bytes(4) or mode != "constant":
        return terms.add(Head(Kind.PAD, mode=mode), (data, pads, ABSENT, ABSENT))
    if dtype not in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE):
        return terms.add(Head(Kind.PAD, mode=mode, fill=value), (data, pads, ABSENT, ABSENT))
    number = np.frombuffer(value, "<f4")[0]
    with np.errstate(over="ignore"):
        rounded = np.array(number).astype(onnx.helper.tensor_dtype_to_np_dtype(dtype))
    fill = terms.add_constant(rounded, dtype)
    fill = ABSENT if _says_nothing(terms, mode, fill) else fill
    return terms.add(Head(Kind.PAD, mode=mode), (data, pads, fill, ABSENT))


def _says_nothing(terms: Terms, mode: str, fill: int) -> bool:
    """Whether a fill is what a Pad without one has: 0 by its bits, false, the empty string; or is not looked at (P7)."""
    elements = terms.constant(fill)
    if elements is None or terms.head(fill).kind is not Kind.CONSTANT:
        return False
    if mode != "constant":
        return True
    if elements.size != 1 or elements.ndim > 1:
        return False
    return elements.item() in (b"", "") if elements.dtype == object else not any(elements.tobytes())


def _as_int64(terms: Terms, axes: int) -> int:
    """Constant axes of int32 as int64: they say the same."""
    elements = None if axes == ABSENT else terms.constant(axes)
    if elements is None or terms.head(axes).type != TensorProto.INT32:
        return axes
    return terms.add_constant(elements.astype(np.int64), TensorProto.INT64)
