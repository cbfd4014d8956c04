"""The releases of each implementation that the history measures, and what their environments hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# Of padops' own files in another interpreter; numpy comes with both.
ONNX, ML_DTYPES = "onnx==1.23.2", "ml_dtypes==0.5.4"
# Releases from before NumPy 2, and an onnx that takes such a NumPy.
OLD = ("numpy==1.26.4", ML_DTYPES, "onnx==1.20.1")
NEW = ("numpy==2.4.6", ML_DTYPES, ONNX)


@dataclass(frozen=True)
class Release:
    """One release of an implementation.

    Attributes:
        peer: The key of ``peers.PEERS``.
        package: On PyPI, or on npm.
        version: Of the package.
        beside: What else its environment holds, as for pip; nothing for a package of npm.
    """

    peer: str
    package: str
    version: str
    beside: tuple[str, ...]

    @property
    def name(self) -> str:
        """``package==version``."""
        return f"{self.package}=={self.version}"


# Peer, package, what stands beside it, and the newest version of each of its minor releases.
FOLLOWED = (
    ("ort-builtin", "onnxruntime", OLD, "1.16.3 1.17.3 1.18.1"),
    (
        "ort-builtin", "onnxruntime", NEW,
        "1.19.2 1.20.1 1.21.1 1.22.1 1.23.2 1.24.4 1.25.1 1.26.0 1.27.0 1.28.0 1.29.0 1.30.0 1.31.1 1.32.0",
    ),
    ("onnxruntime-web", "onnxruntime-web", (), "1.24.3 1.25.1 1.26.0 1.27.0 1.29.0 1.30.0"),
    ("onnx-reference", "onnx", ("numpy==1.26.4", ML_DTYPES), "1.15.0 1.16.2 1.17.0 1.18.0 1.19.1 1.20.1"),
    ("onnx-reference", "onnx", ("numpy==2.4.6", ML_DTYPES), "1.21.0 1.22.0 1.23.2"),
    ("numpy", "numpy", (ML_DTYPES, "onnx==1.20.1"), "1.26.4"),
    ("numpy", "numpy", (ML_DTYPES, ONNX), "2.0.2 2.1.3 2.2.6 2.3.5 2.4.6"),
    (
        "openvino-12", "openvino", OLD,
        "2023.1.0 2023.2.0 2023.3.0 2024.0.0 2024.1.0 2024.2.0 2024.3.0 2024.4.0 2024.5.0 2024.6.0 2025.0.0 2025.1.0",
    ),
    ("openvino-12", "openvino", (ML_DTYPES, ONNX), "2025.2.0 2025.3.0 2025.4.1 2026.0.0 2026.1.0 2026.2.1 2026.3.1 "
    "2026.4.1"),
    ("tensorflow", "tensorflow-cpu", (ML_DTYPES, "onnx==1.20.1"), "2.18.1 2.19.1 2.20.0 2.21.0"),
    ("jax", "jax", NEW, "0.5.3 0.6.2 0.7.2 0.8.3 0.9.2 0.10.2"),
)  # fmt: skip


def releases() -> Iterator[Release]:
    """All of them, from the oldest to the newest of each implementation."""
    for peer, package, beside, versions in FOLLOWED:
        for version in versions.split():
            yield Release(peer, package, version, beside)
