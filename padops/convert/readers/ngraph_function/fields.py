"""The values in the JSON of a function, each checked before it is used."""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any, TypeGuard

from padops.convert.errors import PadopsError
from padops.convert.readers.limits import too_large
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
            raise self.damaged(f"{key} of {what} has {len(value)} values, expected {len(dims)} (1 per axis) [P8]")
        return value
