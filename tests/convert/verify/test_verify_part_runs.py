"""A part runs alone as it is written and within a time limit; the report claims no more than the run compared."""

from __future__ import annotations

import re
from itertools import count, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser
from small_models import BOOL, FLOAT, INT64, graph, model, pad, tensor

import padops
from padops.convert.proof.build import Builder
from padops.convert.proof.constants import Constants
from padops.convert.proof.result import DRAWN, Outcome, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.verify import isolated, process_copy
from padops.convert.verify.bits import Tolerance
from padops.convert.verify.cut import GIVEN, Side, cut
from padops.convert.verify.isolated import Cut, run_isolated
from padops.convert.verify.proving import run_part, tell
from padops.convert.verify.rounding import can_round

NODE = helper.make_node
PADS = tensor("pads", [0, 1, 0, 1])


def small(tmp_path: Path, op: str) -> Cut:
    """A side of a part that is one node."""
    made = model([NODE(op, ["x"], ["y"])], inputs=[("x", FLOAT, ["n"])], outputs=[("y", FLOAT, None)])
    path = tmp_path / f"{op}.onnx"
    path.write_bytes(made.SerializeToString())
    return Cut(path, made, "y")


def sides(tmp_path: Path, *models: onnx.ModelProto) -> tuple[Terms, list[Side]]:
    terms = Terms()
    constants, made = Constants(terms), []
    for number, source in enumerate(models):
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(source.SerializeToString())
        made.append(Side(path, source, Builder(terms, constants, source, tmp_path, set(), number == 0).build()))
    return terms, made


def ends(made: list[Side]) -> tuple[int, int]:
    one, other = (side.built.outputs[0][2] for side in made)
    return one, other


def test_a_part_is_run_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, optimised = isolated.Session, []

    def session(path: Path, **how: Any) -> isolated.Session:
        optimised.append(how["optimised"])
        return real(path, **how)

    monkeypatch.setattr(isolated, "Session", session)
    monkeypatch.setattr(process_copy, "can_copy", lambda: False)
    ran = run_isolated(small(tmp_path, "Abs"), small(tmp_path, "Relu"), [{"x": np.ones(2, np.float32)}], Tolerance())
    assert (ran.draws, ran.detail) == (1, "") and optimised == [False, False]


def test_a_part_runs_for_a_limited_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock says a second more whenever it is asked: once at the beginning, and once before each input."""
    clock = count()
    monkeypatch.setattr(isolated, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    inputs = repeat({"x": np.arange(-3, 3, dtype=np.float32)}, 9)
    ran = run_isolated(small(tmp_path, "Neg"), small(tmp_path, "Neg"), inputs, Tolerance(), patience=3)
    assert (ran.draws, ran.detail, ran.unreached) == (3, "", ())


def test_a_choice_of_one_branch_is_told(tmp_path: Path) -> None:
    branches = {
        f"{name}_branch": graph([NODE(op, ["x"], [name])], [], [(name, FLOAT, None)], name=name)
        for name, op in (("then", "Abs"), ("else", "Neg"))
    }
    nodes = [NODE("If", ["c"], ["y"], **branches), NODE("Identity", ["c"], ["choice c"])]
    inputs, outputs = [("x", FLOAT, ["n"]), ("c", BOOL, [])], [("y", FLOAT, None), ("choice c", BOOL, None)]
    made = model(nodes, inputs=inputs, outputs=outputs)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    side = Cut(tmp_path / "m.onnx", made, "y", ("choice c",))
    x = np.array([1.0, -2.0], np.float32)
    for taken, unreached in (([True, False], ()), ([False, False], ("c always chose the same branch",))):
        ran = run_isolated(side, side, [{"x": x, "c": np.array(way)} for way in taken], Tolerance())
        assert (ran.draws, ran.unreached) == (2, unreached)


def test_what_the_original_refuses_is_counted(tmp_path: Path) -> None:
    """Amounts that leave nothing to reflect, among others."""
    inputs = [("x", FLOAT, ["n", 3]), ("amounts", INT64, [4])]
    nodes = [NODE("Sin", ["x"], ["r"]), pad(["r", "amounts"], mode="reflect")]
    again = [NODE("Sin", ["x"], ["r"]), NODE("Neg", ["r"], ["s"]), NODE("Neg", ["s"], ["t"]),
             pad(["t", "amounts"], mode="reflect")]  # fmt: skip
    terms, made = sides(tmp_path, *(model(row, inputs=inputs, tensors=[]) for row in (nodes, again)))
    found, _ = run_part(terms, made[0], made[1], ends(made), seed=0)
    took, more = map(int, re.findall(r"\d+", found.why))
    assert found.verdict is Verdict.TESTED and took > 0 and more > 0
    assert found.why == f"{took} random inputs gave the same bits, the original refused {more} more"
    one, other = small(tmp_path, "Abs"), small(tmp_path, "Abs")
    ran = run_isolated(one, other, [{"y": np.ones(2, np.float32)}], Tolerance())
    assert (ran.draws, ran.refused, ran.unreached) == (0, 1, ("the original takes none of the random inputs",))


@pytest.mark.parametrize("dims", [["n", 3], None])
def test_a_part_takes_what_is_known_of_its_inputs(tmp_path: Path, dims: list[Any] | None) -> None:
    source = model([pad(["x", "pads"], mode="edge")], inputs=[("x", FLOAT, dims)], tensors=[PADS])
    other = model([NODE("Abs", ["x"], ["a"]), pad(["a", "pads"], mode="edge")], inputs=[("x", FLOAT, dims)],
                  tensors=[PADS])  # fmt: skip
    terms, made = sides(tmp_path, source, other)
    one, two, inputs = cut(terms, made[0], made[1], ends(made))
    assert [(row.name, row.type, row.dims) for row in inputs] == [("x", "float", None if dims is None else ("n", 3))]
    for side in (one, two):
        (given,) = side.model.graph.input
        expected = helper.make_tensor_value_info(GIVEN + "x", TensorProto.FLOAT, dims)
        assert given == expected
    found, _ = run_part(terms, made[0], made[1], ends(made), seed=0)
    assert found.verdict is Verdict.DIFFERENT and found.counterexample is not None
    assert set(found.counterexample) == ({"x"} if dims is None else {"x", "n"})
    assert dims is None or found.counterexample["n"] == len(found.counterexample["x"])


SUSPECTED = Outcome(Verdict.DIFFERENT, "positions", why="an element differs", counterexample={"n": 3})
OPEN = Outcome(Verdict.UNKNOWN, "positions", why="no rule relates them")
SAME = Outcome(Verdict.TESTED, DRAWN, "9 random inputs", why="9 random inputs gave the same bits")
WRONG = Outcome(Verdict.DIFFERENT, DRAWN, why="1 of 2 elements", counterexample={"n": 2})


def test_what_is_told_of_a_part_that_was_run() -> None:
    for said in (SUSPECTED, OPEN):
        for replayed in (False, True):
            assert tell(said, WRONG, replayed) is WRONG
    kept = tell(SUSPECTED, SAME)
    assert (kept.verdict, kept.rule, kept.counterexample) == (Verdict.DIFFERENT, "positions", {"n": 3})
    assert kept.why == "an element differs; 9 random inputs gave the same bits"
    gone = tell(SUSPECTED, SAME, replayed=True)
    assert (gone.verdict, gone.holds_for) == (Verdict.TESTED, "9 random inputs")
    assert gone.why == (
        "an element differs, but not for the values that a rule has found; 9 random inputs gave the same bits"
    )
    for replayed in (False, True):
        found = tell(OPEN, SAME, replayed)
        assert (found.verdict, found.why) == (
            Verdict.TESTED, "no rule relates them; 9 random inputs gave the same bits",
        )  # fmt: skip


def test_random_numbers_that_are_equal_by_chance(tmp_path: Path) -> None:
    """Two sessions give nodes at the same place the same numbers, and the next run gives others."""
    source = model([NODE("RandomNormalLike", ["x"], ["y"])], inputs=[("x", FLOAT, [3])])
    (tmp_path / "m.onnx").write_bytes(source.SerializeToString())
    side = Cut(tmp_path / "m.onnx", source, "y")
    assert run_isolated(side, side, [{"x": np.ones(3, np.float32)}] * 2, Tolerance()).unstable
    drawn = [NODE("RandomNormalLike", ["x"], [name]) for name in "ab"]
    one, other = (model([*drawn, NODE("Sub", ["a", name], ["y"])]) for name in "ba")
    assert padops.verify(one, other).verdict == "unknown"
    assert padops.verify(other, one).verdict == "different", "the original is 0"


# Random floats for ``w`` take the branch only where ``k`` is drawn, in a run of the part alone.
SELDOM = """<ir_version: 8, opset_import: ["" : 18]> 
    g (float[n, 3] x, float[5] w, int64[4] p, bool[2] which) => (float[a, b] y)
    <float[2] fills = {ONE, 2.0}, float huge = {1e30}, int64[1] zero = {0}, int64[1] one = {1}> {
        m = ReduceMin <keepdims = 0> (w) d = Sub (m, huge) k = Relu (d) c = Cast <to = 9> (k)
        y = If (c) <
            then_branch = t () => (float[r, s] q) { fs = Compress <axis = 0> (fills, which) f = Slice (fs, zero, one)
                v = COPY (x) q = Pad (v, p, f) },
            else_branch = e () => (float[n, 3] z) { z = Identity (x) }> }"""


@pytest.mark.parametrize("fill", ["1.00000012", "3.0"])
def test_bits_count_where_a_part_only_moves_data(fill: str) -> None:
    """One ulp is no rounding there, whether or not runs of the whole models ever take the branch."""
    pair = [parser.parse_model(SELDOM.replace("ONE", one).replace("COPY", "Identity")) for one in ("1.0", fill)]
    found = padops.verify(*pair)
    assert (found.outcome, found.verdict, found.passed) == ("equal", "unknown", False)
    assert found.proof is not None and found.proof.verdict == "different"
    assert f"1.0 became {np.float32(fill)!s}" in found.unproved[0]


def test_which_models_can_round() -> None:
    one = parser.parse_model(SELDOM.replace("ONE", "1.0").replace("COPY", "Sin"))
    assert can_round(one)
    moved = """<ir_version: 8, opset_import: ["" : 18, "o" : 1]> g (float[n, 3] x, bool c) => (float[a, b] y) {
        s = Shape (x) t = Add (s, s) u = o.f (s) p = Mul (t, u)
        y = If (c) <then_branch = t () => (float[r, s] q) { q = Pad (x, p) },
                    else_branch = e () => (float[n, 3] z) { z = OP (x) }> }
        <domain: "o", opset_import: ["" : 18]> f (a) => (r) { r = Mod (a, a) }"""
    assert not can_round(parser.parse_model(moved.replace("OP", "Identity")))
    assert can_round(parser.parse_model(moved.replace("OP", "Relu")))
