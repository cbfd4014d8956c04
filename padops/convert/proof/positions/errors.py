"""The exceptions that end the evaluation of a term."""

from __future__ import annotations


class UnsureError(Exception):
    """The term's result is not known; the message says why."""


class FailsError(Exception):
    """The term fails for all data; the message says why."""
