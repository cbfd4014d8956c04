"""padops without its library, on onnxruntime alone: the functions that a converted model carries, and lowered models."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import onnx_ir  # noqa: F401, without it the peer is absent

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported
from padops.conformance.peers.sessions import require_type, run_model, stock_options

PACKAGES = ("onnxruntime", "onnx-ir")

MISSING = "no fallback: "
RULE_BROKEN = re.compile(r"\[[PS]\d+]$")


def run_fallback(request: Request) -> np.ndarray:
    """The model of the native peer, with what ``padops convert`` adds to it."""
    return _run_converted(request, "padops")


def run_lowered(request: Request) -> np.ndarray:
    """The model of the native peer, as ``padops convert --target onnx`` leaves it."""
    return _run_converted(request, "onnx")


def _run_converted(request: Request, target: Literal["padops", "onnx"]) -> np.ndarray:
    from padops.convert import convert

    require_type(request.dtype.name)
    conversion = convert(make_model(request, request.inputs), target=target, fold=False)
    for record in conversion.records:
        for note in (record.reason, *record.notes):
            if note and (record.status == "unconverted" or note.startswith(MISSING)):
                raise (ValueError if RULE_BROKEN.search(note) else Unsupported)(note)
    return run_model(conversion.proto().SerializeToString(), feeds(request, request.inputs), stock_options())
