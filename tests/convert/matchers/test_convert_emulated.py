"""Pads spelled as Slices and Concats, or as tf2onnx spells symmetric: recognised where they are exact, else left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import emulations
import native
import numpy as np
import onnx
import pytest
from emulations import FORMS, MOST, SYMMETRIC, Nodes, Write, circular_2d, data_of, emulated, left, operators, runner
from folding_models import run
from onnx import helper
from small_models import FLOAT, INT64, convert, parsed, tensor

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


@pytest.mark.parametrize("name", FORMS)
def test_form_of_unknown_rank(name: str) -> None:
    write, dims, *_ = FORMS[name]
    original = emulated(write, dims)
    original.graph.input[0].type.tensor_type.ClearField("shape")
    conversion = convert(original)
    taken = ("edge by Expand", "edge by Gather and Unsqueeze", "Gather and Concat")
    assert (conversion.converted != ()) is (name in taken)
    assert runner(conversion.proto())(data_of(dims)) == runner(original)(data_of(dims)) is not None


def test_the_first_axis_of_unknown_rank() -> None:
    original = emulated(lambda n: n.join(n.take("x", [0, 0], 0), "x", axis=0), [3, 2])
    for value in (*original.graph.input, *original.graph.output):
        value.type.tensor_type.ClearField("shape")
    check(original, ["Pad_19"], [3, 2])


def test_an_axis_of_known_size_is_a_pad_without_one_of_open_size() -> None:
    """The later one does something else for small sizes, so the two are not one Pad."""
    steps: Callable[[Nodes, str, int], str] = lambda n, x, axis: n.join(
        n.cut(x, axis, 2, 0, -1), x, n.cut(x, axis, -2, -5, -1), axis=axis
    )
    original = emulated(lambda n: steps(n, steps(n, "x", 2), 3), [1, 3, 6, "m"])
    conversion = check(original, ["Pad_19", "Slice", "Slice", "Concat"], [1, 3, 6, 6])
    assert [record.status for record in conversion.records] == ["converted", "not needed"]


EXACT: dict[str, tuple[Write, list[int], list[str]]] = {
    "a NaN with a payload": (lambda n: n.join(n.block(np.uint32(0x7FC01234).view(np.float32), 1, 3, 2), "x"),
                             [1, 3, 4], ["constant"]),
    "minus zero": (lambda n: n.join(n.block(-0.0, 1, 3, 2), "x"), [1, 3, 4], ["constant"]),
    # Of more elements than other constants are looked at.
    "large block of zeros": (lambda n: n.join(n.block(0, 1, 512, 32), "x"), [1, 512, 8], ["constant"]),
    "mixed modes": (lambda n: n.join(n.block(0, 1, 1, 7, 1), n.circular("x", 2, 2, 1), n.block(0, 1, 1, 7, 1), axis=3),
                    [1, 1, 4, 4], ["circular", "constant"]),
    "an axis twice": (lambda n: n.circular(n.circular(n.circular("x", 2, 1, 1), 3, 1, 0), 2, 1, 0), [1, 1, 4, 4],
                      ["circular", "circular"]),
    "an Identity in front of a Slice": (lambda n: n.join(n.cut(n.node("Identity", ["x"]), 2, 3, 4), "x"), [1, 1, 4],
                                        ["circular"]),
    "a Gather along the first axis": (lambda n: n.node("Gather", ["x", n.constant([1, 0, 1, 2, 1])]), [3, 2],
                                      ["reflect"]),
    "x[-3:] of 2 elements": (lambda n: n.circular("x", 2, 3, 3), [1, 1, 2], ["circular"]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact(name: str) -> None:
    write, dims, forms = EXACT[name]
    conversion = check(emulated(write, dims), ["Pad_19"] * len(forms), dims, fold=True)
    assert [record.form.split()[0] for record in conversion.converted] == forms
    assert conversion.proto().ByteSize() < 1000


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
    assert run(conversion.proto(), feeds) == run(original, feeds)


def test_options() -> None:
    original = emulated(circular_2d, [1, 3, 8, 9])
    for options, reasons in (({"emulated": "keep"}, []), ({"select": "needed"}, ["ONNX Runtime runs it"]),
                             ({"target": "onnx"}, []), ({"target": "pyop"}, [])):  # fmt: skip
        assert left(original, **options) == reasons


def shape_computed(n: Nodes) -> str:
    """Amounts, as TorchScript's exporter computes them: a vector that zeros are joined to."""
    zeros = n.node("ConstantOfShape", [n.constant([4])], value=tensor("value", [0]))
    return n.join(n.node("Add", [n.node("Shape", ["x"]), n.constant([1, 1])]), zeros, axis=0)


TWO_ROWS = [[0, 0, 1, 2], [3, 4, 5, 5]]
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
    "tiled parts that may be wider, and a block": lambda n: n.join(
        n.block(0, 1, 2, 1, 4), *(n.tile(x, [1, 1, 1, 1]) for x in (n.cut("x", 2, 0, 3), n.cut("x", 2, 3)))
    ),
    "nothing added": lambda n: n.join(n.cut("x", 2, 0, 3), n.cut("x", 2, 3)),
    "all of it expanded": lambda n: n.join(*(n.expand(x, [3, 1, 1, 1]) for x in ("x", n.cut("x", 2, -1)))),
    "indices out of order": lambda n: n.take("x", [0, 0, 2, 1, 3, 4, 5, 5], 2),
    "indices of rank 2": lambda n: n.node("Reshape", [n.take("x", TWO_ROWS, 2), n.constant([1, 2, 8, 4])]),
}


@pytest.mark.parametrize("name", NOT_A_PAD)
def test_near_miss(name: str) -> None:
    original = emulated(NOT_A_PAD[name], [1, 2, 6, 4])
    assert runner(original)(data_of([1, 2, 6, 4])) is not None  # it is a model
    assert left(original) == []


def reflected(n: Nodes, value: str, axis: int) -> str:
    return n.join(n.flip(n.cut(value, axis, 1, 3), axis), value, n.flip(n.cut(value, axis, -4, -1), axis), axis=axis)


def edges_of_open_and_known_size(n: Nodes) -> str:
    """Of the first axis there may be no edge, of the second there are two in any case: only one has a bound."""
    once = n.join(n.cut("x", 2, 0, 1), "x", n.cut("x", 2, -1))
    first, last = n.cut(once, 3, 0, 1), n.cut(once, 3, -1)
    return n.join(n.expand(first, [1, 1, 1, 3]), once, n.expand(last, [1, 1, 1, 2]), axis=3)


COMPUTED: dict[str, tuple[Write, list[str]]] = {
    "circular": (circular_2d, ["Shape", "Concat", "Min", "Pad_19"]),
    "reflect": (lambda n: reflected(n, reflected(n, "x", 2), 3), ["Shape", "Concat", "Add", "Max", "Min", "Pad_19"]),
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

    wrapped: Write = lambda n, one: n.circular(n.join(one, one, one, n.cut(one, 3, 0, 1), axis=3), 4, 1, 1)
    original = emulated(lambda n: wrapped(n, n.circular("x", 2, 2, 3)), [1, 2, "n", 1, "m"])
    conversion = convert(original)
    assert len(conversion.converted) == 1
    before, after = runner(original), runner(conversion.proto())
    for size in SHORT:
        data = data_of([1, 2, size, 1, 3])
        assert after(data) == before(data) is not None


def test_record_of_an_open_dim_says_which_size_differs() -> None:
    assert left(emulated(emulations.circular_1d, [1, 3, "n"])) == [
        "ONNX Runtime runs it as it is; a Pad of 2, 1 does something else where axis 2 has fewer than 2 elements, "
        "and a Pad with computed amounts saves no nodes"]  # fmt: skip


@pytest.mark.parametrize("count", [7, 8, 9, 40, 200])
def test_what_is_the_data_up_to_some_size_is_none_for_any(count: int) -> None:
    """A slice that ends somewhere is the data up to there, whatever size is tried first."""
    write: Write = lambda n: n.join(n.cut("x", 2, 0, 1), n.cut("x", 2, 0, count))
    assert left(emulated(write, [1, 1, "n"])) == []
    check(emulated(write, [1, 1, count]), ["Pad_19"], [1, 1, count])


def of_size(size: int) -> list[Write]:
    return [lambda n: n.join(n.node("ConstantOfShape", [n.constant([1, 1, size])]), "x"),
            lambda n: n.join(n.expand(n.cut("x", 2, 0, 1), [1, 1, size]), "x"),
            lambda n: n.join(n.tile("x", [1, 1, size]), "x")]  # fmt: skip


STAY: list[tuple[Write, list[Any], dict[str, Any]]] = [
    # What ONNX Runtime computes at load time.
    (shape_computed, [3, "n"], {"outputs": [("y", INT64, [6])]}),
    (lambda n: n.node("Conv", ["x", n.circular(n.node("Neg", [n.block(1, 1, 1, 4)]), 2, 1, 1)]), [1, 1, 9], {}),
    # Zeros that fit one batch only, and amounts that grow with the data.
    (lambda n: n.join(n.block(0, 1, 3, 2), "x"), ["n", 3, 8], {}),
    (lambda n: n.join("x", "x"), [1, 1, "n"], {}),
    # Sizes that no memory holds, which are looked at before anything is made of that size.
    *((write, [1, 1, 2], {}) for size in (-1, LONGEST + 1, 2**62) for write in of_size(size)),
]


@pytest.mark.parametrize(("write", "dims", "parts"), STAY)
def test_stays(write: Write, dims: list[Any], parts: dict[str, Any]) -> None:
    assert left(emulated(write, dims, **parts)) == []


# --- what tf2onnx writes ----------------------------------------------------------------------------------------------


def spelled(rows: Sequence[Sequence[int]], opset: int = 13, order: list[int] | None = None, *, gathered: bool = True,
            dims: str = "", outputs: str = "", changes: Sequence[tuple[str, str]] = ()) -> onnx.ModelProto:  # fmt: skip
    """One symmetric Pad of tf2onnx; perhaps with a Transpose, in front of which the shape is taken if ``gathered``."""
    amounts, rank = np.array(rows), len(rows)
    one = amounts.any(1).astype(int)
    nodes, held, value = [], {}, "mirrored"
    first, second = [*one, *one], amounts.T.reshape(-1)
    for name, data, result, row, mode in (("first", "x", "wider", first, "constant"),
                                          ("second", "wider", "mirrored", second, "reflect")):  # fmt: skip
        if opset < 11:
            attributes, inputs = f", pads = {list(map(int, row))}", data
        else:
            held[f"{name}_pads"] = row
            attributes, inputs = "", f"{data}, {name}_pads"
        nodes.append(f'[{name}] {result} = Pad <mode = "{mode}"{attributes}> ({inputs})')
    if order is not None:
        value, amounts = "turned", amounts[order]
        nodes.append(f"[transpose] turned = Transpose <perm = {order}> (mirrored)")
    if order is not None and gathered:
        held["order"] = order
        nodes.append("[shape] plain_dims = Shape (mirrored) [gather] dims = Gather (plain_dims, order)")
    else:
        nodes.append(f"[shape] dims = Shape ({value})")
    parts = f" <num_outputs = {rank}>" if opset >= 18 else ""
    nodes.append(f"[split] {', '.join(f'dim_{axis}' for axis in range(rank))} = Split{parts} (dims)")
    for axis in (axes := np.flatnonzero(amounts.any(1)).tolist()):
        held[f"at_{axis}"] = [amounts[axis, 0], -1 - amounts[axis, 1]]
        nodes.append(f"[fill_{axis}] ones_{axis} = ConstantOfShape <value = bool[1] {{1}}> (dim_{axis})")
        scatter = "ScatterElements" if opset >= 11 else "Scatter"
        nodes.append(f"[scatter_{axis}] mask_{axis} = {scatter} (ones_{axis}, at_{axis}, no)")
        result = "y" if axis == axes[-1] else f"left_{axis}"
        nodes.append(f"[compress_{axis}] {result} = Compress <axis = {axis}> ({value}, mask_{axis})")
        value = result
    tensors = [f"int64[{len(row)}] {name} = {{{', '.join(map(str, row))}}}" for name, row in held.items()]
    shown = ", ".join("?" * rank)
    text = f"(float[{dims or shown}] x) => (float[{shown}] y{outputs}) <bool[2] no = {{0, 0}}"
    text = f"{', '.join([text, *tensors])}> {{ {' '.join(nodes)} }}"
    for old, new in changes:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return parsed(text, opset, 8 if opset > 10 else 4)


ROWS = [[1, 2], [0, 3]]
ROWS_BY_RANK = [[[2, 3]], [[2, 0], [1, 4]], [[0, 0], [1, 1], [0, 2]], [[0, 0], [1, 1], [2, 3], [0, 0]]]


SPELLED = [  # amounts, opset, perhaps a Transpose inside
    *((*row, None, False) for row in (*zip(ROWS_BY_RANK, (9, 11, 13, 21)), *zip(ROWS_BY_RANK[1:], (10, 18)))),
    *(([[0, 0], [0, 1], [1, 1], [2, 3]], 13, order, gathered)
      for order in ([0, 2, 3, 1], [3, 1, 0, 2]) for gathered in (True, False)),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "opset", "order", "gathered"), SPELLED, ids=str)
def test_spelled(rows: list, opset: int, order: list[int] | None, gathered: bool) -> None:
    original = spelled(rows, opset, order, gathered=gathered)
    conversion = convert(original)
    first, second = conversion.records
    last = original.graph.node[-1].name
    for record, note in ((first, f"one operator for the {len(original.graph.node)} nodes up to {last}"),
                         (second, "converted with first")):  # fmt: skip
        assert (record.status, record.op_type, record.notes[0]) == ("converted", SYMMETRIC, note)
        assert record.form == "symmetric emulation of tf2onnx"
    assert (first.name, second.name) == ("first", "second")
    message = conversion.proto()
    assert operators(message) == [SYMMETRIC, *["Transpose"] * (order is not None)]
    assert (message.graph.node[0].domain, message.graph.node[-1].name) == ("padops", last)
    padded = "y_padded" if order else "y"
    assert sorted(t.name for t in message.graph.initializer) == [f"{padded}_pads_begin", f"{padded}_pads_end"]
    onnx.checker.check_model(message)
    data = data_of(range(4, 4 + len(rows)))
    wanted = native.bits(np.pad(data, rows, "symmetric").transpose(order or range(len(rows))))
    assert runner(original)(data) == runner(message)(data) == wanted


def another(value: str) -> tuple[str, str]:
    """One more node, which reads what is in between."""
    return " }", f" other = Identity ({value}) }}"


TURNED = [("order = {1, 2, 0}", "order = {2, 1, 0}"), ("Transpose <perm = [1, 2, 0]>", "Transpose"),
          ("Split (dims)", "Split (plain_dims)"), *map(another, ("plain_dims", "turned"))]  # fmt: skip
FILL = "ones_0 = ConstantOfShape <value = bool[1] {1}> (dim_0)"
NOT_AS_SPELLED = [
    ("at_0 = {1, -3}", "at_0 = {0, -3}"),
    ("at_1 = {0, -4}", "at_1 = {0, -3}"),
    ("at_0 = {1, -3}", "at_0 = {1, 1}"),
    ("no = {0, 0}", "no = {0, 1}"),
    *(("first_pads = {1, 1, 1, 1}", f"first_pads = {{{row}}}") for row in ("2, 1, 2, 1", "1, 1, 1, 0", "1, 0, 1, 0")),
    ("second_pads = {1, 0, 2, 3}", "second_pads = {1, 0, 2, -1}"),
    ("reflect", "edge"),
    ("constant", "edge"),
    (FILL, FILL.replace("{1}", "{0}")),
    ("<axis = 1>", "<axis = 0>"),
    ("<axis = 1>", ""),
    ("(mirrored, mask_0)", "(mirrored, mask_1)"),
    (FILL, FILL.replace("dim_0", "dim_1")),
    (FILL, FILL.replace("(dim_0)", "(ten)") + " ten = Constant <value = int64[1] {10}> ()"),
    ("Shape (mirrored)", "Shape (wider)"),
    ("Shape (mirrored)", "Shape <end = 2> (mirrored)"),
    ("mask_0 = ScatterElements", 'mask_0 = ScatterElements <reduction = "none">'),
    *map(another, ("mirrored", "wider", "left_0", "mask_0", "ones_0", "dim_0", "dims")),
]  # fmt: skip


NO_DATA = ('Pad <mode = "constant"> (x,', 'Pad <mode = "constant"> ("",')
PAD_13, BOTH = ["Pad_13"] * 2, [SYMMETRIC] * 2
FEW = [  # further models of it, and what its Pads become
    *((spelled(ROWS, 18, changes=[change]), "Pad_18", "Pad_18") for change in NOT_AS_SPELLED),
    *((spelled([[0, 0], [2, 1], [0, 3]], order=[1, 2, 0], changes=[change]), *PAD_13) for change in TURNED),
    *((spelled(ROWS, outputs=more), *PAD_13) for more in (", float[] mirrored", ", bool[] mask_1", ", int64[] dims")),
    (spelled(ROWS, changes=[NO_DATA]), None, "Pad_13"),
    (spelled(ROWS, changes=[("Split (dims)", "Split (dims, parts)"),
                            ("no = {0, 0}", "no = {0, 0}, int64[2] parts = {1, 1}")]), *BOTH),
    (spelled(ROWS, 9, changes=[("Split (dims)", "Split <split = [1, 1]> (dims)")]), *BOTH),
]  # fmt: skip


@pytest.mark.parametrize(("original", "first", "second"), FEW)
def test_what_a_spelling_becomes(original: onnx.ModelProto, first: str | None, second: str) -> None:
    """Whatever one node or constant has different, the Pads are converted one by one, and every other node stays."""
    conversion = convert(original)
    assert [record.op_type for record in conversion.records] == [first, second]
    assert (len(conversion.proto().graph.node) == len(original.graph.node)) is (second != SYMMETRIC)


@pytest.mark.parametrize(("size", "op_type"), [(3, SYMMETRIC), (2, "Pad_13")])
def test_known_to_reach_too_far_is_left(size: int, op_type: str) -> None:
    """At n + 1 the nodes show the padding of the other end."""
    original = spelled([[3, 0]], dims=str(size))
    converted = convert(original)
    assert {record.op_type for record in converted.records} == {op_type}
    data = np.arange(1, 1 + size, dtype=np.float32)
    assert runner(converted.proto())(data) == runner(original)(data) is not None
