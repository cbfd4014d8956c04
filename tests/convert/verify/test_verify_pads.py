"""``verify`` compares what each Pad gives, wherever it stands, and says which Pads and outputs have told nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from small_models import BOOL, FLOAT, INT64, Value, convert, graph, model, pad, tensor

import padops
from padops.convert import PadComparison, UndecidedError, Verification, VerificationError
from padops.convert.verify import inside, probes, process_copy

PADS = tensor("pads", [0, 1, 0, 1])
ZERO = tensor("zero", 0.0, np.float32)
HIDING = helper.make_node("Mul", ["p", "zero"], ["y"])  # what the Pad gives shows in no output


def hidden_pad(mode: str = "reflect", opset: int = 17) -> list[onnx.NodeProto]:
    return [pad(output="p", name="pad", mode=mode), HIDING]


def hiding(mode: str, **parts: Any) -> onnx.ModelProto:
    return model(hidden_pad(mode), tensors=[PADS, ZERO], **parts)


def only_pad(verification: Verification) -> PadComparison:
    (one,) = verification.pads
    return one


def test_a_pad_that_no_output_shows() -> None:
    verification = padops.verify(hiding("reflect"), hiding("edge"), run=True)
    assert (verification.outcome, verification.passed) == ("different", False)
    (output,) = verification.outputs
    assert output.equal and output.weak == "every element is 0.0 in every run" or not output.equal
    one = only_pad(verification)
    assert (one.path, one.form, one.exercise, one.equal, one.compared) == (
        "graph/pad",
        "Pad",
        "exercised",
        False,
        ("p",),
    )
    assert one.detail.startswith("p: 4 of 10 elements, first at [0, 0]: ")
    assert only_pad(padops.verify(hiding("reflect"), hiding("reflect"), run=True)).equal


def test_a_conversion_that_no_output_shows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without NaN, whose product with 0 would show: the inputs are given."""
    from padops.convert.targets import TARGETS

    real = TARGETS["padops"]

    def emit(replacement: Any, found: Any, constants: Any, types: Any) -> None:
        real(replacement, found, constants, types)
        del found.node.attributes["mode"]

    monkeypatch.setitem(TARGETS, "padops", emit)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    text = "1 Pad gives something else, though all outputs agree; graph/pad: p: 3 of 10 elements"
    with pytest.raises(VerificationError, match=text):
        padops.convert(hiding("edge"), tmp_path / "m.onnx", verify=True, run=True, inputs={"x": x})
    assert list(tmp_path.iterdir()) == []


def in_if(mode: str) -> onnx.ModelProto:
    then_branch = graph(hidden_pad(mode), [], [("y", FLOAT, None)], name="then")
    else_branch = graph([helper.make_node("Identity", ["x"], ["z"])], [], [("z", FLOAT, None)], name="else")
    node = helper.make_node("If", ["c"], ["r"], name="if", then_branch=then_branch, else_branch=else_branch)
    return model([node], inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], outputs=[("r", FLOAT, None)],
                 tensors=[PADS, ZERO])  # fmt: skip


def in_loop(mode: str, opset: int = 17) -> onnx.ModelProto:
    """The Pad's output grows from turn to turn."""
    nodes = [helper.make_node("Identity", ["go"], ["on"]), pad(["s", "pads"], "p", name="pad", mode=mode)]
    given: list[Value] = [("i", INT64, []), ("go", BOOL, []), ("s", FLOAT, ["a", "b"])]
    body = graph(nodes, given, [("on", BOOL, []), ("p", FLOAT, ["a", "c"])], name="body")
    loop = helper.make_node("Loop", ["turns", "", "x"], ["e"], name="loop", body=body)
    hide = helper.make_node("Shape", ["e"], ["y"])
    return model([loop, hide], opset, inputs=[("x", FLOAT, [2, 3]), ("turns", INT64, [])], outputs=[("y", INT64, None)],
                 tensors=[PADS])  # fmt: skip


def in_scan(mode: str) -> onnx.ModelProto:
    nodes = [pad(["row", "ends"], "p", name="pad", mode=mode), helper.make_node("Mul", ["p", "zero"], ["o"])]
    body = graph(nodes, [("row", FLOAT, [3])], [("o", FLOAT, [5])], name="body")
    scan = helper.make_node("Scan", ["x"], ["y"], name="scan", body=body, num_scan_inputs=1)
    return model([scan], tensors=[tensor("ends", [1, 1]), ZERO])


def in_function(mode: str) -> onnx.ModelProto:
    """Two calls, one of them in a branch that a function of its own calls."""
    constants = [helper.make_node("Constant", [], [one.name], value=one) for one in (PADS, ZERO)]
    default = [helper.make_opsetid("", 17), helper.make_opsetid("custom", 1)]
    block = helper.make_function("custom", "Block", ["x"], ["y"], [*constants, *hidden_pad(mode)], default)
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
    assert (good.outcome, only_pad(good)) == ("equal", PadComparison(path, "Pad", "exercised", True, ("p",)))
    assert (broken.outcome, only_pad(broken).equal) == ("different", False)


def test_a_pad_that_grows_in_a_loop_of_opset_11() -> None:
    """That has no sequences to hand on, and scan outputs of several shapes do not exist."""
    source = in_loop("reflect", 11)
    one = only_pad(padops.verify(source, source, run=True))
    assert one.exercise == "not exercised"
    assert one.detail.startswith("ONNX Runtime does not run the models with it as an output: ")


def test_a_pad_in_a_loop_in_a_loop_is_out_of_reach() -> None:
    inner = in_loop("edge").graph.node[0]
    inner.input[2] = "t"
    body = graph([inner, helper.make_node("Identity", ["go2"], ["on2"])],
                 [("j", INT64, []), ("go2", BOOL, []), ("t", FLOAT, None)],
                 [("on2", BOOL, []), ("e", FLOAT, None)], name="outer")  # fmt: skip
    loop = helper.make_node("Loop", ["turns", "", "x"], ["y"], name="outer", body=body)
    source = model([loop], inputs=[("x", FLOAT, [2, 3]), ("turns", INT64, [])], tensors=[PADS])
    verification = padops.convert(source, verify=True, run=True).verification
    assert only_pad(verification).detail == "it stands in a loop inside of a loop"
    assert verification.outcome == "equal" and len(verification.doubts) == 1


def test_a_convolution_that_has_taken_a_pad_in() -> None:
    rng = np.random.default_rng(0)
    weights = tensor("w", rng.standard_normal((4, 3, 3, 3)), np.float32)
    nodes = [pad(output="p", name="pad"), helper.make_node("Conv", ["p", "w"], ["c"], name="conv"),
             helper.make_node("Mul", ["c", "zero"], ["y"])]  # fmt: skip
    source = model(nodes, inputs=[("x", FLOAT, [1, 3, 9, 9])],
                   tensors=[tensor("pads", [0, 0, 1, 1, 0, 0, 1, 1]), weights, ZERO])  # fmt: skip
    conversion = padops.convert(source, verify=True, run=True, strict=False)
    assert conversion.records[0].status == "folded"
    assert only_pad(conversion.verification) == PadComparison("graph/pad", "Pad", "exercised", True, ("c",))
    broken = conversion.proto()
    pads = next(a.ints for a in broken.graph.node[0].attribute if a.name == "pads")
    pads[0], pads[2] = 2, 0
    assert only_pad(padops.verify(source, broken, run=True)).detail.startswith("c: ")
    assert padops.verify(source, broken, run=True).outcome == "different"


def test_convolutions_that_pad_otherwise_are_compared() -> None:
    """Neither model has a Pad there."""
    weights = tensor("w", np.ones((1, 1, 3)), np.float32)

    def one(pads: list[int]) -> onnx.ModelProto:
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=pads),
            helper.make_node("Mul", ["c", "zero"], ["y"]),
        ]
        return model(nodes, inputs=[("x", FLOAT, [1, 1, 9])], tensors=[weights, ZERO])

    verification = padops.verify(one([1, 1]), one([2, 0]), run=True)
    assert (verification.outcome, only_pad(verification).path) == ("different", "graph/conv")
    assert padops.verify(one([1, 1]), one([1, 1]), run=True).pads == ()


# --- What has told nothing -------------------------------------------------------------------------------------------


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
        ("nan", "every element is NaN in every run"),
        ("empty", "it is empty in every run"),
        ("y", ""),
    ]
    assert verification.doubts[0] == "output none is weak: every element is 0.0 in every run"


def test_a_pad_of_one_value_is_weak(unproved: None, tmp_path: Path) -> None:
    """Every mode would give the same."""
    source = model([helper.make_node("Mul", ["x", "zero"], ["d"]), pad(["d", "pads"], name="pad", mode="reflect")],
                   tensors=[PADS, ZERO])  # fmt: skip
    x = {"x": np.ones((2, 3), np.float32)}
    conversion = padops.convert(source, tmp_path / "m.onnx", verify=True, run=True, inputs=x)
    assert only_pad(conversion.verification).exercise == "weak"
    (tmp_path / "m.onnx").unlink()
    text = (
        "it could not be told whether the models agree: output y is weak: every element is 0.0 in every run, and 2 more"
    )
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


def test_models_without_a_name_in_common() -> None:
    other = model([pad(output="q"), helper.make_node("Mul", ["q", "zero"], ["y"])], tensors=[PADS, ZERO])
    verification = padops.verify(hiding("constant"), other, run=True)
    assert {pad.compared for pad in verification.pads} == {("y",)}
    alone = model([pad(), pad(output="unread", mode="edge")], tensors=[PADS])
    verification = padops.verify(alone, model([pad()], tensors=[PADS]), run=True)
    assert verification.outcome == "equal"
    assert verification.pads[1].detail.startswith("there is nothing to compare it with")


def test_what_takes_too_much_memory_is_compared_in_parts_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two Pads of 80 and 160 bytes of the largest elements."""
    nodes = [pad(output="p"), pad(["p", "more"], "q"), helper.make_node("Relu", ["q"], ["y"])]
    source = model(nodes, tensors=[PADS, tensor("more", [0, 2, 0, 3])])
    runs = []
    real = inside._compare_group
    monkeypatch.setattr(process_copy, "can_copy", lambda: False)  # what a copy of this process does is not seen here
    monkeypatch.setattr(inside, "_compare_group", lambda *given: runs.append(len(given[2])) or real(*given))
    converted = convert(source).proto()
    for bound, groups in ((240, [2]), (239, [1, 1]), (159, [1])):
        monkeypatch.setattr(inside, "AT_ONCE", bound)
        runs.clear()
        verification = padops.verify(source, converted, run=True)
        assert runs == groups
    assert [one.exercise for one in verification.pads] == ["exercised", "not exercised"]
    assert verification.pads[1].detail == "comparing it takes 160 bytes of memory, more than 159"


def test_a_probe_leaves_the_model_as_it_is() -> None:
    source = in_if("edge")
    before = source.SerializeToString()
    probed = probes.Probed(source)
    place = probes.Place(None, (("r", "then_branch"),))
    assert probed.expose_shape(place, "p") != probed.expose(place, "p", FLOAT)
    assert source.SerializeToString() == before
    assert [output.name for output in probed.model.graph.output][0] == "r" and len(probed.model.graph.output) == 3
