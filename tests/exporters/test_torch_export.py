"""PyTorch's pads exported through ``padops.torch_translations()``, and run beside PyTorch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import onnx
import pytest
import torch
from native import bits, from_ort_value, random_array, session, to_ort_value
from torch.export import Dim
from torch.nn.functional import pad as torch_pad

import padops
from padops.spec.dtypes import by_name

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

FLOATS = {torch.float32: "float", torch.float64: "double", torch.float16: "float16", torch.bfloat16: "bfloat16"}
INTEGERS = {getattr(torch, name): name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")}
OTHERS = {torch.bool: "bool", torch.uint64: "uint64"}
TYPES = {**FLOATS, **INTEGERS, **OTHERS}


class Calls(torch.nn.Module):
    def __init__(self, function: Callable) -> None:
        super().__init__()
        self._function = function

    def forward(self, *inputs: torch.Tensor) -> object:
        return self._function(*inputs)


def export(function: Callable, *inputs: torch.Tensor, **options) -> onnx.ModelProto:
    translations = {"custom_translation_table": padops.torch_translations()}
    return torch.onnx.export(Calls(function), inputs, dynamo=True, verbose=False, **translations, **options).model_proto


def run(model: onnx.ModelProto, *inputs: torch.Tensor) -> list[np.ndarray]:
    feeds = {value.name: to_ort_value(to_numpy(data)) for value, data in zip(model.graph.input, inputs, strict=True)}
    return [from_ort_value(value) for value in session(model).run_with_ort_values(None, feeds)]


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def random_tensor(type: torch.dtype, shape: Sequence[int]) -> torch.Tensor:
    """Every bit pattern, NaN payloads included."""
    array = random_array(np.random.default_rng(3), by_name(TYPES[type]), shape)
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def check(function: Callable, *inputs: torch.Tensor, **options) -> onnx.ModelProto:
    model = export(function, *inputs, **options)
    found, wanted = run(model, *inputs), function(*inputs)
    for one, other in zip(found, wanted if isinstance(wanted, (tuple, list)) else [wanted], strict=True):
        assert bits(one) == bits(to_numpy(other))
    return model


def pads(model: onnx.ModelProto) -> set[str]:
    """The operators that pads have become; none of ONNX's own may be left."""
    assert not [node for node in model.graph.node if node.op_type == "Pad"]
    return {node.op_type for node in model.graph.node if node.domain == "padops"}


SHAPE = (2, 3, 5, 6)
CASES = {  # what PyTorch runs of each mode, the mixed signs of the first three included
    "constant": [(1, 2), (0, 3, 2, 0), (-1, 2, 3, -2), (-2, -3), (1, 0, -1, -1, 2, 2), (0, 0, 0, 0, 0, 0, -1, 3)],
    "reflect": [(5, 2, 4, 0), (-1, 3, 2, -2), (-2, -1, 0, 0), (5, -5, -4, 4)],
    "replicate": [(1, 2, 9, 0), (-1, 3, 2, -4), (-2, -1, 0, 0), (7, -5, -4, 8)],
    "circular": [(1, 2, 3, 0), (6, 6, 5, 5), (-1, -2, 0, -1)],
}


@pytest.mark.parametrize("types", [FLOATS, {**INTEGERS, **OTHERS}], ids=["floats", "others"])
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
    model = check(lambda *x: tuple(call(*x) for _, call in calls), *inputs)
    assert pads(model) == {"Pad_25", "OpenVINOPad_12"}


FILLS = {
    torch.float32: [float("inf"), -float("inf"), -0.0, 0.1, 1e-45, 1],
    torch.bfloat16: [1.1, 3.3895e38, -0.0, 1 + 2**-8, 2],
    torch.float16: [0.1, 65504, 2**-24],
    torch.int64: [2**53 + 1, -(2**63), True],
    torch.int16: [7.9, -7.9, -32768],
    torch.uint8: [255, 3.5],
    torch.bool: [0.5, 0, True],
}


def test_the_fill_is_what_pytorch_makes_of_the_number():
    inputs = [random_tensor(type, (2, 3)) for type in FILLS]
    calls = [(at, value) for at, values in enumerate(FILLS.values()) for value in values]
    check(lambda *x: tuple(torch_pad(x[at], (1, 1), "constant", value) for at, value in calls), *inputs)


def test_amounts_that_depend_on_the_shape_of_the_input():
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        width = x.shape[-1]
        return (
            torch_pad(x, (0, -width % 8), "constant", -1.0),
            torch_pad(x, (width - 1, -1), "reflect"),
            torch_pad(x, (0, 0, width, 2), "constant"),
        )

    dims = (({0: Dim("batch"), 2: Dim("width", min=2, max=64)},),)
    model = export(function, torch.rand(2, 3, 5), dynamic_shapes=dims)
    assert pads(model) == {"Pad_25", "OpenVINOPad_12"}
    for shape in ((4, 3, 5), (1, 3, 8), (2, 3, 17)):
        data = torch.rand(shape)
        for one, other in zip(run(model, data), function(data), strict=True):
            assert bits(one) == bits(to_numpy(other))


def test_the_operators_below_pad():
    aten = torch.ops.aten

    def function(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            aten.constant_pad_nd(x, [1, -1], 3),
            aten.constant_pad_nd(x, [2, 0]),
            aten.reflection_pad1d(x, [1, -1]),
            aten.reflection_pad2d(y, [1, 2, -1, 3]),
            aten.reflection_pad3d(z, [1, 0, 2, 1, 1, 1]),
            aten.replication_pad1d(x, [-1, 4]),
            aten.replication_pad2d(y, [5, 2, 0, -3]),
            aten.replication_pad3d(z, [1, 0, -2, 1, 3, 1]),
        )

    model = check(function, torch.rand(2, 3, 4), torch.rand(2, 3, 5, 6), torch.rand(1, 2, 3, 4, 5))
    assert pads(model) == {"Pad_25", "OpenVINOPad_12"}
    assert sum(node.domain == "padops" for node in model.graph.node) == 8


def test_opsets():
    padops.register_schemas()
    for opset in (18, 23):
        model = check(lambda x: torch_pad(x, (1, 2), "reflect"), torch.rand(2, 3, 5), opset_version=opset)
        assert {row.domain: row.version for row in model.opset_import} == {"": opset, "padops": 1}
        onnx.checker.check_model(model, full_check=True)


def test_a_network(tmp_path):
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"),
        torch.nn.ReLU(),
        torch.nn.ReplicationPad2d((2, -1, 1, 3)),
        torch.nn.Conv2d(8, 8, 5, padding=2, padding_mode="circular"),
        torch.nn.ConstantPad2d((1, -2, 0, 1), 0.25),
        torch.nn.ZeroPad2d(1),
    ).eval()
    data = torch.rand(2, 3, 12, 14)
    with torch.no_grad():
        model = export(network, data)
        (found,), wanted = run(model, data), network(data).numpy()
    assert pads(model) == {"Pad_25", "OpenVINOPad_12"}
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max()
    onnx.save(model, tmp_path / "network.onnx")
    records = padops.convert(tmp_path / "network.onnx", select="needed").records
    assert {record.status for record in records} == {"already converted"}


def test_what_pytorch_leaves_undefined_is_refused():
    with pytest.raises(Exception, match="circular pad of -1 and 2 on one axis: PyTorch's result is undefined"):
        export(lambda x: torch_pad(x, (-1, 2), "circular"), torch.rand(1, 3, 4))
