"""A part of two models that no rule decides is run alone: what is drawn for it, and what that finds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from small_models import FLOAT, INT64, graph, model, pad, tensor

import padops
from padops.convert.proof.build import Builder
from padops.convert.proof.constants import Constants
from padops.convert.proof.result import Outcome, Verdict
from padops.convert.proof.terms import Terms
from padops.convert.verify.cut import Side
from padops.convert.verify.feeds import Input
from padops.convert.verify.part_inputs import Marks, marks_of, region_inputs, sizing_inputs
from padops.convert.verify.proving import DRAWS, as_json, run_part

NODE = helper.make_node
PADS = tensor("pads", [0, 1, 0, 1])
AMOUNTS = ("amounts", INT64, [4])


def network(
    nodes: Sequence[onnx.NodeProto], kind: int = FLOAT, more: Sequence[Any] = (), **parts: Any
) -> onnx.ModelProto:
    """Nodes that begin with ``r``, which is far behind the input of the model."""
    first = NODE("Relu" if kind == FLOAT else "Neg", ["x"], ["r"])
    tensors = [PADS, *parts.pop("tensors", [])]
    inputs = [("x", kind, ["n", 3]), *more]
    return model([first, *nodes], inputs=inputs, outputs=[("y", kind, None)], tensors=tensors, **parts)


def sides(tmp_path: Path, *models: onnx.ModelProto) -> tuple[Terms, list[Side]]:
    terms = Terms()
    constants = Constants(terms)
    made = []
    for i, source in enumerate(models):
        path = tmp_path / f"{i}.onnx"
        path.write_bytes(source.SerializeToString())
        made.append(Side(path, source, Builder(terms, constants, source, tmp_path, set(), i == 0).build()))
    return terms, made


def run(tmp_path: Path, original: onnx.ModelProto, converted: onnx.ModelProto) -> Outcome:
    """The part that ends with the output of both."""
    terms, (one, other) = sides(tmp_path, original, converted)
    return run_part(terms, one, other, (one.built.outputs[0][2], other.built.outputs[0][2]), seed=0)[0]


def integers(way: int) -> list[onnx.NodeProto]:
    """A Pad of integers, by way of another type."""
    return [
        NODE("Cast", ["r"], ["f"], to=way),
        pad(["f", "pads"], "g"),
        NODE("Cast", ["g"], ["y"], to=TensorProto.INT64),
    ]


def clamped(highest: int) -> dict[str, Any]:
    """A Pad by amounts that are cut off."""
    nodes = [NODE("Min", ["amounts", "highest"], ["a"]), pad(["r", "a"])]
    return {"nodes": nodes, "more": [AMOUNTS], "tensors": [tensor("highest", highest)]}


def halved(how: str) -> dict[str, Any]:
    """A Pad by the half of a size, rounded in some way."""
    nodes = [
        NODE("Shape", ["r"], ["s"]), NODE("Gather", ["s", "zero"], ["n"]), NODE("Cast", ["n"], ["nf"], to=FLOAT),
        NODE("Mul", ["nf", "half"], ["h"]), NODE(how, ["h"], ["hr"]), NODE("Cast", ["hr"], ["a"], to=INT64),
        NODE("Concat", ["none", "none", "a", "none"], ["p"], axis=0), pad(["r", "p"]),
    ]  # fmt: skip
    tensors = [tensor("zero", [0]), tensor("none", [0]), tensor("half", [0.5], np.float32)]
    return {"nodes": nodes, "tensors": tensors}


def bounded(op: str, number: float) -> dict[str, Any]:
    """Data that are cut off in front of a Pad."""
    return {
        "nodes": [NODE(op, ["r", "number"], ["c"]), pad(["c", "pads"])],
        "tensors": [tensor("number", number, np.float32)],
    }


def chosen(test: Sequence[onnx.NodeProto], *numbers: int) -> dict[str, Any]:
    """A Pad of mode reflect or edge, by a test on the number of rows ``n``."""
    branches = {
        f"{name}_branch": graph([pad(["r", "pads"], name, mode=mode)], [], [(name, FLOAT, None)], name=name)
        for name, mode in (("then", "reflect"), ("else", "edge"))
    }
    size = [NODE("Shape", ["r"], ["s"]), NODE("Gather", ["s", "zero"], ["n"])]
    tensors = [tensor("zero", 0), *(tensor(f"k{i}", number) for i, number in enumerate(numbers))]
    return {"nodes": [*size, *test, NODE("If", ["c"], ["y"], **branches)], "tensors": tensors}


REFLECT = {"nodes": [pad(["r", "pads"], mode="reflect")]}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "another mode": (REFLECT, {"nodes": [pad(["r", "pads"], mode="edge")]}),
    "integers through int8": ({"nodes": [pad(["r", "pads"])], "kind": INT64},
                              {"nodes": integers(TensorProto.INT8), "kind": INT64}),
    "integers through double": ({"nodes": [pad(["r", "pads"])], "kind": INT64},
                                {"nodes": integers(TensorProto.DOUBLE), "kind": INT64}),
    "amounts up to 0": ({"nodes": [pad(["r", "amounts"])], "more": [AMOUNTS]}, clamped(0)),
    "amounts up to 9": ({"nodes": [pad(["r", "amounts"])], "more": [AMOUNTS]}, clamped(9)),
    "amounts up to 600": ({"nodes": [pad(["r", "amounts"])], "more": [AMOUNTS]}, clamped(600)),
    "floor for ceil": (halved("Ceil"), halved("Floor")),
    "a bound of 1e6": ({"nodes": [pad(["r", "pads"])]}, bounded("Min", 1e6)),
    "a bound of 5000": ({"nodes": [pad(["r", "pads"])]}, bounded("Min", 5000)),
    "few rows": (REFLECT, chosen([NODE("Greater", ["n", "k0"], ["c"])], 2)),
    "many rows": (REFLECT, chosen([NODE("Less", ["n", "k0"], ["c"])], 20_000)),
    "rows modulo 97": (REFLECT, chosen([NODE("Mod", ["n", "k0"], ["m"]), NODE("Less", ["m", "k1"], ["c"])], 97, 96)),
}  # fmt: skip


@pytest.mark.parametrize(("original", "converted"), PAIRS.values(), ids=PAIRS)
def test_parts_that_differ_are_found(tmp_path: Path, original: dict[str, Any], converted: dict[str, Any]) -> None:
    found = run(tmp_path, network(**original, opset=19), network(**converted, opset=19))
    assert (found.verdict, found.rule) == (Verdict.DIFFERENT, "drawn")
    assert found.why and found.counterexample is not None and {"r", "x"} & set(found.counterexample)


@pytest.mark.parametrize(("original", "converted"), PAIRS.values(), ids=PAIRS)
def test_a_run_of_both_models_confirms_it(original: dict[str, Any], converted: dict[str, Any]) -> None:
    """Sizes and amounts of the part go to the whole models, where usual draws have no such."""
    verification = padops.verify(network(**original, opset=19), network(**converted, opset=19))
    assert (verification.verdict, verification.outcome) == ("different", "different")
    assert any(region.verdict == "different" and region.counterexample for region in verification.proof.regions)


def test_the_smallest_input_that_was_found(tmp_path: Path) -> None:
    original, converted = PAIRS["amounts up to 600"]
    found = run(tmp_path, network(**original), network(**converted)).counterexample
    assert sorted(found["amounts"]) == [0, 0, 0, 601]


@pytest.mark.parametrize("parts", [REFLECT, {"nodes": [pad(["r", "amounts"])], "more": [AMOUNTS]}, halved("Ceil")])
def test_parts_that_are_the_same_are_tested(tmp_path: Path, parts: dict[str, Any]) -> None:
    other = {
        **parts,
        "nodes": [*parts["nodes"][:-1], NODE("Abs", ["r"], ["r2"]), pad(["r2", *parts["nodes"][-1].input[1:]])],
    }
    other["nodes"][-1].attribute.extend(parts["nodes"][-1].attribute)  # of what Relu gives, Abs changes nothing
    found = run(tmp_path, network(**parts), network(**other))
    assert found.verdict is Verdict.DIFFERENT and "r" in found.counterexample  # r may be anything, alone
    other["nodes"][-2].op_type = "Neg"
    other["nodes"].insert(-1, NODE("Neg", ["r2"], ["r3"]))
    other["nodes"][-1].input[0] = "r3"
    found = run(tmp_path, network(**parts), network(**other))
    assert found.verdict is Verdict.TESTED and int(found.holds_for.split()[0]) > DRAWS // 2
    assert found.why.startswith(f"{found.holds_for} gave the same bits")


def test_a_part_that_differs_from_itself_is_not_tested(tmp_path: Path) -> None:
    """Numbers from 0 to 1, and from 5 to 6: no run of the two has compared anything."""
    first, second = (
        network([NODE("RandomUniformLike", ["r"], ["y"], low=low, high=low + 1)], opset=18) for low in (0.0, 5.0)
    )
    found = run(tmp_path, first, second)
    assert (found.verdict, found.why) == (
        Verdict.UNKNOWN, "run alone, the original changes from run to run",
    )  # fmt: skip
    verification = padops.verify(first, second)
    assert (verification.verdict, verification.outcome) == ("unknown", "runs")


def test_what_was_not_reached_is_said(tmp_path: Path) -> None:
    """A branch on data that no draw takes."""
    never = [
        NODE("ReduceMax", ["r"], ["m"], keepdims=0),
        NODE("Mul", ["m", "zero"], ["z"]),
        NODE("Greater", ["z", "one"], ["c"]),
    ]
    tensors = [tensor("zero", 0.0, np.float32), tensor("one", 1.0, np.float32)]

    choice = chosen([])["nodes"][-1]
    source = network([*never, choice], tensors=tensors)
    again = [NODE("Neg", ["r"], ["q"]), NODE("Neg", ["q"], ["s"])]
    never[0].input[0] = "s"
    found = run(tmp_path, source, network([*again, *never, choice], tensors=tensors))
    assert found.verdict is Verdict.TESTED and found.why.endswith("; c always chose the same branch")


def test_a_part_inside_of_a_body_is_not_run_alone(tmp_path: Path) -> None:
    source = network(**chosen([NODE("Greater", ["n", "k0"], ["c"])], 2))
    terms, (one, other) = sides(tmp_path, source, source)
    (inner,) = (names["then"] for names in one.built.scopes.values() if "then" in names)
    found, _ = run_part(terms, one, other, (inner, inner), seed=0)
    assert found.verdict is Verdict.UNKNOWN
    assert found.why.startswith("it cannot be run alone: it is a constant, or no node of the graph itself")


def test_dims_of_one_name_are_of_one_size() -> None:
    """Small ones first, then all that the part names; inputs that say how large something is stay small."""
    inputs = [Input("a", "float", ("n", 3)), Input("b", "int64", ("n", "m")), Input("p", "int64", (4,))]
    drawn = list(region_inputs(inputs, Marks((20_000, 97), (20_000.0, 97.0)), {"p"}, 0, 400))
    assert all(one["a"].shape[0] == one["b"].shape[0] for one in drawn)
    assert {one["a"].shape[0] for one in drawn[:16]} == {*range(10), 11, 13, 16, 17, 31, 32}
    assert any(len(set(one["b"].shape)) == 2 for one in drawn)
    assert max(np.abs(one["b"].astype(object)).max(initial=0) for one in drawn) > 1 << 53
    rows = {one["a"].shape[0] for one in region_inputs(inputs[:1], Marks((20_000, 97)), (), 0, 60)}
    assert {96, 97, 98, 19_999, 20_000, 20_001} <= rows
    for one in drawn:  # what a Pad of these amounts gives fits into memory
        assert np.prod(one["a"].shape + one["p"][:2] + one["p"][2:]) < 1 << 24


def test_the_numbers_of_a_part() -> None:
    source = network(**clamped(600))
    source.graph.node.append(NODE("LeakyRelu", ["y"], ["z"], alpha=0.25))
    assert {0, 1, 600} <= set(marks_of(source).integers) and 0.25 in marks_of(source).floats
    assert sizing_inputs(source) == {"amounts"}
    assert sizing_inputs(network(**halved("Ceil"))) == set()


def test_a_counterexample_in_a_report() -> None:
    told = as_json({"x": np.zeros((2, 1), np.float32), "large": np.zeros(65, np.int8), "n": np.int64(3)})
    assert told == {
        "x": {"type": "float32", "dims": [2, 1], "elements": [[0.0], [0.0]]},
        "large": {"type": "int8", "dims": [65]},
        "n": 3,
    }
