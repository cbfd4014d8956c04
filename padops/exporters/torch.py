"""PyTorch's pads as operators of padops, while ``torch.onnx.export`` writes the model.

By itself, the exporter writes ONNX Pad for every mode and type. ONNX Runtime cannot run all of these: it has no Pad of
int16, uint16 and bfloat16; and with negative amounts, it crops before it extends, PyTorch after (P3).

========= ========================= ==============================================================================
PyTorch   becomes                   because
========= ========================= ==============================================================================
constant  ``Pad_25`` constant       Negative amounts crop, whatever the other side's amount is.
circular  ``Pad_25`` wrap           Amounts of both signs on one axis are refused: PyTorch's result for them
                                    depends on uninitialized memory.
reflect   ``OpenVINOPad_12``        FULL (P3), at most n - 1 elements (P4).
replicate ``OpenVINOPad_12`` edge   FULL (P3).
========= ========================= ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from padops.extras import needing


def torch_translations() -> dict[Callable[..., Any], Callable[..., Any]]:
    """A translation table with which ``torch.onnx.export`` writes PyTorch's pads as operators of padops.

        >>> torch.onnx.export(
        ...     model, args, "model.onnx", dynamo=True, custom_translation_table=padops.torch_translations()
        ... )

    It exports pads of every element type that padops has, with negative amounts and with amounts that depend on dynamic
    shapes. In a session with padops registered, the pads give the same bits as in PyTorch.

    Returns:
        The value for ``custom_translation_table``: a function for each of ``aten.pad``, ``constant_pad_nd``, and
        ``reflection_pad`` and ``replication_pad`` of 1 to 3 dims.

    Raises:
        DependencyError: torch or onnxscript is not installed.
    """
    with needing("padops.torch_translations"):
        from padops.exporters import torch_functions
    return torch_functions.table()
