"""Runs mutants and judges what the command did with them.

A command may refuse a file, or convert it. It may not end by an exception that is no PadopsError, by a signal, for lack
of memory or after its time; and where it fails, the folder holds what was there before and nothing else.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from .mutant import Mutant

SERVER = Path(__file__).with_name("server.py")
EXIT_CODES = {0, 1, 2, 3, 4, 5}
SAYS_WHAT_WAS_FOUND = {0, 3, 4, 5}  # exit codes with which a report is written
JOBS = 2


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant.

    Attributes:
        seed: Of the mutants.
        number: Of this one among them; both make it again.
        mutant: The mutant.
        code: The exit code; the negative number of the signal that ended the command.
        seconds: How long it took.
        said: What it printed as an error.
        harm: What is wrong with that, or empty.
    """

    seed: int
    number: int
    mutant: Mutant
    code: int
    seconds: float
    said: str
    harm: str

    def __str__(self) -> str:
        said = "\n    ".join(self.said.strip().splitlines()[-12:])
        command = " ".join(self.mutant.arguments)
        return f"seed {self.seed}, number {self.number}: {self.harm}\n  {self.mutant.label}\n  {command}\n    {said}"


def outcomes(
    draw: Callable[[int], Iterator[Mutant]], seed: int, count: int, only: int | None = None, jobs: int = JOBS
) -> Iterator[Outcome]:
    """Runs ``count`` mutants, in the order in which they are drawn.

    Args:
        draw: Makes the mutants of a seed, without an end.
        seed: See there.
        count: How many.
        only: The number of the one to run; None for all.
        jobs: How many at once.
    """
    numbered = islice(enumerate(draw(seed)), count if only is None else only + 1)
    chosen = [(i, mutant) for i, mutant in numbered if only is None or i == only]
    with ExitStack() as stack:
        free: queue.Queue[_Server] = queue.Queue()
        for _ in range(min(jobs, len(chosen))):
            free.put(stack.enter_context(_Server()))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))

        def run(row: tuple[int, Mutant]) -> Outcome:
            server = free.get()
            try:
                return _try(server, seed, *row)
            finally:
                free.put(server)

        yield from pool.map(run, chosen)


def harmed(found: Iterable[Outcome]) -> list[Outcome]:
    """Those that must not be."""
    return [outcome for outcome in found if outcome.harm]


class _Server:
    """A process of ``server.py``."""

    def __enter__(self) -> _Server:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _try(server: _Server, seed: int, number: int, mutant: Mutant) -> Outcome:
    """Runs one mutant in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as root:
        folder, temporary = Path(root, "folder"), Path(root, "temporary")
        folder.mkdir()
        temporary.mkdir()
        for name, content in mutant.files.items():
            (folder / name).write_bytes(content)
        request = {"folder": str(folder), "temporary": str(temporary), "arguments": mutant.arguments}
        answer = server.ask(request)
        harm = _harm(answer, mutant) or _harm_to_files(answer, mutant, folder)
        if not harm and (left := [path.name for path in temporary.iterdir()]):
            harm = f"left behind in the temporary folder: {left}"
    return Outcome(seed, number, mutant, answer["code"], answer["seconds"], answer["said"], harm)


def _harm(answer: dict[str, Any], mutant: Mutant) -> str:
    """What is wrong with how a command ended, or an empty text."""
    code, said = answer["code"], answer["said"]
    if answer["late"] or code == -signal.SIGXCPU:
        return f"it did not end within {answer['seconds']:.0f} s"
    if code < 0:
        return f"it was ended by {signal.Signals(-code).name}"
    if "Traceback (most recent call last)" in said:
        return f"an exception: {said.strip().splitlines()[-1]}"
    if code not in EXIT_CODES:
        return f"the exit code is {code}"
    if code == 1 and not said.strip():
        return "it failed without a word"
    return ""


def _harm_to_files(answer: dict[str, Any], mutant: Mutant, folder: Path) -> str:
    """What is wrong with the files that a command left, or an empty text."""
    code, said = answer["code"], answer["said"]
    found = {path.name: path for path in folder.iterdir()}
    report = _value(mutant.arguments, "--report") if code in SAYS_WHAT_WAS_FOUND else None
    if code == 0:
        output = _value(mutant.arguments, "-o")
        if output is not None and output not in found:
            return f"the exit code is 0, but there is no {output}"
        written = {name for name in found if not name.startswith(".")}
    elif code == 5 and "; wrote " in said:  # the converted model runs, and nothing could be compared with it
        written = {name for name in found if not name.startswith(".")}
    else:
        written = {report}
    if extra := found.keys() - mutant.files.keys() - written:
        return f"left behind: {sorted(extra)}"
    for name, content in mutant.files.items():
        replaced = code in (0, 5) and "--in-place" in mutant.arguments
        if not replaced and (name not in found or found[name].read_bytes() != content):
            return f"{name} is no longer what it was"
    return ""


def _value(arguments: tuple[str, ...], option: str) -> str | None:
    """What stands behind an option."""
    return arguments[arguments.index(option) + 1] if option in arguments else None
