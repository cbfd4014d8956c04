"""Processes that leave pipes open, do not read them, or do not end: nothing waits for them without a limit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from terminals import FORKS, FORKS_APART, LASTING, SOON, ends, is_there

from padops import processes
from padops.processes import LateError, Pipes

ROOT = Path(__file__).resolve().parents[1]
SLEEPS = f"import time; time.sleep({LASTING})"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Pipes]]:
    """Starts a program; what the test then does takes less time than what holds the pipes lives."""
    monkeypatch.setattr(processes, "ENDING", 0.5)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    begin, pipe = time.monotonic(), subprocess.PIPE
    yield lambda program: Pipes(
        subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, start_new_session=True)
    )
    assert time.monotonic() - begin < SOON


def line(questions: IO[bytes], answers: IO[bytes]) -> bytes:
    return answers.readline()


def rest(questions: IO[bytes], answers: IO[bytes]) -> bytes:
    return answers.read()


def test_a_child_that_holds_the_pipe_ends_with_the_process(start):
    pipes = start(FORKS)
    child = int(pipes.within(SOON, line))
    assert is_there(child)
    assert pipes.within(SOON, rest) == b""  # though nobody has closed the child's end
    assert ends(child)
    pipes.end()


def test_a_child_ends_with_a_process_that_still_runs(start):
    pipes = start(FORKS + f"time.sleep({LASTING})")
    child = int(pipes.within(SOON, line))
    pipes.end()
    assert ends(child)
    assert pipes.process.stdin.closed and pipes.process.stdout.closed


def test_a_child_in_a_session_of_its_own_is_not_waited_for(start):
    pipes = start(FORKS_APART)
    child = int(pipes.within(SOON, line))
    try:
        for _ in range(2):  # the second time, the thread that reads is still there
            with pytest.raises(EOFError):
                pipes.within(SOON, rest)
        pipes.end()
        assert is_there(child)
    finally:
        os.kill(child, 9)


def test_no_answer_in_time(start):
    pipes = start(SLEEPS)
    with pytest.raises(LateError, match=r"^no answer within 0\.2 s$"):
        pipes.within(0.2, line)
    assert pipes.process.wait(SOON) < 0
    with pytest.raises((EOFError, BrokenPipeError)):
        pipes.within(SOON, lambda questions, answers: (questions.write(b"x"), questions.flush(), answers.read(1)[0]))
    pipes.end()


def test_a_question_that_nobody_reads(start):
    pipes = start(SLEEPS)
    with pytest.raises(LateError):
        pipes.within(0.2, lambda questions, answers: questions.write(bytes(1 << 20)))
    pipes.end()


OWN_PIPES = """
from padops.processes import own_pipes
questions, answers = own_pipes()
import multiprocessing, os, sys, threading

def fork():
    copy = multiprocessing.get_context("fork").Process(target=print, args=("printed",))
    copy.start()
    copy.join()  # its first act is to close sys.stdin
    answers.write(b"copied\\n" + os.read(0, 9))
    answers.flush()

threading.Timer(0.2, fork).start()
questions.read()
"""


def test_a_copy_made_in_a_thread_does_not_wait_for_who_reads_the_questions(start):
    pipes = start(OWN_PIPES)
    assert pipes.within(SOON, line) == b"copied\n"
    pipes.end()
