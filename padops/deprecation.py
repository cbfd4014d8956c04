"""Warnings for deprecated names; docs/contributing.md states how long the names stay."""

from __future__ import annotations

import warnings


def warn_deprecated(name: str, instead: str, since: str, stacklevel: int = 2) -> None:
    """Warns that a public name is deprecated.

    Args:
        name: The deprecated name, such as ``"Conversion.left"``.
        instead: The replacement.
        since: The release that deprecated the name, such as ``"0.1"``; removal follows two minor releases later at the
            earliest.
        stacklevel: The number of calls from this one to the user's; 2 if the deprecated function makes this call.
    """
    major, minor = map(int, since.split("."))
    text = f"{name} is deprecated since padops {since} and goes in {major}.{minor + 2} at the earliest; use {instead}"
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)
