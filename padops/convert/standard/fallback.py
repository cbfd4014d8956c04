"""Fallback functions: what a model runs where the native library is absent.

For each operator of the domain ``padops`` that a model uses, a function of the model of the same domain and name does
the same in standard operators. ONNX Runtime runs it where nothing else has the operator, and the native kernel where
the library is registered (measured with 1.20 to 1.31, optimisation off and on).

**One body for each operator.** ONNX has overloads of functions from IR version 10 on, but onnxruntime before 1.27 takes
the last one of a name for all its calls, without a word. So a body is made for all the calls that its model has: an
attribute that all of them agree on is a constant of the body, any other is asked for when it runs (the mode by what a
built-in Pad of that mode does to 0, 1, 2, or by TfIdfVectorizer, which counts words: both are folded away as the
session is created). Ranks, shapes, amounts, axes and fills are looked at when it runs, whatever the model says of them,
with three exceptions: where the model says enough to prove that ONNX Runtime's own Pad is right, the body is that Pad;
below opset 11, where nothing can be asked for when it runs, it is that Pad or the nodes of the lowered one; and where
an operator has many calls of which not all is known, but what they add, the body is that Pad and what makes it fail
where it is not right (``emit_function.Calls``). For the whole body is written out, and optimised, once for each call.

**What a body does** is written in ``standard/``: ONNX Runtime's Pad where it is right; else indices, by a Loop over the
axes, and a Gather. Types that its Pad lacks go by the indices of the data, so that their bits are only moved; 4- and
2-bit integers and those 8-bit floats that survive it are cast and cast back.

**Errors.** Where the native kernel says what is wrong, a body can only fail: in a node called ``P1_P4_P5`` by an index
out of bounds, in ONNX Runtime's own Pad, or in Reshape (P8). What it does not see: an axis that is named twice (P8),
where the last amounts count; amounts and fill of data of rank 0 (P7, P8). What an attribute does wrong whatever the
data are (P6, P8, P9, S1) takes the function away.

**Where there is none** that is right in every supported release, ``Conversion.no_fallback`` says why, and what to do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx.inliner
import onnx_ir as ir

from padops.convert.analysis import Analysis
from padops.convert.matchers.converted import operator_of
from padops.convert.model.checks.operators import default_version
from padops.convert.model.constants import Constants, tensor_of
from padops.convert.model.document import Document
from padops.convert.model.graphs import NodeSite
from padops.convert.model.inference import declarations
from padops.convert.model.reading import read_document
from padops.convert.pads.match import KINDS, Unconvertible
from padops.convert.pads.pad_info import PadInfo, describe_node
from padops.convert.standard import emit_function
from padops.convert.standard.graph_builder import GraphBuilder
from padops.convert.standard.numbers import emit
from padops.convert.standard.pad_values import Lacking, default_fill
from padops.spec.dialects import DOMAIN, OPS
from padops.spec.dtypes import by_name
from padops.spec.schemas import register_schemas

IR_VERSION = 8  # the first with functions
FAILS = "fails where an edge is missing, a reflection is longer than n - 1, or data to reflect have an empty axis"
FAILS_OVER_EMPTY = "fails where an axis to extend is empty, also if the output has no elements"
SHORT = f"is ONNX Runtime's Pad alone: it loads quickly, and {FAILS}"
FIRST_WITH_CONSTANTS = 9  # of other types than floats
NEW_OPSET = 21  # of a model that imports no version of the default domain; onnxruntime 1.20 has it


@dataclass
class Embedded:
    """What became of a model's fallback functions."""

    notes: list[str] = field(default_factory=list)  # what else has changed in the model
    missing: dict[str, str] = field(default_factory=dict)  # the operators that have none, and why


def embed(analysis: Analysis, wanted: bool = True) -> Embedded:
    """Gives the analysed model, written back, a function for each operator of padops in it, instead of those it has.

    Without ``wanted``, a model that has been changed loses those that it has, which know nothing of the new nodes.
    """
    result, document = Embedded(), analysis.document
    if not wanted and not document.touched:
        return result
    functions = []
    if wanted:
        opset = _opset(analysis)
        for op_type in dict.fromkeys(site.node.op_type for site in _pads(analysis)):
            try:
                functions.append(_complete(analysis, op_type, opset, result))
            except Unconvertible as why:
                result.missing[op_type] = str(why)
    if _replace(document, functions, result):
        analysis.renew()
    return result


def _complete(analysis: Analysis, op_type: str, opset: int, result: Embedded) -> ir.Function:
    """The function of an operator; gives its nodes the inputs that only some of them have, where it needs that.

    Raises:
        Unconvertible: There is none that is right for all of the nodes.
    """
    for _ in OPS[op_type].inputs:
        try:
            calls = emit_function.Calls(OPS[op_type], _described_calls(analysis, op_type), opset)
            function = _function(calls)
        except Lacking as lack:
            count = _write_default(analysis, op_type, lack.name)
            if not count:
                raise
            result.notes.append(f"{count} {op_type} got the default of {lack.name} as an input, for the fallback")
            continue
        if calls.is_short:
            result.notes.append(f"the fallback of {op_type}, with {len(calls.pads)} calls, {SHORT}")
        elif calls.may_fail:
            result.notes.append(f"the fallback of {op_type} is ONNX Runtime's Pad alone: it {FAILS_OVER_EMPTY}")
        return function
    raise AssertionError(f"{op_type} lacks more inputs than it has")


def is_fallback(function: ir.Function | onnx.FunctionProto) -> bool:
    """Whether a function is what an operator of padops falls back on, also under a name that a prefix has changed."""
    return function.domain == DOMAIN and operator_of(function.name) is not None


def _opset(analysis: Analysis) -> int:
    """The version of the default domain, which the bodies have to be written for."""
    document = analysis.document
    imports = document.model.graph.opset_imports
    version = default_version(imports, document.model.ir_version) or NEW_OPSET
    if "" not in imports and any(True for _ in _pads(analysis)):
        imports[""] = version
        document.write_back()
        analysis.renew()
    return version


def _pads(analysis: Analysis) -> Iterator[NodeSite]:
    """The nodes of the domain, but not those in the fallback functions."""
    for site in analysis.sites:
        inside = isinstance(site.scope.root, ir.Function) and is_fallback(site.scope.root)
        if not inside and site.node.domain == DOMAIN and site.node.op_type in OPS:
            yield site


def _described_calls(analysis: Analysis, op_type: str) -> list[PadInfo]:
    """Every call of an operator, once the model's own functions are written out; Unconvertible if one cannot be."""
    if any(isinstance(site.scope.root, ir.Function) for site in _pads(analysis)):
        analysis = Analysis(read_document(_inlined(declarations(analysis.document.message()))))
    register_schemas()
    found_here = [site for site in _pads(analysis) if site.node.op_type == op_type]
    if not found_here:
        raise Unconvertible("it stands in functions that nothing calls")
    if any(_is_mapped(site) for site in found_here):
        # It writes a function out in the body, and the body out in the graph, and takes names from between (1.20 to
        # 1.32).
        raise Unconvertible("it stands in a SequenceMap, and onnxruntime loads no functions within one")
    return [describe_node(site, analysis.types) for site in found_here]


def _is_mapped(site: NodeSite) -> bool:
    """Whether a node stands in the body of a SequenceMap, at any depth."""
    owner = site.scope.owner
    return owner is not None and (owner.node.op_type == "SequenceMap" or _is_mapped(owner))


def _inlined(message: onnx.ModelProto) -> onnx.ModelProto:
    """The model with what its functions do in the place of their calls; only the operators of padops stay."""
    kept = [function for function in message.functions if not is_fallback(function)]
    del message.functions[:]
    message.functions.extend(kept)
    versions = {row.domain: row.version for row in message.opset_import}
    for function in message.functions:
        for row in function.opset_import:
            # ONNX Runtime reads a body by the model's imports; onnx would leave a call whose body has others.
            row.version = versions.get(row.domain, row.version)
    return onnx.inliner.inline_local_functions(message)


def _function(calls: emit_function.Calls) -> ir.Function:
    """The function of an operator; Unconvertible where there is none that is right for all of its calls."""
    op, opset = calls.op, calls.opset
    numbers = itertools.count()
    inputs = [ir.Value(name=row.name) for row in op.inputs]
    keep = _cast_floats if opset < FIRST_WITH_CONSTANTS else None
    with GraphBuilder(opset, lambda wanted: f"{wanted}_{next(numbers)}", keep) as builder:
        output = calls.write(inputs)
    graph = ir.Graph(inputs, [output], nodes=builder.nodes, opset_imports={"": opset}, name=op.name)
    attributes = [ir.Attr(row.name, KINDS[row.type], row.default) for row in op.attributes]
    return ir.Function(DOMAIN, op.name, graph=graph, attributes=attributes)


def _cast_floats(array: np.ndarray, role: str) -> ir.Value:
    """A constant of an opset whose Constant has floats alone: others are cast from them."""
    if array.dtype.kind == "f":
        return emit("Constant", [], {"value": tensor_of(array)}, role)
    value = emit("Constant", [], {"value": tensor_of(array.astype(np.float64))}, role)
    return emit("Cast", [value], {"to": by_name(array.dtype.name).onnx}, role)


def _replace(document: Document, functions: Sequence[ir.Function], result: Embedded) -> bool:
    """Puts the functions into graph and message; returns whether they were not there already."""
    message, model = document.message(), document.model
    made = [ir.to_proto(function) for function in functions]
    former = [function for function in message.functions if is_fallback(function)]
    if [f.SerializeToString() for f in former] == [f.SerializeToString() for f in made]:
        return False
    document.embedded = True
    kept = [function for function in message.functions if not is_fallback(function)]
    del message.functions[:]
    message.functions.extend([*kept, *made])
    for identifier in [key for key, function in model.functions.items() if is_fallback(function)]:
        del model.functions[identifier]
    for function in functions:
        model.functions[function.identifier()] = function
    if made and model.ir_version < IR_VERSION:
        result.notes.append(_raise_ir_version(document))
    return True


def _raise_ir_version(document: Document) -> str:
    """Makes the model one that may have functions."""
    message, model = document.message(), document.model
    before, model.ir_version, message.ir_version = model.ir_version, IR_VERSION, IR_VERSION
    note = f"IR version raised from {before} to {IR_VERSION} (functions need it)"
    names = {tensor.name for tensor in message.graph.initializer}
    kept = [value for value in message.graph.input if value.name not in names]
    dropped = len(message.graph.input) - len(kept)
    if before >= 4 or not dropped:
        return note
    # Up to version 3 every initializer is an input too, and constant all the same; from 4 on it could be overridden.
    del message.graph.input[:]
    message.graph.input.extend(kept)
    graph = model.graph
    graph.inputs[:] = [value for value in graph.inputs if value.name not in names]
    return f"{note}; {dropped} constants are no inputs any more"


def _write_default(analysis: Analysis, op_type: str, name: str) -> int:
    """Gives the nodes of an operator the default of an input, the fill or axes, and writes the document back.

    Returns:
        The number of nodes that got it: all that lack it; 0 if the default of one of them is not known.
    """
    document = analysis.document
    analysis.types.infer()
    lacking = []
    for site in _pads(analysis):
        if site.node.op_type == op_type:
            pad = describe_node(site, analysis.types)
            position = pad.op.input_index(name)
            assert position is not None, "only what some calls have can be lacking"
            if pad.inputs[position] is None:
                lacking.append((site, position, _default(pad, name)))
    known = [(site, position, default) for site, position, default in lacking if default is not None]
    if len(known) < len(lacking):
        return 0
    constants = Constants(document.model)
    for site, position, default in known:
        node = site.node
        if len(node.inputs) <= position:
            node.resize_inputs(position + 1)
        node.replace_input_with(position, constants.add(default, site, name))
        document.touched.add(node)
    document.write_back()
    analysis.renew()
    return len(known)


def _default(pad: PadInfo, name: str) -> np.ndarray | None:
    """What an absent input stands for (P7, P8), if that is known."""
    if name == "axes":
        return None if pad.dims is None else np.arange(len(pad.dims), dtype=np.int64)
    return None if pad.type is None else default_fill(pad.type)
