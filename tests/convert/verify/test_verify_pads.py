"""Whether runs exercise each Pad, wherever it stands, and which outputs have told nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
import written_models
from onnx import helper
from small_models import FLOAT, INT64, model, pad, tensor

import padops
from padops.convert import PadComparison, UndecidedError, Verification

PADS = tensor("pads", [0, 1, 0, 1])
ZERO = tensor("zero", 0.0, np.float32)


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
    source, other = (
        written_models.model(INSIDE[path].replace("MODE", f'mode = "{mode}"')) for mode in ("edge", "reflect")
    )
    good = padops.verify(source, padops.convert(source).proto(), run=True)
    assert (good.verdict, good.outcome, only_pad(good)) == ("proved", "equal", PadComparison(path, "Pad", "exercised"))
    assert padops.verify(source, other, run=True).outcome == "different"


def test_a_pad_that_no_output_shows_is_no_difference() -> None:
    """No input shows it, and no proof takes it."""
    one, other = (
        model([pad(output="p", mode=mode), helper.make_node("Mul", ["p", "zero"], ["y"])], tensors=[PADS, ZERO])
        for mode in ("reflect", "edge")
    )
    verification = padops.verify(one, other)
    assert verification.verdict == "unknown" and not verification.refuted


def test_weak_outputs() -> None:
    nodes = [pad(output="p"), helper.make_node("Sub", ["p", "p"], ["none"]),
             helper.make_node("Div", ["none", "none"], ["nan"]),
             helper.make_node("Slice", ["p", "from", "to"], ["empty"]),
             helper.make_node("Relu", ["p"], ["y"])]  # fmt: skip
    names = ("none", "nan", "empty", "y")
    source = model(nodes, outputs=[(name, FLOAT, None) for name in names],
                   tensors=[PADS, tensor("from", [0]), tensor("to", [0])])  # fmt: skip
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    verification = padops.convert(source, verify=True, run=True, inputs={"x": x}).verification
    assert verification.outcome == "equal"
    assert [(output.name, output.weak) for output in verification.outputs] == [
        ("none", "every element is 0.0 in every run"),
        ("nan", "every element is nan in every run"),
        ("empty", "it is empty in every run"),
        ("y", ""),
    ]
    assert verification.doubts[0] == "output none is weak: every element is 0.0 in every run"


def test_an_output_of_one_value_is_weak(unproved: None, tmp_path: Path) -> None:
    """Every mode would give the same."""
    source = model([helper.make_node("Mul", ["x", "zero"], ["d"]), pad(["d", "pads"], name="pad", mode="reflect")],
                   tensors=[PADS, ZERO])  # fmt: skip
    x = {"x": np.ones((2, 3), np.float32)}
    text = "output y is weak: every element is 0.0 in every run, and 1 more"
    with pytest.raises(UndecidedError, match=text) as caught:
        padops.convert(
            source, tmp_path / "m.onnx", verify=True, run=True, inputs=x, strict=True, report=tmp_path / "r.json"
        )
    assert caught.value.exit_code == 5
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


@pytest.mark.parametrize(
    ("pads", "shape", "detail"),
    [
        ([0, 0, 0, 0], (2, 3), "it padded nothing in any run"),
        ([0, 0, 0, -3], (2, 3), "its output was empty in every run"),
    ],
)
def test_a_pad_that_does_nothing(pads: list[int], shape: tuple[int, ...], detail: str) -> None:
    source = model([pad(name="pad")], inputs=[("x", FLOAT, [2, 3]), ("pads", INT64, [4])])
    given = {"x": np.ones(shape, np.float32), "pads": np.array(pads)}
    one = only_pad(padops.convert(source, verify=True, run=True, inputs=given).verification)
    assert (one.exercise, one.detail) == ("not exercised", detail)


def test_a_pad_that_is_known_to_do_nothing_is_no_doubt() -> None:
    source = model([helper.make_node("Relu", ["x"], ["r"]), pad(["r", "pads"], "p"),
                    helper.make_node("Neg", ["p"], ["y"])],
                   tensors=[tensor("pads", [0, 0, 0, 0])])  # fmt: skip
    for fold in (False, True):
        assert padops.convert(source, fold=fold, verify=True, run=True, strict=True).verification.doubts == ()


def test_a_branch_that_no_draw_takes() -> None:
    source = written_models.model(INSIDE["graph/if.then_branch/pad"].replace("MODE", 'mode = "reflect"'))
    given = {"x": np.ones((2, 3), np.float32), "c": np.array(False)}
    one = only_pad(padops.verify(source, source, given, run=True))
    assert (one.exercise, one.detail) == ("not exercised", "it never ran")


def test_sizes_at_which_a_pad_does_something_are_found() -> None:
    """As a U-Net pads: by the difference of an odd size and twice its half."""
    text = """<ir_version: 9, opset_import: ["" : 18]> g (float[1, 1, h, w] x) => (float[1, 1, a, b] y) {
      d = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) s = Shape <start = 2> (x)
      two = Constant <value_ints = [2, 2]> () t = Shape <start = 2> (d) u = Mul (t, two) left = Sub (s, u)
      none = Constant <value_ints = [0, 0, 0, 0, 0, 0]> () p = Concat <axis = 0> (none, left)
      scales = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> () up = Resize <mode = "nearest"> (d, , scales)
      z = Pad <mode = "edge"> (up, p) y = Add (z, x) }"""
    source = onnx.parser.parse_model(text)
    assert only_pad(padops.verify(source, source, run=True)).exercise == "exercised"
    broken = onnx.parser.parse_model(text.replace('"edge"', '"wrap"'))
    assert padops.verify(source, broken).verdict == "different"
