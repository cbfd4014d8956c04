"""The page names every implementation that is known to give wrong answers."""

from __future__ import annotations

from pathlib import Path

from padops.conformance.divergences import KNOWN, Divergence
from padops.conformance.peers import PEERS


def is_wrong_answer(divergence: Divergence) -> bool:
    """Whether somebody should mend it: it is no refusal, and no other reading of the text (P3)."""
    silent = "differ" in divergence.outcomes and divergence.expected != "error"
    wrong = silent or "crash" in divergence.outcomes
    return wrong and divergence.rule != "P3" and PEERS[divergence.peer].stands_alone


def test_the_page_names_every_implementation_that_is_wrong() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "conformance.md").read_text(encoding="utf-8")
    table = page.partition("## Wrong answers")[2].partition("\n## ")[0].lower()
    wrong = {row.peer for row in KNOWN if is_wrong_answer(row)}
    names = {
        "ort-builtin": "onnxruntime 1.",
        "onnx-reference": "onnx.reference",
        "onnxruntime-web-webgpu": "its webgpu",
    }
    names |= {f"openvino-{form}": "openvino 20" for form in ("1", "12", "onnx")}
    names |= {f"ort-{provider}": f"onnxruntime-{provider}" for provider in ("openvino", "qnn", "webgpu")}
    assert wrong and {peer for peer in wrong if names.get(peer, peer) not in table} == set()
