"""Rows like those of real tensors: a long window between short borders, which the engine writes in special loops."""

from __future__ import annotations

import native
import numpy as np
import onnx
import pytest
from native import bits, random_array
from onnx import helper

from padops.spec import reference
from padops.spec.dtypes import by_name

TYPES = ("uint2", "int4", "uint8", "float16", "float", "int64")
WIDTHS = (16, 20, 61, 64, 65, 130, 1300)  # short; about a cache line, in some of the types; two; long enough to align
AMOUNTS = ((1, 1), (3, 2), (6, 6), (0, 5), (7, 0), (16, 17), (-3, 4))


@pytest.mark.parametrize("name", [n for n in TYPES if by_name(n) in native.TYPES])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_rows(mode: str, name: str) -> None:
    rng = np.random.default_rng(0)
    dtype = by_name(name)
    for width in WIDTHS:
        for inner in (1, 3):  # elements that stay together
            for amounts in AMOUNTS:
                data = random_array(rng, dtype, (2, 5, width, inner))
                begin, end = ([1, 2, amount, 0] for amount in amounts)
                inputs = [data, np.array(begin + end)]
                if mode == "constant":
                    inputs.append(random_array(rng, dtype, ()))
                expected = reference.run("Pad_25", {"mode": mode}, inputs)
                assert bits(native.run("Pad_25", {"mode": mode}, inputs)) == bits(expected), (width, inner, amounts)


@pytest.mark.parametrize("name", [n for n in TYPES if by_name(n) in native.TYPES])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_rows_of_several_tasks(mode: str, name: str) -> None:
    """Tasks begin at any row; none may write beyond its own."""
    rng = np.random.default_rng(1)
    dtype = by_name(name)
    data = random_array(rng, dtype, (3, (3 << 20) // dtype.bits // 257, 257))
    inputs = [data, np.array([1, 1, 3, 1, 2, 2])]
    expected = reference.run("Pad_25", {"mode": mode}, inputs)
    assert bits(native.run("Pad_25", {"mode": mode}, inputs)) == bits(expected)


@pytest.mark.parametrize("width", [3, 5, 12, 24, 31, 32, 33, 65])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_elements_of_any_width(mode: str, width: int) -> None:
    """Untouched axes behind the padded one make elements that no register holds; borders of many of them and of few."""
    rng = np.random.default_rng(width)
    data = random_array(rng, by_name("uint8"), (3, 40, width))
    for begin, end in ((1, 2), (22, 0), (7, 39)):
        inputs = [data, np.array([0, begin, 0, 1, end, 0])]
        expected = reference.run("Pad_25", {"mode": mode}, inputs)
        assert bits(native.run("Pad_25", {"mode": mode}, inputs)) == bits(expected)


@pytest.mark.parametrize("name", ["uint8", "float16", "float", "double"])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_memory_of_the_caller(mode: str, name: str) -> None:
    """Source and output begin at any address, and what lies around the output stays as it is."""
    rng = np.random.default_rng(2)
    dtype = by_name(name)
    data = random_array(rng, dtype, (2, 5, 200))
    pads = np.array([0, 1, 3, 0, 2, 9])
    fill = random_array(rng, dtype, ())
    expected = reference.run("Pad_25", {"mode": mode}, [data, pads, fill])
    session = native.session(_one_pad(mode, dtype.onnx, {"pads": pads, "fill": fill}))
    for before in (0, 1, 2, 4, 8, 24, 63):
        held = np.full(data.nbytes + 256, 0xA5, np.uint8)
        source = held[before : before + data.nbytes]
        source[:] = np.frombuffer(data.tobytes(), np.uint8)
        room = np.full(expected.nbytes + 256, 0xA5, np.uint8)
        target = room[64 + before : 64 + before + expected.nbytes]
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, dtype.onnx, data.shape, source.ctypes.data)
        binding.bind_output("y", "cpu", 0, dtype.onnx, expected.shape, target.ctypes.data)
        session.run_with_iobinding(binding)
        assert target.tobytes() == expected.tobytes(), before
        room[64 + before : 64 + before + expected.nbytes] = 0xA5
        assert (room == 0xA5).all(), before


def _one_pad(mode: str, dtype: int, constants: dict[str, np.ndarray]) -> onnx.ModelProto:
    node = helper.make_node("Pad_25", ["x", *constants], ["y"], domain="padops", mode=mode)
    tensors = [native.tensor(name, array) for name, array in constants.items()]
    infos = [helper.make_tensor_value_info(name, dtype, None) for name in ("x", "y")]
    graph = helper.make_graph([node], "one", infos[:1], infos[1:], tensors)
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("padops", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)
