"""Whether runs exercise each Pad, wherever it stands, find each one made wrong, and which outputs have told nothing."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import fetch_models
import numpy as np
import onnx
import pytest
from planted_breaks import broken_models
from written_models import model

import padops
from padops.convert import PadComparison, UndecidedError, Verification
from padops.convert.verify import compare, sessions

ZERO = "(float[2, 3] x) => (float[a, b] y) <int64[4] p = {0, 1, 0, 1}, float o = {0}> "


def made(text: str, mode: str) -> onnx.ModelProto:
    return model(text.replace("MODE", f'mode = "{mode}"'))


def only_pad(verification: Verification) -> PadComparison:
    (one,) = verification.pads
    return one


HELD = "<int64[4] pads = {0, 1, 0, 1}>"
BRANCHES = """If (c) <then_branch = t () => (float[a, b] p) { THEN },
    else_branch = e () => (float[a, b] z) { z = Identity (x) }>"""
LOOP = """[loop] e = Loop (turns, , x) <body = l (int64 i, bool go, float[a, b] s) => (bool on, float[a, d] p) {
    on = Identity (go) [pad] p = Pad <MODE> (s, pads) }>"""
# The Pad of the loop grows its data in each turn; the function has two calls, one in a branch of another function.
INSIDE = {
    "graph/if.then_branch/pad": f"(float[2, 3] x, bool c) => (float[r, s] y) {HELD} {{ [if] y = "
    + BRANCHES.replace("THEN", "[pad] p = Pad <MODE> (x, pads)") + "}",
    "graph/loop.body/pad": f"(float[2, 3] x, int64 turns) => (float[r, s] e) {HELD} {{ {LOOP} }}",
    "graph/outer.body/loop.body/pad": f"(float[2, 3] x, int64 turns) => (float[r, s] y) {HELD} {{ [outer] y = "
    f"Loop (turns, , x) <body = o (int64 j, bool g2, float[f, g] t) => (bool o2, float[h, k] e) {{ o2 = Identity (g2) "
    f"{LOOP.replace(', , x)', ', , t)')} }}> }}",
    "graph/scan.body/pad": "(float[2, 3] x) => (float[r, s] y) <int64[2] ends = {1, 1}> { [scan] y = Scan "
    "<num_scan_inputs = 1, body = b (float[3] row) => (float[5] p) { [pad] p = Pad <MODE> (row, ends) }> (x) }",
    "function other::Block/pad": """(float[2, 3] x, bool c) => (float[r, s] a, float[t, u] y) {
        a = other.Block (x) y = other.Outer (x, c) }
        <domain: "other", opset_import: ["" : 18]> Block (x) => (y) {
            pads = Constant <value_ints = [0, 1, 0, 1]> () [pad] y = Pad <MODE> (x, pads) }
        <domain: "other", opset_import: ["" : 18, "other" : 1]> Outer (x, c) => (y) { y = """
    + BRANCHES.replace("THEN", "p = other.Block (x)") + "}",
}  # fmt: skip


@pytest.mark.parametrize("path", INSIDE)
def test_a_pad_inside(path: str) -> None:
    source, other = (made(INSIDE[path], mode) for mode in ("edge", "reflect"))
    good = padops.verify(source, padops.convert(source).proto(), run=True)
    assert (good.verdict, good.outcome, only_pad(good)) == ("proved", "equal", PadComparison(path, "Pad", "exercised"))
    assert padops.verify(source, other, run=True).outcome == "different"


def test_a_pad_that_no_output_shows_is_no_difference() -> None:
    text = ZERO + "{ q = Pad <MODE> (x, p) y = Mul (q, o) }"
    verification = padops.verify(*(made(text, mode) for mode in ("reflect", "edge")))
    assert verification.verdict == "unknown" and not verification.refuted


def test_weak_outputs() -> None:
    source = model("""(float[2, 3] x)
        => (float[a, b] none, float[c, d] nan, float[e, f] empty, float[g, h] y)
        <int64[4] pads = {0, 1, 0, 1}, int64[1] o = {0}> {
        p = Pad (x, pads) none = Sub (p, p) nan = Div (none, none) empty = Slice (p, o, o) y = Relu (p) }""")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    verification = padops.convert(source, verify=True, run=True, inputs={"x": x}).verification
    assert verification.outcome == "equal"
    zero, nan = (f"every element is {value} in every run" for value in ("0.0", "nan"))
    weak = {"none": zero, "nan": nan, "empty": "it is empty in every run", "y": ""}
    assert [(output.name, output.weak) for output in verification.outputs] == [*weak.items()]
    assert verification.doubts[0] == "output none is weak: every element is 0.0 in every run"


def test_an_output_of_one_value_is_weak(unproved: None, tmp_path: Path) -> None:
    text = ZERO + "{ d = Mul (x, o) y = Pad <MODE> (d, p) }"
    asked = {"verify": True, "run": True, "strict": True, "inputs": {"x": np.ones((2, 3), np.float32)}}
    weak = "output y is weak: every element is 0.0 in every run, and 1 more"
    with pytest.raises(UndecidedError, match=weak) as caught:
        padops.convert(made(text, "reflect"), tmp_path / "m.onnx", report=tmp_path / "r.json", **asked)
    assert caught.value.exit_code == 5
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(("pads", "detail"), [
    ([0, 0, 0, 0], "it padded nothing in any run"), ([0, 0, 0, -3], "its output was empty in every run"),
])  # fmt: skip
def test_a_pad_that_does_nothing(pads: list[int], detail: str) -> None:
    source = model("(float[2, 3] x, int64[4] p) => (float[a, b] y) { y = Pad (x, p) }")
    given = {"x": np.ones((2, 3), np.float32), "p": np.array(pads)}
    verification = padops.convert(source, verify=True, run=True, inputs=given).verification
    one = only_pad(verification)
    assert (one.exercise, one.detail) == ("not exercised", detail)
    assert f"{one.path} is not exercised: {detail}" in verification.doubts


def test_a_pad_that_is_known_to_do_nothing_is_no_doubt() -> None:
    source = model("""(float[2, 3] x) => (float[a, b] y) <int64[4] p = {0, 0, 0, 0}> {
        r = Relu (x) q = Pad (r, p) y = Neg (q) }""")
    for fold in (False, True):
        assert padops.convert(source, fold=fold, verify=True, run=True, strict=True).verification.doubts == ()


def test_a_branch_that_no_draw_takes() -> None:
    source = made(INSIDE["graph/if.then_branch/pad"], "reflect")
    given = {"x": np.ones((2, 3), np.float32), "c": np.array(False)}
    one = only_pad(padops.verify(source, source, given, run=True))
    assert (one.exercise, one.detail) == ("not exercised", "it never ran")


def test_a_pad_without_a_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    source = model("""(float[2, 3] x) => (float[a, b] y, float[c, d] z)
        <int64[4] o = {0, 0, 0, 0}, int64[4] p = {0, 1, 0, 1}> { y = Pad (x, o) z = Pad (x, p) }""")
    scout = compare.Scout(sessions.Model(Path("m.onnx"), source))
    assert [one.detail for one in scout.pads] == ["", "it never ran"]
    monkeypatch.setattr(compare, "Session", Mock(side_effect=sessions.DoesNotRun("no kernel")))
    scout.look([{}])
    failed = "without graph optimisation, ONNX Runtime does not run the model: no kernel"
    assert [one.detail for one in scout.pads] == ["", failed]


def test_sizes_at_which_a_pad_does_something_are_found() -> None:
    """As a U-Net pads: by the difference of an odd size and twice its half."""
    text = """(float[1, 1, h, w] x) => (float[1, 1, a, b] y) <int64[2] two = {2, 2}, float[4] scales = {1, 1, 2, 2}> {
      d = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) s = Shape <start = 2> (x)
      t = Shape <start = 2> (d) u = Mul (t, two) left = Sub (s, u)
      none = Constant <value_ints = [0, 0, 0, 0, 0, 0]> () p = Concat <axis = 0> (none, left)
      up = Resize <mode = "nearest"> (d, , scales) z = Pad <MODE> (up, p) y = Add (z, x) }"""
    source = made(text, "edge")
    assert only_pad(padops.verify(source, source, run=True)).exercise == "exercised"
    assert padops.verify(source, made(text, "wrap")).verdict == "different"


ROOT = Path(__file__).resolve().parents[3]
# A few examples and a real one; tests/long/long_proof_cases.py has others, with up to 48 breaks of seconds each.
BREAKABLE = [*sorted((ROOT / "models").glob("*.onnx"))[::4], Path("onnx-asr/kaldi.onnx")]


@pytest.mark.parametrize("path", BREAKABLE, ids=lambda path: path.name)
def test_every_break_of_a_model_is_found(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "MANY", 8)
    source = path if path.exists() else fetch_models.fetch(["onnx-asr"])[str(path)]
    whole = padops.verify(source, padops.convert(source).proto(), run=True)
    assert (whole.outcome, whole.doubts) == ("equal", ())
    breaks = list(broken_models(padops.convert(source, fold=False, fallback=False).proto()))
    assert len(breaks) == 2 * len({what.split(": ")[0] for what, _ in breaks}) > 0
    assert [what for what, broken in breaks if padops.verify(source, broken, run=True).passed] == []
