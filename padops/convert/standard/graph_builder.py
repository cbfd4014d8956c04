"""Writes nodes of standard ONNX in the form of each opset; ``numbers.py`` has the formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import Token
from typing import Any, TypeVar

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import tensor_of
from padops.convert.model.graphs import inner_graphs
from padops.convert.pads.operands import Operand
from padops.convert.standard.numbers import OPEN, Number, too_old

# Where ONNX Runtime has an operator from, or with integers.
FIRST = {
    "Concat": 4, "Cast": 6, "Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Expand": 8, "ConstantOfShape": 9, "Less": 9,
    "NonZero": 9, "Where": 9, "Mod": 10, "GatherND": 11, "Loop": 11, "Range": 11, "ReduceMin": 11,
    "ScatterElements": 11,
}  # fmt: skip

T = TypeVar("T", bound=Operand)

INT64 = ir.TensorType(ir.DataType.INT64)
BOOL = ir.TensorType(ir.DataType.BOOL)


class GraphBuilder:
    """The nodes of one graph, in order; the formulas within ``with builder:`` write theirs here."""

    def __init__(
        self,
        opset: int,
        name: Callable[[str], str],
        keep: Callable[[np.ndarray, str], ir.Value] | None = None,
        outer: GraphBuilder | None = None,
        has_pad: bool = True,
    ) -> None:
        """Begins an empty graph inside ``outer``; ``keep`` makes a constant of an array, and None a Constant node."""
        self.opset = opset  # version of the default domain
        self.has_pad = has_pad  # whether ONNX's own Pad may be a node
        self.nodes: list[ir.Node] = []
        self.arrays: dict[ir.Node, np.ndarray] = {}  # of the Constants among the nodes
        self.name = name  # gives a name that nothing else has, near the one that is wanted
        self._keep = keep or self._constant_node
        self._outer = outer
        self._known: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._once: dict[Hashable, Any] = {}
        self._opened: list[Token[Any]] = []

    def __enter__(self) -> GraphBuilder:
        self._opened.append(OPEN.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        OPEN.reset(self._opened.pop())

    def inner(self) -> GraphBuilder:
        """A graph builder for a graph inside this one; its constants stand here."""
        return GraphBuilder(self.opset, self.name, self.constant, self, self.has_pad)

    def _constant_node(self, array: np.ndarray, role: str) -> ir.Value:
        value = self.emit("Constant", [], {"value": tensor_of(array)}, role=role)
        self.arrays[self.nodes[-1]] = array
        return value

    def constant(self, array: np.ndarray, role: str = "c") -> ir.Value:
        """An array as a value of the graph; equal arrays are one value."""
        content = repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes()
        key = (array.dtype.name, array.shape, content)
        if key not in self._known:
            self._known[key] = self._keep(array, role)
        return self._known[key]

    def once(self, key: Hashable, write: Callable[[], T]) -> T:
        """What ``write`` writes into this graph, unless it or one around it has that under ``key`` already."""
        builder: GraphBuilder | None = self
        while builder is not None:
            if key in builder._once:
                found: T = builder._once[key]
                return found
            builder = builder._outer
        self._once[key] = made = write()
        return made

    def emit(
        self,
        op_type: str,
        inputs: Sequence[Operand | int | None],
        attributes: Mapping[str, Any] | None = None,
        role: str = "",
    ) -> Number:
        """Writes a node of the default domain with one output, and gives that.

        Inputs are values, or arrays and numbers (int64) that become constants; None where absent, and trailing ones are
        left out. ``role`` says what the output is, for the names of node and output.

        Raises:
            Unconvertible: The opset does not have the operator.
        """
        (value,) = self.emit_several(op_type, inputs, attributes, role=role, outputs=1)
        return value

    def emit_several(
        self,
        op_type: str,
        inputs: Sequence[Operand | int | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        role: str = "",
        outputs: int,
    ) -> list[Number]:
        """As ``emit``, of a node with several outputs.

        Raises:
            Unconvertible: As of ``emit``.
        """
        assert self.has_pad or op_type != "Pad", "what writes a Pad asks before"
        if self.opset < (since := FIRST.get(op_type, 1)):
            raise too_old(op_type, since)
        given = [x if x is None or isinstance(x, ir.Value) else self.constant(_as_array(x)) for x in inputs]
        while given and given[-1] is None:
            given.pop()
        made = {
            name: value if isinstance(value, ir.Attr) else ir.convenience.convert_attribute(name, value)
            for name, value in (attributes or {}).items()
        }
        name = self.name(role or op_type.lower())
        values = [Number(name=name if outputs == 1 else self.name(f"{name}_{i}")) for i in range(outputs)]
        self.nodes.append(ir.Node("", op_type, given, list(made.values()), outputs=values, name=name))
        return values

    def drop_unused(self, output: ir.Value) -> None:
        """Drops the nodes, Constants too, that ``output`` does not depend on; their inputs no longer count as uses."""
        for node in reversed(list(self.nodes)):
            if not any(value is output or value.uses() for value in node.outputs):
                detach([node])
                self.nodes.remove(node)
                self.arrays.pop(node, None)

    # --- graphs inside the graph --------------------------------------------------------------------------------------

    def choose(self, condition: Operand, then: Callable[[], T], other: Callable[[], T]) -> T | Number:
        """One of two computations: ``then`` where a bool of rank 0 is true, else ``other``."""
        if not isinstance(condition, ir.Value):
            return (then if condition else other)()
        graphs = {}
        for name, write in (("then_branch", then), ("else_branch", other)):
            with self.inner() as inner:
                graphs[name] = inner.graph([], [write()], name)
        return self.emit("If", [condition], graphs)

    def graph(self, inputs: Sequence[ir.Value], outputs: Sequence[Operand], name: str) -> ir.Graph:
        """This graph builder as a graph inside another; each output, a constant too, is made in it."""
        own = {value for node in self.nodes for value in node.outputs}
        made = [x if isinstance(x, ir.Value) and x in own else self.emit("Identity", [x]) for x in outputs]
        return ir.Graph(inputs, made, nodes=self.nodes, name=self.name(name))


def detach(nodes: Iterable[ir.Node]) -> None:
    """Removes the inputs of nodes that are in no graph, so that they no longer count as uses of values."""
    for node in nodes:
        for _, graph in inner_graphs(node):
            detach(graph)
        node.resize_inputs(0)


def here() -> GraphBuilder:
    """The graph builder that is open."""
    builder = OPEN.get()
    assert isinstance(builder, GraphBuilder), "nothing else opens"
    return builder


def _as_array(x: np.ndarray | int) -> np.ndarray:
    return np.array(x, np.int64) if isinstance(x, int) else np.asarray(x)
