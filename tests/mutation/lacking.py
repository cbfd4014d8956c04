"""What the kind ``openvino`` needs and is not installed; the header of a test run names it."""

from __future__ import annotations

from importlib.util import find_spec

LACKING = [name for name in ("onnxifier", "openvino") if find_spec(name) is None]
