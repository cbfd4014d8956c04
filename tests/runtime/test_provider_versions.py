"""The execution provider on the runtime that these tests run with: there from 1.24 on, refused with a reason before.

``scripts/matrix.py`` runs them on others.
"""

from __future__ import annotations

import re

import numpy as np
import onnxruntime
import pytest
from onnx import parser

import padops
from padops.runtime.provider import EP_NAME, FIRST_MINOR, runtime_minor

HAS_PROVIDERS = runtime_minor() >= FIRST_MINOR
HAS_THE_CALL = hasattr(onnxruntime, "register_execution_provider_library")
MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (float[m] y) <int64[2] p = {1, 1}> '
    '{ y = Pad <mode = "edge"> (x, p) }'
).SerializeToString()


def test_register() -> None:
    options = onnxruntime.SessionOptions()
    if HAS_PROVIDERS:
        padops.register(options, provider=True)
        assert EP_NAME in onnxruntime.InferenceSession(MODEL, options).get_providers()
        return
    message = f"needs onnxruntime 1.24 or newer, this is {re.escape(onnxruntime.__version__)}; 'padops convert'"
    with pytest.raises(RuntimeError, match=message):
        padops.register(options, provider=True)


def test_inference_session() -> None:
    """It runs on every runtime, with the operators alone on an old one."""
    session = padops.InferenceSession(MODEL)
    assert (EP_NAME in session.get_providers()) is HAS_PROVIDERS
    assert session.run(None, {"x": np.array([1, 2], np.float32)})[0].tolist() == [1, 1, 2, 2]


def test_the_runtimes_own_call() -> None:
    """The library itself says what it needs, to callers of any language."""
    if not HAS_THE_CALL:
        assert runtime_minor() < 23
        return
    if HAS_PROVIDERS:
        padops.register(onnxruntime.SessionOptions(), provider=True)
        assert any(device.ep_name == EP_NAME for device in onnxruntime.get_ep_devices())
        return
    message = f"PadopsExecutionProvider: needs onnxruntime 1.24 or newer, this is {re.escape(onnxruntime.__version__)}"
    with pytest.raises(Exception, match=message):
        onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
