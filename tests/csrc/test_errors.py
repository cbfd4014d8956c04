"""Each broken rule, with the whole text of its error: the same from the native kernel and from the reference.

Every row also runs with its inputs as initializers: whether an error comes at session creation or at run time, it says
the same.
"""

from __future__ import annotations

import resource
import sys
from itertools import product
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from broken_pads import F32, P1, P5, P7, P8, P9, P10, Broken, ints, ones
from onnx import helper
from small_models import FLOAT, INT64, model, tensor

import padops
from padops.spec import reference
from padops.spec.plan import PadError

NODE = "decoder/pad"


def _one_node(op: str, element_type: int) -> onnx.ModelProto:
    """A Pad with named inputs and a named output."""
    node = helper.make_node(op, ["data", "pads"], ["output"], name=NODE, domain="padops")
    inputs = [("data", element_type, None), ("pads", INT64, None)]
    outputs = [("output", element_type, None)]
    return model([node], 18, ir_version=9, imports=[("padops", 1)], inputs=inputs, outputs=outputs)


def _options_with_arena() -> onnxruntime.SessionOptions:
    """As most users have them."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    padops.register(options)
    return options


def _resident() -> int:
    """Bytes of memory that this process has in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def failure(run, *arguments) -> str:
    """The text that padops gave the failure."""
    with pytest.raises(Exception) as caught:
        run(*arguments)
    return native.error_text(caught.value)


@pytest.mark.parametrize("broken", [*P1, *P5, *P7, *P8, *P9, *P10], ids=str)
def test_text(broken: Broken) -> None:
    expected = f"padops::{broken.op} '{NODE}': {broken.detail}"
    inputs = [broken.data, *broken.inputs]
    with pytest.raises(PadError) as caught:
        reference.run(broken.op, broken.attributes, inputs, NODE)
    assert str(caught.value) == expected
    assert expected.endswith(f"{caught.value.detail} [{caught.value.rule}]")
    assert failure(native.run, broken.op, broken.attributes, inputs, NODE) == expected
    held = frozenset(i for i, array in enumerate(inputs) if i > 0 and array is not None)
    assert failure(native.run, broken.op, broken.attributes, inputs, NODE, held) == expected


EMPTY_STRING = 24 if sys.platform == "darwin" else 32  # bytes in the runtime's C++ library


@pytest.mark.parametrize(
    ("name", "amount", "size"),
    [
        ("uint8", 2**50, 2**50 + 3),
        ("int4", 2**50 - 1, 2**49 + 1),
        ("float16", 2**46, 2**47 + 6),
        ("float", 2**46, 2**48 + 12),
        ("double", 2**58, 2**61 + 24),
        ("string", 2**58, 2**58 * EMPTY_STRING + 3 * EMPTY_STRING),
    ],
)
def test_more_than_the_memory(name: str, amount: int, size: int) -> None:
    """P10: a size that passes the checks but that no machine can hold is an error, and the next run is fine."""
    data = native.random_array(np.random.default_rng(1), native.by_name(name), (3,))
    expected = f"padops::Pad_21 '{NODE}': no memory for an output of shape [{3 + amount}] ({size} bytes) [P10]"
    built = native.session(_one_node("Pad_21", native.by_name(name).onnx), _options_with_arena())

    def run(amount: int) -> np.ndarray:
        return native.run_session(built, {"data": data, "pads": ints(0, amount)})

    if name != "string":  # whose elements have another size in NumPy
        assert failure(reference.run, "Pad_21", {}, [data, ints(0, amount)], NODE) == expected
    before = _resident()
    assert failure(run, amount) == expected
    assert run(2).shape == (5,)
    assert _resident() < before + 2**26, "the runtime's arena must not have heard of that size"


@pytest.mark.parametrize(("untouched", "too_many"), [(0, 66), (9, 65)])
def test_more_axes_than_a_task_can_walk_along(untouched: int, too_many: int) -> None:
    """P10: the last padded axis is the row; of those outside it neighbours that stay as they are count as one."""
    for padded in (too_many - 1, too_many):
        rank = untouched + padded
        pads = [0] * untouched + [1] * padded + [0] * untouched + [-1] * padded
        nodes = [
            helper.make_node("Reshape", ["x", "dims"], ["data"]),
            helper.make_node("Pad_2", ["data"], ["padded"], name=NODE, domain="padops", pads=pads, value=7.0),
            helper.make_node("ReduceSum", ["padded"], ["y"], keepdims=0),
        ]
        dims = [tensor("dims", [2] * untouched + [1] * padded)]
        made = model(nodes, 18, ir_version=9, imports=[("padops", 1)], inputs=[("x", FLOAT, None)], tensors=dims)
        built = native.session(made)
        if padded < too_many:
            assert native.run_session(built, {"x": ones(2**untouched)}) == 7 * 2**untouched
        else:
            detail = f"of the {rank} axes 65 remain outside the rows after neighbours that stay as they are have been"
            assert failure(native.run_session, built, {"x": ones(2**untouched)}) == (
                f"padops::Pad_2 '{NODE}': {detail} merged, and at most 64 may [P10]"
            )


def test_output_of_another_shape() -> None:
    """P10: an output that the caller has bound, of another shape than the result's, is an error and stays as it was."""
    built = native.session(_one_node("Pad_18", onnx.TensorProto.FLOAT))
    for size, error in ((4, None), (3, "{3}"), (5, "{5}")):
        binding = built.io_binding()
        binding.bind_cpu_input("data", ones(2))
        binding.bind_cpu_input("pads", ints(1, 1))
        output = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(size, 7, F32))
        binding.bind_ortvalue_output("output", output)
        if error is None:
            built.run_with_iobinding(binding)
            assert output.numpy().tolist() == [0, 1, 1, 0]
            continue
        text = failure(built.run_with_iobinding, binding)
        assert text.startswith(f"padops::Pad_18 '{NODE}': the runtime gives no output of shape [4]: ") and error in text
        assert output.numpy().tolist() == [7] * size


def test_attributes_and_data_are_required() -> None:
    """P8: the attribute forms have no default. P7: the fill of Pad_1 and Pad_2 is a float. P9: the mode is a string."""
    rows = [("Pad_1", {}, "attribute paddings is required [P8]"), ("Pad_2", {}, "attribute pads is required [P8]"),
            ("Pad_2", {"pads": [1, 1], "mode": 3}, "attribute mode is not a string [P9]")]  # fmt: skip
    for value in (3, "3", [3.0]):
        rows.append(("Pad_2", {"pads": [1, 1], "value": value}, "attribute value is not a float [P7]"))
    for (op, attributes, detail), run in product(rows, (native.run, reference.run)):
        assert failure(run, op, attributes, [ones(2)], NODE) == f"padops::{op} '{NODE}': {detail}"
    for inputs in ([], [None, ints(1, 1)]):  # the runtime refuses a model without data; the reference says so itself
        expected = f"padops::Pad_18 '{NODE}': input data is required [P8]"
        assert failure(reference.run, "Pad_18", {}, inputs, NODE) == expected


@pytest.mark.parametrize("name", ["pads", "padding_interior"])
@pytest.mark.parametrize("value", [[1.9, 1.2], ["1", "2"], "12", 1, 1.5, b"12"])
def test_wrong_type_of_a_list(name: str, value: Any) -> None:
    """P8: the runtime gives any list of another type to a kernel as an empty one; the reference sees it.

    Data without axes take an empty list: there what is no list at all must not pass for one.
    """
    for shape in ((2,), ()):
        ones_of_rank = [1] * len(shape)
        amounts = {"padding_below": ones_of_rank, "padding_above": ones_of_rank}
        op, more = ("Pad_2", {}) if name == "pads" else ("NGraphPad_0", amounts)
        inputs = [ones(*shape), ones()][: 1 if name == "pads" else 2]
        expected = f"padops::{op} '{NODE}': attribute {name} is not a list of integers [P8]"
        assert failure(reference.run, op, {**more, name: value}, inputs, NODE) == expected
        if not isinstance(value, list):
            assert failure(native.run, op, {**more, name: value}, inputs, NODE) == expected


def test_numbers_of_numpy_are_integers_and_floats() -> None:
    """P10: and they are added as Python's, which are not limited to 64 bits."""
    attributes = {"pads": list(ints(1, 2)), "value": F32(7)}
    assert reference.run("Pad_2", attributes, [ones(1)]).tolist() == [7, 1, 7, 7]
    text = failure(reference.run, "Pad_2", {"pads": list(ints(2**63 - 1, 1))}, [ones(1)], NODE)
    assert text.endswith("[P10]")


def test_types_that_the_runtime_refuses_itself() -> None:
    """T: types that a version does not list never reach a kernel; the reference says the same in its own words."""
    for op, inputs, detail in (
        ("Pad_2", [ones(2, dtype=np.int32)], "data is int32, expected one of float, float16, double [T]"),
        ("Pad_18", [ones(2), ints(1, 1), np.ones(())], "constant_value is float64, but data is float32 [T]"),
        ("Pad_18", [ones(2), ints(1, 1, dtype=np.int32)], "pads is int32, expected int64 [P8]"),
    ):
        attributes = {"pads": [1, 1]} if op == "Pad_2" else {}
        with pytest.raises(Exception, match="INVALID_GRAPH|Type"):
            native.run(op, attributes, inputs, NODE)
        assert failure(reference.run, op, attributes, inputs, NODE) == f"padops::{op} '{NODE}': {detail}"


def test_an_error_leaves_the_session_usable() -> None:
    """P5: a session runs on after an error, with the right result."""
    inputs = [ones(2, 0), ints(0, 1, 0, 0)]
    for _ in range(3):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="it is empty"):
            native.run("Pad_21", {"mode": "edge"}, inputs, NODE)
        assert native.run("Pad_21", {"mode": "edge"}, [ones(2, 1), inputs[1]], NODE).tolist() == [[1, 1], [1, 1]]
