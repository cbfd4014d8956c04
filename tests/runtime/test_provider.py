"""The execution provider: every Pad of models that are left as they are."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx_pads import numpy_pad
from provider_sessions import EP_NAME, ROW, model, onnxruntime_minor, pad, providers_of_pads, session

from padops.runtime.ort_values import run_session
from padops.spec import reference
from padops.spec.dtypes import DTYPES, to_bytes


def check(built: onnxruntime.InferenceSession, feeds: dict, expected: np.ndarray, pads: int = 1) -> None:
    """The provider runs each Pad, and the bits are those."""
    assert providers_of_pads(built) == [EP_NAME] * pads
    output = run_session(built, feeds)[0]
    assert (output.shape, output.dtype) == (expected.shape, expected.dtype)
    if expected.dtype == object:
        assert output.tolist() == expected.tolist()
    else:
        assert to_bytes(output) == to_bytes(expected)


# --- what stock onnxruntime refuses or gets wrong
# ------------------------------------------------------------------------


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
        model("g (float[n] x, int64[2] p, float c, int32[1] axes) => (float[o] y) { y = Pad (x, p, c, axes) }")
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
        " y = Scan <num_scan_inputs = 1, body = b (int16[4] r) => (int16[s] o) "
        '{ o = Pad <mode = "reflect"> (r, p) }> (x) }',
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
