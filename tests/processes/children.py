"""Answers that may end the process that gives them: a fork gives them, one line of JSON each; and servers of such."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MODELS = Path(__file__).resolve().parents[1] / "models"
RAISED = 70


def in_child(answers: Iterator[Any], seconds: int, memory: int) -> tuple[list[Any], str]:
    """Return a fork's answers, each within so many seconds, and how it ended if it ended too early."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = RAISED
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the alarm is the kernel's: no Python need run for it
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            signal.alarm(seconds)
            for answer in answers:
                os.write(writing, json.dumps(answer).encode() + b"\n")
                signal.alarm(seconds)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as answered:
        lines = [json.loads(line) for line in answered if line.endswith("\n")]
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        return lines, f"no end within {seconds} s"
    return lines, "" if status == 0 else signal.Signals(-status).name if status < 0 else f"exit code {status}"


def each_in_child(
    answer: Callable[[Any], Any], asked: Sequence[Any], seconds: int, memory: int
) -> Iterator[tuple[Any, str]]:
    """Yield a fork's answer to each question; for one that ended the fork, None and how, and a new fork goes on."""
    done = 0
    while done < len(asked):
        found, ended = in_child(map(answer, asked[done:]), seconds, memory)
        yield from ((one, "") for one in found)
        done += len(found)
        if done < len(asked):
            yield None, ended
            done += 1


def asked_of(program: str, variables: Mapping[str, str], given: bytes = b"", *arguments: object) -> Any:
    """The lines of JSON that a program of this folder prints; one that dies is an error."""
    path = [variables.get("PYTHONPATH"), str(MODELS), os.environ.get("PYTHONPATH")]
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    command = [sys.executable, str(Path(__file__).with_name(program)), *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr.decode()[-4000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]
