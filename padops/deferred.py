"""Defers the loading of modules that a package imports but hardly uses.

onnx_ir computes symbolic dims with sympy. padops never uses symbolic dims, and sympy takes longer to load than the rest
of a conversion.

OpenVINO sends telemetry at each import: it forks in a thread, and the child process may hang forever.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import RLock
from types import ModuleType, TracebackType
from typing import Any

_LOCK = RLock()


class _Deferred(ModuleType):
    """A placeholder for a module; the first access to an attribute loads the module."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            module = import_module(self.__name__)
        return getattr(module, name)


class Deferring:
    """A context in which imports of some modules return placeholders, unless the modules are already loaded.

    Imports after the context load the modules as usual.
    """

    def __init__(self, *names: str) -> None:
        """``names``: the modules, such as ``"sympy"``."""
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
    """Imports OpenVINO without its telemetry package, as if it were not installed."""
    absent: dict[str, Any] = {"openvino_telemetry": None}
    for name, nothing in absent.items():
        sys.modules.setdefault(name, nothing)
    return import_module("openvino")
