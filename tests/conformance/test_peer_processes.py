"""Peer processes that leave pipes open, do not read, or do not end: each request is answered within its limit."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from leftovers import LASTING, SOON, ends

from padops import processes
from padops.conformance.peers import Peer
from padops.conformance.peers.request import Request
from padops.conformance.runner import AbsentPeer, Process

HELLO = '{"padops": 1, "name": "x", "versions": {"x": "1"}}'
REQUESTS = [
    Request("", "Pad_18", 18, {}, (np.zeros(shape, np.float32), np.zeros(4, np.int64)), (), True)
    for shape in ((2, 1), (2, 1 << 17))  # the second does not fit into a pipe
]
Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """A peer that a program is, in the protocol of lines, or a function of Python."""
    monkeypatch.setattr(processes, "ENDING", 1)
    begun: list[Process] = []

    def start(program: str, seconds: float = SOON, function: bool = False) -> Process:
        (path := tmp_path / "own.py").write_text(textwrap.dedent(program))
        if function:
            row = Peer("own", f"{path}:pad", ("onnx",), seconds=seconds)
        else:
            row = Peer("own", "", ("onnx",), seconds=seconds, command=(sys.executable, str(path)))
        begun.append(Process(row))
        return begun[-1]

    yield start
    for process in begun:
        process.close(last=True)


def test_a_copy_that_holds_the_pipe_does_not_hide_that_the_peer_has_died(start: Start, tmp_path: Path) -> None:
    peer = start(
        f"""
        import os, time

        def pad(op, attributes, inputs):
            child = os.fork()
            if not child:
                time.sleep({LASTING})
                os._exit(0)
            open({str(tmp_path / "child")!r}, "w").write(str(child))
            os._exit(3)
        """,
        LASTING,
        function=True,
    )
    begin = time.monotonic()
    assert list(peer.ask(REQUESTS[:1])) == [("crash", "the process ended with code 3")]
    assert time.monotonic() - begin < LASTING
    assert ends(int((tmp_path / "child").read_text()))


def test_a_copy_that_is_made_in_a_thread_is_not_waited_for(start: Start) -> None:
    peer = start(
        """
        import multiprocessing, threading
        import numpy as np

        ended = threading.Event()

        def fork():
            copy = multiprocessing.get_context("fork").Process(target=int)
            copy.start()
            copy.join()  # its first act is to close sys.stdin, which this process reads from
            ended.set()

        threading.Timer(0.5, fork).start()

        def pad(op, attributes, inputs):
            if not ended.wait(10):
                raise ValueError("the copy is still there")
            return np.float32(7)
        """,
        LASTING,
        function=True,
    )
    peer.start()
    time.sleep(1)  # until the copy is made, while the process waits for the first case
    ((kind, answer),) = peer.ask(REQUESTS[:1])
    assert kind == "output", answer


def test_a_peer_that_reads_nothing(start: Start) -> None:
    peer = start(f"import time; print({HELLO!r}, flush=True); time.sleep({LASTING})", seconds=2)
    begin = time.monotonic()
    assert list(peer.ask(REQUESTS[1:])) == [("crash", "no answer within 2 s")]
    assert time.monotonic() - begin < SOON


def test_a_peer_that_closes_its_output_and_lives_on(start: Start) -> None:
    peer = start(f"import os, time; print({HELLO!r}, flush=True); os.close(1); time.sleep({LASTING})", seconds=LASTING)
    begin = time.monotonic()
    assert list(peer.ask(REQUESTS[:1])) == [("crash", "the process closed its output")]
    assert time.monotonic() - begin < SOON


def test_a_peer_that_says_nothing(start: Start) -> None:
    peer = start(f"import time; time.sleep({LASTING})", seconds=1)
    with pytest.raises(AbsentPeer, match="did not start it: no answer within 1 s"):
        peer.start()
