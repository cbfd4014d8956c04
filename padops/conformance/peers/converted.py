"""The model of the native peer, converted: what several peers run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from padops.conformance.divergences import Divergence
from padops.conformance.model import feeds, make_model, standard_model
from padops.conformance.peers.request import Refused, Request, Unsupported

if TYPE_CHECKING:
    import numpy as np
    import onnx

RULE_BROKEN = re.compile(r"\[[PS]\d+](;|$)")


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
    for why in (*(record.reason for record in conversion.unconverted), *conversion.no_fallback.values()):
        if why:
            raise (RuleBroken if RULE_BROKEN.search(why) else Unsupported)(why)
    return conversion.proto()


def arguments_of(types: Collection[str], request: Request) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """The arguments of ``pad`` of a peer with these types: ONNX's model, whose output has a rank, and its inputs."""
    request.require_type(types)
    return standard_model(request, ranked=True), feeds(request, request.inputs)


def pad_without_pad(pad: Callable[..., np.ndarray], types: Collection[str], request: Request) -> np.ndarray:
    """The output of ``pad`` of a peer with these types for the model of ``without_pad``."""
    request.require_type(types)
    return pad(without_pad(request), feeds(request, request.inputs))


def huge_passes(peer: str, versions: str) -> Divergence:
    """Standard operators do not check P10; those of onnxruntime-web have too little memory to go beyond it."""
    reason = "amounts beyond any memory are not refused where the output has no elements"
    row = Divergence(f"{peer}-huge", "differ", "P10", reason, peer, versions, expected="error", rules=("P10",))
    return replace(row, tags={"huge"})


def repeated_axes_pass(peer: str, versions: str) -> Divergence:
    """No standard operator checks axes for repetitions."""
    reason = "of an axis that is named twice, the last amounts are taken, where the axes are not known before it runs"
    row = Divergence(f"{peer}-repeated-axes", "differ", "P8", reason, peer, versions, expected="error", rules=("P8",))
    return replace(row, tags={"axes-repeated"}, without={"constant-amounts"})
