"""The values in the JSON of a function, each checked before it is used."""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from padops.convert.errors import PadopsError
from padops.convert.readers.limits import too_large
from padops.plural import plural
from padops.spec.dtypes import DType, by_name
from padops.spec.plan import LARGEST

# Element types by their names in C++.
TYPES = {
    "char": by_name("bool"),
    "bfloat16": by_name("bfloat16"),
    "float16": by_name("float16"),
    "half": by_name("float16"),
    "float": by_name("float"),
    "double": by_name("double"),
    **{f"{name}_t": by_name(name) for name in ("int8", "int16", "int32", "int64")},
    **{f"{name}_t": by_name(name) for name in ("uint8", "uint16", "uint32", "uint64")},
}

Dims = list[int | None] | None

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 100
_REPR.maxlevel = 3


def shown(value: Any) -> str:
    """A value for a message, shortened: it can be as long as the file."""
    return _REPR.repr(value)


def is_int(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer and no bool; Python's bools are integers."""
    return isinstance(value, int) and not isinstance(value, bool)


class Fields:
    """Reads values of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def damaged(self, what: str) -> PadopsError:
        """The error for an invalid file."""
        return PadopsError(f"{self._path} is not what nGraph's serializer writes, or is damaged: {what}")

    def get(self, op: dict[str, Any], key: str, kind: type, what: str) -> Any:
        """The value of a key.

        Raises:
            PadopsError: There is no such key, or its value is of another type.
        """
        value = op.get(key)
        if not isinstance(value, kind):
            raise self.damaged(f"{what} has no {key}" if value is None else f"{key} of {what} is {shown(value)}")
        return value

    def name(self, value: Any, what: str) -> str:
        """A name: a text that is not empty and is valid in UTF-8. (JSON can hold half a surrogate pair.)

        Raises:
            PadopsError: It is no name.
        """
        if not isinstance(value, str) or not value or any("\ud800" <= c <= "\udfff" for c in value):
            raise self.damaged(f"{what} is {shown(value)}, which is no name")
        return value

    def names(self, function: dict[str, Any], key: str) -> list[str]:
        """A list of names that the function has.

        Raises:
            PadopsError: There is no such list, or one of its elements is no name.
        """
        listed = self.get(function, key, list, "the function")
        return [self.name(value, f"one of the {key} of the function") for value in listed]

    def element_type(self, op: dict[str, Any], what: str) -> DType:
        """The element type; the oldest files spell it out in an object.

        Raises:
            PadopsError: There is none, or none of that name.
        """
        found = op.get("element_type")
        name = found.get("c_type_string") if isinstance(found, dict) else found
        if not isinstance(name, str) or name not in TYPES:
            raise self.damaged(f"{what} has the element type {shown(name)}")
        return TYPES[name]

    def dims(self, op: dict[str, Any], what: str) -> Dims:
        """A shape: null where the rank is not known, with a null for each dynamic dim.

        Raises:
            PadopsError: There is none, or no tensor can have it.
        """
        if "shape" not in op:
            raise self.damaged(f"{what} has no shape")
        shape = op["shape"]
        if shape is None:
            return None
        if not isinstance(shape, list) or not all(d is None or (is_int(d) and d >= 0) for d in shape):
            raise self.damaged(f"{what} has the shape {shown(shape)}")
        if wrong := too_large(shape):
            raise self.damaged(f"{what} has the shape {shown(shape)}: {wrong}")
        return shape

    def amounts(self, value: Any, key: str, what: str, dims: Dims) -> list[int]:
        """Amounts of a Pad, one for each axis.

        Raises:
            PadopsError: They are no integers, too large, or not as many as there are dims.
        """
        if not isinstance(value, list) or not all(map(is_int, value)):
            raise self.damaged(f"{key} of {what} is {shown(value)}")
        if beyond := [amount for amount in value if abs(amount) > LARGEST]:
            raise self.damaged(f"{key} of {what} has {shown(beyond[0])}, beyond {LARGEST} [P10]")
        if dims is not None and len(value) != len(dims):
            raise self.damaged(
                f"{key} of {what} has {plural(len(value), 'value')}, expected {len(dims)} (1 per axis) [P8]"
            )
        return value


FLOATS = {"float", "double", "float16", "bfloat16"}
# Bytes of an initializer that is made of one value. More than that stay one value in the model too: a hundred bytes of
# the file could ask for all of the memory.
LARGEST_REPEATED = 1024


def read_elements(fields: Fields, texts: list[Any], kind: DType, what: str) -> np.ndarray:
    """The elements of a Constant's value, in the NumPy type of ``kind``: all of them, or one that stands for all.

    ``what`` names the Constant in the error; ``texts`` are its elements as the JSON has them, texts or numbers.

    Raises:
        PadopsError: A text is no element of the type.
    """
    if wrong := [text for text in texts if not isinstance(text, (str, int, float)) or isinstance(text, bool)]:
        raise fields.damaged(f"{what} has the value {shown(wrong[0])}")
    try:
        with np.errstate(over="ignore"):
            elements = np.array([_parse(str(text), kind) for text in texts], kind.numpy)
    except (ValueError, OverflowError) as error:
        reason = str(error)
        raise fields.damaged(f"{what}: {reason if len(reason) < 200 else reason[:200] + '…'}") from None
    if kind.name in FLOATS:
        for text, element in zip(texts, elements.astype(np.float64)):
            if np.isinf(element) and "inf" not in str(text).lower():
                raise fields.damaged(f"{what} has the value {shown(text)}, beyond {kind.numpy}")
    return elements


def _parse(text: str, kind: DType) -> float | int | bool:
    """One element of a constant; floats may be NAN, INFINITY or -INFINITY."""
    if kind.name in FLOATS:
        return float(text)
    number = int(text)
    if kind.name == "bool":
        return bool(number)
    info = np.iinfo(kind.numpy)
    if not info.min <= number <= info.max:
        raise ValueError(f"{shown(text)} is beyond {info.dtype}")
    return number


def add_constant(
    graph: onnx.GraphProto, name: str, kind: DType, dims: list[int], elements: np.ndarray, fresh: Callable[[str], str]
) -> list[str]:
    """Adds a constant to a graph: an initializer; for a large one of equal elements, nodes that repeat the element.

    Returns its name if a node gives it.
    """
    repeats = prod(dims) if len(elements) == 1 else 1
    if repeats > 1 and repeats * elements.itemsize > LARGEST_REPEATED:
        graph.initializer.append(numpy_helper.from_array(np.array(dims, np.int64), shape := fresh(f"{name}_shape")))
        graph.node.extend(_repeated(name, kind, shape, elements, fresh))
        return [name]
    graph.initializer.append(
        TensorProto(name=name, data_type=kind.onnx, dims=dims, raw_data=elements.tobytes() * repeats)
    )
    return []


def _repeated(
    name: str, kind: DType, shape: str, element: np.ndarray, fresh: Callable[[str], str]
) -> list[onnx.NodeProto]:
    """Nodes that give a tensor of equal elements, of the shape that another value says."""
    if kind.name != "bfloat16":
        return [helper.make_node("ConstantOfShape", [shape], [name], name, value=numpy_helper.from_array(element))]
    # ConstantOfShape has no bfloat16 in this opset, and a float holds each of them.
    wide, value = fresh(f"{name}_float"), numpy_helper.from_array(element.astype(np.float32))
    return [
        helper.make_node("ConstantOfShape", [shape], [wide], wide, value=value),
        helper.make_node("Cast", [wide], [name], name, to=kind.onnx),
    ]
