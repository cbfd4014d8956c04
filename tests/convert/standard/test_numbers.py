"""Formulas in NumPy: what is known is computed, and what is not becomes nodes of the graph builder that is open."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest
from lowered_for import MOVING, lowered, model_of, padded, session, written
from small_models import parsed

from padops.convert.standard.graph_builder import GraphBuilder, Number, ints
from padops.spec.plan import PadError

WEBGPU, QNN = "WebGpuExecutionProvider", "QNNExecutionProvider"  # no Pad of opset 24; no more than four dims


def test_what_numpy_cannot_ask_is_an_error() -> None:
    number = Number(name="x")
    with GraphBuilder(18, str) as made:
        with pytest.raises(TypeError, match="x is not known before the model runs"):
            np.take(ints(1, 2), number)
        with pytest.raises(TypeError, match="power"):
            np.power(number, 2)
        with pytest.raises(TypeError, match="cumsum"):
            np.cumsum(number)
    assert not made.nodes


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_open_dims(mode: str) -> None:
    """Without a look at the shape, for any size: amounts of several periods too, which take more than one Tile."""
    rows = [[0, 1, 0, 0], [0, 0, 0, 1], [0, 2, 0, 3], [0, 3, 0, 0], [0, 9, 0, 20], [2, 3, 1, 5]]
    model, conversion = lowered(model_of(mode, "m, n", rows), WEBGPU)
    assert set(written(model)) <= MOVING and len(conversion.converted) == len(rows)
    run = session(model)
    for n in range(0 if mode == "constant" else 1, 7):
        x = np.arange(1, 2 * n + 1, dtype=np.float32).reshape(2, n)
        for output, row in zip(run.run(None, {"x": x}), rows, strict=True):
            np.testing.assert_array_equal(output, padded(mode, x, row), err_msg=f"{n} elements by {row}")


# The bits of fills: -0.0, 0.0, 1.5, -inf, the least denormal, its negative, and NaNs, quiet and signalling. In float16,
# ONNX Runtime's own Pad on the processor loses a NaN's bits as well.
FILLS = {
    np.uint16: (np.float16, (0x8000, 0, 0x3E00, 0xFC00, 1, 0x8001)),
    np.uint32: (np.float32, (1 << 31, 0, 0x3FC00000, 0xFF800000, 1, (1 << 31) + 1, 0x7FC01234, 0xFFC01234, 0x7FA01234)),
    np.uint64: (
        np.float64,
        (1 << 63, 0, 0x3FF8 << 48, 0xFFF << 52, 1, (1 << 63) + 1, 5 + (0x7FF8 << 48), 0x7FF4 << 48),
    ),
}


@pytest.mark.parametrize("given", [False, True], ids=["constant fill", "fill given at run time"])
@pytest.mark.parametrize("dims", ["n, m", "2, 3"])
@pytest.mark.parametrize("unsigned", FILLS, ids=lambda unsigned: FILLS[unsigned][0].__name__)
def test_fills_keep_their_bits(unsigned: type[np.unsignedinteger], dims: str, given: bool) -> None:
    """On any axis and for each provider; with a value at run time, too, which may be -0.0."""
    kind, fills = FILLS[unsigned]
    name = {"float32": "float", "float64": "double"}.get(kind.__name__, kind.__name__)
    x = np.array([[-0.0, 1, np.inf], [2, -3, 4]], kind)
    forms = set()
    for provider, pads in itertools.product(("cuda", "openvino", WEBGPU, QNN), ([0, 1, 0, 2], [1, 2, 2, 1])):
        inputs = f"{name}[{dims}] x, {name} f" if given else f"{name}[{dims}] x"
        held = f"int64[4] p = {{{', '.join(map(str, pads))}}}"
        model = parsed(f"({inputs}) => ({name}[a, b] y) <{held}> {{ y = Pad (x, p, f) }}", 25, 10)
        run = None
        # A fill that is given needs no model of its own; each other one has a model for every second list of pads.
        for bits in fills if given else fills[pads[0] :: 2]:
            fill = np.array(bits, unsigned).view(kind)
            if run is None or not given:
                copy = onnx.ModelProto.FromString(model.SerializeToString())
                if not given:
                    copy.graph.initializer.append(onnx.numpy_helper.from_array(fill, "f"))
                made, _ = lowered(copy, provider)
                forms.add("Less" in written(made))
                run = session(made)
            expected = np.pad(x.view(unsigned), [(pads[0], pads[2]), (pads[1], pads[3])], constant_values=bits)
            output = run.run(None, {"x": x, "f": fill} if given else {"x": x})[0]
            np.testing.assert_array_equal(output.view(unsigned), expected, err_msg=f"{provider}, {pads}, {bits:x}")
    assert forms == ({False} if dims == "2, 3" else {True, False}), "with open dims the condition has the shape"


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap", "symmetric"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_known_dims(mode: str, n: int) -> None:
    """All amounts: none, short, of a whole period, of many, and crops."""
    x = np.arange(1, 2 * n + 1, dtype=np.float32).reshape(2, n)
    least = 0 if mode == "symmetric" else -2
    rows, expected = [], []
    for begin, end in itertools.product((least, 0, 1, n - 1, n, 3 * n + 1), repeat=2):
        if mode == "symmetric" and max(begin, end) > n:
            continue  # P4
        try:
            expected.append(padded(mode, x, [0, begin, 1, end]))
        except PadError:
            continue
        rows.append([0, begin, 1, end])
    model, _ = lowered(model_of(mode, f"2, {n}", rows), WEBGPU, custom_domains=["tf"])
    assert set(written(model)) <= MOVING | {"Identity", "ConstantOfShape"} and len(rows) >= 16
    for output, row, right in zip(session(model).run(None, {"x": x}), rows, expected, strict=True):
        np.testing.assert_array_equal(output, right, err_msg=f"{n} elements by {row}")


def test_nothing_begins_backward_but_at_the_last() -> None:
    """WebGPU (1.27.0) is wrong where a Slice with a negative step begins elsewhere."""
    for mode, dims in (("reflect", "m, n"), ("reflect", "2, 5"), ("symmetric", "2, 5")):
        model, _ = lowered(model_of(mode, dims, [[0, 3, 0, 2], [0, 4, 1, 5]]), WEBGPU, custom_domains=["tf"])
        constants = {x.name: onnx.numpy_helper.to_array(x).tolist() for x in model.graph.initializer}
        backward = [node for node in model.graph.node if node.op_type == "Slice" and len(node.input) == 5]
        assert backward
        for node in backward:
            assert [constants[name] for name in (node.input[1], node.input[4])] == [[-1], [-1]]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("pads", [[0, 0, 1, 1, 1], [1, 0, 1, 1, 2], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]])
def test_rank_5_for_qnn(mode: str, pads: list[int]) -> None:
    """It dies of more than four dims: neighbours that are not padded are one dim meanwhile."""
    model = model_of(mode, "2, 3, 2, 4, 3", [[*pads, *pads]], 21)
    low, _ = lowered(model, QNN)
    shapes = onnx.shape_inference.infer_shapes(low, strict_mode=True, data_prop=True).graph.value_info
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in shapes}
    for node in low.graph.node:
        assert node.op_type == "Reshape" or ranks[node.input[0]] <= 4, node
    assert sum(node.op_type == "Reshape" for node in low.graph.node) in (2, 4, 6, 8, 10)
    x = np.arange(144, dtype=np.float32).reshape(2, 3, 2, 4, 3)
    np.testing.assert_array_equal(session(low).run(None, {"x": x})[0], padded(mode, x, [*pads, *pads]))
