"""Converts foreign Pads in a model to operators of the domain ``padops``; docs/architecture.md lists the files."""

from __future__ import annotations

import sys
from types import ModuleType

from padops.deferred import deferring
from padops.extras import needing

with needing("padops.convert"):
    import onnx  # noqa: F401  # first, so that an error for a missing extra names onnx

    # The modules that import sympy use it only when they compute.
    with deferring("sympy", "onnx_ir._symbolic_shapes"):
        import onnx_ir  # noqa: F401

    from padops.convert.errors import PadopsError, PadsLeftError, UndecidedError, UsageError, VerificationError
    from padops.convert.inspection import Inspection, inspect
    from padops.convert.pipeline import convert, lower
    from padops.convert.records import (
        Conversion,
        FileRecord,
        OutputComparison,
        PadComparison,
        PadFacts,
        PadRecord,
        ProofRecord,
        RegionRecord,
        Verification,
    )

__all__ = [
    "Conversion", "FileRecord", "Inspection", "OutputComparison", "PadComparison", "PadFacts", "PadRecord",
    "PadopsError", "PadsLeftError", "ProofRecord", "RegionRecord", "UndecidedError", "UsageError", "Verification",
    "VerificationError", "convert", "inspect", "lower",
]  # fmt: skip


class _Callable(ModuleType):
    """Makes the package callable, because importing the package replaces the function ``padops.convert``."""

    __call__ = staticmethod(convert)


sys.modules[__name__].__class__ = _Callable
__doc__ = convert.__doc__ or ""  # the text that help(padops.convert) prints first
