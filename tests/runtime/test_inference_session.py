"""padops.InferenceSession: onnxruntime's own class, with the operators and the provider in it."""

from __future__ import annotations

import inspect
import pickle
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from provider_sessions import CPU, EP_NAME, POOLED, pad, providers_of_pads, recording_options

import padops
from padops.runtime import session as preparing

ROW, PADDED = np.arange(1, 5).astype(np.int16), [1, 1, 2, 3, 4, 4, 4]
EDGE = pad([1, 2], "edge", 18, "int16[n]").SerializeToString()


def test_it_is_onnxruntimes_own() -> None:
    assert issubclass(padops.InferenceSession, onnxruntime.InferenceSession)
    ours, theirs = (inspect.signature(cls.__init__) for cls in (padops.InferenceSession, onnxruntime.InferenceSession))
    assert [name for name in ours.parameters if name != "convert"] == list(theirs.parameters)
    assert pickle.loads(pickle.dumps(padops.InferenceSession)) is padops.InferenceSession


def test_one_name_changes_and_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(EDGE)
    for source in (EDGE, str(path), path):
        with pytest.raises(Exception, match="Could not find an implementation for Pad"):
            onnxruntime.InferenceSession(source)
        assert padops.InferenceSession(source).run(None, {"x": ROW})[0].tolist() == PADDED


@pytest.mark.parametrize(("providers", "provider_options"), [
    (None, None),
    ([], None),
    ([CPU], None),
    ([CPU], [{}]),
    ([EP_NAME], None),
    ([EP_NAME, CPU], [{"claim": "all"}, {}]),
    ([(EP_NAME, {"claim": "needed"}), CPU], None),
    ([(CPU, {"arena_extend_strategy": "kSameAsRequested"})], None),
    (["AzureExecutionProvider", CPU], None),
])  # fmt: skip
def test_providers(providers, provider_options) -> None:
    """Padops stands before the CPU, in whatever form they are named."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = padops.InferenceSession(EDGE, recording_options(), providers, provider_options)
    assert providers_of_pads(session) == [EP_NAME]
    names = session.get_providers()
    assert names.index(EP_NAME) < names.index(CPU)
    assert session.run(None, {"x": ROW})[0].tolist() == PADDED


def test_set_providers() -> None:
    """The session stays one of padops, with the same optimizers disabled."""
    data = {"x": np.full((1, 1, 4, 4), -1, np.float32)}
    session = padops.InferenceSession(POOLED.SerializeToString())
    for providers in (None, [CPU], [(EP_NAME, {"claim": "needed"}), CPU]):
        session.set_providers(providers)
        assert session.get_providers() == [EP_NAME, CPU]
        assert session.run(None, data)[0].ravel().tolist() == [0, 0, 0, -1]
    with pytest.raises(ValueError, match="keep their providers"):
        padops.InferenceSession(EDGE, onnxruntime.SessionOptions()).set_providers([CPU])


def test_what_is_wrong_raises(capsys: pytest.CaptureFixture[str]) -> None:
    """onnxruntime itself would print the error and go on without the provider, unnoticed; options keep their own."""
    mirror, kept = pad([1, 1], "mirror").SerializeToString(), onnxruntime.SessionOptions()
    have = "have PadopsExecutionProvider with {'claim': 'needed'} already; use new SessionOptions"
    padops.InferenceSession(EDGE, kept, [(EP_NAME, {"claim": "needed"}), CPU])
    padops.InferenceSession(EDGE, kept)
    for content, options, provider, said in (
        (EDGE, None, (EP_NAME, {"claim": "none"}), "option claim is 'none', expected all or needed"),
        (EDGE, onnxruntime.SessionOptions(), (EP_NAME, {"claim": "z"}), "option claim is 'z', expected all or needed"),
        (EDGE, None, "NoSuchProvider", "NoSuchProvider"),
        (EDGE, None, "cpuexecutionprovider", "(?i)cpuexecutionprovider"),
        (EDGE, kept, (EP_NAME, {"claim": "all"}), have),
        # The library has been registered by the second time.
        *[(mirror, None, CPU, r"graph/p .*: mode 'mirror' is not one of .* \[P9\]")] * 2,
    ):
        with pytest.raises(Exception, match=said) as raised:
            padops.InferenceSession(content, options, [provider, CPU])
        assert options is None or isinstance(raised.value, ValueError)
    assert capsys.readouterr().out == ""


def test_devices_that_the_caller_has_added() -> None:
    options = recording_options()
    options.add_provider_for_devices([next(d for d in onnxruntime.get_ep_devices() if d.ep_name == CPU)], {})
    with pytest.warns(UserWarning, match="so its own Pad runs what it takes"):
        assert padops.InferenceSession(EDGE, options).get_providers()[:2] == [CPU, EP_NAME]


def nested(depth: int) -> bytes:
    """Return a model with more nested graphs than any runtime reads, and with the words "Pad" and "Transpose"."""
    content = b"Pad Transpose"
    for number in (*(6, 5, 1) * depth, 7):  # the graph of an attribute of a node of a graph; the model's graph
        size, prefix = len(content), bytearray([number << 3 | 2])
        while size > 127:
            prefix.append(size & 127 | 128)
            size >>= 7
        content = bytes([*prefix, size]) + content
    return content


@pytest.mark.parametrize("source", ["no-such-file.onnx", b"", 7, nested(1000)], ids=["absent", "empty", "7", "nested"])
def test_what_is_no_model(source) -> None:
    """The error is onnxruntime's own."""
    errors = []
    for kind in (onnxruntime.InferenceSession, padops.InferenceSession):
        with pytest.raises(Exception) as raised:
            kind(source, enable_fallback=0)
        errors.append((type(raised.value), str(raised.value)))
    assert errors[0] == errors[1]


def test_other_providers_before_names_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The providers go into the options in the same order; options with providers keep theirs."""
    monkeypatch.setattr(preparing, "runtime_minor", lambda: 24)
    content = pad([1, 1], "edge").SerializeToString()
    for providers in (["AzureExecutionProvider", CPU], [(EP_NAME, {"claim": "all"}), (CPU, {"key": 1})]):
        options = recording_options()
        for _ in range(2):
            session = padops.InferenceSession(content, options, providers)
            assert (session.get_providers(), providers_of_pads(session)) == ([EP_NAME, CPU], [EP_NAME])
    added: list[tuple[str, dict]] = []
    openvino, options = "OpenVINOExecutionProvider", recording_options()
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [openvino, CPU])
    monkeypatch.setattr(type(options), "add_provider", lambda self, name, given: added.append((name, given)))
    padops.InferenceSession(content, options, [(openvino, {"threads": 2}), "CUDAExecutionProvider", CPU])
    assert added == [(openvino, {"threads": "2"})]
