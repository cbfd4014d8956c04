"""A file of rules in place of padops' own: ``padops inspect`` and ``padops convert --for`` follow it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from provider_sessions import CPU, pad

import padops
from padops.cli import main
from padops.runtime.provider import FIRST_NAME

VITIS, CUDA = "VitisAIExecutionProvider", "CUDAExecutionProvider"
REFLECT, EDGE = pad([1, 1], "reflect", 18, "float[4]"), pad([1, 1], "edge", 18, "float[4]")
CONTENT = {
    "names": [VITIS, CUDA],
    "version": "1.4",
    "sources": {"default": "measured: my model"},
    "rules": [{"does": "wrong", "when": "always", "modes": ["reflect"]}],
}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A file of rules."""
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(CONTENT), encoding="utf-8")
    return file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A model with a reflect Pad."""
    file = tmp_path / "model.onnx"
    file.write_bytes(REFLECT.SerializeToString())
    return file


@pytest.mark.parametrize("provider", [VITIS, CUDA])
def test_verdicts(rules: Path, provider: str) -> None:
    for model, verdict, runner in ((REFLECT, "wrong", FIRST_NAME), (EDGE, "runs", provider)):
        (found,) = padops.inspect(model, providers=[provider, CPU], rules=rules).pads
        assert (found.verdict, found.runner) == (verdict, runner)


def test_the_session_that_helps_has_the_rules(rules: Path) -> None:
    inspection = padops.inspect(REFLECT, providers=[VITIS], rules=rules)
    assert inspection.commands()["session"].endswith(f'providers=["{VITIS}"], rules="{rules}")')
    assert inspection.to_json()["rules"] == str(rules)


def test_commands(rules: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = source.with_name("out.onnx")
    assert main(["inspect", str(source), "--check", "--providers", "vitisai", "--rules", str(rules)]) == 4
    assert f"{VITIS} gets it wrong (mode reflect: any)" in capsys.readouterr().out
    written = ["convert", str(source), str(out), "--target", "onnx", "--for", "VitisAI", "--rules", str(rules)]
    assert main(written) == 0
    assert [found.operator for found in padops.inspect(out).pads] == ["Concat"]


COMMANDS = {"inspect": ["--providers"], "convert": ["--dry-run", "--target", "onnx", "--for"], "run": ["--providers"]}
OF_ANOTHER = f"has rules for {VITIS}, {CUDA}, and for none of WebGpuExecutionProvider\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_file(command: str, rules: Path, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file without a provider; a file of another provider, none, or a broken one."""
    *options, names = COMMANDS[command]
    assert main([command, str(source), *options, "--rules", str(rules)]) == 2
    assert "--rules needs" in capsys.readouterr().err
    wrong = json.dumps(CONTENT | {"rules": [{"does": "no", "when": "always"}]})
    for content, provider, said in (
        (json.dumps(CONTENT), "webgpu", OF_ANOTHER),
        (None, "cuda", "does not exist\n"),
        ("{", "cuda", "expected JSON: "),
        ("[]", "cuda", "expected an object with the rules of a provider"),
        (wrong, "cuda", '"no" is unknown; expected one of'),
    ):
        rules.unlink(missing_ok=True)
        if content is not None:
            rules.write_text(content, encoding="utf-8")
        assert main([command, str(source), *options, names, provider, "--rules", str(rules)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"error: --rules: {rules}") and said in error
