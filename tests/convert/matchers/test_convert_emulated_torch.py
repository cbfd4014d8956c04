"""Emulated Pads as PyTorch's exporters really write them: one Pad each, with the bits of the export and of PyTorch."""

from __future__ import annotations

import io
from collections.abc import Callable

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


def calls(function: Function) -> nn.Module:
    """A model of one function."""
    return type("Calls", (nn.Module,), {"forward": lambda self, x: function(x)})()


def circular(*amounts: int) -> nn.Module:
    return calls(lambda x: torch_pad(x, amounts, mode="circular"))


def convolution(dims: int) -> nn.Module:
    torch.manual_seed(0)
    return (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1](2, 3, 3, padding=2, padding_mode="circular")


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
CASES: list[tuple[nn.Module, list[int], int | None, list[str]]] = [
    (circular(2, 1), [1, 2, 5], 11, ["Pad_19"]),
    (circular(2, 1, 1, 3), [1, 2, 5, 6], 17, ["Pad_19"]),
    (circular(2, 1, 1, 3, 0, 1), [1, 2, 5, 6, 7], 20, ["Pad_19"]),
    *((convolution(dims), [1, 2, *[6, 7, 5][:dims]], opset, ["Pad_19", "Conv"])
      for dims, opset in ((1, 20), (2, 11), (3, 17))),
    *((calls(write), [1, 3, 8], 17, [op]) for write, op in BY_HAND.values()),
    *((calls(BY_HAND[name][0]), [1, 3, 8], None, ["Pad_19"]) for name in ("reflect", "edge, one element", "zeros")),
]  # fmt: skip


@pytest.mark.parametrize(("module", "dims", "opset", "ops"), CASES)
def test_export(module: nn.Module, dims: list[int], opset: int | None, ops: list[str]) -> None:
    """Exported with TorchScript, or with dynamo if ``opset`` is None."""
    x = torch.randn(*dims)
    if opset is None:
        original = torch.onnx.export(module.eval(), (x,), dynamo=True, verbose=False).model_proto
    else:
        file = io.BytesIO()
        torch.onnx.export(module.eval(), (x,), file, opset_version=opset, dynamo=False)
        original = onnx.load_from_string(file.getvalue())
    conversion = convert(original, verify=True, run=True)
    assert len(conversion.converted) == 1 and "emulation" in conversion.converted[0].form
    assert [op for op in operators(conversion.proto()) if op != "Constant"] == ops
    feeds = {original.graph.input[0].name: x.numpy()}
    made, was = (native.run_session(native.session(one), feeds) for one in (conversion.proto(), original))
    assert native.bits(made) == native.bits(was)
    assert "Conv" in ops or native.bits(made) == native.bits(module(x).numpy())
