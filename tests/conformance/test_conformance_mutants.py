"""A report that something has changed is refused with its file and line, or is a report still: never a traceback."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from padops.cli import main
from padops.conformance import cases, record

FILE = "conformance.jsonl"
MUTANTS = 400


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two parts of a run, with results of every kind that these peers give."""
    folder = tmp_path_factory.mktemp("parts")
    chosen = [case for case in cases.collect("quick") if case.op in ("Pad_18", "OpenVINOPad_12")][::23]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "collect", lambda *given: chosen)
        for i in (1, 2):
            main(
                ["conformance", "--quick", "--peer=numpy", "--peer=reference", f"--shard={i}/2", f"--out={folder}/{i}"]
            )
    outcomes = {result["outcome"] for i in (1, 2) for result in record.read(folder / str(i) / FILE).results}
    assert {"agree", "error", "unsupported"} <= outcomes
    return [folder / "1", folder / "2"]


def merged(parts: list[Path], changed: bytes, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a merge with other bytes in the place of the second part, and what it says."""
    (folder / "changed").mkdir(exist_ok=True)
    (folder / "changed" / FILE).write_bytes(changed)
    capsys.readouterr()
    code = main(["conformance", "merge", str(parts[0]), str(folder / "changed"), "--out", str(folder / "out")])
    said = capsys.readouterr()
    return code, said.err or said.out


def place_of(parts: list[Path], kind: str) -> tuple[list[bytes], int]:
    """The lines of the second part, and where the first one of a kind stands that has all fields."""
    lines = (parts[1] / FILE).read_bytes().split(b"\n")
    objects = [json.loads(line) for line in lines if line]
    fits = lambda one: one["kind"] == kind and (kind != "result" or one["outcome"] == "error")
    return lines, next(i for i, one in enumerate(objects) if fits(one))


def with_field(parts: list[Path], kind: str, field: str, text: str) -> tuple[bytes, int]:
    """Return the second part with one field set to a JSON text, and the line's number; ``outer.inner`` is nested."""
    lines, i = place_of(parts, kind)
    said = json.loads(lines[i])
    *outer, last = field.split(".")
    inner = said
    for name in outer:
        inner = inner[int(name) if name.isdigit() else name]
    inner[int(last) if last.isdigit() else last] = "THE VALUE"
    lines[i] = json.dumps(said).replace('"THE VALUE"', text).encode()
    return b"\n".join(lines), i + 1


DEEP = "[" * 100_000 + "]" * 100_000
FIELDS = [
    ("result", "outcome", "-1", "outcome is -1, expected one of "),
    ("result", "outcome", '"maybe"', "outcome is 'maybe', expected one of "),
    ("result", "outcome", '"agree"', "outcome is agree with 1 of divergence, unexpected and new, expected 0"),
    ("result", "rank", "1e400", "a number is 1e400"),
    ("result", "rank", "true", "rank is true, expected a whole number"),
    ("result", "dtype", "[]", "dtype is a list of 0, expected a text"),
    ("result", "case", '{"a": 1}', "case is an object of 1, expected a text"),
    ("result", "rules", '["P1", 2]', "rules is 2, expected a text"),
    ("result", "unexpected", "1", "unexpected is 1, expected true or false"),
    ("result", "peer", '"nobody"', "peer is 'nobody', which is none of the header's"),
    ("result", "attributes.mode", "[[1]]", "attributes is a list of 1, expected true or false"),
    ("result", "inputs.0", "3", "inputs is 3, expected an object"),
    ("result", "inputs.0.shape", "[-1]", "inputs does not fit its shape"),
    ("result", "inputs.0.values", "[[[NaN]]]", "a number is NaN"),
    ("result", "expected", '{"error": 5}', "there is no dtype"),
    ("result", "surprise", "1", "'surprise' is no field of it"),
    ("result", "detail", DEEP, "lists or objects in one another, more than can be read"),
    ("header", "shard", "[2]", "shard is a list of 1, expected a list"),
    ("header", "shard", "[2.0, 2]", "shard is 2.0, expected a whole number"),
    ("header", "schema", "1", "schema is 1, expected 2"),
    ("header", "peers", "{}", "peers is an object of 0, expected a list"),
    ("header", "peers.0.versions", '{"numpy": 2}', "versions is 2, expected a text"),
    ("header", "machine", "[]", "machine is a list of 0, expected an object"),
    ("footer", "exit", "2", "exit is 2, expected one of 0, 1"),
    ("footer", "unexpected", "7", "unexpected is 7, but"),
    ("footer", "stale", '"all"', "stale is 'all', expected a list"),
    ("footer", "divergences", "{}", "a part of a run has to say missing, and divergences of each peer"),
    ("footer", "divergences.numpy", '{"x": [1]}', "divergences is a list of 1, expected a list"),
]


@pytest.mark.parametrize(("kind", "field", "text", "words"), FIELDS, ids=lambda value: value[:30])
def test_a_field_that_says_what_it_may_not(
    kind: str, field: str, text: str, words: str, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, line = with_field(parts, kind, field, text)
    code, said = merged(parts, changed, tmp_path, capsys)
    assert code == 1 and re.match(rf"error: \S*changed/{re.escape(FILE)}:{line}: ", said), said
    assert words in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_field_that_is_not_there(parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, i = place_of(parts, "result")
    said = json.loads(lines[i])
    for name in ("outcome", "peer", "new", "rules"):
        lines[i] = json.dumps({key: value for key, value in said.items() if key != name}).encode()
        code, text = merged(parts, b"\n".join(lines), tmp_path, capsys)
        assert (code, text) == (1, f"error: {tmp_path}/changed/{FILE}:{i + 1}: result: there is no {name}\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"kind": "result", "detail": "\xff"}', "not UTF-8: byte 30 is 0xff"),
        (b'{"kind": "result", "rank": 1', "not a whole report: "),
        (b'{"kind": "result", "rank": ' + b"9" * 5000 + b"}", "not a whole report: "),
        (b"[1]", "not a report: a list of 1, expected an object"),
        (b"null", "not a report: null, expected an object"),
    ],
)
def test_a_line_that_is_none(
    line: bytes, words: str, parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, i = place_of(parts, "result")
    lines[i] = line
    code, said = merged(parts, b"\n".join(lines), tmp_path, capsys)
    assert code == 1 and f"changed/{FILE}:{i + 1}: {words}" in said
    for more in (["show"], ["repros", "--out", str(tmp_path / "repros")]):  # they read the same
        assert main(["conformance", more[0], str(tmp_path / "changed" / FILE), *more[1:]]) == 1
        assert f"changed/{FILE}:{i + 1}: {words}" in capsys.readouterr().err


VALUES: list[Any] = [
    "1e400",
    "-1",
    "[]",
    "{}",
    "null",
    "true",
    '"x"',
    '"\\ud800\\u0000"',
    str(10**40),
    "NaN",
    "0.5",
    DEEP,
]


def mutant(rng: random.Random, content: bytes) -> bytes:
    """A report with one thing changed: a byte, a line, or a value somewhere in an object."""
    lines = content.rstrip(b"\n").split(b"\n")
    i = rng.choice([0, len(lines) - 1, rng.randrange(len(lines))])
    how = rng.choice(["byte", "byte", "cut", "line", "twice", "value", "value", "value", "value", "gone"])
    if how == "byte":
        at = rng.randrange(len(lines[i]))
        lines[i] = lines[i][:at] + bytes([rng.randrange(256)]) + lines[i][at + rng.randrange(2) :]
    elif how == "cut":
        lines[i] = lines[i][: rng.randrange(len(lines[i]))]
    elif how == "line":
        del lines[i]
    elif how == "twice":
        lines.insert(rng.randrange(len(lines)), lines[i])
    else:
        said = json.loads(lines[i])
        inner: Any = said
        while True:
            key = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            if not isinstance(inner[key], (dict, list)) or not inner[key] or rng.random() < 0.4:
                break
            inner = inner[key]
        if how == "gone":
            del inner[key]
        else:
            inner[key] = "THE VALUE"
        lines[i] = json.dumps(said).encode().replace(b'"THE VALUE"', rng.choice(VALUES).encode())
    return b"\n".join(lines) + b"\n"


def test_mutants_are_refused_or_reports(parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each in every form of a report, where it is one still."""
    rng, content, seen = random.Random(24), (parts[1] / FILE).read_bytes(), Counter[str]()
    whole = merged(parts, content, tmp_path, capsys)
    assert " results, " in whole[1]
    for count in range(MUTANTS):
        code, said = merged(parts, mutant(rng, content), tmp_path, capsys)
        refused = re.fullmatch(
            rf"error: (\S*changed/{re.escape(FILE)}(:\d+)?: .+|parts? .+|the parts are .+|a report of a "
            r"whole run is no part of one)\n",
            said,
        )
        told = re.fullmatch(r"\d+ results, \d+ unexpected, \d+ stale(; of versions .*)?\n", said)
        assert code in (0, 1) and (refused or told), f"mutant {count}: {said}"
        seen["a line" if refused and refused[2] else "the file" if refused else "a report"] += 1
    assert seen["a line"] > MUTANTS / 2 and min(seen["the file"], seen["a report"]) > 10, seen
