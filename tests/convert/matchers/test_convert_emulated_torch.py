"""Emulated Pads as PyTorch's exporters really write them: one Pad each, with the bits of the export and of PyTorch."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import native
import numpy as np
import onnx
import pytest
import torch
from small_models import convert
from torch import nn
from torch.nn.functional import pad as torch_pad

pytestmark = pytest.mark.filterwarnings("ignore")

Function = Callable[[torch.Tensor], torch.Tensor]


class Calls(nn.Module):
    """A model of one function."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x)


def export(module: nn.Module, x: torch.Tensor, opset: int, open_axes: Sequence[int] = ()) -> onnx.ModelProto:
    """As the TorchScript exporter writes it."""
    file = io.BytesIO()
    dynamic = {"x": {axis: f"d{axis}" for axis in open_axes}}
    torch.onnx.export(
        module.eval(), (x,), file, opset_version=opset, dynamo=False, dynamic_axes=dynamic, input_names=["x"]
    )
    return onnx.load_from_string(file.getvalue())


def dynamo(module: nn.Module, x: torch.Tensor) -> onnx.ModelProto:
    return torch.onnx.export(module.eval(), (x,), dynamo=True, verbose=False).model_proto


def operators(message: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in message.graph.node if node.op_type != "Constant"]


def run(message: onnx.ModelProto, x: torch.Tensor) -> np.ndarray:
    return native.run_session(native.session(message), {message.graph.input[0].name: x.numpy()})


def check(original: onnx.ModelProto, x: torch.Tensor) -> onnx.ModelProto:
    """Converts it, and compares the bits of the outputs."""
    conversion = convert(original, verify=True, run=True)
    assert len(conversion.converted) == 1 and "emulation" in conversion.converted[0].form
    converted = conversion.proto()
    assert native.bits(run(converted, x)) == native.bits(run(original, x))
    return converted


@pytest.mark.parametrize("opset", [11, 17, 20])
@pytest.mark.parametrize("amounts", [(2, 1), (2, 1, 1, 3), (2, 1, 1, 3, 0, 1)], ids=len)
def test_circular_pad(amounts: Sequence[int], opset: int) -> None:
    x = torch.randn(1, 2, *[5, 6, 7][: len(amounts) // 2])
    module = Calls(lambda x: torch_pad(x, amounts, mode="circular"))
    converted = check(export(module, x, opset), x)
    assert operators(converted) == ["Pad_19"]
    assert native.bits(run(converted, x)) == native.bits(module(x).numpy())


@pytest.mark.parametrize("opset", [11, 17, 20])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_circular_convolution(dims: int, opset: int) -> None:
    torch.manual_seed(0)
    module = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1](2, 3, 3, padding=2, padding_mode="circular")
    x = torch.randn(1, 2, *[6, 7, 5][:dims])
    assert operators(check(export(module, x, opset), x)) == ["Pad_19", "Conv"]


BY_HAND: dict[str, tuple[Function, str]] = {
    "circular": (lambda x: torch.cat([x[..., -2:], x, x[..., :3]], -1), "Pad_19"),
    "reflect": (lambda x: torch.cat([x[:, :, 1:3].flip(-1), x, x[:, :, -3:-1].flip(-1)], -1), "Pad_19"),
    "symmetric": (lambda x: torch.cat([x[:, :, :2].flip(2), x, x[:, :, -3:].flip(2)], 2), "OpenVINOPad_12"),
    "edge": (lambda x: torch.cat([x[:, :, :1].expand(-1, -1, 2), x, x[:, :, -1:].expand(-1, -1, 3)], -1), "Pad_19"),
    "edge, repeated": (lambda x: torch.cat([x[:, :, :1].repeat(1, 1, 2), x], -1), "Pad_19"),
    "edge, one element": (lambda x: torch.cat([x[:, :, 0].unsqueeze(-1).expand(-1, -1, 2), x], -1), "Pad_19"),
    "zeros": (lambda x: torch.cat([torch.zeros(x.shape[0], x.shape[1], 2), x], -1), "Pad_19"),
    "another constant": (lambda x: torch.cat([x, torch.full((1, 3, 2), 7.0)], -1), "Pad_19"),
    "index_select": (lambda x: torch.index_select(x, 2, torch.tensor([1, *range(8), 7, 7])[1:]), "Pad_19"),
}


@pytest.mark.parametrize("exporter", ["TorchScript 17", "dynamo"])
@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str, exporter: str) -> None:
    function, op = BY_HAND[name]
    module, x = Calls(function), torch.randn(1, 3, 8)
    original = dynamo(module, x) if exporter == "dynamo" else export(module, x, int(exporter.split()[1]))
    converted = check(original, x)
    assert operators(converted) == [op]
    assert native.bits(run(converted, x)) == native.bits(function(x).numpy())
