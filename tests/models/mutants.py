"""One change in a model: an amount, a mode, a fill, an axis, inputs that change places, a node less, another type.

Most of these models are wrong, some fail, and some compute what they did: a run tells. The same generator gives the
same changes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from road_scopes import Dice
from same_models import graphs

OTHER_OP = {"Min": "Max", "Max": "Min", "Add": "Sub", "Sub": "Add", "Less": "Greater", "Greater": "Less",
            "Floor": "Ceil", "Mul": "Add", "ReduceMin": "ReduceMax", "ReduceMax": "ReduceMin", "Relu": "Abs",
            "Neg": "Abs", "And": "Or", "Or": "And", "Not": "Identity"}  # fmt: skip
MODES = ("constant", "reflect", "edge", "wrap", "symmetric")
NARROWER = {
    TensorProto.FLOAT: TensorProto.FLOAT16, TensorProto.DOUBLE: TensorProto.FLOAT, TensorProto.INT64: TensorProto.INT8,
    TensorProto.INT32: TensorProto.INT8, TensorProto.UINT8: TensorProto.BOOL, TensorProto.INT8: TensorProto.BOOL,
}  # fmt: skip
Change = Callable[[onnx.ModelProto, Dice], str | None]


def mutants(model: onnx.ModelProto, dice: Dice, count: int) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Return up to ``count`` models with one change each, and the changes; fewer where little can be changed."""
    seen = {model.SerializeToString(deterministic=True)}
    for _ in range(8 * count):
        made = copy.deepcopy(model)
        what = dice.pick(CHANGES)(made, dice)
        content = made.SerializeToString(deterministic=True)
        if what and content not in seen:
            seen.add(content)
            yield what, made
            if len(seen) > count:
                return


def _nodes(model: onnx.ModelProto) -> list[tuple[Any, int, onnx.NodeProto]]:
    """Each node, with its graph or function and where it stands there."""
    return [(graph, at, node) for graph in graphs(model) for at, node in enumerate(graph.node)]


def on_node(fits: Callable[[onnx.NodeProto], Any]) -> Callable[[Callable[..., str | None]], Change]:
    """A change of a node, by its graph and place, becomes one of a model: of some node that fits."""

    def decorate(change: Callable[..., str | None]) -> Change:
        def changed(model: onnx.ModelProto, dice: Dice) -> str | None:
            found = [row for row in _nodes(model) if fits(row[2])]
            return change(*dice.pick(found), dice) if found else None

        return changed

    return decorate


def _tensors(model: onnx.ModelProto, kinds: tuple[int, ...]) -> list[onnx.TensorProto]:
    """Constants of such types with 1 to 64 elements."""
    found = [row for graph in graphs(model) for row in getattr(graph, "initializer", [])]
    found += [row.t for _, _, node in _nodes(model) for row in node.attribute if row.HasField("t")]
    return [row for row in found if row.data_type in kinds and 1 <= np.prod(row.dims, initial=1) <= 64]


def _either(tensors: list[Any], attributes: list[Any], dice: Dice) -> Any:
    """A constant, or less often an attribute; None where there is neither."""
    if attributes and (not tensors or dice.chance(0.3)):
        return dice.pick(attributes)
    return dice.pick(tensors) if tensors else None


def other_amount(model: onnx.ModelProto, dice: Dice) -> str | None:
    """An element of a small constant of integers, or of a list of integers, is one more or one less."""
    step = dice.pick([1, -1])
    lists = [row for _, _, node in _nodes(model) for row in node.attribute if len(row.ints)]
    row = _either(_tensors(model, (TensorProto.INT64, TensorProto.INT32)), lists, dice)
    if row is None:
        return None
    if isinstance(row, onnx.AttributeProto):
        row.ints[dice.number(0, len(row.ints) - 1)] += step
        return f"{row.name}: {step:+}"
    array = numpy_helper.to_array(row).copy()
    at = dice.number(0, array.size - 1)
    if not -(1 << 30) < int(array.reshape(-1)[at]) < 1 << 30:
        return None
    array.reshape(-1)[at] += step
    row.CopyFrom(numpy_helper.from_array(array, row.name))
    return f"constant {row.name}[{at}]: {step:+}"


def other_fill(model: onnx.ModelProto, dice: Dice) -> str | None:
    """A float becomes another one: an attribute or a constant of one element."""
    attributes = [row for _, _, node in _nodes(model) for row in node.attribute if row.type == 1]  # FLOAT
    kinds = tuple({*NARROWER} - {TensorProto.INT64, TensorProto.INT32})
    row = _either([row for row in _tensors(model, kinds) if np.prod(row.dims, initial=1) == 1], attributes, dice)
    if row is None:
        return None
    if isinstance(row, onnx.AttributeProto):
        row.f = 1.0 if row.f != 1 else 2.0
        return f"{row.name} became {row.f}"
    array = numpy_helper.to_array(row).copy()
    array[...] = 3 if array.reshape(-1)[0] != 3 else 2
    row.CopyFrom(numpy_helper.from_array(array, row.name))
    return f"constant {row.name}: {array.reshape(-1)[0]}"


@on_node(lambda node: "Pad" in node.op_type and node.domain in ("", "padops"))
def other_mode(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str | None:
    row = next((row for row in node.attribute if row.name in ("mode", "pad_mode")), None)
    if row is None:
        node.attribute.append(helper.make_attribute("mode", dice.pick(MODES[1:3])))
        return f"{node.op_type}: constant became {node.attribute[-1].s.decode()}"
    former = row.s.decode() or row.ref_attr_name
    row.ClearField("ref_attr_name")
    row.s = dice.pick([mode for mode in MODES if mode != former]).encode()
    row.type = onnx.AttributeProto.STRING
    return f"{node.op_type}: {former} became {row.s.decode()}"


@on_node(lambda node: any(row.type in (2, 7) for row in node.attribute))
def other_axis(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str | None:
    """An integer of a node is another one, or two of its numbers change places."""
    row = dice.pick([row for row in node.attribute if row.type in (2, 7)])
    if row.type == onnx.AttributeProto.INT:
        if row.name == "to":
            row.i = dice.pick([kind for kind in NARROWER if kind != row.i])
        else:
            row.i += dice.pick([1, -1])
        return f"{node.op_type}: {row.name} became {row.i}"
    if len(row.ints) < 2:
        return None
    a, b = dice.number(0, len(row.ints) - 1), dice.number(0, len(row.ints) - 1)
    row.ints[a], row.ints[b] = row.ints[b], row.ints[a]
    return f"{node.op_type}: {row.name}[{a}] and [{b}]"


@on_node(lambda node: len({*node.input} - {""}) > 1)
def swapped_inputs(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str:
    a, b = (dice.number(0, len(node.input) - 1) for _ in range(2))
    node.input[a], node.input[b] = node.input[b], node.input[a]
    return f"{node.op_type}: inputs {a} and {b}"


@on_node(lambda node: any(node.input))
def other_input(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str | None:
    """A node reads something else that its graph has by then."""
    names = [name for one in list(graph.node)[:at] for name in one.output if name]
    names += [name if isinstance(name, str) else name.name for name in graph.input]
    if not names:
        return None
    which = dice.pick([i for i, name in enumerate(node.input) if name])
    former, node.input[which] = node.input[which], dice.pick(names)
    return f"{node.op_type}: {former} became {node.input[which]}"


@on_node(lambda node: len(node.input) > 2 and "Pad" in node.op_type or node.op_type in ("Slice", "Conv"))
def dropped_input(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str | None:
    if len(node.input) < 2:
        return None
    del node.input[-1]
    return f"{node.op_type}: its last input"


@on_node(lambda node: len(node.output) == 1 and node.input and node.input[0] and node.op_type != "Identity")
def dropped_node(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str:
    """A node gives what it is given."""
    what = node.op_type
    node.CopyFrom(helper.make_node("Identity", node.input[:1], list(node.output), name=node.name))
    return f"{what} is gone"


@on_node(lambda node: node.op_type in OTHER_OP and not node.domain)
def other_operator(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str:
    former, node.op_type = node.op_type, OTHER_OP[node.op_type]
    if node.op_type == "Identity":
        del node.input[1:], node.attribute[:]
    return f"{former} became {node.op_type}"


@on_node(lambda node: node.op_type == "If")
def swapped_branches(graph: Any, at: int, node: onnx.NodeProto, dice: Dice) -> str:
    for row in node.attribute:
        row.name = {"then_branch": "else_branch", "else_branch": "then_branch"}[row.name]
    return "the branches of an If"


def narrowed(model: onnx.ModelProto, dice: Dice) -> str | None:
    """Passes an input of a node through another type."""
    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = (*inferred.input, *inferred.value_info, *inferred.output)
    kinds = {row.name: row.type.tensor_type.elem_type for row in values}
    kinds |= {row.name: row.data_type for row in inferred.initializer}
    found = [(at, which) for at, node in enumerate(model.graph.node) for which, name in enumerate(node.input)
             if kinds.get(name) in NARROWER]  # fmt: skip
    if not found:
        return None
    at, which = dice.pick(found)
    read = model.graph.node[at].input
    name, read[which] = read[which], "widened"
    kind = NARROWER[kinds[name]]
    model.graph.node.insert(at, helper.make_node("Cast", ["narrow"], ["widened"], to=kinds[name]))
    model.graph.node.insert(at, helper.make_node("Cast", [name], ["narrow"], to=kind))
    return f"{name} through {TensorProto.DataType.Name(kind)}"


def swapped_results(model: onnx.ModelProto, dice: Dice) -> str | None:
    """Two results of a body change places."""
    found = [graph for graph in graphs(model) if graph is not model.graph and len(graph.output) > 1]
    if not found:
        return None
    graph = dice.pick(found)
    graph.output.extend(graph.output[::-1])
    del graph.output[: len(graph.output) // 2]
    return "the results of a body"


CHANGES: tuple[Change, ...] = (
    other_amount, other_amount, other_amount, other_mode, other_fill, other_axis, swapped_inputs, other_input,
    dropped_input, dropped_node, other_operator, narrowed, swapped_branches, swapped_results,
)  # fmt: skip
