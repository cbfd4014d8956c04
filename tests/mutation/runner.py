"""Runs mutants and judges what the command did with them.

A command may refuse a file, or convert it. It may not end by an exception that is no PadopsError, by a signal, for lack
of memory or after its time; and where it fails, the folder holds what was there before and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")
EXIT_CODES = {0, 1, 2, 3, 4, 5}
SAYS_WHAT_WAS_FOUND = {0, 3, 4, 5}  # exit codes with which a report is written


@dataclass(frozen=True)
class Mutant:
    """One command over files of which at least one is wrong."""

    label: str  # what was done to which base, such as ``tokens.onnx: dims of initializer 'pads' -> [3]``
    files: dict[str, bytes]  # by name; they are put into a fresh folder
    arguments: tuple[str, ...]  # of the command line, relative to the folder


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant."""

    mutant: Mutant
    code: int | None  # the exit code; None where a signal or an exception ended the command
    said: str  # what it printed as an error
    harm: str  # what is wrong with that, or empty

    def __str__(self) -> str:
        said = "\n    ".join(self.said.strip().splitlines()[-12:])
        return f"{self.harm}\n  {self.mutant.label}\n  {' '.join(self.mutant.arguments)}\n    {said}"


class Server:
    """A process of ``server.py``."""

    def __enter__(self) -> Server:
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, str(SERVER)], env=environment, text=True, **pipes)
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def tried(server: Server, mutant: Mutant) -> Outcome:
    """Runs one mutant in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as root:
        folder, temporary = Path(root, "folder"), Path(root, "temporary")
        folder.mkdir()
        temporary.mkdir()
        for name, content in mutant.files.items():
            (folder / name).write_bytes(content)
        request = {"folder": str(folder), "temporary": str(temporary), "arguments": mutant.arguments}
        answer = server.ask(request)
        harm = _harm(**answer) or _harm_to_files(mutant, folder, answer["code"], answer["said"])
        if not harm and (left := [path.name for path in temporary.iterdir()]):
            harm = f"left behind in the temporary folder: {left}"
    return Outcome(mutant, answer["code"], answer["said"], harm)


def _harm(code: int | None, ended: str, said: str) -> str:
    """What is wrong with how a command ended, or an empty text."""
    if "Traceback (most recent call last)" in said:
        return f"an exception: {said.strip().splitlines()[-1]}"
    if ended:
        return f"it was ended: {ended}"
    if code not in EXIT_CODES:
        return f"the exit code is {code}"
    if code == 1 and not said.strip():
        return "it failed without a word"
    return ""


def _harm_to_files(mutant: Mutant, folder: Path, code: int, said: str) -> str:
    """What is wrong with the files that a command left, or an empty text."""
    found = {path.name: path for path in folder.iterdir()}
    report = _value(mutant.arguments, "--report") if code in SAYS_WHAT_WAS_FOUND else None
    output = _value(mutant.arguments, "-o")
    if code == 0 and output is not None and output not in found:
        return f"the exit code is 0, but there is no {output}"
    written = {report}
    if code == 0 or code == 5 and "; wrote " in said:  # 5: the converted model runs, and nothing could be compared
        written = {name for name in found if not name.startswith(".")}
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
