"""``padops inspect``: what it prints as text, as JSON and for programs, and what it exits with."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import onnx
import pytest
from command_lines import FILE, MODELS, Cli, give, hostile, save
from inspected_models import MADE
from onnx import helper
from small_models import FLOAT, INT16, external, model, one_pad, pad, tensor

import padops
from padops.cli.inspect import KINDS, NAMED, RULES
from padops.convert.records import RUNNING, SCHEMA, Verdict
from padops.runtime.provider import FIRST_MINOR, runtime_minor
from padops.terminal import shown

ROADS = ["session" if runtime_minor() >= FIRST_MINOR else "memory", "convert", "lower"]
CODES = {"right": 0, "refused": 3, "broken": 3, "wrong": 4, "unsure": 5, "unreadable": 1}  # of --check
FILES = [f"{name}.onnx" for name in CODES]
FINDINGS = [("refused.onnx", "pad-refused", "error"),
            ("broken.onnx", "pad-breaks-a-rule", "error"),
            ("wrong.onnx", "pad-wrong", "error"),
            ("unsure.onnx", "pad-unknown", "warning"),
            ("unreadable.onnx", "model-unreadable", "error")]  # fmt: skip

# --- one model --------------------------------------------------------------------------------------------------------


def test_a_model_that_is_refused(cli: Cli) -> None:
    path = MODELS / "int16.onnx"
    code, out, err = cli("inspect", path)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{path}: 1 Pad: 1 refused (onnxruntime")
    assert lines[1:7] == ["", "graph/padded_pad  refuses",
                          "  Pad (opset 18): reflect, int16 [1, samples] → [1, ?], axis 1: 4 before, 4 after",
                          "  ONNX Runtime has no Pad of int16 at opset 18", "", "Fixes, best first:"]  # fmt: skip
    assert f"  padops convert {path} -o OUT.onnx" in lines


def test_a_model_that_runs(cli: Cli) -> None:
    code, out, _ = cli("inspect", MODELS / "pad_02.onnx", "--check")
    assert (code, "Fixes" in out) == (0, False)
    code, out, _ = cli("inspect", MODELS / "pad_02.onnx", "--select", "needed")
    assert (code, "graph/" in out) == (0, False)
    assert out.startswith(f"{MODELS / 'pad_02.onnx'}: 3 Pads, 0 selected (onnxruntime ")


def test_json_has_what_the_report_of_a_conversion_has(cli: Cli) -> None:
    code, out, _ = cli("inspect", MODELS / "int16.onnx", "--json")
    (told,) = json.loads(out)["models"]
    assert (code, told["schema"], told["roads"], list(told["commands"])) == (0, SCHEMA, ROADS, ROADS)
    assert told["counts"]["refuses"] == 1
    (facts,) = told["pads"]
    assert facts == {"path": "graph/padded_pad", "name": "padded_pad", "form": "Pad-18 inputs", "operator": "Pad",
                     "opset": 18, "mode": "reflect", "type": "int16", "input_shape": [1, "samples"],
                     "output_shape": [1, None], "amounts": [[0, 0], [4, 4]], "fill": None, "verdict": "refuses",
                     "why": "ONNX Runtime has no Pad of int16 at opset 18",
                     "roads": [road for road in ROADS if road != "memory"]}  # fmt: skip
    (record,) = padops.convert(MODELS / "int16.onnx").to_json()["pads"]
    assert record | facts == record | {"roads": facts["roads"]}


NO_PAD = model([helper.make_node("Identity", ["x"], ["y"])])
NO_DATA = model([pad()], 17, tensors=[external("w", "w.bin", 4), tensor("pads", [0] * 4)])
# What m.onnx is, the arguments, the exit code, and parts of the output and of the error.
ROWS = [(NO_PAD, "m.onnx", 0, "the model has no Pad\n", ""),
        (NO_DATA, "m.onnx", 1, "", "w.bin"),
        (NO_PAD, "loop.onnx", 1, "", "error: loop.onnx does not exist: it is a link to loop.onnx\n"),
        (NO_PAD, "m.onnx --providers cpu,Cupid", 2, "", " knows no provider Cupid; expected one of "),
        (NO_PAD, "empty", 1, "", "error: empty has no .onnx or .xml file in it\n"),
        (one_pad(13), "--providers cuda,cpu m.onnx", 0, "m.onnx: 1 Pad: 1 run (onnxruntime", "")]  # fmt: skip


@pytest.mark.parametrize(("source", "arguments", "code", "out", "err"), ROWS)
def test_one_model(source, arguments: str, code: int, out: str, err: str, here: Path, cli: Cli) -> None:
    save(here / "m.onnx", source)
    Path("loop.onnx").symlink_to("loop.onnx")
    Path("empty").mkdir()
    Path("empty", "report.xml").write_text("<testsuites/>")
    ended, printed, said = cli("inspect", *arguments.split())
    assert (ended, bool(printed), bool(said)) == (code, bool(out), bool(err))
    assert out in printed and err in said and "no rules" not in printed


def test_providers_have_short_names(inspected: Path, cli: Cli) -> None:
    names = ("cuda,cpu", "CUDAExecutionProvider,CPUExecutionProvider")
    short, whole = (cli("inspect", "right.onnx", "--providers", given) for given in names)
    assert short == whole


# --- several models, and --check --------------------------------------------------------------------------------------


def test_each_kind_has_its_code(inspected: Path, cli: Cli) -> None:
    """What is allowed counts for nothing."""
    allow = [word for kind in KINDS for word in ("--allow", kind)]
    for name, code in CODES.items():
        for options, expected in ((["--check"], code), ([], code == 1), (["--check", *allow], code == 1)):
            assert cli("inspect", f"{name}.onnx", *options)[0] == expected, (name, options)
    assert cli("inspect", "wrong.onnx", "refused.onnx", "--check", "--allow", "wrong")[0] == 3
    assert cli("inspect", "unsure.onnx", "refused.onnx", "--check", "--allow", "refused")[0] == 5


def test_of_several_the_worst_counts(inspected: Path, cli: Cli) -> None:
    for names in combinations(CODES, 2):
        worst = min((CODES[name] for name in names), key=[4, 1, 3, 5, 0].index)
        assert cli("inspect", *(f"{name}.onnx" for name in names), "--check")[0] == worst, names
    assert cli("inspect", ".", "--check")[0] == 4


def test_every_verdict_that_does_not_run_has_a_kind() -> None:
    assert set(RULES) == set(get_args(Verdict)) - set(RUNNING)
    assert {rule.kind for rule in RULES.values()} == set(KINDS)


def test_what_is_said_of_several_models(inspected: Path, cli: Cli) -> None:
    """A line for one that runs, the reasons of the others, and a total."""
    more = inspected / "more"
    more.mkdir()
    save(more / "one.onnx", MADE["right"])
    (more / "report.xml").write_text("<testsuites/>")
    (more / "net.xml").write_text('<?xml version="1.0"?>\n<net name="g" version="10"/>')
    (more / "pulled.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    (more / "moved.onnx").symlink_to("nowhere.onnx")
    nodes = [pad(["x"], f"y{i}", domain=f"d{i // 2}") for i in range(10)]
    many = model(nodes, 13, outputs=[("y0", FLOAT, None)], imports=[(f"d{i}", 1) for i in range(5)])
    save(inspected / "many.onnx", many)
    names = ("refused.onnx", "more", "missing.onnx", "refused.onnx", "unreadable.onnx", "many.onnx")
    code, out, err = cli("inspect", *names)
    assert code == 1
    assert err.splitlines() == [
        "error: more/moved.onnx does not exist: it is a link to nowhere.onnx",
        "error: more/net.xml is an IR of version 10, expected 11; "
        "openvino.save_model(openvino.Core().read_model(...), ...) writes the expected version",
        "error: more/pulled.onnx is a Git LFS pointer; git lfs pull fetches the file",
        "error: missing.onnx does not exist",
        "error: unreadable.onnx: not an ONNX model: it cannot be parsed as a protobuf message",
    ]
    assert out.splitlines() == ["refused.onnx: 1 Pad: 1 refused", "  refuses: ONNX Runtime has no Pad of opset 1",
                                "more/one.onnx: 1 Pad: 1 run", "many.onnx: 10 Pads: 10 unknown",
                                *(f"  unknown: padops does not know Pad of the domain d{i} (2 Pads)" for i in range(5)),
                                "8 models, 2 with failing Pads, 5 unreadable; 12 Pads: 1 run, 1 refused, 10 unknown",
                                "For reasons and fixes, run `padops inspect MODEL`"]  # fmt: skip
    assert cli("inspect", "more", "--check")[0] == 1
    assert cli("inspect", "more/one.onnx", "right.onnx")[1].splitlines()[-1] == "2 models; 2 Pads: 2 run"


def test_the_json_has_one_form(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", "right.onnx", "missing.onnx", "--json")
    told = json.loads(out)
    right, missing = told.pop("models")
    assert (code, err, right) == (1, "error: missing.onnx does not exist\n", padops.inspect("right.onnx").to_json())
    assert told == {name: right[name] for name in ("schema", "versions")} and right["path"] == "right.onnx"
    assert missing == told | {"path": "missing.onnx", "error": "missing.onnx does not exist"}
    assert cli("inspect", "right.onnx", "missing.onnx", "--format", "json")[1] == out
    for name, found in (("right.onnx", right), ("missing.onnx", missing)):
        assert json.loads(cli("inspect", name, "--json")[1]) == told | {"models": [found]}


# --- SARIF ------------------------------------------------------------------------------------------------------------


def sarif_of(text: str) -> dict[str, Any]:
    """The run of a SARIF log, with all that GitHub's upload asks for (docs.github.com, SARIF support)."""
    log = json.loads(text)
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    assert urlsplit(log["$schema"]).path.endswith("/sarif-schema-2.1.0.json")
    (told,) = log["runs"]
    driver = told["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("padops", padops.__version__)
    for rule in driver["rules"]:
        assert re.fullmatch("[a-z-]+", rule["id"])
        assert all(0 < len(rule[name]["text"]) <= 1024 for name in ("shortDescription", "fullDescription", "help"))
        assert rule["defaultConfiguration"]["level"] in ("error", "warning")
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
    for result in told["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"] == {"startLine": 1}
        assert re.fullmatch(r"[!#-;=?-Z_a-z~\[\]]+", physical["artifactLocation"]["uri"])  # letters of an URI
    prints = list(map(print_of, told["results"]))
    assert len(set(prints)) == len(prints)
    return told


def file_of(result: dict[str, Any]) -> str:
    return unquote(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def print_of(result: dict[str, Any]) -> str:
    return result["partialFingerprints"]["primaryLocationLineHash"]


def test_sarif(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", *FILES, "--format", "sarif", "--check")
    assert (code, err.startswith("error: unreadable.onnx: not an ONNX model")) == (4, True)
    told = sarif_of(out)
    assert [(file_of(result), result["ruleId"], result["level"]) for result in told["results"]] == FINDINGS
    assert told["invocations"] == [{"executionSuccessful": False}]
    refused, _, wrong, *_ = told["results"]
    assert refused["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "graph/p"}]
    inspection = padops.inspect("refused.onnx")
    help_line = next(iter(inspection.commands().values()))
    assert refused["message"]["text"] == f"graph/p: {inspection.pads[0].why}\nFix: {help_line}"
    assert "padops convert wrong.onnx --auto-pad explicit" in wrong["message"]["text"]
    told = sarif_of(cli("inspect", "right.onnx", "--format", "sarif")[1])
    assert (told["results"], told["invocations"]) == ([], [{"executionSuccessful": True}])


def test_a_finding_is_the_same_in_the_next_report(inspected: Path, cli: Cli) -> None:
    """Whatever else is inspected, and however the file is named: so CI tells old findings from new ones."""

    def prints(*names: object) -> list[str]:
        results = sarif_of(cli("inspect", *names, "--format", "sarif")[1])["results"]
        return [print_of(result) for result in results if file_of(result) == "refused.onnx"]

    assert prints("refused.onnx") == prints(*FILES) == prints(inspected / "refused.onnx") != []


def of_reflections(*names: str) -> onnx.ModelProto:
    nodes = [pad(["x", "pads"], f"y{i}", name=name, mode="reflect") for i, name in enumerate(names)]
    outputs = [(f"y{i}", INT16, None) for i in range(len(names))]
    return model(nodes, 18, inputs=[("x", INT16, [4, 4])], outputs=outputs, tensors=[tensor("pads", [0, 1, 0, 1])])


def test_two_pads_of_one_name_are_two_findings(here: Path, cli: Cli) -> None:
    save(here / "m.onnx", of_reflections("twice", "twice"))
    assert len(sarif_of(cli("inspect", "m.onnx", "--format", "sarif")[1])["results"]) == 2


def test_where_a_finding_is(here: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    there = save(here / "there.onnx", one_pad(1))
    save(Path("a b%20#?:ü.onnx"), one_pad(1))
    give(monkeypatch, one_pad(1).SerializeToString())
    names = ("a b%20#?:ü.onnx", "../there.onnx", "-", there)
    results = sarif_of(cli("inspect", *names, "--format", "sarif")[1])["results"]
    assert list(map(file_of, results)) == [*names[:3], there.as_uri()]


# --- JUnit and GitHub -------------------------------------------------------------------------------------------------


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
        for count, path in (("tests", ""), ("failures", "/failure"), ("errors", "/error")):
            assert suite.get(count) == str(len(suite.findall(f"testcase{path}")))
        (case,) = suite.findall("testcase")
        assert case.get("classname") == suite.get("name")
        outcome = next(iter(case), None)
        seen[suite.get("name")] = (case.get("name"), None if outcome is None else (outcome.tag, outcome.get("type")))
    assert seen == {"right.onnx": ("graph/p", None),
                    "refused.onnx": ("graph/p", ("failure", "pad-refused")),
                    "broken.onnx": ("graph/Pad_0", ("failure", "pad-breaks-a-rule")),
                    "wrong.onnx": ("graph/pool", ("failure", "pad-wrong")),
                    "unsure.onnx": ("graph/Pad_0", ("failure", "pad-unknown")),
                    "unreadable.onnx": ("model-unreadable", ("error", "model-unreadable"))}  # fmt: skip
    assert suites[1][0][0].get("message") == padops.inspect("refused.onnx").pads[0].why


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """A command of a workflow, as GitHub's runner takes it apart; the runner knows %0D, %0A, %3A, %2C and %25."""
    name, properties, text = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
    unescaped = {key: unquote(value) for key, value in (pair.split("=", 1) for pair in properties.split(","))}
    return name, unescaped, unquote(text)


def test_github(inspected: Path, cli: Cli) -> None:
    code, out, err = cli("inspect", *FILES, "--format", "github", "--check")
    assert (code, err) == (4, "")
    lines = out.splitlines()
    told = [read_command(line) for line in lines if line.startswith("::")]
    assert [(about["file"], about["title"], name) for name, about, _ in told] == FINDINGS
    assert told[0][2].startswith("graph/p: ") and "\nFix: " in told[0][2]
    assert lines[5:7] == ["padops inspect: right.onnx: 1 Pad: 1 run", "padops inspect: refused.onnx: 1 Pad: 1 refused"]
    assert lines[-1].startswith("padops inspect: unreadable.onnx: ")


def test_one_annotation_for_one_reason(here: Path, cli: Cli) -> None:
    names = [f"pad{i}" for i in range(NAMED + 1)]
    save(here / "m.onnx", of_reflections(*names))
    annotation, _ = cli("inspect", "m.onnx", "--format", "github")[1].splitlines()
    assert read_command(annotation)[2].startswith(", ".join(f"graph/{name}" for name in names[:-1]) + " and 1 more: ")


def test_names_are_no_commands(here: Path, cli: Cli) -> None:
    """A model from somewhere else, in a pull request, sets no variable and masks no word."""
    for name in ("::stop-commands::x.onnx", "##[add-mask]a.onnx", "a,title=b%0A::c.onnx", f"{FILE}.onnx"):
        save(Path(name), hostile(mode=f"{FILE}\n::error::x ##[add-mask]y"))
        first, second = cli("inspect", name, "--format", "github")[1].splitlines()
        kind, about, text = read_command(first)
        assert (kind, set(about), about["file"]) == ("error", {"file", "title"}, shown(name)), text
        assert second.startswith("padops inspect: ") and "##[" not in second
    assert len(sarif_of(cli("inspect", ".", "--format", "sarif")[1])["results"]) == 4
    assert len(ElementTree.fromstring(cli("inspect", ".", "--format", "junit")[1])) == 4
