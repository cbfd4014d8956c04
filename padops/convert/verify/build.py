"""Reads a model into terms.

An Identity becomes its input; a Constant or an initializer becomes its elements. A missing attribute gets the schema's
default. An ONNX Pad and the padops operator that mirrors it become one term (``pad_terms.py``). Nothing else is
simplified: branches, loops and functions are compared as graphs of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import onnx

from padops.convert.errors import PadopsError
from padops.convert.model.checks import Key, key_of
from padops.convert.model.inference import order_of
from padops.convert.verify import inference, schemas
from padops.convert.verify.constants import Constants
from padops.convert.verify.pad_terms import has_types, pad_term
from padops.convert.verify.terms import ABSENT, GIVEN, Head, Kind, Shape
from padops.spec.dialects import DOMAIN

# Operators with random outputs: two nodes are equal only at the same place in the order of random nodes.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
FIRST_INFERENCE = 7  # since this version, Dropout does nothing unless `training_mode` is true
TOP = -1  # the scope of the main graph; bodies' scopes are their terms


@dataclass
class Built:
    inputs: dict[str, int] = field(default_factory=dict)  # the terms of required and optional graph inputs, by name
    declared: dict[str, onnx.TypeProto] = field(default_factory=dict)  # the declared types of these inputs
    defaults: dict[str, int] = field(default_factory=dict)  # the initializers' terms of optional inputs, by name
    # Names, types and terms of the graph's outputs, in order
    outputs: list[tuple[str, onnx.TypeProto, int]] = field(default_factory=list)
    # For each body, and ``TOP``: the terms of all its values, by name, in order
    scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    unused: tuple[int, ...] = ()  # the main graph's terms that no output needs
    # Terms with declared dims, the value's name, and whether inference from the inputs finds the same dims
    declares: list[tuple[int, Shape, str, bool]] = field(default_factory=list)
    odd: set[str] = field(default_factory=set)  # parts that runtimes refuse or interpret differently, each as a clause


@dataclass
class Scope:
    """A graph that is being read: the terms of its names, and the inferred types of its values."""

    names: dict[str, int]
    place: tuple[str, ...]
    inferred: onnx.GraphProto | None
    has_formals: bool = False  # whether the graph is inside a body with inputs: then its values have no known dims
    own: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.inferred or onnx.GraphProto()
        self.types = {row.name: row.type for rows in (graph.input, graph.value_info, graph.output) for row in rows}


def differ(said: Shape, known: Shape | None) -> bool:
    """Returns whether declared numbers differ from the known dims; an unknown dim differs from every number."""
    is_other = known is None or len(said) != len(known)
    return is_other or any(isinstance(dim, int) and dim != other for dim, other in zip(said, known or ()))


class Builder:
    """Reads one model into the store. Inferred dims are stored for the original only."""

    def __init__(
        self, constants: Constants, model: onnx.ModelProto, folder: Path | None, overridable: set[str], original: bool
    ) -> None:
        """``overridable`` names the optional inputs; for the converted model, only inputs optional in both models."""
        self._terms, self._constants, self._folder, self._original = constants.terms, constants, folder, original
        self._model, self._overridable = model, overridable
        self._opsets = schemas.imports_of(model)
        self._functions = {key_of(f): f for f in model.functions if not schemas.is_fallback(f)}
        self._bodies: dict[Key, tuple[int, bool]] = {}  # a function's term, and whether the function is random
        self._draws = 0
        self._equal: dict[tuple[Head, tuple[int, ...]], int] = {}
        self._beliefs: dict[int, int] = {}  # how far to trust a term's inferred dims, if not fully
        self._built = Built()
        known = {"": onnx.defs.onnx_opset_version(), "the format": onnx.IR_VERSION}
        for domain, version in {**self._opsets, "the format": model.ir_version}.items():
            if version > known.get(domain, 1):
                self._built.odd.add(f"version {version} of {domain or 'the opset'}, which runtimes may not know")

    def build(self) -> Built:
        graph, built = self._model.graph, self._built
        types, is_right = inference.inferred(self._model)
        if not is_right:
            self._built.odd.add("nodes with types or dims that their operators do not accept")
        scope = Scope({}, (), types)
        given = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name in given and value.name not in self._overridable:
                continue  # a constant that is listed as an input
            bare = deepcopy(value.type)
            if bare.WhichOneof("value") == "tensor_type":
                bare.tensor_type.ClearField("shape")
            bits = bare.SerializeToString(deterministic=True)
            term = self._terms.add(Head(Kind.INPUT, name=value.name, type=bits))
            built.inputs[value.name] = term
            built.declared[value.name] = value.type
            self._name(value.name, term, scope)
        for tensor in graph.initializer:
            if tensor.name in built.inputs:
                built.defaults[tensor.name] = self._constants.add(tensor, self._folder)
        self._graph(graph, scope, built.inputs)
        built.outputs = [(value.name, value.type, self._term(value.name, scope)) for value in graph.output]
        built.scopes[TOP] = scope.own
        built.unused = self._unused(scope, [term for _, _, term in built.outputs])
        return built

    def _graph(self, graph: onnx.GraphProto, scope: Scope, given: Mapping[str, int]) -> None:
        """Reads a graph's nodes into a scope that already has the graph's inputs (``given``)."""
        for tensor in graph.initializer:
            if tensor.name not in given:
                self._shadow(tensor.name, scope)
                scope.names[tensor.name] = self._constants.add(tensor, self._folder)
        for sparse in graph.sparse_initializer:
            scope.names[sparse.values.name] = self._constants.add_sparse(sparse, self._folder)
        self._nodes(graph.node, scope)
        for value in (*graph.value_info, *graph.output):
            dtype = self._terms.dtype(scope.names.get(value.name, ABSENT))
            if dtype is not None and value.type.WhichOneof("value") and value.type.tensor_type.elem_type != dtype:
                self._built.odd.add(f"another type declared for the value '{value.name}'")
            dims = inference.dims_of(value.type)
            if dims is not None and value.name in scope.names and any(isinstance(dim, int) for dim in dims):
                term, kind = scope.names[value.name], scope.types.get(value.name)
                follows = kind is not None and not differ(dims, inference.dims_of(kind)) and term not in self._beliefs
                self._built.declares.append((term, dims, value.name, follows))

    def _nodes(self, nodes: Sequence[onnx.NodeProto], scope: Scope) -> None:
        names = Counter(node.name for node in nodes if node.name)
        self._built.odd |= {f"two nodes of the name '{name}'" for name, count in names.items() if count > 1}
        for index in order_of(nodes) or range(len(nodes)):
            self._node(index, nodes[index], scope)

    def _term(self, name: str, scope: Scope) -> int:
        if name not in scope.names:
            raise PadopsError(f"nothing computes the value '{name}'")
        return scope.names[name]

    def _shadow(self, name: str, scope: Scope) -> None:
        if scope.place and name in scope.names and name not in scope.own:
            self._built.odd.add(f"the name '{name}' a second time, in the body {'/'.join(scope.place)}")

    def _unused(self, scope: Scope, results: Sequence[int]) -> tuple[int, ...]:
        """Returns the terms that the results do not need; unused outputs of needed nodes do not count."""

        def node_of(term: int) -> tuple[Head, tuple[int, ...]]:
            head = self._terms.head(term)
            is_later = head.kind is Kind.OPERATOR and head.output
            return replace(head, output=0) if is_later else head, self._terms.inputs(term)

        nodes = set(map(node_of, self._terms.walk(*results)))
        own = {term for term in scope.own.values() if self._terms.head(term).kind not in GIVEN}
        return tuple(sorted(term for term in own if node_of(term) not in nodes))

    def _node(self, index: int, node: onnx.NodeProto, scope: Scope) -> None:
        inputs = [self._term(name, scope) if name else ABSENT for name in node.input]
        while inputs and inputs[-1] == ABSENT:
            inputs.pop()
        domain, function = schemas.plain_domain(node.domain), self._functions.get(key_of(node))
        single = self._single(node, domain, inputs) if function is None else None
        if single is not None:
            self._name(node.output[0], single, scope, self._belief(single))
            return
        if function is None and domain not in self._opsets and domain != DOMAIN:
            self._built.odd.add(f"a node {node.op_type} of the domain '{node.domain}', which is not imported")
        opset, version, rows = self._opsets.get(domain, 1), 0, {}
        believed = inference.belief(node, opset, lambda at: self._terms.constant((*inputs, ABSENT, ABSENT)[at]))
        believed = min(believed, self._belief(*inputs))
        if function is None:
            version = schemas.version_of(domain, node.op_type, opset)
            rows = {name: (kind, value) for name, kind, value in schemas.defaults_of(domain, node.op_type, opset)}
        bodies = []
        for at, attribute in enumerate(node.attribute):
            if attribute.HasField("g"):
                inner = None if scope.inferred is None else scope.inferred.node[index].attribute[at].g
                bodies.append((attribute.name, attribute.g, inner))
            elif attribute.ref_attr_name:
                rows[attribute.name] = (attribute.type, ("@", attribute.ref_attr_name))
            else:
                rows[attribute.name] = (attribute.type, self._constants.of_any(attribute, self._folder))
        attributes = tuple((name, kind, value) for name, (kind, value) in sorted(rows.items()))
        if function is None and len(node.output) == 1:
            values = {name: value for name, _, value in attributes}
            pad = pad_term(self._terms, (domain, node.op_type, version), values, inputs, scope.place)
            if pad is not None:
                if not has_types(self._terms, *inputs):
                    self._built.odd.add(f"a node {node.op_type} with an input of a type that it does not accept")
                self._name(node.output[0], pad, scope, believed)
                return
        # Bodies with the same condition or trip count run together, so they share a place.
        run_by = "" if node.op_type == "Scan" else f" {node.op_type} {inputs[:2] if node.op_type == 'Loop' else inputs}"
        made, is_random = [], False
        for name, body, inner in sorted(bodies, key=lambda row: row[0]):
            has_formals = scope.has_formals or bool(body.input)
            around = Scope(dict(scope.names), (*scope.place, name + run_by), inner, has_formals)
            made.append(self._body(name, body, around))
        if function is not None:
            term, is_random = self._function(function)
            made.append(term)
        name = f"{node.op_type}:{node.overload}" if node.overload else node.op_type
        head = Head(Kind.OPERATOR, domain, name, version, attributes, outputs=len(node.output), place=scope.place)
        arguments, believed = (*inputs, *made), min(believed, self._belief(*made))
        head = self._distinct(node, head, arguments, is_random)
        for output, name in enumerate(node.output):
            if name:
                self._name(name, self._terms.add(replace(head, output=output), arguments), scope, believed)
        if not any(node.output):
            self._built.odd.add(f"a node {node.op_type} without any output, which might fail")

    def _single(self, node: onnx.NodeProto, domain: str, inputs: list[int]) -> int | None:
        """Returns the term of an Identity (its input) or a Constant (its elements); None for other nodes."""
        if domain or len(node.output) != 1:
            return None
        if node.op_type == "Identity" and len(inputs) == 1:
            return inputs[0]
        is_constant = node.op_type == "Constant" and len(node.attribute) == 1 and not node.attribute[0].ref_attr_name
        return self._constants.of_attribute(node.attribute[0], self._folder) if is_constant else None

    def _body(self, attribute: str, body: onnx.GraphProto, scope: Scope) -> int:
        """Returns the term of a body, whose inputs become ``Kind.FORMAL`` terms; ``scope`` has only outer names."""
        place, formals = scope.place, []
        for index, value in enumerate(body.input):
            self._shadow(value.name, scope)
            kind = scope.types.get(value.name, value.type).tensor_type.elem_type or value.type.tensor_type.elem_type
            formal = self._terms.add(Head(Kind.FORMAL, output=index, place=place, type=kind))
            self._terms.learn(formal, kind, None)
            formals.append(formal)
            scope.names[value.name] = scope.own[value.name] = formal
        listed = {value.name: formal for value, formal in zip(body.input, formals)}
        if any(tensor.name in listed for tensor in body.initializer):
            raise PadopsError(f"the body '{body.name}' has an initializer and an input of the same name")
        self._graph(body, scope, listed)
        names = [value.name for value in body.output]
        for name in (name for name in names if name not in scope.own.keys() | {row.name for row in body.initializer}):
            self._built.odd.add(f"a body that returns the outer value '{name}'")
        return self._closed(Head(Kind.BODY, name=attribute), formals, names, scope)

    def _closed(self, head: Head, formals: list[int], names: Sequence[str], scope: Scope) -> int:
        results = [self._term(name, scope) for name in names]
        head = replace(head, place=scope.place, output=len(formals), outputs=len(formals) + len(results))
        term = self._terms.add(head, (*formals, *results, *self._unused(scope, results)))
        if (believed := self._belief(*results)) < inference.DIMS:
            self._beliefs[term] = believed
        self._built.scopes[term] = scope.own
        return term

    def _function(self, function: onnx.FunctionProto) -> tuple[int, bool]:
        """Returns a function's term, and whether the function draws random numbers. A function has its own imports."""
        key = key_of(function)
        if key in self._bodies:
            return self._bodies[key]
        place, outer, draws = (f"function {'::'.join(key)}",), self._opsets, self._draws
        formals = [self._terms.add(Head(Kind.FORMAL, output=at, place=place)) for at, _ in enumerate(function.input)]
        scope = Scope(dict(zip(function.input, formals)), place, None, True)
        self._opsets = schemas.imports_of(function)
        self._nodes(function.node, scope)
        # Some runtimes use the function's own imports, other runtimes use the model's imports.
        others = sorted(row for row in self._opsets.items() if outer.get(row[0], row[1]) != row[1])
        rows: list[tuple[str, int, Any]] = [(name, 0, None) for name in (*function.attribute, *map(repr, others))]
        rows += [(row.name, row.type, self._constants.of_any(row, self._folder)) for row in function.attribute_proto]
        self._opsets = outer
        head = Head(Kind.BODY, name=place[0], attributes=tuple(sorted(rows, key=lambda row: row[0])))
        term = self._closed(head, formals, function.output, scope)
        return self._bodies.setdefault(key, (term, self._draws > draws))

    def _distinct(self, node: onnx.NodeProto, head: Head, inputs: tuple[int, ...], is_random: bool) -> Head:
        """Returns the head, with a ``site`` that distinguishes a random node, or a node of an unknown domain."""
        if head.domain == "" and not is_random:
            trains = len(node.input) > 2 or self._opsets.get("", 0) < FIRST_INFERENCE
            is_random = node.op_type in RANDOM or (node.op_type == "Dropout" and trains)
        if is_random:
            self._draws += 1
            return replace(head, site=self._draws)
        if head.domain in ("", DOMAIN, "ai.onnx.ml"):
            return head
        count = self._equal[head, inputs] = self._equal.get((head, inputs), 0) + 1
        return replace(head, site=count)

    def _belief(self, *inputs: int) -> int:
        return min((self._beliefs.get(one, inference.DIMS) for one in inputs), default=inference.DIMS)

    def _name(self, name: str, term: int, scope: Scope, believed: int = inference.DIMS) -> None:
        """Binds a name to a term; records the term's type and, for the original outside bodies with inputs, dims."""
        if scope.place or name not in self._built.inputs:
            self._shadow(name, scope)
            scope.own[name] = term
        scope.names[name] = term
        self._terms.names.setdefault(term, name)
        head, kind = self._terms.head(term), scope.types.get(name, onnx.TypeProto())
        dtype, dims = kind.tensor_type.elem_type, inference.dims_of(kind)
        if not dtype and (head.kind is Kind.PAD or head.domain == DOMAIN):
            dtype = self._terms.dtype(self._terms.inputs(term)[0]) or 0
        if dims is not None and believed < inference.DIMS:
            self._beliefs[term] = believed
            dims = (None,) * len(dims) if believed == inference.RANK else None
        self._terms.learn(term, dtype, None if scope.has_formals or not self._original else dims)
