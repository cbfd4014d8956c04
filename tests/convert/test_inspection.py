"""``padops.inspect`` agrees with onnxruntime about each Pad, and the roads that it names give the right bits."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import pytest
from command_lines import MODELS, save
from inspected_models import specified, stock
from onnx import TensorProto, helper
from small_models import BOOL, DOUBLE, FLOAT, HALF, INT16, model, one_pad, pad, parsed, tensor
from written_models import model as written

import padops
from padops import cli
from padops.convert.records import RUNNING
from padops.runtime.ort_values import run_session
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.spec.dtypes import by_onnx

Arrays = dict[str, np.ndarray]


def given(source: onnx.ModelProto, seed: int = 0) -> Arrays:
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in source.graph.input:
        kind = value.type.tensor_type
        shape = [dim.dim_value or (0 if dim.HasField("dim_value") else 9) for dim in kind.shape.dim]
        row = by_onnx(kind.elem_type)
        # Of float16 numbers alone: onnxruntime casts it to float and back, which changes the bits of NaNs.
        array = rng.standard_normal(shape).astype(row.numpy) if row.name == "float16" else None
        feeds[value.name] = native.random_array(rng, row, shape) if array is None else array
    return feeds


def bits(arrays: list[np.ndarray] | None) -> list[Any] | None:
    return None if arrays is None else [native.bits(array) for array in arrays]


TYPES = (FLOAT, DOUBLE, HALF, BOOL, INT16, TensorProto.UINT8, TensorProto.STRING)
AMOUNTS = ([0, 1, 0, 2], [0, 3, 0, 0], [0, 4, 0, 0], [0, -1, 0, 1], [0, -1, 0, -2], [0, -3, 0, 4])


GRID = [  # opsets, types, modes and amounts
    *itertools.product((1, 2, 10, 11, 13, 18, 25), TYPES, ("constant",), AMOUNTS[:1]),
    *itertools.product((19,), (FLOAT, INT16), ("constant", "edge", "reflect", "wrap"), AMOUNTS),
]


def grid_model(opset: int, kind: int, mode: str, amounts: list[int]) -> onnx.ModelProto:
    ends: dict[str, Any] = {"inputs": [("x", kind, [2, 3])], "outputs": [("y", kind, None)]}
    if opset < 11:
        return model([pad(["x"], mode=mode, **{"paddings" if opset == 1 else "pads": amounts})], opset, **ends)
    return model([pad(mode=mode)], opset, tensors=[tensor("pads", amounts)], **ends)


def test_verdicts_are_what_onnxruntime_does() -> None:
    """Each verdict of a Pad of known shape is a claim: it runs with the bits of the rules, or it does not."""
    said, wrong = set(), []
    for row in GRID:
        source = grid_model(*row)
        (facts,) = padops.inspect(source).pads
        feeds = given(source)
        if facts.verdict == "breaks a rule":
            source.graph.input[0].type.tensor_type.ClearField("shape")  # else it stays
            with pytest.raises(padops.PadError) as error:
                specified(source, feeds)
            assert facts.why.endswith(f"[{error.value.rule}]")
            continue
        right = bits(stock(source, feeds)) == bits(specified(source, feeds))
        said.add(facts.verdict)
        if right != (facts.verdict in RUNNING):
            wrong.append((row, facts.verdict, facts.why))
    assert wrong == []
    assert said >= {"runs", "refuses"}


KERNEL = tensor("w", np.arange(1, 10).reshape(1, 1, 3, 3), np.float32)
HELD = "int64[4] p = {0, 1, 0, 2}"


def padded(
    node: str = 'Pad <mode = "reflect"> (x, p)', held: str = HELD, opset: int = 18, kind: str = "float"
) -> onnx.ModelProto:
    return written(f"({kind}[2, 3] x) => ({kind}[a, b] y) <{held}> {{ y = {node} }}", opset, 8)


def dilated(**attributes: Any) -> onnx.ModelProto:
    conv = helper.make_node("Conv", ["x", "w"], ["y"], dilations=[2, 2], kernel_shape=[3, 3], **attributes)
    return model([conv], 13, inputs=[("x", FLOAT, [1, 1, 6, 5])], outputs=[("y", FLOAT, None)], tensors=[KERNEL])


MIRRORED = """(float[2, 3] x) => (float[a, b] y) <int64[2, 2] p = {0, 1, 2, 3}> {
    y = tf.MirrorPad <mode = "SYMMETRIC"> (x, p) }"""  # as tf2onnx leaves it where it is told to
# Models that onnxruntime refuses: the file or the model, the roads, and what is right where that is no Pad of ONNX.
ALL, CONVERTED = ("session", "convert", "lower"), ("memory", "convert", "lower")
IN_PYTHON = "a Python kernel"  # which needs no provider
REFUSED: dict[str, tuple[Any, ...]] = {
    "int16": (MODELS / "int16.onnx", ALL),
    "16-bit floats of opset 1": (one_pad(1, inputs=[("x", HALF, [2, 3])], outputs=[("y", HALF, None)]), ALL[:2]),
    "opset 1": (one_pad(1), ALL[:2]),  # of which onnxruntime has no Concat
    "bool at opset 11": (padded("Pad (x, p)", opset=11, kind="bool"), CONVERTED),
    "attributes at opset 13": (padded("Pad <pads = [0, 1, 0, 2]> (x)", opset=13), CONVERTED),
    "reflect beyond n - 1": (padded(held="int64[4] p = {0, 4, 0, 2}"), ALL),
    "edge cropped to nothing": (padded('Pad <mode = "edge"> (x, p)', "int64[4] p = {0, -1, 0, -2}"), ALL),
    "axes of int32": (padded("Pad (x, p, , a)", "int64[2] p = {1, 2}, int32[1] a = {1}"), CONVERTED),
    "pads of two dims": (padded(held="int64[1, 4] p = {0, 1, 0, 2}"), CONVERTED),
    "a fill that is not read": (padded('Pad <mode = "edge"> (x, p, f)', f"{HELD}, float[2] f = {{1, 2}}"), ALL),
    "rank 0": (model([pad()], 13, inputs=[("x", FLOAT, [])], tensors=[tensor("pads", [])]), ALL),
    "rank 0, by the amounts": (model([pad()], 13, inputs=[("x", FLOAT, None)], tensors=[tensor("pads", [])]), ALL[:2]),
    "com.microsoft, int16": (padded("com.microsoft.Pad (x, p)", opset=13, kind="int16"), CONVERTED),
    "SAME with a dilation": (dilated(auto_pad="SAME_UPPER"), CONVERTED,
                             lambda feeds: stock(dilated(pads=[2, 2, 2, 2]), feeds)),
    "TensorFlow's MirrorPad": (parsed(MIRRORED, 13), CONVERTED,
                               lambda feeds: [np.pad(feeds["x"], [(0, 1), (2, 3)], "symmetric")]),
    IN_PYTHON: (padops.convert(padded(), target="pyop").proto(), ALL, lambda feeds: stock(padded(), feeds)),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_named_roads_lead_to_the_right_bits(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, roads, *rights = REFUSED[name]
    path = source if isinstance(source, Path) else save(tmp_path / "model.onnx", source)
    loaded = onnx.load(path)
    feeds = given(loaded)
    assert stock(path, feeds) is None
    inspection = padops.inspect(path)
    if runtime_minor() < FIRST_MINOR and name != IN_PYTHON:
        roads = ("memory", *roads[1:])
    assert [pad.verdict for pad in inspection.pads] == ["refuses"]
    assert inspection.roads == roads
    expected = bits(rights[0](feeds) if rights else specified(loaded, feeds))
    for road, command in inspection.commands().items():
        if road in ("session", "memory"):
            session = eval(command.removeprefix("session = "), {"padops": padops})
        else:
            words = command.replace("OUT.onnx", str(tmp_path / f"{road}.onnx")).split()
            assert cli.main([*words[1:], "-q"]) == 0
            session = padops.InferenceSession(tmp_path / f"{road}.onnx")
        assert bits(run_session(session, feeds)) == expected, road
        if road == "lower":
            assert bits(stock(tmp_path / "lower.onnx", feeds)) == expected


def test_what_a_session_has_to_be_told(tmp_path: Path) -> None:
    """A Pad of an unknown domain may be anybody's; the line of its road says whose it is."""
    source = written("""(float[2, 3] x) => (float[a, b] y) <float f = {7}> {
        y = other.Pad <padding_below = [0, 1], padding_above = [0, 0]> (x, f) }""")
    path = save(tmp_path / "m.onnx", source)
    assert padops.inspect(path).roads == ()
    call = f"padops.InferenceSession({json.dumps(str(path))}, convert={{'custom_domains': ['other']}})"
    assert padops.inspect(path, custom_domains=["other"]).commands()["memory"] == f"session = {call}"
    feeds = given(source)
    (y,) = eval(call, {"padops": padops}).run(None, feeds)
    np.testing.assert_array_equal(y, np.pad(feeds["x"], [(0, 0), (1, 0)], constant_values=7))


def test_pads_that_need_different_roads(tmp_path: Path) -> None:
    """One session runs the Pad that runs as it is, and converts the other."""
    source = written("""(float[2, 3] x, int16[2, 3] h) => (float[a, b] y, int16[c, d] z)
        <int64[4] p = {0, 1, 0, 2}, int64[2] one = {1, 2}, int32[1] axes = {1}> {
        z = Pad (h, p) y = Pad (x, one, , axes) }""")
    path = save(tmp_path / "m.onnx", source)
    assert padops.inspect(path).roads == CONVERTED
    session = padops.InferenceSession(path)
    feeds = given(source)
    for array, data in zip(session.run(None, feeds), (feeds["x"], feeds["h"])):
        np.testing.assert_array_equal(array, np.pad(data, [(0, 0), (1, 2)]))


def test_what_a_pad_needs_of_an_open_axis() -> None:
    source = written("""(float[1, n] x) => (float[a, b] y) <int64[4] p = {0, 0, 0, 64}> {
        y = Pad <mode = "reflect"> (x, p) }""")
    (one,) = padops.inspect(source).pads
    assert one.why == "ONNX Runtime runs it, as long as axis 1 has 65 elements or more"
    assert (one.verdict, one.amounts) == ("runs if", ((0, 0), (0, 64)))
