"""onnxruntime-web on WebGPU, in a headless Chromium: what is compared, and that nothing of the browser is left over."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import needs
import onnx
import pytest
from conformance_records import answers, quick

from padops.conformance import cases, lines
from padops.conformance.divergences import KNOWN
from padops.conformance.peers import PEERS, environments

STOCK, LOWERED = "onnxruntime-web-webgpu", "padops-for-web-webgpu"
PROGRAM = list(PEERS[STOCK].command)
IN_BROWSER = pytest.mark.needs_environment(STOCK)
PATIENCE = 60  # seconds
ON_WEBGPU = "table/Pad_13/constant/uint32/2/begin/plain/scalar/absent.flat/static/0"
WRONG = "table/Pad_19/wrap/int32/1/mixed-far/plain/scalar/absent.flat/fixed/1"
LEFT = "table/Pad_13/constant/uint8/4/end/plain/vector/absent.flat/held/0"


@IN_BROWSER
def test_both_are_as_known() -> None:
    for name, least in ((STOCK, 15), (LOWERED, 60)):
        ran = answers(name, quick()[::16], KNOWN)
        assert list(ran.handshake["versions"]) == ["onnxruntime-web", "chromium", "node"]
        assert [result for result in ran.results if result["unexpected"]] == []
        assert sum(result["outcome"] == "agree" for result in ran.results) > least


@IN_BROWSER
def test_only_what_webgpu_runs_is_compared() -> None:
    """A Pad that it leaves to WebAssembly is not run; of a lowered model, some nodes may be."""
    chosen = [cases.find_case(id) for id in (ON_WEBGPU, LEFT)]
    for name, expected in ((STOCK, ["agree", "unsupported"]), (LOWERED, ["agree", "agree"])):
        ran = answers(name, chosen, KNOWN)
        assert [result["outcome"] for result in ran.results] == expected
        details = " ".join(result["detail"] for result in ran.results)
        assert (name == STOCK) == ("fallback to CPU EP has been explicitly disabled" in details)


@pytest.mark.parametrize(("case", "kept"), [(ON_WEBGPU, True), (WRONG, False)])
def test_a_lowered_question_is_for_the_provider(case: str, kept: bool) -> None:
    """A Pad that WebGPU runs right stays one; one that it gets wrong does not."""
    row = PEERS[LOWERED]
    asked = json.loads(lines.question(row.prepared(cases.find_case(case)), row.lowered, row.provider))
    model = onnx.load_from_string(base64.b64decode(asked["model"]))
    assert {node.domain for node in model.graph.node} == {""}
    assert ("Pad" in {node.op_type for node in model.graph.node}) == kept


@IN_BROWSER
def test_without_chromium_it_is_absent(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert needs.IN_BROWSER == {STOCK, LOWERED} and needs.needs_of(request.node) == {STOCK, "chromium"}
    node = subprocess.run(["node", "-p", "process.execPath"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "node").symlink_to(node)
    ran = subprocess.run(
        PROGRAM, env={"PATH": str(tmp_path)}, cwd=environments() / STOCK, input="", capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "no Chromium is on the PATH" in json.loads(ran.stdout)["absent"]


def processes() -> list[tuple[int, int, str]]:
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,pgid=,args="], capture_output=True, text=True, check=True).stdout
    return [(int(pid), int(group), text) for pid, group, text in (line.split(None, 2) for line in listed.splitlines())]


def page(groups: set[int]) -> list[int]:
    return [pid for pid, group, text in processes() if group in groups and "--type=renderer" in text]


Ending = Callable[[subprocess.Popen, set], object]
ENDINGS: dict[str, tuple[Ending, int, str]] = {
    "its input ends": (lambda process, groups: None, 0, ""),
    "it is killed": (lambda process, groups: os.killpg(process.pid, signal.SIGKILL), -9, ""),
    "the page dies": (lambda process, groups: [os.kill(pid, 9) for pid in page(groups)], 70, "the page has ended"),
    "the browser dies": (lambda process, groups: [os.killpg(group, 9) for group in groups], 70, " has ended"),
    "the page hangs": (lambda process, groups: [os.kill(pid, signal.SIGSTOP) for pid in page(groups)], 70,
                       "within 2 s"),
}  # fmt: skip


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: the browser makes a socket below it, whose path has 108 characters at most."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@IN_BROWSER
@pytest.mark.parametrize("how", ENDINGS)
def test_nothing_is_left_over(how: str, folder: Path) -> None:
    end, code, words = ENDINGS[how]
    with subprocess.Popen(
        [*PROGRAM, "stock", "2" if "hangs" in how else "50"], cwd=environments() / STOCK, start_new_session=True,
        env={**os.environ, "TMPDIR": str(folder)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            assert json.loads(process.stdout.readline())["name"] == STOCK
            groups = {group for _, group, text in processes() if str(folder) in text}
            assert groups and process.pid not in groups and page(groups) and os.listdir(folder)
            end(process, groups)
            if code == 70:
                process.stdin.write(b'{"inputs": [], "model": ""}\n')
                process.stdin.flush()
            said = process.communicate(timeout=PATIENCE)[1].decode()
            assert process.returncode == code and said.strip().endswith(words), said
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until and (os.listdir(folder) or groups & {group for _, group, _ in processes()}):
                time.sleep(0.05)
            assert os.listdir(folder) == [] and not groups & {group for _, group, _ in processes()}
        finally:
            process.kill()
