"""PyTorch's pads through ``padops.torch_translations()``, and as the older exporter leaves them, beside PyTorch."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import onnx
import pytest
import torch
from native import bits, from_ort_value, random_array, session, to_ort_value
from small_models import model, tensor
from torch.export import Dim
from torch.nn.functional import pad as torch_pad
from torch.onnx import OperatorExportTypes

import padops
from padops.spec.dtypes import by_name

pytestmark = pytest.mark.filterwarnings("ignore")  # the older exporter tells that it is old

FLOATS = {torch.float32: "float", torch.float64: "double", torch.float16: "float16", torch.bfloat16: "bfloat16"}
OTHERS = {getattr(torch, name): name for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()}
ATEN, BOTH = torch.ops.aten, {"Pad_25", "OpenVINOPad_12"}


class Calls(torch.nn.Module):
    def __init__(self, function: Callable) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> object:
        return self._function(*inputs)


def export(function: Callable, *inputs: torch.Tensor, **options) -> onnx.ModelProto:
    translations = {"custom_translation_table": padops.torch_translations()}
    return torch.onnx.export(Calls(function), inputs, dynamo=True, verbose=False, **translations, **options).model_proto


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def random_tensor(type: torch.dtype, shape: Sequence[int]) -> torch.Tensor:
    """Every bit pattern, NaN payloads included."""
    array = random_array(np.random.default_rng(3), by_name((FLOATS | OTHERS)[type]), shape)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def outputs(made: onnx.ModelProto, *inputs: torch.Tensor) -> list[np.ndarray]:
    feeds = {value.name: to_ort_value(to_numpy(data)) for value, data in zip(made.graph.input, inputs, strict=True)}
    return [from_ort_value(value) for value in session(made).run_with_ort_values(None, feeds)]


def assert_right(made: onnx.ModelProto, function: Callable, *inputs: torch.Tensor) -> None:
    """Every output is PyTorch's, bit for bit."""
    wanted = function(*inputs)
    for one, other in zip(outputs(made, *inputs), wanted if isinstance(wanted, tuple) else [wanted], strict=True):
        assert bits(one) == bits(to_numpy(other))


def check(function: Callable, *inputs: torch.Tensor, **options) -> onnx.ModelProto:
    made = export(function, *inputs, **options)
    assert_right(made, function, *inputs)
    return made


def pads(made: onnx.ModelProto) -> set[str]:
    """The operators that pads have become; none of ONNX's own may be left."""
    assert not [node for node in made.graph.node if node.op_type == "Pad"]
    return {node.op_type for node in made.graph.node if node.domain == "padops"}


SHAPE = (2, 3, 5, 6)
CASES = {  # what PyTorch runs of each mode, the mixed signs of the first three included
    "constant": [(1, 2), (0, 3, 2, 0), (-1, 2, 3, -2), (-2, -3), (1, 0, -1, -1, 2, 2), (0, 0, 0, 0, 0, 0, -1, 3)],
    "reflect": [(5, 2, 4, 0), (-1, 3, 2, -2), (-2, -1, 0, 0), (5, -5, -4, 4)],
    "replicate": [(1, 2, 9, 0), (-1, 3, 2, -4), (-2, -1, 0, 0), (7, -5, -4, 8)],
    "circular": [(1, 2, 3, 0), (6, 6, 5, 5), (-1, -2, 0, -1)],
}


@pytest.mark.parametrize("types", [FLOATS, OTHERS], ids=["floats", "others"])
def test_every_type_in_every_mode_that_pytorch_has(types):
    """PyTorch has constant pads of all types; the other modes of all floats at least."""
    inputs = [random_tensor(type, SHAPE) for type in types]
    calls = []
    for at, data in enumerate(inputs):
        for mode, cases in CASES.items():
            for pad in cases:
                fill = [True if data.dtype is torch.bool else 7] if mode == "constant" else []
                call = lambda *x, at=at, pad=pad, mode=mode, fill=fill: torch_pad(x[at], pad, mode, *fill)
                with contextlib.suppress(NotImplementedError, RuntimeError):
                    call(*inputs)
                    calls.append((mode, call))
    assert sum(mode == "constant" for mode, _ in calls) == len(types) * len(CASES["constant"])
    if types is FLOATS:
        assert len(calls) == len(types) * sum(map(len, CASES.values()))
    made = check(lambda *x: tuple(call(*x) for _, call in calls), *inputs)
    assert pads(made) == BOTH


FILLS = {torch.float32: [float("inf"), -float("inf"), -0.0, 0.1, 1e-45, 1],
         torch.bfloat16: [1.1, 3.3895e38, -0.0, 1 + 2**-8, 2], torch.float16: [0.1, 65504, 2**-24],
         torch.int64: [2**53 + 1, -(2**63), True], torch.int16: [7.9, -7.9, -32768], torch.uint8: [255, 3.5],
         torch.bool: [0.5, 0, True]}  # fmt: skip


def test_the_fill_is_what_pytorch_makes_of_the_number():
    inputs = [random_tensor(type, (2, 3)) for type in FILLS]
    calls = [(at, value) for at, values in enumerate(FILLS.values()) for value in values]
    check(lambda *x: tuple(torch_pad(x[at], (1, 1), "constant", value) for at, value in calls), *inputs)


def test_amounts_that_depend_on_the_shape_of_the_input():
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        width = x.shape[-1]
        return (torch_pad(x, (0, -width % 8), "constant", -1.0), torch_pad(x, (width - 1, -1), "reflect"),
                torch_pad(x, (0, 0, width, 2), "constant"))  # fmt: skip

    dims = (({0: Dim("batch"), 2: Dim("width", min=2, max=64)},),)
    made = export(function, torch.rand(2, 3, 5), dynamic_shapes=dims)
    assert pads(made) == BOTH
    for shape in ((4, 3, 5), (1, 3, 8), (2, 3, 17)):
        assert_right(made, function, torch.rand(shape))


MODES = ("constant", "reflect", "replicate", "circular")
AMOUNTS = {"inside": (1, 2, 3, 0), "crop": (-1, 2, 0, -2), "far crop": (-4, 1, 3, -5), "last axis": (2, 1)}
CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "constant_pad_nd": lambda x: ATEN.constant_pad_nd(x, (1, 2, 0, -1), 3),
    "constant_pad_nd without a fill": lambda x: ATEN.constant_pad_nd(x, (2, 0)),
    "reflection_pad1d": lambda x: ATEN.reflection_pad1d(x, (2, -1)),
    "reflection_pad2d": lambda x: ATEN.reflection_pad2d(x, (2, 1, 0, 3)),
    "reflection_pad3d": lambda x: ATEN.reflection_pad3d(x, (2, 1, 0, 3, 1, 1)),
    "replication_pad1d": lambda x: ATEN.replication_pad1d(x, (7, 1)),
    "replication_pad2d": lambda x: ATEN.replication_pad2d(x, (2, 9, 0, -3)),
    "replication_pad3d": lambda x: ATEN.replication_pad3d(x, (2, 1, 0, 3, 1, 4)),
    "_pad_circular": lambda x: ATEN._pad_circular(x, (1, 2, 3, 0)),
    **{f"_pad_enum {i}": lambda x, i=i: ATEN._pad_enum(x, (1, 2, 3, 0), i) for i in range(4)},
}


def test_the_operators_below_pad():
    chosen = {name: call for name, call in CALLS.items() if not name.startswith("_")}
    function = lambda x: tuple(call(x[0] if name.endswith("1d") else x) for name, call in chosen.items())
    made = check(function, torch.rand(1, 4, 5, 6))
    assert pads(made) == BOTH
    assert sum(node.domain == "padops" for node in made.graph.node) == len(chosen) == 8


def test_opsets():
    padops.register_schemas()
    for opset in (18, 23):
        made = check(lambda x: torch_pad(x, (1, 2), "reflect"), torch.rand(2, 3, 5), opset_version=opset)
        assert {row.domain: row.version for row in made.opset_import} == {"": opset, "padops": 1}
        onnx.checker.check_model(made, full_check=True)


def test_what_pytorch_leaves_undefined_is_refused():
    with pytest.raises(Exception, match="circular pad of -1 and 2 on one axis: PyTorch's result is undefined"):
        export(lambda x: torch_pad(x, (-1, 2), "circular"), torch.rand(1, 3, 4))


# --- pads that the older exporter leaves as ATen's own operators: converted, and lowered -----------------------------


def old_export(function: Callable, data: torch.Tensor, kind: OperatorExportTypes, opset: int = 18, **options):
    file = io.BytesIO()
    options |= {"operator_export_type": kind, "opset_version": opset, "input_names": ["x"]}
    torch.onnx.export(Calls(function), (data,), file, dynamo=False, **options)
    return onnx.load_from_string(file.getvalue())


def data_of(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(1 * 4 * 5 * 6).reshape(1, 4, 5, 6).to(dtype)


def own(message: onnx.ModelProto) -> list[str]:
    return [f"{node.domain}::{node.op_type}" for node in message.graph.node if node.domain]


def assert_same(message: onnx.ModelProto, function: Callable, *inputs: torch.Tensor, form: str) -> None:
    for convert in (padops.convert, padops.lower):
        conversion = convert(message)
        assert [(record.form, record.reason) for record in conversion.records] == [(f"PyTorch {form}", None)], convert
        for data in inputs:
            assert_right(conversion.proto(), function, data)


ATEN_NODES, OWN_NODES = OperatorExportTypes.ONNX_ATEN, OperatorExportTypes.ONNX_FALLTHROUGH


@pytest.mark.parametrize("mode", MODES)
def test_pad_in_every_mode(mode: str) -> None:
    for name, amounts in AMOUNTS.items():
        if (mode, name) == ("circular", "far crop"):  # PyTorch refuses what that leaves of the axis
            continue
        function = lambda x, amounts=amounts: torch_pad(x, amounts, mode=mode)
        data = data_of(torch.float32)[0] if name == "last axis" else data_of(torch.float32)
        message = old_export(function, data, ATEN_NODES)
        assert own(message) == ["org.pytorch.aten::ATen"]
        assert_same(message, function, data, form="pad")


# The exporter leaves an operator without a form as a node of that name.
@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, ATEN_NODES) for name in CALLS), ("_pad_circular", OWN_NODES), ("_pad_enum 1", OWN_NODES)],
)
def test_operators_by_their_names(name: str, kind: OperatorExportTypes) -> None:
    data = data_of(torch.float32)[0] if name.endswith("1d") else data_of(torch.float32)
    message, form = old_export(CALLS[name], data, kind), name.split()[0]
    assert own(message) == [f"org.pytorch.aten::{'ATen' if kind == ATEN_NODES else form}"]
    assert_same(message, CALLS[name], data, form=form)


OLD_FILLS = {torch.float32: -0.0, torch.float64: 0.1, torch.float16: 1 + 2**-11 + 2**-30, torch.int8: -1,
             torch.uint8: 1.5, torch.int64: 2**62, torch.bool: 2}  # fmt: skip


def test_fill_as_pytorch_rounds_it() -> None:
    for dtype, fill in OLD_FILLS.items():
        function = lambda x, fill=fill: torch_pad(x, (1, 2, 3, 0), value=fill)
        assert_same(old_export(function, data_of(dtype), ATEN_NODES), function, data_of(dtype), form="pad")


@pytest.mark.parametrize("mode", MODES)
def test_amounts_at_run_time(mode: str) -> None:
    function = lambda x: torch_pad(x, (x.shape[2] - 3, 1, 4 - x.shape[2], 2), mode=mode)
    message = old_export(function, data_of(torch.float32), OWN_NODES, opset=9, dynamic_axes={"x": [2]})
    assert own(message) == ["org.pytorch.aten::pad"]
    next(entry for entry in message.opset_import if not entry.domain).version = 12  # the first that can be lowered to
    assert_same(message, function, *(torch.arange(24.0 * n).reshape(1, 4, n, 6) for n in (4, 5, 6)), form="pad")


def test_sides_of_every_kind_beside_pytorch() -> None:
    """Of data whose shape is known, and of data of no known rank."""
    choices = [(-2, 1, 1, 0), (0, 1, -2, -2), (1, -2, 0, 1), (0, 0, 1, 1), (1, 1, 0, 0), (1, 0, 0, 1), (-2, -2, -2, -2)]
    data = torch.arange(20.0).reshape(1, 4, 5)
    for amounts, mode in itertools.product(choices, MODES):
        is_known = min(amounts) < 0 or sum(amounts) % 2
        nodes = [
            onnx.helper.make_node("Constant", [], ["m"], value_string=mode),
            onnx.helper.make_node("ATen", ["x", "p", "m"], ["y"], domain="org.pytorch.aten", operator="pad"),
        ]
        parts = {"inputs": [("x", 1, [1, 4, 5] if is_known else None)], "tensors": [tensor("p", amounts)]}
        source = model(nodes, 18, imports=[("org.pytorch.aten", 1)], **parts)
        x = data if mode != "constant" or is_known else data[0]
        wanted = torch_pad(x, amounts) if mode == "constant" else torch_pad(x[None], amounts, mode=mode)[0]
        found = session(padops.convert(source).proto()).run(None, {"x": x.numpy()})[0]
        assert bits(found) == bits(wanted.numpy()), (mode, amounts)
