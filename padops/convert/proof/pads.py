"""One normal form for ONNX Pads of all versions and domains that mean the same.

By docs/semantics.md, all of them crop first (P3), have no limits (P4), and use the fill in mode constant only (P7).
Pads of OpenVINO, nGraph and SAME stay operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.proof.schemas import PADOPS, VERSIONS
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

MODES = ("constant", "edge", "reflect", "wrap")
WRAP, AXES, AMOUNTS = 19, 18, 11  # the first versions with mode wrap, with the input axes, with amounts as an input
MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Spelling:
    """The form in which a node writes an ONNX Pad."""

    domain: str  # the operator's domain
    version: int  # the version of ONNX's Pad that it mirrors; 0 for com.microsoft
    by_input: bool  # whether the amounts are an input


def spelling_of(domain: str, op_type: str, version: int, attributes: Mapping[str, Any]) -> Spelling | None:
    """The spelling of an ONNX Pad; None for another node. ``version`` counts for ONNX's own domain."""
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
    """The term of an ONNX Pad; None for a node with wrong inputs or attributes, which stays an operator.

    ``attributes`` includes defaults, as ``schemas.attribute_value`` gives them.
    """
    amounts_name = "paddings" if spelling.version == 1 else "pads"
    known = {"mode"} if spelling.by_input else {"mode", "value", amounts_name}
    mode = attributes.get("mode", b"constant")
    text = mode.decode("utf-8", "replace") if isinstance(mode, bytes) else ""
    if set(attributes) - known or text not in MODES:
        return None
    if spelling.domain == PADOPS and (text == "wrap" and spelling.version < WRAP or _has_wrong_form(spelling)):
        return None  # runtimes reject such a model (P9)
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
    """Whether the known input types of a Pad are valid; runtimes reject a model with others."""
    types = (None if one == ABSENT else terms.dtype(one) for one in (data, pads, fill, axes))
    kind, amounts, value, places = types
    if amounts not in (None, TensorProto.INT64) or places not in (None, TensorProto.INT64, TensorProto.INT32):
        return False
    return value is None or kind is None or value == kind


def zero(dtype: int) -> np.ndarray:
    """The default fill (P7): a scalar with bits of 0, false or the empty string."""
    if dtype == TensorProto.STRING:
        return np.array(b"", object)
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    return np.zeros(kind.itemsize, np.uint8).view(kind).reshape(())


def types_of(spelling: Spelling) -> frozenset[str]:
    """The element types that a Pad takes, as onnx writes them; padops' own Pads take those of every version."""
    if spelling.domain == MICROSOFT:
        return frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
    version = VERSIONS[-1] if spelling.domain == PADOPS else spelling.version
    return frozenset(onnx.defs.get_schema("Pad", version).inputs[0].types)


def _has_wrong_form(spelling: Spelling) -> bool:
    return spelling.by_input != (spelling.version >= AMOUNTS)


def is_regular(spelling: Spelling, mode: str) -> bool:
    """Whether a spelling is valid for its version: where the amounts are, and mode wrap."""
    if spelling.domain == MICROSOFT:
        return spelling.by_input
    return not _has_wrong_form(spelling) and (mode != "wrap" or spelling.version >= WRAP)


def _with_value(terms: Terms, mode: str, data: int, pads: int, value: bytes) -> int:
    """A Pad whose fill is a float attribute: rounded once to the data's type, if known (P7)."""
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
    """Whether a fill changes nothing (P7): it is the default (bits of 0, false, ""), or the mode ignores it."""
    elements = terms.constant(fill)
    if elements is None or terms.head(fill).kind is not Kind.CONSTANT:
        return False
    if mode != "constant":
        return True
    if elements.size != 1 or elements.ndim > 1:
        return False
    return elements.item() in (b"", "") if elements.dtype == object else not any(elements.tobytes())


def _as_int64(terms: Terms, axes: int) -> int:
    """Constant int32 axes as int64; other axes as they are."""
    elements = None if axes == ABSENT else terms.constant(axes)
    if elements is None or terms.head(axes).type != TensorProto.INT32:
        return axes
    return terms.add_constant(elements.astype(np.int64), TensorProto.INT64)
