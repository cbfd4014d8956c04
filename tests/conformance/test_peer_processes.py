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


def test_a_peer_that_reads_or_says_nothing(start: Start) -> None:
    for requests, closes, seconds, words in (
        (REQUESTS[1:], "", 2, "no answer within 2 s"),
        (REQUESTS[:1], "os.close(1);", LASTING, "the process closed its output"),
    ):
        program = f"import os, time; print({HELLO!r}, flush=True); {closes} time.sleep({LASTING})"
        peer, begin = start(program, seconds=seconds), time.monotonic()
        assert list(peer.ask(requests)) == [("crash", words)]
        assert time.monotonic() - begin < SOON
    peer = start(f"import time; time.sleep({LASTING})", seconds=1)
    with pytest.raises(AbsentPeer, match="did not start it: no answer within 1 s"):
        peer.start()
