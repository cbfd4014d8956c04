"""What every run of the tests says first: which runtime and library it is about, and which peers it does not have.

Tests that compare with another implementation stand in files of their own and import it plainly. Where ``PADOPS_PEERS``
is set (``scripts/test.py --peers``, and so in CI) all of them run, and a missing peer is a failure. Elsewhere the files of
missing peers are left out, and the header names them.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from shutil import which

import chromium
import pytest

PEERS = {
    "test_convert_openvino_files.py": ("openvino", "onnxifier"),
    "test_convert_openvino_ir.py": ("openvino", "onnxifier", "torch"),
    "test_convert_openvino_layers.py": ("openvino", "onnxifier"),
    "test_jax_export.py": ("jax", "jax2onnx"),
    "test_peers_auto_pad.py": ("openvino",),
    "test_peers_jax.py": ("jax",),
    "test_peers_openvino.py": ("openvino",),
    "test_peers_tensorflow.py": ("tensorflow",),
    "test_peers_torch.py": ("torch",),
    "test_tf2onnx_export.py": ("tensorflow", "tf2onnx"),
    "test_torch_export.py": ("torch", "onnxscript"),
}
MISSING = {name: [peer for peer in peers if find_spec(peer) is None] for name, peers in PEERS.items()}

NO_BROWSER = not os.environ.get("PADOPS_PEERS") and not any(map(which, chromium.NAMES))

collect_ignore = [] if os.environ.get("PADOPS_PEERS") else [name for name, missing in MISSING.items() if missing]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if NO_BROWSER:
        shown = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=shown)
        items[:] = [item for item in items if item not in shown]


def pytest_report_header() -> list[str]:
    import onnxruntime

    import padops

    lines = [f"onnxruntime {onnxruntime.__version__}: {onnxruntime.__path__[0]}", f"padops: {padops.get_library_path()}"]
    if collect_ignore:
        peers = ", ".join(sorted({peer for name in collect_ignore for peer in MISSING[name]}))
        lines.append(f"NOT COMPARED with {peers}: not installed; left out: {', '.join(collect_ignore)}")
    if NO_BROWSER:
        lines.append("NOT SHOWN in a browser: no chromium on the PATH; the tests of the conformance page are left out")
    return lines
