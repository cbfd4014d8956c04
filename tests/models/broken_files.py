"""Runs commands on broken files, each in a child process with 10 s and 2 GB; no command may leave a file behind."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from mutation.runner import Mutant, Outcome, Server, tried


@cache
def server() -> Server:
    started = Server().__enter__()
    atexit.register(started.__exit__)
    return started


def ran(files: dict[str, bytes], *arguments: str) -> Outcome:
    """Runs ``padops convert``; nothing about how it ends may be wrong but the exit code."""
    outcome = tried(server(), Mutant("", files, ("convert", *arguments)))
    assert not outcome.harm, str(outcome)
    return outcome


def refusal(files: dict[str, bytes], *arguments: str, code: int = 1) -> str:
    """The error that a command prints, which is one and not long."""
    outcome = ran(files, *arguments, "-o", "out.onnx")
    assert outcome.code == code, outcome.said
    first, *listed = outcome.said.splitlines()
    assert first.startswith("error: ") and all(line.startswith("  ") for line in listed)
    assert len(outcome.said) < 1_000
    return outcome.said.removeprefix("error: ").rstrip("\n")


def short(value: Any) -> str | None:
    """Return a short id of a case, the same in each process: pytest hands it to children in the environment."""
    return None if callable(value) else ascii(value)[:40]
