"""What a runtime refuses a model for before it runs: forms, types and ranks that the schemas of its operators do not have.

A proof is about models that run. So the converted model is looked at before anything is proved, without its data, for what
the original is not refused for as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx import TensorProto

from padops.convert.errors import PadopsError
from padops.convert.proof import facts, node_rules
from padops.convert.proof.schemas import PADOPS, schema

MOST_CALLS = 1 << 12  # of functions, once all are written out: each is read, and inferred, anew
DEEPEST = 100  # functions and bodies within each other; onnx's inference gives up there, too
TOO_DEEP = f"more than {DEEPEST} functions and bodies of the model are within each other"
FIRST_OVERRIDABLE = 4  # the IR version since which initializers need not be inputs, and those that are may be replaced
TWICE = (
    "one model alone has the name '{}' a second time, in the body {}: runtimes do not agree which of the two is read"
)
Types = Mapping[str, onnx.TypeProto]
Key = tuple[str, str, str]


def check_calls(model: onnx.ModelProto) -> None:
    """Refuses a model whose functions call each other too often, or too many of them within each other.

    Raises:
        PadopsError: Written out, they are more calls than can be read in some time, or deeper ones than a stack holds.
    """
    functions, known = _functions(model), dict[Key, tuple[int, int]]()

    def count(nodes: list[onnx.NodeProto], above: tuple[Key, ...], depth: int) -> tuple[int, int]:
        """The calls of some nodes, and how many functions and bodies are within each other in them."""
        inner: list[tuple[int, int]] = []
        for node in nodes:
            if depth == DEEPEST and _holds_nodes(node, functions):
                raise PadopsError(TOO_DEEP)
            inner += (count(list(row.g.node), above, depth + 1) for row in node.attribute if row.HasField("g"))
            key = (node.domain, node.op_type, node.overload)
            if key in above:
                raise PadopsError(f"the function {key[0]}::{key[1]} calls itself")
            if key in functions:
                if key not in known:
                    calls, height = count(list(functions[key].node), (*above, key), depth + 1)
                    known[key] = calls + 1, height
                inner.append(known[key])
        return sum(calls for calls, _ in inner), max((height + 1 for _, height in inner), default=0)

    calls, height = count(list(model.graph.node), (), 0)
    if calls > MOST_CALLS:
        raise PadopsError(f"the functions of the model call each other {calls} times: more than {MOST_CALLS}")
    if height > DEEPEST:
        raise PadopsError(TOO_DEEP)


def _holds_nodes(node: onnx.NodeProto, functions: Mapping[Key, onnx.FunctionProto]) -> bool:
    """Whether a node has a body, or calls a function of the model."""
    key = (node.domain, node.op_type, node.overload)
    return key in functions or any(row.HasField("g") for row in node.attribute)


def _functions(model: onnx.ModelProto) -> dict[Key, onnx.FunctionProto]:
    """Functions of the model, but for those that stand for operators of padops."""
    return {(one.domain, one.name, one.overload): one for one in model.functions if one.domain != PADOPS}


def refusals(original: onnx.ModelProto, converted: onnx.ModelProto) -> list[str]:
    """For what the converted model is refused, and the original is not: a sentence each; and where runtimes may read either otherwise."""
    found = [*_of_format(original, converted), *_of_names(converted)]
    told = dict.fromkeys(_Checked(converted).problems())
    if told:
        before = set(_Checked(original).problems())
        found += [problem for problem in told if problem not in before]
    either = sorted(set(_shadows(original)) ^ set(_shadows(converted)))
    twice = [TWICE.format(name, "/".join(place)) for *place, name in either]
    return [*(f"the converted model has {problem}" for problem in found), *twice]


def _shadows(model: onnx.ModelProto) -> Iterator[tuple[str, ...]]:
    """The values of bodies that have the name of one of a graph around them: the place of the body, and the name."""
    yield from _shadowed(model.graph.node, _given(model.graph))
    for function in _functions(model).values():
        found = _shadowed(function.node, frozenset(function.input))
        yield from ((f"{function.domain}::{function.name}", *place) for place in found)


def _shadowed(nodes: Sequence[onnx.NodeProto], above: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Of nodes, and of what is given to them and around them by these names, as ``_shadows``."""
    above |= {name for node in nodes for name in node.output if name}
    for node in nodes:
        for row in (row for row in node.attribute if row.HasField("g")):
            place = (next((name for name in node.output if name), node.name), row.name)
            own = _given(row.g)
            made = {name for inner in row.g.node for name in inner.output}
            yield from ((*place, name) for name in (own | made) & above)
            yield from ((*place, *found) for found in _shadowed(row.g.node, above | own))


def _given(graph: onnx.GraphProto) -> frozenset[str]:
    """The names of the inputs and constants of a graph."""
    dense = {row.name for row in graph.initializer} | {row.values.name for row in graph.sparse_initializer}
    return frozenset(dense | {row.name for row in graph.input})


def _of_format(original: onnx.ModelProto, converted: onnx.ModelProto) -> Iterator[str]:
    """What the version of the format makes of initializers."""
    version = converted.ir_version
    if version > max(onnx.IR_VERSION, original.ir_version):
        yield f"IR version {version}, which is not known"
    if version >= FIRST_OVERRIDABLE or original.ir_version < FIRST_OVERRIDABLE:
        return
    inputs = {value.name for value in converted.graph.input}
    for tensor in converted.graph.initializer:
        how = "that no caller can replace" if tensor.name in inputs else "that is no input"
        yield f"IR version {version}, and an initializer '{tensor.name}' {how}"


def _of_names(model: onnx.ModelProto) -> Iterator[str]:
    """Nodes that compute nothing by a name, and names within a call that are names of the graph, too."""
    functions = _functions(model)
    taken = {name for node in model.graph.node for name in node.output if name}

    def inside(node: onnx.NodeProto, prefix: str) -> Iterator[str]:
        function = functions.get((node.domain, node.op_type, node.overload))
        place = prefix + next((name for name in node.output if name), node.name)
        for inner in () if function is None else function.node:
            yield from (f"{place}/{name}" for name in inner.output if name)
            yield from inside(inner, f"{place}/")

    for nodes in _lists(model):
        for node in nodes:
            if not any(node.output):
                yield f"a node {node.op_type} without any output, which might fail"
    for node in model.graph.node:
        yield from (f"a value '{name}' twice: of a function, and its own" for name in inside(node, "") if name in taken)


def _lists(model: onnx.ModelProto) -> Iterator[list[onnx.NodeProto]]:
    """The nodes of the graph, of the functions but for those of padops, and of all bodies in them."""
    pending = [list(model.graph.node), *(list(one.node) for one in _functions(model).values())]
    while pending:
        nodes = pending.pop()
        yield nodes
        pending += [list(row.g.node) for node in nodes for row in node.attribute if row.HasField("g")]


@dataclass
class _Checked:
    """A model that is looked at."""

    model: onnx.ModelProto

    def __post_init__(self) -> None:
        self.opsets = {_plain(row.domain): row.version for row in self.model.opset_import}
        self.context = onnx.checker.C.CheckerContext()
        self.context.ir_version = self.model.ir_version or onnx.IR_VERSION
        self.context.opset_imports = self.opsets
        self.functions = _functions(self.model)
        self.seen: dict[bytes, str] = {}

    def problems(self) -> Iterator[str]:
        """What is wrong with its nodes and declared types; equal mistakes of several nodes are told in equal words."""
        known = facts.inferred(self.model, None, set())
        yield from self._graph(self.model.graph, known, {})

    def _graph(self, graph: onnx.GraphProto, inferred: facts.Inferred, outer: Types) -> Iterator[str]:
        types = {**outer, **facts.types_of(inferred.known)}
        for tensor in graph.initializer:
            types[tensor.name] = onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
        for place, node in enumerate(graph.node):
            yield from self._node(node, types)
            for index, row in enumerate(node.attribute):
                if row.HasField("g"):
                    yield from self._graph(row.g, inferred.body(place, index), types)
        for value in graph.value_info:
            one, other = (kind and kind.tensor_type.elem_type for kind in (value.type, types.get(value.name)))
            if one and other and one != other:
                yield f"a value '{value.name}' declared as {_type(one)}, which is {_type(other)}"

    def _node(self, node: onnx.NodeProto, types: Types) -> Iterator[str]:
        domain = _plain(node.domain)
        if (node.domain, node.op_type, node.overload) in self.functions:
            return
        version = self.opsets.get(domain, 0)
        found = schema(domain, node.op_type, version) if domain != PADOPS else None
        label = f"a node {domain or 'ai.onnx'}::{node.op_type} of version {found.since_version if found else version}"
        given = [types.get(name) for name in node.input]
        if found is not None:
            yield from (f"{label}: {problem}" for problem in filter(None, (self._form(node),)))
            yield from (f"{label}: {problem}" for problem in _of_types(found, node, given))
        elif domain == "" and version:
            yield f"{label}, which onnx does not have"
        yield from (f"{label}: {problem}" for problem in node_rules.problems(node, domain, version, given))

    def _form(self, node: onnx.NodeProto) -> str:
        """What onnx's checker says of a node without its names, bodies and data."""
        bare = onnx.NodeProto(op_type=node.op_type, domain=_plain(node.domain))
        bare.input.extend("x" if name else "" for name in node.input)
        bare.output.extend(f"y{place}" if name else "" for place, name in enumerate(node.output))
        for row in node.attribute:
            made = bare.attribute.add(name=row.name, type=row.type)
            if row.type == onnx.AttributeProto.GRAPH and row.HasField("g"):
                made.g.name = "body"
            elif row.type == onnx.AttributeProto.TENSOR and row.HasField("t"):
                made.t.data_type = row.t.data_type or TensorProto.FLOAT
                made.t.dims.append(0)
            else:
                made.CopyFrom(row)
                made.ClearField("doc_string")
        key = bare.SerializeToString(deterministic=True)
        if key not in self.seen:
            self.seen[key] = ""
            try:
                onnx.checker.check_node(bare, self.context)
            except onnx.checker.ValidationError as error:
                self.seen[key] = str(error).split("\n")[0]
        return self.seen[key]


def _of_types(found: onnx.defs.OpSchema, node: onnx.NodeProto, given: list[onnx.TypeProto | None]) -> Iterator[str]:
    """Inputs of types that the schema does not allow: each by itself, and together."""
    bound: dict[str, str] = {}
    for place, kind in enumerate(given):
        formal = found.inputs[min(place, len(found.inputs) - 1)] if found.inputs else None
        if formal is None or kind is None or not kind.tensor_type.elem_type:
            continue
        text = f"tensor({_type(kind.tensor_type.elem_type)})"
        if text not in formal.types:
            yield f"its input {formal.name} is a {text}"
        elif formal.is_homogeneous and bound.setdefault(formal.type_str, text) != text:
            yield f"its input {formal.name} is a {text}, and another one a {bound[formal.type_str]}"


def _type(number: int) -> str:
    return str(TensorProto.DataType.Name(number)).lower()


def _plain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain
