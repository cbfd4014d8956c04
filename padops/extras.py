"""The packages that padops needs beside NumPy, and the commands that install them.

padops itself needs NumPy alone. Each extra of ``pyproject.toml`` installs packages for one purpose; ``EXTRAS`` lists
their modules. onnxruntime is an extra too: each kind of hardware has its own distribution of it, all with the same
module name, so a dependency on one distribution would overwrite the installed one.
"""

from __future__ import annotations

import sys
from types import TracebackType

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

# The distributions that have the module onnxruntime. The extra installs the first one.
RUNTIMES = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-webgpu",
    "onnxruntime-qnn",
    "onnxruntime-rocm",
    "onnxruntime-migraphx",
    "onnxruntime-cann",
    "onnxruntime-training",
    "ort-nightly",
    "ort-nightly-gpu",
)
FIRST_MINOR = 20  # the oldest supported onnxruntime 1.x


class DependencyError(ImportError):
    """A package that padops needs is missing, too old or incomplete; the message has the command that installs it."""


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'padops[{extra}]'"


class Needing:
    """A context for imports of extras: a missing module raises a ``DependencyError`` with a one-line message."""

    def __init__(self, what: str) -> None:
        """``what``: the part of padops that needs the modules, such as ``"padops.convert"``."""
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, ModuleNotFoundError) or error.name is None:
            return
        top = error.name.partition(".")[0]
        extra = next((extra for extra, modules in EXTRAS.items() if top in modules), None)
        if extra is None:  # a module of padops or of the standard library: a mistake, not a missing package
            return
        more = ", or the onnxruntime package for your hardware, such as onnxruntime-gpu" if extra == "cpu" else ""
        package = "protobuf" if top == "google" else top
        text = f"{self._what} needs {package}, which is not installed: {install(extra)}{more}"
        raise DependencyError(text, name=error.name) from None


class NeedingOnnxruntime(Needing):
    """A context for ``import onnxruntime``, from any distribution, that also refuses an incomplete or too old one."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        if error is not None:
            return
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
        raise DependencyError(f"{self._what} needs onnxruntime{why}", name="onnxruntime")


def names_of(package: str) -> tuple[str, ...]:
    """The names of the distributions that may provide a package."""
    return {"onnxruntime": RUNTIMES, "onnx": ("onnx", "onnx-weekly")}.get(package, (package,))


def runtimes() -> dict[str, str]:
    """The installed distributions of onnxruntime, with their versions."""
    found = ((name, version_of(name)) for name in RUNTIMES)
    return {name: text for name, text in found if text is not None}


def version_of(distribution: str) -> str | None:
    """The version of an installed distribution, or None."""
    from importlib.metadata import PackageNotFoundError, version  # slow: a third of the time of `padops --help`

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
