"""Verification with processes that may die: execution providers, and the process that runs OpenVINO."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import stand_in_sessions
from command_lines import save
from provider_sessions import model, pad
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from terminals import LASTING, SOON, ends, is_there

import padops
from padops.convert import PadopsError, UsageError
from padops.convert.verify import openvino as peer
from padops.convert.verify import providers
from padops.convert.verify.sessions import DoesNotRun

CPU = "CPUExecutionProvider"
SAVED = "import os; from padops.convert.verify import providers as program; run = program._run\n"


def shifted(by: float) -> onnx.ModelProto:
    return model(f"""g (float[2, 3] x) => (float[a, b] y) <int64[4] p = {{0, 1, 0, 1}}, float c = {{{by:g}}}> {{
        [p] s = Pad <mode = "edge"> (x, p) y = Add (s, c) }}""")


def test_equal_close_and_different() -> None:
    """Every bit counts where no tolerance is given; ``test_the_command`` has that."""
    plain = model("g (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) z = Identity (x) }")
    found = padops.verify(shifted(0), padops.convert(shifted(0), fallback=False).proto(), providers=[CPU])
    assert (found.outcome, found.passed, len(found.inputs)) == ("equal", True, 4)
    runs = (("the original", "PadopsExecutionProvider"), ("the converted model", CPU))
    assert found.notes == tuple(
        f"{which}: {text}" for which, runner in runs
        for text in (f"a session of PadopsExecutionProvider, {CPU}", f"{runner} has graph/p"))  # fmt: skip
    found = padops.verify(shifted(0), shifted(1e-6), providers=[CPU], atol=1e-5)
    assert (found.outcome, found.notes[-1]) == ("close", "no element differs by more than 1e-05 + 0 of the element")
    found = padops.verify(plain, shifted(1e-3), providers=[CPU], rtol=1e-9)
    assert found.outcome == "different" and found.notes[0].endswith(f"{CPU}, and no Pad")


def test_given_inputs_and_options() -> None:
    given = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    for claim, outcome, inputs in (("needed", "equal", ("x: float[2, 3]",)), ("x", "undecided", ())):
        chosen = [("PadopsExecutionProvider", {"claim": claim}), CPU]
        found = padops.verify(shifted(0), shifted(0), given, providers=chosen)
        assert (found.outcome, found.inputs) == (outcome, inputs)


def test_a_model_that_does_not_run() -> None:
    broken = pad([-3, 4], "edge", 18, "float[2]")
    right = pad([1, 1], "edge", 18, "float[2]")
    found = padops.verify(broken, right, providers=[CPU])
    assert found.outcome == "runs" and "[P" in " ".join(found.notes), found
    found = padops.verify(right, broken, providers=[CPU])
    assert found.outcome == "fails" and not found.passed, found
    assert padops.verify(broken, broken, providers=[CPU]).outcome == "undecided"
    unheard = model("g (float[2, 3] x) => (float[a, b] y) { y = Relu (x) }")
    unheard.graph.node[0].op_type = "Unheard"
    found = padops.verify(shifted(0), unheard, providers=[CPU])
    assert found.outcome == "fails" and found.inputs and "does not run with these providers" in found.notes[-1]


def test_an_original_that_differs_from_itself() -> None:
    drawn = model("g (float[2] x) => (float[2] y) { r = RandomNormalLike (x) y = Add (r, x) }")
    found = padops.verify(drawn, drawn, providers=[CPU])
    changes = "y of the original changes from run to run: only types and shapes are compared"
    assert found.outcome == "runs" and found.notes[-1].endswith(changes)


@pytest.mark.parametrize(("given", "text"), [
    ("CPUExecutionProvider", "providers is a str, expected a list of names"),
    (3, "providers is an int, expected a list of names"),
    ([], "providers is empty, expected names such as 'CPUExecutionProvider'"),
    ([3], "providers has 3, expected a name, or a pair of a name and options"),
    ([(CPU, 3)], r"providers has \('CPUExecutionProvider', 3\), expected a name, or a pair of a name and options"),
    (["None", CPU], rf"onnxruntime {onnxruntime.__version__} has no provider None here; it has .*{CPU}"),
])  # fmt: skip
def test_wrong_providers(given: object, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        padops.verify(shifted(0), shifted(0), providers=given)  # type: ignore[arg-type]


def test_a_provider_that_onnxruntime_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime drops a provider that it cannot create, without an error, where it knows the name."""
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", CPU])
    left_out = f"onnxruntime has left CUDAExecutionProvider out of the session, which has .*{CPU}"
    with pytest.raises(PadopsError, match=left_out):
        padops.verify(shifted(0), shifted(0), providers=["CUDAExecutionProvider", CPU])


def test_processes_that_die(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "PROGRAM", ("-c", "import os; os.abort()"))
    found = padops.verify(shifted(0), shifted(0), providers=[CPU])
    died = "the original does not run with these providers: the process has died (SIGABRT)"
    assert (found.outcome, found.notes[0]) == ("undecided", died)
    dies = "program._run = lambda session, feeds: os.abort() if session.get_outputs()[0].shape[0] == 4 else run"
    dies = f"{SAVED}{dies}(session, feeds)\nprogram.serve(program._answering())"
    monkeypatch.setattr(providers, "PROGRAM", ("-c", dies))
    found = padops.verify(pad([1, 1], "edge", 18, "float[1]"), pad([1, 1], "edge", 18, "float[2]"), providers=[CPU])
    assert found.outcome == "fails" and "the process has died (SIGABRT)" in found.notes[-1]


def test_a_process_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "SECONDS", 0.5)
    monkeypatch.setattr(providers, "PROGRAM", ("-c", "import time; time.sleep(60)"))
    found = padops.verify(shifted(0), shifted(0), providers=[CPU])
    assert found.outcome == "undecided" and "the process gave no answer within 0.5 s" in found.notes[0]


def test_an_ir(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(PAD_IR)
    (tmp_path / "m.bin").write_bytes(PAD_IR_WEIGHTS)
    with pytest.raises(UsageError, match="both models run in ONNX Runtime, which runs only ONNX models"):
        padops.verify(tmp_path / "m.xml", shifted(0), providers=[CPU])


def test_the_command(cli: Callable[..., Any], tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{by}.onnx", shifted(by)) for by in (0, 1e-6)]
    for more, code, headline in (
        ([], 4, "different: the outputs differ"),
        (["--atol", "1e-5", "--strict"], 5, "tested: the outputs differ by rounding"),
    ):
        exit_code, out, _ = cli("verify", *paths, "--providers", CPU, *more)
        assert (exit_code, out.splitlines()[0]) == (code, headline)
        assert "the original: PadopsExecutionProvider has graph/p" in out


LIBRARY = """
import json, sys
import onnxruntime, padops
onnxruntime.register_execution_provider_library("QNNExecutionProvider", sys.argv[1])
chosen = [("QNNExecutionProvider", {"one": "1"}), "CPUExecutionProvider"]
found = padops.verify(sys.argv[2], sys.argv[2], providers=chosen)
print(json.dumps([found.outcome, *found.notes]))
"""


def test_a_provider_of_a_library(tmp_path: Path) -> None:
    """Child processes register the provider as this one does; onnxruntime drops one that is only named."""
    source = model("""g (float[2, 4] x) => (float[a, b] y) <int64[4] p = {0, 1, 0, 2}> {
        a = Relu (x) [q] b = Pad <mode = "edge"> (a, p) y = Relu (b) }""")
    command = [sys.executable, "-c", LIBRARY, stand_in_sessions.stand_in(), save(tmp_path / "model.onnx", source)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3_000:]
    outcome, session, runner, *_ = json.loads(ran.stdout)
    assert outcome == "equal"
    assert session.startswith("the original: a session of PadopsFirstExecutionProvider, QNNExecutionProvider")
    assert runner == "the original: PadopsFirstExecutionProvider has graph/q"


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


@pytest.mark.parametrize(("request_", "refusal"), [
    ("raise RuntimeError('there is\\n no such layer')", "there is no such layer"),
    ("os.abort()", "OpenVINO has died (SIGABRT)"),
])  # fmt: skip
def test_a_child_of_openvino_keeps_nobody_waiting(tmp_path, monkeypatch, request_, refusal):
    """A package in the place of OpenVINO does something at the first request."""
    folder, begin = tmp_path / "openvino", time.monotonic()
    folder.mkdir()
    (folder / "__init__.py").write_text(FORKS.replace("REQUEST", request_))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.syspath_prepend(tmp_path)  # for find_spec
    monkeypatch.setattr(peer, "SECONDS", SOON)
    with closing(peer.openvino_process(Path("model.xml"), [])) as process:
        for _ in range(2):
            with pytest.raises(DoesNotRun, match=f"^{re.escape(refusal)}$"):
                process.run({})
        child = int((folder / "child").read_text())
    assert time.monotonic() - begin < LASTING
    assert ends(child) and not is_there(process._pipes.process.pid)
