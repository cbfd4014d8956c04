"""The rules of one session: of a plugin's version, and of a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import onnx
import onnxruntime
import pytest
from provider_sessions import CPU, pad, providers_of_pads, recording_options
from test_provider_in_front import WEBGPU

import padops
from padops.runtime.provider import FIRST_NAME, register_provider_library
from padops.runtime.provider_rules import BY_NAME, KNOWN_PROVIDERS
from padops.runtime.session_rules import as_options, of_plugin, rules_with

FURTHER, CROPPED = pad([9, 0], "wrap", 19, "float[4]"), pad([-1, 2], "wrap", 19, "float[4]")


def takes(content: onnx.ModelProto, options: dict[str, str]) -> bool:
    """Whether padops takes the Pad in front, with these options."""
    chosen = recording_options()
    chosen.add_provider_for_devices([register_provider_library()[FIRST_NAME]], options)
    built = onnxruntime.InferenceSession(content.SerializeToString(), chosen, enable_fallback=0)
    return FIRST_NAME in providers_of_pads(built)


@pytest.mark.parametrize(
    ("version", "is_mended"),
    [("", False), ("0.3.9", False), ("0.4.0", True), ("0.4.0.dev20260101", True), ("0.10.0", True), ("1.0", True)],
)
def test_the_version_of_a_plugin(version: str, is_mended: bool) -> None:
    """WebGPU's plugin wraps further than the data are long; it is wrong about a wrap of a crop, like the built-in."""
    row = of_plugin(BY_NAME[WEBGPU], version)
    assert (row is BY_NAME[WEBGPU]) is not is_mended
    options = {"before": WEBGPU, **as_options([row])}
    assert len(options) == (1 + 1 + len(row.rules) if is_mended else 1)
    assert takes(FURTHER, options) is not is_mended
    assert takes(CROPPED, options)


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_rules_as_options_are_those_of_the_library(row) -> None:
    other = replace(row, name="Other", file="of a test")
    options = {"before": "Other", **as_options([other])}
    for mode in ("constant", "edge", "reflect", "wrap"):
        for amounts in ([1, 1], [9, 0], [-1, 2], [-4, 0]):
            for kind, opset in (("float[4]", 19), ("int32[n]", 19), ("float[4]", 25)):
                content = pad(amounts, mode, opset, kind)
                assert takes(content, options) is takes(content, {"before": row.name}), (mode, amounts, kind, opset)
    assert not takes(FURTHER, {"before": "Other"})


@pytest.mark.parametrize(
    "text", ["", "wrong;always;;0;;0;", "wrong;never;;0;;0", "right;always;;0;;0", "wrong;always;;x;;0"]
)
def test_options_that_are_no_rules(text: str) -> None:
    with pytest.raises(Exception, match="option rule.001 is '.*', which is no rule"):
        takes(FURTHER, {"before": "Other", "rule.000": "Other;", "rule.001": text})
    with pytest.raises(Exception, match="option rule.000 is 'wrong;always;;0;;0', which is no rule"):
        takes(FURTHER, {"before": "Other", "rule.000": "wrong;always;;0;;0"})


RULES = {"names": ["Other"], "version": "1.0", "sources": {"default": "read: a test"}, "rules": []}
RULE = {"does": "wrong", "when": "always"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([], ": expected an object with the rules of a provider"),
        ({"name": "Other"}, ': "name" is unknown; expected one of: names, version, sources, rules, fuses'),
        ({"names": ["Other"]}, ': "version" is missing'),
        (RULES | {"rules": [{"does": "wrong"}]}, ', rule 1: "when" is missing'),
        (RULES | {"rules": [RULE, RULE | {"befor": 25}]}, ', rule 2: "befor" is unknown; expected one of: does, when'),
        (RULES | {"rules": [RULE | {"does": "fails"}]}, ', rule 1, does: "fails" is unknown; expected one of: leaves'),
        (RULES | {"rules": [RULE | {"when": "never"}]}, ', rule 1, when: "never" is unknown; expected one of: always'),
        (RULES | {"rules": [RULE | {"source": "x"}]}, ', rule 1, source: "x" is unknown; expected one of: default'),
    ],
)
def test_wrong_files(content: object, told: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError) as raised:
        rules_with(file)
    assert str(raised.value).startswith(f"{file}{told}")


def test_rules_of_a_session() -> None:
    session = padops.InferenceSession(FURTHER.SerializeToString(), providers=[CPU])
    assert session.padops_rules == {}  # the CPU's are not asked when a session is created
    with pytest.raises(ValueError, match=r"rules needs onnxruntime 1\.24 or newer, and providers with the one that"):
        padops.InferenceSession(FURTHER.SerializeToString(), rules="rules.json")
