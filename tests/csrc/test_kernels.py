"""The native kernels, bit for bit, against numpy.pad and against the reference.

What inputs may look like is in ``test_inputs.py``, errors are in ``test_errors.py``.
"""

from __future__ import annotations

from itertools import product

import native
import numpy as np
import pytest
from onnx import helper
from onnx_pads import INPUT_OPS, MODES, NEWEST, ONNX_OPS, modes_of, node, numpy_pad, storage

from padops.spec import reference
from padops.spec.dialects import OPS
from padops.spec.dtypes import by_name

TYPES = {dtype.name: dtype for dtype in native.TYPES}
SUB_BYTE = [name for name, dtype in TYPES.items() if 0 < dtype.bits < 8]
SHARED_BYTES = 256 * 1024  # csrc/core/thresholds.h: what is larger goes through the thread pool


def check(op: str, mode: str, data: np.ndarray, pads, fill: np.ndarray | None = None, slow: bool = True) -> None:
    """Native, the reference and numpy.pad must give the same bits; ``slow`` leaves the reference in."""
    attributes, inputs = node(op, mode, data, pads, fill)
    expected = native.bits(numpy_pad(data, pads, mode, fill))
    assert native.bits(native.run(op, attributes, inputs)) == expected
    if slow:
        assert native.bits(reference.run(op, attributes, inputs)) == expected


@pytest.mark.parametrize(
    ("op", "mode", "dtype"),
    [
        pytest.param(op, mode, dtype, id=f"{op}-{mode}-{dtype.name}")
        for op in ONNX_OPS
        for mode in modes_of(op)
        for dtype in native.TYPES
        if dtype.name in OPS[op].types
    ],
)
def test_op_mode_type(op: str, mode: str, dtype) -> None:
    """P1, P2, P3, P7: random bits through each operator, mode and type; amounts of one sign and of both."""
    rng = np.random.default_rng(dtype.onnx)
    data = native.random_array(rng, dtype, (3, 4, 5))
    fill = native.random_array(rng, dtype, ()) if op in INPUT_OPS else np.array(-1.5, dtype.numpy)
    check(op, mode, data, (0, 2, 1, 1, 0, 3), fill)
    check(op, mode, data, (-1, 9, 7, 2, -2, -3), fill)
    check(op, mode, data, (0, 0, 1, 0, 0, 0))


LARGE = {
    "one long row": ((400_003,), (70_001, 90_007)),
    "few long rows": ((3, 200_003), (1, 1_001, 1, 2_003)),
    "rows": ((1_400, 400), (3, 11, 5, 13)),
    "many short rows": ((160_000, 2), (1, 1, 2, 1)),
    "5-D": ((4, 6, 9, 13, 130), (1, 2, 1, 3, 4, 2, 1, 0, 2, 5)),
    "5-D with crops": ((5, 7, 9, 11, 130), (-1, 2, 1, -3, 4, 2, -1, 2, 2, -5)),
    "leading axes merge": ((4, 5, 30, 900), (0, 0, 0, 7, 0, 0, 0, 9)),
    "trailing axes merge": ((250, 7, 300), (3, 0, 0, 5, 0, 0)),
    "axes between merge": ((20, 8, 7, 60, 5), (1, 0, 0, 2, 0, 3, 0, 0, 1, 0)),
    "nothing to pad": ((1_300, 500), (0, 0, 0, 0)),
}


@pytest.mark.parametrize("name", ["uint8", "uint16", "float", "double"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LARGE)
def test_large(layout: str, mode: str, name: str) -> None:
    """P2: outputs beyond one task, of each width, whatever the engine merges."""
    shape, pads = LARGE[layout]
    rng = np.random.default_rng(7)
    data = native.random_array(rng, TYPES[name], shape)
    assert data.nbytes > SHARED_BYTES
    check(NEWEST, mode, data, pads, native.random_array(rng, TYPES[name], ()), slow=False)


@pytest.mark.parametrize("name", [*SUB_BYTE, "string"])
@pytest.mark.parametrize("mode", MODES)
def test_large_of_unusual_types(mode: str, name: str) -> None:
    """P2: packed elements go through the thread pool too, in rows that begin within a byte; strings are allocations.

    Each mode and each type meets each shape.
    """
    rng = np.random.default_rng(8)
    dtype = TYPES[name]
    fill = native.random_array(rng, dtype, ())
    shapes = (((1_501, 1_001), (5, 3, 1, 7)), ((3_000, 5, 99), (2, 1, 0, 3, 5, 0)), ((1_600_001,), (1, 2)))
    shape, pads = shapes[([*SUB_BYTE, "string"].index(name) + MODES.index(mode)) % 3]
    shape = shape if dtype.bits else [min(size, 60) for size in shape]
    check("Pad_25", mode, native.random_array(rng, dtype, shape), pads, fill, slow=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["uint8", "int16", "float", "int64"])
def test_trailing_axis_of_any_width(name: str, mode: str) -> None:
    """P2: an untouched trailing axis makes one wide element; widths with and without a copy loop of their own."""
    for width in (1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 33):
        data = native.random_array(np.random.default_rng(width), TYPES[name], (3, 4, width))
        check(NEWEST, mode, data, (2, 5, 0, 1, 6, 0), native.random_array(np.random.default_rng(1), TYPES[name], ()))


@pytest.mark.parametrize("mode", MODES)
def test_many_periods(mode: str) -> None:
    """P2, P4: any number of periods, on either side, of an axis as short as one element."""
    if mode == "reflect" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("numpy.pad repeats a long reflection wrongly before 2.0")
    for size, begin, end in product((1, 2, 3, 4), range(14), range(14)):
        check(NEWEST, mode, np.arange(size, dtype=np.int32) + 1, (begin, end), np.array(-1, np.int32), slow=False)
    for size, begin, end in product((1, 2, 3), (0, 5, 11), (0, 4, 9)):
        if mode in OPS["Pad_2"].modes:
            check("Pad_2", mode, np.arange(size, dtype=np.float32) + 1, (begin, end), np.array(-1, np.float32))
        check(NEWEST, mode, np.arange(2 * size, dtype=np.int8).reshape(size, 2), (begin, 7, end, 6), slow=True)


@pytest.mark.parametrize("mode", MODES)
def test_long_border(mode: str) -> None:
    """P2: a border much longer than its period, which the engine writes by doubling."""
    for name, size in product(("uint8", "uint16", "double"), (1, 2, 3, 5)):
        data = native.random_array(np.random.default_rng(size), TYPES[name], (size,))
        check(NEWEST, mode, data, (20_011, 30_013), native.random_array(np.random.default_rng(2), TYPES[name], ()))


@pytest.mark.parametrize("op", [name for name in ONNX_OPS if "string" in OPS[name].types])
def test_strings(op: str) -> None:
    """P7: NUL, characters of any length and the empty string survive; the default fill is the empty string."""
    with_nul = np.array([["a\0b", "", "\0"], ["Zoë", "長い文字列", "x" * 300]], object)
    without = np.array([["ab", "", "12345678901234567890"], ["Zoë", "長い文字列", "x" * 300]], object)
    for mode, data in product(modes_of(op), (with_nul, without)):  # the runtime takes those without NUL in another way
        check(op, mode, data, (1, 2, 0, 3))
        check(op, mode, data, (1, -1, 0, 3), np.array("ü\0\0", object))
        check(op, mode, data, (1, -1, 0, 3), np.array("a fill that is no short string", object))
    data = without
    assert native.run(op, {}, [data[:0], np.array([1, 0, 0, 0])]).tolist() == [["", "", ""]]
    assert native.run(op, {}, [data, np.array([-2, 0, 0, 0])]).shape == (0, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SUB_BYTE)
def test_packed(name: str, mode: str) -> None:
    """P7: 4- and 2-bit elements, with counts that do and do not fill their last byte, before and after."""
    rng = np.random.default_rng(9)
    fill = native.random_array(rng, TYPES[name], ())
    for size, begin, end in product(range(1, 10), range(4), (0, 1, 3)):
        check("Pad_25", mode, native.random_array(rng, TYPES[name], (size,)), (begin, end), fill, slow=False)
    check("Pad_25", mode, native.random_array(rng, TYPES[name], (3, 5, 7)), (1, -2, 3, 0, 9, -1), fill)


@pytest.mark.parametrize(
    ("mode", "shape", "pads", "output"),
    [
        ("constant", (0,), (2, 3), (5,)),
        ("constant", (0, 3), (1, 1, 0, 1), (1, 5)),
        ("constant", (4,), (-1, -3), (0,)),
        ("constant", (3,), (-5, 4), (2,)),
        ("constant", (2, 0, 3), (0, 0, 1, 0, 0, 1), (2, 0, 5)),
        *((mode, (0, 3), (0, 1, 0, 1), (0, 5)) for mode in MODES[1:]),
        *((mode, (4,), (-1, -3), (0,)) for mode in MODES[1:]),
        *((mode, (4, 2), (-4, 2, 0, 1), (0, 5)) for mode in MODES[1:]),
        *((mode, (0, 4), (3, -1, 2, -3), (5, 0)) for mode in MODES[1:]),
    ],
)
@pytest.mark.parametrize("name", ["float", "int4", "string"])
def test_dims_of_zero(name: str, mode: str, shape, pads, output) -> None:
    """P1, P5: an empty output is fine in every mode, an empty input only in mode constant or for an empty output."""
    attributes, inputs = node(NEWEST, mode, native.random_array(np.random.default_rng(3), TYPES[name], shape), pads)
    got = native.run(NEWEST, attributes, inputs)
    assert got.shape == output
    assert native.bits(got) == native.bits(reference.run(NEWEST, attributes, inputs))


@pytest.mark.parametrize("name", ["float", "int4", "string"])
@pytest.mark.parametrize("shape", [(0, 1 << 40, 1 << 40), (1 << 40, 0, 1 << 40)])
def test_empty_data_of_dims_beyond_all_memory(name: str, shape) -> None:
    """P10: only the output must have its place. NumPy has no such data, so that another Pad makes them."""
    dtype, rank = TYPES[name], len(shape)
    small = [min(n, 1) for n in shape]
    grow = np.array([0] * rank + [n - s for n, s in zip(shape, small)])
    keep = np.array([1 - n if n else 0 for n in shape] + [0 if n else 2 for n in shape])  # the last of each axis
    nodes = [
        helper.make_node("Pad_25", [data, pads], [output], domain="padops")
        for data, pads, output in (("x", "grow", "grown"), ("grown", "keep", "y"))
    ]
    infos = [helper.make_tensor_value_info(name, dtype.onnx, None) for name in ("x", "y")]
    tensors = [native.tensor("grow", grow), native.tensor("keep", keep)]
    graph = helper.make_graph(nodes, "two", infos[:1], infos[1:], tensors)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("padops", 1)]
    session = native.session(helper.make_model(graph, opset_imports=imports, ir_version=10))
    made = native.run_session(session, {"x": np.zeros(small, dtype.numpy)})
    assert made.shape == tuple(1 if n else 2 for n in shape)
    assert made.tolist() == np.full(made.shape, "" if name == "string" else 0).tolist()


@pytest.mark.parametrize("op", ONNX_OPS)
def test_rank_0(op: str) -> None:
    """P5: a scalar passes through."""
    for dtype, mode in product((d for d in native.TYPES if d.name in OPS[op].types), modes_of(op)):
        data = native.random_array(np.random.default_rng(4), dtype, ())
        attributes, inputs = node(op, mode, data, (), data if op in INPUT_OPS else None)
        assert native.bits(native.run(op, attributes, inputs)) == native.bits(data)


@pytest.mark.parametrize(
    ("mode", "data", "pads", "output"),
    [
        ("wrap", [1, 2], (-1, 2), [2, 2, 2]),
        ("reflect", [1, 2], (-1, 1), [2, 2]),
        ("reflect", [1, 2, 3, 4], (-1, 3), [2, 3, 4, 3, 2, 3]),
        ("edge", [1, 2, 3], (2, -2), [1, 1, 1]),
        ("wrap", [1, 2, 3], (4, -1), [1, 2, 1, 2, 1, 2]),
        ("constant", [1, 2, 3], (-4, 3), [0, 0]),  # the crop goes beyond the data, into what is added
        ("constant", [1, 2, 3], (2, -4), [0]),
    ],
)
def test_crop_comes_first(mode: str, data, pads, output) -> None:
    """P3: with mixed signs the ONNX operators slice first and extend what is left; constant sees the whole data."""
    for op in ONNX_OPS:
        if mode in OPS[op].modes:
            attributes, inputs = node(op, mode, np.array(data, np.float32), pads)
            assert native.run(op, attributes, inputs).tolist() == output
            assert reference.run(op, attributes, inputs).tolist() == output


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float", "double"])
def test_float_bits(name: str) -> None:
    """P7: bits are copied, never converted: signalling NaNs, −0, denormals and infinities, as data and as fill."""
    dtype = TYPES[name]
    raw = np.dtype(f"u{dtype.bits // 8}")
    mantissa = {"float16": 10, "bfloat16": 7, "float": 23, "double": 52}[name]
    infinity = ((1 << (dtype.bits - 1 - mantissa)) - 1) << mantissa
    sign = 1 << (dtype.bits - 1)
    patterns = [sign, 1, sign | 1, (1 << mantissa) - 1, infinity, infinity | 1, sign | infinity | 3, sign | (sign - 1)]
    data = np.array(patterns, raw).view(dtype.numpy)
    for mode in MODES:
        for fill in data:
            attributes, inputs = node(NEWEST, mode, data, (3, 2), np.array(fill))
            got = storage(native.run(NEWEST, attributes, inputs)).tolist()
            border = [int(storage(np.array(fill)))] * 5
            assert got[3:-2] == patterns
            if mode == "constant":
                assert got[:3] + got[-2:] == border


@pytest.mark.parametrize("mode", MODES)
def test_high_rank(mode: str) -> None:
    """P2: every axis of a tensor of rank 12 grows."""
    data = native.random_array(np.random.default_rng(5), by_name("uint16"), (1, 2) * 6)
    check(NEWEST, mode, data, (1, 0) * 6 + (0, 1) * 6, np.array(77, np.uint16))
