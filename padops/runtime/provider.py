"""padops as an execution provider of onnxruntime 1.24 or newer, which runs the Pads of unconverted models."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

from padops.extras import needing_onnxruntime
from padops.runtime.library import get_library_path

if TYPE_CHECKING:
    import onnxruntime

EP_NAME = "PadopsExecutionProvider"
FIRST_NAME = "PadopsFirstExecutionProvider"  # it stands before other providers
OPERATORS_NAME = "PadopsOperatorsExecutionProvider"  # it runs no node: its device adds the operators to a session
EP_NAMES = (EP_NAME, FIRST_NAME, OPERATORS_NAME)
CPU = "CPUExecutionProvider"
FIRST_MINOR = 24  # the first onnxruntime 1.x with kernel registries for plugin providers
FIRST_MINOR_BY_NAME = 25  # the first onnxruntime 1.x that accepts a registered provider's name in providers=[...]

# The provider's options and their values, the default first. Only Python reads the last option.
OPTIONS = {"claim": ("all", "needed"), "float16": ("leave", "native"), "in_front": ("needed", "never")}

_LIBRARY = "padops.python"  # the library's name in onnxruntime; callers who register it themselves may use "padops"
_registering = threading.Lock()
# The options to which ``add_provider`` has added the provider, and the provider's options.
provided: weakref.WeakKeyDictionary[onnxruntime.SessionOptions, dict[str, str]] = weakref.WeakKeyDictionary()


def get_ep_name() -> str:
    """Return the name of the execution provider in this package's library, for ``providers=[...]``."""
    return EP_NAME


def get_ep_names() -> list[str]:
    """Return the names of all execution providers in this package's library.

    Returns:
        The provider that claims Pads that others leave, the one that stands before others, and the one whose device
        adds the operators of the domain ``padops`` to a session.
    """
    return list(EP_NAMES)


def runtime_minor() -> int:
    """Return the minor version of the installed onnxruntime 1.x; later major versions count as newer than any."""
    with needing_onnxruntime("padops' execution provider"):
        import onnxruntime

    major, minor = onnxruntime.__version__.split(".")[:2]
    return int(minor) if major == "1" else 1_000_000


def register_provider_library() -> dict[str, onnxruntime.OrtEpDevice]:
    """Register the library, once per process; return each provider's first device, by the provider's name."""
    import onnxruntime

    if runtime_minor() < FIRST_MINOR:
        raise RuntimeError(
            f"padops' execution provider needs onnxruntime 1.{FIRST_MINOR} or newer, this is "
            f"{onnxruntime.__version__}; 'padops convert' and padops.register(options) work without the provider"
        )
    with _registering:
        if all(device.ep_name != EP_NAME for device in onnxruntime.get_ep_devices()):
            path = get_library_path()
            try:
                onnxruntime.register_execution_provider_library(_LIBRARY, path)
            except Exception as error:
                raise RuntimeError(f"onnxruntime {onnxruntime.__version__} could not load {path}: {error}") from error
        return {device.ep_name: device for device in reversed(onnxruntime.get_ep_devices())}


def check_options(provider_options: Mapping[str, str]) -> None:
    """Raise ValueError for an option of the provider that is unknown, or has a value that is not allowed."""
    for name, value in provider_options.items():
        if name not in OPTIONS:
            *names, last = OPTIONS
            raise ValueError(f"{EP_NAME}: there is no option {name}, only {', '.join(names)} and {last}")
        if value not in OPTIONS[name]:
            raise ValueError(f"{EP_NAME}: option {name} is {value!r}, expected {' or '.join(OPTIONS[name])}")


def add_provider(
    session_options: onnxruntime.SessionOptions, provider_options: Mapping[str, str] | None = None
) -> None:
    """Add the provider, and the CPU's after it, to options behind their providers; a second call does nothing."""
    chosen = dict(provider_options or {})
    check_options(chosen)
    devices = register_provider_library()
    if (before := provided.get(session_options)) is not None:
        if chosen and chosen != before:
            raise ValueError(f"these SessionOptions have {EP_NAME} with {before} already; take new ones for {chosen}")
        return
    has_others = session_options.has_providers()
    session_options.add_provider_for_devices([devices[EP_NAME]], chosen)
    if not has_others:  # otherwise the CPU's may be among them; onnxruntime puts it last anyway
        session_options.add_provider_for_devices([devices[CPU]], {})
    provided[session_options] = chosen
