"""Who pads: one file for each peer, with one function that runs a :class:`Request`.

A peer raises :class:`Unsupported` for what it says it has not got, :class:`Skipped` where it cannot be asked,
and anything else where the implementation refuses. It is imported in a process of its own, by ``worker.py``, perhaps by
another Python: it needs NumPy, ml_dtypes, onnx and the implementation itself, nothing else.

To add one, write a file with ``PACKAGES`` (whose versions a report names; the first one's is the peer's) and functions
``request -> array``, and list it here. A library that the benchmark or a script asks as well has its calls in
``adapters.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from padops.conformance.features import CaseFeatures

# Rules that functions do not know: limits of one specification, and how amounts, modes and fills are written down.
RULES_OF_OPERATORS = ("P4", "P6", "P7", "P8", "P9", "S1")


@dataclass(frozen=True)
class PeerRow:
    """One peer.

    Attributes:
        name: What ``--peer`` and reports call it.
        entry_point: ``"module:function"``, the module in this package.
        families: Of the operators that it is asked for: ``"onnx"``, ``"openvino"``, ``"ngraph"``, ``"same"``.
        in_house: Whether it is part of padops, and so may have no divergence.
        function_only: Whether it is a function of numbers, which is not asked for what only an operator can get wrong.
        versions: The oldest and newest version of the operators.
        max_cases: How many cases it is asked for in a run of the default level, a third of them in a quick one; 0 for all.
        seconds: How long one case may take, the import included.
        forks: Whether its process works in copies of itself, for a peer that crashes often and can be copied.
    """

    name: str
    entry_point: str
    families: tuple[str, ...]
    in_house: bool = False
    function_only: bool = False
    versions: tuple[int, int] = (0, 1 << 31)
    max_cases: int = 0
    seconds: float = 60
    forks: bool = False

    def takes(self, features: CaseFeatures) -> bool:
        """Whether it is asked for a case."""
        return (
            features.family in self.families
            and self.versions[0] <= features.version <= self.versions[1]
            and not (self.function_only and features.rule in RULES_OF_OPERATORS)
        )


ALL = ("onnx", "openvino", "ngraph", "same")
STATED = ("onnx", "openvino", "ngraph")

PEERS = {
    row.name: row
    for row in (
        PeerRow("padops-native", "native:run_case", ALL, in_house=True),
        PeerRow("padops-provider", "provider:run_case", ("onnx",)),
        PeerRow("padops-fallback", "standard:run_fallback", ALL),
        PeerRow("padops-lowered", "standard:run_lowered", ALL),
        PeerRow("padops-without-pad", "standard:run_without_pad", ALL),
        # The same models in other runtimes.
        PeerRow("without-pad-reference", "lowered_reference:run_case", ALL, max_cases=1500),
        PeerRow("without-pad-openvino", "lowered_openvino:run_case", ALL, max_cases=900, forks=True),
        PeerRow("padops-pyop", "python_kernel:run_case", ALL, in_house=True),
        PeerRow("reference", "independent:run_case", ALL, in_house=True),
        PeerRow("ort-builtin", "ort:run_case", ("onnx",)),
        PeerRow("onnx-reference", "onnx_reference:run_case", ("onnx",)),
        PeerRow("openvino-1", "openvino:run_pad", ("openvino",), versions=(1, 1), forks=True),
        PeerRow("openvino-12", "openvino:run_pad", ("openvino",), versions=(12, 12), forks=True),
        PeerRow("openvino-onnx", "openvino:run_onnx", ("onnx",), forks=True),
        PeerRow("numpy", "numpy_pad:run_case", STATED, function_only=True),
        PeerRow("torch", "torch_pad:run_case", STATED, function_only=True),
        # It compiles every shape anew.
        PeerRow("jax", "jax_pad:run_case", ALL, function_only=True, max_cases=1500),
        PeerRow("tensorflow", "tensorflow_pad:run_case", STATED, function_only=True),
    )
}
