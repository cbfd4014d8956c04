"""How the evaluation of one term ends where it gives nothing."""

from __future__ import annotations


class UnsureError(Exception):
    """It is not known what the term gives."""


class FailsError(Exception):
    """The term fails, whatever the data are."""
