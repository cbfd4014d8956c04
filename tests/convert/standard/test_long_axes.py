"""Axes that are too long for their positions to be listed in a model: they are computed in a run, or the Pad stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import standard_models as standard
from case_strategies import Case
from onnx import helper
from small_models import FLOAT, model

import padops
from padops.convert.standard import graph_builder as numbers


def test_an_interior_of_a_billion_is_computed_at_once(tmp_path: Path) -> None:
    """A list of its positions took hours, and gigabytes."""
    lists = {"padding_below": [0], "padding_above": [0], "padding_interior": [999_999_999]}
    node = helper.make_node("Pad", ["x", "v"], ["y"], domain="ngraph", **lists)
    source, target = tmp_path / "pad.onnx", tmp_path / "lowered.onnx"
    made = model([node], 18, inputs=[("x", FLOAT, [2]), ("v", FLOAT, [])], imports=[("ngraph", 1)])
    source.write_bytes(made.SerializeToString())
    command = [sys.executable, "-m", "padops", "convert", str(source), str(target), "--target", "onnx"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert target.stat().st_size < 2000
    assert {"Range", "Gather"} <= {node.op_type for node in onnx.load(target).graph.node}


@pytest.mark.parametrize("kind", [np.float32, np.uint16, object])
@pytest.mark.parametrize("interior", [[2, 0], [0, 3], [1, 1]])
@pytest.mark.parametrize("sides", [([0, 0], [0, 0]), ([1, 2], [2, 0]), ([-1, 0], [0, -1]), ([-20, 0], [30, 0])])
def test_computed_positions_are_the_listed_ones(
    kind: type, interior: list[int], sides: tuple[list[int], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = np.arange(12).reshape(3, 4).astype(kind if kind is not object else str).astype(kind)
    fill = np.array("f", object) if kind is object else np.array(7, kind)
    attributes = {"padding_below": sides[0], "padding_above": sides[1], "padding_interior": interior}
    case = Case("NGraphPad_0", attributes, [data, fill])
    expected = standard.expected_of(case)
    for listed in (numbers.MAX_LISTED, 4):
        monkeypatch.setattr(numbers, "MAX_LISTED", listed)
        source, feeds = standard.make([case], 18, "full", "nothing")
        lowered = padops.lower(source, fold=False).proto()
        assert any(node.op_type == "Range" for node in lowered.graph.node) == (listed == 4)
        assert standard.run(lowered, feeds, standard.stock_options()) == expected
