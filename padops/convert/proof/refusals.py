"""Errors for which a runtime rejects a model at load: forms, types and ranks that the schemas do not allow.

A proof speaks of models that load. So the converted model is first checked, without its data, for errors that the
original does not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import onnx
from onnx import TensorProto

from padops.convert.errors import PadopsError
from padops.convert.proof import facts
from padops.convert.proof.facts import dims_of
from padops.convert.proof.functions import imports_of, is_fallback
from padops.convert.proof.schemas import PADOPS, plain_domain, schema, type_name
from padops.plural import plural

MOST_CALLS = 1 << 12  # function calls after inlining: each is read and inferred separately
DEEPEST = 100  # nesting of functions and bodies; onnx's inference gives up there, too
TOO_DEEP = f"more than {DEEPEST} functions and bodies of the model are within each other"
FIRST_OVERRIDABLE = 4  # since this IR version, initializers need not be inputs, and callers may replace those that are
TWICE = (
    "one model alone has the name '{}' a second time, in the body {}: runtimes do not agree which of the two is read"
)
# The inputs that must have one axis.
LISTS = {"ConstantOfShape": (0,), "Expand": (1,), "Pad": (1, 3), "Reshape": (1,), "Slice": (1, 2, 3, 4), "Split": (1,),
         "Squeeze": (1,), "Tile": (1,), "TopK": (1,), "Unsqueeze": (1,)}  # fmt: skip
FILL = 2  # the index of a Pad's fill input, which is one number
# Window operators, and how many values an attribute has for each spatial axis.
WINDOWS = {"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"}
PER_AXIS = {"kernel_shape": 1, "strides": 1, "dilations": 1, "pads": 2}
TEXTS = {
    ("Pad", "mode"): {b"constant", b"edge", b"reflect", b"wrap"},
    ("DepthToSpace", "mode"): {b"DCR", b"CRD"},
    **{(name, "auto_pad"): {b"NOTSET", b"SAME_UPPER", b"SAME_LOWER", b"VALID"} for name in sorted(WINDOWS)},
}
COUNTED = 18  # since this version, Split takes either sizes or num_outputs
MICROSOFT, MICROSOFT_TYPES = "com.microsoft", (1, 10, 11)  # com.microsoft::Pad takes float, float16, double
Types = Mapping[str, onnx.TypeProto]
Key = tuple[str, str, str]


def check_calls(model: onnx.ModelProto) -> None:
    """Rejects a model with too many or too deeply nested calls of its functions.

    Raises:
        PadopsError: Inlined, the calls exceed ``MOST_CALLS`` or ``DEEPEST``, or a function calls itself.
    """
    functions, known = _functions(model), dict[Key, tuple[int, int]]()

    def count(nodes: list[onnx.NodeProto], above: tuple[Key, ...], depth: int) -> tuple[int, int]:
        """The number of calls in some nodes, and the depth of functions and bodies in them."""
        inner: list[tuple[int, int]] = []
        for node in nodes:
            key = (node.domain, node.op_type, node.overload)
            graphs = [row.g for row in node.attribute if row.HasField("g")]
            if depth == DEEPEST and (graphs or key in functions):
                raise PadopsError(TOO_DEEP)
            inner += (count(list(graph.node), above, depth + 1) for graph in graphs)
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


def _functions(model: onnx.ModelProto) -> dict[Key, onnx.FunctionProto]:
    """The model's functions, without the fallbacks of padops."""
    return {(one.domain, one.name, one.overload): one for one in model.functions if not is_fallback(one)}


def refusals(original: onnx.ModelProto, converted: onnx.ModelProto) -> list[str]:
    """The errors that only the converted model has, and names that runtimes may resolve differently; one text each."""
    found = [*_of_format(original, converted), *_of_names(converted)]
    told = dict.fromkeys(_Checked(converted).problems())
    if told:
        before = set(_Checked(original).problems())
        found += [problem for problem in told if problem not in before]
    either = sorted(set(_shadows(original)) ^ set(_shadows(converted)))
    twice = [TWICE.format(name, "/".join(place)) for *place, name in either]
    return [*(f"the converted model has {problem}" for problem in found), *twice]


def _shadows(model: onnx.ModelProto) -> Iterator[tuple[str, ...]]:
    """The values of bodies that shadow a name of an outer graph: the path of the body, then the name."""
    yield from _shadowed(model.graph.node, _given(model.graph))
    for function in _functions(model).values():
        found = _shadowed(function.node, frozenset(function.input))
        yield from ((f"{function.domain}::{function.name}", *place) for place in found)


def _shadowed(nodes: Sequence[onnx.NodeProto], above: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """As ``_shadows``, for some nodes, where ``above`` has the names of the inputs, constants and outer graphs."""
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
    """Errors of the IR version, and of initializers under it."""
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
    """Nodes without named outputs, and inlined names of a call that the graph has as well."""
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
    """The nodes of the main graph, of the model's own functions, and of all bodies in them."""
    pending = [list(model.graph.node), *(list(one.node) for one in _functions(model).values())]
    while pending:
        nodes = pending.pop()
        yield nodes
        pending += [list(row.g.node) for node in nodes for row in node.attribute if row.HasField("g")]


class _Checked:
    """A model to check."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model, self.opsets, self.functions = model, imports_of(model), _functions(model)
        self.context = onnx.checker.C.CheckerContext()
        self.context.ir_version = model.ir_version or onnx.IR_VERSION
        self.context.opset_imports = self.opsets
        self.seen: dict[bytes, str] = {}

    def problems(self) -> Iterator[str]:
        """The errors of its nodes and declared types. Equal errors of several nodes give equal texts."""
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
                yield f"a value '{value.name}' declared as {type_name(one)}, which is {type_name(other)}"

    def _node(self, node: onnx.NodeProto, types: Types) -> Iterator[str]:
        domain = plain_domain(node.domain)
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
        yield from (f"{label}: {problem}" for problem in problems(node, domain, version, given))

    def _form(self, node: onnx.NodeProto) -> str:
        """The error of onnx's checker for a node without its names, bodies and data; "" for none."""
        bare = onnx.NodeProto(op_type=node.op_type, domain=plain_domain(node.domain))
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
    """Inputs whose types the schema does not allow, alone or together."""
    bound: dict[str, str] = {}
    for place, kind in enumerate(given):
        formal = found.inputs[min(place, len(found.inputs) - 1)] if found.inputs else None
        if formal is None or kind is None or not kind.tensor_type.elem_type:
            continue
        text = f"tensor({type_name(kind.tensor_type.elem_type)})"
        if text not in formal.types:
            yield f"its input {formal.name} is a {text}"
        elif formal.is_homogeneous and bound.setdefault(formal.type_str, text) != text:
            yield f"its input {formal.name} is a {text}, and another one a {bound[formal.type_str]}"


def problems(node: onnx.NodeProto, domain: str, opset: int, types: Sequence[onnx.TypeProto | None]) -> Iterator[str]:
    """The errors of a node that no schema covers, such as a list of rank 2; ``types`` are its inputs', or None."""
    op, dims = node.op_type, [None if kind is None else dims_of(kind) for kind in types]
    if domain == MICROSOFT and op == "Pad" and types and types[0] is not None:
        number = types[0].tensor_type.elem_type
        if number and number not in MICROSOFT_TYPES:
            yield f"its data are of {type_name(number)}"
    is_pad = (domain == "" and op == "Pad") or (domain == PADOPS and op.startswith("Pad_"))
    if domain not in ("", PADOPS):
        return
    for place in LISTS.get("Pad" if is_pad else op, ()) if domain == "" or is_pad else ():
        if place < len(dims) and dims[place] is not None and len(dims[place] or ()) != 1:
            yield f"its input {place} has {plural(len(dims[place] or ()), 'axis')}, and is to be a list"
    if is_pad and len(dims) > FILL:
        sizes = dims[FILL] or ()
        if any(isinstance(size, int) for size in sizes) and prod(s for s in sizes if isinstance(s, int)) != 1:
            yield f"its fill has the dims {list(sizes)}, and is to be one number"
    if domain == "":
        yield from _attributes(node, opset, dims)


def _attributes(node: onnx.NodeProto, opset: int, dims: Sequence[Sequence[object] | None]) -> Iterator[str]:
    rows = {row.name: row for row in node.attribute}
    for name, row in rows.items():
        allowed = TEXTS.get((node.op_type, name))
        if allowed is not None and row.type == row.STRING and row.s not in allowed:
            yield f"its {name} is {row.s.decode(errors='replace')!r}"
    if node.op_type in WINDOWS and dims and dims[0] is not None:
        rank = len(dims[0]) - 2
        for name, times in PER_AXIS.items():
            if name in rows and rows[name].ints and len(rows[name].ints) != times * rank:
                yield f"its {name} are {list(rows[name].ints)}, of data with {rank} spatial axes"
    if node.op_type == "Split" and opset >= COUNTED:
        has_sizes, count = len(node.input) > 1 and bool(node.input[1]), rows.get("num_outputs")
        if has_sizes == (count is not None):
            yield f"it has {'both sizes and' if has_sizes else 'neither sizes nor'} their number"
        elif count is not None and count.i != len(node.output):
            yield f"its num_outputs is {count.i}, and it has {plural(len(node.output), 'output')}"
