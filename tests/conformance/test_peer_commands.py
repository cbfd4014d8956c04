"""Peers in other languages: the protocol of docs/conformance.md, what breaks it, and processes that misbehave."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import lines_peer
import ml_dtypes
import needs
import numpy as np
import onnx
import pytest
from conformance_records import answers, quick
from terminals import LASTING, SOON, ends

from padops import processes
from padops.cli import main
from padops.conformance import cases, lines, runner
from padops.conformance.arrays import pack
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import PEERS, Peer, environments
from padops.conformance.peers.request import Request
from padops.conformance.runner import AbsentPeer, Process

ROOT = Path(__file__).resolve().parents[2]


def command(behaviour: str) -> str:
    return shlex.join([sys.executable, lines_peer.__file__, behaviour])


def results(behaviour: str, chosen: Sequence[Request], **more: Any) -> list[dict[str, Any]]:
    peer = runner.parse_command(command(behaviour))
    assert peer.name == "lines" and peer.families == ("onnx",)
    ran = answers(replace(peer, **more), chosen)
    assert ran.handshake["versions"] == {"lines": "1.0"}
    return ran.results


def test_a_command_is_a_peer() -> None:
    for behaviour, outcome in (("right", "agree"), ("wrong", "differ")):
        found = {result["outcome"] for result in results(behaviour, quick()[::24])}
        assert found | {"agree"} == {"agree", outcome, "unsupported"}
    chosen = [case for case in quick() if case.op in ("Pad_18", "Pad_19", "Pad_21")][::20]
    found = results("crash", chosen)
    crashed = [result for result in found if result["outcome"] == "crash"]
    assert len(found) == len(chosen), "a crash is not the end"
    assert [result["case"] for result in crashed] == [case.id for case in chosen if case.op == "Pad_19"]
    assert crashed and all("SIGABRT" in row["detail"] and "out of luck" in row["detail"] for row in crashed)
    found = results("garbled", [case for case in quick() if case.op == "Pad_18"][: len(lines_peer.GARBLED)])
    assert {result["outcome"] for result in found} == {"error"}
    assert all(re.match("a line that is|an answer with|an output that is not a tensor", r["detail"]) for r in found)


def test_what_the_converter_refuses_is_not_asked() -> None:
    """The program says of every case with work to do that it is too much for it."""
    names = ("specification/Pad_11/example-2/float",
             "table/OpenVINOPad_12/reflect/float8e5m2/3/crop/empty/none/int16.int32/held/1",
             "table/Pad_2/wrap/float/2/both/plain/none/absent.flat/dynamic/0")  # P9  # fmt: skip
    ran = results("right", [*map(cases.find_case, names)], lowered=True, families=("onnx", "openvino"))
    found = [(result["outcome"], re.sub(r"opset \d+", "opset N", result["detail"])) for result in ran]
    no_model = ("unsupported", "no standard operator of opset N copies float8e5m2 without changing bits")
    assert found == [("unsupported", "work"), no_model, ("agree", "")]


HELLO = {"padops": 1, "name": "x", "versions": {"x": "1"}}
WRONG = {"padops": [2], "name": [""], "versions": [{}, {"x": 1}], "families": [["onnx", "other"], [], "onnx"]}
NO_HELLO = [{**HELLO, key: value} for key, values in WRONG.items() for value in values]


def test_a_first_line_that_does_not_say_who() -> None:
    for said in NO_HELLO:
        with pytest.raises(lines.GarbledAnswer, match="the first line has"):
            lines.receive_hello(io.BytesIO(json.dumps(said).encode() + b"\n"))
    for line in lines_peer.GARBLED:
        with pytest.raises(lines.GarbledAnswer):
            lines.receive_answer(io.BytesIO(line.encode() + b"\n"))


def test_a_command_that_is_no_peer(capsys: pytest.CaptureFixture[str]) -> None:
    for text, why in ((" ", "names no program"),
                      ("/no/such/program x", "No such file"),
                      ("'unbalanced", "No closing quotation"),
                      (command("silent"), "did not start the peer"),
                      (command("absent"), "no such library")):  # fmt: skip
        assert main(["conformance", "--quick", "--peer-command", text]) == 2
        assert why in capsys.readouterr().err
    assert main(["conformance", "--quick", *["--peer-command", command("right")] * 2]) == 2
    assert "two peers are called 'lines'" in capsys.readouterr().err


def test_arrays_go_there_and_back() -> None:
    """The cases of the next test have all types, strings with NUL and without ASCII, and arrays without elements."""
    floats = np.array([[1, -0.0, np.nan], [np.inf, 1e-45, 3]], np.float32)
    for array in (floats, np.array(7), np.array([-8, 7, 1], ml_dtypes.int4)):
        assert lines._packed(json.loads(json.dumps(lines.tensor(array)))) == pack(array)


def test_every_question_is_json_and_says_what_the_page_says() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    rows = re.search(r"\*\*Then the program gets the cases\*\*.*?(\| key.*?)\n\n", page, re.DOTALL)[1]
    described = {name for row in rows.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    for case in quick()[::15]:
        asked = json.loads(lines.question(case))
        assert asked.keys() == described
        assert json.loads(json.dumps(asked, allow_nan=False)) == asked
        assert (asked["model"] is None) == (case.opset == 0)
        given = [array for array in case.inputs if array is not None]
        assert [lines._packed(tensor) for tensor in asked["inputs"]] == [pack(array) for array in given]

    case = cases.find_case("table/Pad_18/constant/float/2/mixed/plain/scalar/some.flat/static/0")
    asked = json.loads(lines.question(case))
    assert [begin for begin, _, _ in asked["amounts"]] != [0, 0] and asked["fill"]["shape"] == []
    broken = cases.find_case("table/Pad_18/constant/int32/2/crop/empty/scalar/repeated.flat/held/0")
    assert json.loads(lines.question(broken))["amounts"] is None


@pytest.mark.needs_environment("onnxruntime-web")
def test_a_peer_answers_as_a_command_too() -> None:
    """The command is the example of docs/conformance.md."""
    program = PEERS["onnxruntime-web"].command[1]
    inside = f"cd {shlex.quote(str(environments() / 'onnxruntime-web'))} && exec node {program}"
    command = runner.parse_command(f"sh -c {shlex.quote(inside)}")
    ran, same = (answers(peer, quick()[::96], KNOWN).results for peer in ("onnxruntime-web", command))
    bits = {result["case"]: (result["outcome"], result["divergence"]) for result in ran}
    assert {result["case"]: (result["outcome"], result["divergence"]) for result in same} == bits
    assert "agree" in {outcome for outcome, _ in bits.values()}


# --- processes that leave pipes open, do not read, or do not end: each request is answered in time -------------------

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
        program = f"import os, time; print({json.dumps(HELLO)!r}, flush=True); {closes} time.sleep({LASTING})"
        peer, begin = start(program, seconds=seconds), time.monotonic()
        assert list(peer.ask(requests)) == [("crash", words)]
        assert time.monotonic() - begin < SOON
    peer = start(f"import time; time.sleep({LASTING})", seconds=1)
    with pytest.raises(AbsentPeer, match="did not start the peer: no answer within 1 s"):
        peer.start()


# --- onnxruntime-web on WebGPU, in a headless Chromium: nothing of the browser is left over --------------------------

STOCK, LOWERED = "onnxruntime-web-webgpu", "padops-for-web-webgpu"
PROGRAM = list(PEERS[STOCK].command)
IN_BROWSER = pytest.mark.needs_environment(STOCK)
PATIENCE = 60  # seconds
ON_WEBGPU = "table/Pad_13/constant/uint32/2/begin/plain/scalar/absent.flat/static/0"


@IN_BROWSER
def test_only_what_webgpu_runs_is_compared() -> None:
    """A Pad that it leaves to WebAssembly is not run; of a lowered model, some nodes may be."""
    left = "table/Pad_13/constant/uint8/4/end/plain/vector/absent.flat/held/0"
    chosen = [*map(cases.find_case, (ON_WEBGPU, left))]
    for name, expected in ((STOCK, ["agree", "unsupported"]), (LOWERED, ["agree", "agree"])):
        ran = answers(name, chosen, KNOWN)
        assert [result["outcome"] for result in ran.results] == expected
        assert list(ran.handshake["versions"]) == ["onnxruntime-web", "chromium", "node"]
        details = " ".join(result["detail"] for result in ran.results)
        assert (name == STOCK) == ("fallback to CPU EP has been explicitly disabled" in details)


@pytest.mark.parametrize(("case", "provider", "kept"), [
    ("specification/Pad_11/example-2/float", "", False),
    ("specification/OpenVINOPad_12/negative-edge/float", "", False),
    (ON_WEBGPU, PEERS[LOWERED].provider, True),
    ("table/Pad_19/wrap/int32/1/mixed-far/plain/scalar/absent.flat/fixed/1", PEERS[LOWERED].provider, False),
])  # fmt: skip
def test_a_lowered_question(case: str, provider: str, kept: bool) -> None:
    """A Pad that WebGPU runs right stays one. An operator that ONNX does not have has no model that is not lowered."""
    row, sent = PEERS[LOWERED], cases.find_case(case)
    asked = json.loads(lines.question(row.prepared(sent) if provider else sent, row.lowered, provider))
    model = onnx.load_from_string(base64.b64decode(asked["model"]))
    assert [value.name for value in model.graph.output] == ["output"]
    assert {node.domain for node in model.graph.node} == {""}
    assert ("Pad" in {node.op_type for node in model.graph.node}) == kept
    plain = json.loads(lines.question(sent))["model"]
    assert plain is None or b"Pad" in base64.b64decode(plain)


@IN_BROWSER
def test_without_chromium_it_is_absent(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert needs.IN_BROWSER == {STOCK, LOWERED} and needs.needs_of(request.node) == {STOCK, "chromium"}
    node = subprocess.run(["node", "-p", "process.execPath"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "node").symlink_to(node)
    ran = subprocess.run(PROGRAM, env={"PATH": str(tmp_path)}, cwd=environments() / STOCK, input="",
                         capture_output=True, text=True, timeout=PATIENCE, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "no Chromium is on the PATH" in json.loads(ran.stdout)["absent"]


def running() -> list[tuple[int, int, str]]:
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,pgid=,args="], capture_output=True, text=True, check=True).stdout
    return [(int(pid), int(group), text) for pid, group, text in (line.split(None, 2) for line in listed.splitlines())]


def page(groups: set[int]) -> list[int]:
    return [pid for pid, group, text in running() if group in groups and "--type=renderer" in text]


ENDINGS: dict[str, tuple[Callable[[subprocess.Popen, set], object], int, str]] = {
    "its input ends": (lambda process, groups: None, 0, ""),
    "it is killed": (lambda process, groups: os.killpg(process.pid, signal.SIGKILL), -9, ""),
    "the page dies": (lambda process, groups: [os.kill(pid, 9) for pid in page(groups)], 70, "the page has ended"),
    "the browser dies": (lambda process, groups: [os.killpg(group, 9) for group in groups], 70, " has ended"),
    "the page hangs": (lambda process, groups: [os.kill(pid, signal.SIGSTOP) for pid in page(groups)], 70,
                       "within 2 s"),
}  # fmt: skip


@IN_BROWSER
@pytest.mark.parametrize("how", ENDINGS)
def test_nothing_is_left_over(how: str) -> None:
    """The folder has a short name: the browser makes a socket below it, whose path has 108 characters at most."""
    end, code, words = ENDINGS[how]
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
        [*PROGRAM, "stock", "2" if "hangs" in how else "50"], cwd=environments() / STOCK, start_new_session=True,
        env={**os.environ, "TMPDIR": folder}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert json.loads(process.stdout.readline())["name"] == STOCK
            groups = {group for _, group, text in running() if folder in text}
            assert groups and process.pid not in groups and page(groups) and os.listdir(folder)
            end(process, groups)
            if code == 70:
                process.stdin.write(b'{"inputs": [], "model": ""}\n')
                process.stdin.flush()
            said = process.communicate(timeout=PATIENCE)[1].decode()
            assert process.returncode == code and said.strip().endswith(words), said
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and (os.listdir(folder) or groups & {group for _, group, _ in running()}):
                time.sleep(0.05)
            assert os.listdir(folder) == [] and not groups & {group for _, group, _ in running()}
        finally:
            process.kill()
