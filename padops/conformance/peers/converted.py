"""The model of the native peer, converted: what several peers run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from padops.conformance.divergences import Divergence
from padops.conformance.model import make_model
from padops.conformance.peers.request import Refused, Request, Unsupported

if TYPE_CHECKING:
    import onnx

MISSING = "no fallback: "
RULE_BROKEN = re.compile(r"\[[PS]\d+]$")


class RuleBroken(Refused):
    """The case breaks a rule, and the conversion says so."""


def without_pad(request: Request) -> onnx.ModelProto:
    """What ``padops convert --target onnx --without-pad`` leaves of it.

    Raises:
        Unsupported: There is no such form of the case.
        RuleBroken: The case breaks a rule.
    """
    return converted_model(request, target="onnx", without_pad=True)


def converted_model(request: Request, **options: Any) -> onnx.ModelProto:
    """The model of the native peer, converted with these options of ``padops.convert``.

    Raises:
        Unsupported: There is no such form of the case.
        RuleBroken: The case breaks a rule.
    """
    return converted(make_model(request, request.inputs), **options)


def converted(model: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    """The model of a case, converted with these options of ``padops.convert``.

    Raises:
        Unsupported: There is no such form of the case.
        RuleBroken: The case breaks a rule.
    """
    from padops.convert import convert

    conversion = convert(model, fold=False, **options)
    for record in conversion.records:
        for note in (record.reason, *record.notes):
            if note and (record.status == "unconverted" or note.startswith(MISSING)):
                raise (RuleBroken if RULE_BROKEN.search(note) else Unsupported)(note)
    return conversion.proto()


def huge_passes(peer: str, versions: str) -> Divergence:
    """What standard operators do not see; those of onnxruntime-web have too little memory to take it."""
    return Divergence(
        f"{peer}-huge", peer, "differ", rule="P10", versions=versions, tags={"huge"}, expected="error", rules=("P10",),
        reason="amounts beyond any memory are not refused where the output has no elements",
    )  # fmt: skip


def repeated_axes_pass(peer: str, versions: str) -> Divergence:
    """What no standard operator sees."""
    return Divergence(
        f"{peer}-repeated-axes", peer, "differ", rule="P8",
        versions=versions, tags={"axes-repeated"}, without={"constant-amounts"},
        expected="error", rules=("P8",),
        reason="of an axis that is named twice, the last amounts are taken, where the axes are not known before it "
        "runs",
    )  # fmt: skip
