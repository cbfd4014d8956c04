"""Attention: a function of ONNX whose body, from version 24 on, pads a mask that is shorter than the keys.

The rewrite puts the Pad in front of the node, so that the mask is as long as the keys. It fills a float mask with minus
infinity and a bool mask with False. If the model does not state the lengths, the node stays: most masks are as long as
the keys, and a Pad would be in the way.

Measured with onnxruntime 1.32.0: its kernel covers version 24, for float and float16, and fails at a shorter mask. For
other types and later versions it inlines the body, and runs the inlined Pad like any other. If it can run the inlined
Pad, the node stays: without the Pad, the body handles overflow differently.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import onnx_ir as ir

from padops.convert.facts import Verdict
from padops.convert.model.constants import Constants
from padops.convert.model.graphs import NodeSite
from padops.convert.model.types import Types
from padops.convert.pads.match import Applied, Match, Replacement, Rewrite, RunsAs, Unconvertible, settle_version
from padops.convert.pads.pad_info import describe
from padops.convert.runtimes.builtin_rules import judge, needs
from padops.convert.runtimes.builtin_support import FIRST_WITH_INPUTS
from padops.runtime.installed import NEWEST_MINOR
from padops.spec.dialects import DOMAIN, onnx_op
from padops.spec.dtypes import by_name

OP_TYPE = "Attention"
SINCE = 24
KEY, MASK, PAST = 1, 3, 4  # inputs
KERNEL = (24, ("float", "float16"))  # the version and types of ONNX Runtime's kernel
REFUSED = "ONNX Runtime ends the run where the mask is shorter than the keys"
RIGHT = "ONNX Runtime writes out the body of the function, and runs the Pad in there"
LACKS = "ONNX Runtime writes out the body of the function, and has no Expand of bfloat16, which is in there"
AS_LONG = "ONNX Runtime runs it, as long as the mask is as long as the keys"
UNSAID = "whether the mask is shorter than the keys, so that the function pads it, the model does not say"


def match_attention_mask(site: NodeSite, types: Types) -> Match | None:
    """Recognises the function with a mask, unless the mask is known to be as long as the keys."""
    node, opset = site.node, site.scope.opset
    if node.domain != "" or node.op_type != OP_TYPE or node.op_identifier() in site.scope.model.functions:
        return None
    if opset is None or opset < SINCE or len(node.inputs) <= MASK or (mask := node.inputs[MASK]) is None:
        return None
    form = f"mask of {OP_TYPE}-{SINCE if opset == SINCE else SINCE + 1}"
    lacking, of_data = _lacking(node, types), types.name(node.inputs[0])
    refused = REFUSED if opset == KERNEL[0] and of_data in KERNEL[1] else None
    verdict: tuple[Verdict, str] | None = ("refuses", LACKS) if of_data == "bfloat16" else None
    if lacking is None and refused is not None:
        verdict = "runs if", AS_LONG
    if not lacking:
        return None if lacking == 0 else Match(form, status="not needed", reason=UNSAID, verdict=verdict)
    notes: list[str] = []
    try:
        made = _pad(site, mask, lacking, types, opset, notes)
    except Unconvertible as why:
        return Match(form, reason=str(why))
    body, runs_as = describe(made, site, types), RunsAs("", opset)
    if refused is None and judge(body, runs_as, NEWEST_MINOR)[0] == "runs":
        return Match(form, status="not needed", reason=RIGHT, verdict=verdict)
    rewrite = Rewrite(
        made.op_type,
        partial(_apply, made=made),
        made,
        refused or needs(body, runs_as),
        judge=lambda minor: judge(body, runs_as, minor) if refused is None else ("refuses", refused),
    )
    return Match(form, rewrite, None if refused else runs_as, notes=tuple(notes))


def _lacking(node: ir.Node, types: Types) -> int | None:
    """How many elements the mask is shorter than the keys; None if unknown."""
    total = 0
    for i in (KEY, PAST):
        value = node.inputs[i] if i < len(node.inputs) else None
        if value is not None:
            dims = types.shape(value)
            if dims is None or len(dims) < 3 or (size := dims[-2]) is None:
                return None
            total += size
    dims = types.shape(node.inputs[MASK])
    return None if not dims or dims[-1] is None else total - dims[-1]


def _pad(site: NodeSite, mask: ir.Value, lacking: int, types: Types, opset: int, notes: list[str]) -> Replacement:
    """The Pad of the mask."""
    if lacking < 0:
        raise Unconvertible(f"its mask is longer than its keys, by {-lacking}")
    name, of_data = types.name(mask), types.name(site.node.inputs[0])
    if name is None or name not in ("bool", of_data):
        raise Unconvertible(f"its mask is of type {name}, expected bool or that of its data, {of_data}")
    dims = types.shape(mask)
    assert dims, "it has a last one"
    pads = np.zeros(2 * len(dims), np.int64)
    pads[-1] = lacking
    fill = None if name == "bool" else np.array(-np.inf, by_name(name).numpy)
    version = max(int(onnx_op(opset).removeprefix("Pad_")), FIRST_WITH_INPUTS)
    op_type = settle_version(version, name, ["constant"], notes)
    return Replacement(op_type, (mask, pads, fill), {"mode": ir.AttrString("mode", "constant")})


def _apply(site: NodeSite, constants: Constants, made: Replacement) -> Applied:
    """Puts the Pad in front of the node."""
    node = site.node
    padded = ir.Value(name=constants.fresh(f"{node.outputs[0].name or node.name}_mask"))
    before = ir.Node(DOMAIN, made.op_type, [node.inputs[MASK]], outputs=[padded], name=padded.name)
    node.prepend(before)
    node.replace_input_with(MASK, padded)
    return Applied([node], NodeSite(before, site.path, site.scope), made)
