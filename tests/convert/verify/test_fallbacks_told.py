"""What is told of functions that run where padops is absent: an assumption, a part of its own, or a difference."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import helper

from padops.convert.proof import bodies
from padops.convert.proof.result import Region, Verdict
from padops.convert.verify import proving

BODY = helper.make_function(
    "padops", "Pad_18", ["x", "p"], ["y"], [helper.make_node("Pad", ["x", "p"], ["y"])], [helper.make_opsetid("", 18)]
)
NAME = "function body Pad_18, as y calls it"


def saved(path: Path, functions: list[onnx.FunctionProto]) -> Path:
    values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", values[:1], values[1:])
    path.write_bytes(helper.make_model(graph, functions=functions, ir_version=9).SerializeToString())
    return path


@pytest.mark.parametrize(
    "verdict, lost, expected, assumed",
    [
        (Verdict.PROVED, False, "proved", False),
        (Verdict.UNKNOWN, False, "proved", True),
        (Verdict.UNKNOWN, True, "unknown", False),
        (Verdict.DIFFERENT, False, "different", False),
        (Verdict.DIFFERENT, True, "different", False),
    ],
)
def test_a_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, lost: bool, expected: str, assumed: bool
) -> None:
    """An unproved body becomes an assumption, unless it is one of the original that the conversion lost or changed."""
    region = Region(
        verdict, "function body", why="the time is over", name=NAME, original=("Pad_18",), converted=("Pad",)
    )
    monkeypatch.setattr(proving, "prove_bodies", lambda *given: (region,))
    monkeypatch.delattr(bodies, "prove_bodies")  # what is proved of the graphs asks nothing of the bodies
    first = saved(tmp_path / "a.onnx", [BODY])
    record, examples = proving.proved(first, saved(tmp_path / "b.onnx", [] if lost else [BODY]))
    assert (record.verdict, examples) == (expected, [])
    told = f"{NAME} does what its operator does; it runs where padops is absent, and is not proved: the time is over"
    assert record.assumptions == ((told,) if assumed else ())
    assert [row.name for row in record.regions] == ([] if assumed else [NAME])
