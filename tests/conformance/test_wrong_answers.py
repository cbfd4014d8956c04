"""docs/divergences: scripts that stand alone, one for each class of wrong answer, and the list of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import chromium
import pytest

from padops.cli import main
from padops.conformance import cases, record, repro, runner
from padops.conformance.divergences import EXAMPLES, KNOWN
from padops.conformance.peers import PEERS, environments, python_of

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "divergences"
SCRIPTS = sorted(path for path in FOLDER.iterdir() if path.name != "README.md")
BY_ID = {row.id: row for row in KNOWN}
LIBRARIES = {"ort-builtin": "onnxruntime", "onnx-reference": "onnx", "openvino-1": "openvino",
             "openvino-12": "openvino",
             "openvino-onnx": "openvino"}  # fmt: skip


def test_the_list_names_every_script_and_each_is_known() -> None:
    listed = re.findall(r"^\| \[(\S+)\]\((\S+)\) \| (\S+) ", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert sorted(name for name, _, _ in listed) == [path.name for path in SCRIPTS]
    assert all(name == target for name, target, _ in listed)
    for path in SCRIPTS:
        assert repro.is_wrong_answer(BY_ID[path.stem]), path.name
    assert {BY_ID[path.stem].peer for path in SCRIPTS} >= {row.environment for row in PEERS.values() if row.isolated}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_stands_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^(import|from) padops", text, re.MULTILINE) and re.search(r"Seen in \S+ \d", text)
    assert BY_ID[path.stem].reason in " ".join(text.replace("\n// ", " ").split())
    if path.suffix == ".py":
        compile(text, path.name, "exec")


def marked(path: Path) -> object:
    peer = BY_ID[path.stem].peer
    needs = (
        pytest.mark.needs_environment(peer) if PEERS[peer].isolated else pytest.mark.needs(LIBRARIES.get(peer, peer))
    )
    return pytest.param(path, marks=[needs], id=path.name)


@pytest.mark.parametrize("path", [marked(path) for path in SCRIPTS])
def test_a_script_shows_a_wrong_answer(path: Path, tmp_path: Path) -> None:
    """An exit code of 1 for other bits; another one where the process dies of it."""
    row = BY_ID[path.stem]
    command, folder = [sys.executable], tmp_path
    if PEERS[row.peer].command:
        folder = environments() / row.peer
        command, path = ["node"], Path(shutil.copy(path, folder / path.name))
    elif PEERS[row.peer].isolated:
        command = [str(python_of(row.peer))]
    vulkan = environments() / row.peer / "debian" / "usr" / "lib" / "chromium"  # of ort-webgpu
    found = {}
    if vulkan.is_dir():
        found = {"LD_LIBRARY_PATH": str(vulkan), "VK_ICD_FILENAMES": str(vulkan / "vk_swiftshader_icd.json")}
    if row.peer == "onnxruntime-web-webgpu":
        found = {"CHROMIUM": chromium.find()}
    try:
        ran = subprocess.run(
            [*command, str(path)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, **found},
        )
    finally:
        if folder != tmp_path:
            path.unlink()
    assert ran.stdout.startswith("expected: "), ran.stderr
    died = ran.returncode not in (0, 1)
    # A crash may come once a wrong output has been printed, where memory is written that is not the output's.
    assert died or (ran.returncode == 1 and "different" in ran.stdout), ran.stdout + ran.stderr
    assert not died or "crash" in row.outcomes


def test_a_report_gives_the_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The smallest case of each class that the report has seen."""
    chosen = [cases.find_case(EXAMPLES[row.id]) for row in KNOWN if row.peer in ("onnx-reference", "ort-builtin")]
    peers = [runner.parse_peer(name) for name in ("onnx-reference", "ort-builtin")]
    ran = runner.run_cases(list({case.id: case for case in chosen}.values()), peers, KNOWN)
    results = [result for one in ran for result in one.results]
    record.write(tmp_path / "seen.jsonl", record.header("quick", 0, ran), results, record.footer(ran))
    out = tmp_path / "out"
    assert main(["conformance", "repros", str(tmp_path / "seen.jsonl"), "--out", str(out)]) == 0
    written = sorted(path.name for path in out.iterdir())
    assert capsys.readouterr().out.split() and {"README.md", "onnx-reference-string-fill.py"} <= set(written)
    assert (out / "README.md").read_text().count("\n| [") == len(written) - 1
    versions = ", ".join(f"{name} {version}" for name, version in ran[0].handshake["versions"].items())
    assert f"Seen in {versions}." in (out / "onnx-reference-string-fill.py").read_text()


def test_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("none.jsonl", "broken.jsonl"):
        (tmp_path / "broken.jsonl").write_text("{}\n")
        assert main(["conformance", "repros", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 1
        assert name in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
