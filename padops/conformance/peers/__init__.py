"""Who pads: one file for each peer, with one function that runs a :class:`Request`.

A peer raises :class:`Unsupported` for what it says it has not got, and :class:`Skipped` where it cannot be asked. Its
``REFUSALS`` are the exceptions by which the implementation says that a case is wrong; where it says so in another way,
the peer raises :class:`Refused`. Any other exception is a fault, never the right answer. A peer is imported in a
process of its own, by ``worker.py``, perhaps by another Python: it needs NumPy, ml_dtypes, onnx and the implementation
itself, nothing else.

Its file has all that is particular about an implementation: ``pad``, the call, which scripts show and the benchmark
times; ``arguments`` of it; ``PACKAGES``, whose versions a report names; ``KNOWN`` divergences and the ``RECORDED``
versions.

To add one, write such a file in ``isolated/``, with a literal ``ENVIRONMENT`` that ``environments.py`` describes; it is
listed nowhere. One that is installed beside padops stands here, and is listed below.
"""

from __future__ import annotations

from padops.conformance.peers.environments import isolated_rows
from padops.conformance.peers.row import ALL, PeerRow

STATED = ("onnx", "openvino", "ngraph")

PEERS = {
    row.name: row
    for row in (
        PeerRow("padops-native", "native:run_case", ALL, in_house=True, labels=True),
        # onnxruntime infers shapes when it loads a model, before it asks a provider.
        PeerRow("padops-provider", "provider:run_case", ("onnx",), labels=True, before="[ShapeInferenceError]"),
        PeerRow("padops-fallback", "standard:run_fallback", ALL),
        PeerRow("padops-lowered", "standard:run_lowered", ALL),
        PeerRow("padops-without-pad", "standard:run_without_pad", ALL, max_cases=3000),
        # The same models in other runtimes.
        PeerRow("without-pad-reference", "onnx_reference:run_without_pad", ALL, max_cases=1500),
        PeerRow(
            "without-pad-openvino", "openvino_onnx:run_without_pad", ALL, max_cases=300, forks=True, form="declared"
        ),
        PeerRow("padops-pyop", "python_kernel:run_case", ALL, in_house=True, extra="pyop", labels=True),
        PeerRow("reference", "independent:run_case", ALL, in_house=True, labels=True),
        PeerRow("ort-builtin", "ort:run_case", ("onnx",)),
        PeerRow("onnx-reference", "onnx_reference:run_case", ("onnx",)),
        PeerRow("openvino-1", "openvino:run_case", ("openvino",), versions=(1, 1), forks=True),
        PeerRow("openvino-12", "openvino:run_case", ("openvino",), versions=(12, 12), forks=True),
        # The CPU device takes no unknown ranks.
        PeerRow("openvino-onnx", "openvino_onnx:run_case", ("onnx",), max_cases=1800, forks=True, form="declared"),
        PeerRow("numpy", "numpy_pad:run_case", STATED, function_only=True),
        PeerRow("torch", "torch_pad:run_case", STATED, function_only=True),
        # It compiles every shape anew.
        PeerRow("jax", "jax_pad:run_case", ALL, function_only=True, max_cases=1000),
        PeerRow("tensorflow", "tensorflow_pad:run_case", STATED, function_only=True),
        *isolated_rows(),
    )
}

__all__ = ["ALL", "PEERS", "STATED", "PeerRow"]
