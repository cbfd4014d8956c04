"""Writes nodes of standard ONNX one after another, in the form that each opset has.

Operands are values of the graph or NumPy arrays; ``arithmetic.py`` computes with both.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import tensor_of
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand
from padops.convert.standard.arithmetic import Arithmetic

# Where an operator begins, or begins to take integers, if that is after what padops needs of opset 5.
FIRST = {
    "Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Expand": 8, "ConstantOfShape": 9, "Less": 9, "Where": 9, "Mod": 10,
    "GatherND": 11, "Loop": 11, "Range": 11, "ReduceMin": 11, "ScatterElements": 11,
}  # fmt: skip

T = TypeVar("T", bound=Operand)

INT64 = ir.TensorType(ir.DataType.INT64)
BOOL = ir.TensorType(ir.DataType.BOOL)


class GraphBuilder(Arithmetic):
    """The nodes of one graph, in order.

    Attributes:
        opset: Version of the default domain.
        nodes: What has been written.
        arrays: What the Constant nodes among them hold.
        has_pad: Whether ONNX's own Pad may be one of them.
        name: Gives a name that nothing else has, near the one that is wanted.
    """

    def __init__(
        self,
        opset: int,
        name: Callable[[str], str],
        keep: Callable[[np.ndarray, str], ir.Value] | None = None,
        outer: GraphBuilder | None = None,
        has_pad: bool = True,
    ) -> None:
        """Begins an empty graph inside ``outer``; ``keep`` makes a constant of an array, and None a Constant node."""
        self.opset = opset
        self.has_pad = has_pad
        self.nodes: list[ir.Node] = []
        self.arrays: dict[ir.Node, np.ndarray] = {}
        self.name = name
        self._keep = keep or self._constant_node
        self._outer = outer
        self._known: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self._once: dict[Hashable, Operand] = {}

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

    def once(self, key: Hashable, write: Callable[[], Operand]) -> Operand:
        """What ``write`` writes into this graph, unless it or one around it has that under ``key`` already."""
        builder: GraphBuilder | None = self
        while builder is not None:
            if key in builder._once:
                return builder._once[key]
            builder = builder._outer
        self._once[key] = write()
        return self._once[key]

    def emit(
        self,
        op_type: str,
        inputs: Sequence[Operand | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        role: str = "",
    ) -> ir.Value:
        """Writes a node with one output, and gives that.

        Args:
            op_type: Of the default domain.
            inputs: Values, or arrays that become constants; None where absent, and trailing ones are left out.
            attributes: By name, as Python values or ``ir.Attr``.
            role: What the output is, for the names of node and output.

        Raises:
            Unconvertible: The opset does not have the operator.
        """
        (value,) = self.emit_several(op_type, inputs, attributes, role=role, outputs=1)
        return value

    def emit_several(
        self,
        op_type: str,
        inputs: Sequence[Operand | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        role: str = "",
        outputs: int,
    ) -> list[ir.Value]:
        """The same of a node with several outputs.

        Args:
            op_type: As of ``emit``, as for the next three.
            inputs: Its inputs.
            attributes: Its attributes.
            role: For the names.
            outputs: How many there are.

        Raises:
            Unconvertible: As of ``emit``.
        """
        assert self.has_pad or op_type != "Pad", "what writes a Pad asks before"
        if self.opset < FIRST.get(op_type, 1):
            raise Unconvertible(
                f"standard operators do this with {op_type}, from opset {FIRST[op_type]} on, and this is {self.opset}"
            )
        given = [self.constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        while given and given[-1] is None:
            given.pop()
        made = {
            name: value if isinstance(value, ir.Attr) else ir.convenience.convert_attribute(name, value)
            for name, value in (attributes or {}).items()
        }
        name = self.name(role or op_type.lower())
        values = [ir.Value(name=name if outputs == 1 else self.name(f"{name}_{i}")) for i in range(outputs)]
        self.nodes.append(ir.Node("", op_type, given, list(made.values()), outputs=values, name=name))
        return values

    # --- graphs inside the graph --------------------------------------------------------------------------------------

    def choose(
        self, condition: Operand, then: Callable[[GraphBuilder], T], other: Callable[[GraphBuilder], T]
    ) -> T | ir.Value:
        """One of two computations, by a bool of rank 0.

        Args:
            condition: Rank 0.
            then: Writes the one, where the condition is true.
            other: Writes the other.
        """
        if isinstance(condition, np.ndarray):
            return (then if condition else other)(self)
        graphs = {}
        for name, write in (("then_branch", then), ("else_branch", other)):
            builder = self.inner()
            graphs[name] = builder.graph([], [write(builder)], name)
        return self.emit("If", [condition], graphs)

    def graph(self, inputs: Sequence[ir.Value], outputs: Sequence[Operand], name: str) -> ir.Graph:
        """This graph builder as a graph inside another; an output is always made in it.

        Args:
            inputs: Those that it is to have.
            outputs: Those that it is to have, constants too.
            name: Of the graph.
        """
        own = {value for node in self.nodes for value in node.outputs}
        made = [x if not isinstance(x, np.ndarray) and x in own else self.emit("Identity", [x]) for x in outputs]
        return ir.Graph(inputs, made, nodes=self.nodes, name=self.name(name))
