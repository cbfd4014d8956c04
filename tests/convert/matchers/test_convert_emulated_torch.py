"""Emulated Pads as PyTorch's exporters really write them: one Pad each, with the bits of the export and of PyTorch."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import native
import onnx
import pytest
import torch
from emulations import operators
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


def check(module: nn.Module, x: torch.Tensor, opset: int | None, ops: list[str], bits: bool = True) -> None:
    """Exports it with TorchScript, or with dynamo if ``opset`` is None; converts it, and compares the outputs."""
    if opset is None:
        original = torch.onnx.export(module.eval(), (x,), dynamo=True, verbose=False).model_proto
    else:
        file = io.BytesIO()
        torch.onnx.export(module.eval(), (x,), file, opset_version=opset, dynamo=False)
        original = onnx.load_from_string(file.getvalue())
    conversion = convert(original, verify=True, run=True)
    assert len(conversion.converted) == 1 and "emulation" in conversion.converted[0].form
    assert [op for op in operators(conversion.proto()) if op != "Constant"] == ops
    made, was = (
        native.run_session(native.session(message), {message.graph.input[0].name: x.numpy()})
        for message in (conversion.proto(), original)
    )
    assert native.bits(made) == native.bits(was)
    assert not bits or native.bits(made) == native.bits(module(x).numpy())


@pytest.mark.parametrize(("amounts", "opset"), [((2, 1), 11), ((2, 1, 1, 3), 17), ((2, 1, 1, 3, 0, 1), 20)], ids=str)
def test_circular_pad(amounts: Sequence[int], opset: int) -> None:
    x = torch.randn(1, 2, *[5, 6, 7][: len(amounts) // 2])
    check(Calls(lambda x: torch_pad(x, amounts, mode="circular")), x, opset, ["Pad_19"])


@pytest.mark.parametrize(("dims", "opset"), [(1, 20), (2, 11), (3, 17)])
def test_circular_convolution(dims: int, opset: int) -> None:
    torch.manual_seed(0)
    module = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1](2, 3, 3, padding=2, padding_mode="circular")
    check(module, torch.randn(1, 2, *[6, 7, 5][:dims]), opset, ["Pad_19", "Conv"], bits=False)


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
CASES = [*((name, 17) for name in BY_HAND), *((name, None) for name in ("reflect", "edge, one element", "zeros"))]


@pytest.mark.parametrize(("name", "opset"), CASES)
def test_by_hand(name: str, opset: int | None) -> None:
    function, op = BY_HAND[name]
    check(Calls(function), torch.randn(1, 3, 8), opset, [op])
