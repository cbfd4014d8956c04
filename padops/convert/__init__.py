"""Foreign Pads in a model become operators of the domain ``padops``.

============== =======================================================================================
``readers/``   other file formats, as ONNX models
``model/``     the model, read and in memory: graphs, types, constants; what is no model is refused
``sources/``   what is a Pad: one file for each form that a node may have; what ONNX Runtime can do with it
``folding/``   Pads that need not run
``targets/``   what a Pad becomes: one file for each form of the output
``standard/``  a Pad in the operators of standard ONNX, as nodes or as functions
``verify/``    both models run on the same inputs
``files/``     what is read and written: whole or not at all
============== =======================================================================================

``pipeline.py`` is a model's way through all of this, and ``rewrite.py`` the pass over its Pads. ``records.py`` and
``report.py`` say what was found and done, ``show.py`` prints it, and ``errors.py`` has what can go wrong.
"""

from __future__ import annotations

import sys
from types import ModuleType

from padops.extras import Needing

with Needing("padops.convert"):
    from padops.convert.errors import PadopsError, PadsLeftError, UndecidedError, UsageError, VerificationError
    from padops.convert.pipeline import convert, lower
    from padops.convert.records import Conversion, FileRecord, OutputComparison, PadComparison, PadRecord, Verification

__all__ = [
    "Conversion",
    "FileRecord",
    "OutputComparison",
    "PadComparison",
    "PadRecord",
    "PadopsError",
    "PadsLeftError",
    "UndecidedError",
    "UsageError",
    "Verification",
    "VerificationError",
    "convert",
    "lower",
]


class _Callable(ModuleType):
    """``padops.convert`` is this package once it has been imported, and is to stay the function that users call."""

    __call__ = staticmethod(convert)


sys.modules[__name__].__class__ = _Callable
