"""A report that something has changed is refused with its file, or rendered: never a traceback."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conformance_records import quick

from padops.cli import main
from padops.conformance import cases

MUTANTS = 150


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run, with results of every kind that these peers give."""
    folder = tmp_path_factory.mktemp("report")
    chosen = [case for case in quick() if case.op in ("Pad_18", "OpenVINOPad_12")][::23]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "collect", lambda *given: chosen)
        main(["conformance", "--quick", "--peer=numpy", "--peer=reference", f"--out={folder}"])
    content = (folder / "conformance.jsonl").read_bytes()
    assert all(f'"outcome": "{outcome}"'.encode() in content for outcome in ("agree", "error", "unsupported"))
    return content


def shown(content: bytes, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of ``show`` of every form, and what it says."""
    (folder / "changed.jsonl").write_bytes(content)
    capsys.readouterr()
    code = main(["conformance", "show", str(folder / "changed.jsonl"), "--out", str(folder / "out")])
    return code, capsys.readouterr().err


DEEP = "[" * 100_000 + "]" * 100_000


def test_what_no_line_may_say(report: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, first, *rest = report.split(b"\n")
    deep = first.replace(b'"detail": ', b'"detail": ' + DEEP.encode() + b', "more": ')
    for lines, at, words in (
        ([head.replace(b'"schema": 2', b'"schema": 1'), first, *rest], 1, "schema is 1, expected 2"),
        ([head.replace(b'"header"', b'"other"'), first, *rest], 1, "not a whole report: "),
        ([head, deep, *rest], 2, "not a whole report: "),
        *(
            ([head, line, *rest], 2, "not a ")
            for line in (b'{"kind": "result", "detail": "\xff"}', b'{"rank": 1', b"[1]", b"null", b"9" * 5000)
        ),
        ([head, first, *rest[:-3]], 0, "not a whole report: there is no footer at the end"),
        ([head, *rest], 0, "but the footer has"),
    ):
        code, told = shown(b"\n".join(lines), tmp_path, capsys)
        place = f"error: {tmp_path}/changed.jsonl:{at}: " if at else ""
        assert code == 1 and place + words in told and told.count("\n") == 1, told
    assert not (tmp_path / "out").exists()


VALUES = ["1e400", "-1", "[]", "{}", "null", "true", '"x"', '"\\ud800\\u0000"', str(10**40), "NaN", "0.5", DEEP]


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


def test_mutants_are_refused_or_rendered(report: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng, seen = random.Random(24), Counter[int]()
    for count in range(MUTANTS):
        code, told = shown(mutant(rng, report), tmp_path, capsys)
        assert (code, told) == (0, "") or code == 1 and "changed.jsonl" in told and told.count("\n") == 1, (count, told)
        seen[code] += 1
    assert min(seen[0], seen[1]) > 10, seen
