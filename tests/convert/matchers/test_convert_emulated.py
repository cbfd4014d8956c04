"""Pads that are spelled as Slices and Concats: recognised where they are exact for every shape, else left.

``test_convert_emulated_torch.py`` does the same with what PyTorch really exports, where it is installed.
"""

from __future__ import annotations

from collections.abc import Callable

import native
import numpy as np
import onnx
import pytest
from emulation_checks import SYMMETRIC, data_of, left, operators, run
from emulations import FORMS, MOST, Nodes, circular_2d, emulated
from onnx import helper
from small_models import FLOAT, INT64, convert, tensor

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


def test_options() -> None:
    original = emulated(circular_2d, [1, 3, 8, 9])
    assert left(original, emulated="keep") == []
    assert left(original, select="needed") == ["ONNX Runtime runs it"]
    assert left(original, target="onnx") == []
    assert left(original, target="pyop") == []
    with pytest.raises(padops.convert.UsageError, match="emulated is 'maybe', expected 'convert' or 'keep'"):
        convert(original, emulated="maybe")


def shape_computed(n: Nodes) -> str:
    """Amounts, as TorchScript's exporter computes them: a vector that zeros are joined to."""
    zeros = n.node("ConstantOfShape", [n.constant([4])], value=tensor("value", [0]))
    doubled = n.node("Add", [n.node("Shape", ["x"]), n.constant([1, 1])])
    return n.join(doubled, zeros, axis=0)


def test_vectors_of_integers_stay() -> None:
    assert left(emulated(shape_computed, [3, "n"], outputs=[("y", INT64, [6])])) == []


def test_constants_stay() -> None:
    def weights(n: Nodes) -> str:
        kernel = n.circular(n.node("Neg", [n.constant(np.ones((1, 1, 4)), np.float32)]), 2, 1, 1)
        return n.node("Conv", ["x", kernel])

    assert left(emulated(weights, [1, 1, 9])) == []


NOT_A_PAD: dict[str, Callable[[Nodes], str]] = {
    "other data": lambda n: n.join(n.cut(n.node("Neg", ["x"]), 2, -2), "x", axis=2),
    "wrong order": lambda n: n.join(n.cut("x", 2, 0, 2), "x", n.cut("x", 2, -1), axis=2),
    "overlapping slices": lambda n: n.join(n.cut("x", 2, 0, 5), n.cut("x", 2, 4), axis=2),
    "rolled": lambda n: n.join(n.cut("x", 2, -2), n.cut("x", 2, 0, -2), axis=2),
    "not from the end": lambda n: n.join(n.cut("x", 2, -3, -1), "x", axis=2),
    "another axis": lambda n: n.join(n.cut("x", 3, 0, 2), n.cut("x", 3, 2, 4), axis=2),
    "an end that goes backward": lambda n: n.join("x", n.cut("x", 2, 0, MOST, -1), axis=2),
    "a step of two": lambda n: n.join(n.cut("x", 2, 0, 4, 2), "x", axis=2),
    "half a reflection": lambda n: n.join(n.cut("x", 2, 1, 3), "x", axis=2),
    "Neg in between": lambda n: n.join(n.node("Neg", [n.cut("x", 2, -2)]), "x", axis=2),
    "fills that differ": lambda n: n.join(
        n.constant(np.zeros((1, 2, 1, 4)), np.float32), "x", n.constant(np.ones((1, 2, 1, 4)), np.float32), axis=2
    ),
    "a block that is not of one value": lambda n: n.join(
        n.constant(np.arange(8).reshape(1, 2, 1, 4), np.float32), "x", axis=2
    ),
    "plus and minus zero": lambda n: n.join(
        n.constant(np.array([0.0, -0.0] * 4).reshape(1, 2, 1, 4), np.float32), "x", axis=2
    ),
    "a fill in the middle": lambda n: n.join(
        n.cut("x", 2, 0, 3), n.constant(np.zeros((1, 2, 1, 4)), np.float32), n.cut("x", 2, 3), axis=2
    ),
    "zeros and an edge": lambda n: n.join(
        n.constant(np.zeros((1, 2, 1, 4)), np.float32), "x", n.cut("x", 2, -1), axis=2
    ),
    "only a part": lambda n: n.join(n.cut("x", 2, 1), n.cut("x", 2, 0, 1), axis=2),
    "nothing added": lambda n: n.join(n.cut("x", 2, 0, 3), n.cut("x", 2, 3), axis=2),
    "all of it expanded, to a batch of 3": lambda n: n.join(
        n.expand("x", [3, 1, 1, 1]), n.expand(n.cut("x", 2, -1), [3, 1, 1, 1]), axis=2
    ),
    "indices out of order": lambda n: n.take("x", [0, 0, 2, 1, 3, 4, 5, 5], 2),
    "indices of rank 2": lambda n: n.node(
        "Reshape", [n.take("x", [[0, 0, 1, 2], [3, 4, 5, 5]], 2), n.constant([1, 2, 8, 4])]
    ),
}


@pytest.mark.parametrize("name", NOT_A_PAD)
def test_near_miss(name: str) -> None:
    original = emulated(NOT_A_PAD[name], [1, 2, 6, 4])
    run(original, data_of([1, 2, 6, 4]))  # it is a model
    assert left(original) == []
