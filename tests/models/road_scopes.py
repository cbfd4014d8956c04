"""The graphs of a random model while they are drawn: their nodes, and what each value is.

``road_models.py`` draws what stands in them. The reference of onnx says what a node gives. A Pad is computed twice, by
padops' reference and by the walk of ``padops.conformance.peers.independent``, which must agree. Nothing here looks at
how a model is converted, nor at onnxruntime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import native
import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from padops.conformance.peers import independent
from padops.conformance.peers.request import Request
from padops.spec import reference
from padops.spec.dtypes import DType, by_onnx, dtype_of, from_bytes
from padops.spec.plan import PadError

INT64, INT32 = np.dtype(np.int64), np.dtype(np.int32)
Shape = list[int | str | None] | None
Values = dict[str, np.ndarray]
NONE: Mapping[str, Any] = {}


class Dice:
    """A generator with the few words that drawing needs."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both of them possible."""
        return int(self.rng.integers(low, high + 1))

    def order(self, count: int) -> list[int]:
        return [int(i) for i in self.rng.permutation(count)]


@dataclass
class Book:
    """What all graphs of a model share."""

    dice: Dice
    opset: int
    dtype: DType
    whole: bool  # whether the data are small whole numbers, with which convolutions are exact
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    feeds: Values = field(default_factory=dict)
    tensors: list[onnx.TensorProto] = field(default_factory=list)  # of the main graph
    functions: list[onnx.FunctionProto] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    names: int = 0

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def array(self, shape: Sequence[int]) -> np.ndarray:
        if self.whole:
            return self.dice.rng.integers(-8, 9, tuple(shape)).astype(self.dtype.numpy)
        made = native.random_array(self.dice.rng, self.dtype, shape)
        if self.dtype.name == "float16":  # the runtime's casts to float and back know one NaN
            made = np.where(np.isnan(made), np.float16("nan"), made)
        return made

    def feed(self, array: np.ndarray, shape: Shape, stem: str = "in") -> str:
        name = self.name(stem)
        self.inputs.append(helper.make_tensor_value_info(name, dtype_of(array).onnx, shape))
        self.feeds[name] = array
        return name


@dataclass
class Scope:
    """A graph, or the body of a function, while it is drawn; ``values`` has what each name stands for."""

    book: Book
    kind: str = "main"  # or "body", which sees the values outside of it, or "function", which does not
    values: Values = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)
    formals: dict[str, str] = field(default_factory=dict)  # of a function: its inputs, and what the call gives
    given: dict[str, Any] = field(default_factory=dict)  # the attributes of the function's call
    main: Scope | None = None
    resized: bool = False  # whether it runs again with other sizes, so that only what takes any size may stand in it

    @property
    def dice(self) -> Dice:
        return self.book.dice

    @property
    def root(self) -> Scope:
        return self.main or self

    def add(self, op_type: str, inputs: list[str], attributes: Mapping[str, Any] = NONE, domain: str = "") -> str:
        """A node; gives the name of its output, which has its value already. An attribute may be the caller's.

        Raises:
            Broken: A Pad breaks a rule; the node is there, and its output has no value.
        """
        output = self.book.name("v")
        node = native.node(op_type, inputs, output, attributes, self.book.name("n"), domain)
        self.nodes.append(node)
        imports = [helper.make_opsetid(*row) for row in (("", self.book.opset), ("local", 1))]
        alone = helper.make_function("", "", inputs, [output], [node], imports, sorted(self.given))
        engine = Engine(alone, functions=self.book.functions)
        if self.kind != "function":
            self.values.update(self.root.values)
        try:
            (self.values[output],) = engine.run(None, self.values, self.given)
        except Broken:
            self.book.features.add("broken")
            raise
        return output

    def inner(self, resized: bool = False) -> Scope:
        return Scope(self.book, "body", dict(self.values), main=self.root, resized=resized or self.resized)

    def constant(self, array: np.ndarray) -> str:
        return self.add("Constant", [], {"value": native.tensor("", array)})

    def held(self, array: np.ndarray) -> str:
        """An initializer of this graph, or of the main one; a function has none."""
        if self.kind == "function":
            return self.constant(array)
        name = self.book.name("w")
        if self.kind == "body" and self.dice.chance(0.5):
            self.tensors.append(native.tensor(name, array))
        else:
            self.book.tensors.append(native.tensor(name, array))
            self.root.values[name] = array
        self.values[name] = array
        return name

    def fed(self, array: np.ndarray) -> str:
        """An input of the model: its dims declared as numbers, by a name, without one, or not at all."""
        dice = self.dice
        whole: Shape = [dice.pick([n, n, None, self.book.name("d")]) for n in array.shape]
        shape = dice.pick([list(array.shape), whole, None])
        name = self.book.feed(array, shape)
        if self.kind == "main" and dice.chance(0.1):  # a default that nothing changes, or another one that is fed over
            self.book.tensors.append(native.tensor(name, array))
            self.book.features.add("input with a default")
            if dice.chance(0.5):
                del self.book.feeds[name]
        return self.seen(name, array)

    def seen(self, outer: str, array: np.ndarray) -> str:
        self.root.values[outer] = array
        if self.kind != "function":
            self.values[outer] = array
            return outer
        formal = self.book.name("f")
        self.formals[formal] = outer
        self.values[formal] = array
        return formal

    def plain(self, array: np.ndarray) -> str:
        """An operand that nothing computes."""
        return getattr(self, self.dice.pick(["constant", "held", "held", "fed"]))(array)


class Broken(Exception):
    """A Pad breaks a rule; the message is that of the reference, with the rule at its end."""


class Engine(ReferenceEvaluator):
    """Of a model, a graph or a function; raises Broken where a Pad that runs breaks a rule."""

    def __init__(self, proto: Any, **more: Any) -> None:
        super().__init__(proto, **more | {"new_ops": [Pad, Constant]})
        self.rt_inits_ = {row.name: array_of(row) for row in self.inits_}


class Constant(OpRun):
    op_domain = ""

    def _run(self, **attributes: Any) -> tuple[np.ndarray]:
        return (array_of(self.onnx_node.attribute[0].t),)


class Pad(OpRun):
    op_domain = ""

    def _run(self, *inputs: np.ndarray | None, mode: str, **attributes: Any) -> tuple[np.ndarray]:
        """Compute a Pad of the model's opset by the newest rules: ``wrap`` has never changed since it was added."""
        op, given, opset = "Pad_25", {"mode": mode}, self.run_params["opsets"][""]
        if opset < 11 and mode != "wrap":
            op, given = "Pad_1" if opset == 1 else "Pad_2", attributes | given
        elif opset < 11:  # of which the old versions do not know
            inputs = inputs[0], np.array(attributes["pads"], np.int64)
        walk = partial(independent.run_case, Request("", op, opset, given, inputs))
        try:
            found = reference.run(op, given, inputs, self.onnx_node.name)
        except PadError as error:
            try:
                walk()
            except independent.Refused:
                raise Broken(str(error)) from error
            raise AssertionError(f"the walk gives something, where the reference says: {error}") from error
        assert native.bits(walk()) == native.bits(found), "the two implementations of the rules differ"
        return (found,)


def array_of(tensor: onnx.TensorProto) -> np.ndarray:
    """What onnx itself would cut at a NUL, or give another type."""
    dtype = by_onnx(tensor.data_type)
    if dtype.name == "string":
        return np.array([text.decode() for text in tensor.string_data], object).reshape(tuple(tensor.dims))
    if tensor.raw_data or not np.prod(tensor.dims):
        return from_bytes(tensor.raw_data, dtype, tuple(tensor.dims))
    return onnx.numpy_helper.to_array(tensor)
