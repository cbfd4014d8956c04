"""The execution provider: every Pad of models that are left as they are, which Pads it claims, and its options."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_pads import numpy_pad
from provider_sessions import EP_NAME, ROW, model, pad, providers_of_pads, session

import padops
from padops.convert.runtimes import KERNELS
from padops.runtime import placing
from padops.runtime.ort_values import run_session
from padops.runtime.provider import runtime_minor
from padops.spec import reference
from padops.spec.dtypes import DTYPES

# --- what stock onnxruntime refuses or gets wrong --------------------------------------------------------------------


def check(built: onnxruntime.InferenceSession, feeds: dict[str, Any], expected: np.ndarray) -> None:
    """The provider runs each Pad, and the bits are those."""
    assert providers_of_pads(built) == [EP_NAME]
    output = run_session(built, {entry.name: feeds[entry.name] for entry in built.get_inputs()})[0]
    assert native.bits(output) == native.bits(expected)


@pytest.mark.parametrize(("opset", "mode", "pads"), [
    *((opset, mode, [2, 1]) for opset, mode in ((1, "edge"), (2, "reflect"), (10, "constant"), (2, "wrap"))),
    *((18, "reflect", pads) for pads in ([6, 9], [3, -2])),
    *((18, mode, pads) for mode, pads in (("wrap", [9, 6]), ("constant", [-1, 3]), ("edge", [-2, 2]))),
    (13, "wrap", [2, 1]),
])  # fmt: skip
def test_modes_and_amounts(opset: int, mode: str, pads: list[int]) -> None:
    """P2 to P4, P9: several periods, both signs, and wrap at every opset, as ONNX Runtime has it, and a Pad 1."""
    data = ROW.astype(np.int16 if opset == 18 else np.float32)
    check(session(pad(pads, mode, opset, f"{'int16' if opset == 18 else 'float'}[n]")), {"x": data},
          numpy_pad(data, pads, mode))  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
def test_every_type(dtype) -> None:
    """P7: every type that the runtime's schemas have, bit for bit."""
    if dtype.since > runtime_minor():
        with pytest.raises(Exception, match="tensor|type|implementation"):
            session(pad([1, 2], "edge", 25, f"{dtype.name}[n]"))
        return
    text = dtype.name == "string"
    data = np.array(["a", "", "\0b", "ü"], object) if text else (ROW % 2).astype(dtype.numpy)
    expected = reference.run("Pad_25", {"mode": "edge"}, [data, np.array([1, 2])])
    check(session(pad([1, 2], "edge", 25, f"{dtype.name}[n]"), {"float16": "native"}), {"x": data}, expected)


SHORTS = ROW.astype(np.int16)
REFLECTED, REFLECT = numpy_pad(SHORTS, [1, 2], "reflect"), 'Pad <mode = "reflect"> (x, p)'
PLACES: dict[str, tuple[tuple[str, ...], dict[str, Any], np.ndarray]] = {  # a model's texts, its feeds, its output
    "all is computed": (
        ("g (float[n] x, int64[2] p, float c, int32[1] axes) => (float[o] y) { y = Pad (x, p, c, axes) }",),
        {"x": np.ones(2, np.float32), "p": [1, 2], "c": np.float32(7), "axes": np.array([-1], np.int32)},
        np.array([7, 1, 1, 7, 7], np.float32),
    ),
    "rank 0": (("g (float x) => (float y) <int64[0] p = {}> { y = Pad (x, p) }",), {"x": np.float32(3)}, np.float32(3)),
    "microsoft's, whose amounts may be a row, and whose fill is called value": (
        ("g (double[a, b] x, int64[1, 4] p, double c) => (double[c, d] y) { y = com.microsoft.Pad (x, p, c) }",),
        {"x": np.ones((1, 1)), "p": [[0, 1, 0, 1]], "c": 5.0},
        np.array([[5.0, 1.0, 5.0]]),
    ),
    "function": (
        ("g (int16[4] x) => (int16[n] y) { y = local.F (x) }",
         '<domain: "local", opset_import: ["" : 18]> F (x) => (y) '
         f"{{ p = Constant <value = int64[2] {{1, 2}}> () y = {REFLECT} }}"),
        {"x": SHORTS}, REFLECTED,
    ),
    "if": (
        ("g (int16[4] x, bool c) => (int16[n] y) <int64[2] p = {1, 2}> {"
         f" y = If (c) <then_branch = t () => (int16[a] s) {{ s = {REFLECT} }},"
         " else_branch = e () => (int16[b] u) { u = Identity (x) }> }",),
        {"x": SHORTS, "c": True}, REFLECTED,
    ),
    "loop": (
        ("g (int16[4] x) => (int16[n] y) <int64 trips = {2}, bool go = {1}, int64[2] p = {1, 2}> {"
         " last, y = Loop (trips, go, x) <body = b (int64 i, bool c, int16[4] v) => (bool d, int16[4] w, int16[s] o)"
         f" {{ d = Identity (c) w = Identity (v) o = {REFLECT} }}> }}",),
        {"x": SHORTS}, np.stack([REFLECTED] * 2),
    ),
    "scan": (
        ("g (int16[2, 4] r) => (int16[2, m] y) <int64[2] p = {1, 2}> { y = Scan <num_scan_inputs = 1, "
         f"body = b (int16[4] x) => (int16[s] o) {{ o = {REFLECT} }}> (r) }}",),
        {"r": np.stack([SHORTS] * 2)}, np.stack([REFLECTED] * 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_pads_in_every_place(place: str) -> None:
    (text, *functions), feeds, expected = PLACES[place]
    arrays = {name: np.asarray(value) for name, value in feeds.items()}
    check(session(model(text, 18, *functions)), arrays, expected)


def test_an_error_names_the_node_and_the_rule() -> None:
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': mode 'mirror' is not one of .* \[P9\]"):
        session(pad([1, 1], "mirror"))
    built = session(pad([-3, -3]))
    with pytest.raises(Exception, match=r"padops::Pad_18 'p': axis 0 .*\[P1\]"):
        built.run(None, {"x": np.ones(4, np.float32)})


# --- with ``needed``: which Pads it claims, and which it leaves to ONNX Runtime --------------------------------------

NEEDED, NATIVE = {"claim": "needed"}, {"float16": "native"}


def claimed(built: onnxruntime.InferenceSession) -> bool:
    """Return whether the provider has the one Pad; onnxruntime before 1.27 lists none that it runs between casts."""
    names = providers_of_pads(built)
    assert len(names) == 1 or (not names and runtime_minor() < 27)
    return names == [EP_NAME]


@pytest.mark.parametrize("opset", [2, 10, 11, 13, 18, 21, 24])
def test_needed_claims_the_types_that_the_runtime_lacks(opset: int) -> None:
    """The provider's table of them is that of the converter."""
    versions = [int(name.removeprefix("Pad_")) for name in padops.OPS if name.startswith("Pad_")]
    types = padops.OPS[f"Pad_{max(version for version in versions if version <= opset)}"].types
    here = [dtype.name for dtype in DTYPES if dtype.name in types and dtype.since <= runtime_minor()]
    for name in here:
        content = pad([1, 1], "edge", opset, f"{name}[4]")
        try:
            onnx.checker.check_model(content, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            continue  # this opset does not have the type
        if name != "float16":
            assert claimed(session(content, NEEDED)) is (KERNELS[""].get(name, opset + 1) > opset), name


@pytest.mark.parametrize(("mode", "pads", "data", "needed"), [
    ("constant", [1, 1], "float[n]", False),
    ("constant", [-9, 9], "float[n]", False),
    ("edge", [9, 9], "float[4]", False),
    ("edge", [1, 1], "float[n]", True),
    ("edge", [-1, 1], "float[4]", True),
    ("edge", [1, -1], "float[4]", True),
    ("edge", [-1, 0], "float[4]", True),
    ("edge", [0, -1], "float[4]", True),
    ("reflect", [3, 3], "float[4]", False),
    ("reflect", [4, 0], "float[4]", True),
    ("reflect", [1, 1], "float[n]", True),
    ("wrap", [4, 4], "float[4]", False),
    ("wrap", [5, 0], "float[4]", True),
    ("reflect", [0, 1, 0, 1], "float[n, 4]", False),
    ("reflect", [0, 1, 0, 1], "float[0, 4]", True),
    ("edge", [0, 0], "float[0]", True),
], ids=str)  # fmt: skip
def test_needed(mode: str, pads: list[int], data: str, needed: bool) -> None:
    """A Pad that the graph leaves open counts as needed."""
    for opset in (10, 18):
        assert claimed(session(pad(pads, mode, opset, data), NEEDED)) is needed, opset
        if not needed:
            assert claimed(session(pad(pads, mode, opset, data))), "all are claimed by default"


HELD = "int64[2] q = {1, 1}"
REFLECTS, EDGE = 'Pad <mode = "reflect">', 'Pad <mode = "edge">'


@pytest.mark.parametrize(("data", "op", "inputs", "held", "needed"), [
    ("float[n, 4]", REFLECTS, "x, p", "", True),
    ("float[n, 4]", REFLECTS, "x, q, , a", f"{HELD}, int64[1] a = {{1}}", False),
    ("float[n, 4]", REFLECTS, "x, q, , a", "int64[2] q = {1, 9}, int64[1] a = {1}", True),
    ("float[n, 4]", REFLECTS, "x, q, , p", HELD, True),
    ("float[n, 4]", REFLECTS, "x, q, , p", "int64[4] q = {0, 1, 0, 1}", True),
    *((data, op, "x, q", held, True)
      for op in ("Pad", EDGE) for data, held in (("float", "int64[0] q = {}"), ("float[]", HELD))),
    ("float[n, 4]", REFLECTS, "x, q, , a", f"{HELD}, int64[1] a = {{5}}", "axes|axis"),
    ("float[4]", 'Pad <mode = "mirror">', "x, q", HELD, r"\[P9\]"),
    # P8: where the runtime loads them, padops says what is wrong.
    ("float[3, 4]", EDGE, "x, q, , a", f"{HELD}, int64[1, 1] a = {{1}}", r"axes has shape \[1, 1\], exp.*\[P8\]"),
    ("float[3, 4]", f"com.microsoft.{EDGE}", "x, q", "int64[3] q = {1, 1, 1}",
     r"pads has 3 values, expected 4 \(2 per axis.*\[P8\]"),
])  # fmt: skip
def test_needed_reads_amounts_axes_and_ranks(data: str, op: str, inputs: str, held: str, needed: bool | str) -> None:
    """Data of no known rank, and data of rank 0, on which the runtime's own Pad has no say, are needed."""
    content = model(f"g ({data} x, int64[k] p) => (float[] y) <{held}> {{ [p] y = {op} ({inputs}) }}")
    if isinstance(needed, bool):
        assert claimed(session(content, NEEDED)) is needed
        return
    ours = []
    with pytest.raises(Exception, match=needed):
        built = session(content, NEEDED)
        ours.append(claimed(built))
        built.run(None, {"x": np.ones((3, 4), np.float32), "p": np.zeros(1, np.int64)})
    assert ours == [True] * ("P8" in needed), "what is not loaded is refused when the session is created"


@pytest.mark.parametrize(("mode", "pads", "opset", "data", "given", "ours"), [
    ("reflect", [1, 1], 18, "float16[4]", {}, False),
    ("reflect", [4, 1], 18, "float16[4]", {}, True),
    ("reflect", [1, 1], 18, "float16[n]", {}, True),
    ("constant", [1, 1], 18, "float16[n]", {}, False),
    ("constant", [1, 1], 10, "float16[4]", {}, True),  # the casts begin with Pad 11
    ("reflect", [1, 1], 18, "float16[4]", NEEDED, False),
    ("reflect", [1, 1], 18, "float16[4]", NATIVE, True),
    ("constant", [1, 1], 18, "float16[n]", NATIVE, True),
    ("reflect", [1, 1], 18, "float16[4]", NEEDED | NATIVE, True),
])  # fmt: skip
def test_float16(mode: str, pads: list[int], opset: int, data: str, given: dict[str, str], ours: bool) -> None:
    """A float16 Pad stays where the runtime's own, between casts, is surely right; ``native`` takes all."""
    built, values = session(pad(pads, mode, opset, data), given), ROW.astype(np.float16)
    assert claimed(built) is ours
    expected = reference.run("Pad_18", {"mode": mode}, [values, np.array(pads)])
    assert built.run(None, {"x": values})[0].tobytes() == expected.tobytes()


# --- its options, its names, and onnxruntime's own way to register it ------------------------------------------------


@pytest.mark.parametrize(("given", "message"), [
    ({"claim": "some"}, "PadopsExecutionProvider: option claim is 'some', expected all or needed"),
    ({"float16": ""}, "PadopsExecutionProvider: option float16 is '', expected leave or native"),
    ({"clam": "all"}, "PadopsExecutionProvider: there is no option clam, only claim, float16 and in_front"),
])  # fmt: skip
def test_options_that_are_wrong(given: dict[str, str], message: str) -> None:
    """Callers who do not use padops.register get the same from the library."""
    with pytest.raises(Exception, match=message):
        session(pad([1, 1]), given)
    made = onnxruntime.SessionOptions()
    made.add_provider_for_devices([placing.register_provider_library()[EP_NAME]], given)
    with pytest.raises(Exception, match=message):
        onnxruntime.InferenceSession(pad([1, 1]).SerializeToString(), made, enable_fallback=0)


def test_what_register_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="provider_options are {'claim': 'all'}, but provider is not True"):
        padops.register(onnxruntime.SessionOptions(), provider_options={"claim": "all"})
    monkeypatch.setattr(onnxruntime, "__version__", "1.23.2")
    message = "needs onnxruntime 1.24 or newer, this is 1.23.2; 'padops convert' and padops.register(options) work with"
    with pytest.raises(RuntimeError, match=re.escape(f"padops' execution provider {message}")):
        padops.register(onnxruntime.SessionOptions(), provider=True)


HEAD = """
import numpy as np, onnxruntime, padops, sys
sys.path.insert(0, sys.argv[1])
from provider_sessions import pad
model = pad([1, 1], "edge", 13, "int16[n]").SerializeToString()
options, is_old = onnxruntime.SessionOptions(), onnxruntime.__version__.startswith("1.24.")
theirs = lambda: onnxruntime.register_execution_provider_library("padops", padops.get_library_path())
names = [padops.get_ep_name(), "CPUExecutionProvider"]
"""
WAYS = {
    "theirs first": """theirs()
if is_old:
    for name in names:
        options.add_provider_for_devices([d for d in onnxruntime.get_ep_devices() if d.ep_name == name], {})
    session = onnxruntime.InferenceSession(model, options)
else:
    session = onnxruntime.InferenceSession(model, providers=[(names[0], {"claim": "needed"}), names[1]])
padops.InferenceSession(model)  # the library is there already
""",
    "padops first": """padops.InferenceSession(model)
theirs()
padops.InferenceSession(model)
if not is_old:
    onnxruntime.InferenceSession(model, providers=names, enable_fallback=0)
padops.register(options, provider=True)
session = onnxruntime.InferenceSession(model, options, enable_fallback=0)
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_runtimes_own_way(way: str, request: pytest.FixtureRequest) -> None:
    """Both ways in one process, in either order; it ends well with a session that lives."""
    code = HEAD + WAYS[way] + 'print(session.run(None, {"x": np.array([1, 2], np.int16)})[0].tolist())'
    command = [sys.executable, "-c", code, str(request.config.rootpath / "tests" / "models")]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[1, 1, 2, 2]\n", "")
