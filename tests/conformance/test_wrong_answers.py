"""``padops conformance repros``: scripts that stand alone, one for each class of wrong answer, and their list."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from padops.cli import main
from padops.conformance import cases, record, repro, runner
from padops.conformance.divergences import EXAMPLES, KNOWN


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
    shown = out / "onnx-reference-string-fill.py"
    text = shown.read_text()
    assert f"Seen in {versions}." in text and not re.search(r"^(import|from) padops", text, re.MULTILINE)
    assert {row.id: row.reason for row in KNOWN}[shown.stem] in " ".join(text.split())
    done = subprocess.run([sys.executable, shown], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout[:10]) == (1, "expected: "), done.stderr


def test_the_page_names_every_implementation_that_is_wrong() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
    table = page.partition("## Wrong answers")[2].partition("\n## ")[0].lower()
    wrong = {row.peer for row in KNOWN if repro.is_wrong_answer(row)}
    names = {
        "ort-builtin": "onnxruntime 1.",
        "onnx-reference": "onnx.reference",
        "onnxruntime-web-webgpu": "its webgpu",
    }
    names |= {f"openvino-{form}": "openvino 20" for form in ("1", "12", "onnx")}
    names |= {f"ort-{provider}": f"onnxruntime-{provider}" for provider in ("openvino", "qnn", "webgpu")}
    assert wrong and {peer for peer in wrong if names.get(peer, peer) not in table} == set()


def test_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("none.jsonl", "broken.jsonl"):
        (tmp_path / "broken.jsonl").write_text("{}\n")
        assert main(["conformance", "repros", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 1
        assert name in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
