"""Who pads: one file for each peer, with one function that runs a :class:`Request`.

A peer raises :class:`Unsupported` for what it says it has not got, :class:`Skipped` where it cannot be asked,
and anything else where the implementation refuses. It is imported in a process of its own, by ``worker.py``, perhaps by
another Python: it needs NumPy, ml_dtypes, onnx and the implementation itself, nothing else.

To add one, write a file with ``PACKAGES`` (whose versions a report names; the first one's is the peer's) and functions
``request -> array``, and list it here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PeerRow:
    """One peer.

    Attributes:
        name: What ``--peer`` and reports call it.
        home: ``"module:function"``, the module in this package.
        families: Of the operators that it is asked for: ``"onnx"``, ``"openvino"``, ``"ngraph"``, ``"same"``.
        ours: Whether it is part of padops, and so may have no divergence.
        seconds: How long one case may take, the import included.
    """

    name: str
    home: str
    families: tuple[str, ...]
    ours: bool = False
    seconds: float = 60


ALL = ("onnx", "openvino", "ngraph", "same")
STATED = ("onnx", "openvino", "ngraph")

PEERS = {
    row.name: row
    for row in (
        PeerRow("padops-native", "native:run", ALL, ours=True),
        PeerRow("ort-builtin", "ort:run", ("onnx",)),
        PeerRow("numpy", "numpy_pad:run", STATED),
    )
}
