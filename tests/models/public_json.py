"""Lists the fields of padops' JSON as lines of text, from real runs and from data in which no field is empty."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import shutil
import sys
import tempfile
import types
import typing
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from padops import cli
from padops.bench import table
from padops.cli import info
from padops.conformance import record
from padops.conformance.features import OUTCOMES
from padops.convert import Conversion, Inspection, records

MODEL = Path(__file__).resolve().parents[2] / "models" / "int16.onnx"
FREE = {"versions", "opsets", "operators", "providers", "machine", "counterexample"}  # objects whose names are data
ELSEWHERE = "files[].report"  # which has the fields of another report
KINDS = {str: "string", bool: "true or false", int: "integer", float: "number", list: "list", dict: "object"}


def json_fields() -> dict[str, list[str]]:
    """A section for each report with its fields, and one for the words that fields may say."""
    conversion = made(Conversion, model=None, _proto=None, _folder=None, _write=None, _corrected=None, _fatal=None)
    with tempfile.TemporaryDirectory() as folder:
        runs = real_runs(Path(folder))
    bench = json.loads(table.as_json({"fact": ""}, [made(table.Measurement)]))
    found = {
        f"convert --report, schema {records.SCHEMA}": fields(conversion.to_json()),
        f"convert FOLDER --report, schema {records.SCHEMA}": fields(runs["folder"]),
        f"inspect --json, schema {records.SCHEMA}": fields(
            {"models": [made(Inspection).to_json()]}, runs["inspect"], runs["unreadable"]
        ),
        f"verify --json, schema {records.SCHEMA}": fields(runs["verify"], conversion.verification.to_json()),
        f"info --json, schema {info.SCHEMA}": fields(runs["info"]),
        "describe": fields(runs["describe"]),
        f"bench --json, schema {table.SCHEMA}": fields(bench),
    }
    for kind, names in record.FIELDS.items():
        lines = [name.replace("?", ", which may be absent") for name in names]
        found[f"conformance --out, schema {record.SCHEMA}, {kind}"] = lines
    said = [
        f"{word}: {' | '.join(get_args(getattr(records, word)))}"
        for word in ("Verdict", "Road", "Status", "Outcome", "Certainty", "Exercise")
    ]
    words = [*said, f"conformance outcome: {' | '.join(OUTCOMES)}"]
    return {f"JSON of padops {name}": lines for name, lines in found.items()} | {"words in the JSON": words}


def fields(*examples: Any) -> list[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        collect(example, "", found)
    return [f"{path}: {' or '.join(sorted(kinds)) or 'null'}" for path, kinds in found.items()]


def collect(value: Any, path: str, found: dict[str, set[str]]) -> None:
    """Notes the fields of a value below a path."""
    if path:
        found[path] |= {KINDS[type(value)]} if value is not None else set()
    if isinstance(value, dict) and path.rpartition(".")[2] not in FREE and path != ELSEWHERE:
        for name, inner in value.items():
            collect(inner, f"{path}.{name}".lstrip("."), found)
    elif isinstance(value, list):
        for inner in value:
            collect(inner, f"{path}[]", found)


def made(kind: Any, **given: Any) -> Any:
    """A value of a type in which nothing is empty or None; of a dataclass with some fields given."""
    if dataclasses.is_dataclass(kind):
        hints = types_of(kind, given)
        return kind(**{row.name: given.get(row.name) if row.name in given else made(hints[row.name])
                       for row in dataclasses.fields(kind)})  # fmt: skip
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return made(next(row for row in inner if row is not types.NoneType))
    if origin is typing.Literal:
        return inner[0]
    if origin is tuple:
        first = inner[0]
        if get_origin(first) is typing.Literal:
            return get_args(first)
        return tuple(map(made, inner)) if ... not in inner else (made(first),)
    if origin in (dict, Mapping):
        return {"name": made(inner[1])}
    return Path("file") if kind is Path else "text" if kind is Any else kind(1)


def types_of(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The types of the fields that are not given: those of the others may be of packages that are not imported."""
    known = {**vars(sys.modules[kind.__module__]), "Mapping": Mapping}
    wanted = dataclasses.make_dataclass(
        "Wanted", [(row.name, row.type) for row in dataclasses.fields(kind) if row.name not in given]
    )
    return typing.get_type_hints(wanted, known)


def real_runs(folder: Path) -> dict[str, Any]:
    (folder / "in").mkdir()
    shutil.copy(MODEL, folder / "in")
    model, report = folder / "in" / MODEL.name, folder / "report.json"
    command("convert", folder / "in", "-o", folder / "out", "--verify", "--report", report)
    converted = folder / "out" / MODEL.name
    return {
        "folder": json.loads(report.read_text(encoding="utf-8")),
        "inspect": json.loads(command("inspect", model, "--json", "--providers", "CPUExecutionProvider")),
        "unreadable": json.loads(command("inspect", report, "--json", code=1)),
        "verify": json.loads(command("verify", model, converted, "--json", "--run")),
        "info": json.loads(command("info", "--json")),
        "describe": json.loads(command("describe")),
    }


def command(*arguments: Any, code: int = 0) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
        assert cli.main([str(argument) for argument in arguments]) == code, printed.getvalue()
    return printed.getvalue()
