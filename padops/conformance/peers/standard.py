"""padops without its library: the functions that a converted model carries, on onnxruntime alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnxruntime

from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request, Unsupported
from padops.conformance.peers.sessions import require_type, run_model, session_options

PACKAGES = ("onnxruntime", "onnx-ir")

MISSING = "no fallback: "


@cache
def _options() -> onnxruntime.SessionOptions:
    return session_options()


def run_fallback(request: Request) -> np.ndarray:
    """The model of the native peer, with what ``padops convert`` adds to it."""
    from padops.convert import convert

    require_type(request.dtype.name)
    conversion = convert(make_model(request, request.inputs), fallback=True)
    for record in conversion.records:
        for note in (record.reason, *record.notes):
            if note and (record.status == "left" or note.startswith(MISSING)):
                raise Unsupported(note)
    return run_model(conversion.proto().SerializeToString(), feeds(request, request.inputs), _options())
