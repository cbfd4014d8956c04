"""Every example that the documents of OpenVINO, nGraph and SAME padding print: native and by the reference."""

from __future__ import annotations

from typing import Any

import native
import numpy as np
import pytest
from onnx import helper
from test_specifications import Example, amounts

from padops.spec import reference
from padops.spec.dialects import same_padding
from padops.spec.dtypes import by_name

# OpenVINO Pad-1 and Pad-12 print the same first example; Pad-12 adds negative and mixed pads.
DATA = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
POSITIVE = {
    "constant": [
        [0, 1, 2, 3, 4, 0, 0, 0],
        [0, 5, 6, 7, 8, 0, 0, 0],
        [0, 9, 10, 11, 12, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ],
    "edge": [
        [1, 1, 2, 3, 4, 4, 4, 4],
        [5, 5, 6, 7, 8, 8, 8, 8],
        [9, 9, 10, 11, 12, 12, 12, 12],
        [9, 9, 10, 11, 12, 12, 12, 12],
        [9, 9, 10, 11, 12, 12, 12, 12],
    ],
    "reflect": [
        [2, 1, 2, 3, 4, 3, 2, 1],
        [6, 5, 6, 7, 8, 7, 6, 5],
        [10, 9, 10, 11, 12, 11, 10, 9],
        [6, 5, 6, 7, 8, 7, 6, 5],
        [2, 1, 2, 3, 4, 3, 2, 1],
    ],
    "symmetric": [
        [1, 1, 2, 3, 4, 4, 3, 2],
        [5, 5, 6, 7, 8, 8, 7, 6],
        [9, 9, 10, 11, 12, 12, 11, 10],
        [9, 9, 10, 11, 12, 12, 11, 10],
        [5, 5, 6, 7, 8, 8, 7, 6],
    ],
}
NEGATIVE = {mode: [[6, 7]] for mode in POSITIVE}
MIXED = {
    "constant": [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [2, 3, 4, 0, 0, 0], [6, 7, 8, 0, 0, 0]],
    "edge": [[2, 3, 4, 4, 4, 4], [2, 3, 4, 4, 4, 4], [2, 3, 4, 4, 4, 4], [6, 7, 8, 8, 8, 8]],
    "reflect": [[10, 11, 12, 11, 10, 9], [6, 7, 8, 7, 6, 5], [2, 3, 4, 3, 2, 1], [6, 7, 8, 7, 6, 5]],
    "symmetric": [[6, 7, 8, 8, 7, 6], [2, 3, 4, 4, 3, 2], [2, 3, 4, 4, 3, 2], [6, 7, 8, 8, 7, 6]],
}


def openvino_examples(edition: int, name: str, begins: list[int], ends: list[int], outputs: dict) -> list[Example]:
    """One printed example of every mode."""
    inputs = (DATA, amounts(*begins), amounts(*ends))
    document = f"OpenVINO Pad-{edition}"
    return [
        Example(document, f"{name}, {mode}", f"OpenVINOPad_{edition}", inputs, output, {"pad_mode": mode})
        for mode, output in outputs.items()
    ]


# nGraph v0 prints one example. Its text calls the value 42 and the data 1 to 9.
NGRAPH_OUTPUT = [
    [42, 42, 42, 42, 42, 42, 42, 42, 42],
    [42, 42, 1, 42, 42, 2, 42, 42, 3],
    [42, 42, 42, 42, 42, 42, 42, 42, 42],
    [42, 42, 4, 42, 42, 5, 42, 42, 6],
    [42, 42, 42, 42, 42, 42, 42, 42, 42],
    [42, 42, 7, 42, 42, 8, 42, 42, 9],
    [42, 42, 42, 42, 42, 42, 42, 42, 42],
]
NGRAPH_AMOUNTS = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}

EXAMPLES = [
    *openvino_examples(12, "Positive pads example", [0, 1], [2, 3], POSITIVE),
    *openvino_examples(12, "Negative pads example", [-1, -1], [-1, -1], NEGATIVE),
    *openvino_examples(12, "Mixed pads example", [2, -1], [-1, 3], MIXED),
    *openvino_examples(1, "Example", [0, 1], [2, 3], POSITIVE),
    Example(
        "nGraph Pad v0",
        "Example",
        "NGraphPad_0",
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 42),
        NGRAPH_OUTPUT,
        NGRAPH_AMOUNTS,
    ),
]


def equals(op: str, attributes: dict[str, Any], inputs: list, expected: np.ndarray) -> None:
    """The native kernel and the reference give the bits of ``expected``."""
    assert native.bits(native.run(op, attributes, inputs, "n")) == native.bits(expected)
    assert native.bits(reference.run(op, attributes, inputs, "n")) == native.bits(expected)


def exactly(values: Any, dtype: np.dtype) -> np.ndarray | None:
    """``values`` in a type, None where the type has not got them all."""
    wanted = np.array(values)
    if dtype.kind not in "biufcV" or not np.array_equal(wanted.astype(dtype).astype(np.float64), wanted):
        return None
    return wanted.astype(dtype)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example) -> None:
    """T is "any numeric type": every type that has the printed numbers gives the printed output."""
    ran = []
    for dtype in native.TYPES:
        tensors = [value if isinstance(value, np.ndarray) else exactly(value, dtype.numpy) for value in example.inputs]
        if any(tensor is None for tensor in tensors):
            continue
        equals(example.op, example.attributes, tensors, exactly(example.output, dtype.numpy))
        ran.append(dtype.name)
    assert {"float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint64"} <= {*ran}
    # Small floats and 4-bit integers too, where the numbers reach no higher than 12.
    assert ("float8e4m3fn" in ran) == ("uint4" in ran) == (example.op != "NGraphPad_0")


@pytest.mark.parametrize(
    "op, begins, size, ends, printed, mode",
    [
        ("OpenVINOPad_12", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "constant"),
        # The comment beside the first dim of the next one says 2, its sum and the dim itself 1.
        ("OpenVINOPad_12", [0, -2, -8, 1], [2, 3, 32, 40], [-1, 4, -6, 7], [1, 5, 18, 48], "constant"),
        ("OpenVINOPad_12", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "edge"),
        ("OpenVINOPad_1", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "constant"),
    ],
    ids=["Pad-12 positive", "Pad-12 positive and negative", "Pad-12 edge", "Pad-1"],
)
def test_openvino_layers(op: str, begins: list, size: list, ends: list, printed: list, mode: str) -> None:
    """The XML layers of the two documents: their shapes, and "all new elements are filled with 15.0 value"."""
    data = np.arange(16, 16 + np.prod(size), dtype=np.float32).reshape(size)
    fill = np.array(15, np.float32) if mode == "constant" else None
    inputs = [data, amounts(*begins), amounts(*ends), fill]
    output = native.run(op, {"pad_mode": mode}, inputs, "n")
    assert list(output.shape) == printed
    assert native.bits(output) == native.bits(reference.run(op, {"pad_mode": mode}, inputs, "n"))
    kept = [n + min(b, 0) + min(e, 0) for n, b, e in zip(size, begins, ends)]
    new = np.prod(printed) - np.prod(kept)
    assert np.count_nonzero(output == 15) == (new if mode == "constant" else 0)


def test_ngraph_output_dims() -> None:
    """d' = p + (d - 1)(r + 1) + 1 + q for d > 0, and p + q for d = 0; the line above it (d·r) means nothing."""
    for d, p, q, r in [(3, 1, 1, 1), (3, 2, 0, 2), (1, 2, 3, 5), (0, 2, 3, 4), (0, 0, 0, 1), (4, -1, -2, 3)]:
        data, fill = np.ones([d, 2], np.int32), np.array(7, np.int32)
        attributes = {"padding_below": [p, 0], "padding_above": [q, 0], "padding_interior": [r, 0]}
        shape = (p + ((d - 1) * (r + 1) + 1 if d else 0) + q, 2)
        assert native.run("NGraphPad_0", attributes, [data, fill], "n").shape == shape
        assert reference.run("NGraphPad_0", attributes, [data, fill], "n").shape == shape


# SAME padding: the document's conv2d, an image of ones, kernel of np.float16(1 - 0.33).
CONV2D_ROWS = [[96.46875, 128.625, 96.46875], [128.625, 171.5, 128.625], [64.3125, 85.75, 64.3125]]
CONV2D = np.repeat(np.array(CONV2D_ROWS, np.float32)[None, :, :, None], 3, axis=3)  # output1 and output2: N H W C
FILTER = np.float16(np.ones([4, 4, 16, 3]) - 0.33)


def convolve(nodes: list, data: np.ndarray) -> np.ndarray:
    """Runs nodes that make ``output`` from ``data`` and the document's filter (in Conv's layout, ``filter``)."""
    weights = FILTER.astype(np.float32).transpose(3, 2, 0, 1)
    graph = helper.make_graph(
        nodes,
        "conv2d",
        [helper.make_tensor_value_info("data", by_name("float").onnx, data.shape)],
        [helper.make_tensor_value_info("output", by_name("float").onnx, None)],
        [helper.make_tensor("filter", by_name("float").onnx, weights.shape, weights.tobytes(), raw=True)],
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("padops", 1)]
    return native.session(helper.make_model(graph, opset_imports=imports, ir_version=9)).run(None, {"data": data})[0]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_conv2d_of_the_same_document(data_format: str) -> None:
    """7x8, kernel 4, stride 3: padding="SAME" through SamePad_1 and a Conv without pads gives output1."""
    assert (same_padding(7, 4, 3), same_padding(8, 4, 3)) == ((1, 2), (1, 1))
    pad = helper.make_node(
        "SamePad_1", ["data"], ["padded"], domain="padops", kernel_shape=[4, 4], strides=[3, 3], data_format=data_format
    )
    to_nchw = helper.make_node("Transpose", ["padded"], ["nchw"], perm=[0, 3, 1, 2])
    conv = helper.make_node("Conv", ["nchw", "filter"], ["convolved"], strides=[3, 3])
    to_nhwc = helper.make_node("Transpose", ["convolved"], ["output"], perm=[0, 2, 3, 1])
    shape = [1, 7, 8, 16]
    if data_format == "NCHW":
        shape, to_nchw = [1, 16, 7, 8], helper.make_node("Identity", ["padded"], ["nchw"])
    output = convolve([pad, to_nchw, conv, to_nhwc], np.ones(shape, np.float32))
    assert native.bits(output) == native.bits(CONV2D)


def test_explicit_padding_of_the_same_document() -> None:
    """output2: padding=[[0,0],[1,2],[1,1],[0,0]] in the Conv itself; "Sum of a - b is 0.0"."""
    conv = helper.make_node("Conv", ["data", "filter"], ["output"], strides=[3, 3], pads=[1, 1, 2, 1])
    output = convolve([conv], np.ones([1, 16, 7, 8], np.float32)).transpose(0, 2, 3, 1)
    assert native.bits(output) == native.bits(CONV2D)


@pytest.mark.parametrize(
    "auto_pad, padded, windows",
    [
        ("SAME_UPPER", [0, *range(1, 14), 0, 0], [[0, 1, 2, 3, 4, 5], [5, 6, 7, 8, 9, 10], [10, 11, 12, 13, 0, 0]]),
        ("VALID", [*range(1, 14)], [[1, 2, 3, 4, 5, 6], [6, 7, 8, 9, 10, 11]]),
    ],
)
def test_window_drawings_of_the_same_document(auto_pad: str, padded: list, windows: list) -> None:
    """13 elements, kernel 6, stride 5: one zero before and two behind, or 12 and 13 dropped."""
    attributes = {"kernel_shape": [6], "strides": [5], "auto_pad": auto_pad}
    data = np.arange(1, 14, dtype=np.int32).reshape(1, 1, 13)
    equals("SamePad_1", attributes, [data], np.array(padded, np.int32).reshape(1, 1, -1))
    slid = np.lib.stride_tricks.sliding_window_view(np.array(padded), 6)[::5]
    assert slid.tolist() == windows


def test_halves_of_the_same_document() -> None:
    """An odd total: SAME_UPPER begins with the small half, SAME_LOWER with the big one; VALID pads nothing."""
    amounts = {mode: same_padding(13, 6, 5, mode=mode) for mode in ("SAME", "SAME_UPPER", "SAME_LOWER", "VALID")}
    assert amounts == {"SAME": (1, 2), "SAME_UPPER": (1, 2), "SAME_LOWER": (2, 1), "VALID": (0, 0)}


def test_every_printed_example_is_a_row() -> None:
    """Three examples in four modes, one in four, and one."""
    names = [str(example) for example in EXAMPLES]
    assert len(set(names)) == len(names)
    counts = {document: sum(e.document == document for e in EXAMPLES) for document in {e.document for e in EXAMPLES}}
    assert counts == {"OpenVINO Pad-12": 12, "OpenVINO Pad-1": 4, "nGraph Pad v0": 1}
