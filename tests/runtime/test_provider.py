"""The execution provider: every Pad of models that are left as they are, and which Pads it leaves."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_pads import numpy_pad
from provider_sessions import EP_NAME, model, options, pad, providers_of_pads, session

import padops
from padops.convert.sources.builtin_support import KERNELS
from padops.runtime import provider
from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.bits import to_bytes
from padops.spec.dtypes import DTYPES

CPU = "CPUExecutionProvider"
ROW = np.arange(1, 5)


def check(built: onnxruntime.InferenceSession, feeds: dict, expected: np.ndarray, pads: int = 1) -> None:
    """The provider runs each Pad, and the bits are those."""
    assert providers_of_pads(built) == [EP_NAME] * pads
    output = run_session(built, feeds)[0]
    assert (output.shape, output.dtype) == (expected.shape, expected.dtype)
    if expected.dtype == object:
        assert output.tolist() == expected.tolist()
    else:
        assert to_bytes(output) == to_bytes(expected)


# --- what stock onnxruntime refuses or gets wrong ------------------------------------------------------------------------


@pytest.mark.parametrize(("opset", "mode"), [(1, "edge"), (2, "reflect"), (10, "constant"), (2, "wrap"), (13, "wrap")])
def test_every_opset(opset: int, mode: str) -> None:
    """P9: ONNX Runtime's own Pad has wrap at every opset, so models may rely on it; it has no Pad 1."""
    data = ROW.astype(np.float32)
    check(session(pad([2, 1], mode, opset)), {"x": data}, numpy_pad(data, [2, 1], mode))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_type(dtype) -> None:
    """P7: every type that the runtime's schemas have, bit for bit."""
    if dtype.since > onnxruntime_minor():
        with pytest.raises(Exception, match="tensor|type|implementation"):
            session(pad([1, 2], "edge", 25, f"{dtype.name}[n]"))
        return
    text = dtype.name == "string"
    data = np.array(["a", "", "\0b", "ü"], object) if text else (ROW % 2).astype(dtype.numpy)
    expected = reference.run("Pad_25", {"mode": "edge"}, [data, np.array([1, 2])])
    check(session(pad([1, 2], "edge", 25, f"{dtype.name}[n]"), {"float16": "native"}), {"x": data}, expected)


def onnxruntime_minor() -> int:
    return provider.runtime_minor()


@pytest.mark.parametrize(
    ("pads", "mode"),
    [([6, 9], "reflect"), ([9, 6], "wrap"), ([-1, 3], "constant"), ([3, -2], "reflect"), ([-2, 2], "edge")],
)
def test_amounts_that_the_runtime_refuses_or_gets_wrong(pads: list[int], mode: str) -> None:
    """P2 to P4: several periods, and amounts of both signs."""
    data = ROW.astype(np.int16)
    expected = reference.run("Pad_19", {"mode": mode}, [data, np.array(pads)])
    check(session(pad(pads, mode, 18, "int16[n]")), {"x": data}, expected)


def test_amounts_and_fill_that_are_computed() -> None:
    built = session(
        model(
            "g (float[n] x, int64[2] p, float c, int32[1] axes) => (float[o] y) { y = Pad (x, p, c, axes) }",
        )
    )
    feeds = {
        "x": np.ones(2, np.float32),
        "p": np.array([1, 2]),
        "c": np.array(7, np.float32),
        "axes": np.array([-1], np.int32),
    }
    check(built, feeds, np.array([7, 1, 1, 7, 7], np.float32))


def test_microsoft_pad() -> None:
    """Its amounts may be a row, and its fill is called value."""
    built = session(
        model("g (double[a, b] x, int64[1, 4] p, double c) => (double[c, d] y) { y = com.microsoft.Pad (x, p, c) }")
    )
    feeds = {"x": np.ones((1, 1)), "p": np.array([[0, 1, 0, 1]]), "c": np.array(5.0)}
    check(built, feeds, np.array([[5.0, 1.0, 5.0]]))


REFLECT = 'Pad <mode = "reflect"> (x, p)'
NESTED = {
    "function": (
        "g (int16[4] x) => (int16[n] y) { y = local.F (x) }",
        '<domain: "local", opset_import: ["" : 18]> F (x) => (y) '
        f"{{ p = Constant <value = int64[2] {{1, 2}}> () y = {REFLECT} }}",
    ),
    "if": (
        "g (int16[4] x, bool c) => (int16[n] y) <int64[2] p = {1, 2}> {"
        f" y = If (c) <then_branch = t () => (int16[a] s) {{ s = {REFLECT} }},"
        " else_branch = e () => (int16[b] u) { u = Identity (x) }> }",
        "",
    ),
    "loop": (
        "g (int16[4] x) => (int16[n] y) <int64 trips = {2}, bool go = {1}, int64[2] p = {1, 2}> {"
        f" last, y = Loop (trips, go, x) <body = b (int64 i, bool c, int16[4] v) => (bool d, int16[4] w, int16[s] o)"
        f" {{ d = Identity (c) w = Identity (v) o = {REFLECT} }}> }}",
        "",
    ),
    "scan": (
        "g (int16[2, 4] x) => (int16[2, m] y) <int64[2] p = {1, 2}> {"
        ' y = Scan <num_scan_inputs = 1, body = b (int16[4] r) => (int16[s] o) { o = Pad <mode = "reflect"> (r, p) }> (x) }',
        "",
    ),
}


@pytest.mark.parametrize("place", NESTED)
def test_pads_within(place: str) -> None:
    built = session(model(*((NESTED[place][0], 18, NESTED[place][1]))))
    data = ROW.astype(np.int16)
    row = numpy_pad(data, [1, 2], "reflect")
    feeds = {"x": np.stack([data, data]) if place == "scan" else data, "c": np.array(True)}
    expected = np.stack([row, row]) if place in ("loop", "scan") else row
    check(built, {name: feeds[name] for name in (entry.name for entry in built.get_inputs())}, expected)


def test_an_error_names_the_node_and_the_rule() -> None:
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': mode 'mirror' is not one of .* \[P9\]"):
        session(pad([1, 1], "mirror"))
    built = session(pad([-3, -3]))
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': axis 0 .*\[P1\]"):
        built.run(None, {"x": np.ones(4, np.float32)})


def test_a_newer_pad_is_left() -> None:
    """A Pad whose version the provider does not know is not taken for one that it knows."""
    versions = [row for row in padops.OPS if row.startswith("Pad_")]
    newest = max(schema.since_version for schema in onnx.defs.get_all_schemas_with_history() if schema.name == "Pad")
    assert f"Pad_{newest}" in versions


# --- what the options choose ---------------------------------------------------------------------------------------------

NEEDED = {"claim": "needed"}


def claimed(built: onnxruntime.InferenceSession) -> bool:
    """Whether the one Pad is the provider's. onnxruntime before 1.27 lists none that it runs between casts."""
    names = providers_of_pads(built)
    assert len(names) == 1 or (not names and onnxruntime_minor() < 27)
    return names == [EP_NAME]


@pytest.mark.parametrize("opset", [2, 10, 11, 13, 18, 21, 24])
def test_needed_claims_the_types_that_the_runtime_lacks(opset: int) -> None:
    """The provider's table of them is that of the converter."""
    since = max(version for version in KERNELS[""] if version <= opset)
    first = next(op for op in sorted(padops.OPS.values(), key=version_of) if version_of(op) == pad_of(opset))
    for name in first.types:
        if name == "float16" or next(row for row in DTYPES if row.name == name).since > onnxruntime_minor():
            continue
        built = session_or_none(pad([1, 1], "edge", opset, f"{name}[4]"))
        assert built is None or claimed(built) is (name not in KERNELS[""][since]), name


def version_of(op) -> int:
    return int(op.name.removeprefix("Pad_")) if op.name.startswith("Pad_") else 0


def pad_of(opset: int) -> int:
    return max(version for version in map(version_of, padops.OPS.values()) if version <= opset)


def session_or_none(built: onnx.ModelProto) -> onnxruntime.InferenceSession | None:
    """None where the model's opset does not have its type."""
    try:
        onnx.checker.check_model(built, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    return session(built, NEEDED)


NEEDS = [
    ("constant", [1, 1], "float[n]", False),
    ("constant", [-9, 9], "float[n]", False),
    ("edge", [9, 9], "float[4]", False),
    ("edge", [1, 1], "float[n]", True),
    ("edge", [-1, 1], "float[4]", True),
    ("reflect", [3, 3], "float[4]", False),
    ("reflect", [4, 0], "float[4]", True),
    ("reflect", [1, 1], "float[n]", True),
    ("wrap", [4, 4], "float[4]", False),
    ("wrap", [5, 0], "float[4]", True),
    ("reflect", [0, 1, 0, 1], "float[n, 4]", False),
    ("reflect", [0, 1, 0, 1], "float[0, 4]", True),
    ("edge", [0, 0], "float[0]", True),
    ("mirror", [1, 1], "float[4]", None),
]


@pytest.mark.parametrize(("mode", "pads", "data", "needed"), NEEDS, ids=lambda value: str(value))
def test_needed(mode: str, pads: list[int], data: str, needed: bool | None) -> None:
    """What the graph leaves open counts as needed."""
    for opset in (10, 18):
        built = pad(pads, mode, opset, data)
        if needed is None:
            with pytest.raises(Exception, match=r"\[P9\]"):
                session(built, NEEDED)
        else:
            assert claimed(session(built, NEEDED)) is needed, opset
        if needed is False:
            assert claimed(session(built)), "all are claimed by default"


@pytest.mark.parametrize(
    ("inputs", "initializers", "needed"),
    [
        ("x, p", "", True),
        ("x, q, , a", "int64[2] q = {1, 1}, int64[1] a = {1}", False),
        ("x, q, , a", "int64[2] q = {1, 9}, int64[1] a = {1}", True),
        ("x, q, , p", "int64[2] q = {1, 1}", True),
        ("x, q, , a", "int64[2] q = {1, 1}, int64[1] a = {5}", None),
    ],
)
def test_needed_reads_constant_amounts_and_axes(inputs: str, initializers: str, needed: bool | None) -> None:
    built = model(
        f"g (float[n, 4] x, int64[k] p) => (float[a, b] y) <{initializers}> "
        f'{{ [p] y = Pad <mode = "reflect"> ({inputs}) }}'
    )
    if needed is None:
        with pytest.raises(Exception, match="axes|axis"):
            session(built, NEEDED)
    else:
        assert claimed(session(built, NEEDED)) is needed


def test_float16() -> None:
    """It is left where the runtime's own Pad, between casts, is surely right; native takes all."""
    for mode, pads, data, left in (
        ("reflect", [1, 1], "float16[4]", True),
        ("reflect", [4, 1], "float16[4]", False),
        ("reflect", [1, 1], "float16[n]", False),
        ("constant", [1, 1], "float16[n]", True),
    ):
        built = pad(pads, mode, 18, data)
        by_default, native = session(built), session(built, {"float16": "native"})
        assert (claimed(by_default), claimed(native)) == (not left, True), (mode, pads, data)
        values = ROW.astype(np.float16)
        expected = reference.run("Pad_18", {"mode": mode}, [values, np.array(pads)])
        for made in (by_default, native):
            assert made.run(None, {"x": values})[0].tobytes() == expected.tobytes()
    assert claimed(session(pad([1, 1], "constant", 10, "float16[4]"))), "the casts begin with Pad 11"
    assert not claimed(session(pad([1, 1], "reflect", 18, "float16[4]"), NEEDED))
    assert claimed(session(pad([1, 1], "reflect", 18, "float16[4]"), {**NEEDED, "float16": "native"}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"claim": "some"}, "PadopsExecutionProvider: option claim is 'some', expected all or needed"),
        ({"float16": ""}, "PadopsExecutionProvider: option float16 is '', expected leave or native"),
        ({"clam": "all"}, "PadopsExecutionProvider: there is no option clam, only claim and float16"),
    ],
)
def test_options_that_are_wrong(given: dict[str, str], message: str) -> None:
    with pytest.raises(Exception, match=message):
        session(pad([1, 1]), given)


# --- registering ---------------------------------------------------------------------------------------------------------


def test_register_is_idempotent() -> None:
    made = options()
    padops.register(made, provider=True)
    padops.register(made)
    built = onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), made)
    assert built.get_providers().count(EP_NAME) == 1
    assert sum(device.ep_name == EP_NAME for device in onnxruntime.get_ep_devices()) == 1


def test_operators_and_provider_in_one_session() -> None:
    imports = '"" : 18, "padops" : 1'
    both = onnx.parser.parse_model(
        f"<ir_version: 10, opset_import: [{imports}]> g (int16[n] x) => (int16[m] y) <int64[2] p = {{1, 1}}> "
        '{ z = Pad (x, p) y = padops.Pad_18 <mode = "edge"> (z, p) }'
    )
    output = session(both).run(None, {"x": ROW.astype(np.int16)})[0]
    assert output.tolist() == [0, 0, 1, 2, 3, 4, 0, 0]


def test_options_without_the_provider() -> None:
    with pytest.raises(ValueError, match="provider_options are {'claim': 'all'}, but provider is not True"):
        padops.register(onnxruntime.SessionOptions(), provider_options={"claim": "all"})


def test_options_of_the_same_session() -> None:
    made = options({"claim": "needed"})
    padops.register(made, provider=True)
    padops.register(made, provider=True, provider_options={"claim": "needed"})
    with pytest.raises(
        ValueError, match="have PadopsExecutionProvider with {'claim': 'needed'} already; take new ones"
    ):
        padops.register(made, provider=True, provider_options={"claim": "all"})


def test_the_library_tells_of_wrong_options_itself() -> None:
    """For callers who do not come by padops.register."""
    padops.register(onnxruntime.SessionOptions(), provider=True)
    device = next(device for device in onnxruntime.get_ep_devices() if device.ep_name == EP_NAME)
    for given, message in (
        ({"claim": "some"}, "PadopsExecutionProvider: option claim is 'some', expected all or needed"),
        ({"clam": "all"}, "PadopsExecutionProvider: there is no option clam, only claim and float16"),
    ):
        made = onnxruntime.SessionOptions()
        made.add_provider_for_devices([device], given)
        with pytest.raises(Exception, match=message):
            onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), made, enable_fallback=0)


def test_a_runtime_without_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "__version__", "1.23.2")
    message = (
        "padops' execution provider needs onnxruntime 1.24 or newer, this is 1.23.2; 'padops convert' and "
        r"padops.register\(options\) do without it"
    )
    with pytest.raises(RuntimeError, match=message):
        padops.register(onnxruntime.SessionOptions(), provider=True)


def test_names() -> None:
    assert padops.get_ep_name() == EP_NAME
    assert padops.get_ep_names() == [EP_NAME]
    assert EP_NAME in {device.ep_name for device in onnxruntime.get_ep_devices()} or options() is not None


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
    onnxruntime.InferenceSession(model, providers=["PadopsExecutionProvider", "CPUExecutionProvider"], enable_fallback=0)
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


def test_bfloat16_moves_bits() -> None:
    data = np.array([0x7FA1, 0x0001], np.uint16).view(ml_dtypes.bfloat16)  # a signalling NaN, a subnormal
    check(session(pad([1, 0], "edge", 13, "bfloat16[n]")), {"x": data}, data[[0, 0, 1]])
