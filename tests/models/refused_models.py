"""Models that ONNX Runtime refuses because of a Pad: the smallest of each symptom in docs/fixing.md."""

from __future__ import annotations
