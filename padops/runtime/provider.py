"""The names of padops' execution providers, and the onnxruntime that they need."""

from __future__ import annotations

from padops.extras import needing_onnxruntime

EP_NAME = "PadopsExecutionProvider"
FIRST_NAME = "PadopsFirstExecutionProvider"  # it comes before other providers
OPERATORS_NAME = "PadopsOperatorsExecutionProvider"  # it runs no node: its device adds the operators to a session
EP_NAMES = (EP_NAME, FIRST_NAME, OPERATORS_NAME)
CPU = "CPUExecutionProvider"
FIRST_MINOR = 24  # the first onnxruntime 1.x with kernel registries for plugin providers
FIRST_MINOR_BY_NAME = 25  # the first onnxruntime 1.x that accepts a registered provider's name in providers=[...]


def get_ep_name() -> str:
    """Return the name of the execution provider in this package's library, for ``providers=[...]``."""
    return EP_NAME


def get_ep_names() -> list[str]:
    """Return the names of all execution providers in this package's library.

    Returns:
        Three names. The first provider takes Pads that would go to the CPU's provider. The second takes Pads that
        providers behind it do not run correctly. The third runs no node; its device adds the operators of the domain
        ``padops`` to a session.
    """
    return list(EP_NAMES)


def runtime_minor() -> int:
    """Return the minor version of the installed onnxruntime 1.x; a later major version counts as newer than any 1.x."""
    with needing_onnxruntime("padops' execution provider"):
        import onnxruntime

    major, minor = onnxruntime.__version__.split(".")[:2]
    return int(minor) if major == "1" else 1_000_000
