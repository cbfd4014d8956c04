"""Sessions of models of standard ONNX with padops' execution provider, and which provider runs each Pad."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import parser
from parsed_models import quiet

import padops

EP_NAME, CPU = "PadopsExecutionProvider", "CPUExecutionProvider"
ROW = np.arange(1, 5)


def options(provider_options: Mapping[str, str] | None = None) -> onnxruntime.SessionOptions:
    """Options that have the provider and record which provider runs what; the runtime's log is silenced."""
    made = recording_options()
    padops.register(made, provider=True, provider_options=provider_options)
    return made


def recording_options() -> onnxruntime.SessionOptions:
    made = quiet(threads=1)
    made.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    return made


def session(
    model: onnx.ModelProto | bytes | str | Path, provider_options: Mapping[str, str] | None = None
) -> onnxruntime.InferenceSession:
    source: Any = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    return onnxruntime.InferenceSession(source, options(provider_options), enable_fallback=0)


def model(text: str, opset: int = 18, functions: str = "") -> onnx.ModelProto:
    """A model of one graph in onnx's own text form; ``functions`` are of the domain ``local``."""
    imports = f'"" : {opset}, "com.microsoft" : 1' + (', "local" : 1' if functions else "")
    return parser.parse_model(f"<ir_version: 10, opset_import: [{imports}]> {text} {functions}")


def pad(pads: list[int], mode: str = "constant", opset: int = 18, data: str = "float[n]") -> onnx.ModelProto:
    listed, kind = ", ".join(map(str, pads)), data.partition("[")[0]
    graph = f"g ({data} x) => ({kind}[{', '.join(f'o{i}' for i in range(len(pads) // 2))}] y)"
    if opset < 11:
        name = "pads" if opset > 1 else "paddings"
        return model(f'{graph} {{ [p] y = Pad <mode = "{mode}", {name} = [{listed}]> (x) }}', opset)
    given = f"<int64[{len(pads)}] amounts = {{{listed}}}>"
    return model(f'{graph} {given} {{ [p] y = Pad <mode = "{mode}"> (x, amounts) }}', opset)


def providers_of_pads(built: onnxruntime.InferenceSession) -> list[str]:
    """The provider that runs each Pad, Pads in branches and bodies included."""
    parts = built.get_provider_graph_assignment_info()
    return [part.ep_name for part in parts for node in part.get_nodes() if node.op_type == "Pad"]


POOLED = model("""g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y) <int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {
    z = Pad (x, p) y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (z) }""")
