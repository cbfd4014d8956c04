"""The execution provider in session options: its options, its names, and onnxruntime's own way to register it."""

from __future__ import annotations

import subprocess
import sys

import onnxruntime
import pytest
from provider_sessions import EP_NAME, options, pad, session

import padops
from padops.runtime import placing


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"claim": "some"}, "PadopsExecutionProvider: option claim is 'some', expected all or needed"),
        ({"float16": ""}, "PadopsExecutionProvider: option float16 is '', expected leave or native"),
        ({"clam": "all"}, "PadopsExecutionProvider: there is no option clam, only claim, float16 and in_front"),
    ],
)
def test_options_that_are_wrong(given: dict[str, str], message: str) -> None:
    """Callers who do not use padops.register get the same from the library."""
    with pytest.raises(Exception, match=message):
        session(pad([1, 1]), given)
    made = onnxruntime.SessionOptions()
    made.add_provider_for_devices([placing.register_provider_library()[EP_NAME]], given)
    with pytest.raises(Exception, match=message):
        onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), made, enable_fallback=0)


def test_register_is_idempotent() -> None:
    made = options()
    padops.register(made, provider=True)
    padops.register(made)
    built = onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), made)
    assert built.get_providers().count(EP_NAME) == 1
    assert sum(device.ep_name == EP_NAME for device in onnxruntime.get_ep_devices()) == 1


def test_options_without_the_provider() -> None:
    with pytest.raises(ValueError, match="provider_options are {'claim': 'all'}, but provider is not True"):
        padops.register(onnxruntime.SessionOptions(), provider_options={"claim": "all"})


def test_a_runtime_without_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "__version__", "1.23.2")
    message = (
        "padops' execution provider needs onnxruntime 1.24 or newer, this is 1.23.2; 'padops convert' and "
        r"padops.register\(options\) work without the provider"
    )
    with pytest.raises(RuntimeError, match=message):
        padops.register(onnxruntime.SessionOptions(), provider=True)


THE_RUNTIMES_OWN_WAY = """
import numpy as np, onnxruntime, padops, sys
sys.path.insert(0, sys.argv[1])
from provider_sessions import pad
onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
model = pad([1, 1], "edge", 13, "int16[n]").SerializeToString()
if onnxruntime.__version__.startswith("1.24."):
    options = onnxruntime.SessionOptions()
    for name in (padops.get_ep_name(), "CPUExecutionProvider"):
        options.add_provider_for_devices([d for d in onnxruntime.get_ep_devices() if d.ep_name == name], {})
    session = onnxruntime.InferenceSession(model, options)
else:
    providers = [(padops.get_ep_name(), {"claim": "needed"}), "CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model, providers=providers)
print(session.run(None, {"x": np.array([1, 2], np.int16)})[0].tolist())
padops.InferenceSession(model)  # the library is there already
"""
PADOPS_FIRST = """
import numpy as np, onnxruntime, padops, sys
sys.path.insert(0, sys.argv[1])
from provider_sessions import pad
model = pad([1, 1], "edge", 13, "int16[n]").SerializeToString()
padops.InferenceSession(model)
onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
padops.InferenceSession(model)
if not onnxruntime.__version__.startswith("1.24."):
    providers = ["PadopsExecutionProvider", "CPUExecutionProvider"]
    onnxruntime.InferenceSession(model, providers=providers, enable_fallback=0)
options = onnxruntime.SessionOptions()
padops.register(options, provider=True)
session = onnxruntime.InferenceSession(model, options, enable_fallback=0)
print(session.run(None, {"x": np.array([1, 2], np.int16)})[0].tolist())
"""


@pytest.mark.parametrize("code", [THE_RUNTIMES_OWN_WAY, PADOPS_FIRST], ids=["theirs first", "padops first"])
def test_the_runtimes_own_way(code: str, request: pytest.FixtureRequest) -> None:
    """Both ways in one process, in either order; it ends well with a session that lives."""
    folder = str(request.config.rootpath / "tests" / "models")
    command = [sys.executable, "-c", code, folder]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[1, 1, 2, 2]\n", "")
