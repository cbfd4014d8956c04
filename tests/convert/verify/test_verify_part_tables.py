"""How inputs of parts are drawn: which inputs control sizes, and which sizes, ranks and numbers the draws use."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from small_models import FLOAT, INT64, graph, model, pad

from padops.convert.verify.feeds import Input
from padops.convert.verify.part_inputs import SIZED_BY, Marks, marks_of, region_inputs, sizing_inputs

# By the names that onnx gives the inputs. What an index points to counts as well: an index beyond it is refused, or
# read.
BY_NAME = {
    "Pad": {"pads", "axes"}, "ConstantOfShape": {"input"}, "Range": {"start", "limit", "delta"}, "Expand": {"shape"},
    "Tile": {"repeats"}, "Reshape": {"shape"}, "OneHot": {"depth"}, "Resize": {"roi", "scales", "sizes"},
    "Upsample": {"scales"}, "Slice": {"starts", "ends", "axes", "steps"}, "HannWindow": {"size"},
    "HammingWindow": {"size"},
    "BlackmanWindow": {"size"}, "DFT": {"dft_length", "axis"}, "STFT": {"frame_step", "frame_length"},
    "MelWeightMatrix": {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"},
    "CenterCropPad": {"shape"}, "Col2Im": {"image_shape", "block_shape"}, "AffineGrid": {"size"}, "TopK": {"K"},
    "MaxUnpool": {"I", "output_shape"}, "RoiAlign": {"batch_indices"}, "SplitToSequence": {"split"},
}  # fmt: skip


def of_op(op: str) -> onnx.ModelProto:
    """A model of one node, whose inputs are those of the graph, by their names."""
    version = 9 if op == "Upsample" else 21
    names = [row.name for row in onnx.defs.get_schema(op, version).inputs]
    inputs = [(name, FLOAT, None) for name in names]
    return model([helper.make_node(op, names, ["y"])], version, inputs=inputs)


@pytest.mark.parametrize("op", [*BY_NAME, "Add", "Gather", "Where", "Conv"])
def test_the_inputs_that_say_how_large_something_is(op: str) -> None:
    assert sizing_inputs(of_op(op)) == BY_NAME.get(op, set())
    assert set(SIZED_BY) == set(BY_NAME)


@pytest.mark.parametrize("op, sizes", [("Shape", False), ("Size", False), ("Neg", True)])
def test_what_is_computed_from_an_input(op: str, sizes: bool) -> None:
    """Of dims, the elements of the input say nothing."""
    nodes = [helper.make_node(op, ["k"], ["amounts"]), pad(["x", "amounts"])]
    made = model(nodes, inputs=[("x", FLOAT, None), ("k", INT64, None)])
    assert sizing_inputs(made) == ({"k"} if sizes else set())


def test_what_stands_in_a_body_or_is_of_another_domain() -> None:
    branch = graph([pad(["x", "k"], "z")], [], [("z", FLOAT, None)], name="b")
    nodes = [helper.make_node("Scan", ["k"], ["y"], body=branch),
             helper.make_node("Other", ["v"], ["w"], domain="other")]  # fmt: skip
    made = model(nodes, inputs=[(name, FLOAT, None) for name in "xkv"], imports=[("other", 1)])
    assert sizing_inputs(made) == {"k", "v"}


def drawn(
    row: Input, count: int = 400, marks: Marks | None = None, sizing: tuple[str, ...] = ()
) -> Iterator[np.ndarray]:
    return (feeds[row.name] for feeds in region_inputs([row], marks or Marks(), sizing, 0, count))


def test_sizes_and_ranks() -> None:
    sizes = [len(array) for array in drawn(Input("x", "bool", ("n",)), 16)]
    assert sizes[0] == 1 and sorted(sizes) == [*range(10), 11, 13, 16, 17, 31, 32], (
        "small, odd, even, primes, powers of 2"
    )
    near = [len(array) for array in drawn(Input("x", "bool", (None,)), 22, Marks((100, -5000, 1 << 17)))]
    assert near[16:] == [99, 100, 101, 4999, 5000, 5001]
    assert {array.ndim for array in drawn(Input("x", "bool", None), 10)} == {0, 1, 2, 3, 4}


def test_integers_at_the_ends_of_types() -> None:
    found = {int(number) for array in drawn(Input("x", "int64", (64,))) for number in array}
    ends = {0, 1, 2, *(sign * (1 << bits) - less for bits in (7, 8, 15, 16, 31) for sign in (1, -1) for less in (0, 1))}
    ends -= {-(1 << 8) - 1, -(1 << 16) - 1, (1 << 16) - 1, -(1 << 8), -(1 << 16)}
    rounded = {sign * ((1 << bits) + more) for bits, more in ((24, 1), (53, 1), (62, 3)) for sign in (1, -1)}
    whole = {-(1 << 63), (1 << 63) - 1}
    assert ends | rounded | whole <= found
    assert {-128, 127} <= {int(number) for array in drawn(Input("x", "int8", (64,))) for number in array}


def test_special_floats() -> None:
    found = {np.float32(number).tobytes() for array in drawn(Input("x", "float", (64,))) for number in array}
    wanted = (0.0, -0.0, 1e-40, np.nan, np.inf, -np.inf, 65504.0, 3e38)
    assert {np.float32(number).tobytes() for number in wanted} <= found


def test_amounts_are_small_or_one_is_large() -> None:
    rows = [Input("x", "float", ("n",)), Input("k", "int64", (3,))]
    found = [feeds["k"] for feeds in region_inputs(rows, Marks((77,)), ("k",), 0, 600)]
    numbers = {int(number) for array in found for number in array}
    assert {-2, -1, 0, 1, 2, 3, 76, 77, 78} <= numbers and max(numbers) <= 1 << 20
    beyond = [sorted(abs(array)) for array in found if max(abs(array)) > 2 * 78 + 4]
    assert beyond and all(array[1] <= 2 for array in beyond), "the others are small, then"


def test_the_numbers_of_a_model() -> None:
    tensors = [
        numpy_helper.from_array(np.arange(64, dtype=np.int64) + 1000, "few"),
        numpy_helper.from_array(np.arange(65, dtype=np.int64) + 5000, "many"),
        numpy_helper.from_array(np.array([0.5, np.inf, np.nan], np.float16), "halves"),
        TensorProto(name="far", data_type=INT64, dims=[1], data_location=TensorProto.EXTERNAL),
        helper.make_tensor("text", TensorProto.STRING, [1], [b"a"]),
    ]
    nodes = [helper.make_node("Any", ["x"], ["y"], domain="other", ints=[7, -9], floats=[2.5], i=11, f=3.5, s="13")]
    marks = marks_of(model(nodes, tensors=tensors))
    assert set(marks.integers) == {*range(1000, 1064), 7, -9, 11}
    assert set(marks.floats) == {*map(float, marks.integers), 0.5, 2.5, 3.5}
    assert Marks((5, -40, 200_000)).sizes == (39, 40, 41), "5 is near one that is tried anyway"
