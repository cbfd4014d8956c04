"""A model as terms, and a graph that is being read."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx

from padops.convert.verify import inference
from padops.convert.verify.terms import Shape


@dataclass
class Built:
    """A model as terms."""

    inputs: dict[str, int] = field(default_factory=dict)  # the terms of required and optional graph inputs, by name
    declared: dict[str, onnx.TypeProto] = field(default_factory=dict)  # the declared types of these inputs
    defaults: dict[str, int] = field(default_factory=dict)  # the initializers' terms of optional inputs, by name
    # Names, types and terms of the graph's outputs, in order
    outputs: list[tuple[str, onnx.TypeProto, int]] = field(default_factory=list)
    # For each body, and ``TOP``: the terms of all its values, by name, in order
    scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    unused: tuple[int, ...] = ()  # the main graph's terms that no output needs
    # Terms with declared dims, the value's name, and whether inference from the inputs gives the same dims
    declares: list[tuple[int, Shape, str, bool]] = field(default_factory=list)
    odd: set[str] = field(default_factory=set)  # parts that runtimes refuse or interpret differently, each in a clause


@dataclass
class Scope:
    """A graph that is being read: the terms of its names, and the inferred types of its values."""

    names: dict[str, int]
    place: tuple[str, ...]
    inferred: onnx.GraphProto | None
    has_formals: bool = False  # whether the graph is inside a body with inputs: then its values have no known dims
    own: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.types = {} if self.inferred is None else inference.types_of(self.inferred)


def differ(said: Shape, known: Shape | None) -> bool:
    """Whether declared numbers differ from the known dims; an unknown dim differs from every number."""
    if known is None or len(said) != len(known):
        return True
    return any(isinstance(dim, int) and dim != other for dim, other in zip(said, known))
