"""The goals that prove a function's body: one pair of models for each path through it.

If the condition of an If is not known, each branch is a path. In the path's goal, the operator's model fails where the
condition has the other value, so the goal says nothing of those inputs. Another goal proves that the condition can be
computed wherever the operator runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper

from padops.convert.proof.believing import opset_of
from padops.convert.proof.flat_graph import int64_constant
from padops.convert.proof.flat_indices import by_axis
from padops.convert.proof.partial_evaluation import PartialEvaluation
from padops.convert.proof.result import Proof, Verdict

MOST_CONDITIONS = 3  # open conditions on one path: each doubles the number of paths
BEYOND = np.iinfo(np.int64).max  # an index beyond every axis
FIRST_WITH_INPUT = 13  # since this opset, the axes of Unsqueeze are an input


class TooManyPathsError(Exception):
    """A path through a body has more than ``MOST_CONDITIONS`` open conditions."""


@dataclass(frozen=True)
class Goal:
    """Two models: wherever the first runs, the second must give the same."""

    operator: onnx.ModelProto  # the operator; it fails off the goal's path
    body: onnx.ModelProto  # the body on that path; or the operator again, which also computes the next condition

    def at(self, proof: Proof, data: str) -> Goal | None:
        """The goal with the dims of ``data`` for which ``proof`` suspects a difference; None if it names none."""
        examples = [region.counterexample for region in proof.regions if region.verdict is Verdict.DIFFERENT]
        dims = next((one[data]["dims"] for one in examples if one and "dims" in (one.get(data) or {})), None)
        if dims is None:
            return None
        made = Goal(*(deepcopy(one) for one in (self.operator, self.body)))
        for value in (row for one in (made.operator, made.body) for row in one.graph.input if row.name == data):
            dtype = value.type.tensor_type.elem_type
            value.CopyFrom(helper.make_tensor_value_info(data, dtype, dims))
        return made


@dataclass(frozen=True)
class _Condition:
    """A condition of a body, the nodes and constants that compute it, and its value; None: any.

    An empty name stands for the condition that the operator's result has elements.
    """

    name: str
    nodes: Sequence[onnx.NodeProto]
    tensors: Sequence[onnx.TensorProto]
    value: bool | None


def goals(operator: onnx.ModelProto, body: onnx.ModelProto, data: str) -> Iterator[Goal]:
    """The goals that together prove a body equal to its operator. ``body`` is changed; ``data`` names the data input.

    Raises:
        FailsAlwaysError: A node of the body that follows from constants fails.
        TooManyPathsError: The body has too many paths.
    """
    yield from _goals(operator, PartialEvaluation(body), data, ())


def _goals(
    operator: onnx.ModelProto, body: PartialEvaluation, data: str, conditions: tuple[_Condition, ...]
) -> Iterator[Goal]:
    written = body.write()
    name = body.open_condition()
    if name is None:
        yield from _leaves(operator, written, data, conditions)
        return
    if len(conditions) == MOST_CONDITIONS:
        raise TooManyPathsError(f"a path through it has more than {MOST_CONDITIONS} conditions that are not known")
    nodes, tensors = body.cone(name)
    either = _Condition(name, nodes, tensors, None)
    yield Goal(_beside(operator, conditions), _beside(operator, (*conditions, either)))
    for value in (True, False):
        yield from _goals(operator, body.assuming(name, value), data, (*conditions, replace(either, value=value)))


def _leaves(
    operator: onnx.ModelProto, written: onnx.ModelProto, data: str, conditions: tuple[_Condition, ...]
) -> Iterator[Goal]:
    """The goals of one path: one, or two if results with and without elements need separate proofs."""
    copy = deepcopy(written)
    if not by_axis(copy, data):
        yield Goal(_beside(operator, conditions), copy)
        return
    yield Goal(_beside(operator, (*conditions, _Condition("", (), (), True))), copy)
    by_axis(written, data, has_elements=False)
    yield Goal(_beside(operator, (*conditions, _Condition("", (), (), False))), written)


def _beside(operator: onnx.ModelProto, conditions: Sequence[_Condition]) -> onnx.ModelProto:
    """The operator, made to fail unless every condition has its value."""
    made = deepcopy(operator)
    graph = made.graph
    version = opset_of(made)
    rank = len(graph.input[0].type.tensor_type.shape.dim)
    held = {row.name for row in graph.initializer} | {row.name for row in graph.input}
    written = {name for node in graph.node for name in node.output}
    (result,) = (row.name for row in graph.output)
    before = f"{result} before"
    for node in graph.node if conditions else ():
        node.output[:] = [before if name == result else name for name in node.output]
    for number, condition in enumerate(conditions):
        for tensor in condition.tensors:
            if tensor.name not in held:
                held.add(tensor.name)
                graph.initializer.append(tensor)
        for node in condition.nodes:
            if not set(node.output) & written:
                written.update(node.output)
                graph.node.append(node)
        after = result if number == len(conditions) - 1 else f"{result} after {number}"
        graph.node.extend(_passed(condition, before, after, number, rank, version))
        before = after
    return made


def _passed(
    condition: _Condition, data: str, result: str, number: int, rank: int, version: int
) -> list[onnx.NodeProto]:
    """Nodes that pass data on if a condition has its value, else fail: a Gather on a new axis, in or out of range."""
    stem = f"condition {number}"
    none, beyond, axes, held, part = (f"{stem} {what}" for what in ("none", "beyond", "axes", "held", "part"))
    nodes, name = [int64_constant(none, 0)], condition.name
    if not name:
        dims, least, name = (f"{stem} {what}" for what in ("dims", "least", "has elements"))
        nodes.append(helper.make_node("Shape", [data], [dims]))
        nodes.append(helper.make_node("ReduceMin", [dims], [least], keepdims=0))
        nodes.append(helper.make_node("Less", [none, least], [name]))
    if condition.value is None:
        nodes.append(helper.make_node("Cast", [name], [f"{stem} number"], to=onnx.TensorProto.INT64))
        nodes.append(helper.make_node("Mul", [f"{stem} number", none], [part]))
    else:
        nodes.append(int64_constant(beyond, BEYOND))
        order = (none, beyond) if condition.value else (beyond, none)
        nodes.append(helper.make_node("Where", [name, *order], [part]))
    # No body counts axes from the end. So the rules cannot mistake this Gather for one of the body.
    if version >= FIRST_WITH_INPUT:
        nodes += [int64_constant(axes, [0]), helper.make_node("Unsqueeze", [data, axes], [held])]
    else:
        nodes.append(helper.make_node("Unsqueeze", [data], [held], axes=[0]))
    return [*nodes, helper.make_node("Gather", [held, part], [result], axis=-1 - rank)]
