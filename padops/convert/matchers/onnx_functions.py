"""Functions of ONNX whose bodies pad: Attention pads a short mask, and CenterCropPad pads its data.

**Attention.** A Pad in front of the node makes the mask as long as the keys: it fills a float mask with minus infinity
and a bool mask with False. If the model does not state the lengths of mask and keys, the node stays: most masks need no
Pad. Measured with onnxruntime 1.32.0: the kernel of Attention covers version 24, for float and float16, and fails with
a short mask. For other versions and types, ONNX Runtime inlines the body, and treats the Pad in the body like any other
Pad. If ONNX Runtime can run the Pad in the body, the node stays: without this Pad, the body overflows differently.

**CenterCropPad** pads and crops. One Pad can do both, because mode constant accepts negative amounts. Half (rounded
towards 0) of an axis's missing or surplus elements belong at its beginning, the rest at its end. ONNX Runtime
(measured: 1.32.0) has no kernel for the function, and runs the node only if it runs the Pad in the inlined body.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    Applied,
    Match,
    Replacement,
    RunsAs,
    Unconvertible,
    check_node,
    in_mode,
    matched,
    put_in_front,
    settle_version,
)
from padops.convert.pads.pad_info import Operand, all_known, describe
from padops.convert.records import Verdict
from padops.convert.runtimes import judge
from padops.runtime.installed import NEWEST_MINOR
from padops.spec.dialects import onnx_op
from padops.spec.dtypes import by_name

CENTER_CROP = "CenterCropPad"
CENTER_CROP_SINCE = 18
OTHER_SHAPE = "ONNX Runtime inlines its body, which accepts the shape only as int64"
ATTENTION = "Attention"
ATTENTION_SINCE = 24
KEY, MASK, PAST = 1, 3, 4  # positions of inputs
KERNEL = (24, ("float", "float16"))  # the version and types of ONNX Runtime's kernel
REFUSED = "ONNX Runtime ends the run where the mask is shorter than the keys"
RIGHT = "ONNX Runtime inlines the body of the function, and runs the Pad in the body"
LACKS = "ONNX Runtime inlines the body of the function, and has no Expand of bfloat16, which the body needs"
AS_LONG = "ONNX Runtime runs it if the mask is as long as the keys"
UNSAID = "the model does not state whether the mask is shorter than the keys; the function pads only a shorter mask"


def match_attention_mask(site: NodeSite, types: Types) -> Match | None:
    """Recognise an Attention with a mask, unless the mask is known to be as long as the keys."""
    node, opset = site.node, site.scope.opset
    if node.domain != "" or node.op_type != ATTENTION or node.op_identifier() in site.scope.model.functions:
        return None
    if opset is None or opset < ATTENTION_SINCE or len(node.inputs) <= MASK or (mask := node.inputs[MASK]) is None:
        return None
    form = f"mask of {ATTENTION}-{ATTENTION_SINCE if opset == ATTENTION_SINCE else ATTENTION_SINCE + 1}"
    lacking, of_data = _lacking(node, types), types.name(node.inputs[0])
    version = int(onnx_op(opset).removeprefix("Pad_"))
    refused = REFUSED if opset == KERNEL[0] and of_data in KERNEL[1] else None
    verdict: tuple[Verdict, str] | None = ("refuses", LACKS) if of_data == "bfloat16" else None
    if lacking is None:
        verdict = ("runs if", AS_LONG) if refused else verdict
        return Match(form, status="not needed", reason=UNSAID, verdict=verdict)
    if lacking == 0:
        return None

    def read() -> Match:
        if lacking < 0:
            raise Unconvertible(f"its mask is longer than its keys, by {-lacking}")
        name, dims = types.name(mask), types.shape(mask)
        if name is None or name not in ("bool", of_data):
            raise Unconvertible(f"its mask is of type {name}, expected bool or the type of its data, {of_data}")
        pads = np.zeros(2 * len(dims or ()), np.int64)
        pads[-1] = lacking
        fill = None if name == "bool" else np.array(-np.inf, by_name(name).numpy)
        made = in_mode(settle_version(version, name, ["constant"]), "constant", mask, pads, fill)
        runs_as = RunsAs("", opset)
        if refused is None and judge(describe(made, site, types), runs_as, NEWEST_MINOR)[0] == "runs":
            return Match(form, status="not needed", reason=RIGHT, verdict=verdict)
        apply = lambda site, constants: put_in_front(site, constants, MASK, "mask", made)
        return Match(form, made, apply, None if refused else runs_as, needed=refused)

    return matched(form, read)


def _lacking(node: ir.Node, types: Types) -> int | None:
    """Return the length of the keys minus the length of the mask; None if unknown."""
    total = 0
    for value in (node.inputs[KEY], *node.inputs[PAST : PAST + 1]):
        if value is not None:
            dims = types.shape(value)
            if dims is None or len(dims) < 3 or (size := dims[-2]) is None:
                return None
            total += size
    dims = types.shape(node.inputs[MASK])
    return None if not dims or dims[-1] is None else total - dims[-1]


def match_center_crop_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    if node.domain != "" or node.op_type != CENTER_CROP or node.op_identifier() in site.scope.model.functions:
        return None
    return matched(f"{CENTER_CROP}-{CENTER_CROP_SINCE}", lambda: _read(site, types))


def _read(site: NodeSite, types: Types) -> Match:
    node, opset = site.node, site.scope.opset
    if opset is None or opset < CENTER_CROP_SINCE:
        raise Unconvertible(f"{CENTER_CROP} needs opset {CENTER_CROP_SINCE}; the model has opset {opset}")
    check_node(node, (2, 2), ("axes",))
    data, shape = node.inputs
    assert data is not None and shape is not None
    dims = types.shape(data)
    axes = _axes(node.attributes.get("axes"), None if dims is None else len(dims))
    array = evaluate(shape, site.scope, types)
    given = list(array.shape) if array is not None else types.shape(shape)
    count = len(axes) if axes is not None else None if dims is None else len(dims)
    if given is not None and count is not None and given not in ([count], [None]):
        raise Unconvertible(f"its input 'shape' has dims {given}, expected [{count}]")
    if array is not None and (array.dtype.kind not in "iu" or (array < 0).any()):
        raise Unconvertible(f"its target shape is {array.tolist()}, expected non-negative integers")
    amounts: np.ndarray | None = None
    if array is not None and dims is not None:
        sizes = [dims[axis] for axis in (range(len(dims)) if axes is None else axes)]
        if all_known(sizes):  # an axis lacks elements, or has too many; half of the difference is at its beginning
            lacking = array.astype(np.int64) - np.array(sizes, np.int64)
            begins = np.maximum(lacking, 0) // 2 - np.maximum(-lacking, 0) // 2
            amounts = np.concatenate([begins, lacking - begins])
    op = settle_version(int(onnx_op(opset).removeprefix("Pad_")), types.name(data, *node.outputs), ["constant"])

    def pad(amounts: Operand) -> Replacement:
        return in_mode(op, "constant", data, amounts, None, axes)

    def apply(site: NodeSite, constants: Constants) -> Applied:
        known = amounts if amounts is not None else _computed(data, shape, axes, site, constants, types)
        return Applied([site.node], site, pad(known))

    added = ir.Value(name="pads") if amounts is None else np.maximum(amounts, 0)  # the Pad in the body never crops
    other = OTHER_SHAPE if types.name(shape) not in (None, "int64") else None
    made = pad(ir.Value(name="pads") if amounts is None else amounts)
    return Match("", made, apply, None if other else RunsAs("", opset), (pad(added), site), needed=other)


def _axes(attribute: ir.Attr | None, rank: int | None) -> np.ndarray | None:
    if attribute is None:
        return None
    if attribute.is_ref() or attribute.type != ir.AttributeType.INTS:
        raise Unconvertible("its axes are not a list of integers, or the function's caller sets them")
    axes = np.array(attribute.value, np.int64)
    if rank is not None:
        if any(not -rank <= axis < rank for axis in axes):
            raise Unconvertible(f"its axes {axes.tolist()} are out of range for data of rank {rank} [P8]")
        axes %= rank
    if len(set(axes.tolist())) < len(axes):
        raise Unconvertible(f"its axes {axes.tolist()} name an axis twice [P8]")
    return axes


def _computed(
    data: ir.Value, shape: ir.Value, axes: np.ndarray | None, site: NodeSite, constants: Constants, types: Types
) -> ir.Value:
    sizes = constants.insert("Shape", [data], site, "sizes")
    if axes is not None:
        sizes = constants.insert("Gather", [sizes, constants.add(axes, site, "axes")], site, "sizes_of_axes")
    if types.name(shape) != "int64":
        shape = constants.insert("Cast", [shape], site, "shape", [ir.AttrInt64("to", ir.DataType.INT64.value)])
    none, two = (constants.add(np.array([one], np.int64), site, role) for one, role in ((0, "none"), (2, "two")))
    lacking = constants.insert("Sub", [shape, sizes], site, "lacking")
    added = constants.insert("Max", [lacking, none], site, "added")
    cropped = constants.insert("Sub", [added, lacking], site, "cropped")
    halves = [constants.insert("Div", [one, two], site, "half") for one in (added, cropped)]  # neither is negative
    begins = constants.insert("Sub", halves, site, "begins")
    ends = constants.insert("Sub", [lacking, begins], site, "ends")
    return constants.insert("Concat", [begins, ends], site, "pads", [ir.AttrInt64("axis", 0)])
