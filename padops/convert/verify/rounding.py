"""Tells whether a Pad is the reason for a difference, or the rounding of other nodes around Pads that are right.

ONNX Runtime computes stretches of float16 nodes in float, with casts at their ends. A Pad of padops takes float16
directly, so the stretches and their rounding change. Another runtime may sum in another order. Neither is a Pad's
error. So each Pad is judged by its result for the data that it has in the converted model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import onnx
import onnx.inliner

from padops.convert.matchers import Matcher
from padops.convert.proof.following import INTEGERS
from padops.convert.proof.following import MOVES as ELEMENTS_MOVE
from padops.convert.records import PadComparison, Verification
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.exercise import EMPTY, NEVER_RAN
from padops.convert.verify.inside import kinds_of
from padops.convert.verify.pads import is_pad
from padops.convert.verify.probes import bodies
from padops.convert.verify.reference import judge_pads
from padops.convert.verify.sessions import Feeds
from padops.convert.verify.structure import other_difference, taken_in
from padops.spec.dialects import DOMAIN
from padops.spec.plan import PadError

# The difference that rounding may make in whole networks, as a share of an output's largest element, by the narrowest
# float type in the model. In float, the tests' networks differ by less than a tenth of it; with a layer converted
# wrongly, by thousands of times as much. In float16, a CycleGAN of random weights (20 reflections) differs by 9e-3.
SHARES = {onnx.TensorProto.BFLOAT16: 2e-1, onnx.TensorProto.FLOAT16: 5e-2}
SHARE = 1e-4

PARTS = frozenset(("Sigmoid", "HardSigmoid", "Softmax", "Tanh"))  # operators with results of magnitude 1 at most
MOVES = frozenset(("Concat", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
# Operators that give floats as they got them.
EXACT = ELEMENTS_MOVE | {"Compress", "Constant", "Identity", "If", "Loop", "OneHot", "Scan"}
NO_FLOATS = INTEGERS | {onnx.TensorProto.STRING}

RIGHT = "each Pad gives the right result for its data; the nodes around the Pads round differently"
TOO_FAR = "each Pad gives the right result for its data, but an output differs by more than {} (--rtol, --atol)"


def tolerance_of(model: onnx.ModelProto, rtol: float | None, atol: float | None) -> Tolerance:
    """The tolerance for a model's float outputs."""
    kinds = {value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)}
    for located in bodies(model):
        read = {name for node in located.body.node if node.op_type != "Cast" for name in node.input}
        tensors = getattr(located.body, "initializer", ())
        # Weights that only Casts read do not count by their own type.
        kinds |= {tensor.data_type for tensor in tensors if tensor.name in read}
        casts = [node for node in located.body.node if node.op_type == "Cast"]
        kinds |= {row.i for node in casts for row in node.attribute if row.name == "to"}
    return Tolerance(rtol, atol, next((share for kind, share in SHARES.items() if kind in kinds), SHARE))


def can_round(model: onnx.ModelProto) -> bool:
    """Whether a model computes floats, instead of only moving them."""
    model = _without_own_functions(model)
    kinds = kinds_of(model)
    return any(
        node.op_type not in EXACT
        and not all(kinds.get((located.place, name)) in NO_FLOATS for name in node.output if name)
        for located in bodies(model)
        if located.place.function is None
        for node in located.body.node
        if not is_pad(node)
    )


def _without_own_functions(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its own functions inlined: onnx infers no types inside of functions."""
    own = [(row.domain, row.name) for row in model.functions if row.domain != DOMAIN]
    if not own:
        return model
    copy = deepcopy(model)
    versions = {row.domain: row.version for row in copy.opset_import}
    for row in (row for function in copy.functions for row in function.opset_import):
        # onnx inlines no function that imports other versions. The element types are the same in all versions.
        row.version = versions.get(row.domain, row.version)
    return onnx.inliner.inline_selected_functions(copy, own)


def scales_of(model: onnx.ModelProto) -> dict[str, float]:
    """Outputs whose elements are fractions of 1, and 1 as the scale of their rounding.

    For one, a sigmoid of 1e-5 may be computed as 1 minus a sum.
    """
    made = {name: node for node in model.graph.node for name in node.output}
    found = {}
    for output in model.graph.output:
        node = made.get(output.name)
        while node is not None and node.op_type in MOVES:
            node = made.get(node.input[0])
        if node is not None and node.op_type in PARTS:
            found[output.name] = 1.0
    return found


def settle(
    verification: Verification,
    models: tuple[Path | None, Path],
    feeds: Sequence[Feeds],
    asked: Sequence[Matcher],
    tolerance: Tolerance,
    doubted: Mapping[str, str],
) -> Verification:
    """Judges, for a verification that found differences, whether a Pad is the reason.

    Returns:
        The verification with ``right`` of each Pad. The outcome stays ``"close"`` only if neither a Pad nor a changed
        node can be the reason. It is ``"corrected"`` if all differences are behind Pads that ONNX Runtime gets wrong.
    """
    original, converted = models
    try:
        judged = {pad.path: pad for pad in judge_pads(original, converted, feeds, asked)}
    except PadError as error:
        note = f"the reference refuses what the converted model runs: {error}"
        return replace(verification, outcome="different", notes=(*verification.notes, note))
    pads = tuple(_with_judgement(pad, judged.get(pad.path)) for pad in verification.pads) or tuple(judged.values())
    verification = replace(verification, pads=pads)
    if any(pad.right is False for pad in pads):
        return replace(verification, outcome="different")
    gone = set() if original is None else taken_in(original, converted)
    if suspect := next((pad for pad in pads if not _is_clear(pad) and pad.path not in gone), None):
        note = f"{suspect.path} may be the reason: the reference cannot judge it"
        return replace(verification, outcome="different", notes=(*verification.notes, note))
    if original is not None and (place := other_difference(original, converted)):
        note = f"{place} is not the same in both models, and may be the reason"
        return replace(verification, outcome="different", notes=(*verification.notes, note))
    if verification.outcome == "close":
        return replace(verification, notes=(*verification.notes, RIGHT))
    differing = [output for output in verification.outputs if not output.equal]
    if not differing:  # the original changes from run to run, and only inner values round differently
        return replace(verification, outcome="runs", notes=(*verification.notes, RIGHT))
    if all(output.name in doubted for output in differing):
        notes = [f"{output.name} will change: {doubted[output.name]}" for output in differing]
        return replace(verification, outcome="corrected", notes=(*verification.notes, *notes))
    return replace(verification, notes=(*verification.notes, TOO_FAR.format(tolerance)))


def _with_judgement(pad: PadComparison, judged: PadComparison | None) -> PadComparison:
    """A Pad's comparison between the models, with the reference's judgement added."""
    if judged is None or judged.right is None:
        return pad
    if not judged.right:
        return replace(
            pad, exercise="exercised", equal=False, detail=f"{judged.compared[0]}: {judged.detail}", right=False
        )
    return replace(pad, right=True)


def _is_clear(pad: PadComparison) -> bool:
    """Whether a Pad cannot be the reason for a difference."""
    compared = pad.equal and pad.exercise != "not exercised"
    return bool(pad.right) or compared or pad.detail in (NEVER_RAN, EMPTY)
