"""The bodies of the fallback's functions: right ones are proved, wrong ones are not, and each is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from crafted_pair import answers, parsed
from onnx import helper, numpy_helper
from same_models import graphs

import padops
from padops.convert.proof import bodies
from padops.convert.proof.body_goals import goals
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Limits, Proof, Region, Verdict

ROOT = Path(__file__).resolve().parents[3]
LIMITS = Limits(goal_seconds=10, region_seconds=60, seconds=400)
# Examples whose bodies are proved, for all data of what their calls say; each with how many.
PROVED = {"pad_02": 3, "pad_11": 3, "pad_13": 2, "pad_19": 2, "string": 2, "int16": 1}


def converted(name: str) -> onnx.ModelProto:
    return padops.convert(ROOT / "models" / f"{name}.onnx", fold=False).proto()


def regions(model: onnx.ModelProto, limits: Limits = LIMITS) -> tuple[Region, ...]:
    return bodies.prove_bodies(model, lambda one, other: prove(one, other, limits=limits), limits)


@pytest.mark.parametrize("name", PROVED)
def test_the_bodies_of_examples_are_proved(name: str) -> None:
    original, model = onnx.load(ROOT / "models" / f"{name}.onnx"), converted(name)
    found = prove(original, model, limits=LIMITS)
    ours = [region for region in found.regions if region.rule == "function body"]
    assert [region.verdict for region in ours] == [Verdict.PROVED] * PROVED[name], ours
    assert found.verdict is Verdict.PROVED
    assert all(region.name.startswith(f"function body {region.original[0]}, as ") for region in ours)
    assert all(region.holds_for == "all data of its call" and not region.why for region in ours)


def changed(model: onnx.ModelProto, change: Callable[[onnx.NodeProto], bool]) -> onnx.ModelProto:
    """A model with a change of the first node of its fallback for which there is one, in its branches or else outside.

    Which branch a body takes makes no difference to a proof where both of them are right.
    """
    made = onnx.ModelProto.FromString(model.SerializeToString())
    for function in made.functions:
        inner = [graph for graph in graphs(function) if graph is not function]
        if function.domain == "padops" and any(change(node) for graph in (*inner, function) for node in graph.node):
            return made
    raise AssertionError("nothing has changed")


def other_operator(former: str, other: str) -> Callable[[onnx.NodeProto], bool]:
    def change(node: onnx.NodeProto) -> bool:
        if node.op_type != former:
            return False
        node.op_type = other
        return True

    return change


def other_constant(former: object, other: object) -> Callable[[onnx.NodeProto], bool]:
    def change(node: onnx.NodeProto) -> bool:
        if node.op_type != "Constant" or numpy_helper.to_array(node.attribute[0].t).tolist() != former:
            return False
        node.attribute[0].t.CopyFrom(numpy_helper.from_array(np.array(other, np.int64)))
        return True

    return change


def swapped(op_type: str) -> Callable[[onnx.NodeProto], bool]:
    def change(node: onnx.NodeProto) -> bool:
        if node.op_type != op_type:
            return False
        node.input[:] = [node.input[1], node.input[0], *node.input[2:]]
        return True

    return change


def dropped_fill(node: onnx.NodeProto) -> bool:
    if node.op_type != "Pad" or len(node.input) < 3 or "constant" not in node.input[2]:
        return False
    del node.input[2]
    return True


BREAKS = {
    "the greatest for the least": ("pad_19", other_operator("Min", "Max")),
    "a crop in the other direction": ("pad_19", other_operator("Neg", "Identity")),
    "taken away, not added": ("int16", other_operator("Add", "Sub")),
    "a remainder that is none": ("pad_19", other_operator("Mod", "Add")),
    "taken from the other": ("pad_11", swapped("Sub")),
    "one period too short": ("int16", other_constant(-2, -1)),
    "no fill": ("pad_11", dropped_fill),
    "branches": ("pad_11", swapped("Less")),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_wrong_body_is_not_proved(what: str) -> None:
    name, change = BREAKS[what]
    original, model = onnx.load(ROOT / "models" / f"{name}.onnx"), changed(converted(name), change)
    limits = replace(LIMITS, goal_seconds=2, region_seconds=4)
    found = prove(original, model, limits=limits)
    assert found.verdict is not Verdict.PROVED
    wrong = [
        region for region in found.regions if region.rule == "function body" and region.verdict is not Verdict.PROVED
    ]
    assert wrong and all(region.why for region in wrong)
    assert prove(original, model, limits=limits, functions=False).verdict is Verdict.PROVED, "the rest is right"


def test_the_goals_of_a_body_compute_what_it_does() -> None:
    """Each goal of the examples, with drawn inputs: where the operator's model runs, the body's gives the same."""
    rng, ran = np.random.default_rng(0), 0
    for name in ("pad_11", "pad_18", "pad_19", "int16", "string", "tokens"):
        for instance in bodies.instances(converted(name)):
            data = instance.arguments[0]
            if data is None or not data.dtype or data.shape is None:
                continue
            for goal in goals(*bodies.models(instance), instance.function.input[0]):
                assert not any(node.op_type in ("If", "Loop") for node in goal.body.graph.node), "they are written out"
                for _ in range(8):
                    feeds = {row.name: drawn(row, rng) for row in goal.operator.graph.input}
                    expected = answers(goal.operator, feeds)
                    if not isinstance(expected, str):
                        assert answers(with_library(goal.body), feeds) == expected, (name, instance.call.output)
                        ran += 1
    assert ran > 50


def drawn(row: onnx.ValueInfoProto, rng: np.random.Generator) -> np.ndarray:
    """Values for an input of a goal."""
    tensor = row.type.tensor_type
    dims = [dim.dim_value if dim.HasField("dim_value") else int(rng.integers(0, 5)) for dim in tensor.shape.dim]
    low, high = {"pads": (-2, 5), "axes": (-1, 2)}.get(row.name, (0, 99))
    values = rng.integers(low, high, dims)
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return values.astype(str).astype(object) if tensor.elem_type == onnx.TensorProto.STRING else values.astype(dtype)


def with_library(model: onnx.ModelProto) -> onnx.ModelProto:
    """Its Pads are those of padops, which take every type and any number of periods, as docs/semantics.md has it."""
    made = onnx.ModelProto.FromString(model.SerializeToString())
    for node in made.graph.node:
        if node.op_type == "Pad" and not node.domain and len(node.input) > 1:
            node.op_type, node.domain = "Pad_19", "padops"
    if all(row.domain != "padops" for row in made.opset_import):
        made.opset_import.append(helper.make_opsetid("padops", 1))
    return made


FALLBACK = '<domain: "padops", opset_import: ["": 18]> Pad_18 <mode = "constant"> (u, p, f, a) => (v) {{ {} }}\n'
ONE = "p = Constant <value_ints = [1, 1]> ()\n"


def one_call(
    body: str, call: str = "y = padops.Pad_18 (x, p)", signature: str = "float[N] x => float[M] y"
) -> onnx.ModelProto:
    return parsed(signature, ONE + call, functions=FALLBACK.format(body))


def test_calls_with_the_same_facts_are_proved_once() -> None:
    asked = []

    def never(one: onnx.ModelProto, other: onnx.ModelProto) -> Proof:
        asked.append(one)
        return Proof(Verdict.PROVED)

    twice = one_call("v = Pad (u, p)", "w = padops.Pad_18 (x, p)\nz = padops.Pad_18 (x, p)\ny = Add (w, z)")
    assert [region.verdict for region in bodies.prove_bodies(twice, never, LIMITS)] == [Verdict.PROVED]
    assert len(asked) == 1
    other = one_call(
        "v = Pad (u, p)", 'w = padops.Pad_18 (x, p)\nz = padops.Pad_18 <mode = "edge"> (x, p)\ny = Add (w, z)'
    )
    assert len(bodies.prove_bodies(other, never, LIMITS)) == 2
    assert bodies.prove_bodies(parsed("float[N] x => float[M] y", "y = Neg (x)"), never, LIMITS) == ()


def test_what_cannot_be_proved_says_why() -> None:
    def why(model: onnx.ModelProto, limits: Limits = LIMITS) -> str:
        (region,) = regions(model, limits)
        assert region.verdict is Verdict.UNKNOWN and region.rule == "function body"
        return region.why

    assert why(one_call("v = Pad <mode: string = @mode> (u, p)"), replace(LIMITS, seconds=0.0)) == (
        "the time for function bodies is over"
    )
    assert why(one_call("i = Constant <value = int64 {7}> ()\nq = Gather (p, i)\nv = Expand (u, q)")).startswith(
        "it fails: "
    )
    assert "for data of 1 axis: " in why(one_call("v = Neg (u)"))
    unknown = "w = ai.onnx.contrib.Some (x)\ny = padops.Pad_18 (w, p)"
    model = one_call("v = Pad (u, p)", unknown.replace("ai.onnx.contrib.", "local."))
    assert why(model) == "the element types of its inputs are not known"
    many = "".join(
        f"c{i} = ReduceMax <keepdims = 0> (s{i})\nd{i} = Greater (c{i}, k)\n"
        f"b{i} = If (d{i}) <then_branch = t () => (float[N] q{i}) {{ q{i} = Identity (u) }}, "
        f"else_branch = e () => (float[N] r{i}) {{ r{i} = Identity (u) }}>\ns{i + 1} = Shape (b{i})\n"
        for i in range(4)
    )
    model = one_call(f"k = Constant <value = int64 {{5}}> ()\ns0 = Shape (u)\n{many}v = Pad (b3, p)")
    assert why(model) == "a path through it has more than 3 conditions that are not known"


def test_ranks_that_the_amounts_allow() -> None:
    """Of data of unknown rank: the amounts say it, or the axes say at least how many."""

    def ranks(call: str) -> list[int]:
        model = one_call("v = Pad (u, p, f, a)", call, "float[] x, int64[K] w => float[] y")
        (instance,) = bodies.instances(model)
        return list(bodies.ranks(instance, replace(LIMITS, rank=4)))

    assert ranks("y = padops.Pad_18 (x, p)") == [1]
    assert ranks("a = Constant <value_ints = [2]> ()\ny = padops.Pad_18 (x, p, , a)") == [3, 4]
    assert ranks("a = Constant <value_ints = [-2]> ()\ny = padops.Pad_18 (x, p, , a)") == [2, 3, 4]
    assert ranks("y = padops.Pad_18 (x, w)") == [0, 1, 2, 3, 4]
