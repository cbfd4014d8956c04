"""What the tests of emulated Pads ask of a model: its outputs, its operators, and that it stays as it is."""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import onnx
from small_models import FLOAT, convert

from padops.spec.dtypes import by_onnx

SYMMETRIC = "OpenVINOPad_12"


def data_of(dims: Any, kind: int = FLOAT) -> np.ndarray:
    return native.random_array(np.random.default_rng(5), by_onnx(kind), tuple(dims))


def run(message: onnx.ModelProto, *feeds: np.ndarray) -> np.ndarray:
    session = native.session(message)
    names = [value.name for value in session.get_inputs()]
    return native.run_session(session, dict(zip(names, feeds, strict=True)))


def run_or_fail(message: onnx.ModelProto, data: np.ndarray) -> Any:
    """The bits of the output, or None where ONNX Runtime refuses the data."""
    try:
        return native.bits(run(message, data))
    except Exception as error:
        assert type(error).__module__.startswith("onnxruntime"), error
        return None


def operators(message: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in message.graph.node]


def left(message: onnx.ModelProto, **options: Any) -> list[str | None]:
    """Asserts that converting changes nothing; gives the reasons of what was found."""
    conversion = convert(message, **options)
    assert conversion.proto() == message
    assert {record.status for record in conversion.records} <= {"not needed"}
    return [record.reason for record in conversion.records]
