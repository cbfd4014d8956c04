"""The native library's file.

A clone has the package's sources at its top, and Python takes what lies in the folder that it runs in before what is
installed. So ``import padops`` there finds the sources, which have no library. Where an installed padops has one of the
same version, that one is used: the quick start then works in the clone as elsewhere.
"""

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

_SUFFIXES = {"win32": ".dll", "darwin": ".so"}


@cache
def get_library_path() -> str:
    """The absolute path of the custom-operator library.

    It is a plain shared library, for any onnxruntime binding: hand the path to ``register_custom_ops_library`` in
    Python, ``RegisterCustomOpsLibrary`` in C++ and C#, ``registerCustomOpsLibrary`` in Java.

    The environment variable ``PADOPS_LIBRARY``, read at the first call, names another file to use instead: a build with
    sanitizers, say, or one for another machine.

    Where the package is a source tree without the library, it is that of an installed padops of the same version.

    Raises:
        FileNotFoundError: The package has no library, nor has an installed one of the same version; or ``PADOPS_LIBRARY``
            names no file.
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
    where = " or ".join(padops.__path__)
    wanted = _source_version(Path(next(iter(padops.__path__))))
    if wanted is None:
        raise FileNotFoundError(
            f"{name} is not in {where}: padops was installed without its native library; install it anew, with "
            "'pip install --force-reinstall .' in a clone of its sources"
        )
    found, why = _installed_library(name, wanted)
    if found is None:
        raise FileNotFoundError(
            f"{name} is not in {where}, which is a source tree of padops {wanted} (Python imports what lies in the folder "
            f"that it runs in before what is installed), and {why}; run 'pip install .' in the source tree"
        )
    return str(found.resolve())


def _source_version(package: Path) -> str | None:
    """The version of the source tree that a package lies in, or None where it is no source tree."""
    project = package.parent / "pyproject.toml"
    if not project.is_file() or not (package / "csrc").is_dir():
        return None
    stated = re.search(r'^name = "padops"\nversion = "([^"]+)"$', project.read_text(encoding="utf-8"), re.MULTILINE)
    return stated[1] if stated else None


def _installed_library(name: str, wanted: str) -> tuple[Path | None, str]:
    """The library of the installed padops, where it is of that version; and else why it is not used."""
    try:
        installed = distribution("padops")
    except PackageNotFoundError:
        return None, f"no padops is installed for {sys.executable}"
    path = Path(str(installed.locate_file(f"padops/{name}")))
    if not path.is_file():
        return None, f"the installed padops {installed.version} has none at {path} either"
    version = json.loads(describe_library(path))["library"]
    if version != wanted:
        return None, f"the installed one, {path}, is of version {version}"
    return path, ""


def describe_library(path: str | Path) -> str:
    """What the library in a file says of itself, as JSON: see ``padops.describe``.

    Raises:
        OSError: It cannot be loaded, or is another library.
    """
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "padops_describe"):
        raise OSError(
            f"{path} is not the library of padops: it has no function padops_describe; where PADOPS_LIBRARY names it, "
            "name another file or unset that"
        )
    library.padops_describe.restype = ctypes.c_char_p
    text: bytes = library.padops_describe()
    return text.decode()


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
