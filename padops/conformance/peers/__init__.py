"""Who pads: one file for each peer, with one function that runs a :class:`Request`.

A peer raises :class:`Unsupported` for what it says it has not got, :class:`Skipped` where it cannot be asked,
and anything else where the implementation refuses. It is imported in a process of its own, by ``worker.py``, perhaps by
another Python: it needs NumPy, ml_dtypes, onnx and the implementation itself, nothing else.

To add one, write a file with ``PACKAGES`` (whose versions a report names; the first one's is the peer's) and functions
``request -> array``, and list it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from padops.conformance.features import Facts

# Rules that functions do not know: limits of one specification, and how amounts, modes and fills are written down.
BARE = ("P4", "P6", "P7", "P8", "P9", "S1")


@dataclass(frozen=True)
class PeerRow:
    """One peer.

    Attributes:
        name: What ``--peer`` and reports call it.
        home: ``"module:function"``, the module in this package.
        families: Of the operators that it is asked for: ``"onnx"``, ``"openvino"``, ``"ngraph"``, ``"same"``.
        ours: Whether it is part of padops, and so may have no divergence.
        bare: Whether it is a function of numbers, which is not asked for what only an operator can get wrong.
        versions: The oldest and newest version of the operators.
        most: How many cases it is asked for in a run of the default level, a third of them in a quick one; 0 for all.
        seconds: How long one case may take, the import included.
        forks: Whether its process works in copies of itself, for a peer that crashes often and can be copied.
    """

    name: str
    home: str
    families: tuple[str, ...]
    ours: bool = False
    bare: bool = False
    versions: tuple[int, int] = (0, 1 << 31)
    most: int = 0
    seconds: float = 60
    forks: bool = False

    def takes(self, facts: Facts) -> bool:
        """Whether it is asked for a case."""
        return (
            facts.family in self.families
            and self.versions[0] <= facts.version <= self.versions[1]
            and not (self.bare and facts.rule in BARE)
        )


ALL = ("onnx", "openvino", "ngraph", "same")
STATED = ("onnx", "openvino", "ngraph")

PEERS = {
    row.name: row
    for row in (
        PeerRow("padops-native", "native:run", ALL, ours=True),
        PeerRow("padops-fallback", "standard:run_fallback", ALL),
        PeerRow("padops-lowered", "standard:run_lowered", ALL),
        PeerRow("padops-pyop", "python_kernel:run", ALL, ours=True),
        PeerRow("reference", "independent:run", ALL, ours=True),
        PeerRow("ort-builtin", "ort:run", ("onnx",)),
        PeerRow("onnx-reference", "onnx_reference:run", ("onnx",)),
        PeerRow("openvino-1", "openvino:run", ("openvino",), versions=(1, 1), forks=True),
        PeerRow("openvino-12", "openvino:run", ("openvino",), versions=(12, 12), forks=True),
        PeerRow("openvino-onnx", "openvino:run_onnx", ("onnx",), forks=True),
        PeerRow("numpy", "numpy_pad:run", STATED, bare=True),
        PeerRow("torch", "torch_pad:run", STATED, bare=True),
        # It compiles every shape anew.
        PeerRow("jax", "jax_pad:run", ALL, bare=True, most=1500),
        PeerRow("tensorflow", "tensorflow_pad:run", STATED, bare=True),
    )
}
