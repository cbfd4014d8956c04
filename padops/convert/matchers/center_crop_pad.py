"""CenterCropPad: a function of ONNX whose body pads axes that are too short and crops axes that are too long.

One Pad does both, since mode constant takes negative amounts. Of the elements that an axis lacks or has too many, half
(rounded towards 0) go to its beginning and the rest to its end. ONNX Runtime has no kernel for the function and inlines
the body, so the rules for the body's Pad hold for the node (measured with onnxruntime 1.32.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.model.constants import Constants
from padops.convert.model.evaluate import evaluate
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Match, Replacement, Rewrite, RunsAs, Unconvertible, settle_version
from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import describe
from padops.convert.runtimes.builtin_rules import judge, needs, runs
from padops.convert.runtimes.builtin_support import FIRST_WITH_AXES, FIRST_WITH_INPUTS
from padops.plural import plural
from padops.spec.dialects import onnx_op

OP_TYPE = "CenterCropPad"
SINCE = 18
FORM = f"{OP_TYPE}-{SINCE}"
OTHER_SHAPE = "ONNX Runtime writes out its body, which takes the shape as int64 alone"


@dataclass(frozen=True)
class _Centred:
    """What the model says of one node."""

    data: ir.Value  # the data to pad and crop
    shape: ir.Value  # the new sizes, of all axes or of ``axes``
    axes: np.ndarray | None  # the axes; None for all
    amounts: np.ndarray | None  # the Pad's amounts for these axes, begins then ends; None if known only at run time
    op: str

    def replacement(self, amounts: Operand | None) -> Replacement:
        mode = {"mode": ir.AttrString("mode", "constant")}
        given = ir.Value(name="pads") if amounts is None else amounts
        return Replacement(self.op, (self.data, given, *(() if self.axes is None else (None, self.axes))), mode)


def match_center_crop_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognises the function, with a constant or a computed shape."""
    node = site.node
    if node.domain != "" or node.op_type != OP_TYPE or node.op_identifier() in site.scope.model.functions:
        return None
    notes: list[str] = []
    try:
        found = _read(site, types, notes)
    except Unconvertible as why:
        return Match(FORM, reason=str(why))
    assert site.scope.opset is not None
    added = None if found.amounts is None else np.maximum(found.amounts, 0)  # the Pad in the body never crops
    body, runs_as = describe(found.replacement(added), site, types), RunsAs("", site.scope.opset)
    other = OTHER_SHAPE if types.name(found.shape) not in (None, "int64") else None
    made = found.replacement(found.amounts)
    rewrite = Rewrite(
        found.op,
        partial(_apply, found=found, types=types),
        made,
        other or needs(body, runs_as),
        runs(body),
        judge=lambda minor: judge(body, runs_as, minor) if other is None else ("refuses", other),
    )
    return Match(FORM, rewrite, None if other else runs_as, notes=tuple(notes))


def _read(site: NodeSite, types: Types, notes: list[str]) -> _Centred:
    node, opset = site.node, site.scope.opset
    if opset is None or opset < SINCE:
        raise Unconvertible(f"{OP_TYPE} needs opset {SINCE}; the model has opset {opset}")
    if len(node.inputs) != 2 or None in node.inputs:
        raise Unconvertible(f"it has {plural(sum(one is not None for one in node.inputs), 'input')}, expected 2")
    if foreign := sorted(set(node.attributes) - {"axes"}):
        raise Unconvertible(f"its attribute {foreign[0]} is unknown")
    data, shape = node.inputs
    assert data is not None and shape is not None
    dims = types.shape(data)
    axes = _axes(node.attributes.get("axes"), None if dims is None else len(dims))
    array = evaluate(shape, site.scope, types)
    given = list(array.shape) if array is not None else types.shape(shape)
    count = len(axes) if axes is not None else None if dims is None else len(dims)
    if given is not None and count is not None and given not in ([count], [None]):
        raise Unconvertible(f"its input shape has dims {given}, expected [{count}]")
    if array is not None and (array.dtype.kind not in "iu" or (array < 0).any()):
        raise Unconvertible(f"its shape is {array.tolist()}, expected integers that are not negative")
    amounts = None
    if array is not None and dims is not None:
        sizes = [dims[axis] for axis in (range(len(dims)) if axes is None else axes)]
        amounts = _amounts(array.astype(np.int64) - np.array(sizes, np.int64)) if all_known(sizes) else None
    version = max(int(onnx_op(opset).removeprefix("Pad_")), FIRST_WITH_INPUTS if axes is None else FIRST_WITH_AXES)
    return _Centred(
        data, shape, axes, amounts, settle_version(version, types.name(data, *node.outputs), ["constant"], notes)
    )


def _axes(attribute: ir.Attr | None, rank: int | None) -> np.ndarray | None:
    if attribute is None:
        return None
    if attribute.is_ref() or attribute.type != ir.AttributeType.INTS:
        raise Unconvertible("its axes are given by the caller of the function, or are no list of integers")
    axes = np.array(attribute.value, np.int64)
    if rank is not None:
        if any(not -rank <= axis < rank for axis in axes):
            raise Unconvertible(f"its axes {axes.tolist()} are out of range for data of rank {rank} [P8]")
        axes %= rank
    if len(set(axes.tolist())) < len(axes):
        raise Unconvertible(f"its axes {axes.tolist()} have a repeat [P8]")
    return axes


def _amounts(lacking: np.ndarray) -> np.ndarray:
    """Begins, then ends, of axes that lack ``lacking`` elements; a negative number is cropped."""
    begins = np.maximum(lacking, 0) // 2 - np.maximum(-lacking, 0) // 2
    return np.concatenate([begins, lacking - begins])


def _apply(site: NodeSite, constants: Constants, found: _Centred, types: Types) -> Applied:
    """Adds the nodes that compute unknown amounts, in front of the node."""
    if found.amounts is not None:
        return Applied([site.node], site, found.replacement(found.amounts))
    sizes = constants.insert("Shape", [found.data], site, "sizes")
    if found.axes is not None:
        sizes = constants.insert("Gather", [sizes, constants.add(found.axes, site, "axes")], site, "sizes_of_axes")
    shape = found.shape
    if types.name(shape) != "int64":
        shape = constants.insert("Cast", [shape], site, "shape", [ir.AttrInt64("to", ir.DataType.INT64.value)])
    none, two = (constants.add(np.array([one], np.int64), site, role) for one, role in ((0, "none"), (2, "two")))
    lacking = constants.insert("Sub", [shape, sizes], site, "lacking")
    added = constants.insert("Max", [lacking, none], site, "added")
    cropped = constants.insert("Sub", [added, lacking], site, "cropped")
    halves = [constants.insert("Div", [one, two], site, "half") for one in (added, cropped)]  # neither is negative
    begins = constants.insert("Sub", halves, site, "begins")
    ends = constants.insert("Sub", [lacking, begins], site, "ends")
    pads = constants.insert("Concat", [begins, ends], site, "pads", [ir.AttrInt64("axis", 0)])
    return Applied([site.node], site, found.replacement(pads))
