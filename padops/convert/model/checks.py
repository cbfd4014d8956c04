"""Checks that a message is a valid model, before any pass reads it.

onnx, onnx_ir and protobuf each find some errors, and raise exceptions of many kinds from deep inside. All three miss
some errors, and hang on others. The checks accept everything that ONNX Runtime runs (measured with 1.31.1): nodes of
the main graph in any order, an initializer that this graph lists twice, values in a field that their type does not use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from math import prod

import onnx
import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.convert.model.nesting import Body, graphs_in, nodes_of
from padops.plural import plural
from padops.spec.dialects import DOMAIN

# Exporters write Pad in forms of other versions, which the converter knows; ONNX Runtime does not count Constant's
# inputs and outputs.
NOT_COUNTED = ("Pad", "Constant")


def default_version(imports: Mapping[str, int], ir_version: int) -> int | None:
    """Return the imported version of the default domain; without an import, 1 for an IR version below 3, else None."""
    return imports.get("", 1 if ir_version < 3 else None)


Key = tuple[str, str, str]  # domain, name and overload
Functions = Mapping[Key, onnx.FunctionProto]


def key_of(part: onnx.NodeProto | onnx.FunctionProto) -> Key:
    """Return the key of a function, or of a node that may call one."""
    return part.domain, part.op_type if isinstance(part, onnx.NodeProto) else part.name, part.overload


def _name(key: Key) -> str:
    domain, name, overload = key
    return f"function '{domain or 'ai.onnx'}::{name}{':' if overload else ''}{overload}'"


def _check_counts(node: onnx.NodeProto, version: int | None, functions: Functions, label: str) -> None:
    """Refuse a call, or a node of the default domain, with too few or too many inputs or outputs."""
    is_standard = node.domain == "" and version is not None and version <= onnx.defs.onnx_opset_version()
    if (function := functions.get(key_of(node))) is not None:
        what, limits = _name(key_of(node)), ((0, len(function.input)), (0, len(function.output)))
    elif is_standard and node.op_type not in NOT_COUNTED and (schema := _schema(node.op_type, version)) is not None:
        what = f"{node.op_type} of version {version}"
        limits = (schema.min_input, schema.max_input), (schema.min_output, schema.max_output)
    else:
        return
    for kind, names, (least, most) in zip(("input", "output"), (node.input, node.output), limits):
        if not least <= len(names) <= most:
            expected = f"at least {least}" if len(names) < least else f"at most {most}"
            raise PadopsError(f"{label} has {plural(len(names), kind)}; {what} has {expected}")


@lru_cache(maxsize=4096)
def _schema(op_type: str, version: int) -> onnx.defs.OpSchema | None:
    try:
        return onnx.defs.get_schema(op_type, version, "")
    except onnx.defs.SchemaError:
        return None


def _check_tensor(tensor: onnx.TensorProto, place: str) -> None:
    """Refuse an unreadable tensor; if its data are external, check only type and dims. Errors name ``place``."""
    try:
        dtype, field = ir.DataType(tensor.data_type), onnx.helper.tensor_dtype_to_field(tensor.data_type)
    except (KeyError, ValueError):
        raise PadopsError(f"{place}: onnx {onnx.__version__} knows no element type {tensor.data_type}") from None
    dims = f"{list(tensor.dims)!s:.100}"
    if (lowest := min(tensor.dims, default=0)) < 0:
        raise PadopsError(f"{place}: dims {dims} have the negative size {lowest}")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        return
    count, bits = prod(tensor.dims), 0 if dtype == ir.DataType.STRING else dtype.bitwidth
    if tensor.HasField("raw_data") and dtype != ir.DataType.STRING:
        field, present, needed, unit = "raw_data", len(tensor.raw_data), (count * bits + 7) // 8, "byte"
    else:  # elements of 4 and 2 bits share an entry as they share a byte, and complex elements have two entries
        if field != "int32_data" and tensor.int32_data:  # onnx would read this field instead
            raise PadopsError(
                f"{place}: it has {plural(len(tensor.int32_data), 'value')} in int32_data, but its type uses {field}"
            )
        present, unit = len(getattr(tensor, field)), "value"
        needed = (count * bits + 7) // 8 if 0 < bits < 8 else count * (2 if dtype.name.startswith("COMPLEX") else 1)
    if present != needed:
        raise PadopsError(
            f"{place}: {plural(present, unit)} in {field}; {dtype.name.lower()} of dims {dims} needs {needed}"
        )


Attribute = onnx.AttributeProto

# The field that holds an attribute's value, by kind; the name of any other kind is its field's name in upper case.
FIELDS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "TYPE_PROTO": "tp"}
MESSAGES = {"t", "sparse_tensor", "g", "tp"}  # an absent message means no value; an absent number is 0
KINDS = {number: kind for kind, number in Attribute.AttributeType.items() if number}
VALUES = {FIELDS.get(kind, kind.lower()) for kind in KINDS.values()}


def _check_attribute(attribute: onnx.AttributeProto, owner: str, inside_function: bool) -> None:
    """Refuse a value that does not fit its attribute's type, and, outside functions, a reference to an attribute."""
    place = f"{owner}: the attribute '{attribute.name}'"
    if not attribute.name:
        raise PadopsError(f"{owner}: an attribute has no name")
    kind = KINDS.get(attribute.type)
    if kind is None:
        raise PadopsError(f"{place} has the type {attribute.type}, which ONNX does not define")
    if attribute.ref_attr_name and not inside_function:
        raise PadopsError(f"{place} refers to '{attribute.ref_attr_name}' of a function, but is in no function")
    field = "" if attribute.ref_attr_name else FIELDS.get(kind, kind.lower())
    present = {row.name for row, _ in attribute.ListFields()} & VALUES
    if wrong := present - {field}:
        what = f"refers to '{attribute.ref_attr_name}'" if attribute.ref_attr_name else f"is of type {kind}"
        raise PadopsError(f"{place} {what}, but has a value in '{min(wrong)}'")
    if field in MESSAGES and not present:
        raise PadopsError(f"{place} is of type {kind}, but has no value")
    for tensor in [attribute.t] if field == "t" else attribute.tensors:
        _check_tensor(tensor, f"{place}, tensor '{tensor.name}'")


SHOWN = 6  # nodes or functions of a cycle that a message names


def check_names(graph: Body, path: str = "graph", sorted_nodes: bool = False) -> None:
    """Refuse undefined names, names that are defined twice, and cycles; see ``_free_names``."""
    for name, reader in _free_names(graph, path, sorted_nodes).items():
        raise PadopsError(f"{reader} reads '{name}', which is no input, no initializer and no output of a node")


def _free_names(graph: Body, path: str, sorted_nodes: bool = True) -> dict[str, str]:
    """Return the outer names that a graph reads, each with its first reader; ``path`` names the graph in errors.

    Refuses names that are defined twice, and cycles, in the graph and in all graphs inside. With ``sorted_nodes``, the
    nodes must stand in order of use: ONNX Runtime sorts only the nodes of the main graph.
    """
    labels = [f"node '{node.name}' ({path}.node[{i}], {node.op_type})" for i, node in enumerate(graph.node)]
    known: set[str] = set()
    for i, name in enumerate(_names(graph.input)):
        if not name:
            raise PadopsError(f"{path}.input[{i}] has no name")
        if name in known:
            raise PadopsError(f"{path} has two inputs with the name '{name}'")
        known.add(name)
    known.add("")  # the name of an absent input
    if isinstance(graph, onnx.GraphProto):  # an input and its default share a name
        known.update(tensor.name for tensor in (*graph.initializer, *(row.values for row in graph.sparse_initializer)))
    makers: dict[str, int] = {}  # for each name, the number of the node that makes the value
    for i, name in ((i, name) for i, node in enumerate(graph.node) for name in node.output if name):
        if name in makers:
            raise PadopsError(f"{labels[i]} makes '{name}', and so does {labels[makers[name]]}")
        if name in known:
            raise PadopsError(f"{labels[i]} makes '{name}', which is an input or an initializer of {path}")
        makers[name] = i
    free: dict[str, str] = {}
    needs: dict[int, set[int]] = {}  # for each node, the numbers of the nodes that make its inputs
    for i, node in enumerate(graph.node):
        needs[i] = set()
        inside = (_free_names(inner, f"{path}.node[{i}].{name}") for name, inner in graphs_in(node.attribute))
        read = chain([dict.fromkeys(node.input, labels[i])], inside)
        for name, reader in (row for rows in read for row in rows.items()):
            if (maker := makers.get(name)) is not None:
                needs[i].add(maker)
                if maker >= i and sorted_nodes:
                    raise PadopsError(f"{reader} reads '{name}' before {labels[maker]} makes it")
            elif name not in known:
                free.setdefault(name, reader)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        cycle = [labels[i] for i in error.args[1][:0:-1]]
        raise PadopsError(
            f"{path} has a cycle of {len(cycle)} nodes, each of which reads an output of the next one: "
            f"{', '.join(cycle[:SHOWN])}{', …' if len(cycle) > SHOWN else ''}"
        ) from None
    for name in _names(graph.output):
        if name not in known and name not in makers:
            free.setdefault(name, f"the output of {path}")
    return free


def _names(values: Iterable[str | onnx.ValueInfoProto]) -> list[str]:
    """Return the names of inputs or outputs; a graph lists them as declarations, a function only as names."""
    return [value if isinstance(value, str) else value.name for value in values]


# The most nodes of a model with all calls inlined. For half this number, onnx infers types in 3 s and inlines in 2 s;
# ONNX Runtime 1.31.1 needs 24 s to load an eighth of this number.
MAX_NODES = 1 << 16


def check_calls(model: onnx.ModelProto) -> None:
    """Refuse functions that call themselves, and calls that expand to more than ``MAX_NODES`` nodes."""
    functions = {key_of(function): function for function in model.functions}
    calls = {key: calls_in(function.node, functions) for key, function in functions.items()}
    size: dict[Key, int] = {}
    for key in callees_first(calls):
        own = 1 if key[0] == DOMAIN else sum(1 for _ in nodes_of(functions[key].node))  # fallbacks are never inlined
        size[key] = own + sum(size[called] for called in calls[key])
    whole = calls_in(model.graph.node, functions)
    if sum(size[key] for key in whole) > MAX_NODES:
        raise PadopsError(
            f"the function calls of the model expand to more than {MAX_NODES} nodes, most of them from "
            f"{_name(max(whole, key=size.__getitem__))}; padops accepts at most {MAX_NODES}"
        )


def calls_in(nodes: Iterable[onnx.NodeProto], functions: Collection[Key]) -> list[Key]:
    """Return the functions that nodes call, at any depth, once for each call."""
    return [key for _, node in nodes_of(nodes) if (key := key_of(node)) in functions] if functions else []


def callees_first(calls: Mapping[Key, Iterable[Key]]) -> list[Key]:
    """Return the functions, each after all functions that it calls; refuse recursion."""
    try:
        return [*TopologicalSorter(calls).static_order()]
    except CycleError as error:
        names = [_name(key) for key in reversed(error.args[1])]
        shown = [*names[:SHOWN], f"… (of {len(names) - 1} functions)", names[-1]] if len(names) > SHOWN + 1 else names
        raise PadopsError(f"{' calls '.join(shown)}: a function cannot call itself") from None


HIGHEST_VERSION = (1 << 31) - 1  # of a domain; onnx reads no higher version


def check_model(model: onnx.ModelProto) -> None:
    """Refuse an invalid model. Call ``refuse_what_would_be_lost`` first."""
    functions = {key_of(function): function for function in model.functions}
    owners: list[onnx.ModelProto | onnx.FunctionProto] = [model, *model.functions]
    for i, owner in enumerate(owners, -1):
        part, path, place = (owner.graph if isinstance(owner, onnx.ModelProto) else owner), "graph", "the model"
        if is_function := isinstance(owner, onnx.FunctionProto):
            path, place = f"functions[{i}]", f"function '{owner.name}' (functions[{i}])"
            for attribute in owner.attribute_proto:
                _check_attribute(attribute, place, inside_function=False)
        used = {"", *(node.domain for node in part.node)}
        for row in owner.opset_import:
            if row.domain in used and not 1 <= row.version <= HIGHEST_VERSION:
                raise PadopsError(
                    f"{place} imports version {row.version} of the domain '{row.domain}'; versions are 1 to "
                    f"{HIGHEST_VERSION}"
                )
        version = default_version({row.domain: row.version for row in owner.opset_import}, model.ir_version)
        _check_graph(part, path, version, functions, is_function)
        check_names(part, path, sorted_nodes=is_function)
    check_calls(model)


def _check_graph(graph: Body, path: str, version: int | None, functions: Functions, inside: bool) -> None:
    """Check the tensors, and the nodes at any depth; ``inside`` states whether the graph is inside a function."""
    if isinstance(graph, onnx.GraphProto):
        for i, tensor in enumerate(graph.initializer):
            _check_tensor(tensor, f"initializer '{tensor.name}' ({path}.initializer[{i}])")
        for i, row in enumerate(graph.sparse_initializer):
            for part in (row.values, row.indices):
                _check_tensor(part, f"sparse initializer '{row.values.name}' ({path}.sparse_initializer[{i}])")
    for i, node in enumerate(graph.node):
        place = f"{path}.node[{i}]"
        label = f"node '{node.name}' ({place}, {node.op_type or 'of no operator'})"
        if not node.op_type:
            raise PadopsError(f"{label}: it has no op_type")
        _check_counts(node, version, functions, label)
        seen: set[str] = set()
        for attribute in node.attribute:
            if attribute.name in seen:
                raise PadopsError(f"{label}: two attributes have the name '{attribute.name}'")
            seen.add(attribute.name)
            _check_attribute(attribute, label, inside)
        for name, inner in graphs_in(node.attribute):
            _check_graph(inner, f"{place}.{name}", version, functions, inside)
