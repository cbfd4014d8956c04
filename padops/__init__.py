"""Every Pad operator that a model can contain, native in ONNX Runtime.

    >>> import onnxruntime, padops
    >>> options = onnxruntime.SessionOptions()
    >>> padops.register(options)
    >>> session = onnxruntime.InferenceSession("converted.onnx", options)

Public names load on first use, so that ``import padops`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "convert": "padops.convert",
    "Conversion": "padops.convert",
    "PadRecord": "padops.convert",
    "describe": "padops.runtime.session",
    "lower": "padops.convert",
    "get_library_path": "padops.runtime.session",
    "pyop_errors": "padops.runtime.pyop",
    "register": "padops.runtime.session",
    "register_schemas": "padops.spec.schemas",
    "run_reference": "padops.spec.reference",
    "same_padding": "padops.spec.dialects",
    "OPS": "padops.spec.dialects",
    "PadError": "padops.spec.plan",
    "jax_pads": "padops.exporters.jax",
    "torch_translations": "padops.exporters.torch",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("padops")
    if name not in _HOMES:
        raise AttributeError(f"module 'padops' has no attribute {name!r}")
    module = import_module(_HOMES[name])
    return module.run if name == "run_reference" else getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
