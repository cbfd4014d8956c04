"""The process that runs OpenVINO: what stands in for OpenVINO here forks, hangs and dies as that does now and then."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from leftovers import LASTING, SOON, ends, is_there

from padops.convert.verify import openvino as peer
from padops.convert.verify.sessions import DoesNotRun

# What OpenVINO's telemetry does at its import: a copy of the process, which holds its pipes, and may never end.
FORKS = f"""
import os, threading, time
from pathlib import Path

def fork():
    child = os.fork()
    if not child:
        time.sleep({LASTING})
        os._exit(0)
    Path(__file__).with_name("child").write_text(str(child))

thread = threading.Thread(target=fork)
thread.start()
thread.join()

class Core:
    def compile_model(self, *arguments):
        REQUEST
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a package into the place of OpenVINO that does something at the first request; gives its folder."""

    def make(request: str) -> Path:
        folder = tmp_path / "openvino"
        folder.mkdir()
        (folder / "__init__.py").write_text(FORKS.replace("REQUEST", request))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        return folder

    monkeypatch.syspath_prepend(tmp_path)  # for find_spec
    return make


REQUESTS = [
    ("raise RuntimeError('there is\\n no such layer')", "there is no such layer"),
    ("os.abort()", "OpenVINO has died (SIGABRT)"),
]


@pytest.mark.parametrize(("request_", "refusal"), REQUESTS)
def test_a_child_of_openvino_keeps_nobody_waiting(stand_in, monkeypatch, request_, refusal):
    monkeypatch.setattr(peer, "SECONDS", SOON)
    folder, begin = stand_in(request_), time.monotonic()
    with closing(peer.openvino_process(Path("model.xml"), [])) as process:
        for _ in range(2):
            with pytest.raises(DoesNotRun, match=f"^{re.escape(refusal)}$"):
                process.run({})
        child = int((folder / "child").read_text())
    assert time.monotonic() - begin < LASTING
    assert ends(child) and not is_there(process._pipes.process.pid)
