"""The findings of ``padops inspect`` for programs: JSON, SARIF, JUnit, and GitHub's workflow annotations."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree

from padops.exits import DIFFERENT, DONE, ERROR, LEFT, UNDECIDED, WORST_FIRST
from padops.terminal import json_text, shown

if TYPE_CHECKING:
    from padops.convert.inspection import Inspection

Results = Mapping[str, "Inspection | str"]  # by the name of the model, "-" for standard input: or why it is unreadable


@dataclass(frozen=True)
class Rule:
    """A kind of finding."""

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
    """A Pad that does not run right, or a model that cannot be read."""

    rule: Rule
    model: str  # the file
    place: str  # the path of the Pad; "" if the model cannot be read
    why: str
    helps: str = ""  # the command that makes the Pad run; "" if there is none
    allowed: bool = False  # whether ``--allow`` names its kind: a note in SARIF, skipped in JUnit, a notice on GitHub

    @property
    def told(self) -> str:
        """The place, the reason and the command."""
        place = f"{shown(self.place)}: " if self.place else ""
        return place + shown(self.why) + (f"\nFix: {shown(self.helps)}" if self.helps else "")


def findings_of(results: Results, allowed: Collection[str]) -> Iterator[Finding]:
    """Yields the findings of models, in the order of their Pads; ``allowed``: the kinds that ``--allow`` names."""
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
    """The exit code of ``--check``: 0, or the code of the worst finding that is not allowed."""
    codes = {finding.rule.code for finding in findings_of(results, allowed) if not finding.allowed}
    return next((code for code in WORST_FIRST if code in codes), DONE)


def as_json(results: Results, allowed: Collection[str]) -> str:
    """JSON with all facts of each Pad; ``allowed`` changes nothing."""
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
    """A SARIF log with one run and a result for each finding."""
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
    """One result. All are in line 1: GitHub separates results by their fingerprints, from the Pads' unique paths."""
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
    """Makes a path relative to the working folder, which in CI is the repository; keeps a path outside of it."""
    path = Path(name)
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


# The counts of JUnit, and their elements in a test case.
COUNTS = {"tests": "", "failures": "/failure", "errors": "/error", "skipped": "/skipped"}


def junit(results: Results, allowed: Collection[str]) -> str:
    """JUnit XML: a suite for each model and a test case for each Pad."""
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
    """GitHub workflow commands: one for all Pads of a model with the same reason; then a line for each model."""
    together: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings_of(results, allowed):
        together.setdefault((finding.model, finding.rule.id, finding.why), []).append(finding)
    # A line begins with a word and has no ``##[``, so GitHub reads no name as a command.
    told = {name: result if isinstance(result, str) else result.summary() for name, result in results.items()}
    lines = [shown(f"padops inspect: {name}: {text}").replace("##[", "## [") for name, text in told.items()]
    return "\n".join([*map(_annotation, together.values()), *lines])


def _annotation(findings: Sequence[Finding]) -> str:
    first = findings[0]
    places = [shown(finding.place) for finding in findings[:NAMED] if finding.place]
    more = f" and {len(findings) - NAMED} more" if len(findings) > NAMED else ""
    text = replace(first, place="").told
    where = _escaped(shown(_from_here(first.model).as_posix()))
    said = _escaped(f"{', '.join(places)}{more}: {text}" if places else text, "%\r\n")
    command = "notice" if first.allowed else first.rule.level
    return f"::{command} file={where},title={first.rule.id}::{said}"


def _escaped(text: str, letters: str = "%\r\n:,") -> str:
    """Escapes those letters of a text that would end a workflow command or its property."""
    return "".join(f"%{ord(letter):02X}" if letter in letters else letter for letter in text)


REPORTS = {"json": as_json, "sarif": sarif, "junit": junit, "github": github}
