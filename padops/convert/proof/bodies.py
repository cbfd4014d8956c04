"""Proves the fallback functions of a model against the padops operators that they stand for.

The proof of a converted model takes each operator of padops as its specification. Without the library, the model runs a
function of the same name. Its body is proved here, once for each distinct call: attributes, element type, dims, and
constant amounts, axes and fill. The two sides are models of one call each, the operator's and the body's, for the usual
rules.

First, ``partial_evaluation.py`` computes what is known; ``body_goals.py`` makes a pair of models for each path through
the body; and ``flat_indices.py`` turns indices into flattened data into indices along each axis. For data of unknown
rank, every rank up to ``Limits.rank`` is proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
from onnx import helper, numpy_helper

from padops.convert.proof import facts, functions
from padops.convert.proof.believing import every_node
from padops.convert.proof.body_goals import Goal, TooManyPathsError, goals
from padops.convert.proof.flat_graph import constant_of
from padops.convert.proof.partial_evaluation import FailsAlwaysError
from padops.convert.proof.result import NEVER_RUNS, Limits, Proof, Region, Verdict
from padops.convert.proof.schemas import PADOPS, plain_domain
from padops.plural import plural

RULE = "function body"
RESULT = "padded"
SHARE = 0.25  # the share of a proof's time for all function bodies
FILLS = (("Pad_", 2), ("OpenVINOPad_", 3), ("NGraphPad_", 1), ("SamePad_", 1))  # the index of the fill input
Prove = Callable[[onnx.ModelProto, onnx.ModelProto], Proof]


@dataclass(frozen=True)
class Instance:
    """A call of a function."""

    function: onnx.FunctionProto  # the function
    call: onnx.NodeProto  # the calling node
    arguments: tuple[functions.Known | None, ...]  # the known facts of each input; None for an absent one

    @property
    def key(self) -> bytes:
        """A key that calls share if one proof covers them."""
        described = (None if one is None else (one.dtype, one.shape, _content(one)) for one in self.arguments)
        attributes = sorted(row.SerializeToString(deterministic=True) for row in self.call.attribute)
        return repr((self.function.SerializeToString(deterministic=True), attributes, *described)).encode()


def prove_bodies(
    converted: onnx.ModelProto,
    prove: Prove,
    limits: Limits,
    folder: Path | None = None,
    original: tuple[onnx.ModelProto, Path | None] | None = None,
) -> tuple[Region, ...]:
    """Proves the fallback functions that a model calls, and those of ``original``.

    All proofs together get a share of ``limits.seconds``; bodies left then are UNKNOWN. ``folder``, and the path beside
    ``original``, are the folders of external data.

    Returns:
        A region for each distinct call; DIFFERENT if its body is shown to be wrong.
    """
    end, found = time.monotonic() + limits.seconds * SHARE, dict[bytes, Region]()
    for model, place in ((converted, folder), *(() if original is None else (original,))):
        for instance in instances(model, place) if _fallbacks(model) else ():
            if instance.key not in found:
                found[instance.key] = _region(instance, prove, limits, end)
    return tuple(found.values())


def instances(converted: onnx.ModelProto, folder: Path | None = None) -> Iterator[Instance]:
    """Each call of a fallback function in a model."""
    bodies = _fallbacks(converted)
    model, is_exact = _without_own_functions(converted)
    copy = facts.inferred(model, folder, {row.name for row in model.graph.input}).known
    for call, find in _calls(copy, {}, {}):
        function = bodies.get(call.op_type)
        if function is not None:
            given = [find(name) for name in call.input]
            given += [None] * (len(function.input) - len(given))
            if not is_exact:
                given = [None if one is None else replace(one, shape=None) for one in given]
            yield Instance(function, call, tuple(given[: len(function.input)]))


def _fallbacks(model: onnx.ModelProto) -> dict[str, onnx.FunctionProto]:
    return {row.name: row for row in model.functions if functions.is_fallback(row)}


def _without_own_functions(model: onnx.ModelProto) -> tuple[onnx.ModelProto, bool]:
    """Inlines the model's own functions if one of them has an operator of padops.

    Returns:
        The model, and whether every function imports the model's opsets: if not, inferred dims may be wrong.
    """
    own = [row for row in model.functions if not functions.is_fallback(row)]
    if not any(node.domain == PADOPS for row in own for node in every_node(row.node)):
        return model, True
    copy, is_exact = deepcopy(model), True
    versions = functions.imports_of(model)
    for function in copy.functions:
        for row in function.opset_import:
            version = versions.get(plain_domain(row.domain), row.version)
            is_exact = is_exact and version == row.version
            row.version = version  # onnx inlines no function with other imports
    return onnx.inliner.inline_selected_functions(copy, [(row.domain, row.name) for row in own]), is_exact


Argument = functions.Known | None
Find = Callable[[str], Argument]


def _calls(
    graph: onnx.GraphProto, types: dict[str, onnx.TypeProto], constants: dict[str, np.ndarray]
) -> Iterator[tuple[onnx.NodeProto, Find]]:
    """Each operator of padops in a graph and its bodies, with a function that gives the known facts of a name there."""
    types, constants = types | facts.types_of(graph), dict(constants)
    for name in facts.types_of(graph):
        constants.pop(name, None)  # this graph shadows the outer name
    for tensor in graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            constants[tensor.name] = numpy_helper.to_array(tensor)
        types[tensor.name] = helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
    for node in graph.node:
        if (array := constant_of(node)) is not None:
            constants[node.output[0]] = array

    def find(name: str) -> Argument:
        if not name:
            return None
        kind = types.get(name)
        dtype = 0 if kind is None else kind.tensor_type.elem_type
        return functions.Known(dtype, None if kind is None else facts.dims_of(kind), constants.get(name))

    for node in graph.node:
        if node.domain == PADOPS:
            yield node, find
        for row in node.attribute:
            if row.HasField("g"):
                yield from _calls(row.g, types, constants)


def _content(known: functions.Known) -> bytes | None:
    """The elements of a small constant, which proofs use; else None."""
    if known.elements is None or known.elements.nbytes > facts.SMALL:
        return None
    return repr(known.elements.tolist()).encode() if known.elements.dtype == object else known.elements.tobytes()


def _region(instance: Instance, prove: Prove, limits: Limits, end: float) -> Region:
    """Proves a body for one call."""
    function = instance.function
    name = f"function body {function.name}, as {instance.call.output[0]} calls it"
    operators = tuple(sorted(node.op_type for node in every_node(function.node)))
    made = Region(Verdict.UNKNOWN, RULE, name=name, original=(function.name,), converted=operators)
    arguments = _typed(instance)
    if arguments is None:
        return replace(made, why="the element types of its inputs are not known")
    data = arguments[0]
    assert data is not None, "typed arguments have data"
    shapes = [data.shape] if data.shape is not None else [(None,) * rank for rank in ranks(instance, limits)]
    proofs: list[Proof] = []
    try:
        for shape in shapes:
            known = replace(instance, arguments=(replace(data, shape=shape), *arguments[1:]))
            for goal in goals(*models(known), function.input[0]):
                if time.monotonic() > end:
                    return replace(made, why="the time for function bodies is over")
                proofs.append(prove(goal.operator, goal.body))
                if proofs[-1].verdict is not Verdict.PROVED and not _never_runs(proofs[-1]):
                    found = _suspicion(goal, proofs[-1], function.input[0], prove)
                    return replace(made, verdict=found, why=_why(proofs[-1], shape))
    except (FailsAlwaysError, TooManyPathsError) as why:
        return replace(made, why=str(why))
    conditions = [row for proof in proofs for row in proof.assumptions]
    conditions += [row for proof in proofs for region in proof.regions for row in region.conditions]
    if len(shapes) > 1:
        conditions.append(f"its data have up to {plural(limits.rank, 'axis')}")
    unique = tuple(dict.fromkeys(conditions))
    return replace(made, verdict=Verdict.PROVED, holds_for="all data of its call", conditions=unique)


def _suspicion(goal: Goal, proof: Proof, data: str, prove: Prove) -> Verdict:
    """The verdict on an unproved goal: DIFFERENT only if it is also refuted with the dims of the solver's example."""
    tried = goal.at(proof, data)
    found = proof if tried is None else prove(tried.operator, tried.body)
    return Verdict.DIFFERENT if found.verdict is Verdict.DIFFERENT else Verdict.UNKNOWN


def ranks(instance: Instance, limits: Limits) -> Sequence[int]:
    """The ranks of data for which an operator can run; constant amounts or axes may tell (P8)."""
    fixed = [len(row.ints) for row in instance.call.attribute if row.name in ("paddings", "pads")]
    fixed += [2 * len(row.ints) for row in instance.call.attribute if row.name == "padding_below"]
    if instance.function.name.startswith("Pad_") and len(instance.arguments) > 1:
        pads, axes = instance.arguments[1], (*instance.arguments, None, None)[3]
        known = None if axes is None else axes.elements
        if axes is None and pads is not None and pads.elements is not None:
            fixed.append(pads.elements.size)
        if known is not None and known.size:
            return range(int(max(known.max() + 1, -known.min())), limits.rank + 1)
    return [fixed[0] // 2] if fixed else range(limits.rank + 1)


def _never_runs(proof: Proof) -> bool:
    """Whether the operator never runs on a goal's path: wherever it runs, the body takes another path."""
    return any(region.why.startswith(NEVER_RUNS) for region in proof.regions)


def _why(proof: Proof, shape: Sequence[object]) -> str:
    whys = [region.why for region in proof.regions if region.verdict is not Verdict.PROVED and region.why]
    return f"for data of {plural(len(shape), 'axis')}: {proof.why or next(iter(whys), 'it is not proved equal')}"


def _typed(instance: Instance) -> tuple[Argument, ...] | None:
    """The arguments with their element types; None if one is unknown. Data and fill have one type."""
    data, *others = instance.arguments
    if data is None:
        return None
    at = next((place for begin, place in FILLS if instance.function.name.startswith(begin)), len(others) + 1)
    fill = others[at - 1] if at <= len(others) else None
    dtype = data.dtype or (fill.dtype if fill is not None else 0)
    if not dtype or any(one is not None and not one.dtype for one in others):
        return None
    return replace(data, dtype=dtype), *others


def models(instance: Instance) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """A model with only the operator, and one with only the body."""
    function, given = instance.function, instance.arguments
    node = onnx.NodeProto(op_type=function.name, domain=PADOPS)
    node.attribute.extend(instance.call.attribute)
    node.input.extend(formal if one is not None else "" for formal, one in zip(function.input, given))
    while node.input and not node.input[-1]:
        node.input.pop()
    node.output.append(RESULT)
    imports = [row for row in function.opset_import if row.domain != PADOPS]
    absent = {formal for formal, one in zip(function.input, given) if one is None}
    nodes = [_without(one, absent) for one in functions.called(function, node)]
    copied = helper.make_node("Identity", [function.output[0]], [RESULT])
    operator = _model(function, given, [node], [*imports, helper.make_opsetid(PADOPS, 1)])
    return operator, _model(function, given, [*nodes, copied], imports)


def _model(
    function: onnx.FunctionProto,
    arguments: Sequence[Argument],
    nodes: Sequence[onnx.NodeProto],
    imports: Sequence[onnx.OperatorSetIdProto],
) -> onnx.ModelProto:
    """A model with the function's inputs; small constants become initializers."""
    inputs, tensors = [], []
    for number, (name, known) in enumerate(zip(function.input, arguments)):
        if known is None:
            continue
        if number and known.elements is not None and known.elements.nbytes <= facts.SMALL:
            tensors.append(numpy_helper.from_array(known.elements, name))
        else:
            inputs.append(helper.make_tensor_value_info(name, known.dtype, known.shape))
    dtype = next(known.dtype for known in arguments if known is not None)
    outputs = [helper.make_tensor_value_info(RESULT, dtype, None)]
    graph = helper.make_graph(list(nodes), function.name, inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=list(imports), ir_version=8)


def _without(node: onnx.NodeProto, absent: set[str]) -> onnx.NodeProto:
    """A node without the inputs that the call leaves absent, in its bodies as well."""
    made = deepcopy(node)
    made.input[:] = ["" if name in absent else name for name in node.input]
    for row in made.attribute:
        nodes = [_without(one, absent) for one in row.g.node]
        if nodes:
            del row.g.node[:]
            row.g.node.extend(nodes)
    return made
