"""Finds the native library's file: in this package or, from a clone without a library, in an installed padops."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def get_library_path() -> str:
    """Return the absolute path of the custom-operator library.

    It is a plain shared library, for any onnxruntime binding: pass the path to ``register_custom_ops_library`` in
    Python, ``RegisterCustomOpsLibrary`` in C++ and C#, ``registerCustomOpsLibrary`` in Java.

    If the environment variable ``PADOPS_LIBRARY`` is set at the first call, the function returns the path of the file
    that the variable names: for example, a build with sanitizers or a build for another machine.

    In a source tree without the library, the function returns the path of an installed padops of the same version.

    Raises:
        FileNotFoundError: Neither the package nor an installed padops of the same version has the library; or
            ``PADOPS_LIBRARY`` names no file.
        RuntimeError: An editable install cannot rebuild the library.
    """
    import padops

    if chosen := os.environ.get("PADOPS_LIBRARY"):
        if not Path(chosen).is_file():
            raise FileNotFoundError(f"PADOPS_LIBRARY is {chosen!r}, which is not a file; name a file, or unset it")
        return str(Path(chosen).resolve())
    try:
        find_spec("padops.libpadops")  # an editable install rebuilds its library if ``csrc`` has changed
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(
            f"the editable install of padops could not rebuild its library: {error}. Activate the environment that it "
            "was installed in, or reinstall it: pip install scikit-build-core cmake ninja; "
            "pip install --no-build-isolation -e ."
        ) from error
    name = "libpadops" + (".dll" if sys.platform == "win32" else ".so")
    # An editable install keeps Python files and the built library in two folders, both on the package's path.
    for folder in padops.__path__:
        path = Path(folder, name)
        if path.is_file():
            return str(path.resolve())
    where, project = " or ".join(padops.__path__), Path(next(iter(padops.__path__))).parent / "pyproject.toml"
    if not project.is_file() or not project.with_name("padops").joinpath("csrc").is_dir():
        raise FileNotFoundError(
            f"{name} is not in {where}: padops was installed without its native library; install it anew, with "
            "'pip install --force-reinstall .' in a clone of its sources"
        )
    stated = re.search(r'^version = "([^"]+)"$', project.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = stated[1] if stated else "of no version"
    try:
        return _installed_library(name, wanted)
    except FileNotFoundError as why:
        raise FileNotFoundError(
            f"{name} is not in {where}, a source tree of padops {wanted}, and {why}; Python searches its working "
            "folder before installed packages; run 'pip install .' in the source tree"
        ) from None


def _installed_library(name: str, wanted: str) -> str:
    """Return the path of an installed padops' library; raise FileNotFoundError if none has the version ``wanted``."""
    try:
        installed = distribution("padops")
    except PackageNotFoundError:
        raise FileNotFoundError(f"no padops is installed for {sys.executable}") from None
    path = Path(str(installed.locate_file(f"padops/{name}")))
    if not path.is_file():
        raise FileNotFoundError(f"the installed padops {installed.version} has no library at {path}")
    if (version := json.loads(describe_library(path))["library"]) != wanted:
        raise FileNotFoundError(f"the installed library, {path}, has version {version}")
    return str(path.resolve())


def describe_library(path: str | Path) -> str:
    """Return a library's description of itself, as JSON; raise OSError if the library is not padops'."""
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "padops_describe"):
        raise OSError(
            f"{path} is not the library of padops: it has no function padops_describe; if PADOPS_LIBRARY names it, "
            "name another file or unset PADOPS_LIBRARY"
        )
    library.padops_describe.restype = ctypes.c_char_p
    text: bytes = library.padops_describe()
    return text.decode()


def describe() -> dict[str, Any]:
    """Return the operators, as the native library describes them.

    Returns:
        A new dict with ``domain``, ``version``, ``library`` (the library's version), ``types`` and ``ops``. ``types``
        has a row for each element type: name, onnx and ort ids, bits, and the first ONNX Pad and onnxruntime 1.x with
        this type. ``ops`` has a row for each operator: name, inputs, attributes, mode, modes, types, fill, and its
        rules for negative amounts (crop), for the reach of a mode (limit) and for negative output dims (clamp).

    Raises:
        FileNotFoundError: As for :func:`get_library_path`.
        OSError: The library cannot be loaded on this platform, or is not padops'.
        RuntimeError: An editable install cannot rebuild the library.
    """
    described: dict[str, Any] = json.loads(describe_library(get_library_path()))
    return described
