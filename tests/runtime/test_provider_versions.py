"""The execution provider on the runtime that these tests run with: there from 1.24 on, refused with a reason before.

``scripts/matrix.py`` and ``tests/long/long_runtimes.py`` run them on others.
"""

from __future__ import annotations

import re

import numpy as np
import onnxruntime
import pytest
from provider_sessions import pad

import padops
from padops.runtime.provider import EP_NAME, FIRST_MINOR, runtime_minor

HAS_PROVIDERS = runtime_minor() >= FIRST_MINOR
MODEL = pad([1, 1], "edge", 13).SerializeToString()
NEEDS = f"needs onnxruntime 1.24 or newer, this is {re.escape(onnxruntime.__version__)}"


def test_inference_session() -> None:
    """It runs on every runtime, with the operators alone on an old one."""
    session = padops.InferenceSession(MODEL)
    assert (EP_NAME in session.get_providers()) is HAS_PROVIDERS
    assert session.run(None, {"x": np.array([1, 2], np.float32)})[0].tolist() == [1, 1, 2, 2]


def test_register() -> None:
    """The library itself says what it needs, to callers of any language."""
    options = onnxruntime.SessionOptions()
    if HAS_PROVIDERS:
        padops.register(options, provider=True)
        assert EP_NAME in onnxruntime.InferenceSession(MODEL, options).get_providers()
        assert any(device.ep_name == EP_NAME for device in onnxruntime.get_ep_devices())
        return
    with pytest.raises(RuntimeError, match=f"{NEEDS}; 'padops convert'"):
        padops.register(options, provider=True)
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        assert runtime_minor() < 23
        return
    with pytest.raises(Exception, match=f"PadopsExecutionProvider: {NEEDS}"):
        onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
