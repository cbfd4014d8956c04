"""Pads that are spelled as Slices and Concats: recognised where they are exact for every shape, else left.

``test_convert_emulated_torch.py`` does the same with what PyTorch really exports, where it is installed.
"""

from __future__ import annotations

import native
import numpy as np
import onnx
import pytest
from emulations import (
    FORMS,
    MOST,
    SYMMETRIC,
    Nodes,
    Write,
    circular_1d,
    circular_2d,
    data_of,
    emulated,
    left,
    operators,
    runner,
)
from onnx import helper
from small_models import FLOAT, INT64, convert, tensor

import padops
from padops.convert.matchers.maps import LONGEST

SHORT = (0, 1, 2, 3, 4, 9)


def check(original: onnx.ModelProto, ops: list[str], dims: list[int], **options: bool) -> padops.convert.Conversion:
    """What the model becomes has the bits of the original."""
    conversion = convert(original, **options)
    assert operators(conversion.proto()) == ops
    wanted = runner(original)(data_of(dims))
    assert wanted is not None and runner(conversion.proto())(data_of(dims)) == wanted
    return conversion


# Unsqueeze has its axes as an attribute before opset 13.
@pytest.mark.parametrize(("name", "opset"), [(name, (13, 17, 20, 11)[i % 4]) for i, name in enumerate(FORMS)])
def test_form(name: str, opset: int) -> None:
    write, dims, mode, pads, _ = FORMS[name]
    original = emulated(write, dims, max(opset, 13) if "Unsqueeze" in name else opset)
    op_type = SYMMETRIC if mode == "symmetric" else "Pad_19"
    conversion = check(original, [op_type], dims)
    (record,) = conversion.records
    assert (record.status, record.op_type) == ("converted", op_type)
    assert record.form.startswith(f"{'circular' if mode == 'wrap' else mode} emulation (")
    message = conversion.proto()
    (node,) = message.graph.node
    assert (node.domain, node.name) == ("padops", original.graph.node[-1].name)
    values = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in message.graph.initializer}
    assert [x for name in node.input[1:3] if name for x in np.ravel(values[name]).tolist()][: len(pads)] == pads
    onnx.checker.check_model(message)


@pytest.mark.parametrize("name", FORMS)
def test_form_of_any_size(name: str) -> None:
    """Where a dim is open, only what is a Pad for every size of it is converted."""
    write, dims, _, _, any_size = FORMS[name]
    original = emulated(write, [1, 3, *["?"] * (len(dims) - 2)], 17)
    conversion = convert(original)
    assert (conversion.converted != ()) is any_size
    assert any_size or conversion.proto() == original
    before, after = runner(original), runner(conversion.proto())
    for size in SHORT if any_size else ():
        data = data_of([1, 3, *[size] * (len(dims) - 2)])
        assert before(data) in (None, after(data)), size


@pytest.mark.parametrize("bits", [0x7FC01234, 0x80000000])
def test_fill_keeps_every_bit(bits: int) -> None:
    """A NaN with a payload, and minus zero."""
    fill = np.uint32(bits).view(np.float32)
    check(emulated(lambda n: n.join(n.block(fill, 1, 3, 2), "x"), [1, 3, 4]), ["Pad_19"], [1, 3, 4])


def test_large_block_of_zeros() -> None:
    """Of more elements than other constants are looked at."""
    original = emulated(lambda n: n.join(n.block(0, 1, 512, 32), "x"), [1, 512, 8])
    assert check(original, ["Pad_19"], [1, 512, 8]).proto().ByteSize() < 1000 < original.ByteSize()


def test_mixed_modes_stay_separate() -> None:
    def both(n: Nodes) -> str:
        zeros = n.block(0, 1, 1, 7, 1)
        return n.join(zeros, n.circular("x", 2, 2, 1), zeros, axis=3)

    conversion = check(emulated(both, [1, 1, 4, 4]), ["Pad_19", "Pad_19"], [1, 1, 4, 4], fold=True)
    assert [record.form.split()[0] for record in conversion.converted] == ["circular", "constant"]


def test_an_axis_twice_is_two_pads() -> None:
    original = emulated(lambda n: n.circular(n.circular(n.circular("x", 2, 1, 1), 3, 1, 0), 2, 1, 0), [1, 1, 4, 4])
    assert len(check(original, ["Pad_19", "Pad_19"], [1, 1, 4, 4]).converted) == 2


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
    feeds = {"x": data_of([1, 1, 4, 4])}
    made = [native.session(message).run(None, feeds) for message in (conversion.proto(), original)]
    assert [native.bits(one) for one in made[0]] == [native.bits(one) for one in made[1]]


def test_options() -> None:
    original = emulated(circular_2d, [1, 3, 8, 9])
    for options, reasons in (({"emulated": "keep"}, []), ({"select": "needed"}, ["ONNX Runtime runs it"]),
                             ({"target": "onnx"}, []), ({"target": "pyop"}, [])):  # fmt: skip
        assert left(original, **options) == reasons
    with pytest.raises(padops.convert.UsageError, match="emulated is 'maybe', expected 'convert' or 'keep'"):
        convert(original, emulated="maybe")


def shape_computed(n: Nodes) -> str:
    """Amounts, as TorchScript's exporter computes them: a vector that zeros are joined to."""
    zeros = n.node("ConstantOfShape", [n.constant([4])], value=tensor("value", [0]))
    return n.join(n.node("Add", [n.node("Shape", ["x"]), n.constant([1, 1])]), zeros, axis=0)


def weights(n: Nodes) -> str:
    return n.node("Conv", ["x", n.circular(n.node("Neg", [n.block(1, 1, 1, 4)]), 2, 1, 1)])


def test_what_onnx_runtime_computes_at_load_time_stays() -> None:
    assert left(emulated(shape_computed, [3, "n"], outputs=[("y", INT64, [6])])) == []
    assert left(emulated(weights, [1, 1, 9])) == []


NOT_A_PAD: dict[str, Write] = {
    "other data": lambda n: n.join(n.cut(n.node("Neg", ["x"]), 2, -2), "x"),
    "wrong order": lambda n: n.join(n.cut("x", 2, 0, 2), "x", n.cut("x", 2, -1)),
    "overlapping slices": lambda n: n.join(n.cut("x", 2, 0, 5), n.cut("x", 2, 4)),
    "rolled": lambda n: n.join(n.cut("x", 2, -2), n.cut("x", 2, 0, -2)),
    "not from the end": lambda n: n.join(n.cut("x", 2, -3, -1), "x"),
    "another axis": lambda n: n.join(n.cut("x", 3, 0, 2), n.cut("x", 3, 2, 4)),
    "an end that goes backward": lambda n: n.join("x", n.cut("x", 2, 0, MOST, -1)),
    "a step of two": lambda n: n.join(n.cut("x", 2, 0, 4, 2), "x"),
    "half a reflection": lambda n: n.join(n.cut("x", 2, 1, 3), "x"),
    "Neg in between": lambda n: n.join(n.node("Neg", [n.cut("x", 2, -2)]), "x"),
    "symmetric beyond the data": lambda n: n.join(n.take("x", [5, 5, 4, 3, 2, 1, 0], 2), "x"),
    "fills that differ": lambda n: n.join(n.block(0, 1, 2, 1, 4), "x", n.block(1, 1, 2, 1, 4)),
    "a block that is not of one value": lambda n: n.join(n.block(np.arange(8).reshape(2, 1, 4), 1, 2, 1, 4), "x"),
    "plus and minus zero": lambda n: n.join(n.block([0.0, -0.0, 0.0, 0.0], 1, 2, 1, 4), "x"),
    "a fill in the middle": lambda n: n.join(n.cut("x", 2, 0, 3), n.block(0, 1, 2, 1, 4), n.cut("x", 2, 3)),
    "zeros and an edge": lambda n: n.join(n.block(0, 1, 2, 1, 4), "x", n.cut("x", 2, -1)),
    "only a part": lambda n: n.join(n.cut("x", 2, 1), n.cut("x", 2, 0, 1)),
    "nothing added": lambda n: n.join(n.cut("x", 2, 0, 3), n.cut("x", 2, 3)),
    "all of it expanded, to a batch of 3": lambda n: n.join(
        n.expand("x", [3, 1, 1, 1]), n.expand(n.cut("x", 2, -1), [3, 1, 1, 1])
    ),
    "indices out of order": lambda n: n.take("x", [0, 0, 2, 1, 3, 4, 5, 5], 2),
    "indices of rank 2": lambda n: n.node(
        "Reshape", [n.take("x", [[0, 0, 1, 2], [3, 4, 5, 5]], 2), n.constant([1, 2, 8, 4])]
    ),
}


@pytest.mark.parametrize("name", NOT_A_PAD)
def test_near_miss(name: str) -> None:
    original = emulated(NOT_A_PAD[name], [1, 2, 6, 4])
    assert runner(original)(data_of([1, 2, 6, 4])) is not None  # it is a model
    assert left(original) == []


# --- data whose size the model leaves open ----------------------------------------------------------------------------


def reflect_2d(n: Nodes) -> str:
    value = "x"
    for axis in (2, 3):
        before, after = n.flip(n.cut(value, axis, 1, 3), axis), n.flip(n.cut(value, axis, -4, -1), axis)
        value = n.join(before, value, after, axis=axis)
    return value


def edges_of_open_and_known_size(n: Nodes) -> str:
    """Of the first axis there may be no edge, of the second there are two in any case: only one has a bound."""
    once = n.join(n.cut("x", 2, 0, 1), "x", n.cut("x", 2, -1))
    first, last = n.cut(once, 3, 0, 1), n.cut(once, 3, -1)
    return n.join(n.expand(first, [1, 1, 1, 3]), once, n.expand(last, [1, 1, 1, 2]), axis=3)


COMPUTED: dict[str, tuple[Write, list[str]]] = {
    "circular": (circular_2d, ["Shape", "Concat", "Min", "Pad_19"]),
    "reflect": (reflect_2d, ["Shape", "Concat", "Add", "Max", "Min", "Pad_19"]),
    "edge": (edges_of_open_and_known_size, ["Shape", "Concat", "Add", "Min", "Pad_19"]),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_amounts_that_are_computed(name: str) -> None:
    """Of data that are shorter than the amounts, the nodes show what there is; so do the Pad and its fallback."""
    write, operators_now = COMPUTED[name]
    original = emulated(write, [1, 2, "height", "width"])
    conversion = convert(original, fallback=True, verify=True, run=True)
    (record,) = conversion.converted
    assert record.notes[1] == "its amounts are computed, since the nodes reach no further than the data"
    message = conversion.proto()
    assert operators(message) == operators_now and len(operators_now) < len(original.graph.node)
    onnx.checker.check_model(message)
    before, *others = runner(original), runner(message), runner(message, stock=True)
    for height, width in np.ndindex(len(SHORT), len(SHORT)):
        data = data_of([1, 2, SHORT[height], SHORT[width]])
        if (wanted := before(data)) is not None:
            assert [other(data) for other in others] == [wanted] * 2, data.shape


def test_amounts_are_computed_of_open_dims_alone() -> None:
    """The other axis is one element that is wrapped twice; its amounts stay what they are."""

    def wrapped_twice(n: Nodes) -> str:
        first = n.circular("x", 2, 2, 3)
        return n.circular(n.join(first, first, first, n.cut(first, 3, 0, 1), axis=3), 4, 1, 1)

    original = emulated(wrapped_twice, [1, 2, "n", 1, "m"])
    conversion = convert(original)
    assert len(conversion.converted) == 1
    before, after = runner(original), runner(conversion.proto())
    for size in SHORT:
        data = data_of([1, 2, size, 1, 3])
        assert after(data) == before(data) is not None


def test_record_of_an_open_dim_says_which_size_differs() -> None:
    why = "ONNX Runtime runs it as it is; a Pad of 2, 1 does something else where axis 2 has fewer than 2 elements"
    assert left(emulated(circular_1d, [1, 3, "n"])) == [f"{why}, and to compute its amounts takes as many nodes"]


def test_longer_than_the_data() -> None:
    """Of 2 elements, ``x[-3:]`` are 2: a Pad of 2, not of 3."""
    check(emulated(lambda n: n.circular("x", 2, 3, 3), [1, 1, 2]), ["Pad_19"], [1, 1, 2])


def test_zeros_of_another_shape_fit_one_batch_only() -> None:
    assert left(emulated(lambda n: n.join(n.block(0, 1, 3, 2), "x"), ["n", 3, 8])) == []


def test_amounts_that_grow_with_the_data() -> None:
    assert left(emulated(lambda n: n.join("x", "x"), [1, 1, "n"])) == []


@pytest.mark.parametrize("count", [7, 8, 9, 40, 200])
def test_what_is_the_data_up_to_some_size_is_none_for_any(count: int) -> None:
    """A slice that ends somewhere is the data up to there, whatever size is tried first."""
    write: Write = lambda n: n.join(n.cut("x", 2, 0, 1), n.cut("x", 2, 0, count))
    assert left(emulated(write, [1, 1, "n"])) == []
    check(emulated(write, [1, 1, count]), ["Pad_19"], [1, 1, count])


@pytest.mark.parametrize("size", [-1, LONGEST + 1, 2**62])
def test_sizes_that_no_memory_holds(size: int) -> None:
    """What a model says of sizes is looked at before anything is made of that size."""
    writers: list[Write] = [
        lambda n: n.join(n.node("ConstantOfShape", [n.constant([1, 1, size])]), "x"),
        lambda n: n.join(n.expand(n.cut("x", 2, 0, 1), [1, 1, size]), "x"),
        lambda n: n.join(n.tile("x", [1, 1, size]), "x"),
    ]
    for write in writers:
        assert left(emulated(write, [1, 1, 2])) == []
