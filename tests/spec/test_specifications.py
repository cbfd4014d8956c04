"""Every example that a specification prints, under the name of its document, native and by the reference; and SAME.

A document that another edition repeats word for word gives one row per edition, because each edition is an operator of
its own.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import native
import numpy as np
import pytest
from onnx import helper, shape_inference
from small_models import FLOAT, model

import padops
from padops.spec import reference
from padops.spec.dialects import OPS, same_padding
from padops.spec.plan import LARGEST


class Example(NamedTuple):
    """One printed example; of its inputs, what is not an array of integers is of the tensor type T."""

    document: str
    name: str
    op: str
    inputs: tuple[Any, ...]
    output: np.ndarray
    attributes: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.document}: {self.name}"


def rows(text: str) -> np.ndarray:
    """A printed matrix, its rows separated by slashes."""
    return np.array([[float(number) for number in row.split()] for row in text.split("/")])


# ONNX Pad. All editions print the same tensors; 2 and 1 print only the first example.
DATA = rows("1.0 1.2 / 2.3 3.4 / 4.5 5.7")
ZEROS_LEFT = rows("0 0 1.0 1.2 / 0 0 2.3 3.4 / 0 0 4.5 5.7")
LEFT = np.array([0, 2, 0, 0])
ONNX_EXAMPLES = [
    ("Example 1 (constant mode)", (DATA, LEFT, np.array(0.0)), ZEROS_LEFT),
    # P4: the dim is 2 and the pad 2, so this one needs the period, where the built-in Pad refuses.
    ("Example 2 (reflect mode)", (DATA, LEFT), rows("1.0 1.2 1.0 1.2 / 2.3 3.4 2.3 3.4 / 4.5 5.7 4.5 5.7")),
    ("Example 3 (edge mode)", (DATA, LEFT), rows("1.0 1.0 1.0 1.2 / 2.3 2.3 2.3 3.4 / 4.5 4.5 4.5 5.7")),
    ("Example 4 (wrap mode)", (DATA, np.array([2, 1, 1, 1])),
     rows("3.4 2.3 3.4 2.3 / 5.7 4.5 5.7 4.5 / 1.2 1.0 1.2 1.0 / 3.4 2.3 3.4 2.3 / 5.7 4.5 5.7 4.5 / 1.2 1.0 1.2 1.0")),
]  # fmt: skip
EXAMPLES = [
    Example(f"ONNX Pad-{edition}", name, f"Pad_{edition}", inputs, output, {"mode": name.split("(")[1].split()[0]})
    for edition in (11, 13, 18, 19, 21)
    for name, inputs, output in ONNX_EXAMPLES[: 4 if edition >= 19 else 3]
]
# Pad-2 and Pad-1 print the output with one pair of brackets more than a tensor of rank 2 has; P1 gives it the rank of
# the data. Pad-1 contradicts itself: it prints paddings = [0, 0, 2, 0], but its format text (all begins, then all ends)
# says that this adds two rows below, and the printed output has two columns on the left. The format text holds, as in
# every other implementation: first the printed output by the paddings that mean it, then the printed paddings.
EXAMPLES += [
    Example("ONNX Pad-2", "Example", "Pad_2", (DATA,), ZEROS_LEFT, {"pads": [0, 2, 0, 0]}),
    Example("ONNX Pad-1", "Example, the printed output", "Pad_1", (DATA,), ZEROS_LEFT, {"paddings": [0, 2, 0, 0]}),
    Example("ONNX Pad-1", "Example, the printed paddings", "Pad_1", (DATA,),
            rows("1.0 1.2 / 2.3 3.4 / 4.5 5.7 / 0 0 / 0 0"), {"paddings": [0, 0, 2, 0]}),
]  # fmt: skip

# OpenVINO Pad-1 and Pad-12 print the same first example; Pad-12 adds negative and mixed pads.
NUMBERS = rows("1 2 3 4 / 5 6 7 8 / 9 10 11 12")
POSITIVE = {
    "constant": "0 1 2 3 4 0 0 0 / 0 5 6 7 8 0 0 0 / 0 9 10 11 12 0 0 0 / 0 0 0 0 0 0 0 0 / 0 0 0 0 0 0 0 0",
    "edge": "1 1 2 3 4 4 4 4 / 5 5 6 7 8 8 8 8 / 9 9 10 11 12 12 12 12 / 9 9 10 11 12 12 12 12 / 9 9 10 11 12 12 12 12",
    "reflect": "2 1 2 3 4 3 2 1 / 6 5 6 7 8 7 6 5 / 10 9 10 11 12 11 10 9 / 6 5 6 7 8 7 6 5 / 2 1 2 3 4 3 2 1",
    "symmetric": "1 1 2 3 4 4 3 2 / 5 5 6 7 8 8 7 6 / 9 9 10 11 12 12 11 10 / 9 9 10 11 12 12 11 10 / 5 5 6 7 8 8 7 6",
}
MIXED = {"constant": "0 0 0 0 0 0 / 0 0 0 0 0 0 / 2 3 4 0 0 0 / 6 7 8 0 0 0",
         "edge": "2 3 4 4 4 4 / 2 3 4 4 4 4 / 2 3 4 4 4 4 / 6 7 8 8 8 8",
         "reflect": "10 11 12 11 10 9 / 6 7 8 7 6 5 / 2 3 4 3 2 1 / 6 7 8 7 6 5",
         "symmetric": "6 7 8 8 7 6 / 2 3 4 4 3 2 / 2 3 4 4 3 2 / 6 7 8 8 7 6"}  # fmt: skip
EXAMPLES += [
    Example(f"OpenVINO Pad-{edition}", f"{name}, {mode}", f"OpenVINOPad_{edition}",
            (NUMBERS, np.array(begins), np.array(ends)), rows(output), {"pad_mode": mode})
    for edition, name, begins, ends, outputs in (
        (12, "Positive pads example", [0, 1], [2, 3], POSITIVE),
        (12, "Negative pads example", [-1, -1], [-1, -1], dict.fromkeys(POSITIVE, "6 7")),
        (12, "Mixed pads example", [2, -1], [-1, 3], MIXED),
        (1, "Example", [0, 1], [2, 3], POSITIVE),
    )
    for mode, output in outputs.items()
]  # fmt: skip
# nGraph v0 prints one example. Its text calls the value 42 and the data 1 to 9.
BLANK = " / 42 42 42 42 42 42 42 42 42"
EXAMPLES.append(
    Example("nGraph Pad v0", "Example", "NGraphPad_0", (rows("1 2 3 / 4 5 6 / 7 8 9"), np.array(42.0)),
            rows(f"{BLANK[3:]} / 42 42 1 42 42 2 42 42 3{BLANK} / 42 42 4 42 42 5 42 42 6{BLANK} / "
                 f"42 42 7 42 42 8 42 42 9{BLANK}"),
            {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]})
)  # fmt: skip


def equals(op: str, attributes: dict[str, Any], inputs: list, expected: np.ndarray) -> None:
    """The native kernel and the reference give the bits of ``expected``."""
    assert native.bits(native.run(op, attributes, inputs, "n")) == native.bits(expected)
    assert native.bits(reference.run(op, attributes, inputs, "n")) == native.bits(expected)


def typed(array: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """An array of T in a type, None where the type lacks some of the numbers; integers stay as they are."""
    if array.dtype.kind == "i":
        return array
    made = array.astype(dtype) if dtype.kind in "biufcV" else None
    whole = made is not None and (dtype in (np.float32, np.float64) or np.array_equal(made.astype(np.float64), array))
    return made if whole else None


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example) -> None:
    """T is "any numeric type": every type that has the printed numbers gives the printed output."""
    ran = set()
    for dtype in native.TYPES:
        tensors = [typed(value, dtype.numpy) for value in example.inputs]
        if all(tensor is not None for tensor in tensors) and dtype.name in OPS[example.op].types:
            equals(example.op, example.attributes, tensors, typed(example.output, dtype.numpy))
            ran.add(dtype.name)
    if example.document.startswith("ONNX"):
        assert ran == {"float", "double"}
        return
    assert {"float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint64"} <= ran
    # Small floats and 4-bit integers too, where the numbers reach no higher than 12.
    assert ("float8e4m3fn" in ran) == ("uint4" in ran) == (example.op != "NGraphPad_0")


def test_every_printed_example_is_a_row() -> None:
    """As many as the documents print; one more for ONNX Pad-1."""
    assert len(set(map(str, EXAMPLES))) == len(EXAMPLES)
    editions = {"21": 4, "19": 4, "18": 3, "13": 3, "11": 3, "2": 1, "1": 2}
    counts = {f"ONNX Pad-{edition}": count for edition, count in editions.items()}
    assert Counter(e.document for e in EXAMPLES) == counts | {
        "OpenVINO Pad-12": 12, "OpenVINO Pad-1": 4, "nGraph Pad v0": 1,
    }  # fmt: skip


@pytest.mark.parametrize("op, begins, size, ends, printed, mode", [
    ("OpenVINOPad_12", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "constant"),
    # The comment beside the first dim of the next one says 2, its sum and the dim itself 1.
    ("OpenVINOPad_12", [0, -2, -8, 1], [2, 3, 32, 40], [-1, 4, -6, 7], [1, 5, 18, 48], "constant"),
    ("OpenVINOPad_12", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "edge"),
    ("OpenVINOPad_1", [0, 5, 2, 1], [1, 3, 32, 40], [1, 0, 3, 7], [2, 8, 37, 48], "constant"),
], ids=["Pad-12 positive", "Pad-12 positive and negative", "Pad-12 edge", "Pad-1"])  # fmt: skip
def test_openvino_layers(op: str, begins: list, size: list, ends: list, printed: list, mode: str) -> None:
    """The XML layers of the two documents: their shapes, and "all new elements are filled with 15.0 value"."""
    data = np.arange(16, 16 + np.prod(size), dtype=np.float32).reshape(size)
    fill = np.array(15, np.float32) if mode == "constant" else None
    inputs = [data, np.array(begins), np.array(ends), fill]
    output = native.run(op, {"pad_mode": mode}, inputs, "n")
    assert list(output.shape) == printed
    assert native.bits(output) == native.bits(reference.run(op, {"pad_mode": mode}, inputs, "n"))
    kept = [n + min(b, 0) + min(e, 0) for n, b, e in zip(size, begins, ends)]
    assert np.count_nonzero(output == 15) == (np.prod(printed) - np.prod(kept) if mode == "constant" else 0)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_conv2d_of_same_padding(data_format: str) -> None:
    """7x8, kernel 4, stride 3, and the filter np.float16(1 - 0.33): padding="SAME" gives the printed output1."""
    assert (same_padding(7, 4, 3), same_padding(8, 4, 3)) == ((1, 2), (1, 1))
    weights = np.float16(np.ones([4, 4, 16, 3]) - 0.33).astype(np.float32).transpose(3, 2, 0, 1)
    is_last = data_format == "NHWC"
    sizes = {"kernel_shape": [4, 4], "strides": [3, 3]}
    nodes = [helper.make_node("SamePad_1", ["data"], ["padded"], domain="padops", data_format=data_format, **sizes),
             helper.make_node("Transpose", ["padded"], ["nchw"], perm=[0, 3, 1, 2] if is_last else [0, 1, 2, 3]),
             helper.make_node("Conv", ["nchw", "filter"], ["convolved"], strides=[3, 3]),
             helper.make_node("Transpose", ["convolved"], ["output"], perm=[0, 2, 3, 1])]  # fmt: skip
    shape = [1, 7, 8, 16] if is_last else [1, 16, 7, 8]
    parts = {"inputs": [("data", FLOAT, shape)], "outputs": [("output", FLOAT, None)]}
    held = [native.tensor("filter", weights)]
    session = native.session(model(nodes, 18, ir_version=9, imports=[("padops", 1)], tensors=held, **parts))
    printed = rows("96.46875 128.625 96.46875 / 128.625 171.5 128.625 / 64.3125 85.75 64.3125").astype(np.float32)
    (output,) = session.run(None, {"data": np.ones(shape, np.float32)})
    assert native.bits(output) == native.bits(np.repeat(printed[None, :, :, None], 3, axis=3))


@pytest.mark.parametrize("auto_pad, padded, windows", [
    ("SAME_UPPER", [0, *range(1, 14), 0, 0], [[0, 1, 2, 3, 4, 5], [5, 6, 7, 8, 9, 10], [10, 11, 12, 13, 0, 0]]),
    ("VALID", [*range(1, 14)], [[1, 2, 3, 4, 5, 6], [6, 7, 8, 9, 10, 11]]),
])  # fmt: skip
def test_window_drawings_of_same_padding(auto_pad: str, padded: list, windows: list) -> None:
    """13 elements, kernel 6, stride 5: one zero before and two behind, or 12 and 13 dropped."""
    attributes = {"kernel_shape": [6], "strides": [5], "auto_pad": auto_pad}
    data = np.arange(1, 14, dtype=np.int32).reshape(1, 1, 13)
    equals("SamePad_1", attributes, [data], np.array(padded, np.int32).reshape(1, 1, -1))
    assert np.lib.stride_tricks.sliding_window_view(np.array(padded), 6)[::5].tolist() == windows


# --- S1: padops.same_padding against what SAME means, the kernel, ONNX, JAX, OpenVINO and TensorFlow -----------------

# Every size, kernel, stride and dilation: kernels wider than the data, strides wider than the kernel.
WINDOWS = list(product(range(1, 16), range(1, 6), range(1, 8), range(1, 5)))
EMPTY = list(product([0], range(1, 6), range(1, 8), range(1, 5)))


def outputs(n: int, k: int, s: int, d: int, begin: int, end: int) -> int:
    """Positions of a window that pads ``begin`` and ``end``."""
    return (begin + n + end - (k - 1) * d - 1) // s + 1


def test_amounts_are_the_fewest() -> None:
    """SAME means ceil(n/s) outputs; no fewer elements give them, and the two sides differ by one at most."""
    for n, k, s, d in WINDOWS:
        begin, end = padops.same_padding(n, k, s, d)
        same = -(-n // s)
        if begin + end:
            assert outputs(n, k, s, d, begin, end) == same and outputs(n, k, s, d, begin, end - 1) < same
        else:
            assert outputs(n, k, s, d, 0, 0) >= same or k == 1
        assert end - begin in (0, 1)
        assert padops.same_padding(n, k, s, d, "SAME_LOWER") == (end, begin)
        assert padops.same_padding(n, k, s, d, "SAME") == (begin, end)
        assert padops.same_padding(n, k, s, d, "VALID") == (0, 0)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_kernel_pads_as_much(mode: str) -> None:
    """One of seven windows, as SamePad_1: where the data begins, and how much there is."""
    for n, k, s, d in WINDOWS[::7]:
        begin, end = padops.same_padding(n, k, s, d, mode)
        attributes = {"kernel_shape": [k], "strides": [s], "dilations": [d], "auto_pad": mode}
        output = native.run("SamePad_1", attributes, [np.ones([1, 1, n], np.int8)])
        assert output.tolist() == [[[0] * begin + [1] * n + [0] * end]]


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_onnx_infers_the_same_shape(mode: str) -> None:
    """Of MaxPools with ``auto_pad``, all in one model, wherever a window fits, which SAME sees to."""
    windows = [w for w in WINDOWS if mode != "VALID" or w[0] > (w[1] - 1) * w[3]]
    nodes, inputs, shown = [], [], []
    for i, (n, k, s, d) in enumerate(windows):
        attributes = {"kernel_shape": [k], "strides": [s], "dilations": [d], "auto_pad": mode}
        nodes.append(helper.make_node("MaxPool", [f"i{i}"], [f"o{i}"], **attributes))
        inputs.append((f"i{i}", FLOAT, [1, 1, n]))
        shown.append((f"o{i}", FLOAT, None))
    made = shape_inference.infer_shapes(model(nodes, 18, inputs=inputs, outputs=shown), strict_mode=True)
    expected = [outputs(*window, *padops.same_padding(*window, mode)) for window in windows]
    assert [output.type.tensor_type.shape.dim[2].dim_value for output in made.graph.output] == expected


@pytest.mark.needs("jax")
@pytest.mark.parametrize("mode", ["SAME", "SAME_UPPER", "SAME_LOWER", "VALID"])
def test_jax(mode: str) -> None:
    """A dilated kernel is, to JAX, a larger one."""
    lax, of_jax = import_module("jax.lax"), {"SAME_UPPER": "SAME"}.get(mode, mode)
    for n, k, s, d in (*WINDOWS, *EMPTY):
        expected = lax.padtype_to_pads([n], [(k - 1) * d + 1], [s], of_jax)
        assert [padops.same_padding(n, k, s, d, mode)] == [tuple(pair) for pair in expected], (n, k, s, d)


@pytest.mark.needs("openvino")
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_openvino(mode: str) -> None:
    opset12 = import_module("openvino.opset12")
    for n, k, s, d in WINDOWS:
        data, filters = (opset12.parameter([1, 1, size], np.float32) for size in (n, k))
        convolution = opset12.convolution(data, filters, [s], [0], [0], [d], mode.lower())
        pool = opset12.max_pool(data, [s], [d], [0], [0], [k], "floor", mode.lower())
        for node in (convolution, pool):
            attributes = node.get_attributes()
            amounts = (*attributes["pads_begin"], *attributes["pads_end"])
            assert amounts == padops.same_padding(n, k, s, d, mode), (n, k, s, d, node.get_type_name())
            assert node.get_output_shape(0)[2] == -(-n // s)


@pytest.mark.needs("tensorflow")
def test_tensorflow() -> None:
    """SAME and VALID of padded data give the same sums; TensorFlow dilates no kernel that has a stride."""
    tf, rng = import_module("tensorflow"), np.random.default_rng(0)
    for n, k, s, d in WINDOWS:
        if s == 1 or d == 1:
            # Of one channel, TensorFlow's convolutions are wrong where one output column is left.
            data, filters = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((1, n, 2), (k, 2, 3)))
            padded = np.pad(data, [(0, 0), padops.same_padding(n, k, s, d), (0, 0)])
            same, valid = (
                tf.nn.conv1d(values, filters, s, padding, dilations=d).numpy()
                for values, padding in ((data, "SAME"), (padded, "VALID"))
            )
            np.testing.assert_array_equal(same, valid, err_msg=f"{(n, k, s, d)}")
            assert same.shape[1] == -(-n // s)


@pytest.mark.parametrize("arguments, rule, text", [
    ((5, 3, 1, 1, "NOTSET"), "S1", "auto_pad 'NOTSET' is not one of SAME_UPPER, SAME_LOWER, VALID"),
    ((-1, 3), "S1", "input is -1, expected an integer of 0 or more"),
    ((13.5, 6), "S1", "input is 13.5, expected an integer of 0 or more"),
    ((5, 0), "S1", "kernel is 0, expected an integer of 1 or more"),
    ((5, 3, 0), "S1", "stride is 0, expected an integer of 1 or more"),
    ((5, 3, 1, -2), "S1", "dilation is -2, expected an integer of 1 or more"),
    ((5, 3, 1, LARGEST), "P10", f"a kernel of 3 with dilation {LARGEST} is beyond {LARGEST}"),
])  # fmt: skip
def test_errors(arguments: tuple, rule: str, text: str) -> None:
    with pytest.raises(padops.PadError) as caught:
        padops.same_padding(*arguments)
    assert (caught.value.rule, caught.value.detail) == (rule, text)
