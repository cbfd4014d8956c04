"""The rules of one session: of a plugin's version, of a file, and those that were measured for the user."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
from cpp_builds import ROOT
from provider_sessions import CPU, model, pad, providers_of_pads
from test_provider_in_front import MODES, WEBGPU, of_each_provider, session

import padops
from padops.runtime import chosen, placing, provider_rules
from padops.runtime.installed import processor
from padops.runtime.placing import in_front_of
from padops.runtime.provider import FIRST_NAME
from padops.runtime.provider_rules import BY_NAME, KnownProvider, of_plugin, rules_with

FURTHER, CROPPED = pad([9, 0], "wrap", 19, "float[4]"), pad([-1, 2], "wrap", 19, "float[4]")


def takes(content: onnx.ModelProto, options: dict[str, str]) -> bool:
    """Whether padops takes the Pad in front, with these options."""
    return FIRST_NAME in providers_of_pads(session(content, (FIRST_NAME, options)))


def test_the_library_evaluates_every_condition() -> None:
    code = (ROOT / "padops" / "csrc" / "core" / "provider_rules.cpp").read_text(encoding="utf-8")
    assert [when for when in provider_rules.CONDITIONS if f'when == "{when}"' not in code] == []


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


@of_each_provider
def test_a_file_says_what_the_library_knows(row: KnownProvider, tmp_path: Path) -> None:
    """In a folder that is not in ASCII."""
    file = tmp_path / "Größe" / "rules.json"
    file.parent.mkdir()
    content = json.loads((ROOT / row.file).read_text(encoding="utf-8"))
    file.write_text(json.dumps(content | {"names": ["Another", "Other"], "note": '"\\ \u00e9\U0001f600\n'}))
    options = in_front_of({"Other": ""}, rules_with(file))
    assert options == {"before": "Other", "rules": str(file)}
    for mode in MODES:
        for amounts in ([1, 1], [9, 0], [-1, 2], [-4, 0]):
            for kind, opset in (("float[4]", 19), ("int32[n]", 19), ("float[4]", 25)):
                content = pad(amounts, mode, opset, kind)
                assert takes(content, options) is takes(content, {"before": row.name}), (mode, amounts, kind, opset)
    assert not takes(FURTHER, {"before": "Other"})


RULES = {"names": ["Other"], "version": "1.0", "sources": {"default": "read: a test"}, "rules": []}
RULE = {"does": "wrong", "when": "always"}


@pytest.mark.parametrize(("content", "told"), [
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
])  # fmt: skip
def test_wrong_files(content: object, told: str, tmp_path: Path) -> None:
    """Python and the library say the same."""
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError) as raised:
        rules_with(file)
    assert str(raised.value).startswith(f"{file}{told}")
    with pytest.raises(Exception, match=re.escape(f"{FIRST_NAME}: option rules: {raised.value}")):
        takes(FURTHER, {"before": "Other", "rules": str(file)})


@pytest.mark.parametrize(("content", "told"), [
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
    (json.dumps(RULES | {"names": ["Elsewhere"]}).encode(), "has rules for none of the providers that option before"),
])  # fmt: skip
def test_files_that_the_library_refuses(content: bytes, told: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_bytes(content)
    for path, why in ((file, told), (tmp_path / "gone.json", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(Exception, match=re.escape(f"{FIRST_NAME}: option rules: {path}: {why}")):
            takes(FURTHER, {"before": "Other", "rules": str(path)})
    if "JSON" in told:
        with pytest.raises(ValueError, match=re.escape(f"{file}: expected JSON: ")):
            rules_with(file)


@pytest.mark.parametrize(("when", "count", "taken"), [
    ("axes but all", 1, True), ("axes but all", 2, True),  # 2 axes of rank 2 may name one axis twice
    ("axes turned", 0, False), ("axes turned", 1, False), ("axes turned", 2, True),
])  # fmt: skip
def test_computed_axes(when: str, count: int, taken: bool, tmp_path: Path) -> None:
    """The number of amounts is known, and with it the number of axes; a rule that may apply counts."""
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(RULES | {"rules": [RULE | {"when": when}]}))
    amounts = f"int64[{2 * count}] p = {{{', '.join('1' * 2 * count)}}}"
    graph = f"g (float[2, 3] x, int64[{count}] axes) => (float[a, b] y) <{amounts}> {{ y = Pad (x, p, , axes) }}"
    assert takes(model(graph), {"before": "Other", "rules": str(file)}) is taken


def test_rules_of_a_session(tmp_path: Path) -> None:
    content, file = FURTHER.SerializeToString(), tmp_path / "rules.json"
    # The CPU's are not asked when a session is created.
    assert padops.InferenceSession(content, providers=[CPU]).padops_rules == {}
    with pytest.raises(ValueError, match=r"rules= needs onnxruntime 1\.24 or newer, and the rules' provider"):
        padops.InferenceSession(content, rules="rules.json")
    with pytest.raises(ValueError, match="rules are given, but no providers"):
        padops.register(onnxruntime.SessionOptions(), provider=True, rules="rules.json")
    file.write_text(json.dumps(RULES))
    said = re.escape(f"{file} has rules for Other, but not for {CPU}")
    with pytest.raises(ValueError, match=said):
        padops.InferenceSession(content, providers=[CPU], rules=file)
    with pytest.raises(ValueError, match=said):
        padops.register(onnxruntime.SessionOptions(), provider=True, providers=[CPU], rules=file)


# --- measured for the user: where they are, when they are used, and what is said when they are not -------------------

NAME, CUDA = "OtherExecutionProvider", "CUDAExecutionProvider"
DEVICE = {"onnxruntime": "1.32.0", "plugin": "0.4.0", "devices": ["GPU of nobody"]}
CONTENT = {"names": [NAME], "version": "onnxruntime 1.32.0, plugin 0.4.0", "sources": {"default": "measured: a test"},
           "measured": DEVICE | {"processor": processor(), "options": {"a": "1"}},
           "rules": [{"does": "wrong", "when": "always"}]}  # fmt: skip
ONE = chosen.Chosen(NAME, {"a": 1})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder; the provider is there."""
    monkeypatch.setenv("PADOPS_RULES", str(tmp_path))
    monkeypatch.setattr(chosen, "described", lambda one: dict(DEVICE))
    monkeypatch.setattr(chosen, "available", lambda: {NAME, CPU})
    provider_rules.warn_once.cache_clear()
    return tmp_path


def write(folder: Path, content: Any) -> Path:
    file = folder / f"{NAME}.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_who_finds_them(folder: Path) -> None:
    """A session, by its options, and inspect."""
    assert provider_rules.with_measured(BY_NAME, [ONE]) == BY_NAME
    file = write(folder, CONTENT)
    rules = provider_rules.with_measured(BY_NAME, [ONE])
    assert (rules[NAME].file, rules[NAME].version) == (str(file), CONTENT["version"])
    first = next(one for one in placing.with_padops([ONE], None, rules) if one.name == FIRST_NAME)
    assert first.options == {"before": NAME, "rules": str(file)}
    given = {**BY_NAME, NAME: rules[NAME]}  # those of a file that the caller names
    assert provider_rules.with_measured(given, [ONE])[NAME] is given[NAME]
    write(folder, CONTENT | {"measured": CONTENT["measured"] | {"options": {}}})
    inspection = padops.inspect(pad([1, 1], "edge", 18, "float[4]"), providers=[NAME, CPU])
    assert (inspection.pads[0].verdict, inspection.pads[0].runner) == ("wrong", FIRST_NAME)
    assert f"the rules of {NAME} are those in {file} ({CONTENT['version']})" in inspection.notes


@pytest.mark.parametrize(("content", "why"), [
    ("{", "expected JSON"),
    (CONTENT | {"rules": [{}]}, 'rule 1: "does" is missing'),
    (CONTENT | {"names": [CUDA]}, f"they are of other providers; padops probe {NAME} --option a=1 measures anew"),
    *((CONTENT | {"measured": CONTENT["measured"] | {name: "x"}}, f"{name} was 'x' when they were measured, and is")
      for name in CONTENT["measured"]),
])  # fmt: skip
def test_they_do_not_fit(content: Any, why: str, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write(folder, content)
    for _ in range(2):
        assert provider_rules.with_measured(BY_NAME, [ONE]) == BY_NAME
    (said,) = caplog.messages
    assert said.startswith(f"the rules in {file} are not used: ") and why in said
    assert caplog.records[0].levelno == logging.WARNING


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, given = tmp_path / "home", str(tmp_path / "given")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("APPDATA", "XDG_CONFIG_HOME", "PADOPS_RULES"):
        monkeypatch.delenv(name, raising=False)
    for platform, variables, where in (
        ("linux", {}, home / ".config"),
        ("darwin", {}, home / "Library/Application Support"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, home / ".config"),  # it is to be ignored
        ("linux", {"XDG_CONFIG_HOME": given}, Path(given)),
        ("win32", {"APPDATA": given}, Path(given)),
    ):
        monkeypatch.setattr("sys.platform", platform)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert provider_rules.file_of(NAME) == where / "padops" / "rules" / f"{NAME}.json"
    monkeypatch.setenv("PADOPS_RULES", "")
    assert provider_rules.file_of(NAME) is None
