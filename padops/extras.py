"""The packages that padops needs besides NumPy, and the commands that install them.

onnxruntime is an extra too. Each kind of hardware has its own distribution of onnxruntime, and all have the same module
name. If padops depended on one distribution, pip would install it over the one that the user has chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Extras and the modules that they install. A module is imported only if its extra is needed.
EXTRAS = {
    "convert": ("onnx", "onnx_ir", "ml_dtypes", "google"),  # protobuf's module is google.protobuf
    "cpu": ("onnxruntime",),
    "pyop": ("onnxruntime_extensions",),
    "completion": ("shtab",),
    "openvino": ("openvino",),
    "torch": ("torch", "onnxscript"),
    "jax": ("jax", "jaxlib", "jax2onnx"),
}

# The distributions that have the module onnxruntime. The extra ``cpu`` installs the first of them.
RUNTIMES = tuple(
    "onnxruntime onnxruntime-gpu onnxruntime-directml onnxruntime-openvino onnxruntime-webgpu onnxruntime-qnn "
    "onnxruntime-rocm onnxruntime-migraphx onnxruntime-cann onnxruntime-training ort-nightly ort-nightly-gpu".split()
)
FIRST_MINOR = 20  # the oldest supported onnxruntime 1.x


class DependencyError(ImportError):
    """A package that padops needs is missing, too old or incomplete; the message has the command that installs it."""


@contextmanager
def needing(what: str) -> Iterator[None]:
    """Raises a ``DependencyError`` if this context imports a missing package; the message names ``what``."""
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        extra = next((extra for extra, modules in EXTRAS.items() if top in modules), None)
        if extra is None:  # a module of padops or of the standard library: a mistake, not a missing package
            raise
        more = ", or the onnxruntime package for your hardware, such as onnxruntime-gpu" if extra == "cpu" else ""
        package = "protobuf" if top == "google" else top
        text = f"{what} needs {package}, which is not installed: pip install 'padops[{extra}]'{more}"
        raise DependencyError(text, name=error.name) from None


@contextmanager
def needing_onnxruntime(what: str) -> Iterator[None]:
    """Raises a ``DependencyError`` if the onnxruntime imported in this context is missing, incomplete or too old."""
    with needing(what):
        yield
    module = sys.modules["onnxruntime"]
    found = getattr(module, "__version__", None)
    if found is None or not hasattr(module, "InferenceSession"):
        why = (
            f", but the one in {', '.join(getattr(module, '__path__', ['?']))} is incomplete "
            f"({' and '.join(runtimes())} installed): uninstall every onnxruntime package, then install one"
        )
    elif tuple(map(int, str(found).split(".")[:2])) < (1, FIRST_MINOR):
        package = next(iter(runtimes()), RUNTIMES[0])
        why = f" 1.{FIRST_MINOR} or newer, but {package} is {found}: pip install --upgrade {package}"
    else:
        return
    raise DependencyError(f"{what} needs onnxruntime{why}", name="onnxruntime")


def names_of(package: str) -> tuple[str, ...]:
    """Returns the names of the distributions that may provide a package."""
    return {"onnxruntime": RUNTIMES, "onnx": ("onnx", "onnx-weekly")}.get(package, (package,))


def runtimes() -> dict[str, str]:
    """Returns the installed distributions of onnxruntime, with their versions."""
    return {name: text for name in RUNTIMES if (text := version_of(name)) is not None}


def version_of(distribution: str) -> str | None:
    """Returns the version of a distribution; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # slow: a third of the time of `padops --help`

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
