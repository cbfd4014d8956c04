"""Pads that PyTorch's older exporter leaves as ATen's own operators: converted, lowered, and run beside PyTorch."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import onnx
import pytest
import torch
from native import bits, from_ort_value, session, to_ort_value
from small_models import model, tensor
from torch.nn.functional import pad as torch_pad
from torch.onnx import OperatorExportTypes

import padops

pytestmark = pytest.mark.filterwarnings("ignore")  # the exporter tells that it is old

ATEN = torch.ops.aten
MODES = ("constant", "reflect", "replicate", "circular")
TARGETS = {"padops": padops.convert, "onnx": padops.lower}
AMOUNTS = {"inside": (1, 2, 3, 0), "crop": (-1, 2, 0, -2), "far crop": (-4, 1, 3, -5), "last axis": (2, 1)}
CALLS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "constant_pad_nd": lambda x: ATEN.constant_pad_nd(x, (1, 2, 0, -1), 3),
    "reflection_pad1d": lambda x: ATEN.reflection_pad1d(x, (2, 1)),
    "reflection_pad2d": lambda x: ATEN.reflection_pad2d(x, (2, 1, 0, 3)),
    "reflection_pad3d": lambda x: ATEN.reflection_pad3d(x, (2, 1, 0, 3, 1, 1)),
    "replication_pad1d": lambda x: ATEN.replication_pad1d(x, (7, 1)),
    "replication_pad2d": lambda x: ATEN.replication_pad2d(x, (2, 9, 0, 3)),
    "replication_pad3d": lambda x: ATEN.replication_pad3d(x, (2, 1, 0, 3, 1, 4)),
    "_pad_circular": lambda x: ATEN._pad_circular(x, (1, 2, 3, 0)),
    **{f"_pad_enum {i}": lambda x, i=i: ATEN._pad_enum(x, (1, 2, 3, 0), i) for i in range(4)},
}


def export(
    function: Callable, data: torch.Tensor, kind: OperatorExportTypes, opset: int = 18, **options
) -> onnx.ModelProto:
    class Calls(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return function(x)

    file = io.BytesIO()
    options |= {"operator_export_type": kind, "opset_version": opset, "input_names": ["x"]}
    torch.onnx.export(Calls(), (data,), file, dynamo=False, **options)
    return onnx.load_from_string(file.getvalue())


def data_of(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(1 * 4 * 5 * 6).reshape(1, 4, 5, 6).to(dtype)


def own(message: onnx.ModelProto) -> list[str]:
    return [f"{node.domain}::{node.op_type}" for node in message.graph.node if node.domain]


def assert_same(message: onnx.ModelProto, function: Callable, *inputs: torch.Tensor, forms: Sequence[str] = ()) -> None:
    for target, convert in TARGETS.items():
        conversion = convert(message)
        assert [record.form for record in conversion.records] == [f"PyTorch {name}" for name in forms], target
        assert {record.reason for record in conversion.records} == {None}, target
        runner = session(conversion.proto())
        for data in inputs:
            (found,) = runner.run_with_ort_values(None, {"x": to_ort_value(data.numpy())})
            assert bits(from_ort_value(found)) == bits(function(data).numpy()), target


ATEN_NODES, OWN_NODES = OperatorExportTypes.ONNX_ATEN, OperatorExportTypes.ONNX_FALLTHROUGH


@pytest.mark.parametrize("mode", MODES)
def test_pad_in_every_mode(mode: str) -> None:
    for name, amounts in AMOUNTS.items():
        if (mode, name) == ("circular", "far crop"):  # PyTorch refuses what that leaves of the axis
            continue
        function = lambda x, amounts=amounts: torch_pad(x, amounts, mode=mode)
        data = data_of(torch.float32)[0] if name == "last axis" else data_of(torch.float32)
        message = export(function, data, ATEN_NODES)
        assert own(message) == ["org.pytorch.aten::ATen"]
        assert_same(message, function, data, forms=["pad"])


# The exporter leaves an operator without a form as a node of that name.
@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, ATEN_NODES) for name in CALLS), ("_pad_circular", OWN_NODES), ("_pad_enum 1", OWN_NODES)],
)
def test_operators_by_their_names(name: str, kind: OperatorExportTypes) -> None:
    data = data_of(torch.float32)[0] if name.endswith("1d") else data_of(torch.float32)
    message, form = export(CALLS[name], data, kind), name.split()[0]
    assert own(message) == [f"org.pytorch.aten::{'ATen' if kind == ATEN_NODES else form}"]
    assert_same(message, CALLS[name], data, forms=[form])


FILLS = {
    torch.float32: -0.0, torch.float64: 0.1, torch.float16: 1 + 2**-11 + 2**-30, torch.int8: -1, torch.uint8: 1.5,
    torch.int64: 2**62, torch.bool: 2,
}  # fmt: skip


def test_fill_as_pytorch_rounds_it() -> None:
    for dtype, fill in FILLS.items():
        function = lambda x, fill=fill: torch_pad(x, (1, 2, 3, 0), value=fill)
        assert_same(export(function, data_of(dtype), ATEN_NODES), function, data_of(dtype), forms=["pad"])


@pytest.mark.parametrize("mode", MODES)
def test_amounts_at_run_time(mode: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch_pad(x, (x.shape[2] - 3, 1, 4 - x.shape[2], 2), mode=mode)

    message = export(function, data_of(torch.float32), OWN_NODES, opset=9, dynamic_axes={"x": [2]})
    assert own(message) == ["org.pytorch.aten::pad"]
    next(entry for entry in message.opset_import if not entry.domain).version = 12  # the first that can be lowered to
    assert_same(message, function, *(torch.arange(24.0 * n).reshape(1, 4, n, 6) for n in (4, 5, 6)), forms=["pad"])


def test_sides_of_every_kind_beside_pytorch() -> None:
    choices = [(-2, 1, 1, 0), (0, 1, -2, -2), (1, -2, 0, 1), (0, 0, 1, 1), (1, 1, 0, 0), (1, 0, 0, 1), (-2, -2, -2, -2)]
    data = np.arange(20, dtype=np.float32).reshape(4, 5)
    for amounts, mode in itertools.product(choices, MODES):
        node = onnx.helper.make_node("ATen", ["x", "p", "m"], ["y"], domain="org.pytorch.aten", operator="pad")
        crops = min(amounts) < 0
        known = crops or sum(amounts) % 2
        source = model(
            [onnx.helper.make_node("Constant", [], ["m"], value_string=mode), node],
            18,
            inputs=[("x", 1, [1, 4, 5] if known else None)],
            tensors=[tensor("p", amounts)],
            imports=[("org.pytorch.aten", 1)],
        )
        x = torch.from_numpy(data)[None] if mode != "constant" or known else torch.from_numpy(data)
        wanted = torch_pad(x if mode == "constant" else x[None], amounts, mode=mode)
        wanted = wanted if mode == "constant" else wanted[0]
        runner = session(padops.convert(source).proto())
        assert bits(runner.run(None, {"x": x.numpy()})[0]) == bits(wanted.numpy()), (mode, amounts)


def test_the_symmetric_mode_is_not_there_yet() -> None:
    """Red with the first PyTorch that has it: then "symmetric" belongs into MODES, and its operators into CALLS."""
    with pytest.raises(NotImplementedError, match="Unrecognised padding mode symmetric"):
        torch_pad(torch.zeros(1, 2, 3), (1, 1), mode="symmetric")
    assert not any(hasattr(ATEN, f"symmetric_pad{count}d") for count in (1, 2, 3))
