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
    from padops.convert import Conversion as Conversion
    from padops.convert import Inspection as Inspection
    from padops.convert import PadFacts as PadFacts
    from padops.convert import PadopsError as PadopsError
    from padops.convert import PadRecord as PadRecord
    from padops.convert import PadsLeftError as PadsLeftError
    from padops.convert import UndecidedError as UndecidedError
    from padops.convert import UsageError as UsageError
    from padops.convert import Verification as Verification
    from padops.convert import VerificationError as VerificationError
    from padops.convert import convert as convert
    from padops.convert import inspect as inspect
    from padops.convert import lower as lower
    from padops.convert.verify.choice import verify as verify
    from padops.exporters import jax_pads as jax_pads
    from padops.exporters import torch_translations as torch_translations
    from padops.extras import DependencyError as DependencyError
    from padops.runtime.library import describe as describe
    from padops.runtime.library import get_library_path as get_library_path
    from padops.runtime.provider import get_ep_name as get_ep_name
    from padops.runtime.provider import get_ep_names as get_ep_names
    from padops.runtime.pyop import pyop_errors as pyop_errors
    from padops.runtime.session import register as register
    from padops.session import InferenceSession as InferenceSession
    from padops.spec.dialects import OPS as OPS
    from padops.spec.dialects import same_padding as same_padding
    from padops.spec.plan import PadError as PadError
    from padops.spec.reference import run_reference as run_reference
    from padops.spec.schemas import register_schemas as register_schemas

    __version__: str

_NAMES = {  # the public names of each module
    "padops.convert": (
        "convert lower inspect Conversion Inspection PadFacts PadRecord Verification "
        "PadopsError PadsLeftError UndecidedError UsageError VerificationError"
    ),
    "padops.convert.verify.choice": "verify",
    "padops.exporters": "jax_pads torch_translations",
    "padops.extras": "DependencyError",
    "padops.runtime.library": "describe get_library_path",
    "padops.runtime.provider": "get_ep_name get_ep_names",
    "padops.runtime.pyop": "pyop_errors",
    "padops.runtime.session": "register",
    "padops.session": "InferenceSession",
    "padops.spec.dialects": "OPS same_padding",
    "padops.spec.plan": "PadError",
    "padops.spec.reference": "run_reference",
    "padops.spec.schemas": "register_schemas",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("padops")
    if name not in _HOMES:
        raise AttributeError(f"module 'padops' has no attribute {name!r}")
    from padops.extras import needing

    with needing(f"padops.{name}"):
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# The library of onnxruntime-extensions includes only the kernels that are defined before its registration.
if hasattr(sys.modules.get("onnxruntime_extensions"), "onnx_op"):
    import_module("padops.runtime.pyop").define()
