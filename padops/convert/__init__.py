"""Foreign Pads in a model become operators of the domain ``padops``.

============== =======================================================================================
``sources/``   what is a Pad: one file for each form that a node may have
``auto_pad/``  one more source, of nodes that pad by themselves
``select.py``  which of them ONNX Runtime cannot run by itself
``targets/``   what a Pad becomes: one file for each form of the output
``document.py``, ``graphs.py``, ``types.py``, ``constants.py``  the model as a graph
``scan.py``, ``external.py``, ``writing.py``  the model as files: nothing lost, nothing half-written
``verify.py``, ``feeds.py``  both models run on the same inputs
``checks/``    whether a message is a model at all
``records.py``, ``report.py``, ``errors.py``  what is told about it
============== =======================================================================================
"""

from __future__ import annotations

import sys
from types import ModuleType

from padops.convert.errors import PadopsError, PadsLeftError, UsageError, VerificationError
from padops.convert.lower import lower
from padops.convert.pipeline import convert
from padops.convert.records import Conversion, FileRecord, OutputComparison, PadRecord, Verification

__all__ = [
    "Conversion",
    "FileRecord",
    "OutputComparison",
    "PadRecord",
    "PadopsError",
    "PadsLeftError",
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
