"""Builds the nodes of one graph in the form of the graph's opset; NumPy formulas compute known values at once.

If an operand is a ``Number``, NumPy passes the operation to the ``Number`` (NEP 13, NEP 18), and the ``Number`` writes
a node into the open graph builder. If all operands are arrays, NumPy computes the result. So the same formula yields an
array if all operands are known, and nodes for the unknown values otherwise. NumPy does not dispatch on an index, a
shape or a bound: for these, use ``take``, ``reshape``, ``cut`` and ``arange``.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from itertools import count
from typing import Any, TypeAlias, TypeGuard, TypeVar

import numpy as np
import onnx_ir as ir
from numpy.lib.mixins import NDArrayOperatorsMixin

from padops.convert.model.graphs import inner_graphs, tensor_of
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.pad_info import Operand
from padops.spec.dtypes import by_name

# The most positions of an axis stored in the model; nodes compute more positions at run time.
MAX_LISTED = 1 << 20
FIRST_SLICE_OF_INPUTS = 10  # before, the bounds of Slice are attributes

OPEN: ContextVar[GraphBuilder] = ContextVar("OPEN")  # the graph builder that receives nodes; ``with`` opens it
here = OPEN.get


def emit(
    op_type: str, inputs: Sequence[Operand | int | None], attributes: Mapping[str, Any] | None = None, role: str = ""
) -> Number:
    return here().emit(op_type, inputs, attributes, role)


class Number(NDArrayOperatorsMixin, ir.Value):
    """A value of the graph that NumPy's functions and Python's operators accept."""

    __eq__, __hash__ = ir.Value.__eq__, ir.Value.__hash__

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        """Refuse NumPy functions that only accept arrays."""
        raise TypeError(f"{self.name} is not known before the model runs")

    def __array_ufunc__(self, function: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        """Write a node; if one operand is neutral, such as 0 in a sum, return the other operand."""
        if function is np.greater:
            function, operands = np.less, operands[::-1]
        for neutral, one, other in zip(_NEUTRAL.get(function, ()), operands, operands[::-1]):
            if not isinstance(one, ir.Value) and np.ndim(one) == 0 and one == neutral:
                return other
        if function not in _OPERATORS or method != "__call__" or options:
            return NotImplemented
        if function in (np.minimum, np.maximum) and here().opset < 12:  # Min and Max lack integers before 12
            return np.where(np.less(*operands), *(operands if function is np.minimum else operands[::-1]))
        if function is np.mod and here().opset < 10:  # Mod does not exist before 10; Div rounds to 0
            dividend, divisor = operands
            remains = dividend - dividend // divisor * divisor
            return np.where(remains < 0, remains + divisor, remains)
        return emit(_OPERATORS[function], operands)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        return _FUNCTIONS[function](*args, **options) if function in _FUNCTIONS else NotImplemented


Numbers: TypeAlias = Number | np.ndarray

_OPERATORS: Mapping[np.ufunc, str] = {
    np.add: "Add", np.subtract: "Sub", np.multiply: "Mul", np.mod: "Mod", np.negative: "Neg", np.less: "Less",
    np.equal: "Equal", np.bitwise_and: "And", np.minimum: "Min", np.maximum: "Max",  # ``&`` combines bools
    np.floor_divide: "Div",  # right for non-negative or evenly divisible operands: Div rounds to 0
}  # fmt: skip
_NEUTRAL: Mapping[np.ufunc, tuple[int | None, int]] = {
    np.add: (0, 0), np.subtract: (None, 0), np.multiply: (1, 1),  # neutral operand on the left, on the right
}  # fmt: skip


def _concatenate(vectors: Sequence[Numbers]) -> Number:
    parts = [x for x in vectors if isinstance(x, Number) or x.size]
    only = parts[0]
    return only if len(parts) == 1 and isinstance(only, Number) else emit("Concat", parts, {"axis": 0})


_FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Number]] = {
    np.where: lambda *operands: emit("Where", operands),
    np.concatenate: _concatenate,
    np.expand_dims: lambda x, axis: with_axis("Unsqueeze", x, axis),
}


def too_old(what: str, since: int) -> Unconvertible:
    return Unconvertible(
        f"it needs {what} (opset {since}), which opset {here().opset} lacks; --target onnx --opset {max(since, 13)} "
        "(padops.lower) may help"
    )


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def scalar(value: int) -> np.ndarray:
    return np.array(value, np.int64)


def is_number(x: Operand, number: int) -> TypeGuard[np.ndarray]:
    """Return whether an operand is a known single element equal to ``number``."""
    return not isinstance(x, ir.Value) and x.size == 1 and x.dtype == np.int64 and x.item() == number


def take(vector: Numbers, index: Operand | int) -> Numbers:
    """Return the elements of a vector, or rows of a matrix, at the positions ``index``."""
    if isinstance(vector, Number) or isinstance(index, ir.Value):
        return emit("Gather", [vector, index])
    return np.take(vector, index, axis=0)


def reshape(x: Operand, shape: Numbers) -> Numbers:
    """Reshape to a shape without -1; a 0 in the shape means a dim of 0 if the opset has allowzero."""
    if not isinstance(x, ir.Value) and not isinstance(shape, Number):
        return x.reshape(shape)
    may_be_empty = isinstance(shape, Number) or 0 in shape
    return emit("Reshape", [x, shape], {"allowzero": 1} if here().opset >= 14 and may_be_empty else {})


def flatten(x: Operand) -> Numbers:
    return emit("Reshape", [x, ints(-1)]) if isinstance(x, ir.Value) else x.reshape(-1)


def arange(stop: Numbers | int, step: Numbers | int = 1) -> Numbers:
    """Return 0, ``step``, 2 * ``step`` and so on, below ``stop``; ``stop`` and ``step`` have rank 0."""
    if isinstance(stop, Number) or isinstance(step, Number) or int(stop) // int(step) > MAX_LISTED:
        if here().opset < 11 and isinstance(stop, Number) and not isinstance(step, Number) and int(step) == 1:
            # Range does not exist before opset 11; NonZero of ``stop`` ones lists the same positions.
            ones = emit("ConstantOfShape", [reshape(stop, ints(1))], {"value": ir.tensor(ints(1))})
            return with_axis("Squeeze", emit("NonZero", [ones]), 0)
        return emit("Range", [0, stop, step])
    return np.arange(0, int(stop), int(step), dtype=np.int64)


def cut(vector: Numbers, start: Numbers, stop: Numbers) -> Numbers:
    """Return a slice of a vector; ``start`` and ``stop`` have one element."""
    if isinstance(vector, Number) or isinstance(start, Number) or isinstance(stop, Number):
        return part(vector, start, stop, ints(0))
    return vector[start.item() : stop.item()]


def part(x: Operand, start: Numbers, stop: Numbers, axes: np.ndarray, steps: np.ndarray | None = None) -> Number:
    """Return a slice of a tensor along some axes; ``start`` and ``stop`` have one element for each axis."""
    if here().opset >= FIRST_SLICE_OF_INPUTS:
        return emit("Slice", [x, start, stop, axes, steps])
    if steps is not None:
        raise too_old("Slice with steps", FIRST_SLICE_OF_INPUTS)
    if isinstance(start, Number) or isinstance(stop, Number):
        raise too_old("Slice with bounds as inputs", FIRST_SLICE_OF_INPUTS)
    return emit("Slice", [x], {"starts": start.tolist(), "ends": stop.tolist(), "axes": axes.tolist()})


def with_axis(op_type: str, x: Operand, axis: int) -> Number:
    """Write Unsqueeze, Squeeze or ReduceSum, whose axis is an input from opset 13 on."""
    return emit(op_type, *(([x, ints(axis)],) if here().opset >= 13 else ([x], {"axes": [axis]})))


def lowest(*vectors: Numbers) -> Numbers:
    """Return the smallest number in all vectors, as a scalar.

    If there are two vectors, the Concat has the second vector twice: OpenVINO (in onnxruntime-openvino 1.24.1) mistakes
    ReduceMin of a Concat of two vectors for an elementwise minimum.
    """
    vector: Numbers = np.concatenate([*vectors, *(vectors[1:] if len(vectors) == 2 else ())])
    return emit("ReduceMin", [vector], {"keepdims": 0}) if isinstance(vector, Number) else vector.min()


# The first opset in which ONNX Runtime has an operator, or has it for integers.
FIRST = {
    "Concat": 4, "Cast": 6, "Tile": 6, "Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Expand": 8, "ConstantOfShape": 9,
    "Less": 9, "NonZero": 9, "Where": 9, "Mod": 10, "GatherND": 11, "Loop": 11, "Range": 11, "ReduceMin": 11,
    "ScatterElements": 11,
}  # fmt: skip

T = TypeVar("T", bound=Operand)


class GraphBuilder:
    """The nodes of one graph, in topological order; formulas inside ``with builder:`` append nodes."""

    def __init__(
        self,
        opset: int,  # version of the default domain
        name: Callable[[str], str] | None = None,  # returns a unique name that resembles the wanted name
        outer: GraphBuilder | None = None,  # holds the constants
        has_pad: bool = True,  # whether ONNX's own Pad may be a node
        in_function: bool = False,  # whether the graph is the body of a function
    ) -> None:
        self.opset, self.has_pad = opset, has_pad
        self.nodes: list[ir.Node] = []
        self.arrays: dict[ir.Node, np.ndarray] = {}  # of the Constants among the nodes
        numbers = count()
        self.name = name or (lambda wanted: f"{wanted}_{next(numbers)}")
        self._in_function, self._outer = in_function, outer
        self._known: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._once: ChainMap[Hashable, Number] = ChainMap() if outer is None else outer._once.new_child()

    def __enter__(self) -> GraphBuilder:
        self._opened = OPEN.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        OPEN.reset(self._opened)

    def inner(self) -> GraphBuilder:
        """Return a graph builder for a graph inside this graph; the outermost graph holds all constants."""
        return GraphBuilder(self.opset, self.name, self, self.has_pad)

    def constant(self, array: np.ndarray, role: str = "c") -> ir.Value:
        """Return an array as a value of the graph; equal arrays share one value."""
        if self._outer is not None:
            return self._outer.constant(array, role)
        content = repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes()
        key = (array.dtype.name, array.shape, content)
        # ONNX Runtime infers the types of a function's body, and before opset 9, ONNX only has Constants of floats.
        if key not in self._known and self._in_function and self.opset < 9 and array.dtype.kind in "biu":
            value = self.emit("Constant", [], {"value": tensor_of(array.astype(np.float64))}, role=role)
            self._known[key] = self.emit("Cast", [value], {"to": by_name(array.dtype.name).onnx}, role=role)
        elif key not in self._known:
            self._known[key] = self.emit("Constant", [], {"value": tensor_of(array)}, role=role)
            self.arrays[self.nodes[-1]] = array
        return self._known[key]

    def once(self, key: Hashable, write: Callable[[], Number]) -> Number:
        """Return the result stored for ``key`` in this graph or an outer graph; if there is none, store ``write()``."""
        if key not in self._once:
            self._once[key] = write()
        return self._once[key]

    def emit(
        self,
        op_type: str,
        inputs: Sequence[Operand | int | None],
        attributes: Mapping[str, Any] | None = None,
        role: str = "",
        outputs: int = 1,
    ) -> Number:
        """Write a node of the default domain, and return its first output.

        Inputs are values, or arrays and numbers (int64) that become constants. None stands for an absent input;
        trailing absent inputs are dropped. ``role`` describes the output in the names of node and output.
        """
        assert self.has_pad or op_type != "Pad", "callers check ``has_pad`` before they write a Pad"
        if self.opset < (since := FIRST.get(op_type, 1)):
            raise too_old(op_type, since)
        arrays = [np.array(x, np.int64) if isinstance(x, int) else x for x in inputs]
        given = [x if x is None or isinstance(x, ir.Value) else self.constant(np.asarray(x)) for x in arrays]
        while given and given[-1] is None:
            given.pop()
        made = ir.convenience.convert_attributes(attributes or {})
        name = self.name(role or op_type.lower())
        values = [Number(name=name if outputs == 1 else self.name(f"{name}_{i}")) for i in range(outputs)]
        self.nodes.append(ir.Node("", op_type, given, made, outputs=values, name=name))
        return values[0]

    def drop_unused(self, output: ir.Value) -> None:
        """Drop each node, including Constants, that ``output`` does not need; detach the inputs of dropped nodes."""
        for node in reversed(list(self.nodes)):
            if not any(value is output or value.uses() for value in node.outputs):
                detach([node])
                self.nodes.remove(node)
                self.arrays.pop(node, None)

    def choose(self, condition: Operand, then: Callable[[], T], other: Callable[[], T]) -> T | Number:
        """Write an If on ``condition``, a scalar bool; if the condition is known, write only the selected branch."""
        if not isinstance(condition, ir.Value):
            return (then if condition else other)()
        graphs = {}
        for name, write in (("then_branch", then), ("else_branch", other)):
            with self.inner() as inner:
                graphs[name] = inner.graph([], [write()], name)
        return self.emit("If", [condition], graphs)

    def graph(self, inputs: Sequence[ir.Value], outputs: Sequence[Operand], name: str) -> ir.Graph:
        """Make an inner graph from the builder's nodes; an Identity returns each output that comes from elsewhere."""
        own = {value for node in self.nodes for value in node.outputs}
        made = [x if isinstance(x, ir.Value) and x in own else self.emit("Identity", [x]) for x in outputs]
        return ir.Graph(inputs, made, nodes=self.nodes, name=self.name(name))


def detach(nodes: Iterable[ir.Node]) -> None:
    """Remove the inputs of nodes that are in no graph, so that these nodes no longer count as users of the inputs."""
    for node in nodes:
        for _, graph in inner_graphs(node):
            detach(graph)
        node.resize_inputs(0)
