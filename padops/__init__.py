"""Every Pad operator that a model can contain, native in ONNX Runtime.

    >>> import padops
    >>> session = padops.InferenceSession("model.onnx")

Public names load on first use, so that ``import padops`` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers must see ``padops.convert`` as the function, not the package
    from padops.convert import (
        Conversion,
        Inspection,
        PadFacts,
        PadopsError,
        PadRecord,
        PadsLeftError,
        UndecidedError,
        UsageError,
        Verification,
        VerificationError,
        convert,
        inspect,
        lower,
    )
    from padops.convert.verify.choice import verify
    from padops.exporters.jax import jax_pads
    from padops.exporters.torch import torch_translations
    from padops.extras import DependencyError
    from padops.runtime.library import get_library_path
    from padops.runtime.provider import get_ep_name, get_ep_names
    from padops.runtime.pyop import pyop_errors
    from padops.runtime.session import describe, register
    from padops.session import InferenceSession
    from padops.spec.dialects import OPS, same_padding
    from padops.spec.plan import PadError
    from padops.spec.reference import run as run_reference
    from padops.spec.schemas import register_schemas

    __version__: str

_NAMES = {  # the public names of each module
    "padops.convert": (
        "convert lower inspect Conversion Inspection PadFacts PadRecord Verification "
        "PadopsError PadsLeftError UndecidedError UsageError VerificationError"
    ),
    "padops.convert.verify.choice": "verify",
    "padops.exporters.jax": "jax_pads",
    "padops.exporters.torch": "torch_translations",
    "padops.extras": "DependencyError",
    "padops.runtime.library": "get_library_path",
    "padops.runtime.provider": "get_ep_name get_ep_names",
    "padops.runtime.pyop": "pyop_errors",
    "padops.runtime.session": "describe register",
    "padops.session": "InferenceSession",
    "padops.spec.dialects": "OPS same_padding",
    "padops.spec.plan": "PadError",
    "padops.spec.reference": "run_reference",
    "padops.spec.schemas": "register_schemas",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "OPS",
    "Conversion",
    "DependencyError",
    "InferenceSession",
    "Inspection",
    "PadError",
    "PadFacts",
    "PadRecord",
    "PadopsError",
    "PadsLeftError",
    "UndecidedError",
    "UsageError",
    "Verification",
    "VerificationError",
    "convert",
    "describe",
    "get_ep_name",
    "get_ep_names",
    "get_library_path",
    "inspect",
    "jax_pads",
    "lower",
    "pyop_errors",
    "register",
    "register_schemas",
    "run_reference",
    "same_padding",
    "torch_translations",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("padops")
    if name not in _HOMES:
        raise AttributeError(f"module 'padops' has no attribute {name!r}")
    from padops.extras import Needing

    with Needing(f"padops.{name}"):
        module = import_module(_HOMES[name])
    return module.run if name == "run_reference" else getattr(module, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# The library of onnxruntime-extensions includes only the kernels that are defined before its registration.
if hasattr(sys.modules.get("onnxruntime_extensions"), "onnx_op"):
    from padops.runtime.pyop import define as _define

    _define()
