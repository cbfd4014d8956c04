"""The native library's file."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
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
