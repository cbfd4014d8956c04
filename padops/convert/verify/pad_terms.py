"""Brings ONNX Pads of all versions and domains into one normal form.

According to docs/semantics.md, all these Pads crop first (P3), have no limits (P4), and use the fill only in mode
constant (P7). SamePad_1, and the Pads of OpenVINO, nGraph and other frameworks, have no normal form:
``moves/definitions.py`` defines them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from padops.convert.model.nesting import nodes_of
from padops.convert.verify import schemas
from padops.convert.verify.schemas import INTEGERS
from padops.convert.verify.terms import ABSENT, Head, Kind, Terms
from padops.spec.dialects import DOMAIN, OPS

MODES = ("constant", "edge", "reflect", "wrap")
WRAP, AXES, AMOUNTS = 19, 18, 11  # the first versions with mode wrap, with the input axes, with amounts as an input
MICROSOFT, ZERO = "com.microsoft", bytes(4)
MICROSOFT_IS = 13  # com.microsoft::Pad behaves like this version of ONNX's Pad
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
Place = tuple[str, ...]


def pad_term(
    terms: Terms, operator: tuple[str, str, int], attributes: Mapping[str, Any], inputs: Sequence[int], place: Place
) -> int | None:
    """Returns the term of an ONNX Pad; None for another node, or for a Pad with wrong inputs or attributes.

    ``operator`` is the domain, the op_type and the version; ``attributes`` includes the schema's defaults.
    """
    domain, version = operator[0], version_of(*operator)
    if version is None:
        return None
    by_input = domain == MICROSOFT or version >= AMOUNTS
    amounts_name = "paddings" if version == 1 else "pads"
    known = {"mode"} if by_input else {"mode", "value", amounts_name}
    mode = attributes.get("mode", b"constant")
    text = mode.decode("utf-8", "replace") if isinstance(mode, bytes) else f"@{mode[1]}"
    if set(attributes) - known or (text not in MODES and text[0] != "@"):
        return None
    if domain == DOMAIN and text == "wrap" and version < WRAP:
        return None  # runtimes reject such a model (P9)
    head = Head(Kind.PAD, mode=text, place=place)
    most = 1 if not by_input else 4 if domain != MICROSOFT and version >= AXES else 3
    data, pads, fill, axes = (*inputs, ABSENT, ABSENT, ABSENT, ABSENT)[:4]
    if not by_input:
        amounts, value = attributes.get(amounts_name), attributes.get("value", ZERO)
        value = np.float32(value).tobytes() if isinstance(value, int) else value  # an integer counts as a number, too
        if amounts and amounts[0] == "@":
            pads = terms.add(Head(Kind.FORMAL, name=f"@{amounts[1]}", place=place))
        elif amounts is not None:
            pads = terms.add_constant(np.array(amounts, np.int64), TensorProto.INT64)
        dtype, is_zero = terms.dtype(data), value == ZERO or text in MODES[1:]
        is_known = isinstance(value, bytes) and not is_zero
        rounded = _rounded(np.frombuffer(value, "<f4")[0], dtype) if is_known else None
        if rounded is not None and dtype is not None:
            fill = terms.add_constant(rounded, dtype)
        elif not is_zero:
            head = replace(head, fill=value if isinstance(value, bytes) else repr(value).encode())
    if len(inputs) > most or ABSENT in (data, pads):
        return None
    if fill != ABSENT and _says_nothing(terms, text, fill):
        fill = ABSENT
    pads, axes, fill = _as_int64(terms, pads), _as_int64(terms, axes), _as_type(terms, fill, terms.dtype(data))
    return terms.add(head, (data, pads, fill, axes)) if has_types(terms, data, pads, fill, axes) else None


def version_of(domain: str, op_type: str, version: int) -> int | None:
    """Returns the version of an ONNX Pad or of its mirror in padops; 0 for com.microsoft's Pad, None for others."""
    if op_type == "Pad" and domain in ("", MICROSOFT):
        return version if domain == "" else 0
    is_mirror = domain == DOMAIN and op_type in OPS and op_type.startswith("Pad_")
    return int(op_type.removeprefix("Pad_")) if is_mirror else None


def has_types(terms: Terms, data: int, pads: int = ABSENT, fill: int = ABSENT, axes: int = ABSENT) -> bool:
    """Returns whether the known input types of a Pad are valid; runtimes reject a model with other types."""
    kind, amounts, value, places = map(terms.dtype, (data, pads, fill, axes))
    if amounts not in (None, TensorProto.INT64) or places not in (None, TensorProto.INT64, TensorProto.INT32):
        return False
    return value is None or kind is None or value == kind


def zero(dtype: int) -> np.ndarray:
    """Returns the default fill (P7), a scalar: 0 (all bits 0), false or the empty string."""
    if dtype == TensorProto.STRING:
        return np.array(b"", object)
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    return np.zeros(kind.itemsize, np.uint8).view(kind).reshape(())


def _rounded(number: Any, dtype: int | None) -> np.ndarray | None:
    """Returns a fill rounded once to the data's type (P7); None if the type has no such element."""
    if dtype is None or dtype not in (*FLOATS, *INTEGERS):
        return None
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        made = np.array(number).astype(kind)
    return made if kind.kind == "f" or made == number else None


def _as_type(terms: Terms, fill: int, dtype: int | None) -> int:
    """Converts a constant fill of another type to the data's type; returns any other fill unchanged."""
    elements = terms.constant(fill)
    if elements is None or elements.size != 1 or elements.dtype.kind not in "iuf" or terms.dtype(fill) == dtype:
        return fill
    cast = _rounded(elements.reshape(-1)[0], dtype)
    return fill if cast is None or dtype is None else terms.add_constant(cast.reshape(elements.shape), dtype)


def _says_nothing(terms: Terms, mode: str, fill: int) -> bool:
    """Returns whether a fill changes nothing (P7): it is the default (bits of 0, false, ""), or the mode ignores it."""
    elements = terms.constant(fill)
    if elements is None or terms.head(fill).kind is not Kind.CONSTANT or mode not in MODES:
        return False
    if mode != "constant":
        return True
    if elements.size != 1 or elements.ndim > 1:
        return False
    return elements.item() in (b"", "") if elements.dtype == object else not any(elements.tobytes())


def _as_int64(terms: Terms, axes: int) -> int:
    """Converts constant int32 axes or amounts to int64; returns any other input unchanged."""
    elements = terms.constant(axes)
    if elements is None or terms.head(axes).type != TensorProto.INT32:
        return axes
    return terms.add_constant(elements.astype(np.int64), TensorProto.INT64)


def names_all_axes(terms: Terms, a: int, b: int) -> bool:
    """Returns whether Pad ``b`` equals Pad ``a``, but lists all axes in order; amounts (P8) or dims give the rank."""
    if terms.head(a).kind is not Kind.PAD or terms.head(a) != terms.head(b):
        return False
    (*one, none), (*other, axes) = ([terms.find(given) for given in terms.inputs(pad)] for pad in (a, b))
    amounts, listed, dims = terms.constant(one[1]), terms.constant(axes), terms.shape(one[0])
    if one != other or none != ABSENT or listed is None:
        return False
    if amounts is not None and amounts.ndim == 1:
        return np.array_equal(listed, np.arange(amounts.size // 2))
    return dims is not None and np.array_equal(listed, np.arange(len(dims)))


def mirrored(model: onnx.ModelProto) -> onnx.ModelProto:
    """Returns the model with each ONNX Pad replaced by the padops operator that mirrors it."""
    made = deepcopy(model)
    parts: list[onnx.ModelProto | onnx.FunctionProto] = [made, *made.functions]
    for part in parts:
        versions = schemas.imports_of(part)
        for _, node in nodes_of(part.graph.node if isinstance(part, onnx.ModelProto) else part.node):
            version = version_of(node.domain, node.op_type, schemas.version_of("", "Pad", versions.get("", 1)))
            if version is not None and node.domain != DOMAIN:
                node.domain, node.op_type = DOMAIN, f"Pad_{version or MICROSOFT_IS}"
        if DOMAIN not in versions:
            part.opset_import.add(domain=DOMAIN, version=1)
    return made
