"""Where padops' two providers stand among others."""

from __future__ import annotations

from types import SimpleNamespace

import onnxruntime
import pytest
from provider_sessions import CPU, EP_NAME, model, pad, providers_of_pads, recording_options

import padops
from padops.runtime import placing
from padops.runtime.chosen import chosen_by
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_NAME

PAD, WITHOUT_PAD = pad([1, 1], "edge"), model("g (float[4] x) => (float[4] y) { y = Relu (x) }")
OPENVINO, WEBGPU, COREML = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "CoreMLExecutionProvider"


@pytest.mark.parametrize(
    ("names", "placed", "before"),
    [
        ([OPENVINO, CPU], [FIRST_NAME, OPENVINO, EP_NAME, CPU], OPENVINO),
        ([OPENVINO], [FIRST_NAME, OPENVINO, EP_NAME, CPU], OPENVINO),
        (["Other", WEBGPU, OPENVINO], ["Other", FIRST_NAME, WEBGPU, OPENVINO, EP_NAME, CPU], f"{WEBGPU},{OPENVINO}"),
        ([COREML, CPU], [COREML, EP_NAME, CPU], None),
        ([EP_NAME, OPENVINO], [EP_NAME, OPENVINO, CPU], None),
        ([OPENVINO, EP_NAME], [FIRST_NAME, OPENVINO, EP_NAME, CPU], OPENVINO),
        ([CPU, OPENVINO], [EP_NAME, CPU, OPENVINO], None),
    ],
)
def test_the_place_in_front(names: list[str], placed: list[str], before: str | None) -> None:
    """Before the first provider that does not run every Pad right, with the names of all of these."""
    chosen = placing.with_padops([placing.Chosen(name, {}) for name in names])
    assert [one.name for one in chosen] == placed
    first = [one.options for one in chosen if one.name == FIRST_NAME]
    assert first == ([] if before is None else [{"before": before}])


def test_the_place_that_the_caller_chooses() -> None:
    chosen = placing.with_padops([placing.Chosen(OPENVINO, {}), placing.Chosen(EP_NAME, {"in_front": "never"})])
    assert [one.name for one in chosen] == [OPENVINO, EP_NAME, CPU]
    own = placing.Chosen(FIRST_NAME, {"before": WEBGPU})
    chosen = placing.with_padops([placing.Chosen("Other", {}), own, placing.Chosen(OPENVINO, {})])
    assert [one.name for one in chosen] == ["Other", FIRST_NAME, OPENVINO, EP_NAME, CPU] and chosen[1] is own


@pytest.mark.parametrize(
    ("before", "options", "content", "spinning"),
    [(OPENVINO, None, PAD, "0"), (WEBGPU, None, PAD, ""), (OPENVINO, recording_options(), PAD, ""),
     (OPENVINO, None, WITHOUT_PAD, "")],
)  # fmt: skip
def test_threads_that_wait(before: str, options, content, spinning: str) -> None:
    """Before a provider with its own threads, the runtime's do not spin, unless the caller has options."""
    session = padops.InferenceSession(content.SerializeToString(), options, [(FIRST_NAME, {"before": before}), CPU])
    entries = session.get_session_options()
    if spinning:
        assert entries.get_session_config_entry("session.intra_op.allow_spinning") == spinning
    else:
        with pytest.raises(RuntimeError):  # it has no such entry
            entries.get_session_config_entry("session.intra_op.allow_spinning")


def test_devices_in_the_list() -> None:
    """A device, or several of one provider, in place of a name."""
    cpu = register_provider_library()[CPU]
    for form in (cpu, [cpu], (cpu, {}), ([cpu], {})):
        session = padops.InferenceSession(pad([1, 1], "edge").SerializeToString(), recording_options(), [form])
        assert session.get_providers() == [EP_NAME, CPU] and providers_of_pads(session) == [EP_NAME]
    for wrong, names in (([], "no provider"), ([cpu, register_provider_library()[EP_NAME]], f"{CPU} and {EP_NAME}")):
        with pytest.raises(ValueError, match=f"has devices of {names}, expected of one"):
            chosen_by([wrong], None)


@pytest.mark.parametrize(
    ("providers", "options", "message"),
    [
        (3, None, "providers is 3, expected a list of names"),
        ({CPU}, None, "providers is {'CPUExecutionProvider'}, expected a list of names"),
        (
            [3],
            None,
            "an entry of providers is 3, expected a name, devices of one provider, or a pair of one of these and ",
        ),
        ([None], None, "an entry of providers is None, expected a name"),
        ([(CPU, {}, 1)], None, r"an entry of providers is \('CPUExecutionProvider', \{\}, 1\), expected a name"),
        ([(CPU, 3)], None, "the options of provider 'CPUExecutionProvider' are 3, expected a mapping"),
        ([CPU], [3], "the options of provider 'CPUExecutionProvider' are 3, expected a mapping"),
    ],
)
def test_providers_of_other_types(providers, options, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        chosen_by(providers, options)


def test_register_with_providers() -> None:
    options = recording_options()
    padops.register(options, provider=True, providers=[CPU], provider_options={"claim": "needed"})
    session = onnxruntime.InferenceSession(pad([1, 1], "edge").SerializeToString(), options)
    assert session.get_providers() == [EP_NAME, CPU] and providers_of_pads(session) == [EP_NAME]
    padops.register(options, provider=True, providers=[CPU], provider_options={"claim": "needed"})
    padops.register(options, provider=True)
    onnxruntime.InferenceSession(pad([1, 1], "edge").SerializeToString(), options)
    with pytest.raises(ValueError, match=r"already have providers \(.*CPUExecutionProvider\); use new"):
        padops.register(options, provider=True, providers=[CPU])
    with pytest.raises(ValueError, match="providers are given, but provider is not True"):
        padops.register(onnxruntime.SessionOptions(), providers=[CPU])
    taken = onnxruntime.SessionOptions()
    taken.add_provider_for_devices([register_provider_library()[CPU]], {})
    with pytest.raises(ValueError, match="already have providers .of another caller.; use new"):
        padops.register(taken, provider=True, providers=[CPU])
    with pytest.raises(ValueError, match="knows no provider NoSuchProvider"):
        padops.register(onnxruntime.SessionOptions(), provider=True, providers=["NoSuchProvider"])


def test_one_device_of_padops_and_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """padops and the CPU get one device each, even of several; chosen devices, and all those of others, stay."""
    listed = [SimpleNamespace(ep_name=name, number=i) for name in (CPU, EP_NAME, FIRST_NAME, WEBGPU) for i in range(2)]
    monkeypatch.setattr(onnxruntime, "get_ep_devices", lambda: listed)
    for name, numbers in ((CPU, [0]), (EP_NAME, [0]), (FIRST_NAME, [0]), (WEBGPU, [0, 1]), (OPENVINO, [])):
        assert [device.number for device in placing.devices_of(placing.Chosen(name, {}))] == numbers
    assert placing.devices_of(placing.Chosen(WEBGPU, {}, (listed[7],))) == (listed[7],)


def test_wrong_options_of_the_one_in_front() -> None:
    with pytest.raises(Exception, match=f"{FIRST_NAME}: there is no option behind, only before, rules and report"):
        padops.InferenceSession(pad([1, 1]).SerializeToString(), None, [(FIRST_NAME, {"behind": ""}), CPU])


def test_built_in_providers_in_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime does not tell their options; where padops would have to stand in front, the error names the way."""
    options = recording_options()
    options.add_provider_for_devices([register_provider_library()[CPU]], {})
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [OPENVINO, CPU])
    wrong = pad([1, 1], "wrap", 19, "float[4]").SerializeToString()
    message = (
        rf"{OPENVINO} does not run 1 Pad of this model right \('p'\), and padops cannot stand before a provider that "
    )
    with pytest.raises(RuntimeError, match=message) as raised:
        placing.with_own_providers(wrong, options, True, 32)
    assert "name them in providers= instead" in str(raised.value)
    right = pad([1, 1], "edge", 18, "float[4]").SerializeToString()
    assert placing.with_own_providers(right, options, True, 32) is options


def test_a_provider_that_is_not_there_needs_nothing() -> None:
    """onnxruntime leaves it out by itself, and the next one counts."""
    chosen = [placing.Chosen(OPENVINO, {}), placing.Chosen(WEBGPU, {})]
    names = [one.name for one in placing.with_padops(chosen, {WEBGPU, CPU})]
    assert names == [OPENVINO, FIRST_NAME, WEBGPU, EP_NAME, CPU]
    assert [one.name for one in placing.with_padops(chosen, {CPU})] == [OPENVINO, WEBGPU, EP_NAME, CPU]
    assert CPU in placing.available()
