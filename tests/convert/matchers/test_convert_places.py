"""Pads wherever a model can hold them: at every depth, in lists of graphs, beside names of all kinds."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from nested_models import PADS, branch, checked, nested, paths
from onnx import helper
from small_models import (
    BOOL,
    FLOAT,
    INT32,
    INT64,
    convert,
    graph,
    model,
    pad,
    same_but_for_the_pads,
)

MODELS = Path(__file__).resolve().parents[3] / "models"


def test_every_depth() -> None:
    source = nested(3)
    conversion = convert(source, verify=True, run=True)
    assert conversion.verification.outcome == "equal"
    assert same_but_for_the_pads(source, checked(conversion))
    assert paths(conversion) == [
        "graph/outer.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/If_0.else_branch/Pad_0",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/If_0.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/If_0.then_branch/p",
        "graph/outer.then_branch/p",
        "graph/loop.body/scan.body/Pad_0",
        "graph/loop.body/in_loop",
    ]
    assert [record.name for record in conversion.records if record.name] == ["p", "p", "p", "p", "in_loop"]


def test_graphs_in_a_list_and_names_that_are_not_unique() -> None:
    bodies = [branch(f"b{i}", [pad(output=f"b{i}")]) for i in range(2)]
    nodes = [helper.make_node("Choose", ["x"], ["c"], domain="d", branches=bodies), pad(["c", "pads"], "z", name="p"),
             pad(["z", "pads"], name="p")]  # fmt: skip
    source = model(nodes, 17, imports=[("d", 1)], tensors=[PADS])
    conversion = convert(source)
    assert paths(conversion) == [
        "graph/Choose_0.branches[0]/Pad_0",
        "graph/Choose_0.branches[1]/Pad_0",
        "graph/p[1]",
        "graph/p[2]",
    ]
    assert same_but_for_the_pads(source, conversion.proto())


def test_new_constants_hide_nothing() -> None:
    """The names that come to mind first are those of an outer value, an inner one, and a node."""
    then_branch = branch("t", [pad(["x"], "t", pads=[0, 1, 0, 2], mode="wrap"),
                               helper.make_node("Identity", ["t_pads"], ["t_pads_2"])])  # fmt: skip
    else_branch = branch("e", [helper.make_node("Identity", ["x"], ["e"], name="t_pads_3")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    source = model([helper.make_node("Identity", ["x"], ["t_pads"]), node], 17,
                   inputs=[("x", FLOAT, [2, 3]), ("c", BOOL, [])], outputs=[("y", FLOAT, [None, None])])  # fmt: skip
    proto = checked(convert(source, verify=True, run=True))
    made = next(a.g for a in proto.graph.node[1].attribute if a.name == "then_branch")
    assert [t.name for t in made.initializer] == ["t_pads_4"]
    assert list(made.node[0].input) == ["x", "t_pads_4"]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.onnx")), ids=lambda path: path.stem)
def test_twice_is_once(path: Path) -> None:
    once = convert(path)
    assert {record.status for record in once.records} == {"converted"}
    twice = convert(once.proto())
    assert twice.proto().SerializeToString() == once.proto().SerializeToString()
    assert [r.path for r in twice.records] == paths(once)
    assert {record.status for record in twice.records} == {"already converted"}
    assert [r.op_type for r in twice.records] == [r.op_type for r in once.records]
    assert twice.notes == ("nothing had to be changed",)
    assert same_but_for_the_pads(onnx.load(path), once.proto())
    checked(once)


def test_an_int32_model_runs_in_every_place() -> None:
    """New constants in a branch, of the type of the data."""
    then_branch = graph([pad(["x"], "t", pads=[0, 1, 0, 2], value=5.0)], [], [("t", INT32, None)], name="then")
    else_branch = graph([helper.make_node("Identity", ["x"], ["e"])], [], [("e", INT32, None)], name="else")
    node = helper.make_node("If", ["c"], ["y"], then_branch=then_branch, else_branch=else_branch)
    source = model([node], 13, inputs=[("x", INT32, [2, 3]), ("c", BOOL, [])], outputs=[("y", INT32, None)])
    conversion = convert(source, verify=True, run=True)
    assert conversion.verification.outcome == "runs"
    proto = conversion.proto()
    made = next(a.g for a in proto.graph.node[0].attribute if a.name == "then_branch")
    assert [(t.name, t.data_type, list(t.dims)) for t in made.initializer] == [
        ("t_pads", INT64, [4]),
        ("t_constant_value", INT32, []),
    ]
