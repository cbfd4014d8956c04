"""The native library in an onnxruntime session."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import weakref
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import onnxruntime

_SUFFIXES = {"win32": ".dll", "darwin": ".so"}

_registered: dict[str, weakref.WeakSet[onnxruntime.SessionOptions]] = {
    "native": weakref.WeakSet(),
    "pyop": weakref.WeakSet(),
}


@cache
def get_library_path() -> str:
    """The absolute path of the custom-operator library.

    It is a plain shared library, for any onnxruntime binding: hand the path to ``register_custom_ops_library`` in
    Python, ``RegisterCustomOpsLibrary`` in C++ and C#, ``registerCustomOpsLibrary`` in Java.

    The environment variable ``PADOPS_LIBRARY``, read at the first call, names another file to use instead: a build with
    sanitizers, say, or one for another machine.

    Raises:
        FileNotFoundError: The package has been installed without it, or ``PADOPS_LIBRARY`` names no file.
        RuntimeError: An editable install cannot rebuild it.
    """
    import padops

    if chosen := os.environ.get("PADOPS_LIBRARY"):
        if not Path(chosen).is_file():
            raise FileNotFoundError(f"PADOPS_LIBRARY is {chosen!r}, which is not a file; set it to one, or unset it")
        return str(Path(chosen).resolve())
    _rebuild_editable_install()
    name = "libpadops" + _SUFFIXES.get(sys.platform, ".so")
    # An editable install keeps Python files and the built library in two folders, both on the package's path.
    for folder in padops.__path__:
        path = Path(folder, name)
        if path.is_file():
            return str(path.resolve())
    raise FileNotFoundError(
        f"{name} is not in {' or '.join(padops.__path__)}: padops was installed without its native library; "
        "reinstall it with 'pip install --force-reinstall padops', or build it with 'pip install .' in a checkout"
    )


def _rebuild_editable_install() -> None:
    """Lets an editable install build what has changed in ``csrc``; elsewhere this only looks for a file."""
    try:
        find_spec("padops.libpadops")
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(
            f"the editable install of padops could not rebuild its library: {error}. Activate the environment that it "
            "was installed in, or reinstall it: pip install scikit-build-core cmake ninja; "
            "pip install --no-build-isolation -e ."
        ) from error


def register(session_options: onnxruntime.SessionOptions, backend: Literal["native", "pyop"] = "native") -> None:
    """Makes the operators of padops known to the sessions that use these options.

    Registering the same options twice does nothing the second time.

    Args:
        session_options: The options that the session will be created with.
        backend: ``"native"``: the compiled library, which has the operators of the domain ``padops``. ``"pyop"``: the
            Python kernel of the domain ``padops.pyop`` (see ``padops.runtime.pyop``), without the compiled library. It
            needs onnxruntime-extensions (``pip install "padops[pyop]"``) and brings all operators of that, so do not
            register their library with the same options again. Both backends may be registered.

    Raises:
        FileNotFoundError: The package has been installed without its library.
        RuntimeError: onnxruntime refuses the library; the message says what to do.
        ValueError: There is no such backend.
    """
    if backend not in _registered:
        raise ValueError(f"backend is {backend!r}, expected 'native' or 'pyop'")
    if session_options in _registered[backend]:
        return
    if backend == "pyop":
        from padops.runtime import pyop

        pyop.register(session_options)
    else:
        _register_library(session_options)
    _registered[backend].add(session_options)


def _register_library(session_options: onnxruntime.SessionOptions) -> None:
    path = get_library_path()
    try:
        session_options.register_custom_ops_library(path)
    except Exception as error:
        import onnxruntime

        raise RuntimeError(
            f"onnxruntime {onnxruntime.__version__} could not load {path}: {error}. "
            "padops needs onnxruntime 1.20 or newer, on the platform that the wheel was built for; "
            "'padops info' prints both"
        ) from error


@cache
def _described() -> str:
    library = ctypes.CDLL(get_library_path())
    library.padops_describe.restype = ctypes.c_char_p
    text: bytes = library.padops_describe()
    return text.decode()


def describe() -> dict[str, Any]:
    """The operators as the native library itself lists them.

    Returns:
        ``domain``, ``version``, ``library`` (its version), ``types`` (one row per element type: name, onnx and ort ids,
        bits, the first ONNX Pad and the first onnxruntime 1.x that know it) and ``ops`` (one row per operator: name,
        inputs, attributes, modes, types, and how it treats negative amounts, limits and empty outputs). A new object
        at every call.

    Raises:
        FileNotFoundError: The package has been installed without its library.
        OSError: The library cannot be loaded on this platform.
    """
    described: dict[str, Any] = json.loads(_described())
    return described
