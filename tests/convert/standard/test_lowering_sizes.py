"""Lowered Pads are small where shapes are known: how many nodes each takes."""

from __future__ import annotations

from collections.abc import Iterator

import case_strategies
import native
import numpy as np
import onnx
import pytest
import standard_models as standard
from onnx import parser

import padops
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_name, by_numpy

MAIN_TYPES = ("float", "double", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "string")
MAX_NODES = 3  # for each axis that is padded

# Pairs of begin and end for the axes of data of shape 5, 40, 6: what only adds, only crops, and both.
AMOUNTS = [
    [(0, 0), (0, 0), (2, 1)],
    [(1, 2), (0, 0), (0, 0)],
    [(0, 0), (3, 0), (0, 0)],
    [(1, 2), (3, 4), (2, 1)],
    [(-1, -2), (0, -3), (-1, 0)],
    [(-1, 2), (3, -4), (0, 0)],
    [(2, -1), (0, 0), (-2, 3)],
]
SHAPE = (5, 40, 6)


def _node(op: str, mode: str, pairs: list[tuple[int, int]], data: np.ndarray, fill: np.ndarray) -> case_strategies.Case:
    begins, ends = (list(side) for side in zip(*pairs))
    attributes = {OPS[op].mode: mode}
    if op in ("Pad_1", "Pad_2"):
        return case_strategies.Case(op, attributes | {"paddings" if op == "Pad_1" else "pads": begins + ends}, [data])
    if op.startswith("Pad_"):
        return case_strategies.Case(op, attributes, [data, np.array(begins + ends), fill])
    if op.startswith("OpenVINOPad_"):
        return case_strategies.Case(op, attributes, [data, np.array(begins, np.int32), np.array(ends), fill])
    return case_strategies.Case(op, attributes | {"padding_below": begins, "padding_above": ends}, [data, fill])


def _same(mode: str, data: np.ndarray, fill: np.ndarray) -> Iterator[case_strategies.Case]:
    for attributes in ({"kernel_shape": [3]}, {"kernel_shape": [4], "strides": [3], "auto_pad": "SAME_LOWER"}):
        yield case_strategies.Case("SamePad_1", attributes | {"mode": mode}, [data, fill])


def _cases(op: str, mode: str, type_name: str) -> Iterator[case_strategies.Case]:
    rng = np.random.default_rng(0)
    dtype = by_name(type_name)
    data, fill = (native.random_array(rng, dtype, shape) for shape in (SHAPE, ()))
    if op == "SamePad_1":
        yield from _same(mode, data, fill)
        return
    for pairs in AMOUNTS:
        yield _node(op, mode, pairs, data, fill)
    if (op, mode) == ("NGraphPad_0", "CONSTANT"):
        for interior in ([0, 0, 2], [1, 0, 0], [1, 2, 1]):
            case = _node(op, mode, AMOUNTS[3], data, fill)
            case.attributes["padding_interior"] = interior
            yield case


def _padded_axes(case: case_strategies.Case, output: tuple) -> int:
    """Axes that the node changes; an amount and its opposite leave the size as it was."""
    if case.op == "SamePad_1":
        return 1
    lists = [
        case.attributes[row.name]
        for row in OPS[case.op].attributes
        if row.name in case.attributes and row.type == "ints"
    ]
    lists += [array for row, array in zip(OPS[case.op].inputs, case.inputs) if row.kind != "T" and array is not None]
    return int(np.any(np.concatenate([np.reshape(numbers, (-1, len(SHAPE))) for numbers in lists]), axis=0).sum())


def _allowed(case: case_strategies.Case, held: str) -> int:
    """Nodes for each axis: what axes.py says it cannot do in three is listed here."""
    type_name = by_numpy(case.inputs[0].dtype).name
    mode = case.attributes.get(OPS[case.op].mode, "constant").lower()
    if type_name == "string" and any(case.attributes.get("padding_interior", ())):
        return MAX_NODES + 1 + (held != "all")  # ONNX Runtime's Gather moves strings right along the last axis only
    if type_name == "bfloat16" and held != "all" and mode == "constant":
        return MAX_NODES + 1  # ONNX Runtime expands no bfloat16
    return MAX_NODES


@pytest.mark.parametrize("op", OPS)
def test_static_shapes_take_few_nodes(op: str) -> None:
    seen = 0
    for mode in OPS[op].modes:
        for type_name in (name for name in MAIN_TYPES if name in OPS[op].types):
            for case in _cases(op, mode, type_name):
                for held in ("all", "amounts"):
                    source, feeds = standard.make([case], standard.NEWEST, "full", held)
                    expected = standard.expected_of(case)
                    lowered = padops.lower(source, fold=False).proto()
                    assert standard.nothing_of_padops(lowered)
                    most = _allowed(case, held) * _padded_axes(case, expected)
                    count = len(lowered.graph.node)
                    assert 1 <= count <= most, (mode, type_name, held, onnx.printer.to_text(lowered))
                    assert standard.run(lowered, feeds, standard.stock_options()) == expected
                    seen += 1
    assert seen > 50


@pytest.mark.parametrize("dims", ["[3, n]", "[40, 50]"])
def test_equal_amounts_share_one_block(dims: str) -> None:
    """A block of fill for both ends is made once, and each is read."""
    text = f"g (float{dims} x) => (float[a, b] y) <int64[4] p = {{30, 40, 30, 40}}> {{ y = Pad (x, p) }}"
    source = parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {text}')
    nodes = padops.lower(source, without_pad=True).proto().graph.node
    blocks = [node.output[0] for node in nodes if node.op_type == "ConstantOfShape"]
    assert len(blocks) == 2
    assert set(blocks) <= {name for node in nodes for name in node.input}


@pytest.mark.parametrize("how", [{}, {"without_pad": True}, {"provider": "webgpu"}], ids=str)
@pytest.mark.parametrize("mode", ["constant", "edge", "wrap"])
def test_every_node_and_constant_is_read(mode: str, how: dict[str, object]) -> None:
    """Also where dims are computed axis by axis, and no later axis reads the last of them."""
    written = f'<int64[4] p = {{1, 0, 2, 0}}> {{ y = Pad <mode = "{mode}"> (x, p, v) }}'
    source = parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 19]> g (int16[n, 3] x, int16 v) => (int16[a, b] y) {written}'
    )
    graph = padops.convert(source, target="onnx", **how).proto().graph
    read = {name for node in graph.node for name in node.input} | {"y"}
    assert {name for node in graph.node for name in node.output} | {row.name for row in graph.initializer} <= read
