"""The facts that are known about a Pad before it runs.

``Surroundings`` are the operators around a Pad that ONNX Runtime's optimizers examine before they change the Pad.
(tests/convert/standard/test_fusions.py lists the optimizers.) ``Surroundings`` may report too much, never too little.
For example, ``pooling`` names a pooling behind a Slice that follows the Pad, even if the Slice changes the data.
``pooling`` also reports a pooling in a branch or a function, because ONNX Runtime may inline the branch or function.
Amounts, axes and fills are known if they follow from constants: see ``model/types.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import NodeSite, Scope, constant
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import Replacement, Unconvertible, misfit, type_of
from padops.spec.dialects import INTEGER_KINDS, OPS, Node, Op
from padops.spec.dtypes import by_name
from padops.spec.plan import Amounts, Mode, PadError

Operand = ir.Value | np.ndarray  # a value of the graph, or its elements if known
Dims = Sequence[int | None]  # None for each unknown dim


POOLINGS = {("", "MaxPool"), ("", "AveragePool")}
# ONNX Runtime moves Transposes through models with these operators: it adds Transposes around quantized convolutions.
TRANSPOSING = {("", "Transpose"), ("", "QLinearConv"), ("", "QuantizeLinear"), ("com.microsoft", "QLinearConv")}
LOOKED_AT = 64  # the most operators to examine behind a Pad or before a condition; for more, the worst is assumed
SHAPES = {("", "Shape"), ("", "Size")}  # their results are constant for constant shapes, whatever the data
# Operators that may leave their data unchanged; ONNX Runtime removes a node that does so before it folds Pads.
_PASSING = {"Identity", "Dropout", "Cast", "CastLike", "Transpose", "Slice", "Expand", "Pad"}
_PASSING_WITH = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}  # with this constant operand


def all_known(dims: Dims | None) -> TypeGuard[Sequence[int]]:
    return dims is not None and None not in dims


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of a Pad."""

    # A MaxPool or AveragePool that may become the direct reader of the padded data, in words; "" for none.
    pooling: str = ""
    transposing: bool = False  # whether ONNX Runtime may move Transposes through the Pad
    # The number of Ifs around the Pad whose conditions may be constant: ONNX Runtime moves nodes out of such an If. The
    # number is one higher if the Pad depends on a value inside these Ifs but outside the Pad's own graph.
    folding: int = 0
    operators: frozenset[str] = frozenset()  # the types of all operators of the model
    in_body: bool | None = False  # whether the Pad is in a branch or another body; None if the body may be inlined


ALONE = Surroundings()


def _place(
    scope: Scope, reads: Sequence[ir.Value | None], known: dict[ir.Graph | ir.Function, tuple[int, bool | None]]
) -> tuple[int, bool | None]:
    """Return ``folding`` and ``in_body`` of ``Surroundings`` for a node with the inputs ``reads``.

    ``folding`` may be one higher for this reason: If a Loop around the Pad is in an If, ONNX Runtime may move the Loop
    out of the If. An If or a Loop of the lowered Pad would then be in the moved Loop, but would read a value of the
    branch that the Loop has left.
    """
    ifs, inside, moved, owner = 0, [scope.graph], 0, scope.owner
    in_body: bool | None = False
    while owner is not None:
        node, around = owner.node, owner.scope
        if (node.domain, node.op_type) == ("", "If") and _may_be_constant(node.inputs[:1], around.root):
            ifs, moved, in_body = ifs + 1, len(inside), in_body or None
        else:
            in_body = True
        inside.append(around.graph)
        owner = around.owner
    # Nodes between value and Pad do not matter: ONNX Runtime removes an Identity, and moves a Transpose behind the Pad.
    pending, seen, between = list(reads) if inside[1:moved] else [], set(reads), False
    while pending and not between:
        value = pending.pop()
        between = value is not None and (value.graph in inside[1:moved] or len(seen) > LOOKED_AT)
        producer = value.producer() if value is not None and value.graph is inside[0] else None
        new = set(producer.inputs) - seen if producer is not None else set()
        seen |= new
        pending += new
    if isinstance(root := scope.root, ir.Function):
        if root not in known:
            calls = [_place(call.scope, call.node.inputs, known) for call in scope.index.calls(root)]
            bodies = {body for _, body in calls} or {False}
            known[root] = max((count for count, _ in calls), default=0), bodies.pop() if len(bodies) == 1 else None
        more, called_in_body = known[root]
        ifs += more
        between = between or (more > 0 and len(inside) > 1)
        in_body = in_body if in_body or called_in_body is False else called_in_body
    return ifs + between, in_body


def _may_be_constant(values: Sequence[ir.Value | None], root: ir.Graph | ir.Function) -> bool:
    """Return whether constants and shapes may determine the values, so that ONNX Runtime could compute them on load."""
    pending, seen = list(values), set(values)
    while pending and len(seen) <= LOOKED_AT:
        value = pending.pop()
        if value is None or value.const_value is not None:
            continue
        node = value.producer()
        if node is None and not (isinstance(root, ir.Function) and value.graph is root.graph):
            return False  # an input of the model or of a Loop; a function's input may be a constant of the call
        if node is not None and (node.domain, node.op_type) not in SHAPES:
            fresh = [read for read in node.inputs if read not in seen]
            seen.update(fresh)
            pending += fresh
    return True


def _poolings(site: NodeSite) -> Iterator[str]:
    """Yield the poolings that may become direct readers of the node's output."""
    pending, seen = [site.node.outputs[0]], {site.node}
    while pending:
        value = pending.pop()
        producer = value.producer()
        if value.is_graph_output() and producer is not None and producer.graph is not site.scope.model.graph:
            yield "a pooling outside of its graph"
        for node in (use.node for use in value.uses() if use.idx == 0 or _passes(use.node, site)):
            if (node.domain, node.op_type) in POOLINGS:
                yield f"{node.op_type} {node.name or node.outputs[0].name}"
            elif node.op_identifier() in site.scope.model.functions:
                yield "a pooling in a function"
            elif len(seen) > LOOKED_AT:
                yield "a pooling behind many operators"
            elif node not in seen and _passes(node, site):
                seen.add(node)
                pending.append(node.outputs[0])


def _passes(node: ir.Node, site: NodeSite) -> bool:
    """Return whether a node may leave its data unchanged."""
    if node.domain != "":
        return False
    if node.op_type in _PASSING_WITH:
        arrays = [constant(value, site.scope) for value in node.inputs]
        return any(array is not None and bool(np.all(array == _PASSING_WITH[node.op_type])) for array in arrays)
    return node.op_type in _PASSING


@dataclass(frozen=True, eq=False)
class PadInfo:
    """A Pad as an operator of the domain ``padops``."""

    op: Op
    inputs: Sequence[Operand | None]  # one for each of ``op.inputs``: a value, an array if known, None if absent
    given: Sequence[Operand | None]  # the inputs as the node has them, for reuse in a new node
    # The node's attributes; a reference to an attribute of a function's caller counts as unknown.
    attributes: Mapping[str, ir.Attr]
    type: str | None  # the element type of the data; None if unknown or if there are several
    dims: Dims | None  # the dims of the data; None if the rank is unknown
    modes: tuple[str, ...]  # the possible modes, in the operator's spelling
    fill_dims: Dims | None = None  # the dims of the fill; None if unknown or absent, [] if absent in some calls
    pads_dims: Dims | None = None  # the dims of the input pads; None if unknown or absent
    rank: int | None = None  # the rank of the data, else of the output; None if both are unknown
    flat_pads: bool = True  # whether the input pads has one dim (P8 allows two)
    wide_axes: bool = True  # whether the input axes is of int64
    # Whether the model does not state that the input axes is a list; see ``model/inference.py``.
    open_axes: bool = False
    some_axes: bool = False  # whether only some calls have axes
    some_fill: bool = False  # whether only some calls have a fill
    around: Surroundings = ALONE  # the operators around the Pad that ONNX Runtime's optimizers look at
    name: str = ""  # the node's name, for errors
    # The error that occurs for any data: a missing input or attribute, a wrong type, or an unknown attribute value
    # (P8, P9, S1); else None.
    problem: str | None = None

    @property
    def data(self) -> ir.Value:
        data = self.inputs[0]
        assert isinstance(data, ir.Value), "no matcher finds a Pad without data"
        return data

    def input(self, name: str) -> Operand | None:
        """Return an input by its name; None if the node lacks the input, or the operator has no input of this name."""
        position = self.op.input_index(name)
        return None if position is None else self.inputs[position]

    def own(self, name: str, fits: bool) -> ir.Value | None:
        """Return an input if it is a graph value and ``fits`` is True, else None."""
        position = self.op.input_index(name)
        value = None if position is None else self.given[position]
        return value if fits and isinstance(value, ir.Value) else None

    def has_attribute(self, name: str) -> bool:
        return any(row.name == name for row in self.op.attributes)

    @cached_property
    def known_modes(self) -> tuple[Mode, ...]:
        return tuple(Mode(mode.lower()) for mode in self.modes)

    @property
    def mode(self) -> Mode | None:
        """The mode; None if a function's callers set the mode."""
        return self.known_modes[0] if len(self.modes) == 1 else None

    def without(self, mode: Mode) -> PadInfo:
        return replace(self, modes=tuple(spelled for spelled in self.modes if Mode(spelled.lower()) is not mode))

    def only(self, mode: Mode) -> PadInfo:
        spelled = self.modes[self.known_modes.index(mode)]
        attributes = {name: attribute for name, attribute in self.attributes.items() if name != self.op.mode}
        return replace(self, modes=(spelled,), attributes=attributes | {self.op.mode: ir.AttrString("mode", spelled)})

    @cached_property
    def node(self) -> Node | None:
        """The Pad as a node of ``spec.dialects``; None if an input or attribute that determines amounts is unknown."""
        plain = {name: attribute.value for name, attribute in self.attributes.items() if not attribute.is_ref()}
        if set(self.attributes) - set(plain) - {self.op.mode, self.op.fill}:
            return None
        integers = [None if row.kind == "T" else value for row, value in zip(self.op.inputs, self.inputs, strict=True)]
        arrays = [value for value in integers if not isinstance(value, ir.Value)]
        return Node(self.op, self.name, plain, arrays) if len(arrays) == len(integers) else None

    @cached_property
    def amounts(self) -> tuple[Amounts, ...] | None:
        """The amounts of each axis; None if unknown; empty if all amounts are 0 and the rank is unknown."""
        node = self.node
        if node is None or self.rank is None:
            return None if node is None else _amounts_of_any_rank(node)
        dims = self.dims or [None] * self.rank
        by_size = self.op.name == "SamePad_1" and node.attribute("auto_pad") != "VALID"
        if by_size and any(dims[i] is None for i in self.paddable_axes):
            return None  # the amounts depend on unknown dims
        return tuple(self.op.amounts(node, [1 if dim is None else dim for dim in dims]))

    @property
    def paddable_axes(self) -> Sequence[int]:
        """The axes that may have amounts; empty if the rank is unknown."""
        rank, axes = self.rank or 0, self.input("axes")
        if isinstance(axes, np.ndarray):
            return sorted({int(axis) % rank for axis in axes.reshape(-1)}) if rank else []
        if not self.has_attribute("kernel_shape"):
            return range(rank)
        layout = self.attributes.get("data_format")
        return range(2, rank) if layout is None or layout.value.startswith("NC") else range(1, rank - 1)

    @property
    def only_adds(self) -> bool:
        """Whether no amount can be negative, whatever the rank and the axes are."""
        if self.has_attribute("kernel_shape"):
            return True  # S1
        given = [value for row, value in zip(self.op.inputs, self.inputs) if row.kind != "T" and row.name != "axes"]
        lists = [row for row in self.attributes.values() if row.type == ir.AttributeType.INTS]
        given += [None if row.is_ref() else np.array(row.value) for row in lists]
        return all(isinstance(x, np.ndarray) and bool((x >= 0).all()) for x in given)

    @property
    def is_known(self) -> bool:
        """Whether shape, amounts and mode are known, so that ``make_node_plan`` can compute the Pad's plan."""
        return all_known(self.dims) and self.node is not None and self.mode is not None

    @property
    def may_have_interior(self) -> bool:
        """Whether the amounts have an interior, or a function's caller may set one."""
        interior = self.attributes.get("padding_interior")
        return interior is not None and (interior.is_ref() or any(interior.value))

    @property
    def has_default_fill(self) -> bool:
        """Whether the fill is known to be the default (P7)."""
        if self.op.input_index(self.op.fill) is not None:
            return self.input(self.op.fill) is None
        attribute = self.attributes.get(self.op.fill)
        return attribute is None or not (attribute.is_ref() or any(np.float32(attribute.value).tobytes()))

    @cached_property
    def known_fill(self) -> np.ndarray | None:
        """The elements of the fill (mode constant requires one element); None if the fill is the default or unknown."""
        if self.op.input_index(self.op.fill) is not None:
            given = self.input(self.op.fill)
            return given if isinstance(given, np.ndarray) else None
        attribute = self.attributes.get(self.op.fill)
        if attribute is None or attribute.is_ref() or self.has_default_fill or self.type is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.float32(attribute.value)).astype(by_name(self.type).numpy)


def _amounts_of_any_rank(node: Node) -> tuple[Amounts, ...] | None:
    """Return the amounts if their number determines the rank; with ``axes``, () if all amounts are 0, else None."""
    op = node.op
    if op.name == "SamePad_1":
        rank = len(node.attribute("kernel_shape")) + 2
        return tuple(op.amounts(node, [1] * rank)) if node.attribute("auto_pad") == "VALID" else None
    if op.input_index("axes") is not None and (axes := node.integers("axes")) is not None:
        pads = node.integers("pads")
        broken = pads.size != 2 * axes.size or len({*axes.flat}) < axes.size  # P8: the run reports the error
        return None if broken or pads.any() else ()
    inputs, attributes = {"pads": 2, "pads_begin": 1}, {"paddings": 2, "pads": 2, "padding_below": 1}  # count per axis
    ranks = [node.integers(row.name).size // inputs[row.name] for row in op.inputs if row.name in inputs]
    ranks += [len(node.attribute(row.name)) // attributes[row.name] for row in op.attributes if row.name in attributes]
    return tuple(op.amounts(node, [1] * ranks[0]))


def describe(replacement: Replacement, site: NodeSite, types: Types) -> PadInfo:
    """Describe the Pad of a replacement, with all facts that follow from the model."""
    op = OPS[replacement.op_type]
    given = (*replacement.inputs, *(None,) * (len(op.inputs) - len(replacement.inputs)))[: len(op.inputs)]
    data, *others = given
    assert data is None or isinstance(data, ir.Value), "no matcher knows the data"
    inputs = [data, *(_known(value, site, types) for value in others)]
    by_role = {row.name: value for row, value in zip(op.inputs, given)}
    fill, pads, axes = (by_role.get(name) for name in (op.fill, "pads", "axes"))
    name = site.node.name or ""
    open_axes = isinstance(axes, ir.Value) and constant(axes, site.scope) is None and types.shape(axes) is None
    if isinstance(axes, ir.Value) and isinstance(root := site.scope.root, ir.Function) and axes in root.inputs:
        open_axes = False  # the function's calls state the shape
    modes, problem = _modes(op, replacement.attributes, name)
    wrong = (
        f"its input {row.name} is of type {type_of(array)}, expected integers"
        for row, array in zip(op.inputs, inputs)
        if row.kind in INTEGER_KINDS and isinstance(array, np.ndarray) and array.dtype.kind not in "iu"
    )
    operators = site.scope.index.operators
    folding, in_body = _place(site.scope, site.node.inputs, {})
    dims = types.shape(data)
    shown = types.shape(site.node.outputs[0]) if dims is None else dims
    return PadInfo(
        op=op,
        inputs=inputs,
        given=given,
        attributes=replacement.attributes,
        type=type_of(fill) if isinstance(fill, np.ndarray) else types.name(data, fill, *site.node.outputs),
        dims=dims,
        modes=modes or op.modes,
        fill_dims=list(fill.shape) if isinstance(fill, np.ndarray) else types.shape(fill),
        pads_dims=list(pads.shape) if isinstance(pads, np.ndarray) else types.shape(pads),
        rank=None if shown is None else len(shown),
        flat_pads=not isinstance(pads, ir.Value) or len(types.shape(pads) or [0, 0]) == 1,
        wide_axes=not isinstance(axes, ir.Value) or types.name(axes) == "int64",
        open_axes=open_axes,
        around=Surroundings(
            pooling=next(_poolings(site), "") if operators & POOLINGS else "",
            transposing=bool(operators & TRANSPOSING),
            folding=folding,
            operators=frozenset(name for _, name in operators),
            in_body=in_body,
        ),
        name=name,
        problem=misfit(replacement) or next(wrong, problem),
    )


def describe_node(site: NodeSite, types: Types) -> PadInfo:
    """Describe a node that is an operator of padops; raise ``Unconvertible`` if ``PadInfo.problem`` is not None."""
    node = site.node
    pad = describe(Replacement(node.op_type, tuple(node.inputs), dict(node.attributes)), site, types)
    if pad.problem is not None:
        raise Unconvertible(pad.problem)
    return pad


def _modes(op: Op, attributes: Mapping[str, ir.Attr], name: str) -> tuple[tuple[str, ...], str | None]:
    """Return the possible modes, and the error in the attributes (None if there is no error)."""
    given = {key: attribute.value for key, attribute in attributes.items() if not attribute.is_ref()}
    try:
        if len(given) == len(attributes):
            Node(op, name, given).mode()
        mode = None if op.mode in attributes and op.mode not in given else Node(op, name, given).attribute(op.mode)
        if mode is not None and mode not in op.modes:
            raise PadError("P9", f"{op.mode} '{mode}' is not one of {', '.join(op.modes)}", op.name, name)
    except PadError as error:
        return (), str(error)
    return op.modes if mode is None else (mode,), None


def _known(value: Operand | None, site: NodeSite, types: Types) -> Operand | None:
    """Return the elements of an input if they are known, else the input itself."""
    if value is None or isinstance(value, np.ndarray):
        return value
    array = evaluate(value, site.scope, types)
    return value if array is None else array.astype(object) if array.dtype.kind in "SU" else array
