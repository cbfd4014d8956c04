"""The roads of padops for a model, each taken alone: what it gives, or why it refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import native
import numpy as np
import onnxruntime
from parsed_models import quiet
from road_models import RoadModel

import padops
from padops.runtime.ort_values import run_session

LEVELS = {"disable": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
          "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
          "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}  # fmt: skip
Road = Callable[[RoadModel, str], list[np.ndarray]]


class Refused(Exception):
    """A road that says why it cannot be taken."""


def options(level: str) -> onnxruntime.SessionOptions:
    made = quiet(threads=1)
    made.graph_optimization_level = LEVELS[level]
    return made


def told(content: bytes, notes: list[str], drawn: RoadModel, made: onnxruntime.SessionOptions) -> list[np.ndarray]:
    """Runs a converted model.

    Raises:
        Refused: It fails, and the converter said where it may.
    """
    try:
        session = onnxruntime.InferenceSession(content, made, providers=["CPUExecutionProvider"])
        return run_session(session, drawn.feeds)  # also of inputs that the optimizer no longer needs
    except Exception as error:  # onnxruntime's exceptions have no common base but this one
        if notes:
            raise Refused(f"{'; '.join(dict.fromkeys(notes))}: {error}") from error
        raise


def original(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return told(drawn.proto.SerializeToString(), [], drawn, options(level))


def provider(drawn: RoadModel, level: str) -> list[np.ndarray]:
    return run_session(padops.InferenceSession(drawn.proto.SerializeToString(), options(level)), drawn.feeds)


def through(register: bool = False, **chosen: Any) -> Road:
    """The road of a conversion; what it says of fallbacks, and of Pads that it left, is where the model may not run."""

    def road(drawn: RoadModel, level: str) -> list[np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            conversion = padops.convert(drawn.proto, **chosen)
        if left := [record.why() for record in conversion.unconverted]:
            raise Refused("unconverted: " + "; ".join(left))
        notes = [f"left: {record.reason}" for record in conversion.records if record.status == "not needed"]
        content, made = conversion.proto().SerializeToString(), options(level)
        if "without_pad" in chosen:
            assert b"\x22\x03Pad" not in content, "a Pad is left"  # the field op_type of a node
        if register:
            padops.register(made)
        else:
            notes += [note for note in conversion.notes if note.startswith("the fallback of ")]
            notes += conversion.no_fallback.values()
        return told(content, notes, drawn, made)

    return road


fallback = through()
ROADS: dict[str, Road] = {"provider": provider, "converted": through(register=True), "fallback": fallback,
                          "needed": through(register=True, select="needed"), "lowered": through(target="onnx"),
                          "without Pad": through(target="onnx", without_pad=True)}  # fmt: skip


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
    wrong = [
        f"output {i}: {got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
        for i, (got, wanted) in enumerate(zip(outputs, drawn.expected, strict=True))
        if native.bits(got) != native.bits(wanted)
    ]
    return {"said": "other bits" if wrong else "same", "text": "; ".join(wrong)}
