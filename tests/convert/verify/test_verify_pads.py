"""Whether runs exercise each Pad, wherever it stands, and which outputs have told nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT64, Value, graph, model, pad, tensor

import padops
from padops.convert import PadComparison, UndecidedError, Verification

PADS = tensor("pads", [0, 1, 0, 1])
ZERO = tensor("zero", 0.0, np.float32)


def only_pad(verification: Verification) -> PadComparison:
    (one,) = verification.pads
    return one


def in_if(mode: str) -> onnx.ModelProto:
    then_branch = graph([pad(output="p", name="pad", mode=mode)], [], [("p", FLOAT, None)], name="then")
    else_branch = graph([helper.make_node("Identity", ["x"], ["z"])], [], [("z", FLOAT, None)], name="else")
    node = helper.make_node("If", ["c"], ["r"], name="if", then_branch=then_branch, else_branch=else_branch)
    return model([node], inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], outputs=[("r", FLOAT, None)],
                 tensors=[PADS])  # fmt: skip


def in_loop(mode: str, opset: int = 17) -> onnx.ModelProto:
    """The Pad's output grows from turn to turn."""
    nodes = [helper.make_node("Identity", ["go"], ["on"]), pad(["s", "pads"], "p", name="pad", mode=mode)]
    given: list[Value] = [("i", INT64, []), ("go", BOOL, []), ("s", FLOAT, ["a", "b"])]
    body = graph(nodes, given, [("on", BOOL, []), ("p", FLOAT, ["a", "c"])], name="body")
    loop = helper.make_node("Loop", ["turns", "", "x"], ["e"], name="loop", body=body)
    return model([loop], opset, inputs=[("x", FLOAT, [2, 3]), ("turns", INT64, [])], outputs=[("e", FLOAT, None)],
                 tensors=[PADS])  # fmt: skip


def in_scan(mode: str) -> onnx.ModelProto:
    nodes = [pad(["row", "ends"], "p", name="pad", mode=mode)]
    body = graph(nodes, [("row", FLOAT, [3])], [("p", FLOAT, [5])], name="body")
    scan = helper.make_node("Scan", ["x"], ["y"], name="scan", body=body, num_scan_inputs=1)
    return model([scan], tensors=[tensor("ends", [1, 1])])


def in_function(mode: str) -> onnx.ModelProto:
    """Two calls, one of them in a branch that a function of its own calls."""
    default = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    nodes = [helper.make_node("Constant", [], ["pads"], value=PADS), pad(name="pad", mode=mode)]
    block = helper.make_function("custom", "Block", ["x"], ["y"], nodes, default)
    inner = graph([helper.make_node("Block", ["x"], ["t"], domain="custom")], [], [("t", FLOAT, None)], name="then")
    other = graph([helper.make_node("Identity", ["x"], ["e"])], [], [("e", FLOAT, None)], name="else")
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other)
    outer = helper.make_function("custom", "Outer", ["x", "c"], ["y"], [node], default)
    nodes = [helper.make_node("Block", ["x"], ["a"], domain="custom"),
             helper.make_node("Outer", ["x", "c"], ["y"], domain="custom")]  # fmt: skip
    return model(nodes, functions=[block, outer], imports=[("custom", 1)],
                 inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])],
                 outputs=[("a", FLOAT, None), ("y", FLOAT, None)])  # fmt: skip


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (in_if, "graph/if.then_branch/pad"),
        (in_loop, "graph/loop.body/pad"),
        (in_scan, "graph/scan.body/pad"),
        (in_function, "function custom::Block/pad"),
    ],
    ids=["if", "loop", "scan", "function"],
)
def test_a_pad_inside(make: Any, path: str) -> None:
    source = make("reflect")
    good, broken = (
        padops.verify(source, padops.convert(source).proto(), run=True),
        padops.verify(source, make("edge"), run=True),
    )
    assert (good.verdict, good.outcome, only_pad(good)) == ("proved", "equal", PadComparison(path, "Pad", "exercised"))
    assert broken.outcome == "different"


def test_a_loop_in_a_loop_is_seen() -> None:
    inner = in_loop("edge").graph.node[0]
    inner.input[2] = "t"
    body = graph([inner, helper.make_node("Identity", ["go2"], ["on2"])],
                 [("j", INT64, []), ("go2", BOOL, []), ("t", FLOAT, None)],
                 [("on2", BOOL, []), ("e", FLOAT, None)], name="outer")  # fmt: skip
    loop = helper.make_node("Loop", ["turns", "", "x"], ["y"], name="outer", body=body)
    source = model([loop], inputs=[("x", FLOAT, [2, 3]), ("turns", INT64, [])], tensors=[PADS])
    verification = padops.convert(source, verify=True, run=True).verification
    assert only_pad(verification).exercise == "exercised" and verification.outcome == "equal"


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
    source = in_if("reflect")
    given = {"x": np.ones((2, 3), np.float32), "c": np.array(False)}
    one = only_pad(padops.verify(source, source, given, run=True))
    assert (one.exercise, one.detail) == ("not exercised", "it never ran")
    assert only_pad(padops.verify(source, source, run=True)).exercise == "exercised"


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
