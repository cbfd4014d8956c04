"""Each broken rule, with the whole text of its error: the same from the native kernel and from the reference.

Every row also runs with its inputs as initializers, and with declared shapes: whether an error comes at session
creation or at run time, it says the same. Inference, which does not know the node's name, leaves it to the kernel.
"""

from __future__ import annotations

import sys
from typing import Any

import native
import numpy as np
import onnxruntime
import pytest
from loads import resident
from onnx import helper
from small_models import FLOAT, INT64, model

import padops
from padops.spec import reference
from padops.spec.plan import LARGEST, PadError

NODE = "decoder/pad"
F32, MOST, INT4 = np.float32, 2**63 - 1, native.by_name("int4")


def ints(*values: int, dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def ones(*shape: int, dtype: type = F32) -> np.ndarray:
    return np.ones(shape, dtype)


def axis(begin: int, size: int, end: int, interior: int = 0) -> str:
    return f"(begin {begin}, size {size}, interior {interior}, end {end})"


ONE, MATRIX, BOTH, WORDS = ones(2), ones(2, 3), ints(1, 1), np.array(["x", "y", "z"], object)
# The operator, its error without the operator and the node in front, the inputs, the attributes.
BROKEN: list[tuple[str, str, list, dict[str, Any]]] = [
    ("Pad_1", f"axis 1 would have -1 elements {axis(-5, 4, 0)} [P1]", [ones(2, 4)], {"paddings": [0, -5, 1, 0]}),
    ("Pad_2", f"axis 1 would have -6 elements {axis(-9, 3, 0)} [P1]", [MATRIX], {"pads": [0, -9, 0, 0]}),
    ("Pad_25", f"axis 2 would have -1 elements {axis(0, 5, -6)} [P1]", [ones(2, 4, 5), ints(0, -6), None, ints(-1)],
     {"mode": "wrap"}),
    *(("OpenVINOPad_12", f"axis 0 has {side} {most + 1}, but {mode} takes at most {most} of its 2 elements [P4]",
       [ONE, ints(begin), ints(end)], {"pad_mode": mode})
      for mode, most, side, begin, end in (("reflect", 1, "begin", 2, 0), ("symmetric", 2, "end", -1, 3))),
    *(("NGraphPad_0", f"axis 0 has {text}, but {mode} needs at least {least} [P4]", [ones(least - 1), ones()],
       {"padding_below": [0], "padding_above": [0], "pad_mode": mode.upper()})
      for mode, least, text in (("edge", 1, "0 elements"), ("reflect", 2, "1 element"))),
    ("Pad_19", "cannot extend axis 0 by reflect: begin -2 and end 3 leave none of its 2 elements [P5]",
     [ONE, ints(-2, 3)], {"mode": "reflect"}),
    ("Pad_2", "cannot extend axis 0 by edge: begin -1 and end 1 leave none of its 1 element [P5]", [ones(1)],
     {"pads": [-1, 1], "mode": "edge"}),
    ("Pad_2", "cannot extend axis 1 by edge: begin -3 and end 2 leave none of its 3 elements [P5]", [MATRIX],
     {"pads": [0, -3, 0, 2], "mode": "edge"}),
    ("Pad_21", "cannot extend axis 1 by wrap: it is empty [P5]", [ones(2, 0), ints(0, 1, 0, 0)],
     {"mode": "wrap"}),
    ("Pad_18", "constant_value has 6 elements, expected one [P7]", [ONE, BOTH, MATRIX], {}),
    ("Pad_13", "constant_value has 0 elements, expected one [P7]", [ONE, BOTH, ones(0)], {}),
    ("Pad_13", "constant_value has 3 elements, expected one [P7]", [WORDS[:1], BOTH, WORDS], {}),
    ("Pad_21", "constant_value has 5 elements, expected one [P7]",
     [native.from_bytes(b"\1", INT4, [2]), BOTH, native.from_bytes(b"\1\2\3", INT4, [5])], {}),
    *(("Pad_2", "attribute value is not a float [P7]", [ONE], {"pads": [1, 1], "value": value})
      for value in (3, "3", [3.0])),
    # P8: the count of values, their shape, axes out of range or twice, and another type. ONNX Runtime itself refuses
    # other types of pads at load: axes alone can be of two types.
    ("Pad_1", "attribute paddings is required [P8]", [ONE], {}),
    ("Pad_2", "attribute pads is required [P8]", [ONE], {}),
    # Of two mistakes, which is named.
    ("NGraphPad_0", "attribute padding_above is required [P8]", [ones(3), ones()],
     {"padding_below": [1], "pad_mode": "constant"}),
    ("NGraphPad_0", "attribute padding_below is required [P8]", [ones(3), ones()],
     {"padding_above": [1], "padding_interior": [-1]}),
    *((op, f"{name} has 3 values, expected 4 (2 per axis, rank 2) [P8]", [MATRIX], {name: [1, 2, 3]})
      for op, name in (("Pad_1", "paddings"), ("Pad_2", "pads"))),
    ("Pad_2", "pads has 0 values, expected 2 (2 per axis, rank 1) [P8]", [ONE], {"pads": []}),
    ("Pad_18", "pads has 6 values, expected 4 (2 per axis, axes=[2, 3]) [P8]",
     [ones(2, 3, 4, 5), ints(*[1] * 6), None, ints(2, 3)], {}),
    ("Pad_18", "pads has 2 values, expected 0 (2 per axis, axes=[]) [P8]", [ONE, BOTH, None, ints()], {}),
    ("Pad_13", "pads has 2 values, expected 0 (2 per axis, rank 0) [P8]", [np.array(1, F32), BOTH], {}),
    ("Pad_11", "pads has shape [2, 2], expected [4] [P8]", [MATRIX, ints(1, 1, 1, 1).reshape(2, 2)], {}),
    ("Pad_18", "pads has shape [], expected [2] [P8]", [MATRIX, np.array(1), None, ints(0)], {}),
    ("Pad_19", "pads has shape [1, 1, 4], expected [4] [P8]", [MATRIX, ints(1, 1, 1, 1).reshape(1, 1, 4)], {}),
    ("Pad_18", "axes has shape [], expected one dim [P8]", [MATRIX, BOTH, None, np.array(0)], {}),
    ("Pad_18", "axes has shape [1, 2], expected one dim [P8]", [MATRIX, BOTH, None, np.array([[0, 1]])], {}),
    ("Pad_18", "axes=[0, 2] has 2, outside -2..1 for rank 2 [P8]", [MATRIX, ints(1, 1, 1, 1), None, ints(0, 2)], {}),
    ("Pad_21", "axes=[-3] has -3, outside -2..1 for rank 2 [P8]", [MATRIX, BOTH, None, ints(-3)], {}),
    ("Pad_21", "axes=[0] has 0, outside -0..-1 for rank 0 [P8]", [np.array(1, F32), BOTH, None, ints(0)], {}),
    ("Pad_18", "axes=[1, -1] names axis 1 twice [P8]", [MATRIX, ints(1, 1, 1, 1), None, ints(1, -1)], {}),
    ("Pad_23", "axes=[0, 1, 0] names axis 0 twice [P8]",
     [MATRIX, ints(*[1] * 6), None, ints(0, 1, 0, dtype=np.int32)], {}),
    *(("Pad_18", f"axes is {kind.__name__.rstrip('_')}, expected int32 or int64 [P8]",
       [ONE, BOTH, None, ints(0, dtype=kind)], {}) for kind in (np.uint8, np.int16, np.uint64, np.bool_)),
    ("Pad_1", "mode 'wrap' is not one of constant, reflect, edge [P9]", [ONE], {"paddings": [1, 1], "mode": "wrap"}),
    ("Pad_1", "mode '' is not one of constant, reflect, edge [P9]", [ONE], {"paddings": [1, 1], "mode": ""}),
    *(("Pad_19", f"mode '{mode}' is not one of constant, reflect, edge, wrap [P9]", [ONE, BOTH], {"mode": mode})
      for mode in ("symmetric", "CONSTANT", "", "Zoë")),
    ("Pad_2", "attribute mode is not a string [P9]", [ONE], {"pads": [1, 1], "mode": 3}),
    *(("NGraphPad_0", f"axis 0 has interior {interior}, which {why} [P6]", [ONE, ones()],
       {"padding_below": [0], "padding_above": [0], "padding_interior": [interior], "pad_mode": mode})
      for mode, interior, why in (("EDGE", 1, "only mode constant allows, not edge"),
                                  ("CONSTANT", -1, "must not be negative"))),
    *(("Pad_18", f"axis 0 {axis(begin, 2, end)} has amounts beyond {LARGEST} [P10]", [ONE, ints(begin, end)], {})
      for begin, end in ((2**62, 0), (0, MOST), (MOST, MOST), (-MOST - 1, MOST), (-LARGEST - 1, 0))),
    ("Pad_2", f"axis 0 {axis(-MOST - 1, 2, 1)} has amounts beyond {LARGEST} [P10]", [ONE], {"pads": [-MOST - 1, 1]}),
    *(("Pad_2", f"axis 1 {axis(begin, 3, 1)} has amounts beyond {LARGEST} [P10]", [MATRIX], {"pads": [0, begin, 0, 1]})
      for begin in (MOST, -MOST - 1, 2**62)),
    *(("Pad_18", f"axis 0 would have more than {LARGEST} elements {axis(begin, 2, LARGEST)} [P10]",
       [ONE, ints(begin, LARGEST)], {}) for begin in (0, LARGEST)),
    *(("SamePad_1", f"{text} [P10]", [ones(1, 1, 5)], {"kernel_shape": [3], "dilations": [dilation]})
      for dilation, text in (
          (LARGEST, f"a kernel of 3 with dilation {LARGEST} is beyond {LARGEST}"),
          (LARGEST // 2,
           f"axis 2 would have more than {LARGEST} elements {axis(LARGEST // 2, 5, LARGEST // 2)}"))),
    *(("NGraphPad_0", f"axis 0 {text} [P10]", [ones(3), ones()],
       {"padding_below": [-3], "padding_above": [0], "padding_interior": [interior]})
      for interior, text in (
          (LARGEST + 1, f"{axis(-3, 3, 0, LARGEST + 1)} has amounts beyond {LARGEST}"),
          (LARGEST, f"would have more than {LARGEST} elements {axis(-3, 3, 0, LARGEST)}"))),
    # What int64 cannot hold stays too large, and does not become a crop.
    *((op, f"axis 0 {axis(min(begin, MOST), 3, min(end, MOST))} has amounts beyond {LARGEST} [P10]",
       [ones(3), ints(begin, dtype=np.uint64), ints(end, dtype=np.uint64)], {"pad_mode": "constant"})
      for op, begin, end in (("OpenVINOPad_1", 2**64 - 1, 0), ("OpenVINOPad_12", 0, 2**63))),
    ("Pad_25", f"an output of shape [1073741825, 1073741825] has more than {LARGEST} elements [P10]",
     [ones(1, 1), ints(2**30, 2**30, 0, 0)], {"mode": "edge"}),
    ("Pad_13", f"an output of shape {[2**21 + 1] * 3} has more than {LARGEST} elements [P10]",
     [ones(1, 1, 1), ints(*[2**21] * 3, 0, 0, 0)], {}),
]  # fmt: skip


def failure(run, *arguments) -> str:
    """The text that padops gave the failure."""
    with pytest.raises(Exception) as caught:
        run(*arguments)
    return native.error_text(caught.value)


@pytest.mark.parametrize(("op", "detail", "inputs", "attributes"), BROKEN, ids=lambda value: str(value)[:60])
def test_text(op: str, detail: str, inputs: list, attributes: dict[str, Any]) -> None:
    expected = f"padops::{op} '{NODE}': {detail}"
    with pytest.raises(PadError) as caught:
        reference.run(op, attributes, inputs, NODE)
    assert (str(caught.value), f"{caught.value.detail} [{caught.value.rule}]") == (expected, detail)
    held = frozenset(i for i, array in enumerate(inputs) if i > 0 and array is not None)
    for constants, static in ((native.NONE, False), (held, False), (native.NONE, True)):
        assert failure(native.run, op, attributes, inputs, NODE, constants, static) == expected


EMPTY_STRING = 24 if sys.platform == "darwin" else 32  # bytes in the runtime's C++ library


@pytest.mark.parametrize(("name", "amount", "size"), [
    ("uint8", LARGEST - 3, LARGEST),
    ("int4", 2**50 - 1, 2**49 + 1),
    ("float16", 2**46, 2**47 + 6),
    ("double", 2**58, 2**61 + 24),
    ("string", 2**58, 2**58 * EMPTY_STRING + 3 * EMPTY_STRING),
])  # fmt: skip
def test_more_than_the_memory(name: str, amount: int, size: int) -> None:
    """P10: a size that passes the checks but that no machine can hold is an error, and the next run is fine."""
    kind, node = native.by_name(name), native.node("Pad_21", ["data", "pads"], "output", {}, NODE)
    data = native.random_array(np.random.default_rng(1), kind, (3,))
    expected = f"padops::Pad_21 '{NODE}': no memory for an output of shape [{3 + amount}] ({size} bytes) [P10]"
    options = onnxruntime.SessionOptions()  # with an arena, as most users have them
    options.log_severity_level = 4
    padops.register(options)
    parts = {"inputs": [("data", kind.onnx, None), ("pads", INT64, None)], "outputs": [("output", kind.onnx, None)]}
    built = native.session(model([node], 18, ir_version=9, imports=[("padops", 1)], **parts), options)
    if name != "string":  # whose elements have another size in NumPy
        assert failure(reference.run, "Pad_21", {}, [data, ints(0, amount)], NODE) == expected
    before = resident()
    assert failure(native.run_session, built, {"data": data, "pads": ints(0, amount)}) == expected
    assert native.run_session(built, {"data": data, "pads": ints(0, 2)}).shape == (5,)
    assert resident() < before + 2**16, "the runtime's arena must not have heard of that size"


@pytest.mark.parametrize(("untouched", "too_many"), [(0, 66), (9, 65)])
def test_more_axes_than_a_task_can_walk_along(untouched: int, too_many: int) -> None:
    """P10: the last padded axis is the row; of those outside it neighbours that stay as they are count as one."""
    for padded in (too_many - 1, too_many):
        pads = [0] * untouched + [1] * padded + [0] * untouched + [-1] * padded
        nodes = [helper.make_node("Reshape", ["x", "dims"], ["data"]),
                 helper.make_node("Pad_2", ["data"], ["padded"], name=NODE, domain="padops", pads=pads, value=7.0),
                 helper.make_node("ReduceSum", ["padded"], ["y"], keepdims=0)]  # fmt: skip
        dims, data = np.array([2] * untouched + [1] * padded), {"x": ones(2**untouched)}
        built = native.of_x(nodes, FLOAT, {"dims": dims})
        if padded < too_many:
            assert native.run_session(built, data) == 7 * 2**untouched
        else:
            assert failure(native.run_session, built, data) == (
                f"padops::Pad_2 '{NODE}': of the {untouched + padded} axes 65 remain outside the rows after neighbours "
                "that stay as they are have been merged, and at most 64 may [P10]"
            )


def test_output_of_another_shape() -> None:
    """P10: an output that the caller has bound, of another shape than the result's, is an error and stays as it was."""
    built = native.of_x([native.node("Pad_18", ["x", "pads"], "y", {}, NODE)], FLOAT, {"pads": BOTH})
    for size in (4, 3, 5):
        binding = built.io_binding()
        binding.bind_cpu_input("x", ONE)
        output = onnxruntime.OrtValue.ortvalue_from_numpy(np.full(size, 7, F32))
        binding.bind_ortvalue_output("y", output)
        if size == 4:
            built.run_with_iobinding(binding)
            assert output.numpy().tolist() == [0, 1, 1, 0]
            continue
        text = failure(built.run_with_iobinding, binding)
        assert text.startswith(f"padops::Pad_18 '{NODE}': the runtime gives no output of shape [4]: ")
        assert f"{{{size}}}" in text and output.numpy().tolist() == [7] * size


@pytest.mark.parametrize("value", [[1.9, 1.2], ["1", "2"], "12", 1, 1.5, b"12"])
def test_wrong_type_of_a_list(value: Any) -> None:
    """P8: the runtime gives any list of another type to a kernel as an empty one; the reference sees it.

    Data without axes take an empty list: there what is no list at all must not pass for one.
    """
    for shape in ((2,), ()):
        amounts = {"padding_below": [1] * len(shape), "padding_above": [1] * len(shape), "padding_interior": value}
        for op, name, inputs, attributes in (
            ("Pad_2", "pads", [ones(*shape)], {"pads": value}),
            ("NGraphPad_0", "padding_interior", [ones(*shape), ones()], amounts),
        ):
            expected = f"padops::{op} '{NODE}': attribute {name} is not a list of integers [P8]"
            assert failure(reference.run, op, attributes, inputs, NODE) == expected
            if not isinstance(value, list):
                assert failure(native.run, op, attributes, inputs, NODE) == expected


def test_numbers_of_numpy_are_integers_and_floats() -> None:
    """P10: and they are added as Python's, which are not limited to 64 bits."""
    attributes = {"pads": list(ints(1, 2)), "value": F32(7)}
    assert reference.run("Pad_2", attributes, [ones(1)]).tolist() == [7, 1, 7, 7]
    assert failure(reference.run, "Pad_2", {"pads": list(ints(MOST, 1))}, [ones(1)], NODE).endswith("[P10]")


def test_what_the_runtime_refuses_itself() -> None:
    """T, P8: what never reaches a kernel; the reference says the same in its own words."""
    for op, inputs, detail in (
        ("Pad_2", [ones(2, dtype=np.int32)], "data is int32, expected one of float, float16, double [T]"),
        ("Pad_18", [ONE, BOTH, np.ones(())], "constant_value is float64, but data is float32 [T]"),
        ("Pad_18", [ONE, ints(1, 1, dtype=np.int32)], "pads is int32, expected int64 [P8]"),
        ("Pad_18", [], "input data is required [P8]"),
        ("Pad_18", [None, BOTH], "input data is required [P8]"),
    ):
        attributes = {"pads": [1, 1]} if op == "Pad_2" else {}
        if "required" not in detail:
            with pytest.raises(Exception, match="INVALID_GRAPH|Type"):
                native.run(op, attributes, inputs, NODE)
        assert failure(reference.run, op, attributes, inputs, NODE) == f"padops::{op} '{NODE}': {detail}"
