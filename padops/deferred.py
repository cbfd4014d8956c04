"""Modules that a package imports at its top and hardly ever uses: loaded when they are used, or never.

onnx_ir computes with symbolic dims by means of sympy. padops never asks it to, and sympy takes longer to load than all the
rest of a conversion.

OpenVINO tells its maker at each import that it is used. For that it forks in a thread, from which the copy may never return.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from types import ModuleType, TracebackType
from typing import Any

_LOCK = RLock()


class _Deferred(ModuleType):
    """What stands for a module until one of its attributes is asked for; that loads it."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
        return getattr(module, name)


class Deferring:
    """A context whose imports do not load some modules, but get what stands for them.

    A module that is loaded already stays. Imports after the context load the module as ever.
    """

    def __init__(self, *names: str) -> None:
        """``names`` are those of the modules, such as ``"sympy"``."""
        self._deferred = {name: _Deferred(name) for name in names}

    def __enter__(self) -> None:
        for name, deferred in self._deferred.items():
            sys.modules.setdefault(name, deferred)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _LOCK:
            for name, deferred in self._deferred.items():
                if sys.modules.get(name) is deferred:
                    del sys.modules[name]


def import_openvino() -> Any:
    """OpenVINO, which does without its telemetry, as where that is not installed."""
    absent: dict[str, Any] = {"openvino_telemetry": None}
    for name, nothing in absent.items():
        sys.modules.setdefault(name, nothing)
    return import_module("openvino")
