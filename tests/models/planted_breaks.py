"""Converted models with one Pad at a time made wrong: what a verification has to find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from same_models import graphs

from padops.convert.model.inference import declarations
from padops.convert.model.nesting import graphs_of
from padops.spec.dialects import DOMAIN, OPS
from padops.spec.dtypes import by_onnx, to_bytes
from padops.spec.schemas import register_schemas

OTHER_MODE = {"reflect": "edge", "edge": "reflect", "wrap": "edge", "symmetric": "edge"}
LOUD = 1000  # a fill that no output can overlook

Break = tuple[str, onnx.ModelProto]


def broken_models(converted: onnx.ModelProto) -> Iterator[Break]:
    """A model for each way in which each operator of padops in a converted model can be made wrong.

    The mode becomes another one, a fill becomes 1000, and all amounts of an axis move by one, so that the shape stays.
    """
    for which in range(len(_pads(converted))):
        for spoil in (_other_mode, _other_fill, _other_amounts):
            broken = onnx.ModelProto()
            broken.CopyFrom(converted)
            graph, node = _pads(broken)[which]
            what = spoil(broken, graph, node)
            if what:
                yield f"{node.name or node.output[0]}: {what}", broken


def _pads(model: onnx.ModelProto) -> list[tuple[Any, onnx.NodeProto]]:
    """Each operator of padops with the graph or the function that it stands in; fallbacks have none."""
    nodes = [(graph, node) for graph in graphs(model) for node in graph.node]
    return [(graph, node) for graph, node in nodes if node.domain == DOMAIN and node.op_type in OPS]


def _mode(node: onnx.NodeProto) -> str:
    return next((a.s.decode() for a in node.attribute if a.name in ("mode", "pad_mode")), "constant")


def _other_mode(model: onnx.ModelProto, graph: Any, node: onnx.NodeProto) -> str | None:
    mode = _mode(node)
    if mode not in OTHER_MODE:
        return None
    for attribute in node.attribute:
        if attribute.name in ("mode", "pad_mode"):
            attribute.s = OTHER_MODE[mode].encode()
    return f"{mode} became {OTHER_MODE[mode]}"


def _other_fill(model: onnx.ModelProto, graph: Any, node: onnx.NodeProto) -> str | None:
    if _mode(node) != "constant":
        return None
    names = [row.name for row in OPS[node.op_type].inputs]
    if "constant_value" not in names:
        kept = [attribute for attribute in node.attribute if attribute.name != "value"]
        del node.attribute[:]
        node.attribute.extend([*kept, helper.make_attribute("value", float(LOUD))])
        return f"the fill became {LOUD}"
    kind = _known(model, node.input[0]).elem_type or onnx.TensorProto.FLOAT
    row = by_onnx(kind)
    at = names.index("constant_value")
    if kind == onnx.TensorProto.STRING:
        array = np.array("loud", object)
    elif row.bits <= 8:  # 1000 is none of these types: some value that has other bits than the fill
        former = {to_bytes(numpy_helper.to_array(t)) for t in model.graph.initializer if t.name in node.input[at:]}
        array = next(a for a in (np.array(n, np.uint8).view(row.numpy) for n in (0, 1)) if to_bytes(a) not in former)
        array = array if former else np.array(1, np.uint8).view(row.numpy)
    else:
        array = np.array(LOUD).astype(row.numpy)
    node.input.extend([""] * (at + 1 - len(node.input)))
    node.input[at] = _constant(graph, node, "loud fill", array)
    return f"the fill became {LOUD}"


def _other_amounts(model: onnx.ModelProto, graph: Any, node: onnx.NodeProto) -> str | None:
    for attribute in node.attribute:
        if attribute.name in ("pads", "paddings"):
            moved = _moved(np.array(attribute.ints))
            del attribute.ints[:]
            attribute.ints.extend(moved.tolist())
            return "its amounts moved by one"
    known = next((t for t in model.graph.initializer if t.name == node.input[1]), None)
    if known is not None:
        node.input[1] = _constant(graph, node, "moved pads", _moved(numpy_helper.to_array(known)))
        return "its amounts moved by one"
    kind, more = _known(model, node.input[0]), np.array(1, np.int64)
    moves = len(node.input) < 4 and kind.HasField("shape")
    if moves:
        more = np.zeros(2 * len(kind.shape.dim), np.int64)
        more[len(kind.shape.dim) - 1], more[-1] = 1, -1
    made = _constant(graph, node, "more", more)
    at = next(i for i, other in enumerate(graph.node) if other == node)
    graph.node.insert(at, helper.make_node("Add", [node.input[1], made], ["more pads"]))
    node.input[1] = "more pads"
    return "its amounts moved by one" if moves else "its amounts grew by one"


def _moved(amounts: np.ndarray) -> np.ndarray:
    """One more in front of an axis that is padded, and one less behind it."""
    count = len(amounts) // 2
    axis = int(np.argmax(np.abs(amounts[:count]) + np.abs(amounts[count:])))
    moved = amounts.copy()
    moved[axis] += 1
    moved[axis + count] -= 1
    return moved


def _constant(graph: Any, node: onnx.NodeProto, name: str, array: np.ndarray) -> str:
    at = next(i for i, other in enumerate(graph.node) if other == node)
    graph.node.insert(at, helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
    return name


def _known(model: onnx.ModelProto, name: str) -> onnx.TypeProto.Tensor:
    """What is known of a value of any graph, as far as onnx infers that."""
    register_schemas()
    inferred = onnx.shape_inference.infer_shapes(declarations(model))
    rows = (row for graph in graphs_of(inferred.graph) for row in (*graph.input, *graph.value_info, *graph.output))
    return next((row.type.tensor_type for row in rows if row.name == name), onnx.TypeProto.Tensor())
