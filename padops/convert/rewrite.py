"""The pass that converts Pads to operators of padops, to standard operators, or to the Python kernel.

The pass first decides what each Pad becomes and why; then it changes nodes. A target is a function ``emit(pad, site,
constants, types, **lowering)`` in ``TARGETS``: it turns the node of ``site`` into the Pad that the ``PadInfo`` ``pad``
describes, and returns notes for the record. Before the first change, it may raise ``Unconvertible`` or ``Unneeded``. A
target that may refuse a Pad also has a function ``check(pad, site, **lowering)`` in ``CHECKS``, which raises the same
errors as ``emit`` and changes nothing.

ONNX Runtime infers no shape through an operator whose amounts are inputs. So the converted model states the type and
shape of a converted node's output if the original does not. Then ONNX Runtime optimises later nodes as in the original.
For example, ONNX Runtime fuses silero-vad's Slices into a Split, because it knows the rank of the Conv's output, which
the Slices read. If a function contains Pads, the converted model also states the output types and ranks of the
function's calls. Without these types, ONNX Runtime refuses the model if a Pad has no fallback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import onnx_ir as ir

from padops.convert.analysis import Analysis, Pad, always_runs
from padops.convert.errors import PadopsError
from padops.convert.model.checks import default_version
from padops.convert.model.document import Document
from padops.convert.model.graphs import Constants, NodeSite, inner_graphs, replace_in_place, tensor_of, walk
from padops.convert.model.types import Types, remove_unread
from padops.convert.pads.match import Unconvertible, Unneeded
from padops.convert.pads.pad_info import PadInfo, describe
from padops.convert.records import PadRecord
from padops.convert.runtimes import runs
from padops.convert.standard.graph_builder import GraphBuilder, detach
from padops.convert.standard.lowering import write
from padops.convert.standard.pad_values import check_nesting
from padops.runtime.provider_rules import KnownProvider
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, VERSION
from padops.terminal import counted

T = TypeVar("T")
IN_PYTHON = f"in Python, as {pyop_node.DOMAIN}::{pyop_node.OP_TYPE}"  # a note


def _emit_native(pad: PadInfo, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    inputs = given_inputs(_values(pad, site, constants))
    if not isinstance(site.scope.root, ir.Function):
        _declare(site.node.outputs[0], site.node.inputs[0], types)
    _set_operator(site, (DOMAIN, VERSION, pad.op.name), inputs, pad.attributes.values())
    return ()


def _declare(output: ir.Value, data: ir.Value | None, types: Types) -> None:
    """State an output's inferred type and dims. If the dims are unknown, state the type only if ``data`` is None."""
    if output.shape is not None or output.is_graph_output():
        return
    dims, type_name = types.shape(output), types.name(output, data)
    if type_name is None or (dims is None and data is not None) or min(filter(None, dims or ()), default=0) < 0:
        return
    output.type = ir.TensorType(ir.DataType[type_name.upper()])
    output.shape = None if dims is None else ir.Shape(dims)


def _values(pad: PadInfo, site: NodeSite, constants: Constants) -> list[ir.Value | None]:
    """Return the inputs for a node of this Pad; arrays become new constants."""
    return [
        constants.add(value, site, row.name) if isinstance(value, np.ndarray) else value
        for row, value in zip(pad.op.inputs, pad.given, strict=True)
    ]


def _set_operator(
    site: NodeSite, operator: tuple[str, int, str], inputs: Sequence[ir.Value | None], attributes: Iterable[ir.Attr]
) -> None:
    """Replace the node's operator; the node keeps its name, outputs and metadata."""
    node, scope = site.node, site.scope
    domain, version, op_type = operator
    # A function's body has its own imports, and ONNX Runtime requires that the model imports the domain, too.
    imports = [graph.opset_imports for graph in (scope.root, scope.model.graph)]
    for known in imports:
        if (found := known.get(domain, version)) != version:
            raise PadopsError(f"{scope.path} imports version {found} of the domain {domain}; padops has {version}")
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    replace_in_place(node, domain, op_type, inputs, attributes)
    remove_unread(former)  # values such as TensorFlow's amounts, and empty constants for absent inputs
    for known in imports:
        if (meant := default_version(known, scope.model.ir_version)) is not None:
            known.setdefault("", meant)  # a model that imports any domain must import the default domain too
        known[domain] = version


def declare_calls(model: ir.Model, types: Types) -> list[ir.Node]:
    """State the inferred output types and ranks of all calls of functions that contain Pads; return the calls."""
    if not model.functions:
        return []
    within: dict[ir.OperatorIdentifier, set[ir.OperatorIdentifier]] = {}  # the operators of each function
    calls = []
    for site in walk(model):
        if isinstance(site.scope.root, ir.Function):
            within.setdefault(site.scope.root.identifier(), set()).add(site.node.op_identifier())
        elif site.node.op_identifier() in model.functions:
            calls.append(site.node)
    ours = (DOMAIN, pyop_node.DOMAIN)
    padding = {name for name, body in within.items() if any(domain in ours for domain, *_ in body)}
    while more := {name for name, body in within.items() if name not in padding and body & padding}:
        padding |= more
    calls = [node for node in calls if node.op_identifier() in padding and node.domain != DOMAIN]
    for value in (value for node in calls for value in node.outputs):
        _declare(value, None, types)
        if value.shape is not None:  # only the functions determine the dims
            value.shape = ir.Shape([None] * len(value.shape))
    return calls


def declare_rows(sites: Iterable[NodeSite], types: Types) -> list[ir.Node]:
    """State the inferred output shapes of Scan bodies that contain Pads; return the nodes that compute these outputs.

    ONNX Runtime refuses to run a Scan if these shapes are neither stated by the body nor inferred. ONNX Runtime infers
    shapes through ONNX's Pad, but not through padops' operators or computed amounts.
    """
    bodies = {}
    for site in sites:
        scope = site.scope
        while scope.owner is not None:
            if scope.owner.node.op_identifier() == ("", "Scan", ""):
                bodies[scope.path] = scope.graph
            scope = scope.owner.scope
    changed = []
    for value in (value for body in bodies.values() for value in body.outputs):
        node, dims = value.producer(), types.shape(value)
        if node is not None and dims is not None and value.shape is None:
            value.shape = ir.Shape(dims)
            changed.append(node)
    return changed


def _emit_standard(pad: PadInfo, site: NodeSite, constants: Constants, _: Types, **lowering: Any) -> tuple[str, ...]:
    """Replace the node by several nodes: the node becomes the last one, and keeps its name, outputs and metadata."""
    wanted = site.node.outputs[0].name or site.node.name
    builder, said = _written(pad, site, lambda role: constants.fresh(f"{wanted}_{role}"), **lowering)
    return (_install(site, builder, constants), *filter(None, [said]))


def _written(
    pad: PadInfo,
    site: NodeSite,
    fresh: Callable[[str], str] | None = None,
    without_pad: bool = False,
    provider: KnownProvider | None = None,
) -> tuple[GraphBuilder, str]:
    """Return the new nodes, which are in no graph yet, and a note on the provider; ``fresh`` names the nodes."""
    opset = site.scope.opset
    if opset is None:
        raise Unconvertible(f"{site.scope.path} does not import the default domain, so its version is unknown")
    if pad.problem is not None:
        raise Unconvertible(pad.problem)
    plain = site.node.op_identifier() == ("", "Pad", "")
    in_function = isinstance(site.scope.root, ir.Function)
    builder = GraphBuilder(opset, fresh, has_pad=not without_pad, in_function=in_function)
    try:
        with builder:
            output, said = write(pad, plain, plain and _has_form(site.node, pad), provider)
            if isinstance(output, ir.Value):
                builder.drop_unused(output)
        last = builder.nodes[-1] if builder.nodes else None
        if isinstance(output, np.ndarray):  # not Identity, which ONNX Runtime lacks for some types
            builder.emit("Constant", [], {"value": tensor_of(output)})
        elif last is None or last in builder.arrays or output is not last.outputs[0] or any(inner_graphs(last)):
            builder.emit("Identity", [output])
        check_nesting(builder.nodes, pad.around)
        made = builder.nodes
        if plain and len(made) == 1 and made[0].op_type == "Pad" and _signature(site.node) == _signature(made[0]):
            cast = " (by a cast to float and back)" if pad.type == "float16" else ""
            raise Unneeded("; ".join(filter(None, [said, f"ONNX Runtime's Pad{cast} is right, or it fails"])))
    except (Unconvertible, Unneeded):
        detach(builder.nodes)
        raise
    return builder, said


def given_inputs(inputs: Sequence[T]) -> list[T]:
    """Return the inputs without absent inputs at the end."""
    count = max((i for i, value in enumerate(inputs, 1) if value is not None), default=0)
    return list(inputs[:count])


def _has_form(node: ir.Node, pad: PadInfo) -> bool:
    """Return whether a node has exactly the inputs of ``pad``, and attributes of the same names and types."""
    inputs = [list(map(id, given_inputs(values))) for values in (node.inputs, pad.given)]
    kinds = [{name: row.type for name, row in rows.items()} for rows in (node.attributes, pad.attributes)]
    return inputs[0] == inputs[1] and kinds[0] == kinds[1]


def _signature(node: ir.Node) -> tuple[list[ir.Value | None], dict[str, object]]:
    found: dict[str, object] = {"mode": (ir.AttributeType.STRING, "constant")}
    for name, row in node.attributes.items():
        found[name] = row.type, list(row.value) if isinstance(row.value, tuple) else row.value
    return given_inputs(node.inputs), found


def _install(site: NodeSite, builder: GraphBuilder, constants: Constants) -> str:
    """Turn the node into the last new node, and insert the others before the node; return the operators as text."""
    for made, array in builder.arrays.items():
        ir.convenience.replace_all_uses_with(made.outputs[0], constants.add(array, site, "constant"))
    *before, last = (made for made in builder.nodes if made not in builder.arrays)
    node, counts = site.node, Counter(made.op_type for made in (*before, last))
    for made in before:
        node.prepend(made)
    inputs, attributes = list(last.inputs), list(last.attributes.values())
    former = dict.fromkeys(value for value in node.inputs if value is not None)
    last.resize_inputs(0)
    replace_in_place(node, "", last.op_type, inputs, attributes)
    remove_unread(former)  # ONNX Runtime warns about unread amounts
    return ", ".join(f"{count} {op_type}" if count > 1 else op_type for op_type, count in counts.items())


def _attributes_in_python(pad: PadInfo, site: NodeSite) -> dict[str, Any]:
    """Return the attributes as JSON values; refuse a Pad that the Python kernel does not support."""
    if (reason := pyop_node.refusal(pad.type)) is not None:
        raise Unconvertible(reason)
    plain: dict[str, Any] = {}
    for name, attribute in pad.attributes.items():
        if attribute.is_ref():
            raise Unconvertible(
                f"the function's caller sets the attribute {attribute.name}, which a Python kernel cannot read"
            )
        value = attribute.value.decode(errors="replace") if isinstance(attribute.value, bytes) else attribute.value
        plain[name] = list(value) if isinstance(value, (tuple, list)) else value
    return plain


def _emit_in_python(pad: PadInfo, site: NodeSite, constants: Constants, types: Types) -> tuple[str, ...]:
    given = [value is not None for value in pad.given]
    texts = pyop_node.encode(pad.op.name, _attributes_in_python(pad, site), given, pad.name)
    inputs = [value for value in _values(pad, site, constants) if value is not None]
    if len(inputs) < pyop_node.SLOTS:
        inputs += [constants.add(np.zeros(0, np.int64), site, "absent")] * (pyop_node.SLOTS - len(inputs))
    operator = (pyop_node.DOMAIN, pyop_node.VERSION, pyop_node.OP_TYPE)
    _set_operator(site, operator, inputs, [ir.AttrString(name, text) for name, text in texts.items()])
    more = ("onnxruntime-extensions ends a string at its first NUL",) if pad.type == "string" else ()
    return (IN_PYTHON, *more)


TARGETS: dict[str, Callable[..., Sequence[str] | None]] = {
    "padops": _emit_native,
    "onnx": _emit_standard,
    "pyop": _emit_in_python,
}
# The checks raise Unconvertible if ``emit`` would raise it; the pass calls them before it changes nodes around the Pad.
CHECKS: dict[str, Callable[..., object]] = {
    "onnx": lambda pad, site, **lowering: detach(_written(pad, site, **lowering)[0].nodes),
    "pyop": _attributes_in_python,
}


@dataclass(frozen=True)
class Request:
    """The checked options of a conversion; ``convert`` describes them."""

    target: str  # a key of ``TARGETS``
    select: str
    fold: bool
    fallback: bool
    lowering: Mapping[str, Any]  # the options of the target ``"onnx"``; empty for other targets
    opset: int | None  # the version of the standard operators that the model gets

    @property
    def lowers(self) -> bool:
        return self.target == "onnx"


def convert_pads(analysis: Analysis, request: Request) -> dict[ir.Node, PadRecord]:
    """Convert the Pads of the document's model in place, and return their records."""
    document, types, progress = analysis.document, analysis.types, analysis.progress
    decided = [(pad, _decide(pad, request)) for pad in counted("deciding", analysis.pads, progress)]
    records = {pad.site.node: record for pad, record in decided}
    converted = [(pad, record) for pad, record in decided if record.status == "converted"]
    if decided:
        types.infer()  # before the first node is changed
    analysis.problem = types.problem
    if converted:
        constants = Constants(document.model)
        for pad, record in counted("converting", converted, progress):
            records[pad.site.node] = _apply(pad, record, request, document, constants)
        if not request.lowers:
            document.touched.update(declare_calls(document.model, types))
        document.touched.update(declare_rows([pad.site for pad, _ in converted], types))
        analysis.renew()
    document.write_back()
    return records


def _decide(pad: Pad, request: Request) -> PadRecord:
    """Decide what a Pad becomes; change nothing.

    A Pad that breaks a rule stays if every run reaches it, or if the target is standard operators, whose errors cannot
    name the rule. Any other such Pad, for example in a branch, becomes an operator whose error names the rule.
    """
    match, info = pad.match, pad.info
    if info is not None and pad.broken is not None and (request.lowers or always_runs(pad.site)):
        return pad.record("unconverted", f"padops::{info.op.name} '{info.name}': {pad.broken}")
    if match.stays or match.already == request.target:
        return pad.record("already converted" if match.already else match.status, match.reason)
    notes = match.notes
    if request.select != "all" and not match.already:
        if pad.needed is None:
            return pad.record("not needed", match.runs or runs(pad.seen))
        notes = (*notes, pad.needed)
    if match.apply is not None and info is not None and request.target in CHECKS:
        try:
            CHECKS[request.target](info, pad.site, **request.lowering)
        except Unconvertible as reason:
            return pad.record("unconverted", str(reason))
    return replace(pad.record("converted"), notes=notes)


def _apply(pad: Pad, record: PadRecord, request: Request, document: Document, constants: Constants) -> PadRecord:
    """Change the node; return the record, with the target's notes."""
    site, match, types = pad.site, pad.match, pad.types
    emit = partial(TARGETS[request.target], **request.lowering)
    notes: Sequence[str] | None = ()
    if match.apply is not None:
        done = match.apply(site, constants)
        document.touched.update(done.touched)
        if match.pad is None:
            return record
        if done.pad is not None and done.site is not None:
            try:
                notes = emit(describe(done.pad, done.site, types), done.site, constants, types)
            except Unconvertible as why:  # the target's check did not foresee it
                raise PadopsError(f"{site.path} cannot be converted: {why}") from why
    else:
        assert pad.info is not None, "a Pad is described"
        try:
            notes = emit(pad.info, site, constants, types)
        except Unconvertible as why:
            return pad.record("unconverted", str(why))
        except Unneeded as why:
            return pad.record("not needed", str(why))
        document.touched.add(site.node)
    op_type = "standard ONNX" if request.lowers else record.op_type
    return replace(record, op_type=op_type, notes=(*record.notes, *(notes or ())))
