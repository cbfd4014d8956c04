"""``padops inspect --format``: each report is read by a reader of its own, and holds what its other readers demand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from command_lines import Cli, give
from inspected_models import MADE
from small_models import INT16, model, one_pad, pad, tensor
from test_cli_hostile import FILE, hostile

import padops
from padops.cli.inspect import NAMED
from padops.terminal import shown

NAMES = ("right", "refused", "broken", "wrong", "unsure", "unreadable")
FILES = [f"{name}.onnx" for name in NAMES]


def sarif_of(text: str) -> dict[str, Any]:
    """The run of a SARIF log, with all that GitHub's upload asks for (docs.github.com, SARIF support)."""
    log = json.loads(text)
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    assert urlsplit(log["$schema"]).path.endswith("/sarif-schema-2.1.0.json")
    (told,) = log["runs"]
    driver = told["tool"]["driver"]
    assert driver["name"] == "padops" and driver["version"] == padops.__version__
    for rule in driver["rules"]:
        assert re.fullmatch("[a-z-]+", rule["id"])
        for text_of in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(rule[text_of]["text"]) <= 1024
        assert rule["defaultConfiguration"]["level"] in ("error", "warning")
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in told["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"] == {"startLine": 1}
        assert re.fullmatch(r"[!#-;=?-Z_a-z~\[\]]+", physical["artifactLocation"]["uri"])  # letters of an URI
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in told["results"]]
    assert len(set(prints)) == len(prints)
    return told


def file_of(result: dict[str, Any]) -> str:
    return unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def test_sarif(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", *FILES, "--format", "sarif", "--check")
    assert (code, err.startswith("error: unreadable.onnx: not an ONNX model")) == (4, True)
    told = sarif_of(out)
    assert [(file_of(result), result["ruleId"], result["level"]) for result in told["results"]] == [
        ("refused.onnx", "pad-refused", "error"),
        ("broken.onnx", "pad-breaks-a-rule", "error"),
        ("wrong.onnx", "pad-wrong", "error"),
        ("unsure.onnx", "pad-unknown", "warning"),
        ("unreadable.onnx", "model-unreadable", "error"),
    ]
    assert told["invocations"] == [{"executionSuccessful": False}]
    refused, _, wrong, *_ = told["results"]
    assert refused["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "graph/p"}]
    (facts,) = padops.inspect("refused.onnx").pads
    help_line = next(iter(padops.inspect("refused.onnx").commands().values()))
    assert refused["message"]["text"] == f"graph/p: {facts.why}\nFix: {help_line}"
    assert "padops convert wrong.onnx --auto-pad explicit" in wrong["message"]["text"]
    told = sarif_of(cli("inspect", "right.onnx", "--format", "sarif")[1])
    assert (told["results"], told["invocations"]) == ([], [{"executionSuccessful": True}])


def test_a_finding_is_the_same_in_the_next_report(inspected: Path, cli: Cli) -> None:
    """Whatever else is inspected, and however the file is named: so CI tells old findings from new ones."""

    def prints(*names: object) -> list[str]:
        told = sarif_of(cli("inspect", *names, "--format", "sarif")[1])
        return [
            result["partialFingerprints"]["primaryLocationLineHash"]
            for result in told["results"]
            if file_of(result) == "refused.onnx"
        ]

    assert prints("refused.onnx") == prints(*FILES) == prints(inspected / "refused.onnx") != []


def test_two_pads_of_one_name_are_two_findings(tmp_path: Path, cli: Cli) -> None:
    nodes = [pad(["x", "pads"], name, name="twice", mode="reflect") for name in ("y", "z")]
    outputs = [("y", INT16, None), ("z", INT16, None)]
    made = model(nodes, 18, inputs=[("x", INT16, [4, 4])], outputs=outputs, tensors=[tensor("pads", [0, 1, 0, 1])])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    assert len(sarif_of(cli("inspect", tmp_path / "m.onnx", "--format", "sarif")[1])["results"]) == 2


def test_files_elsewhere_and_of_strange_names(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("a b%20#?:ü.onnx", "../there.onnx"):
        Path(name).write_bytes(one_pad(1).SerializeToString())
        (result,) = sarif_of(cli("inspect", name, "--format", "sarif")[1])["results"]
        assert file_of(result) == name
    there = tmp_path / "there.onnx"
    (result,) = sarif_of(cli("inspect", there, "--format", "sarif")[1])["results"]
    assert file_of(result) == there.as_uri()


def test_what_is_allowed_is_a_note(inspected: Path, cli: Cli) -> None:
    arguments = ("inspect", "refused.onnx", "unsure.onnx", "--check", "--allow", "unsure", "--format")
    code, out, _ = cli(*arguments, "sarif")
    assert (code, [result["level"] for result in sarif_of(out)["results"]]) == (3, ["error", "note"])
    _, out, _ = cli(*arguments, "github")
    assert [line.split()[0] for line in out.splitlines()[:2]] == ["::error", "::notice"]
    suites = ElementTree.fromstring(cli(*arguments, "junit")[1])
    assert (suites.get("failures"), suites.get("skipped")) == ("1", "1")


def test_junit(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", *FILES, "--format", "junit", "--check")
    assert (code, err.startswith("error: unreadable.onnx: not an ONNX model")) == (4, True)
    suites = ElementTree.fromstring(out)
    assert suites.attrib == {"name": "padops inspect", "tests": "6", "failures": "4", "errors": "1", "skipped": "0"}
    seen = {}
    for suite in suites:
        cases = suite.findall("testcase")
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
        assert suite.get("errors") == str(len(suite.findall("testcase/error")))
        (case,) = cases
        assert case.get("classname") == suite.get("name")
        outcome = next(iter(case), None)
        seen[suite.get("name")] = (case.get("name"), None if outcome is None else (outcome.tag, outcome.get("type")))
    assert seen == {
        "right.onnx": ("graph/p", None),
        "refused.onnx": ("graph/p", ("failure", "pad-refused")),
        "broken.onnx": ("graph/Pad_0", ("failure", "pad-breaks-a-rule")),
        "wrong.onnx": ("graph/pool", ("failure", "pad-wrong")),
        "unsure.onnx": ("graph/Pad_0", ("failure", "pad-unknown")),
        "unreadable.onnx": ("model-unreadable", ("error", "model-unreadable")),
    }
    (refused,) = padops.inspect("refused.onnx").pads
    assert suites[1][0][0].get("message") == refused.why


# --- what a workflow of GitHub reads: a line that begins with ::, as its runner takes it apart ------------------------


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    name, properties, text = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
    unescaped = {key: unescape(value) for key, value in (pair.split("=", 1) for pair in properties.split(","))}
    return name, unescaped, unescape(text)


def unescape(text: str) -> str:
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def test_github(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", *FILES, "--format", "github", "--check")
    assert (code, err) == (4, "")
    lines = out.splitlines()
    told = [read_command(line) for line in lines if line.startswith("::")]
    assert [(name, about["file"], about["title"]) for name, about, _ in told] == [
        ("error", "refused.onnx", "pad-refused"),
        ("error", "broken.onnx", "pad-breaks-a-rule"),
        ("error", "wrong.onnx", "pad-wrong"),
        ("warning", "unsure.onnx", "pad-unknown"),
        ("error", "unreadable.onnx", "model-unreadable"),
    ]
    assert told[0][2].startswith("graph/p: ") and "\nFix: " in told[0][2]
    assert lines[5:7] == ["padops inspect: right.onnx: 1 Pad: 1 run", "padops inspect: refused.onnx: 1 Pad: 1 refused"]
    assert lines[-1].startswith("padops inspect: unreadable.onnx: ")


def test_one_annotation_for_one_reason(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [pad(["x", "pads"], f"y{i}", name=f"pad{i}", mode="reflect") for i in range(NAMED + 1)]
    outputs = [(f"y{i}", INT16, None) for i in range(NAMED + 1)]
    made = model(nodes, 18, inputs=[("x", INT16, [4, 4])], outputs=outputs, tensors=[tensor("pads", [0, 1, 0, 1])])
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    monkeypatch.chdir(tmp_path)
    annotation, _ = cli("inspect", "m.onnx", "--format", "github")[1].splitlines()
    names = ", ".join(f"graph/pad{i}" for i in range(NAMED))
    assert read_command(annotation)[2].startswith(f"{names} and 1 more: ")


def test_names_are_no_commands(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model from somewhere else, in a pull request, sets no variable and masks no word."""
    monkeypatch.chdir(tmp_path)
    for name in ("::stop-commands::x.onnx", "##[add-mask]a.onnx", "a,title=b%0A::c.onnx", f"{FILE}.onnx"):
        Path(name).write_bytes(hostile(mode=f"{FILE}\n::error::x ##[add-mask]y").SerializeToString())
        lines = cli("inspect", name, "--format", "github")[1].splitlines()
        assert len(lines) == 2
        kind, about, text = read_command(lines[0])
        assert (kind, set(about), about["file"]) == ("error", {"file", "title"}, shown(name)), text
        assert lines[1].startswith("padops inspect: ") and "##[" not in lines[1]
    for form in ("sarif", "junit"):
        out = cli("inspect", ".", "--format", form)[1]
        assert len(sarif_of(out)["results"] if form == "sarif" else ElementTree.fromstring(out)) == 4


def test_a_model_from_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, MADE["refused"].SerializeToString())
    (result,) = sarif_of(cli("inspect", "-", "--format", "sarif")[1])["results"]
    assert file_of(result) == "-"
