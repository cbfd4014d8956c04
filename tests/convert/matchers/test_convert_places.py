"""Pads wherever a model can hold them: at every depth, in lists of graphs, beside names of all kinds."""

from __future__ import annotations

from nested_models import PADS, branch, paths
from onnx import helper
from small_models import (
    convert,
    model,
    pad,
    same_but_for_the_pads,
)


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
