"""Each broken rule, with the whole text of its error: the same from the native kernel and from the reference.

Every row also runs with its inputs as initializers: whether an error comes at session creation or at run time, it says
the same.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import native
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import padops
from padops.spec import reference
from padops.spec.plan import LARGEST, PadError

F32 = np.float32
INT4 = native.by_name("int4")
NODE = "decoder/pad"


@dataclass(frozen=True)
class Broken:
    """A node that breaks a rule; ``detail`` is its error without the operator and the node in front."""

    op: str
    detail: str
    data: np.ndarray
    inputs: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.detail[self.detail.rindex('[') + 1 : -1]}-{self.op}-{self.detail[:60]}"


def ints(*values: int, dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def ones(*shape: int, dtype: type = F32) -> np.ndarray:
    return np.ones(shape, dtype)


P1 = [
    Broken("Pad_1", "axis 1 would have -1 elements (begin -5, size 4, interior 0, end 0) [P1]", ones(2, 4),
           attributes={"paddings": [0, -5, 1, 0]}),
    Broken("Pad_2", "axis 0 would have -3 elements (begin -2, size 0, interior 0, end -1) [P1]", ones(0),
           attributes={"pads": [-2, -1], "mode": "edge"}),
    Broken("Pad_11", "axis 0 would have -2 elements (begin -7, size 3, interior 0, end 2) [P1]", ones(3),
           (ints(-7, 2),)),
    Broken("Pad_25", "axis 2 would have -1 elements (begin 0, size 5, interior 0, end -6) [P1]", ones(2, 4, 5),
           (ints(0, -6), None, ints(-1)), {"mode": "wrap"}),
]  # fmt: skip

P5 = [
    *(
        Broken("Pad_19", f"axis 0 has nothing to extend by {mode}: begin -2 and end 3 leave none of its 2 elements "
               "[P5]", ones(2), (ints(-2, 3),), {"mode": mode})
        for mode in ("edge", "reflect", "wrap")
    ),
    *(
        Broken("Pad_21", f"axis 1 has nothing to extend by {mode}: it is empty [P5]",
               ones(2, 0), (ints(0, 1, 0, 0),), {"mode": mode})
        for mode in ("edge", "reflect", "wrap")
    ),
    Broken("Pad_2", "axis 0 has nothing to extend by edge: begin -1 and end 1 leave none of its 1 elements [P5]",
           ones(1), attributes={"pads": [-1, 1], "mode": "edge"}),
    Broken("Pad_18", "axis 1 has nothing to extend by reflect: begin 4 and end -3 leave none of its 3 elements [P5]",
           ones(2, 3), (ints(0, 4, 0, -3),), {"mode": "reflect"}),
]  # fmt: skip

P7 = [
    Broken("Pad_11", "constant_value has 2 elements, expected one [P7]", ones(2), (ints(1, 1), ones(2))),
    Broken("Pad_13", "constant_value has 0 elements, expected one [P7]", ones(2), (ints(1, 1), ones(0))),
    Broken("Pad_18", "constant_value has 6 elements, expected one [P7]", ones(2), (ints(1, 1), ones(2, 3))),
    Broken("Pad_13", "constant_value has 3 elements, expected one [P7]", np.array(["a"], object),
           (ints(1, 1), np.array(["x", "y", "z"], object))),
    Broken("Pad_21", "constant_value has 5 elements, expected one [P7]", native.from_bytes(b"\1", INT4, [2]),
           (ints(1, 1), native.from_bytes(b"\1\2\3", INT4, [5]))),
]  # fmt: skip

P8 = [
    # The count of values.
    Broken("Pad_1", "paddings has 3 values, expected 4 (2 per axis, rank 2) [P8]", ones(2, 3),
           attributes={"paddings": [1, 2, 3]}),
    Broken("Pad_2", "pads has 0 values, expected 2 (2 per axis, rank 1) [P8]", ones(2), attributes={"pads": []}),
    Broken("Pad_11", "pads has 6 values, expected 4 (2 per axis, rank 2) [P8]", ones(2, 3), (ints(1, 1, 1, 1, 1, 1),)),
    Broken("Pad_18", "pads has 6 values, expected 4 (2 per axis, axes=[2, 3]) [P8]", ones(2, 3, 4, 5),
           (ints(1, 1, 1, 1, 1, 1), None, ints(2, 3))),
    Broken("Pad_18", "pads has 2 values, expected 0 (2 per axis, axes=[]) [P8]", ones(2), (ints(1, 1), None, ints())),
    Broken("Pad_13", "pads has 2 values, expected 0 (2 per axis, rank 0) [P8]", np.array(1, F32), (ints(1, 1),)),
    # The shape.
    Broken("Pad_11", "pads has shape [2, 2], expected [4] [P8]", ones(2, 3), (np.ones((2, 2), np.int64),)),
    Broken("Pad_18", "pads has shape [], expected [2] [P8]", ones(2, 3), (np.array(1), None, ints(0))),
    Broken("Pad_19", "pads has shape [1, 1, 4], expected [4] [P8]", ones(2, 3), (np.ones((1, 1, 4), np.int64),)),
    Broken("Pad_18", "axes has shape [], expected one dim [P8]", ones(2, 3), (ints(1, 1), None, np.array(0))),
    Broken("Pad_18", "axes has shape [1, 2], expected one dim [P8]", ones(2, 3),
           (ints(1, 1), None, np.array([[0, 1]]))),
    # Axes out of range.
    Broken("Pad_18", "axes=[0, 2] has 2, outside -2..1 for rank 2 [P8]", ones(2, 3),
           (ints(1, 1, 1, 1), None, ints(0, 2))),
    Broken("Pad_21", "axes=[-3] has -3, outside -2..1 for rank 2 [P8]", ones(2, 3), (ints(1, 1), None, ints(-3))),
    Broken("Pad_21", "axes=[0] has 0, outside -0..-1 for rank 0 [P8]", np.array(1, F32), (ints(1, 1), None, ints(0))),
    # Axes repeated.
    Broken("Pad_18", "axes=[1, -1] names axis 1 twice [P8]", ones(2, 3), (ints(1, 1, 1, 1), None, ints(1, -1))),
    Broken("Pad_23", "axes=[0, 1, 0] names axis 0 twice [P8]", ones(2, 3),
           (ints(1, 1, 1, 1, 1, 1), None, ints(0, 1, 0, dtype=np.int32))),
    # Another type. ONNX Runtime itself refuses other types of pads at load: axes alone can be of two types.
    *(
        Broken("Pad_18", f"axes is {name}, expected int32 or int64 [P8]", ones(2),
               (ints(1, 1), None, ints(0, dtype=kind)))
        for name, kind in (("uint8", np.uint8), ("int16", np.int16), ("uint64", np.uint64), ("bool", np.bool_))
    ),
]  # fmt: skip

P9 = [
    *(
        Broken(op, "mode 'wrap' is not one of constant, reflect, edge [P9]", ones(2), inputs, {"mode": "wrap"} | more)
        for op, inputs, more in (
            ("Pad_1", (), {"paddings": [1, 1]}),
            ("Pad_2", (), {"pads": [1, 1]}),
            ("Pad_11", (ints(1, 1),), {}),
            ("Pad_13", (ints(1, 1),), {}),
            ("Pad_18", (ints(1, 1),), {}),
        )
    ),
    *(
        Broken("Pad_19", f"mode '{mode}' is not one of constant, reflect, edge, wrap [P9]", ones(2), (ints(1, 1),),
               {"mode": mode})
        for mode in ("symmetric", "CONSTANT", "", "Zoë")
    ),
]  # fmt: skip

P10 = [
    *(
        Broken("Pad_18", f"axis 0 (begin {begin}, size {size}, interior 0, end {end}) has amounts beyond {LARGEST} "
               "[P10]", ones(size), (ints(begin, end),))
        for size, begin, end in (
            (2, 2**62, 0),
            (2, 0, 2**63 - 1),
            (2, 2**63 - 1, 2**63 - 1),
            (2, -(2**63), -(2**63)),
            (2, -(2**63), 2**63 - 1),
            (2, -LARGEST - 1, 0),
        )
    ),
    *(
        Broken("Pad_18", f"axis 0 would have more than {LARGEST} elements (begin {begin}, size {size}, interior 0, "
               f"end {end}) [P10]", ones(size), (ints(begin, end),))
        for size, begin, end in ((2, 0, LARGEST), (1, LARGEST, LARGEST))
    ),
    *(
        Broken("NGraphPad_0", detail, ones(3), (ones(),), {"padding_below": [-3], "padding_above": [0],
                                                          "padding_interior": [interior]})
        for interior, detail in (
            (LARGEST + 1, f"axis 0 (begin -3, size 3, interior {LARGEST + 1}, end 0) has amounts beyond {LARGEST} [P10]"),
            (LARGEST, f"axis 0 would have more than {LARGEST} elements (begin -3, size 3, interior {LARGEST}, end 0) "
             "[P10]"),
        )
    ),
    Broken("Pad_2", f"axis 0 (begin {-(2**63)}, size 2, interior 0, end 1) has amounts beyond {LARGEST} [P10]", ones(2),
           attributes={"pads": [-(2**63), 1]}),
    Broken("Pad_25", f"an output of shape [1073741825, 1073741825] has more than {LARGEST} elements [P10]", ones(1, 1),
           (ints(2**30, 2**30, 0, 0),), {"mode": "edge"}),
    Broken("Pad_11", f"an output of shape [4294967297, 4294967297] has more than {LARGEST} elements [P10]", ones(1, 1),
           (ints(0, 2**32, 2**32, 0),)),
    Broken("Pad_13", f"an output of shape {[2**21 + 1] * 3} has more than {LARGEST} elements [P10]", ones(1, 1, 1),
           (ints(*[2**21] * 3, 0, 0, 0),)),
]  # fmt: skip


def _one_node(op: str, element_type: int) -> onnx.ModelProto:
    """A Pad with named inputs and a named output."""
    node = helper.make_node(op, ["data", "pads"], ["output"], name=NODE, domain="padops")
    info = helper.make_tensor_value_info
    inputs = [info("data", element_type, None), info("pads", onnx.TensorProto.INT64, None)]
    graph = helper.make_graph([node], "one", inputs, [info("output", element_type, None)])
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("padops", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


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


@pytest.mark.parametrize(
    ("name", "amount", "size"),
    [
        ("uint8", 2**50, 2**50 + 3),
        ("int4", 2**50 - 1, 2**49 + 1),
        ("float16", 2**46, 2**47 + 6),
        ("float", 2**46, 2**48 + 12),
        ("double", 2**58, 2**61 + 24),
        ("string", 2**58, 2**63 + 96),  # an empty std::string takes 32 bytes
    ],
)
def test_more_than_the_memory(name: str, amount: int, size: int) -> None:
    """P10: a size that passes the checks but that no machine can hold is an error, and the next run is fine."""
    data = native.random_array(np.random.default_rng(1), native.by_name(name), (3,))
    expected = f"padops::Pad_21 '{NODE}': no memory for an output of shape [{3 + amount}] ({size} bytes) [P10]"
    built = native.session(_one_node("Pad_21", native.by_name(name).onnx), _options_with_arena())

    def run(amount: int) -> np.ndarray:
        return native.run_session(built, {"data": data, "pads": ints(0, amount)})

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
        info, floats = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
        dims = helper.make_tensor("dims", onnx.TensorProto.INT64, [rank], [1] * rank)
        graph = helper.make_graph(nodes, "many", [info("x", floats, None)], [info("y", floats, None)], [dims])
        imports = [helper.make_opsetid("", 18), helper.make_opsetid("padops", 1)]
        built = native.session(helper.make_model(graph, opset_imports=imports, ir_version=9))
        if padded < too_many:
            assert native.run_session(built, {"x": ones(1)}) == 7
        else:
            detail = f"of the {rank} axes 65 remain outside the rows after neighbours that stay as they are have been"
            assert failure(native.run_session, built, {"x": ones(1)}) == (
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


@pytest.mark.parametrize("op", ["Pad_1", "Pad_2"])
def test_amounts_are_required(op: str) -> None:
    """P8: the attribute forms have no default."""
    name = "paddings" if op == "Pad_1" else "pads"
    expected = f"padops::{op} '{NODE}': attribute {name} is required [P8]"
    assert failure(native.run, op, {}, [ones(2)], NODE) == expected
    assert failure(reference.run, op, {}, [ones(2)], NODE) == expected


@pytest.mark.parametrize("inputs", [[], [None, ints(1, 1)]])
def test_data_are_required(inputs: list[np.ndarray | None]) -> None:
    """P8: the runtime refuses a model without data; the reference says so itself."""
    expected = f"padops::Pad_18 '{NODE}': input data is required [P8]"
    assert failure(reference.run, "Pad_18", {}, inputs, NODE) == expected


def test_wrong_type_of_value() -> None:
    """P7: the fill of Pad_1 and Pad_2 is a float."""
    for value in (3, "3", [3.0]):
        for run in (native.run, reference.run):
            text = failure(run, "Pad_2", {"pads": [1, 1], "value": value}, [ones(2)], NODE)
            assert text == f"padops::Pad_2 '{NODE}': attribute value is not a float [P7]"


@pytest.mark.parametrize("name", ["pads", "padding_interior"])
@pytest.mark.parametrize("value", [[1.9, 1.2], ["1", "2"], "12", 1, 1.5, b"12"])
def test_wrong_type_of_a_list(name: str, value: Any) -> None:
    """P8: the reference sees what the runtime gives to a kernel as an empty list."""
    op, more = ("Pad_2", {}) if name == "pads" else ("NGraphPad_0", {"padding_below": [1], "padding_above": [1]})
    expected = f"padops::{op} '{NODE}': attribute {name} is not a list of integers [P8]"
    assert failure(reference.run, op, {**more, name: value}, [ones(2), ones()], NODE) == expected


def test_numbers_of_numpy_are_integers_and_floats() -> None:
    """P10: and they are added as Python's, which are not limited to 64 bits."""
    attributes = {"pads": list(ints(1, 2)), "value": F32(7)}
    assert reference.run("Pad_2", attributes, [ones(1)]).tolist() == [7, 1, 7, 7]
    text = failure(reference.run, "Pad_2", {"pads": list(ints(2**63 - 1, 1))}, [ones(1)], NODE)
    assert text.endswith("[P10]")


def test_types_that_the_runtime_refuses_itself() -> None:
    """T: types that a version does not list never reach a kernel; the reference says the same in its own words."""
    for op, inputs, detail in (
        ("Pad_2", [ones(2, dtype=np.int32)], "data is int32, expected one of float, float16, double"),
        ("Pad_18", [ones(2), ints(1, 1), np.ones((), np.float64)], "constant_value is float64, but data is float32"),
    ):
        attributes = {"pads": [1, 1]} if op == "Pad_2" else {}
        with pytest.raises(Exception, match="INVALID_GRAPH|Type"):
            native.run(op, attributes, inputs, NODE)
        assert failure(reference.run, op, attributes, inputs, NODE) == f"padops::{op} '{NODE}': {detail} [T]"


def test_pads_of_another_type() -> None:
    """P8: the runtime refuses pads that are not int64; the reference names the rule."""
    inputs = [ones(2), ints(1, 1, dtype=np.int32)]
    with pytest.raises(Exception, match="INVALID_GRAPH"):
        native.run("Pad_18", {}, inputs, NODE)
    expected = f"padops::Pad_18 '{NODE}': pads is int32, expected int64 [P8]"
    assert failure(reference.run, "Pad_18", {}, inputs, NODE) == expected


def test_an_error_leaves_the_session_usable() -> None:
    """P5: a session runs on after an error, with the right result."""
    inputs = [ones(2, 0), ints(0, 1, 0, 0)]
    for _ in range(3):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument, match="it is empty"):
            native.run("Pad_21", {"mode": "edge"}, inputs, NODE)
        assert native.run("Pad_21", {"mode": "edge"}, [ones(2, 1), inputs[1]], NODE).tolist() == [[1, 1], [1, 1]]
