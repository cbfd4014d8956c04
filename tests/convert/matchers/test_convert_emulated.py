"""Pads that are spelled as Slices and Concats: recognised where they are exact for every shape, else left.

``test_convert_emulated_torch.py`` does the same with what PyTorch really exports, where it is installed.
"""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from emulation_checks import SYMMETRIC, data_of, edge_by_expand_at_the_end, in_function, operators, run
from emulations import FORMS, Nodes, circular_1d, circular_2d, edge_by_expand, emulated
from onnx import helper
from small_models import BOOL, DOUBLE, FLOAT, HALF, INT8, INT64, STRING, convert, graph, model

import padops

# Unsqueeze has its axes as an attribute before opset 13.
BY_OPSET = [(name, opset) for name in FORMS for opset in (11, 13, 17, 20) if opset > 11 or "Unsqueeze" not in name]


@pytest.mark.parametrize(("name", "opset"), BY_OPSET)
def test_form(name: str, opset: int) -> None:
    write, dims, mode, pads = FORMS[name]
    original = emulated(write, dims, opset)
    conversion = convert(original)
    (record,) = conversion.records
    found = "circular" if mode == "wrap" else mode
    assert record.status == "converted" and record.form.startswith(f"{found} emulation (")
    assert record.op_type == (SYMMETRIC if mode == "symmetric" else "Pad_19")
    message = conversion.proto()
    (node,) = message.graph.node
    assert (node.domain, node.op_type, node.name) == ("padops", record.op_type, original.graph.node[-1].name)
    values = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in message.graph.initializer}
    assert [x for name in node.input[1:3] if name for x in np.ravel(values[name]).tolist()][: len(pads)] == pads
    onnx.checker.check_model(message)
    data = data_of(dims)
    assert native.bits(run(message, data)) == native.bits(run(original, data))


@pytest.mark.parametrize("name", FORMS)
def test_form_with_the_fallback_alone(name: str) -> None:
    """The converted model runs on stock ONNX Runtime."""
    write, dims, *_ = FORMS[name]
    original = emulated(write, dims)
    message = convert(original, fallback=True, verify=True, run=True).proto()
    data = data_of(dims)
    session = onnxruntime.InferenceSession(message.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": data})
    assert native.bits(found) == native.bits(run(original, data))


def test_record_names_what_went() -> None:
    conversion = convert(emulated(circular_2d, [1, 3, 8, 9]))
    (record,) = conversion.records
    assert (record.form, record.name) == ("circular emulation (Slice, Concat)", "concat_5")
    assert record.notes == ("one operator for slice_0, slice_1, concat_2, slice_3, slice_4, concat_5",)


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE, HALF, BOOL, INT8, INT64, STRING])
@pytest.mark.parametrize("name", ["circular 2d", "reflect by flips", "symmetric by flips", "edge by Expand", "Gather"])
def test_element_types(name: str, kind: int) -> None:
    write, dims, *_ = FORMS[name]
    original = emulated(write, dims, kind=kind)
    conversion = convert(original)
    assert len(conversion.converted) == 1
    data = data_of(dims, kind)
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_fill_keeps_every_bit() -> None:
    """A NaN with a payload, and minus zero."""
    for bits in (0x7FC01234, 0x80000000):
        fill = np.full((1, 3, 2), bits, np.uint32).view(np.float32)
        original = emulated(lambda n, fill=fill: n.join(n.constant(fill, np.float32), "x", axis=2), [1, 3, 4])
        conversion = convert(original)
        assert len(conversion.converted) == 1
        data = data_of([1, 3, 4])
        assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_large_block_of_zeros() -> None:
    """Of more elements than other constants are looked at."""
    zeros = np.zeros((1, 512, 32))
    original = emulated(lambda n: n.join(n.constant(zeros, np.float32), "x", axis=2), [1, 512, 8])
    conversion = convert(original)
    assert operators(conversion.proto()) == ["Pad_19"]
    assert conversion.proto().ByteSize() < 1000 < original.ByteSize()


def test_zeros_in_front_of_a_convolution_go_into_it() -> None:
    def causal(n: Nodes) -> str:
        padded = n.join(n.constant(np.zeros((1, 3, 2)), np.float32), "x", axis=2)
        return n.node("Conv", [padded, n.constant(np.ones((4, 3, 3)), np.float32)])

    original = emulated(causal, [1, 3, 8])
    conversion = convert(original, fold=True)
    (record,) = conversion.records
    assert (record.status, record.form) == ("folded", "constant emulation (Concat)")
    assert operators(conversion.proto()) == ["Conv"]


def test_other_order_of_axes_is_joined_by_folding() -> None:
    original = emulated(lambda n: n.circular(n.circular("x", 3, 1, 2), 2, 2, 0), [1, 1, 4, 4])
    assert operators(convert(original).proto()) == ["Pad_19", "Pad_19"]
    conversion = convert(original, fold=True)
    assert operators(conversion.proto()) == ["Pad_19"]
    data = data_of([1, 1, 4, 4])
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_same_axis_twice_is_two_pads() -> None:
    """Circular data that are padded again have another period."""
    original = emulated(lambda n: n.circular(n.circular("x", 2, 1, 1), 2, 1, 1), [1, 1, 4])
    conversion = convert(original, fold=True)
    assert operators(conversion.proto()) == ["Pad_19", "Pad_19"]
    data = data_of([1, 1, 4])
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


def test_mixed_modes_stay_separate() -> None:
    def both(n: Nodes) -> str:
        padded = n.circular("x", 2, 2, 1)
        zeros = n.constant(np.zeros((1, 1, 7, 1)), np.float32)
        return n.join(zeros, padded, zeros, axis=3)

    original = emulated(both, [1, 1, 4, 4])
    conversion = convert(original, fold=True)
    assert [record.form.split()[0] for record in conversion.converted] == ["circular", "constant"]
    assert operators(conversion.proto()) == ["Pad_19", "Pad_19"]
    data = data_of([1, 1, 4, 4])
    assert native.bits(run(conversion.proto(), data)) == native.bits(run(original, data))


@pytest.mark.parametrize("value", ["slice_0_out", "concat_2_out", "slice_3_out"])
@pytest.mark.parametrize("how", ["graph output", "another node"])
def test_what_is_between_is_wanted_elsewhere(value: str, how: str) -> None:
    """Then it is still computed, and the rest is converted."""
    original = emulated(circular_2d, [1, 1, 4, 4])
    name = value
    if how == "another node":
        name = "other"
        original.graph.node.append(helper.make_node("Neg", [value], [name]))
    original.graph.output.append(helper.make_tensor_value_info(name, FLOAT, [None] * 4))
    conversion = convert(original)
    # Without an intermediate result that both axes are in, each is a Pad of its own.
    assert len(conversion.converted) == (2 if value == "concat_2_out" else 1)
    data = data_of([1, 1, 4, 4])
    for one, other in zip(
        native.session(conversion.proto()).run(None, {"x": data}), native.session(original).run(None, {"x": data})
    ):
        assert native.bits(one) == native.bits(other)


def test_in_a_function() -> None:
    """Its body says nothing of shapes, its call does."""
    for emulation in (circular_1d, edge_by_expand_at_the_end):
        conversion = convert(in_function(emulation), fallback=True, verify=True, run=True)
        assert [record.path for record in conversion.converted] == ["function mine::Padded/concat_2"]


def test_in_a_branch() -> None:
    inner = Nodes("inner_")
    inner.named(inner.circular("x", 2, 2, 1), "z")
    then = graph(inner.nodes, [], [("z", FLOAT, None)], inner.initializers(), name="then")
    other = graph([helper.make_node("Identity", ["x"], ["w"])], [], [("w", FLOAT, None)], name="else")
    message = model(
        [helper.make_node("If", ["flag"], ["y"], "if", then_branch=then, else_branch=other)],
        17,
        inputs=[("x", FLOAT, [1, 3, 8]), ("flag", BOOL, [])],
        outputs=[("y", FLOAT, [None] * 3)],
    )
    conversion = convert(message, fallback=True, verify=True, run=True)
    assert [record.path for record in conversion.converted] == ["graph/if.then_branch/inner_concat_2"]
    data = data_of([1, 3, 8])
    for flag in (np.array(True), np.array(False)):
        assert native.bits(run(conversion.proto(), data, flag)) == native.bits(run(message, data, flag))


def test_what_was_converted_can_be_lowered() -> None:
    original = emulated(circular_2d, [1, 3, 8, 9], opset=19)
    lowered = padops.lower(convert(original).proto()).proto()
    assert len(lowered.graph.node) <= len(original.graph.node)
    data = data_of([1, 3, 8, 9])
    assert native.bits(run(lowered, data)) == native.bits(run(original, data))


def test_from_the_command_line(tmp_path: Any) -> None:
    from padops.cli import main

    source, output = tmp_path / "in.onnx", tmp_path / "out.onnx"
    onnx.save(emulated(edge_by_expand, [1, 3, 8]), source)
    assert main(["convert", str(source), "-o", str(output), "--emulated", "keep", "-q"]) == 0
    assert "Concat" in operators(onnx.load(output))
    assert main(["convert", str(source), "-o", str(output), "--verify", "--run", "-q"]) == 0
    assert operators(onnx.load(output)) == ["Pad_19"]
