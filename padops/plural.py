"""A count with its noun."""

from __future__ import annotations


def plural(count: int, one: str, form: str = "") -> str:
    """Returns a count with its noun, such as ``"2 models"``; ``form`` is the number's format, such as ``","``."""
    many = "axes" if one == "axis" else f"{one}s"
    return f"{count:{form}} {one if count == 1 else many}"
