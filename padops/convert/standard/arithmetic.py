"""Arithmetic of int64, and vectors of it, as nodes of standard ONNX.

Operands are values of the graph or NumPy arrays: what has arrays alone for operands is computed at once, so that one
algorithm gives a handful of nodes where everything is known and the whole computation where nothing is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand, all_arrays

# Positions along an axis that are listed in the model; those of longer ones are computed in a run.
MAX_LISTED = 1 << 20

FIRST_SLICE_OF_INPUTS = 10  # before, its bounds are attributes


def ints(*values: int) -> np.ndarray:
    """A vector of int64."""
    return np.array(values, np.int64)


def scalar(value: int) -> np.ndarray:
    """An int64 of rank 0."""
    return np.array(value, np.int64)


def is_number(x: Operand, number: int) -> TypeGuard[np.ndarray]:
    """Whether an operand is known to be one element of that value."""
    return isinstance(x, np.ndarray) and x.size == 1 and x.dtype == np.int64 and x.item() == number


class Arithmetic:
    """What a graph builder can compute.

    Attributes:
        opset: Version of the default domain.
        emit: See ``GraphBuilder``.
    """

    opset: int
    emit: Callable[..., ir.Value]

    # --- arithmetic of int64 ------------------------------------------------------------------------------------------

    def _apply(self, op_type: str, known: Callable[..., np.ndarray], *operands: Operand) -> Operand:
        if all_arrays(operands):
            return np.asarray(known(*operands))
        return self.emit(op_type, operands)

    def add(self, a: Operand, b: Operand) -> Operand:
        if is_number(a, 0) and a.ndim == 0:
            return b
        return a if is_number(b, 0) and b.ndim == 0 else self._apply("Add", np.add, a, b)

    def sub(self, a: Operand, b: Operand) -> Operand:
        return a if is_number(b, 0) and b.ndim == 0 else self._apply("Sub", np.subtract, a, b)

    def mul(self, a: Operand, b: Operand) -> Operand:
        if is_number(a, 1) and a.ndim == 0:
            return b
        return a if is_number(b, 1) and b.ndim == 0 else self._apply("Mul", np.multiply, a, b)

    def div(self, a: Operand, b: Operand) -> Operand:
        """The quotient of numbers that are not negative, or divide evenly."""
        return self._apply("Div", np.floor_divide, a, b)

    def mod(self, a: Operand, b: Operand) -> Operand:
        """The remainder, with the sign of ``b``."""
        return self._apply("Mod", np.mod, a, b)

    def less(self, a: Operand, b: Operand) -> Operand:
        return self._apply("Less", np.less, a, b)

    def equal(self, a: Operand, b: Operand) -> Operand:
        return self._apply("Equal", np.equal, a, b)

    def both(self, a: Operand, b: Operand) -> Operand:
        return self._apply("And", np.logical_and, a, b)

    def where(self, condition: Operand, a: Operand, b: Operand) -> Operand:
        """Elements of one or the other.

        Args:
            condition: Bools.
            a: Where they are true.
            b: Where they are false.
        """
        return self._apply("Where", np.where, condition, a, b)

    def minimum(self, a: Operand, b: Operand) -> Operand:
        if self.opset >= 12:
            return self._apply("Min", np.minimum, a, b)
        return self.where(self.less(a, b), a, b)  # Min has no integers yet

    def maximum(self, a: Operand, b: Operand) -> Operand:
        if self.opset >= 12:
            return self._apply("Max", np.maximum, a, b)
        return self.where(self.less(a, b), b, a)

    def negative(self, a: Operand) -> Operand:
        return self._apply("Neg", np.negative, a)

    # --- vectors ------------------------------------------------------------------------------------------------------

    def gather(self, vector: Operand, index: Operand, axis: int = 0) -> Operand:
        """The elements at some positions.

        Args:
            vector: A tensor.
            index: Which elements of the axis.
            axis: Which axis.
        """
        if isinstance(vector, np.ndarray) and isinstance(index, np.ndarray):
            return np.asarray(np.take(vector, index, axis))
        return self.emit("Gather", [vector, index], {"axis": axis} if axis else {})

    def concat(self, *vectors: Operand) -> Operand:
        """Vectors one after another; those known to be empty are left out."""
        parts = [x for x in vectors if not (isinstance(x, np.ndarray) and x.size == 0)]
        if all_arrays(parts):
            return np.concatenate([ints(), *parts])
        return parts[0] if len(parts) == 1 else self.emit("Concat", parts, {"axis": 0})

    def slice(self, vector: Operand, start: Operand, stop: Operand) -> Operand:
        """Part of a vector; ``start`` and ``stop`` have one element.

        Args:
            vector: A vector.
            start: The first position, one element.
            stop: The position behind the last, one element.
        """
        if isinstance(vector, np.ndarray) and isinstance(start, np.ndarray) and isinstance(stop, np.ndarray):
            return vector[int(start[0]) : int(stop[0])]
        return self.part(vector, start, stop, ints(0))

    def part(self, x: Operand, start: Operand, stop: Operand, axes: np.ndarray) -> ir.Value:
        """Part of a tensor along some axes.

        Args:
            x: A tensor.
            start: The first positions, one for each axis.
            stop: The positions behind the last.
            axes: The axes.

        Raises:
            Unconvertible: The bounds are not known, and Slice of this opset has them as attributes.
        """
        if self.opset >= FIRST_SLICE_OF_INPUTS:
            return self.emit("Slice", [x, start, stop, axes])
        if not isinstance(start, np.ndarray) or not isinstance(stop, np.ndarray):
            raise Unconvertible(
                f"Slice has bounds as inputs from opset {FIRST_SLICE_OF_INPUTS} on, and this is {self.opset}"
            )
        bounds = {"starts": start, "ends": stop, "axes": axes}
        return self.emit("Slice", [x], {name: numbers.tolist() for name, numbers in bounds.items()})

    def flatten(self, x: Operand) -> Operand:
        return x.reshape(-1) if isinstance(x, np.ndarray) else self.emit("Reshape", [x, ints(-1)])

    def reshape(self, x: Operand, shape: Operand) -> Operand:
        """To a shape without -1; dims of 0 stay 0, where the opset can say so."""
        if isinstance(x, np.ndarray) and isinstance(shape, np.ndarray):
            return x.reshape(shape)
        may_be_empty = not isinstance(shape, np.ndarray) or 0 in shape
        return self.emit("Reshape", [x, shape], {"allowzero": 1} if self.opset >= 14 and may_be_empty else {})

    def unsqueeze(self, x: Operand, axis: int) -> Operand:
        return np.expand_dims(x, axis) if isinstance(x, np.ndarray) else self.with_axis("Unsqueeze", x, axis)

    def with_axis(self, op_type: str, x: Operand, axis: int) -> ir.Value:
        """Unsqueeze or Squeeze.

        Args:
            op_type: Which of them.
            x: A tensor.
            axis: The axis that comes or goes.
        """
        return self.emit(op_type, *(([x, ints(axis)],) if self.opset >= 13 else ([x], {"axes": [axis]})))

    def range(self, start: Operand, stop: Operand, step: Operand) -> Operand:
        """Numbers in equal steps, a vector of int64.

        Args:
            start: The first number.
            stop: The end, which is not one of them.
            step: From one to the next, not 0.
        """
        limits = (start, stop, step)
        if all_arrays(limits) and abs(limits[1] - limits[0]) // abs(limits[2]) > MAX_LISTED:
            return self.emit("Range", limits)
        return self._apply("Range", lambda *limits: np.arange(*limits, dtype=np.int64), *limits)

    def lowest(self, *vectors: Operand) -> Operand:
        """The least of all numbers of some vectors, of rank 0.

        Of two vectors the last one stands there twice: OpenVINO (in onnxruntime-openvino 1.24.1) takes the least of a Concat of two
        for the lesser of both, element by element.
        """
        vector = self.concat(*vectors, *(vectors[1:] if len(vectors) == 2 else ()))
        if isinstance(vector, np.ndarray):
            return np.asarray(vector.min())
        return self.emit("ReduceMin", [vector], {"keepdims": 0})

    def total(self, x: ir.Value, axis: int) -> ir.Value:
        """The sum along an axis, which stays and has one element."""
        if self.opset >= 13:
            return self.emit("ReduceSum", [x, ints(axis)])
        return self.emit("ReduceSum", [x], {"axes": [axis]})

    def to_int64(self, x: Operand) -> Operand:
        return x.astype(np.int64) if isinstance(x, np.ndarray) else self.emit("Cast", [x], {"to": 7})
