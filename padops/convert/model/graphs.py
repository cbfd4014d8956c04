"""Finds nodes, constants and dependent values in a model's graphs, changes nodes in place, and adds constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.checks import default_version
from padops.convert.model.external import read_range
from padops.convert.model.nesting import Body, graphs_in

IrBody = ir.Graph | ir.Function
Message = TypeVar("Message", bound=Body)
LARGEST_CONSTANT = 1 << 13  # elements; amounts have two elements per axis

# The element types of Constant's attributes other than "value"; the name of a list attribute has an "s" at its end.
LITERALS: dict[str, type] = {"value_int": np.int64, "value_float": np.float32, "value_string": object}


class Index:
    """Facts about a model, each computed once; they hold during passes, which change no calls and rename no values."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model

    @cached_property
    def operators(self) -> frozenset[tuple[str, str]]:
        return frozenset((domain, name) for domain, name, _ in self._sites)

    @cached_property
    def _sites(self) -> dict[ir.OperatorIdentifier, list[NodeSite]]:
        found: dict[ir.OperatorIdentifier, list[NodeSite]] = {}
        for site in walk(self._model):
            found.setdefault(site.node.op_identifier(), []).append(site)
        return found

    def calls(self, function: ir.Function) -> list[NodeSite]:
        return self._sites.get(function.identifier(), [])

    @cached_property
    def names(self) -> Counter[str | None]:
        """The number of values per name, at the first access; values of nested graphs may share a name."""
        graphs = {site.scope.graph for site in walk(self._model)}
        values = {value for graph in graphs for value in (*values_of(graph), *graph.initializers.values())}
        return Counter(value.name for value in values)


@dataclass(frozen=True)
class Scope:
    """A graph, and the main graph or function that contains it."""

    model: ir.Model
    graph: ir.Graph  # the graph that the node is in
    root: IrBody  # the main graph or the function, whose opset imports count
    path: str  # the graph's path, such as ``graph/If_12.then_branch``
    index: Index = field(repr=False, compare=False)  # of the model; all scopes of a walk share it
    # The node that contains the graph; None for the main graph and for a function.
    owner: NodeSite | None = field(default=None, repr=False, compare=False)

    @property
    def opset(self) -> int | None:
        """The version of the default domain (see ``default_version``); None if ``root`` imports none."""
        return default_version(self.root.opset_imports, self.model.ir_version)


@dataclass(frozen=True)
class NodeSite:
    """One node and its place."""

    node: ir.Node
    path: str
    scope: Scope


def walk(model: ir.Model) -> Iterator[NodeSite]:
    """Yield every node of the main graph, of all graphs inside it and of the functions."""
    index = Index(model)
    yield from _walk_graph(model.graph, Scope(model, model.graph, model.graph, "graph", index))
    for function in model.functions.values():
        overload = f":{function.overload}" if function.overload else ""
        path = f"function {function.domain or 'ai.onnx'}::{function.name}{overload}"
        yield from _walk_graph(function.graph, Scope(model, function.graph, function, path, index))


def _walk_graph(graph: ir.Graph, scope: Scope) -> Iterator[NodeSite]:
    names = Counter(node.name for node in graph)
    for i, node in enumerate(list(graph)):
        label = node.name if node.name else f"{node.op_type}_{i}"
        if names[node.name] > 1 and node.name:
            label = f"{label}[{i}]"
        site = NodeSite(node, f"{scope.path}/{label}", scope)
        yield site
        for name, inner in inner_graphs(node):
            path = f"{site.path}.{name}"
            yield from _walk_graph(inner, Scope(scope.model, inner, scope.root, path, scope.index, site))


def values_of(graph: IrBody) -> Iterator[ir.Value]:
    """Yield a graph's inputs and the outputs of its own nodes."""
    yield from graph.inputs
    for node in graph:
        yield from node.outputs


def inner_graphs(node: ir.Node) -> Iterator[tuple[str, ir.Graph]]:
    """Yield the graphs inside a node, each with the name of its attribute."""
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
            yield attribute.name, attribute.value
        elif attribute.type == ir.AttributeType.GRAPHS and not attribute.is_ref():
            yield from ((f"{attribute.name}[{i}]", inner) for i, inner in enumerate(attribute.value))


def constant(value: ir.Value | None, scope: Scope, largest: int = LARGEST_CONSTANT) -> np.ndarray | None:
    """Return the array of a small constant, from an initializer or a Constant node; else None."""
    if value is None or (value.is_graph_input() and scope.model.ir_version >= 4):
        return None  # at most a default, which the caller may override
    tensor, node = value.const_value, value.producer()
    if tensor is None and node is not None and (node.domain, node.op_type) == ("", "Constant"):
        # ``ir.convenience.get_const_tensor`` would rename the tensor in the model.
        tensor = attribute_value(node, "value", ir.AttributeType.TENSOR)
        for attribute in node.attributes.values():
            dtype = LITERALS.get(attribute.name.removesuffix("s"))
            if dtype and attribute.name == f"value_{attribute.type.name.lower()}" and not attribute.is_ref():
                return np.array(attribute.value, dtype)
    if tensor is None or tensor.size > largest:
        return None
    if isinstance(tensor, ir.ExternalTensor) and tensor.dtype.bitwidth % 8:
        return None
    if isinstance(tensor, ir.ExternalTensor):
        return np.frombuffer(read_range(tensor), tensor.dtype.numpy()).reshape(tensor.shape.numpy())
    if isinstance(tensor, ir.StringTensor):  # numpy() cuts trailing zeros
        return np.array([*tensor.string_data(), None], object)[:-1].reshape(tensor.shape.numpy())
    return tensor.numpy()


def subgraphs(node: ir.Node, message: onnx.NodeProto) -> list[tuple[ir.Graph, onnx.GraphProto]]:
    """Return the graphs inside a node, each with its message; omit graphs that a function's caller passes."""
    found = graphs_in(message.attribute)
    graphs = dict(inner_graphs(node)) if found else {}
    return [(graphs[name], graph) for name, graph in found if name in graphs]


def paired_graphs(graph: IrBody, message: Message) -> Iterator[tuple[IrBody, Message | onnx.GraphProto]]:
    """Yield a graph with its message, and then all graphs inside it with their messages."""
    yield graph, message
    for node, node_message in zip(graph, message.node, strict=True):
        for inner, inner_message in subgraphs(node, node_message):
            yield from paired_graphs(inner, inner_message)


def attribute_value(node: ir.Node, name: str, kind: ir.AttributeType, absent: Any = None) -> Any:
    """Return an attribute's value, or ``absent``; None if its type is not ``kind``, or a function's caller sets it."""
    attribute = node.attributes.get(name)
    if attribute is None:
        return absent
    return attribute.value if attribute.type == kind and not attribute.is_ref() else None


def caller_strings(scope: Scope, reference: ir.Attr, otherwise: str | None = None) -> set[str | None]:
    """Return the strings that calls pass for ``reference``; a call that passes none counts as the default or None."""
    assert isinstance(scope.root, ir.Function) and reference.ref_attr_name is not None
    name = reference.ref_attr_name
    own = scope.root.attributes.get(name)
    default = own.value if own is not None and isinstance(own.value, str) else otherwise
    found: set[str | None] = set()
    for site in scope.index.calls(scope.root):
        given = site.node.attributes.get(name)
        if given is not None and given.is_ref():
            found |= caller_strings(site.scope, given, default)
        else:
            found.add(given.value if given is not None and isinstance(given.value, str) else default)
    return found or {default}


def replace_in_place(
    node: ir.Node, domain: str, op_type: str, inputs: Sequence[ir.Value | None], attributes: Iterable[ir.Attr] = ()
) -> None:
    """Replace a node's operator, inputs and attributes; keep its name, outputs and place."""
    node.resize_inputs(len(inputs))
    for i, value in enumerate(inputs):
        if node.inputs[i] is not value:
            node.replace_input_with(i, value)
    wanted = {attribute.name: attribute for attribute in attributes}
    for name in set(node.attributes) - set(wanted):
        del node.attributes[name]
    node.attributes.update(wanted)
    node.domain, node.op_type = domain, op_type


def remove_unused(values: Iterable[ir.Value]) -> None:
    """Remove initializers and Constants that nothing reads any more."""
    for value in values:
        if value.uses() or value.is_graph_output() or value.is_graph_input():
            continue
        node = value.producer()
        if node is None and value.is_initializer():
            assert value.graph is not None and value.name is not None
            del value.graph.initializers[value.name]
        elif node is not None and node.graph is not None and (node.domain, node.op_type) == ("", "Constant"):
            node.graph.remove(node, safe=True)


class Constants:
    """Adds constants and nodes to one model, under names that are new in the whole model."""

    def __init__(self, model: ir.Model) -> None:
        sites = list(walk(model))
        graphs = {*model.graphs(), *(function.graph for function in model.functions.values())}
        graphs.update(site.scope.graph for site in sites)
        values = {value for graph in graphs for value in (*graph.inputs, *graph.initializers.values())}
        values.update(value for site in sites for value in (*site.node.inputs, *site.node.outputs) if value is not None)
        self._numbers: dict[str, int] = {}  # the last number of each wanted name, so that many equal names cost little
        self._taken = {site.node.name or "" for site in sites} | {value.name for value in values if value.name}

    def add(self, array: np.ndarray, site: NodeSite, role: str) -> ir.Value:
        """Return a constant, named after ``role``, that the node of ``site`` can read.

        The constant is an initializer of the node's graph. In two cases, it is a Constant node before the node: in a
        function, which has no initializers, and before IR version 4, where an initializer must also be an input.
        """
        tensor = tensor_of(array)
        if site.scope.model.ir_version < 4 or isinstance(site.scope.root, ir.Function):
            value = self.insert("Constant", [], site, role, [ir.AttrTensor("value", tensor)])
            tensor.name = value.name
            return value
        name = tensor.name = self.fresh(f"{site.node.outputs[0].name or site.node.name}_{role}")
        value = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor)
        site.scope.graph.register_initializer(value)
        return value

    def insert(
        self,
        op_type: str,
        inputs: Sequence[ir.Value | None],
        site: NodeSite,
        role: str,
        attributes: Sequence[ir.Attr] = (),
    ) -> ir.Value:
        """Insert a node of the default domain, named after ``role``, before the node of ``site``; return its output."""
        name = self.fresh(f"{site.node.outputs[0].name or site.node.name}_{role}")
        value = ir.Value(name=name)
        site.node.prepend(ir.Node("", op_type, inputs, attributes, outputs=[value], name=name))
        return value

    def fresh(self, wanted: str) -> str:
        """Return a name that is new in the model: ``wanted``, or ``wanted`` and a number."""
        name, number = wanted, self._numbers.get(wanted, 1)
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._numbers[wanted] = number
        self._taken.add(name)
        return name


def tensor_of(array: np.ndarray, name: str | None = None) -> ir.TensorProtocol:
    """Return an array as a tensor of the model; the elements of an object array are ``str`` or ``bytes``."""
    if array.dtype.kind == "O":
        texts = [text if isinstance(text, bytes) else text.encode() for text in array.reshape(-1)]
        return ir.StringTensor(texts, shape=ir.Shape(array.shape), name=name)
    return ir.Tensor(array, name=name)  # ir.tensor first checks a dozen other types


def values_behind(model: ir.Model, nodes: Iterable[ir.Node]) -> frozenset[str]:
    """Return the names of the values that depend on one of the nodes, even through a body or a call of a function."""
    pending = list(nodes)
    if not pending:
        return frozenset()
    sites = {site.node: site for site in walk(model)}
    behind: set[ir.Node] = set()
    while pending:
        node = pending.pop()
        if node in behind or node not in sites:
            continue
        behind.add(node)
        scope = sites[node].scope
        pending += [reader for value in node.outputs for reader, _ in value.uses()]
        if scope.owner is not None:
            pending.append(scope.owner.node)
        elif isinstance(scope.root, ir.Function):
            pending += [call.node for call in scope.index.calls(scope.root)]
    return frozenset(value.name for node in behind for value in node.outputs if value.name)
