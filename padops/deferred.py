"""Defers the loading of modules that a package imports but hardly uses.

onnx_ir computes symbolic dims with sympy. padops never uses symbolic dims, and sympy takes longer to load than the rest
of a conversion.

OpenVINO sends telemetry at each import: a thread forks the process, and the child process may hang forever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from types import ModuleType
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


@contextmanager
def deferring(*names: str) -> Iterator[None]:
    """Within this context, imports of these modules return placeholders, unless the modules are already loaded."""
    deferred = {name: _Deferred(name) for name in names}
    for name, module in deferred.items():
        sys.modules.setdefault(name, module)
    try:
        yield
    finally:
        with _LOCK:
            for name, module in deferred.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]


def import_openvino() -> Any:
    """Imports OpenVINO without its telemetry package, as if that package were not installed."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: no such module
    return import_module("openvino")
