"""Where padops' providers stand among others, and the provider that brings the operators of the domain ``padops``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import provider_cases
import providers
import pytest
from onnx import parser
from provider_sessions import CPU, EP_NAME, model, pad, providers_of_pads, recording_options

import padops
from padops.convert import inspection
from padops.runtime import placing
from padops.runtime.chosen import Chosen, chosen_by
from padops.runtime.placing import register_provider_library
from padops.runtime.provider import FIRST_MINOR, FIRST_NAME, OPERATORS_NAME, runtime_minor
from padops.runtime.session import OPERATORS

pytestmark = pytest.mark.skipif(runtime_minor() < FIRST_MINOR, reason="it has no providers of libraries")
PAD, WITHOUT_PAD = pad([1, 1], "edge").SerializeToString(), model("g (float[4] x) => (float[4] y) { y = Relu (x) }")
OPENVINO, WEBGPU, COREML = "OpenVINOExecutionProvider", "WebGpuExecutionProvider", "CoreMLExecutionProvider"
NEVER, OWN = {"in_front": "never"}, {"before": WEBGPU}
Step = Callable[[onnxruntime.SessionOptions], None]


def device(name: str, **given: str) -> Step:
    """Appends a device, as every binding does."""
    return lambda options: options.add_provider_for_devices([register_provider_library()[name]], given)


@pytest.mark.parametrize(("names", "available", "placed", "first"), [
    ([OPENVINO, CPU], None, [FIRST_NAME, OPENVINO, EP_NAME, CPU], {"before": OPENVINO}),
    ([OPENVINO], None, [FIRST_NAME, OPENVINO, EP_NAME, CPU], {"before": OPENVINO}),
    (["Other", WEBGPU, OPENVINO], None, ["Other", FIRST_NAME, WEBGPU, OPENVINO, EP_NAME, CPU],
     {"before": f"{WEBGPU},{OPENVINO}"}),
    ([COREML, CPU], None, [COREML, EP_NAME, CPU], None),
    ([EP_NAME, OPENVINO], None, [EP_NAME, OPENVINO, CPU], None),
    ([OPENVINO, EP_NAME], None, [FIRST_NAME, OPENVINO, EP_NAME, CPU], {"before": OPENVINO}),
    ([CPU, OPENVINO], None, [EP_NAME, CPU, OPENVINO], None),
    # What the caller chooses.
    ([OPENVINO, (EP_NAME, NEVER)], None, [OPENVINO, EP_NAME, CPU], None),
    (["Other", (FIRST_NAME, OWN), OPENVINO], None, ["Other", FIRST_NAME, OPENVINO, EP_NAME, CPU], OWN),
    # onnxruntime leaves out by itself what is not there, and the next one counts.
    ([OPENVINO, WEBGPU], {WEBGPU, CPU}, [OPENVINO, FIRST_NAME, WEBGPU, EP_NAME, CPU], OWN),
    ([OPENVINO, WEBGPU], {CPU}, [OPENVINO, WEBGPU, EP_NAME, CPU], None),
])  # fmt: skip
def test_the_place_in_front(names: list, available: set | None, placed: list[str], first: dict | None) -> None:
    """Before the first provider that does not run every Pad correctly, with the names of all of these."""
    given = [Chosen(*one) if isinstance(one, tuple) else Chosen(one, {}) for one in names]
    chosen = placing.with_padops(given, available)
    assert [one.name for one in chosen] == placed
    assert [one.options for one in chosen if one.name == FIRST_NAME] == ([] if first is None else [first])


@pytest.mark.parametrize(
    ("before", "options", "content", "spinning"),
    [(OPENVINO, None, PAD, "0"), (WEBGPU, None, PAD, ""), (OPENVINO, recording_options(), PAD, ""),
     (OPENVINO, None, WITHOUT_PAD, "")],
)  # fmt: skip
def test_threads_that_wait(before: str, options, content, spinning: str) -> None:
    """Before a provider with its own threads, the runtime's do not spin, unless the caller has options."""
    session = padops.InferenceSession(content, options, [(FIRST_NAME, {"before": before}), CPU])
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
        session = padops.InferenceSession(PAD, recording_options(), [form])
        assert session.get_providers() == [EP_NAME, CPU] and providers_of_pads(session) == [EP_NAME]
    for wrong, names in (([], "no provider"), ([cpu, register_provider_library()[EP_NAME]], f"{CPU} and {EP_NAME}")):
        with pytest.raises(ValueError, match=f"has devices of {names}, expected one provider"):
            chosen_by([wrong], None)


ENTRY, OF_CPU = "an entry of providers is", "the options of provider 'CPUExecutionProvider' are 3, expected a mapping"


@pytest.mark.parametrize(("providers", "options", "message"), [
    (3, None, "providers is 3, expected a list of names"),
    ({CPU}, None, "providers is {'CPUExecutionProvider'}, expected a list of names"),
    ([3], None, f"{ENTRY} 3, expected a name, devices of one provider, or a pair: a name or devices, "),
    ([None], None, f"{ENTRY} None, expected a name"),
    ([(CPU, {}, 1)], None, rf"{ENTRY} \('CPUExecutionProvider', \{{\}}, 1\), expected a name"),
    ([(CPU, 3)], None, OF_CPU),
    ([CPU], [3], OF_CPU),
])  # fmt: skip
def test_providers_of_other_types(providers, options, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        chosen_by(providers, options)


def test_register_with_providers() -> None:
    options, taken = recording_options(), onnxruntime.SessionOptions()
    padops.register(options, provider=True, providers=[CPU], provider_options={"claim": "needed"})
    session = onnxruntime.InferenceSession(PAD, options)
    assert session.get_providers() == [EP_NAME, CPU] and providers_of_pads(session) == [EP_NAME]
    padops.register(options, provider=True, providers=[CPU], provider_options={"claim": "needed"})
    padops.register(options, provider=True)
    onnxruntime.InferenceSession(PAD, options)
    device(CPU)(taken)
    for given, arguments, message in (
        (options, {"provider": True, "providers": [CPU]}, r"already have providers \(.*CPUEx.*Provider\); use new"),
        (taken, {"provider": True, "providers": [CPU]}, "already have providers .of another caller.; use new"),
        (None, {"providers": [CPU]}, "providers are given, but provider is not True"),
        (None, {"provider": True, "providers": ["NoSuchProvider"]}, "knows no provider NoSuchProvider"),
    ):
        with pytest.raises(ValueError, match=message):
            padops.register(given or onnxruntime.SessionOptions(), **arguments)
    with pytest.raises(Exception, match=f"{FIRST_NAME}: there is no option behind, only before, rules and report"):
        padops.InferenceSession(PAD, None, [(FIRST_NAME, {"behind": ""}), CPU])


def test_one_device_of_padops_and_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """padops and the CPU get one device each, even of several; chosen devices, and all those of others, stay."""
    listed = [SimpleNamespace(ep_name=name, number=i) for name in (CPU, EP_NAME, FIRST_NAME, WEBGPU) for i in range(2)]
    monkeypatch.setattr(onnxruntime, "get_ep_devices", lambda: listed)
    for name, numbers in ((CPU, [0]), (EP_NAME, [0]), (FIRST_NAME, [0]), (WEBGPU, [0, 1]), (OPENVINO, [])):
        assert [device.number for device in placing.devices_of(Chosen(name, {}))] == numbers
    assert placing.devices_of(Chosen(WEBGPU, {}, (listed[7],))) == (listed[7],)


def test_built_in_providers_in_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime does not tell their options; where padops would have to stand in front, the error names the way."""
    options = recording_options()
    device(CPU)(options)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [OPENVINO, CPU])
    why = rf"{OPENVINO} does not run 1 Pad of this model correctly \('p'\), and padops cannot come before a provider"
    with pytest.raises(RuntimeError, match=f"(?s){why}.*name the providers in providers= instead"):
        placing.with_own_providers(pad([1, 1], "wrap", 19, "float[4]").SerializeToString(), options, True, 32)
    right = pad([1, 1], "edge", 18, "float[4]").SerializeToString()
    assert placing.with_own_providers(right, options, True, 32) is options


# --- the operators, in a session with only a device of padops' library, without RegisterCustomOps --------------------

# One Pad of standard ONNX, which onnxruntime refuses for its type, and one operator of padops.
MODEL = parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 18, "padops" : 1]> g (int16[n] x) => (int16[m] y) <int64[2] p = {1, 1}> '
    '{ z = Pad (x, p) y = padops.Pad_18 <mode = "edge"> (z, p) }'
).SerializeToString()
ROW, PADDED = np.array([1, 2, 3], np.int16), [0, 0, 1, 2, 3, 0, 0]
UNKNOWN = r"padops:Pad_18\(-1\) is not a registered function/op"


def ran(*steps: Step) -> list[int]:
    """What two sessions of the same options give."""
    options = recording_options()
    for step in steps:
        step(options)
    sessions = [onnxruntime.InferenceSession(MODEL, options, enable_fallback=0) for _ in range(2)]
    one, other = (session.run(None, {"x": ROW})[0].tolist() for session in sessions)
    assert one == other
    return one


THE_OPERATORS, THE_PADS, THE_CPU = device(OPERATORS_NAME), device(EP_NAME), device(CPU)
BY_LIBRARY: Step = lambda options: options.register_custom_ops_library(padops.get_library_path())
NAMED: Step = lambda options: options.add_session_config_entry(OPERATORS, "Pad_18")


@pytest.mark.parametrize("steps", [
    # Wherever the device stands among the others.
    *(steps for steps in permutations((THE_OPERATORS, THE_PADS, THE_CPU))
      if steps.index(THE_PADS) < steps.index(THE_CPU)),
    # Both registrations do not clash; the runtime alone refuses: "Domain already set in registry".
    (THE_OPERATORS, BY_LIBRARY, THE_PADS, THE_CPU),
    (BY_LIBRARY, THE_OPERATORS, THE_PADS, THE_CPU),
    (THE_OPERATORS, NAMED, BY_LIBRARY, THE_PADS),
    (NAMED, BY_LIBRARY, THE_OPERATORS, THE_PADS),
    (THE_OPERATORS, THE_PADS, padops.register),
    (padops.register, THE_OPERATORS, THE_PADS),
])  # fmt: skip
def test_the_device_brings_the_operators(steps: tuple[Step, ...]) -> None:
    assert ran(*steps) == PADDED


@pytest.mark.parametrize(("steps", "message"), [
    ((THE_PADS, THE_CPU), UNKNOWN),
    ((device(FIRST_NAME, before=CPU), THE_PADS, THE_CPU), UNKNOWN),
    ((device(OPERATORS_NAME, operators="Pad_18"),), f"{OPERATORS_NAME}: option operators is 'Pad_18', expected all"),
    ((device(OPERATORS_NAME, claim="all"),), f"{OPERATORS_NAME}: there is no option claim, only operators"),
])  # fmt: skip
def test_what_brings_no_operators(steps: tuple[Step, ...], message: str) -> None:
    with pytest.raises(Exception, match=message):
        ran(*steps)


def test_the_name_alone_comes_too_late() -> None:
    """onnxruntime reads ``providers=`` after the model; padops.InferenceSession looks into the model first."""
    register_provider_library()
    names = [OPERATORS_NAME, EP_NAME, CPU]
    with warnings.catch_warnings(), pytest.raises(Exception, match=UNKNOWN):
        warnings.simplefilter("ignore")  # before 1.25, that it takes no such name
        onnxruntime.InferenceSession(MODEL, recording_options(), names, enable_fallback=0)
    assert padops.InferenceSession(MODEL, providers=names).run(None, {"x": ROW})[0].tolist() == PADDED


def test_it_is_known_to_run_nothing() -> None:
    plain = pad([1, 1], "constant", 18, "int16[n]")
    beside = padops.inspect(plain, providers=[OPERATORS_NAME, CPU])
    assert beside.pads == padops.inspect(plain, providers=[CPU]).pads
    assert not any(OPERATORS_NAME in note for note in beside.notes)


# --- onnxruntime 1.24 refuses Pads in two graphs that padops takes before OpenVINO -----------------------------------

BODIES = """<ir_version: 10, opset_import: ["" : 19]> g (float[a, b, c, d] x) => (float[e, f, h, i] y)
    <float zero = {0}, int64[8] p = {0, 0, 2, 0, 0, 0, 0, 1}, int64[8] q = {0, 0, 0, 1, 0, 0, 0, 0}> {
    r = Relu (x) m = ReduceMax <keepdims = 0> (r) [condition] k = Greater (m, zero)
    [branches] s = If (k) <then_branch = t () => (float[j, l, n, o] u) { [p1] u = Pad <mode = "MODE"> (r, p) },
        else_branch = w () => (float[j, l, n, o] v) { [p2] v = Pad <mode = "MODE"> (r, q) }> y = Relu (s) }"""
CASE = provider_cases.Case("bodies", "reflect", (1, 2, 4, 5), (0, 0, 2, 0, 0, 0, 0, 1), 19)


def two_graphs(mode: str) -> onnx.ModelProto:
    return parser.parse_model(BODIES.replace("MODE", mode))


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """An onnxruntime that refuses the first model of a session, for the names; what it is given after that."""
    given, create = [], padops.InferenceSession._create

    def refuse_once(self, content, *rest) -> None:
        given.append(content)
        if len(given) == 1:
            raise RuntimeError(f"Failed to add kernel for {FIRST_NAME}_1_0 {FIRST_NAME} {FIRST_NAME}: Conflicting with")
        create(self, content, *rest)

    monkeypatch.setattr(padops.InferenceSession, "_create", refuse_once)
    monkeypatch.setattr(placing, "available", lambda: {OPENVINO, CPU})
    return given


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_the_session_lowers_it(refusing: list[bytes], mode: str) -> None:
    """And leaves it as it is where the caller wants that."""
    content = two_graphs(mode).SerializeToString()
    session = padops.InferenceSession(content, providers=[CPU])
    lowered = padops.lower(content, provider="openvino").proto()
    assert onnx.load_from_string(refusing[1]) == lowered and b"padops" not in refusing[1]
    assert [record.op_type for record in session.padops_records] == ["standard ONNX"] * 2
    fed = provider_cases.feeds_of(CASE)
    np.testing.assert_array_equal(session.run(None, fed)[0], provider_cases.expected_of(replace(CASE, mode=mode)))
    refusing.clear()
    with pytest.raises(RuntimeError, match="Failed to add kernel"):
        padops.InferenceSession(content, providers=[CPU], convert="never")
    assert len(refusing) == 1


def test_inspect_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"onnxruntime 1.24 refuses Pads that padops takes before {OPENVINO} in 2 graphs of one model"
    said += ": padops.InferenceSession lowers the model for it in memory"
    for minor, runner in ((24, OPENVINO), (25, FIRST_NAME)):
        monkeypatch.setattr(inspection, "installed_minor", lambda minor=minor: minor)
        found = padops.inspect(two_graphs("wrap"), providers=[OPENVINO, CPU])
        assert [pad.runner for pad in found.pads] == [runner] * 2
        assert (said in found.notes) is ("1.24 refuses" in " ".join(found.notes)) is (minor == 24)


@pytest.mark.needs_environment("ort-openvino")
def test_beside_openvino() -> None:
    """The real one: right, with both branches on it, where a session of stock onnxruntime has refused the wrap."""
    lines = {}
    for mode in ("reflect", "wrap"):
        case = replace(CASE, name=mode, mode=mode)
        expected = provider_cases.expected_of(case).tolist()
        lines[mode] = provider_cases.as_line(case, two_graphs(mode).SerializeToString(), expected)
    for mode, answer in providers.ask_lines("ort-openvino", "name", lines).items():
        assert answer["outcome"] == "right", (mode, answer)
        assert not providers.elsewhere(answer, OPENVINO), (mode, answer)
    assert providers.ask_lines("ort-openvino", "stock", lines)["wrap"]["outcome"] == "refused"
