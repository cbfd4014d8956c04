"""Output types and shapes at session creation, for the operators whose amounts are attributes."""

from __future__ import annotations

import native
import numpy as np
import onnx
import onnxruntime
import pytest
import small_models
from onnx import helper
from small_models import FLOAT, INT64

import padops
from padops.spec.dialects import OPS

BELOW, ABOVE, BETWEEN = "padding_below", "padding_above", "padding_interior"


def model(op: str, shape, element_type: int = FLOAT, mode: str = "", **amounts) -> onnx.ModelProto:
    """Return a model of one node whose output has no declared shape, so that a session has to infer it."""
    names = [row.name for row in OPS[op].inputs]
    node = native.node(op, names, "output", amounts | ({OPS[op].mode: mode} if mode else {}), "n")
    inputs = [(name, element_type, None if i else shape) for i, name in enumerate(names)]
    return _model([node], inputs, [("output", element_type, None)])


def _model(nodes: list[onnx.NodeProto], inputs: list, outputs: list) -> onnx.ModelProto:
    return small_models.model(nodes, 18, ir_version=9, imports=[("padops", 1)], inputs=inputs, outputs=outputs)


def run(made: onnx.ModelProto, data: np.ndarray) -> list[np.ndarray]:
    return native.session(made).run(None, {"data": data})


ROWS = [
    ([2, 3], [1, 0, -1, 4], [2, 7]),
    (["n", 3], [0, 1, 0, 1], ["n", 5]),
    (["n", 3], [-1, 1, 1, 1], ["n", 5]),
    (["n", 3], [1, 0, 1, 0], ["padops(n + 2)", 3]),
    (["n", 3], [-1, 0, 0, 0], ["padops(n - 1)", 3]),
    ([None, "k"], [0, 0, 0, 0], []),  # no symbol: nothing is said at all
    ([None, 3], [0, 1, 0, 0], []),
    ([0, 2], [3, -1, 0, 0], [3, 1]),
]
AMOUNTS = {BELOW: [1, 0, 0], ABOVE: [0, -2, 0], BETWEEN: [2, 0, 1]}


@pytest.mark.parametrize(
    ("op", "shape", "amounts", "output"),
    [
        *(("Pad_1", shape, {"paddings": pads}, output) for shape, pads, output in ROWS),
        *(("Pad_2", shape, {"pads": pads}, output) for shape, pads, output in ROWS),
        # Interior counts, and touches an axis by itself.
        ("NGraphPad_0", [3, 4, 5], AMOUNTS, [8, 2, 9]),
        ("NGraphPad_0", [3, 4, "n"], AMOUNTS, []),
        ("NGraphPad_0", [3, 4, "n"], AMOUNTS | {BETWEEN: [0, 0, 0]}, [4, 2, "n"]),
    ],
)
def test_dims(op: str, shape: list, amounts: dict[str, list], output: list) -> None:
    """P1, P6: dims follow where the input's are known, and symbols where it has them."""
    (inferred,) = native.session(model(op, shape, **amounts)).get_outputs()
    assert (inferred.type, inferred.shape) == ("tensor(float)", output)


@pytest.mark.parametrize("shape", [["n", 3], [None, 3], ["n", "n"], None])
def test_what_follows_computes_with_real_dims(shape) -> None:
    """P1: the runtime folds what it believes to be known: a dim that is not must not look as if it were."""
    made = model("Pad_2", shape, pads=[1, 0, 1, 2])
    made.graph.node.append(helper.make_node("Shape", ["output"], ["size"]))
    made.graph.output.append(small_models.info(("size", INT64, None)))
    built = native.session(made)
    for rows in (0, 4, 9):
        output, size = built.run(None, {"data": np.ones((rows, 3), np.float32)})
        assert size.tolist() == list(output.shape) == [rows + 2, 5]


def test_symbols_of_pads_of_pads() -> None:
    """P1: each adds to what the one before it gives; as much taken away as was added is another name for the size."""
    made = model("Pad_2", ["n"], pads=[1, 1])
    for name, pads in (("more", [0, 3]), ("less", [-1, -1])):
        made.graph.node.append(native.node("Pad_2", ["output"], name, {"pads": pads}))
        made.graph.output.append(small_models.info((name, FLOAT, None)))
    built = native.session(made)
    symbols = ["padops(n + 2)", "padops(padops(n + 2) + 3)", "padops(padops(n + 2) - 2)"]
    assert [output.shape for output in built.get_outputs()] == [[symbol] for symbol in symbols]
    assert [output.shape for output in built.run(None, {"data": np.ones(4, np.float32)})] == [(6,), (9,), (4,)]


def test_a_symbol_of_the_model_that_reads_like_a_sum() -> None:
    """Equal symbols mean equal sizes: the model's own "n + 2" is a name, and may be of any size."""
    nodes = [
        helper.make_node("Neg", ["z"], ["negated"]),
        helper.make_node("Sigmoid", ["negated"], ["small"]),
        helper.make_node("ReduceSum", ["small"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["shifted"]),
        native.node("Pad_2", ["shifted"], "padded", {"pads": [1, 1]}),
        helper.make_node("ReduceSum", ["padded"], ["output"], keepdims=0),
    ]
    options = onnxruntime.SessionOptions()  # with an arena, whose plan goes by the symbols
    options.log_severity_level = 4
    padops.register(options)
    built = native.session(
        _model(nodes, [("x", FLOAT, ["n"]), ("z", FLOAT, ["n + 2"])], [("output", FLOAT, [])]), options
    )
    (output,) = built.run(None, {"x": np.ones(3, np.float32), "z": np.zeros(1, np.float32)})
    assert output == 4.5


@pytest.mark.parametrize("dtype", native.TYPES, ids=lambda dtype: dtype.name)
def test_every_type(dtype) -> None:
    """The output has the data's type, whichever number the runtime has for it."""
    built = native.session(model("NGraphPad_0", [2], dtype.onnx, **{BELOW: [1], ABOVE: [1]}))
    (output,) = built.get_outputs()
    assert (output.type, output.shape) == (f"tensor({dtype.name})", [4])
    data = native.random_array(np.random.default_rng(1), dtype, (2,))
    assert native.run_session(built, {"arg": data, "arg_pad_value": data[:1].reshape(())}).shape == (4,)


@pytest.mark.parametrize(
    ("pads", "mode", "error"),
    [
        ([1, 2, 3], "constant", "pads has 3 values, expected 4 (2 per axis, rank 2) [P8]"),
        ([0, -9, 0, 0], "constant", "axis 1 would have -6 elements (begin -9, size 3, interior 0, end 0) [P1]"),
        ([0, -3, 0, 2], "edge",
         "axis 1 has nothing to extend by edge: begin -3 and end 2 leave none of its 3 elements"),
        *(
            ([0, amount, 0, 1], "constant", f"axis 1 (begin {amount}, size 3, interior 0, end 1) has amounts beyond")
            for amount in (2**63 - 1, -(2**63), 2**62)
        ),
    ],
)  # fmt: skip
def test_broken_rules_wait_for_the_kernel(pads: list[int], mode: str, error: str) -> None:
    """P1, P5, P8, P10: inference, which does not know the node's name, leaves it to the kernel to say what is wrong."""
    with pytest.raises(Exception) as caught:
        run(model("Pad_2", [2, 3], mode=mode, pads=pads), np.zeros((2, 3), np.float32))
    assert native.error_text(caught.value).startswith(f"padops::Pad_2 'n': {error}")


def test_declared_shape_that_contradicts() -> None:
    """P1: a model whose declared output shape cannot be is refused, or its run gives the real one; nothing is cut."""
    made = model("Pad_2", [2, 3], pads=[0, 1, 0, 1])
    made.graph.output[0].CopyFrom(small_models.info(("output", FLOAT, [2, 4])))
    try:
        (output,) = run(made, np.zeros((2, 3), np.float32))
    except Exception as error:
        assert "shape" in str(error).lower()
    else:
        assert output.shape == (2, 5)
