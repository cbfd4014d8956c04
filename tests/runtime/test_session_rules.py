"""The rules of one session: of a plugin's version, and of a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import onnx
import onnxruntime
import pytest
from cpp_builds import ROOT
from provider_sessions import CPU, pad, providers_of_pads, recording_options
from test_provider_in_front import WEBGPU

import padops
from padops.runtime.placing import in_front_of, register_provider_library
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import BY_NAME, KNOWN_PROVIDERS, KnownProvider, of_plugin, rules_with

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
    options = in_front_of({WEBGPU: version}, BY_NAME)
    assert options == {"before": f"{WEBGPU} {version}".rstrip()}
    assert takes(FURTHER, options) is not is_mended
    assert takes(CROPPED, options)


@pytest.mark.parametrize("row", KNOWN_PROVIDERS, ids=lambda row: row.name)
def test_a_file_says_what_the_library_knows(row: KnownProvider, tmp_path: Path) -> None:
    """In a folder that is not in ASCII."""
    file = tmp_path / "Größe" / "rules.json"
    file.parent.mkdir()
    content = json.loads((ROOT / row.file).read_text(encoding="utf-8"))
    file.write_text(json.dumps(content | {"names": ["Another", "Other"], "note": '"\\ \u00e9\U0001f600\n'}))
    options = in_front_of({"Other": ""}, rules_with(file))
    assert options == {"before": "Other", "rules": str(file)}
    for mode in ("constant", "edge", "reflect", "wrap"):
        for amounts in ([1, 1], [9, 0], [-1, 2], [-4, 0]):
            for kind, opset in (("float[4]", 19), ("int32[n]", 19), ("float[4]", 25)):
                content = pad(amounts, mode, opset, kind)
                assert takes(content, options) is takes(content, {"before": row.name}), (mode, amounts, kind, opset)
    assert not takes(FURTHER, {"before": "Other"})


RULES = {"names": ["Other"], "version": "1.0", "sources": {"default": "read: a test"}, "rules": []}
RULE = {"does": "wrong", "when": "always"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([], ": expected an object with the rules of a provider"),
        ({"name": "Other"}, ': "name" is unknown; expected one of: names, version, sources, rules, fuses'),
        ({"names": ["Other"]}, ': "version" is missing'),
        (RULES | {"version": 1}, ", version: expected a string"),
        (RULES | {"names": "Other"}, ", names: expected a list of strings"),
        (RULES | {"fuses": "yes"}, ", fuses: expected true or false"),
        (RULES | {"sources": []}, ", sources: expected an object"),
        (RULES | {"rules": {}}, ", rules: expected a list of objects"),
        (RULES | {"rules": [1]}, ", rules: expected a list of objects"),
        (RULES | {"rules": [{"does": "wrong"}]}, ', rule 1: "when" is missing'),
        (RULES | {"rules": [RULE, RULE | {"befor": 25}]}, ', rule 2: "befor" is unknown; expected one of: does, when'),
        (RULES | {"rules": [RULE | {"before": 2.5}]}, ", rule 1, before: expected a whole number"),
        (RULES | {"rules": [RULE | {"limit": True}]}, ", rule 1, limit: expected a whole number"),
        (RULES | {"rules": [RULE | {"types": ["float", 1]}]}, ", rule 1, types: expected a list of strings"),
        (RULES | {"rules": [RULE | {"does": "fails"}]}, ', rule 1, does: "fails" is unknown; expected one of: leaves'),
        (RULES | {"rules": [RULE | {"when": "never"}]}, ', rule 1, when: "never" is unknown; expected one of: always'),
        (RULES | {"rules": [RULE | {"source": "x"}]}, ', rule 1, source: "x" is unknown; expected one of: default'),
        (RULES | {"rules": [RULE | {"modes": ["warp"]}]}, ', rule 1, modes: "warp" is unknown; expected one of: const'),
    ],
)
def test_wrong_files(content: object, told: str, tmp_path: Path) -> None:
    """Python and the library say the same."""
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError) as raised:
        rules_with(file)
    assert str(raised.value).startswith(f"{file}{told}")
    with pytest.raises(Exception, match=re.escape(f"{FIRST_NAME}: option rules: {raised.value}")):
        takes(FURTHER, {"before": "Other", "rules": str(file)})


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "expected JSON: line 1: expected a value"),
        (b'{\n"names": [tru', "expected JSON: line 2: expected a value"),
        (b'{"names": []\n"version"', "expected JSON: line 2: expected , or }"),
        (b'{"names" []}', "expected JSON: line 1: expected :"),
        (b"{names: []}", "expected JSON: line 1: expected a key in quotes"),
        (b'["a\nb"]', "expected JSON: line 1: expected the end of a string, or"),
        (b'["a', "expected JSON: line 1: expected the end of a string, or"),
        (b'["\\u12"]', "expected JSON: line 1: expected a character that \\ may stand before"),
        (b'["\\', "expected JSON: line 1: expected a character that \\ may stand before"),
        (b"[] 1", "expected JSON: line 1: expected the end"),
        (b"[" * 100_000, "expected JSON: line 1: expected fewer levels"),
        (b" " * (1 << 20) + b"1", "has more than 1048576 bytes"),
        (
            json.dumps(RULES | {"names": ["Elsewhere"]}).encode(),
            "has rules for none of the providers that option before",
        ),
    ],
)
def test_files_that_the_library_refuses(content: bytes, told: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_bytes(content)
    with pytest.raises(Exception, match=re.escape(f"{FIRST_NAME}: option rules: {file}: {told}")):
        takes(FURTHER, {"before": "Other", "rules": str(file)})
    if "JSON" in told:
        with pytest.raises(ValueError, match=re.escape(f"{file}: expected JSON: ")):
            rules_with(file)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "gone.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(Exception, match=re.escape(f"{FIRST_NAME}: option rules: {path}: {why}")):
            takes(FURTHER, {"before": "Other", "rules": str(path)})


def test_rules_of_a_session() -> None:
    session = padops.InferenceSession(FURTHER.SerializeToString(), providers=[CPU])
    assert session.padops_rules == {}  # the CPU's are not asked when a session is created
    with pytest.raises(ValueError, match=r"rules needs onnxruntime 1\.24 or newer, and the rules' provider"):
        padops.InferenceSession(FURTHER.SerializeToString(), rules="rules.json")
    options = onnxruntime.SessionOptions()
    with pytest.raises(ValueError, match="rules are given, but no providers"):
        padops.register(options, provider=True, rules="rules.json")


def test_rules_of_none_of_the_providers(tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(RULES))
    said = re.escape(f"{file} has rules for Other, and for none of {CPU}")
    with pytest.raises(ValueError, match=said):
        padops.InferenceSession(FURTHER.SerializeToString(), providers=[CPU], rules=file)
    with pytest.raises(ValueError, match=said):
        padops.register(onnxruntime.SessionOptions(), provider=True, providers=[CPU], rules=file)
