"""The native kernels, bit for bit, against numpy.pad and against the reference.

What inputs may look like is in ``test_inputs.py``, errors are in ``test_errors.py``.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import product
from pathlib import Path

import native
import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_pads import FULL_OPS, INPUT_OPS, MODES, NEWEST, ONNX_OPS, full_pad, modes_of, node, numpy_pad
from small_models import FLOAT

from padops.spec import reference
from padops.spec.dialects import OPS

TYPES = {dtype.name: dtype for dtype in native.TYPES}
SUB_BYTE = [name for name, dtype in TYPES.items() if 0 < dtype.bits < 8]
SHARED_BYTES = 256 * 1024  # csrc/core/thresholds.h: what is larger goes through the thread pool


def check(op: str, mode: str, data: np.ndarray, pads, fill=None, interior=(), slow: bool = True) -> None:
    """Native, the reference and numpy.pad must give the same bits; ``slow`` leaves the reference in."""
    attributes, inputs = node(op, mode, data, pads, fill, interior)
    given = (data, pads, mode, fill)
    expected = native.bits(full_pad(*given, interior) if op in FULL_OPS else numpy_pad(*given))
    assert native.bits(native.run(op, attributes, inputs)) == expected
    if slow:
        assert native.bits(reference.run(op, attributes, inputs)) == expected


def some(name: str, shape, seed: int = 0) -> np.ndarray:
    return native.random_array(np.random.default_rng(seed), TYPES[name], shape)


@pytest.mark.parametrize("op", [*ONNX_OPS, *FULL_OPS])
def test_op_mode_type(op: str) -> None:
    """P1, P2, P3, P7: random bits; amounts of one sign and of both. One operator of each form has all its types.

    The others have each type in some mode, and each mode with some types: a kernel only knows the width of a type.
    """
    names = [name for name in OPS[op].types if name in TYPES]
    for (i, mode), (j, name) in product(enumerate(OPS[op].modes), enumerate(names)):
        if (i + j) % 4 and op not in (NEWEST, "OpenVINOPad_12"):
            continue
        data, fill = some(name, (5, 4, 5)), some(name, (), 1)
        fill = fill if op not in ("Pad_1", "Pad_2") else np.array(-1.5, TYPES[name].numpy)
        check(op, mode, data, (0, 2, 1, 1, 0, 3), fill)
        check(op, mode, data, (-1, 3, -3, 2, -2, -1), fill)  # within OpenVINO's limits (P4)
        if op not in FULL_OPS:
            check(op, mode, data, (-1, 9, 7, 2, -2, -3))


@pytest.mark.parametrize("name", TYPES)
def test_interior(name: str) -> None:
    """P6: fill between neighbours, of each width, with crops that begin on and between elements."""
    data, fill = some(name, (3, 4, 2)), some(name, (), 1)
    for pads, interior in (((1, 0, 2, 0, 3, 1), (1, 2, 0)),
                           ((-1, -3, 0, -2, 1, 0), (2, 1, 3)),
                           ((0, 0, 0, 0, 0, 0), (0, 0, 4)),
                           ((0, 0, -1, 0, 0, 1), (3, 0, 0))):  # fmt: skip
        check("NGraphPad_0", "CONSTANT", data, pads, fill, interior)


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


@pytest.mark.parametrize("layout", LARGE)
def test_large(layout: str) -> None:
    """P2: outputs beyond one task, of each width, whatever the engine merges; an operator that crops later has one."""
    (shape, pads), turn = LARGE[layout], [*LARGE].index(layout)
    for i, mode in enumerate(MODES):
        name = ("uint8", "uint16", "float", "double")[(i + turn) % 4]
        data = some(name, shape)
        assert data.nbytes > SHARED_BYTES
        check(NEWEST, mode, data, pads, some(name, (), 1), slow=False)
    if layout == "rows":
        for mode in OPS["NGraphPad_0"].modes:
            check("NGraphPad_0", mode, some("float", (900, 601)), (7, -2, -5, 30), some("float", (), 1), slow=False)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", [name for name in ("uint2", "int4", "uint8", "float16", "int64") if name in TYPES])
def test_rows(name: str, mode: str) -> None:
    """P2: a long window between short borders, as real tensors have it, which the engine writes in special loops."""
    fill = some(name, (), 1)
    # Widths: short, about a cache line in some of the types, two, and long enough to align.
    for width, inner, (begin, end) in product(
        (16, 61, 64, 65, 130, 1300), (1, 3), ((1, 1), (6, 6), (0, 5), (7, 0), (16, 17), (-3, 4))
    ):
        if begin == 16 and width == 16 and mode == "reflect":
            continue  # numpy.pad before 2.0 repeats a long reflection wrongly
        check("Pad_25", mode, some(name, (2, 5, width, inner)), (1, 2, begin, 0, 1, 2, end, 0), fill, slow=False)


@pytest.mark.parametrize("mode", MODES)
def test_many_periods(mode: str) -> None:
    """P2, P4: any number of periods of an axis as short as one element; long ones are written by doubling."""
    if mode == "reflect" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("numpy.pad repeats a long reflection wrongly before 2.0")
    for size, begin, end in product((1, 2, 3, 4), range(0, 14, 3), range(14)):
        check(NEWEST, mode, np.arange(size, dtype=np.int32) + 1, (begin, end), np.array(-1, np.int32), slow=False)
    for size, begin, end in product((1, 2, 3), (0, 5, 11), (0, 4, 9)):
        if mode in OPS["Pad_2"].modes:
            check("Pad_2", mode, np.arange(size, dtype=np.float32) + 1, (begin, end), np.array(-1, np.float32))
        check(NEWEST, mode, np.arange(2 * size, dtype=np.int8).reshape(size, 2), (begin, 7, end, 6))
    for name, size in product(("uint8", "uint16", "double"), (1, 2, 3, 5)):
        check(NEWEST, mode, some(name, (size,)), (20_011, 30_013), some(name, (), 1), slow=False)


@pytest.mark.parametrize("op", [name for name in ONNX_OPS if "string" in OPS[name].types])
def test_strings(op: str) -> None:
    """P7: NUL, characters of any length and the empty string survive; the default fill is the empty string."""
    with_nul = np.array([["a\0b", "", "\0"], ["Zoë", "長い文字列", "x" * 300]], object)
    without = np.array([["ab", "", "12345678901234567890"], ["Zoë", "長い文字列", "x" * 300]], object)
    for mode, data in product(modes_of(op), (with_nul, without)):  # the runtime takes those without NUL in another way
        check(op, mode, data, (1, 2, 0, 3))
        for fill in ("ü\0\0", "a fill that is no short string"):
            check(op, mode, data, (1, -1, 0, 3), np.array(fill, object))
    assert native.run(op, {}, [without[:0], np.array([1, 0, 0, 0])]).tolist() == [["", "", ""]]
    assert native.run(op, {}, [without, np.array([-2, 0, 0, 0])]).shape == (0, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SUB_BYTE)
def test_packed(name: str, mode: str) -> None:
    """P7: 4- and 2-bit elements, with counts that do and do not fill their last byte, before and after."""
    fill = some(name, (), 1)
    for size, begin, end in product(range(1, 10), range(4), (0, 1, 3)):
        check("Pad_25", mode, some(name, (size,)), (begin, end), fill, slow=False)
    check("Pad_25", mode, some(name, (3, 5, 7)), (1, -2, 3, 0, 9, -1), fill)


@pytest.mark.parametrize("name", ["float", "int4", "string"])
def test_dims_of_zero(name: str) -> None:
    """P1, P5: an empty output is fine in every mode, an empty input only in mode constant or for an empty output."""
    for modes, shape, pads, output in ((MODES[:1], (0,), (2, 3), (5,)),
                                       (MODES[:1], (0, 3), (1, 1, 0, 1), (1, 5)),
                                       (MODES[:1], (3,), (-5, 4), (2,)),
                                       (MODES[:1], (2, 0, 3), (0, 0, 1, 0, 0, 1), (2, 0, 5)),
                                       (MODES, (4,), (-1, -3), (0,)),
                                       (MODES[1:], (0, 3), (0, 1, 0, 1), (0, 5)),
                                       (MODES[1:], (4, 2), (-4, 2, 0, 1), (0, 5)),
                                       (MODES[1:], (0, 4), (3, -1, 2, -3), (5, 0))):  # fmt: skip
        for mode in modes:
            attributes, inputs = node(NEWEST, mode, some(name, shape), pads)
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
    made = native.run_session(native.of_x(nodes, dtype.onnx, {"grow": grow, "keep": keep}), {"x": some(name, small)})
    assert made.shape == tuple(1 if n else 2 for n in shape)
    assert made.tolist() == np.full(made.shape, "" if name == "string" else 0).tolist()


@pytest.mark.parametrize("op", ONNX_OPS)
def test_rank_0_and_rank_12(op: str) -> None:
    """P2, P5: a scalar passes through; every axis of twelve grows."""
    for name, mode in product((name for name in OPS[op].types if name in TYPES), modes_of(op)):
        data = some(name, ())
        attributes, inputs = node(op, mode, data, (), data if op in INPUT_OPS else None)
        assert native.bits(native.run(op, attributes, inputs)) == native.bits(data)
    for mode in modes_of(op):
        check(op, mode, some("double", (1, 2) * 6), (1, 0) * 6 + (0, 1) * 6, np.array(77.0))


@pytest.mark.parametrize("name", ["uint8", "float16", "float", "double"])
@pytest.mark.parametrize("mode", MODES)
def test_memory_of_the_caller(mode: str, name: str) -> None:
    """Source and output begin at any address, and what lies around the output stays as it is."""
    dtype, data, fill, pads = TYPES[name], some(name, (2, 5, 200)), some(name, (), 1), np.array([0, 1, 3, 0, 2, 9])
    made = native.node("Pad_25", ["x", "pads", "fill"], "y", {"mode": mode})
    session, expected = native.of_x([made], dtype.onnx, {"pads": pads, "fill": fill}), numpy_pad(data, pads, mode, fill)
    for before in (0, 1, 2, 4, 8, 24, 63):
        native.check_bound(session, data, expected, before)


# --- the fill of Pad_1 and Pad_2, a float attribute, rounded once to the type of the data (P7) -----------------------


def floats() -> np.ndarray:
    """Around every float16: itself, the midpoint to its neighbour and what lies next to that; both signs."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    above = np.append(halves[1:], np.float32(65536))  # where the next float16 would be, if it went on
    middle = (halves + above) / 2
    values = [halves, middle, np.nextafter(middle, halves), np.nextafter(middle, above)]
    positive = np.concatenate([*values, np.array([np.inf, 1e-45, 1e-30, 65535.9, 1e30], np.float32)])
    return np.concatenate([positive, -positive])


def nans() -> np.ndarray:
    """Quiet and signalling, with payloads in the upper and in the lower bits."""
    payloads = [1, 2, 0x1FFF, 0x2000, 0x3FFFFF, 0x400000, 0x400001, 0x402000, 0x7FE000, 0x7FFFFF]
    return np.array([sign | 0x7F800000 | payload for payload in payloads for sign in (0, 1 << 31)], np.uint32).view(
        np.float32
    )


def rounded(values: np.ndarray) -> np.ndarray:
    """Bits of the float16: numbers as NumPy rounds them, NaNs with the upper ten bits of their payload, or 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = values.astype(np.float16).view(np.uint16)
    raw = values.view(np.uint32)
    payload = np.maximum(raw >> 13 & 0x3FF, 1)
    return np.where(np.isnan(values), raw >> 16 & 0x8000 | 0x7C00 | payload, numbers).astype(np.uint16)


def fills(values: np.ndarray, dtype: int) -> np.ndarray:
    """What Pad_1 and Pad_2, in turns, put around an empty tensor, one node for each value."""
    nodes = []
    for i, value in enumerate(values):
        op, amounts = (("Pad_1", "paddings"), ("Pad_2", "pads"))[i % 2]
        nodes.append(helper.make_node(op, ["x"], [f"y{i}"], domain="padops", **{amounts: [0, 1]}))
        # Field 2 of AttributeProto, as bytes: a Python float is a double, and would make signalling NaNs quiet.
        raw = onnx.AttributeProto(name="value", type=onnx.AttributeProto.FLOAT).SerializeToString()
        nodes[-1].attribute.append(onnx.AttributeProto.FromString(raw + b"\x15" + value.tobytes()))
    nodes.append(helper.make_node("Concat", [f"y{i}" for i in range(len(values))], ["y"], axis=0))
    data = np.zeros(0, helper.tensor_dtype_to_np_dtype(dtype))
    return native.of_x(nodes, dtype, {}).run(None, {"x": data})[0]


def test_value_as_each_type() -> None:
    """P7: midpoints go to the even one, what lies next to them to the nearer; a double keeps NaNs.

    NaN payloads, denormals, infinities and −0 are among the values.
    """
    rng = np.random.default_rng(11)
    size = np.abs(floats())
    ends = floats()[(size < 2**-22) | (np.abs(size - 2**-14) < 2**-23) | (size > 65_400)]  # where branches of it meet
    values = np.concatenate([rng.choice(floats(), 1_200), ends, nans(), np.frombuffer(rng.bytes(4 * 180), np.float32)])
    assert (fills(values, onnx.TensorProto.FLOAT16).view(np.uint16) == rounded(values)).all()
    assert (fills(values, onnx.TensorProto.FLOAT).view(np.uint32) == values.view(np.uint32)).all()
    got = fills(values, onnx.TensorProto.DOUBLE)
    number = ~np.isnan(values)
    assert (got[number].view(np.uint64) == values[number].astype(np.float64).view(np.uint64)).all()
    assert np.isnan(got[~number]).all()


# --- outputs between the sizes that one thread and several surely do better: sessions try both ways ------------------

TRIAL = 0.4  # seconds: of these the kernel itself has more than the 20 ms that shared runs are tried for


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("width", [400, 512])  # outputs of 136 and 174 KB
def test_both_ways_give_the_same_bits(width: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((4, 20, width)).astype(np.float32)
    pads = np.array([0, 1, 3, 0, 0, 2])
    expected = reference.run("Pad_25", {"mode": "reflect"}, [data, pads]).view(np.int32)
    made = native.node("Pad_25", ["x", "pads"], "y", {"mode": "reflect"})
    options = native.session_options()
    options.intra_op_num_threads = threads
    session = native.of_x([made], FLOAT, {"pads": pads}, options)
    begin, runs = time.perf_counter(), 0
    while time.perf_counter() - begin < TRIAL or runs < 50:
        (output,) = session.run(None, {"x": data})
        assert np.array_equal(output.view(np.int32), expected), runs
        runs += 1


@pytest.mark.skipif(sys.platform != "linux", reason="open files are read from /proc")
def test_what_the_system_says_of_its_caches_is_read_and_closed() -> None:
    """The library asks once, before its first run."""
    native.run("Pad_18", {}, [np.zeros(3, np.float32), np.array([1, 1])])
    opened = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert opened and not [name for name in opened if name.startswith("/sys/")]
