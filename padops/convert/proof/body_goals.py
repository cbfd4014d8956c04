"""What has to be proved of a function's body: one pair of models for each way that it can take.

Where the body asks what is not known, both answers are looked at. The operator's model then fails for the other answer, so
that nothing is said of it; and apart from that, it is proved that the question can be asked wherever the operator runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from padops.convert.proof.flat_indices import by_axis
from padops.convert.proof.result import Proof, Verdict
from padops.convert.proof.written_out import WrittenOut

MOST_QUESTIONS = 3  # on one way: each doubles the number of ways
BEYOND = np.iinfo(np.int64).max  # no axis has so many elements
FIRST_WITH_INPUT = 13  # the opset whose Unsqueeze has its axes as an input


class TooManyQuestionsError(Exception):
    """A body asks more than all answers can be looked at."""


@dataclass(frozen=True)
class Goal:
    """Two models, of which the second has to give what the first gives.

    Attributes:
        operator: The operator, for some answers to the body's questions.
        body: The body, for these answers; or the operator again, beside one more question.
    """

    operator: onnx.ModelProto
    body: onnx.ModelProto

    def at(self, proof: Proof, data: str) -> Goal | None:
        """The goal for the dims of the data for which a proof suspects a difference; None where it names none."""
        examples = [region.counterexample for region in proof.regions if region.verdict is Verdict.DIFFERENT]
        dims = next((one[data]["dims"] for one in examples if one and "dims" in (one.get(data) or {})), None)
        if dims is None:
            return None
        made = Goal(*(onnx.ModelProto.FromString(one.SerializeToString()) for one in (self.operator, self.body)))
        for value in (row for one in (made.operator, made.body) for row in one.graph.input if row.name == data):
            dtype = value.type.tensor_type.elem_type
            value.CopyFrom(helper.make_tensor_value_info(data, dtype, dims))
        return made


@dataclass(frozen=True)
class _Answer:
    """What a body has asked, what that follows from, and the answer; None where it may be both.

    Without a name: whether the result of the operator has elements.
    """

    name: str
    nodes: Sequence[onnx.NodeProto]
    tensors: Sequence[onnx.TensorProto]
    value: bool | None


def goals(operator: onnx.ModelProto, body: onnx.ModelProto, data: str) -> Iterator[Goal]:
    """What has to be proved so that a body computes what its operator does.

    Raises:
        FailsAlwaysError: A node of the body that follows from constants fails.
        TooManyQuestionsError: There are too many ways to be looked at.
    """
    yield from _goals(operator, WrittenOut(body), data, ())


def _goals(operator: onnx.ModelProto, body: WrittenOut, data: str, answers: tuple[_Answer, ...]) -> Iterator[Goal]:
    written = body.write()
    condition = body.open_condition()
    if condition is None:
        yield from _leaves(operator, written, data, answers)
        return
    if len(answers) == MOST_QUESTIONS:
        raise TooManyQuestionsError(f"it asks more than {MOST_QUESTIONS} questions, one after another")
    nodes, tensors = body.cone(condition)
    yield Goal(_beside(operator, answers), _beside(operator, (*answers, _Answer(condition, nodes, tensors, None))))
    for value in (True, False):
        answer = _Answer(condition, nodes, tensors, value)
        yield from _goals(operator, body.assuming(condition, value), data, (*answers, answer))


def _leaves(
    operator: onnx.ModelProto, written: onnx.ModelProto, data: str, answers: tuple[_Answer, ...]
) -> Iterator[Goal]:
    """The body on one way: at once, or apart where its result has elements and where it has none."""
    copy = onnx.ModelProto.FromString(written.SerializeToString())
    if not by_axis(copy, data):
        yield Goal(_beside(operator, answers), copy)
        return
    yield Goal(_beside(operator, (*answers, _Answer("", (), (), True))), copy)
    by_axis(written, data, has_elements=False)
    yield Goal(_beside(operator, (*answers, _Answer("", (), (), False))), written)


def _beside(operator: onnx.ModelProto, answers: Sequence[_Answer]) -> onnx.ModelProto:
    """The operator, whose result is there only where the answers are these."""
    made = onnx.ModelProto()
    made.CopyFrom(operator)
    graph = made.graph
    version = next((row.version for row in made.opset_import if row.domain in ("", "ai.onnx")), 0)
    rank = len(graph.input[0].type.tensor_type.shape.dim)
    held = {row.name for row in graph.initializer} | {row.name for row in graph.input}
    written = {name for node in graph.node for name in node.output}
    (result,) = (row.name for row in graph.output)
    before = f"{result} before"
    for node in graph.node if answers else ():
        node.output[:] = [before if name == result else name for name in node.output]
    for number, answer in enumerate(answers):
        for tensor in answer.tensors:
            if tensor.name not in held:
                held.add(tensor.name)
                graph.initializer.append(tensor)
        for node in answer.nodes:
            if not set(node.output) & written:
                written.update(node.output)
                graph.node.append(node)
        after = result if number == len(answers) - 1 else f"{result} after {number}"
        graph.node.extend(_passed(answer, before, after, number, rank, version))
        before = after
    return made


def _passed(answer: _Answer, data: str, result: str, number: int, rank: int, version: int) -> list[onnx.NodeProto]:
    """Hands data on where the answer is right, and fails elsewhere: by the only part of a new axis, or one beyond it."""
    stem = f"question {number}"
    none, beyond, axes, held, part = (f"{stem} {what}" for what in ("none", "beyond", "axes", "held", "part"))
    nodes, name = [_constant(none, 0)], answer.name
    if not name:
        dims, least, name = (f"{stem} {what}" for what in ("dims", "least", "has elements"))
        nodes.append(helper.make_node("Shape", [data], [dims]))
        nodes.append(helper.make_node("ReduceMin", [dims], [least], keepdims=0))
        nodes.append(helper.make_node("Less", [none, least], [name]))
    if answer.value is None:
        nodes.append(helper.make_node("Cast", [name], [f"{stem} number"], to=onnx.TensorProto.INT64))
        nodes.append(helper.make_node("Mul", [f"{stem} number", none], [part]))
    else:
        nodes.append(_constant(beyond, BEYOND))
        order = (none, beyond) if answer.value else (beyond, none)
        nodes.append(helper.make_node("Where", [name, *order], [part]))
    # The axis is counted from the end, as no body does: else two Gathers that have nothing in common would be compared.
    if version >= FIRST_WITH_INPUT:
        nodes += [_constant(axes, [0]), helper.make_node("Unsqueeze", [data, axes], [held])]
    else:
        nodes.append(helper.make_node("Unsqueeze", [data], [held], axes=[0]))
    return [*nodes, helper.make_node("Gather", [held, part], [result], axis=-1 - rank)]


def _constant(name: str, value: int | list[int]) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(value, np.int64)))
