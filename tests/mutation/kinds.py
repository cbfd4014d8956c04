"""The kinds of files that are mutated; ``openvino`` is there where OpenVINO is."""

from __future__ import annotations

import os
from importlib.util import find_spec

from . import npz_inputs, onnx_models

KINDS = {"onnx": onnx_models.mutants, "npz": npz_inputs.mutants}
if find_spec("openvino") or os.environ.get("PADOPS_PEERS"):
    from . import openvino_ir

    KINDS["openvino"] = openvino_ir.mutants
