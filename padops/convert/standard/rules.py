"""Refuses Pads that break a rule for any data, in the words of the kernel, or over which ONNX Runtime would crash."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import inner_graphs
from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import PadInfo
from padops.convert.pads.surroundings import Surroundings
from padops.spec import plan
from padops.spec.dialects import DOMAIN
from padops.spec.plan import Mode, PadError

MOST = 1  # Ifs to be moved out of
# Operators over which onnxruntime's QDQPropagationTransformer moves a DequantizeLinear.
PROPAGATING = frozenset(("MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"))


def check(pad: PadInfo) -> None:
    """Refuses a Pad that no data of its type and rank can make right.

    Raises:
        PadError: Which rule it breaks: of P6, P8 and S1 what attributes do, and P7.
    """
    op, dims, node = pad.op, pad.fill_dims, pad.node
    if all_known(dims) and prod(dims) != 1 and pad.known_modes == (Mode.CONSTANT,):
        raise PadError("P7", f"{op.fill} has {prod(dims)} elements, expected one", op.name, pad.name)
    if node is None or (rank := _rank(pad)) is None:
        return
    interiors = [plan.Amounts(0, 0, amounts.interior) for amounts in op.amounts(node, [1] * rank)]
    try:
        plan.make_plan([1] * rank, interiors, pad.known_modes[0], op.crop)
    except PadError as error:
        raise node.error(error.rule, error.detail) from None


def _rank(pad: PadInfo) -> int | None:
    """The rank of the data or, where nothing says it, one that the attributes or the axes allow for."""
    if pad.dims is not None:
        return len(pad.dims)
    if isinstance(axes := pad.input("axes"), np.ndarray):
        return 2 * int(np.abs(axes).max(initial=0)) + 1  # where none of those from the end meets one from the beginning
    for name, more in (("padding_below", 0), ("kernel_shape", 2)):
        if pad.has_attribute(name):
            return len(pad.attributes[name].value) + more
    return None


def check_nesting(nodes: Iterable[ir.Node], around: Surroundings) -> None:
    """Refuses the nodes for a Pad if ONNX Runtime, which folds Ifs while it loads a model, would crash over them.

    Where the condition of an If is constant, its nodes are moved out of it. Of an If or a Loop that is moved, the
    runtime keeps values of the graph that it was in. Where it is moved a second time, out of an If around the first,
    that graph is gone; and so it is for an If or a Loop that stands in one that is moved, and reads a value from beside
    that. The process ends, or the dims of the results are wrong, or a branch is taken that is not meant (1.20 to 1.32;
    valgrind shows the reads). A model's own Ifs count as well.

    Raises:
        Unconvertible: They have an If or a Loop, and it would be moved too often.
    """
    depth = depth_of(nodes)
    if around.folding and depth is not None and around.folding + depth > MOST:
        raise Unconvertible(
            "it stands inside Ifs whose conditions may be constant, and would need an If or a Loop, "
            "of which onnxruntime crashes when it folds those Ifs"
        )


def depth_of(nodes: Iterable[ir.Node]) -> int | None:
    """How many Ifs, one within another, stand around an If or Loop; None where there is no If or Loop."""
    found: list[int] = []
    for node in nodes:
        depths = [depth_of(graph) for _, graph in inner_graphs(node)]
        found += [0] if depths else []
        found += [depth + (node.op_type == "If") for depth in depths if depth is not None]
    return max(found, default=None)


def follows_dequantizing(value: Operand | None) -> bool:
    """Whether onnxruntime may move a DequantizeLinear to a value: it crashes if an If reads it (1.20 to 1.32)."""
    producer = value.producer() if isinstance(value, ir.Value) else None
    moved = False
    while producer is not None and (producer.op_type in PROPAGATING or producer.domain == DOMAIN):
        value, moved = producer.inputs[0], True
        producer = None if value is None else value.producer()
    return moved and producer is not None and producer.op_type == "DequantizeLinear"
