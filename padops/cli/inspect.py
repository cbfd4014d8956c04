"""``padops inspect``, and the formats of its findings: text, JSON, SARIF, JUnit, and GitHub's workflow annotations."""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from padops.cli.parsing import MODEL, SUFFIXES, add_reading, add_rules, models_in
from padops.exits import DIFFERENT, DONE, ERROR, LEFT, UNDECIDED, WORST_FIRST
from padops.files.streams import STREAM
from padops.terminal import fail, json_text, names, say, shown

if TYPE_CHECKING:
    from padops.convert.inspection import Inspection

ABOUT = (
    "List each Pad, whether ONNX Runtime runs it, and how to fix it. SAME padding of convolutions and poolings, other "
    "frameworks' Pads, and nodes that act as a Pad count as Pads. padops inspect neither changes nor runs the model. "
    "For a folder or several models, it prints one line for each model, reasons where Pads fail, and a total. Exit "
    "codes: 0 done, 1 error (in any model), 2 usage. With --check, the first of these that holds: 4 the results of a "
    "Pad are wrong, 1 a model cannot be read, 3 a Pad is refused or breaks a rule, 5 a Pad is unsure: its results may "
    "be wrong, or are unknown."
)
PASSED = ("select", "custom_domains", "follow_links", "providers", "rules", "onnxruntime")  # also of padops.inspect


def add_inspect(commands: Any) -> None:
    about = "list each Pad, whether ONNX Runtime runs it, and how to fix it"
    parser = commands.add_parser("inspect", help=about, description=ABOUT)
    parser.add_argument("models", metavar="MODEL", nargs="+", help=MODEL)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=("text", *REPORTS), default="text", help="the format of the output (default: "
                      "%(default)s; sarif: SARIF 2.1.0; junit: JUnit XML; github: annotations of a "
                      "workflow)")  # fmt: skip
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--select", choices=("all", "needed"), default="all", help="which Pads to show (default: "
                        "%(default)s; needed: only those that this onnxruntime does not run, or may get "
                        "wrong)")  # fmt: skip
    parser.add_argument("--providers", type=names, default=[], metavar="A,B", help="the session's execution providers, "
                        "first choice first, such as OpenVINOExecutionProvider,CPUExecutionProvider. The verdicts "
                        "judge this session; if padops is among the providers, each Pad also names the provider that "
                        "runs it (default: the CPU's)")  # fmt: skip
    add_rules(parser, "with --providers: ")
    parser.add_argument("--onnxruntime", metavar="1.N", help="judge by this release; it need not be "
                        "installed (default: the installed release)")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="exit with 4, 3 or 5 if a Pad is wrong, refused or unsure")
    parser.add_argument("--allow", action="append", choices=KINDS, default=[], metavar="KIND", help="with --check: "
                        f"ignore Pads that are {', '.join(KINDS[:-1])} or {KINDS[-1]}; repeatable")  # fmt: skip
    add_reading(parser)
    parser.set_defaults(run=run_inspect, usage_error=parser.error)


def run_inspect(options: argparse.Namespace) -> int:
    from padops.cli.tables import inspected_lines, inspection_lines, total_lines
    from padops.convert import PadopsError, UsageError
    from padops.convert.arguments import rules_of_session
    from padops.convert.inspection import inspect
    from padops.convert.pipeline import read_model
    from padops.runtime.provider_rules import full_names

    if options.allow and not options.check:
        options.usage_error("--allow needs --check")
    if options.models.count(STREAM) > 1:
        options.usage_error(f"{STREAM} is named twice, but standard input has one model")
    names: list[str] = []
    for given in options.models:
        try:
            names += (found := list(map(str, models_in(Path(given)))) if os.path.isdir(given) else [given])
        except OSError as error:
            return fail(error)
        if not found:
            return fail(f"{given} has no {' or '.join(SUFFIXES)} file in it")
    alone, is_text = names == options.models and len(names) == 1, options.format == "text"
    options.providers = full_names(options.providers, rules_of_session(options.providers, options.rules))
    passed = {name: getattr(options, name) for name in PASSED}
    told: dict[str, Inspection | str] = {}
    for name in dict.fromkeys(names):
        try:
            inspection = inspect(read_model()[1] if name == STREAM else name, **passed)
        except UsageError:
            raise
        except PadopsError as error:
            told[name] = str(error)
            if options.format != "github":  # ``github`` prints it in a form that is no workflow command
                fail(error if alone or str(error).startswith(name) else f"{name}: {error}")
        else:
            told[name] = inspection
            if is_text:
                say(*(inspection_lines(inspection) if alone else inspected_lines(name, inspection)))
    if not is_text:
        print(REPORTS[options.format](told, options.allow))
    elif not alone:
        say(*total_lines(list(told.values())))
    if options.check:
        return exit_code(told, options.allow)
    return ERROR if any(isinstance(result, str) for result in told.values()) else 0


# ---- The findings for programs.

Results = Mapping[str, "Inspection | str"]  # by model name ("-": standard input); a string: why it is unreadable


@dataclass(frozen=True)
class Rule:
    id: str  # its name in SARIF and JUnit; the same in every release
    description: str  # a sentence
    kind: str | None  # its name for ``--check`` and ``--allow``; None for a model that cannot be read
    code: int  # the exit code of ``--check``
    level: str = "error"  # the severity: of SARIF, and of GitHub's commands


# By the verdict on a Pad.
RULES = {
    "wrong": Rule("pad-wrong", "ONNX Runtime runs the Pad, and its results are wrong.", "wrong", DIFFERENT),
    "refuses": Rule("pad-refused", "ONNX Runtime refuses the model because of the Pad.", "refused", LEFT),
    "breaks a rule": Rule("pad-breaks-a-rule", "No runtime can run the Pad: it breaks a rule of its specification.",
                          "breaks-a-rule", LEFT),
    "may be wrong": Rule("pad-may-be-wrong", "ONNX Runtime runs the Pad, and for some data its results are wrong.",
                         "unsure", UNDECIDED, "warning"),
    "unknown": Rule("pad-unknown", "padops cannot predict how ONNX Runtime runs this Pad.", "unsure", UNDECIDED,
                    "warning"),
}  # fmt: skip
UNREADABLE = Rule("model-unreadable", "The model cannot be read.", None, ERROR)
KINDS = ("refused", "breaks-a-rule", "wrong", "unsure")


@dataclass(frozen=True)
class Finding:
    """A Pad that ONNX Runtime may refuse or run wrongly, or a model that padops cannot read."""

    rule: Rule
    model: str  # the file
    place: str  # the path of the Pad; "" if the model cannot be read
    why: str
    helps: str = ""  # the command that makes the Pad run; "" if there is none
    allowed: bool = False  # whether ``--allow`` names its kind: a note in SARIF, skipped in JUnit, a notice on GitHub

    @property
    def told(self) -> str:
        """The finding as text: the path of the Pad, the reason, and the command that makes the Pad run."""
        place = f"{shown(self.place)}: " if self.place else ""
        return place + shown(self.why) + (f"\nFix: {shown(self.helps)}" if self.helps else "")


def findings_of(results: Results, allowed: Collection[str]) -> Iterator[Finding]:
    """Yields the findings of each model in the order of the Pads; ``allowed`` has the kinds that ``--allow`` names."""
    for name, result in results.items():
        if isinstance(result, str):
            yield Finding(UNREADABLE, name, "", result)
            continue
        for pad in result.failing:
            rule = RULES[pad.verdict]
            # If possible, a command that makes the whole model run.
            roads = [road for road in result.roads if road in pad.roads] or pad.roads
            helps = next(iter(replace(result, roads=tuple(roads)).commands().values()), "")
            yield Finding(rule, name, pad.path, pad.why, helps, rule.kind in allowed)


def exit_code(results: Results, allowed: Collection[str]) -> int:
    """Returns the exit code of ``--check``: 0, or the code of the worst finding that is not allowed."""
    codes = {finding.rule.code for finding in findings_of(results, allowed) if not finding.allowed}
    return next((code for code in WORST_FIRST if code in codes), DONE)


def as_json(results: Results, allowed: Collection[str]) -> str:
    """Returns JSON with all facts of each Pad; ignores ``allowed``."""
    from padops.convert.records import SCHEMA
    from padops.runtime.installed import versions

    head: dict[str, Any] = {"schema": SCHEMA, "versions": versions()}
    models = [
        head | {"path": name, "error": result} if isinstance(result, str) else result.to_json()
        for name, result in results.items()
    ]
    return json_text(head | {"models": models})


SARIF = "2.1.0"
SARIF_SCHEMA = f"https://docs.oasis-open.org/sarif/sarif/v{SARIF}/errata01/os/schemas/sarif-schema-{SARIF}.json"
NAMED = 5  # Pads that one annotation names: GitHub shows only ten annotations of a step


def sarif(results: Results, allowed: Collection[str]) -> str:
    """Returns a SARIF log: one run, with a result for each finding."""
    import padops

    rules = [*RULES.values(), UNREADABLE]
    told = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.description},
            "fullDescription": {"text": rule.description},
            "help": {"text": f"{rule.description} padops inspect MODEL shows reasons and fixes."},
            "defaultConfiguration": {"level": rule.level},
        }
        for rule in rules
    ]
    run = {
        "tool": {"driver": {"name": "padops", "version": padops.__version__, "rules": told}},
        "invocations": [{"executionSuccessful": not any(isinstance(result, str) for result in results.values())}],
        "results": [_result(finding, rules.index(finding.rule)) for finding in findings_of(results, allowed)],
    }
    return json_text({"$schema": SARIF_SCHEMA, "version": SARIF, "runs": [run]})


def _result(finding: Finding, index: int) -> dict[str, Any]:
    """Returns one result. All results are in line 1; GitHub tells them apart by a fingerprint of file, Pad and rule."""
    path = _from_here(finding.model)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    place = {"logicalLocations": [{"fullyQualifiedName": finding.place}]} if finding.place else {}
    identity = "\0".join((uri, finding.place, finding.rule.id))
    fingerprint = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": finding.rule.id,
        "ruleIndex": index,
        "level": "note" if finding.allowed else finding.rule.level,
        "message": {"text": finding.told},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}} | place],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }


def _from_here(name: str) -> Path:
    """Makes a path relative to the working folder (in CI, the repository); keeps a path outside of that folder."""
    path = Path(name)
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


# The counts of JUnit, and their elements in a test case.
COUNTS = {"tests": "", "failures": "/failure", "errors": "/error", "skipped": "/skipped"}


def junit(results: Results, allowed: Collection[str]) -> str:
    """Returns JUnit XML: a suite for each model and a test case for each Pad."""
    root = ElementTree.Element("testsuites", name="padops inspect")
    root.extend(_suite(name, result, allowed) for name, result in results.items())
    for element, (count, path) in product((root, *root), COUNTS.items()):
        element.set(count, str(len(element.findall(f".//testcase{path}"))))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def _suite(name: str, result: Inspection | str, allowed: Collection[str]) -> ElementTree.Element:
    found = findings_of({name: result}, allowed)
    suite = ElementTree.Element("testsuite", name=shown(name))
    cases = [(UNREADABLE.id, False)] if isinstance(result, str) else [(pad.path, pad.runs) for pad in result.pads]
    for place, runs in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=shown(name), name=shown(place))
        if runs:
            continue
        finding = next(found)
        tag = "skipped" if finding.allowed else "error" if finding.rule is UNREADABLE else "failure"
        outcome = ElementTree.SubElement(case, tag, message=shown(finding.why))
        outcome.text = finding.told
        if not finding.allowed:
            outcome.set("type", finding.rule.id)
    return suite


def github(results: Results, allowed: Collection[str]) -> str:
    """Returns a GitHub workflow command for each reason why Pads of a model fail, and then a line for each model."""
    together: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings_of(results, allowed):
        together.setdefault((finding.model, finding.rule.id, finding.why), []).append(finding)
    # A line begins with a word and has no ``##[``, so GitHub reads no name as a command.
    told = {name: result if isinstance(result, str) else result.summary() for name, result in results.items()}
    lines = [shown(f"padops inspect: {name}: {text}").replace("##[", "## [") for name, text in told.items()]
    annotations = []
    for first, *others in together.values():
        places = [shown(finding.place) for finding in (first, *others)[:NAMED] if finding.place]
        more = f" and {len(others) + 1 - NAMED} more" if len(others) >= NAMED else ""
        text = replace(first, place="").told
        where = _escaped(shown(_from_here(first.model).as_posix()))
        said = _escaped(f"{', '.join(places)}{more}: {text}" if places else text, "%\r\n")
        command = "notice" if first.allowed else first.rule.level
        annotations.append(f"::{command} file={where},title={first.rule.id}::{said}")
    return "\n".join([*annotations, *lines])


def _escaped(text: str, letters: str = "%\r\n:,") -> str:
    """Escapes the characters that are special in a workflow command."""
    return "".join(f"%{ord(letter):02X}" if letter in letters else letter for letter in text)


REPORTS = {"json": as_json, "sarif": sarif, "junit": junit, "github": github}
