"""Breaks planted in a module of this process: other code in the functions that are there, taken back afterwards."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

Functions = dict[str, FunctionType]


@contextmanager
def planted(name: str, former: str, other: str) -> Iterator[None]:
    """A module whose source has other text, for functions that others have imported as well.

    Args:
        name: Of the module.
        former: Text that its source has once.
        other: What stands there instead, inside of functions or as the value of a name in capitals.
    """
    module = importlib.import_module(name)
    source = Path(inspect.getfile(module)).read_text(encoding="utf-8")
    assert source.count(former) == 1, f"{name} has {source.count(former)} times: {former}"
    changed = ModuleType(name)
    changed.__file__ = module.__file__
    exec(compile(source.replace(former, other), str(module.__file__), "exec"), changed.__dict__)
    functions, others = _functions(module), _functions(changed)
    assert functions.keys() == others.keys()
    codes = {place: function.__code__ for place, function in functions.items()}
    values = {key: value for key, value in vars(module).items() if key.isupper()}
    try:
        for place, function in functions.items():
            function.__code__ = others[place].__code__
        for key in values:
            setattr(module, key, getattr(changed, key))
        yield
    finally:
        for place, function in functions.items():
            function.__code__ = codes[place]
        for key, value in values.items():
            setattr(module, key, value)


def _functions(module: ModuleType) -> Functions:
    """The functions and methods that a module defines, by their places in it."""
    found: Functions = {}
    for key, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner, member in vars(value).items():
                _add(found, f"{key}.{inner}", member, module)
        else:
            _add(found, key, value, module)
    return found


def _add(found: Functions, place: str, value: Any, module: ModuleType) -> None:
    value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not value.__closure__:
        found[place] = value
