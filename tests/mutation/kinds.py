"""The kinds of files that are mutated; ``openvino`` is there where OpenVINO is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from . import npz_inputs, onnx_models
from .mutant import Mutant

KINDS: dict[str, Callable[[int], Iterator[Mutant]]] = {
    "onnx": onnx_models.mutants,
    "npz": npz_inputs.mutants,
}
if find_spec("openvino") or os.environ.get("PADOPS_PEERS"):
    sys.path.append(str(Path(__file__).parents[1] / "models"))  # pytest has it already
    from . import openvino_ir

    KINDS["openvino"] = openvino_ir.mutants
