"""The parts of a dialect: the row of an operator, and a node of the operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from padops.spec.plan import Amounts, Crop, Limit, Mode, PadError, Plan, make_plan

# What the elements of an integer input may be, by the kind of the input.
INTEGER_KINDS = {
    "int64": ("int64",),
    "index": ("int32", "int64"),
    "integer": ("uint8", "int8", "uint16", "int16", "int32", "int64", "uint32", "uint64"),
}

# The rule that says what an attribute of each type must be, and what that is in words.
_ATTRIBUTE_TYPES = {"ints": ("P8", "a list of integers"), "float": ("P7", "a float"), "string": ("P9", "a string")}


def _is_of_type(name: str, value: object) -> bool:
    """Whether an attribute's value is of a type of ``_ATTRIBUTE_TYPES``: an integer is no float, a text no list."""
    if name == "ints":
        return isinstance(value, (list, tuple)) and all(isinstance(one, (int, np.integer)) for one in value)
    return isinstance(value, str if name == "string" else (float, np.floating))


@dataclass(frozen=True)
class Input:
    """One input of an operator; ``kind`` is ``"T"`` (the type of the data) or a key of ``INTEGER_KINDS``."""

    name: str
    kind: str
    optional: bool = False


@dataclass(frozen=True)
class Attribute:
    """One attribute.

    Attributes:
        name: As the specification spells it.
        type: ``"ints"``, ``"float"`` or ``"string"``.
        required: Whether the node must have it.
        default: What an absent one reads as; ``[]`` for a list stands for a value per axis that changes nothing,
            see :meth:`Node.list_or`.
        choices: What a string other than the mode may say.
    """

    name: str
    type: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Op:
    """One operator of the domain.

    Attributes:
        name: The ``op_type``.
        inputs: In order; the data comes first.
        attributes: In alphabetical order of their names.
        mode: The name of the mode attribute.
        modes: What the mode attribute may say, in the specification's spelling.
        types: Names of the element types of ``T``.
        crop: What negative pads do (P3).
        fill: The name of the input or attribute that holds the fill.
        amounts: ``(node, shape) -> Amounts of each axis``.
        limit: How far a mode may reach (P4).
        clamp: Whether a negative output dim is 0 (P1).
    """

    name: str
    inputs: tuple[Input, ...]
    attributes: tuple[Attribute, ...]
    mode: str
    modes: tuple[str, ...]
    types: tuple[str, ...]
    crop: Crop
    fill: str
    amounts: Callable[[Node, Sequence[int]], list[Amounts]]
    limit: Limit = Limit.NONE
    clamp: bool = False

    def input_index(self, name: str) -> int | None:
        """The position of the input called ``name``, or None."""
        return next((i for i, row in enumerate(self.inputs) if row.name == name), None)


@dataclass
class Node:
    """A node as a dialect sees it: the attributes and the integer inputs.

    Attributes:
        op: The operator.
        name: The node's name, for error messages.
        attributes: Those given; absent ones read as their defaults.
        inputs: One entry for each of ``op.inputs``, None where the input is absent. Only integer inputs are read.
    """

    op: Op
    name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: Sequence[np.ndarray | None] = ()

    def error(self, rule: str, detail: str) -> PadError:
        """A PadError that names this node."""
        return PadError(rule, detail, self.op.name, self.name)

    def attribute(self, name: str) -> Any:
        """The value of an attribute: the node's, else the default.

        Raises:
            PadError: P7, P8 or P9 if a required one is absent or one is of another type, S1 if it says what it may not.
        """
        row = next(row for row in self.op.attributes if row.name == name)
        value = self._typed(row)
        if row.choices and value not in row.choices:
            raise self.error("S1", f"{name} '{value}' is not one of {', '.join(row.choices)}")
        return value

    def _typed(self, row: Attribute) -> Any:
        """The value of an attribute, once it is there and of the type that it must be."""
        rule, words = _ATTRIBUTE_TYPES[row.type]
        if row.name not in self.attributes:
            if row.required:
                raise self.error(rule, f"attribute {row.name} is required")
            return row.default
        value = self.attributes[row.name]
        if not _is_of_type(row.type, value):
            raise self.error(rule, f"attribute {row.name} is not {words}")
        return [int(one) for one in value] if row.type == "ints" else value

    def list_or(self, name: str, count: int, neutral: int) -> Sequence[int]:
        """The values of a list attribute that may be absent.

        Args:
            name: The attribute.
            count: How many values there are where it is absent.
            neutral: Each of them: what changes nothing.
        """
        values: Sequence[int] = self.attribute(name) if name in self.attributes else [neutral] * count
        return values

    def integers(self, name: str) -> np.ndarray | None:
        """An integer input, or None where it is absent.

        Raises:
            PadError: P8 if a required one is absent or the elements are of another type.
        """
        position = self.op.input_index(name)
        assert position is not None, f"{self.op.name} has no input {name}"
        row = self.op.inputs[position]
        array = self.inputs[position] if position < len(self.inputs) else None
        if array is None:
            if row.optional:
                return None
            raise self.error("P8", f"input {name} is required")
        allowed = INTEGER_KINDS[row.kind]
        if array.dtype.name not in allowed:
            raise self.error("P8", f"{name} is {array.dtype.name}, expected {' or '.join(allowed)}")
        return array

    def required_integers(self, name: str) -> np.ndarray:
        """An integer input that the operator requires.

        Raises:
            PadError: P8 if it is absent or the elements are of another type.
        """
        array = self.integers(name)
        assert array is not None, f"{name} is an optional input of {self.op.name}"
        return array

    def mode(self) -> Mode:
        """The mode, once every required attribute is there, all have their types and every string says what it may.

        Raises:
            PadError: P7, P8 or P9 for an attribute that is absent or of another type, P9 if this version of the
                operator does not know the mode, S1 for another string.
        """
        for row in self.op.attributes:
            self._typed(row)
        text = self.attribute(self.op.mode)
        if text not in self.op.modes:
            raise self.error("P9", f"{self.op.mode} '{text}' is not one of {', '.join(self.op.modes)}")
        for row in self.op.attributes:
            if row.choices:
                self.attribute(row.name)
        return Mode(text.lower())


def make_node_plan(node: Node, shape: Sequence[int]) -> Plan:
    """The plan of ``node`` for data of ``shape``.

    Raises:
        PadError: A rule is broken; the message names the operator, the node, the rule and the numbers.
    """
    mode = node.mode()
    amounts = node.op.amounts(node, shape)
    try:
        return make_plan(shape, amounts, mode, node.op.crop, node.op.limit, node.op.clamp)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None
