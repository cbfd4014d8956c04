"""The library in a session on any runtime (``scripts/matrix.py``): registration, errors; the provider, from 1.24 on."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnxruntime
import pytest
from onnx import AttributeProto, TensorProto, helper
from provider_sessions import pad
from small_models import FLOAT, model, one_pad

import padops
from padops.runtime import session as padops_session
from padops.runtime.provider import EP_NAME, FIRST_MINOR, runtime_minor
from padops.runtime.session import OPERATORS
from padops.spec import reference
from padops.spec.dialects import OPS

PADDED = model([helper.make_node("Pad_2", ["x"], ["y"], domain="padops", mode="edge", pads=[0, 1, 0, 2])], 18,
               ir_version=9, imports=[("padops", 1)], inputs=[("x", FLOAT, ["n", 3])])  # fmt: skip


def test_register_is_idempotent() -> None:
    for _ in range(3):
        options = onnxruntime.SessionOptions()
        padops.register(options)
        padops.register(options)
        for _ in range(2):  # one SessionOptions serves many sessions
            made = native.session(PADDED, options)
            assert made.run(None, {"x": np.zeros((1, 3), np.float32)})[0].shape == (1, 6)
        del options, made
        gc.collect()


def test_options_that_have_the_library() -> None:
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(padops.get_library_path())
    message = "^sess_options have a library of operators twice, .* without register_custom_ops"
    with pytest.raises(ValueError, match=message):
        padops.InferenceSession(PADDED.SerializeToString(), options)


def test_a_library_that_is_missing_or_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PADOPS_LIBRARY", raising=False)
    monkeypatch.setattr(padops, "__path__", [str(tmp_path)])
    monkeypatch.setattr(padops_session, "get_library_path", padops_session.get_library_path.__wrapped__)  # not cached
    with pytest.raises(FileNotFoundError, match="installed without its native library; install it anew"):
        padops.register(onnxruntime.SessionOptions())
    broken = tmp_path / "libpadops.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr(padops_session, "get_library_path", lambda: str(broken))
    with pytest.raises(RuntimeError, match=r"could not load .*libpadops.so: .*padops needs onnxruntime 1\.20 or newer"):
        padops.register(onnxruntime.SessionOptions())


WINDOW = {"kernel_shape": [2]}


@pytest.mark.parametrize(("op", "required", "name", "shape", "message"), [
    ("NGraphPad_0", {"padding_below": [1], "padding_above": [1]}, "padding_interior", [3],
     "expected 1 (1 per axis) [P8]"),
    ("SamePad_1", WINDOW, "strides", [1, 1, 3], "expected 1 (1 per spatial axis) [S1]"),
    ("SamePad_1", WINDOW, "dilations", [1, 1, 3], "expected 1 (1 per spatial axis) [S1]"),
])  # fmt: skip
def test_an_optional_list_of_another_type_is_not_taken_for_an_absent_one(op, required, name, shape, message) -> None:
    """P8, S1: the runtime gives it as an empty list, which is as wrong as any list of another length."""
    inputs = [row.name for row in OPS[op].inputs if not row.optional]
    feeds = {row: np.zeros(dims, np.float32) for row, dims in zip(inputs, [shape, [], []])}
    given = [(row, FLOAT, array.shape) for row, array in feeds.items()]
    expected = f"padops::{op} 'decoder/pad': {name} has 0 values, {message}"
    for value in ([2.0], ["2"], helper.make_tensor("", TensorProto.INT64, [1], [2]), []):
        node = helper.make_node(op, inputs, ["y"], name="decoder/pad", domain="padops", **required)
        kind = AttributeProto.INTS if value == [] else None
        node.attribute.append(helper.make_attribute(name, value, attr_type=kind))
        built = native.session(model([node], 18, ir_version=9, imports=[("padops", 1)], inputs=given))
        with pytest.raises(Exception) as caught:
            built.run(None, feeds)
        assert native.error_text(caught.value) == expected
    with pytest.raises(padops.PadError) as refused:
        reference.run(op, {**required, name: []}, list(feeds.values()), "decoder/pad")
    assert str(refused.value) == expected


def with_operators(operators: Any) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    padops.register(options, operators=operators)
    return options


def test_only_named_operators() -> None:
    converted = padops.convert(one_pad(13), fallback=False).proto().SerializeToString()
    onnxruntime.InferenceSession(converted, with_operators(["Pad_13"]))
    onnxruntime.InferenceSession(converted, with_operators(None))
    with pytest.raises(Exception, match=r"padops:Pad_13\(-1\) is not a registered function/op"):
        onnxruntime.InferenceSession(converted, with_operators(["Pad_18", "Pad_19", "Pad_2"]))


def test_operators_are_known_and_stay() -> None:
    with pytest.raises(ValueError, match=r"operators has 'Pad_99'; expected some of Pad_1, Pad_2, "):
        with_operators(["Pad_99"])
    with pytest.raises(ValueError, match="operators is 'Pad_2', expected a list of names"):
        with_operators("Pad_2")
    with pytest.raises(ValueError, match=r"operators are \['Pad_2'\], but the backend 'pyop' has only one operator"):
        padops.register(onnxruntime.SessionOptions(), backend="pyop", operators=["Pad_2"])
    options = with_operators(["Pad_2", "Pad_13"])
    padops.register(options, operators=["Pad_13"])
    for others in (None, ["Pad_13", "Pad_18"]):
        with pytest.raises(ValueError, match="have only Pad_13, Pad_2 of padops' operators; use new"):
            padops.register(options, operators=others)
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry(OPERATORS, "Pad_2,Pad_99")
    message = "padops could not be registered: padops.operators names 'Pad_99', which is no operator"
    with pytest.raises(RuntimeError, match=message):
        padops.register(options)


# --- the execution provider: there from 1.24 on, refused with a reason before ----------------------------------------

HAS_PROVIDERS = runtime_minor() >= FIRST_MINOR
EDGE = pad([1, 1], "edge", 13).SerializeToString()
NEEDS = f"needs onnxruntime 1.24 or newer, this is {re.escape(onnxruntime.__version__)}"


def test_inference_session() -> None:
    """It runs on every runtime, with the operators alone on an old one."""
    session = padops.InferenceSession(EDGE)
    assert (EP_NAME in session.get_providers()) is HAS_PROVIDERS
    assert session.run(None, {"x": np.array([1, 2], np.float32)})[0].tolist() == [1, 1, 2, 2]


def test_register_the_provider() -> None:
    """Once and again. The library itself says what it needs, to callers of any language."""
    options = onnxruntime.SessionOptions()
    if HAS_PROVIDERS:
        for more in (True, True, False):
            padops.register(options, provider=more)
        assert onnxruntime.InferenceSession(EDGE, options).get_providers().count(EP_NAME) == 1
        assert sum(device.ep_name == EP_NAME for device in onnxruntime.get_ep_devices()) == 1
        return
    with pytest.raises(RuntimeError, match=f"{NEEDS}; 'padops convert'"):
        padops.register(options, provider=True)
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        assert runtime_minor() < 23
        return
    with pytest.raises(Exception, match=f"PadopsExecutionProvider: {NEEDS}"):
        onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
