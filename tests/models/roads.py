"""The roads of padops for a model, each taken alone: what it gives, or why it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import native
import numpy as np
import onnxruntime
from road_models import RoadModel

import padops
from padops.runtime.ort_values import run_session

LEVELS = {
    "disable": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
Road = Callable[[RoadModel, str], list[np.ndarray]]


class Refused(Exception):
    """A road that says why it cannot be taken."""


def options(level: str) -> onnxruntime.SessionOptions:
    made = onnxruntime.SessionOptions()
    made.log_severity_level = 4
    made.intra_op_num_threads = 1
    made.graph_optimization_level = LEVELS[level]
    return made


def _run(session: onnxruntime.InferenceSession, drawn: RoadModel) -> list[np.ndarray]:
    # A declared input that the optimizer no longer needs is one all the same.
    return run_session(session, drawn.feeds)


def original(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return told(drawn.proto.SerializeToString(), [], drawn, options(level))


def provider(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return _run(padops.InferenceSession(drawn.proto.SerializeToString(), options(level)), drawn)


def converted(drawn: RoadModel, **chosen: Any) -> tuple[bytes, list[str]]:
    """The converted model, and what the converter says where it may not run: of fallbacks, and of Pads that it left.

    Raises:
        Refused: Pads are unconverted.
        PadopsError: The converter refuses the model.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conversion = padops.convert(drawn.proto, **chosen)
    if left := [record.why() for record in conversion.unconverted]:
        raise Refused("unconverted: " + "; ".join(left))
    notes = [*conversion.no_fallback.values()]
    notes += [note for note in conversion.notes if note.startswith("the fallback of ")]
    notes += [f"left: {record.reason}" for record in conversion.records if record.status == "not needed"]
    return conversion.proto().SerializeToString(), notes


def told(content: bytes, notes: list[str], drawn: RoadModel, made: onnxruntime.SessionOptions) -> list[np.ndarray]:
    """Runs a converted model.

    Raises:
        Refused: It fails, and the converter said where it may.
    """
    try:
        return _run(onnxruntime.InferenceSession(content, made, providers=["CPUExecutionProvider"]), drawn)
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        if notes:
            raise Refused(f"{'; '.join(dict.fromkeys(notes))}: {error}") from error
        raise


def library(drawn: RoadModel, level: str, **chosen: Any) -> list[np.ndarray]:
    """Converted, in a session with the library's operators."""
    content, notes = converted(drawn, **chosen)
    registered = options(level)
    padops.register(registered)
    return told(content, [note for note in notes if note.startswith("left: ")], drawn, registered)


def needed(drawn: RoadModel, level: str) -> list[np.ndarray]:
    """Converted as far as onnxruntime is said not to run it by itself."""
    return library(drawn, level, select="needed")


def fallback(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return told(*converted(drawn), drawn, options(level))


def lowered(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return told(*converted(drawn, target="onnx"), drawn, options(level))


def without_pad(drawn: RoadModel, level: str) -> list[np.ndarray]:
    """In standard ONNX, of which no node is a Pad."""
    content, notes = converted(drawn, target="onnx", without_pad=True)
    assert b"\x22\x03Pad" not in content, "a Pad is left"  # the field op_type of a node
    return told(content, notes, drawn, options(level))


ROADS: dict[str, Road] = {
    "provider": provider,
    "converted": library,
    "fallback": fallback,
    "needed": needed,
    "lowered": lowered,
    "without Pad": without_pad,
}


def attempt(road: Road, drawn: RoadModel, level: str) -> dict[str, str]:
    """What became of a model on a road: ``said`` is the answer, ``text`` what there is to say of it.

    The answers are "same", "other bits", "silent" (an output, where a rule is broken) and "refused".
    """
    try:
        outputs = road(drawn, level)
    except (MemoryError, AssertionError):
        raise
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        return {"said": "refused", "text": f"{type(error).__name__}: {error}"}
    if isinstance(drawn.expected, str):
        return {"said": "silent", "text": drawn.expected}
    pairs = zip(outputs, drawn.expected, strict=True)
    wrong = [difference(i, got, wanted) for i, (got, wanted) in enumerate(pairs) if not same(got, wanted)]
    return {"said": "other bits" if wrong else "same", "text": "; ".join(wrong)}


def same(got: np.ndarray, wanted: np.ndarray) -> bool:
    return bool(native.bits(got) == native.bits(wanted))


def difference(output: int, got: np.ndarray, wanted: np.ndarray) -> str:
    return f"output {output}: {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
