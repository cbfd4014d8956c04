"""Reads a model into terms.

Each value becomes the term that computes it. Only the store decides whether two terms are one, by the normal forms that
this module and ``pads.py`` give them: an Identity is its input, a Constant and an initializer are their elements, and a
missing attribute has its schema's default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import onnx

from padops.convert.errors import PadopsError
from padops.convert.proof import facts, functions, schemas
from padops.convert.proof.constants import Constants
from padops.convert.proof.facts import Shape
from padops.convert.proof.functions import in_order
from padops.convert.proof.pads import Spelling, pad_term, spelling_of
from padops.convert.proof.terms import ABSENT, Head, Kind, Terms

# Operators with random outputs: two are equal only at the same place in the order of random nodes.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
FIRST_INFERENCE = 7  # since this version, Dropout does nothing unless told to train
Declared = tuple[int, Shape, str]  # a term, its declared dims, the name of the value
TOP = -1  # the scope of the main graph; bodies' scopes are their terms


@dataclass
class Built:
    """A model as terms."""

    inputs: dict[str, int] = field(default_factory=dict)  # the terms of required and optional graph inputs, by name
    declared: dict[str, onnx.TypeProto] = field(default_factory=dict)  # the declared types of these inputs
    defaults: dict[str, int] = field(default_factory=dict)  # the initializers' terms of optional inputs, by name
    # Names, types and terms of the graph's outputs, in order
    outputs: list[tuple[str, onnx.TypeProto, int]] = field(default_factory=list)
    # For each body, and ``TOP``: the terms of all its values, by name, in order
    scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    unused: tuple[int, ...] = ()  # the main graph's terms that no output needs
    # For each body, and ``TOP``: the dims that the original declares. They hold in that graph only
    declares: dict[int, list[Declared]] = field(default_factory=dict)
    # The terms of ONNX Pads, each with the spellings of its nodes
    pads: dict[int, set[Spelling]] = field(default_factory=dict)
    # Spellings of Pads with inputs or attributes that no runtime takes
    refused: set[Spelling] = field(default_factory=set)


@dataclass
class _Scope:
    """A graph that is being read: the terms of its names, and their inferred types."""

    names: dict[str, int]
    inferred: facts.Inferred
    own: dict[str, int] = field(default_factory=dict)
    declares: list[Declared] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.types = facts.types_of(self.inferred.known)
        self.declared = {} if self.inferred.declared is None else facts.types_of(self.inferred.declared)


def overridable_inputs(model: onnx.ModelProto) -> set[str]:
    """The optional inputs: those with an initializer, which callers may replace. None before IR version 4."""
    given = {tensor.name for tensor in model.graph.initializer}
    return {value.name for value in model.graph.input if value.name in given} if model.ir_version >= 4 else set()


class Builder:
    """Reads one model into the store.

    ``overridable`` names the original's optional inputs. Declared dims are read from the original only (``original``).
    """

    def __init__(
        self,
        terms: Terms,
        constants: Constants,
        model: onnx.ModelProto,
        folder: Path | None,
        overridable: set[str],
        original: bool,
    ) -> None:
        self._terms, self._constants, self._folder, self._original = terms, constants, folder, original
        self._model, self._overridable = model, overridable
        self._opsets = functions.imports_of(model)
        self._functions = functions.own_functions(model)
        self._draws = 0
        self._calls: dict[tuple[Head, tuple[int, ...]], int] = {}
        self._built = Built()

    def build(self) -> Built:
        """Reads the model.

        Raises:
            PadopsError: A constant cannot be read.
        """
        graph, built = self._model.graph, self._built
        scope = _Scope({}, facts.inferred(self._model, self._folder, self._overridable, self._original))
        given = {tensor.name for tensor in graph.initializer}
        for value in graph.input:
            if value.name in given and value.name not in self._overridable:
                continue  # a constant that is listed as an input
            built.inputs[value.name] = scope.names[value.name] = self._input(value, scope)
            built.declared[value.name] = value.type
        for tensor in graph.initializer:
            if tensor.name in built.inputs:
                built.defaults[tensor.name] = self._constants.add(tensor, self._folder)
        live = self._graph(graph, scope, [output.name for output in graph.output], built.inputs)
        built.outputs = [(value.name, value.type, scope.names[value.name]) for value in graph.output]
        built.scopes[TOP], built.declares[TOP] = scope.own, scope.declares
        built.unused = self._unused(scope, live)
        return built

    def _input(self, value: onnx.ValueInfoProto, scope: _Scope) -> int:
        term = self._terms.add(Head(Kind.INPUT, name=value.name, type=facts.bare_type(value.type)))
        self._learn(term, value.name, scope)
        return term

    def _graph(
        self, graph: onnx.GraphProto, scope: _Scope, results: Sequence[str], given: Mapping[str, int]
    ) -> set[int]:
        """Reads a graph's nodes into the scope, which has its inputs (``given``); returns the terms of its results."""
        for tensor in graph.initializer:
            if tensor.name not in given:
                scope.names[tensor.name] = self._constants.add(tensor, self._folder)
        for sparse in graph.sparse_initializer:
            scope.names[sparse.values.name] = self._constants.add_sparse(sparse, self._folder)
        for index in in_order(graph.node):
            self._node(index, graph.node[index], scope)
        return set(self._terms.walk(*(scope.names[name] for name in results)))

    def _unused(self, scope: _Scope, live: set[int]) -> tuple[int, ...]:
        """The terms that the results do not need; other outputs of needed nodes do not count."""
        nodes = {self._node_of(term) for term in live}
        return tuple(dict.fromkeys(term for term in scope.own.values() if self._node_of(term) not in nodes))

    def _node_of(self, term: int) -> tuple[Head, tuple[int, ...]]:
        head = self._terms.head(term)
        if head.kind is Kind.OPERATOR and head.output:
            head = replace(head, output=0)
        return head, self._terms.inputs(term)

    def _node(self, place: int, node: onnx.NodeProto, scope: _Scope) -> None:
        inputs = [scope.names[name] if name else ABSENT for name in node.input]
        while inputs and inputs[-1] == ABSENT:
            inputs.pop()
        domain = schemas.plain_domain(node.domain)
        function = self._functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            self._call(function, node, inputs, scope)
            return
        single = self._single(node, domain, inputs)
        if single is not None:
            self._name(node.output[0], single, scope)
            return
        if not domain and domain not in self._opsets:
            raise PadopsError(f"a node {node.op_type} is of the domain ai.onnx, of which no version is imported")
        opset = self._opsets.get(domain, 1)
        version = schemas.version_of(domain, node.op_type, opset)
        rows = {name: (kind, value) for name, kind, value in schemas.defaults_of(domain, node.op_type, opset)}
        bodies = []
        for index, attribute in enumerate(node.attribute):
            if attribute.HasField("g"):
                bodies.append((attribute.name, attribute.g, scope.inferred.body(place, index)))
            else:
                rows[attribute.name] = (attribute.type, self._constants.of_any(attribute, self._folder))
        spelling = spelling_of(domain, node.op_type, version, rows)
        if spelling is not None and len(node.output) == 1:
            values = {name: value for name, (_, value) in rows.items()}
            term = pad_term(self._terms, spelling, values, inputs)
            if term is not None:
                self._built.pads.setdefault(term, set()).add(spelling)
                self._name(node.output[0], term, scope)
                return
            self._built.refused.add(spelling)
        made = [self._body(name, body, inner, scope) for name, body, inner in sorted(bodies, key=lambda row: row[0])]
        attributes = tuple((name, kind, value) for name, (kind, value) in sorted(rows.items()))
        name = f"{node.op_type}:{node.overload}" if node.overload else node.op_type
        head = Head(Kind.OPERATOR, domain, name, version, attributes, outputs=len(node.output))
        arguments = (*inputs, *made)
        head = self._distinct(node, head, arguments)
        for index, name in enumerate(node.output):
            if name:
                one = replace(head, output=index)
                self._name(name, self._terms.add(one, arguments), scope)

    def _single(self, node: onnx.NodeProto, domain: str, inputs: list[int]) -> int | None:
        """The term of an Identity (its input) or a Constant (its elements); None for other nodes."""
        if domain or len(node.output) != 1:
            return None
        if node.op_type == "Identity" and len(inputs) == 1:
            return inputs[0]
        if node.op_type != "Constant" or len(node.attribute) != 1:
            return None
        return self._constants.of_attribute(node.attribute[0], self._folder)

    def _body(self, name: str, body: onnx.GraphProto, inferred: facts.Inferred, outer: _Scope) -> int:
        """The term of a graph attribute; the body's inputs become formals."""
        scope = _Scope(dict(outer.names), inferred)
        site = self._terms.new_site() if body.input else 0
        formals = []
        for index, value in enumerate(body.input):
            formal = self._terms.add(Head(Kind.FORMAL, output=index, site=site))
            formals.append(formal)
            scope.names[value.name] = formal
            self._learn(formal, value.name, scope)
        listed = {value.name: formal for value, formal in zip(body.input, formals)}
        if any(tensor.name in listed for tensor in body.initializer):
            raise PadopsError(f"the body '{body.name}' has an initializer with the name of one of its inputs")
        live = self._graph(body, scope, [value.name for value in body.output], listed)
        results = [scope.names[value.name] for value in body.output]
        unused = self._unused(scope, live)
        head = Head(Kind.BODY, name=name, output=len(formals), outputs=len(formals) + len(results))
        term = self._terms.add(head, (*formals, *results, *unused))
        self._built.scopes[term] = scope.own
        self._built.declares.setdefault(term, []).extend(scope.declares)
        return term

    def _call(self, function: onnx.FunctionProto, node: onnx.NodeProto, inputs: list[int], scope: _Scope) -> None:
        """Reads a function's body in place of a call, with the function's own imports."""
        padded = (*inputs, *[ABSENT] * len(function.input))[: len(function.input)]
        body = functions.called(function, node)
        inferred = functions.inferred_call(self._model, function, body, [self._known(term) for term in padded])
        inner = _Scope(dict(zip(function.input, padded)), inferred)
        outer, self._opsets = self._opsets, functions.imports_of(function)
        for index, one in enumerate(body):
            self._node(index, one, inner)
        self._opsets = outer
        place = next((name for name in node.output if name), node.name)
        scope.own |= {f"{place}/{name}": term for name, term in inner.own.items()}
        for name, value in zip(node.output, function.output):
            if name:
                self._name(name, inner.names[value], scope)

    def _known(self, term: int) -> functions.Known | None:
        """The facts of an argument that inference in a function may use; None if the argument is absent."""
        if term == ABSENT:
            return None
        return functions.Known(self._terms.dtype(term) or 0, self._terms.shape(term), self._terms.constant(term))

    def _distinct(self, node: onnx.NodeProto, head: Head, inputs: tuple[int, ...]) -> Head:
        """The head, with a site if two equal nodes may give different values.

        The site of a random node is its place among these; of a node of an unknown domain, its place among equal ones.
        """
        if head.domain == "":
            trains = len(node.input) > 2 or self._opsets[head.domain] < FIRST_INFERENCE
            if node.op_type not in RANDOM and not (node.op_type == "Dropout" and trains):
                return head
            self._draws += 1
            return replace(head, site=self._draws)
        if head.domain in (schemas.PADOPS, "ai.onnx.ml"):
            return head
        count = self._calls[head, inputs] = self._calls.get((head, inputs), 0) + 1
        return replace(head, site=count)

    def _name(self, name: str, term: int, scope: _Scope) -> None:
        """Binds a name of the scope to a term, and learns its inferred type."""
        scope.names[name] = scope.own[name] = term
        self._terms.names.setdefault(term, name)
        self._learn(term, name, scope)

    def _learn(self, term: int, name: str, scope: _Scope) -> None:
        """Stores the inferred type of a value; for the converted model, the element type alone."""
        for types, declared in ((scope.types, False), (scope.declared, True)):
            kind = types.get(name)
            if kind is None or kind.WhichOneof("value") != "tensor_type":
                continue
            if not declared and kind.tensor_type.elem_type and self._terms.dtype(term) is None:
                self._terms.set_dtype(term, kind.tensor_type.elem_type)
            dims = facts.dims_of(kind) if self._original else None
            if dims is not None and declared:
                scope.declares.append((term, dims, name))
            elif dims is not None and self._terms.shape(term) is None:
                self._terms.set_shape(term, dims)
