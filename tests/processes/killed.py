"""Conversions that are ended in the middle: by a signal at a chosen step or moment, or by a limit; and several at once.

A process that has imported padops once forks for each of them, so that hundreds take seconds. It is this file, run as a
program: a request a line, a list of runs; an answer a line, how each ended.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What Python says that it is about to do to files; at each of these a run can be ended.
EVENTS = {"open", "os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir",
          "shutil.copymode", "shutil.rmtree"}  # fmt: skip
ENDING = {signal.SIGINT, signal.SIGTERM}


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    code: int  # its exit code, or minus the signal that killed it
    steps: int  # how many it made, where it was not killed
    seconds: float
    said: str


class Runner:
    def __enter__(self) -> Runner:
        command = [sys.executable, str(Path(__file__)), "serve"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, *arguments: object, **how: Any) -> Ended:
        """One run of the command.

        ``number`` is the signal to send: at ``step``, a number of ``EVENTS`` about paths that begin with ``below``, or
        after ``delay`` seconds. ``limit`` is how many bytes a file may have.
        """
        return self.run_together([arguments], **how)[0]

    def run_together(self, commands: list[tuple[object, ...]], **how: Any) -> list[Ended]:
        request = [{"arguments": [str(argument) for argument in command], **how} for command in commands]
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return [Ended(**answer) for answer in json.loads(self._process.stdout.readline())]


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below ``folder``, hidden ones included, and what the files hold."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def _serve() -> None:
    from padops import cli
    from padops.runtime.installed import versions

    versions()
    source = Path(__file__).parents[2] / "models" / "pad_18.onnx"
    cli.main(["convert", str(source), "--dry-run", "-q"])  # loads everything before the first fork
    gc.freeze()  # so that no fork copies everything when it looks for garbage
    for line in sys.stdin:
        started = [_start(how) for how in json.loads(line)]
        print(json.dumps([_wait(*one) for one in started]), flush=True)


def _start(how: dict[str, Any]) -> tuple[int, int, float, dict[str, Any]]:
    reading, writing = os.pipe()
    begin = time.monotonic()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            for stream in (1, 2):
                os.dup2(writing, stream)
            _be_run(how)
        finally:  # a signal came before or after the command, which then does not say how it ended
            os.kill(os.getpid(), signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    os.close(writing)
    return pid, reading, begin, how


def _wait(pid: int, reading: int, begin: float, how: dict[str, Any]) -> dict[str, Any]:
    if "delay" in how:
        time.sleep(max(0, begin + how["delay"] - time.monotonic()))
        os.kill(pid, how["number"])  # it is not waited for yet, so the number is still its own
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        said, _, steps = pipe.read().rpartition("steps ")
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {"code": code, "steps": int(steps or 0), "seconds": time.monotonic() - begin, "said": said}


def _be_run(how: dict[str, Any]) -> None:
    from padops import cli

    steps, ends = 0, how.get("step")

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        paths = (os.fsdecode(one) for one in arguments if isinstance(one, (str, bytes)))
        if event in EVENTS and any(path.startswith(how["below"]) for path in paths):
            steps += 1
            if steps == ends:
                os.kill(os.getpid(), how["number"])

    if "below" in how:
        sys.addaudithook(count)
    if "limit" in how:
        resource.setrlimit(resource.RLIMIT_FSIZE, (how["limit"], resource.RLIM_INFINITY))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        code = cli.main(how["arguments"])
    except SystemExit as end:
        code = end.code
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    sys.stdout.flush()
    os.write(1, f"steps {steps}".encode())
    os._exit(code)


if __name__ == "__main__":
    _serve()
