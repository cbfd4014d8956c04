"""Fallback functions, which a model runs if the native library is absent.

For each ``padops`` operator that a model uses, a function of the same domain and name does the same with standard
operators. ONNX Runtime 1.20 to 1.31 runs the native kernel if the library is registered, else this function.

**One body for each operator** serves all calls of a model: onnxruntime before 1.27 silently uses the last overload of a
function for all calls. An attribute with the same value in all calls is a constant of the body. The body reads all
other values at run time, even if the model declares them (``ort_pad.py``). To find the mode, the body pads the array
[0, 1, 2] with ONNX Runtime's own Pad in this mode, or looks up the mode's name with TfIdfVectorizer. ONNX Runtime folds
these nodes when it creates the session. There are three exceptions. If the model proves that ONNX Runtime's own Pad is
right in all calls, the body is this Pad. If more than ``MANY`` calls lack this proof, and all calls only add elements,
the body is this Pad with a check that fails where the Pad would be wrong. This body is short, because ONNX Runtime
inlines and optimises one copy per call. Below opset 11, a body cannot read amounts or the fill at run time, so the body
is ONNX Runtime's Pad or the nodes that ``lowering.py`` writes.

**Errors.** The native kernel explains an error; the failing node of a body does not. This node is ONNX Runtime's own
Pad, a Reshape (P8), or a Gather with a wrong index; the Gather's name lists the rules that may be broken, such as
``P1_P4_P5``. For data of rank 0, a body accepts wrong amounts and a wrong fill (P7, P8). For an axis named twice (P8),
a body uses the last amounts. padops writes no function if an attribute is wrong for all data (P6, P8, P9, S1).

**No function.** If no body is right in every supported release, ``Conversion.no_fallback`` has the reason and the fix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import onnx_ir as ir

from padops.convert.analysis import Analysis
from padops.convert.matchers.onnx_pad import operator_of
from padops.convert.model.checks import default_version
from padops.convert.model.document import Document, read_document
from padops.convert.model.graphs import Constants, NodeSite
from padops.convert.model.inference import declarations
from padops.convert.pads.match import KINDS, Unconvertible
from padops.convert.pads.pad_info import Operand, PadInfo, Surroundings, all_known, describe_node
from padops.convert.runtimes import FIRST_WITH_INPUTS, has_type, taking_pooling
from padops.convert.standard import lowering, ort_pad, pad_values
from padops.convert.standard.graph_builder import GraphBuilder, Number, emit, here, scalar, too_old
from padops.convert.standard.pad_values import Lacking, amounts_of, default_fill
from padops.plural import plural
from padops.spec.dialects import DOMAIN, OPS, Attribute, Op
from padops.spec.dtypes import types_of
from padops.spec.plan import Mode, PadError
from padops.spec.schemas import register_schemas

MANY = 16  # the most calls that may use the whole body: ONNX Runtime inlines one copy per call
# The element types of onnxruntime's Concat, in every opset.
COPIED = {*types_of(13)} - {"bfloat16"}


class Calls:
    """An operator's calls; ``opset`` is the body's opset."""

    def __init__(self, op: Op, pads: Sequence[PadInfo], opset: int) -> None:
        self.op, self.pads, self.opset = op, pads, opset
        # For each call, whether ONNX Runtime's Pad alone suffices.
        self.proven = [_is_right(pad, opset) for pad in pads]
        # Whether there are too many calls for the whole body; see ``ort_pad.on_data_or_fail``.
        modes = {mode for pad in pads for mode in pad.known_modes}
        by_axes = any(pad.input("axes") is not None for pad in pads)
        self.is_short = (
            self.proven.count(False) > MANY
            and opset >= FIRST_WITH_INPUTS
            and modes <= {Mode.CONSTANT, Mode.EDGE} | (set() if by_axes else {Mode.REFLECT})
            and all(ort_pad.takes_inputs(opset, pad) and has_type(pad.type, opset) and pad.only_adds for pad in pads)
        )

    def write(self, inputs: Sequence[ir.Value]) -> Number:
        """Write the body, and return the function's output; ``inputs`` has one value for each input of the operator."""
        for pad in self.pads:
            try:
                pad_values.check(pad)
            except PadError as error:
                raise Unconvertible(str(error)) from error
        types = {pad.type for pad in self.pads}
        merged = _merge(self.op, inputs, self.pads)
        guarantees = ort_pad.Guarantees(
            typed=all(has_type(name, self.opset) for name in types),
            ranked=all(pad.dims for pad in self.pads),
            leaves_some=all(_leaves_some(pad) for pad in self.pads if Mode.CONSTANT in pad.known_modes),
            pads_indices=False,
            flat=merged.around.folding > 0,
        )
        if not guarantees.ranked and len({pad.dims == [] for pad in self.pads}) > 1:
            # onnxruntime (1.31) crashes while it loads a model with declared ranks if the body has other ranks' nodes.
            why = "its data are of rank 0 in some nodes only, and onnxruntime crashes on a body for several ranks"
            raise Unconvertible(why)

        def write(given: PadInfo) -> Number:
            if given.dims == []:
                return emit("Identity", [given.data])  # P5: rank 0 passes through
            typed = has_type(given.type, self.opset) if given is not merged else guarantees.typed
            if typed and all(self.proven):
                return ort_pad.on_data(given, ort_pad.own_amounts(given))
            if self.is_short:
                return ort_pad.on_data_or_fail(given, _reach(self.pads))
            return ort_pad.write(given, replace(guarantees, typed=typed))

        output: Operand
        if guarantees.typed and all(self.proven):
            output = write(merged)
        elif self.opset < FIRST_WITH_INPUTS:  # a body can read nothing at run time
            here().has_pad = False
            made, _ = lowering.write(self._as_one(merged))
            output = made if isinstance(made, ir.Value) else here().constant(made)
            if not isinstance(output, Number) or output is merged.data:
                output = emit("Identity", [output])
        else:
            output = ort_pad.write_exact(merged, types, write)
        assert isinstance(output, Number), "nothing is known of the data"
        last = output.producer()
        if last is not None and last.op_type == "If":
            # In a branch, ONNX Runtime (1.32) folds this If and loses the If's output for nodes in the next call's If.
            output = emit("Identity", [output])
        pad_values.check_nesting(here().nodes, merged.around)
        moves = any(pad_values.follows_dequantizing(pad.inputs[0]) for pad in self.pads)
        if moves and pad_values.depth_of(here().nodes) is not None:
            self._keep_apart(inputs[0])
        return output

    def _as_one(self, merged: PadInfo) -> PadInfo:
        """Return one Pad for all calls, with the inputs and dims that all calls share."""
        if differing := [name for name, attribute in merged.attributes.items() if attribute.is_ref()]:
            raise too_old(f"one body for nodes that differ in {' and '.join(differing)}", FIRST_WITH_INPUTS)
        # The fill stays an input that nodes read: onnxruntime refuses an unread input of 8-bit floats.
        inputs: list[Operand | None] = []
        for i, (row, value) in enumerate(zip(self.op.inputs, merged.inputs, strict=True)):
            arrays = [pad.inputs[i] for pad in self.pads]
            known = [x for x in arrays if isinstance(x, np.ndarray)]
            alike = len(known) == len(arrays) and len({(x.dtype.str, x.shape, x.tobytes()) for x in known}) == 1
            inputs.append(known[0] if alike and row.kind != "T" else value)
        dims = merged.dims
        if len({None if pad.dims is None else len(pad.dims) for pad in self.pads}) == 1:
            sizes = zip(*(pad.dims or () for pad in self.pads), strict=True)
            dims = self.pads[0].dims and [row[0] if len(set(row)) == 1 else None for row in sizes]
        return replace(merged, inputs=inputs, dims=dims, rank=None if dims is None else len(dims))

    def _keep_apart(self, data: ir.Value) -> None:
        """Make the body read a copy of the data, because onnxruntime moves no DequantizeLinear over a Concat."""
        if not {pad.type for pad in self.pads} <= COPIED:
            raise Unconvertible(
                "its data follow DequantizeLinear, and have types that onnxruntime's Concat lacks in some opsets"
            )
        uses = list(data.uses())
        copy = emit("Concat", [data], {"axis": 0})
        node = here().nodes.pop()
        here().nodes.insert(0, node)
        for user, index in uses:
            user.replace_input_with(index, copy)


def _merge(op: Op, inputs: Sequence[ir.Value], calls: Sequence[PadInfo]) -> PadInfo:
    """Return one Pad that represents all calls, with only the facts that all calls share."""
    present = [[call.inputs[i] is not None for call in calls] for i in range(len(inputs))]
    given = [value if any(row) else None for value, row in zip(inputs, present)]
    types = {call.type for call in calls}
    position, axes = op.input_index(op.fill), op.input_index("axes")
    optional_fill = position is not None and not all(present[position])
    wide = all(call.wide_axes for call in calls)
    some_axes = axes is not None and any(present[axes]) and not all(present[axes])
    if some_axes and not wide:
        raise Lacking("axes", op)
    if any(Mode.CONSTANT in call.known_modes for call in calls):
        for call in calls:  # a mode may ignore a fill that mode constant, in the same body, refuses
            dims = call.fill_dims
            if Mode.CONSTANT not in call.known_modes and all_known(dims) and prod(dims) != 1:
                raise Unconvertible(
                    f"a node in mode {call.modes[0]} has a fill of {prod(dims)} elements, "
                    "but its fallback also serves mode constant, which needs a fill of one element"
                )
    attributes = {row.name: _common(row, calls) for row in op.attributes}
    scalars = all(call.dims == [] for call in calls)
    return PadInfo(
        op=op,
        inputs=given,
        given=given,
        attributes={name: attribute for name, attribute in attributes.items() if attribute is not None},
        type=types.pop() if len(types) == 1 else None,
        dims=[] if scalars else None,
        modes=tuple(mode for mode in op.modes if any(mode in call.modes for call in calls)),
        fill_dims=[] if optional_fill or all(call.fill_dims in ([], [1]) for call in calls) else None,
        rank=0 if scalars else None,
        flat_pads=all(call.flat_pads for call in calls),
        wide_axes=wide,
        some_axes=some_axes,
        around=Surroundings(
            pooling=next((name for call in calls if (name := taking_pooling(call))), ""),
            folding=max(call.around.folding for call in calls),
        ),
        some_fill=optional_fill and position is not None and any(present[position]),
    )


def _common(row: Attribute, calls: Sequence[PadInfo]) -> ir.Attr | None:
    """Return an attribute with the value that all calls share, or a reference to each call's own value."""
    given = [call.attributes.get(row.name) for call in calls]
    values = {_plain(row.default if attribute is None else attribute.value) for attribute in given}
    if len(values) == 1 and not any(attribute is not None and attribute.is_ref() for attribute in given):
        return given[0]
    return ir.RefAttr(row.name, row.name, KINDS[row.type])


def _plain(value: Any) -> Any:
    """Return an attribute's value in a form that compares bit by bit."""
    if isinstance(value, float):
        return np.float32(value).tobytes()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return tuple(value) if isinstance(value, (list, tuple)) else value


def _is_right(pad: PadInfo, opset: int) -> bool:
    """Return whether ONNX Runtime's Pad is known to be right for a call before the call runs."""
    if opset < FIRST_WITH_INPUTS and pad.op.fill == "value":
        if pad.mode is Mode.CONSTANT and _leaves_some(pad):
            return True
        if pad.mode is Mode.EDGE and (ort_pad.keeps_elements(pad) if pad.is_known else pad.only_adds):
            return True  # this Pad fails on an empty axis
    if pad.known_modes == (Mode.CONSTANT,):
        return bool(pad.dims) and not pad.may_have_interior and _leaves_some(pad)
    if not pad.is_known:
        return False
    try:
        with GraphBuilder(opset):  # no nodes are kept
            return bool(ort_pad.is_right(pad, scalar(0), amounts_of(pad)))
    except (ValueError, IndexError):  # amounts that do not fit the rank
        return False


def _leaves_some(pad: PadInfo) -> bool:
    """Return whether a call surely removes nothing, or leaves some data on each axis; see ``ort_pad.cropped``."""
    return pad.only_adds or ort_pad.keeps_elements(pad)


def _reach(calls: Sequence[PadInfo]) -> np.ndarray | None:
    """Return each axis's larger amount in the calls in mode reflect; None if calls differ or an amount is unknown."""
    reflecting = [call.input("pads") for call in calls if Mode.REFLECT in call.known_modes]
    found = [x.reshape(2, -1).max(axis=0) for x in reflecting if isinstance(x, np.ndarray) and x.size % 2 == 0]
    is_one = 0 < len(found) == len(reflecting) and all(np.array_equal(one, found[0]) for one in found)
    return found[0] if is_one else None


IR_VERSION = 8  # the first with functions
SHORT = (
    "is ONNX Runtime's Pad alone: it loads quickly, and fails where an edge is missing, a reflection is longer than "
    "n - 1, or data to reflect have an empty axis"
)
NEW_OPSET = 21  # for a model that does not import the default domain; onnxruntime 1.20 has this opset


def embed(analysis: Analysis, wanted: bool = True) -> tuple[list[str], dict[str, str]]:
    """Replace the fallbacks of a model by a new function for each operator of padops in the model.

    If ``wanted`` is False, a changed model loses its old fallbacks, because they do not fit the new nodes. Return notes
    about other changes of the model, and the reason for each operator that gets no function.
    """
    notes, missing, document = list[str](), dict[str, str](), analysis.document
    if not wanted and not document.touched:
        return notes, missing
    functions, op_types = [], dict.fromkeys(site.node.op_type for site in _pads(analysis))
    if wanted and op_types:
        imports = document.model.graph.opset_imports
        opset = default_version(imports, document.model.ir_version) or NEW_OPSET
        if "" not in imports:
            imports[""] = opset
            document.write_back()
            analysis.renew()
        for op_type in op_types:
            try:
                functions.append(_complete(analysis, op_type, opset, notes))
            except Unconvertible as why:
                missing[op_type] = str(why)
    if _replace(document, functions, notes):
        analysis.renew()
    return notes, missing


def _complete(analysis: Analysis, op_type: str, opset: int, notes: list[str]) -> ir.Function:
    """Return an operator's function. If the body needs an input that some nodes lack, first give these a default."""
    for _ in OPS[op_type].inputs:
        try:
            calls = Calls(OPS[op_type], _described_calls(analysis, op_type), opset)
            inputs = [ir.Value(name=row.name) for row in calls.op.inputs]
            with GraphBuilder(opset, in_function=True) as builder:
                output = calls.write(inputs)
        except Lacking as lack:
            count = _write_default(analysis, op_type, lack.name)
            if not count:
                raise
            notes.append(f"{count} {op_type} got the default of {lack.name} as an input, for the fallback")
            continue
        if calls.is_short:
            notes.append(f"the fallback of {op_type}, with {len(calls.pads)} calls, {SHORT}")
        graph = ir.Graph(inputs, [output], nodes=builder.nodes, opset_imports={"": opset}, name=op_type)
        attributes = [ir.Attr(row.name, KINDS[row.type], row.default) for row in calls.op.attributes]
        return ir.Function(DOMAIN, op_type, graph=graph, attributes=attributes)
    raise AssertionError(f"{op_type}: an input is still missing, although all known inputs were added")


def is_fallback(function: ir.Function | onnx.FunctionProto) -> bool:
    """Return whether a function is the fallback of a padops operator; the function's name may have a prefix."""
    return function.domain == DOMAIN and operator_of(function.name) is not None


def _drop_fallbacks(message: onnx.ModelProto) -> None:
    for i in reversed([i for i, function in enumerate(message.functions) if is_fallback(function)]):
        del message.functions[i]


def _pads(analysis: Analysis) -> Iterator[NodeSite]:
    """Yield the nodes of padops' domain outside fallback functions."""
    for site in analysis.sites:
        inside = isinstance(site.scope.root, ir.Function) and is_fallback(site.scope.root)
        if not inside and site.node.domain == DOMAIN and site.node.op_type in OPS:
            yield site


def _described_calls(analysis: Analysis, op_type: str) -> list[PadInfo]:
    """Return an operator's calls after inlining functions; refuse an operator without calls or in a SequenceMap."""
    if any(isinstance(site.scope.root, ir.Function) for site in _pads(analysis)):
        message = declarations(analysis.document.proto)
        _drop_fallbacks(message)
        versions = {row.domain: row.version for row in message.opset_import}
        for row in (row for function in message.functions for row in function.opset_import):
            # ONNX Runtime reads a body by the model's imports; onnx would not inline a body with other imports.
            row.version = versions.get(row.domain, row.version)
        analysis = Analysis(read_document(onnx.inliner.inline_local_functions(message)))
    register_schemas()
    found_here = [site for site in _pads(analysis) if site.node.op_type == op_type]
    if not found_here:
        raise Unconvertible("it stands in functions that nothing calls")
    for site in found_here:
        owner = site.scope.owner
        while owner is not None:
            if owner.node.op_type == "SequenceMap":  # the runtime confuses names of body and function (1.20 to 1.32)
                raise Unconvertible("it stands in a SequenceMap, in which onnxruntime loads no functions")
            owner = owner.scope.owner
    return [describe_node(site, analysis.types) for site in found_here]


def _replace(document: Document, functions: Sequence[ir.Function], notes: list[str]) -> bool:
    """Replace the fallbacks in the model and its ModelProto by ``functions``; return whether the fallbacks change."""
    message, model = document.proto, document.model
    made = [ir.to_proto(function) for function in functions]
    former = [function.SerializeToString() for function in message.functions if is_fallback(function)]
    if former == [function.SerializeToString() for function in made]:
        return False
    document.embedded = True
    _drop_fallbacks(message)
    message.functions.extend(made)
    for identifier in [key for key, function in model.functions.items() if is_fallback(function)]:
        del model.functions[identifier]
    model.functions.update({function.identifier(): function for function in functions})
    before = model.ir_version
    if not made or before >= IR_VERSION:
        return True
    model.ir_version = message.ir_version = IR_VERSION
    names = {tensor.name for tensor in message.graph.initializer}
    inputs = [value for value in message.graph.input if value.name not in names]
    dropped = len(message.graph.input) - len(inputs)
    notes.append(f"IR version raised from {before} to {IR_VERSION} (functions need it)")
    if before < 4 and dropped:
        # Up to IR version 3, every initializer is also an input, yet constant; from 4 on, callers could override it.
        del message.graph.input[:]
        message.graph.input.extend(inputs)
        model.graph.inputs[:] = [value for value in model.graph.inputs if value.name not in names]
        notes[-1] += f"; {plural(dropped, 'constant')} left the inputs"
    return True


def _write_default(analysis: Analysis, op_type: str, name: str) -> int:
    """Add an input's default to nodes without the input (P7, P8); return their number, or 0 if a default is unknown."""
    document = analysis.document
    analysis.types.infer()
    lacking = []
    for site in _pads(analysis):
        if site.node.op_type == op_type:
            pad = describe_node(site, analysis.types)
            position = pad.op.input_index(name)
            assert position is not None, "only what some calls have can be lacking"
            if pad.inputs[position] is not None:
                continue
            if (pad.dims if name == "axes" else pad.type) is None:
                return 0
            default = np.arange(len(pad.dims or ()), dtype=np.int64) if name == "axes" else default_fill(pad.type or "")
            lacking.append((site, position, default))
    constants = Constants(document.model)
    for site, position, default in lacking:
        node = site.node
        if len(node.inputs) <= position:
            node.resize_inputs(position + 1)
        node.replace_input_with(position, constants.add(default, site, name))
        document.touched.add(node)
    document.write_back()
    analysis.renew()
    return len(lacking)
