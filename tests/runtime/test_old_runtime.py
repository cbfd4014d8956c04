"""The same library file on the oldest runtime that padops supports: the kernel tests again."""

from __future__ import annotations

import oldest_runtime
import onnxruntime

KERNEL_TESTS = (
    "csrc/test_kernels",
    "csrc/test_dialect_kernels",
    "csrc/test_inputs",
    "csrc/test_errors",
    "csrc/test_inference",
    "csrc/test_float16",
    "runtime/test_provider_versions",
    "spec/test_specifications",
    "spec/test_specifications_dialects",
)


def test_kernels_on_the_oldest_runtime() -> None:
    assert onnxruntime.__version__ != oldest_runtime.VERSION
    assert oldest_runtime.count_passed(*(f"tests/{name}.py" for name in KERNEL_TESTS)) > 1300
