"""The public surface of padops as lines of text: what docs/contributing.md promises to keep.

It is made from the code; the fields of its JSON from real runs, and from data in which no field is empty.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import inspect
import io
import json
import re
import shutil
import sys
import tempfile
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin

import padops
from padops import cli, exits
from padops.bench import table
from padops.cli import info
from padops.cli.inspect import KINDS, RULES, UNREADABLE
from padops.conformance import record
from padops.conformance.features import OUTCOMES
from padops.convert import Conversion, Inspection, errors, records
from padops.runtime import session as runtime_session
from padops.runtime.placing import OPTIONS
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, INTEGER_KINDS, OPS, VERSION

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "padops"
READ = r"""(?:environ(?:\.get\(|\[)|getenv\()\s*["'](PADOPS_[A-Z_]+)["']"""  # of the environment
OWN = {"__init__", "__call__", "__getitem__", "__iter__", "__len__"}  # of the special methods


def surface() -> dict[str, list[str]]:
    """The sections of the list but those about JSON, each with its lines in order."""
    exports = (PACKAGE / "csrc" / "linux" / "exports.map").read_text(encoding="utf-8").partition("local:")[0]
    rules = [f"{rule.id} {rule.level} {rule.kind}" for rule in (*RULES.values(), UNREADABLE)]
    return {
        "names of the package padops": sorted(names()),
        "commands and options": list(commands(cli._parser(), "padops")),
        "exit codes": list(exit_codes()),
        "rules of padops inspect": [*rules, f"kinds: {' '.join(KINDS)}"],
        "operators": list(operators()),
        "execution providers and session configuration": list(configuration()),
        "functions that the library exports": re.findall(r"\w+(?=;)", exports),
        "environment variables": sorted(variables()),
    }


def text_of(sections: dict[str, list[str]]) -> str:
    return "\n".join("\n".join([f"[{title}]", *lines, ""]) for title, lines in sections.items())


# --- Python ----------------------------------------------------------------------------------------------------------


def names() -> Iterator[str]:
    """Each public name: of a function its signature, of a class its members, too."""
    yield "__version__: str"
    for name in padops.__all__:
        value = getattr(padops, name)
        if isinstance(value, ModuleType):  # padops.convert is both
            value = vars(value)[name]
        if not inspect.isclass(value):
            yield f"{name}{signature(value)}" if callable(value) else f"{name}: {type(value).__name__}"
            continue
        base = next(base for base in value.__mro__[1:] if not base.__name__.startswith("_"))
        of = "" if base is object else f" of {base.__module__.partition('.')[0]}.{base.__name__}"
        yield f"{name}: class{of}"
        yield from (f"{name}.{line}" for line in {*members(value), *described(value)})


def members(kind: type) -> Iterator[str]:
    """The public members of a class that padops itself defines, those of its bases among them."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.partition(".")[0] == "padops"]
    found = {name: value for base in bases for name, value in vars(base).items()}
    fields = {row.name: row for row in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
    for name in sorted({*found, *fields}):
        if name.startswith("_") and name not in OWN:
            continue
        value = found.get(name)
        if name in fields:
            yield f"{name}: {fields[name].type}"
        elif isinstance(value, property):
            yield f"{name}: property {inspect.signature(value.fget).return_annotation}"
        elif isinstance(value, (classmethod, staticmethod)):
            yield f"{name}{signature(value.__func__)} {type(value).__name__}"
        elif callable(value):
            yield f"{name}{signature(value)}"
        else:
            yield f"{name} = {value!r}"


def described(kind: type) -> Iterator[str]:
    """The attributes that instances have, by what the docstring of a class says, but for those that the class has."""
    told = (kind.__doc__ or "").partition("Attributes:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^ +(\w+): ", told, re.M):
        if not hasattr(kind, name) and not dataclasses.is_dataclass(kind):
            yield f"{name}: attribute"


def signature(function: Callable[..., Any]) -> str:
    """The parameters of a function and what it returns; its defaults, where these read the same everywhere."""
    told = inspect.signature(function)
    rows = [row.replace(annotation=row.empty, default="..." if "0x" in repr(row.default) else row.default)
            for name, row in told.parameters.items() if not name.startswith("_")]  # fmt: skip
    returned = "" if told.return_annotation in (told.empty, "None", None) else f" -> {told.return_annotation}"
    return str(told.replace(parameters=rows, return_annotation=told.empty)) + returned


# --- the command ------------------------------------------------------------------------------------------------------


def commands(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    below: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
        elif not isinstance(action, argparse._HelpAction):
            yield f"{name} {option(action)}"
    for word, inner in below.items():
        yield f"{name} {word}"
        yield from commands(inner, f"{name} {word}")


def option(action: argparse.Action) -> str:
    told = ["/".join(action.option_strings) or action.dest.upper()]
    if action.nargs != 0:
        takes = "|".join(map(str, action.choices)) if action.choices else "VALUE"
        told.append(takes + {None: "", "+": "...", "*": "...", "?": "?"}.get(action.nargs, str(action.nargs)))
    if isinstance(action, argparse._AppendAction):
        told.append("repeatable")
    if action.option_strings and action.required:
        told.append("required")
    if action.default not in (None, False, True, [], argparse.SUPPRESS) and action.nargs != 0:
        told.append(f"default {action.default}")
    return " ".join(told)


def exit_codes() -> Iterator[str]:
    yield from (f"{code}: {name}" for name, code in vars(exits).items() if isinstance(code, int))
    for name in padops.__all__:
        if inspect.isclass(kind := getattr(padops, name)) and issubclass(kind, errors.PadopsError):
            yield f"{name}: {kind.exit_code}"


# --- ONNX Runtime -----------------------------------------------------------------------------------------------------


def operators() -> Iterator[str]:
    yield f"domain {DOMAIN}, version {VERSION}"
    yield f"domain {pyop_node.DOMAIN}: operator {pyop_node.OP_TYPE}"
    for kind, rows in INTEGER_KINDS.items():
        yield f"{kind}: {' '.join(rows)}"
    for op in OPS.values():
        for i, row in enumerate(op.inputs):
            yield f"{op.name} input {i} {row.name}: {row.kind}{' optional' if row.optional else ''}"
        for row in op.attributes:
            rest = "required" if row.required else f"default {row.default!r}"
            yield f"{op.name} attribute {row.name}: {row.type} {rest} {' '.join(row.choices)}".rstrip()
        yield f"{op.name} modes of {op.mode}: {' '.join(op.modes)}"
        crop = op.crop.name if isinstance(op.crop, Enum) else op.crop
        yield f"{op.name} rules: crop {crop}, fill {op.fill}, clamp {op.clamp}"
        yield f"{op.name} T: {' '.join(op.types)}"


def configuration() -> Iterator[str]:
    """The names of the execution providers, their options, and the entries of a session's configuration."""
    for name in padops.get_ep_names():
        yield f"provider {name}"
    for name, values in OPTIONS.items():
        yield f"provider option {name}: {' '.join(values)}, default {values[0]}"
    if '"ep."' in (PACKAGE / "csrc" / "ort" / "provider_options.cpp").read_text(encoding="utf-8"):
        yield from (f"entry ep.{name.lower()}.OPTION" for name in padops.get_ep_names())
    yield f"entry {runtime_session.OPERATORS}"


def variables() -> set[str]:
    """Return the environment variables of padops that the package's Python and C++ sources read."""
    sources = (path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".cpp", ".h"))
    return {name for path in sources for name in re.findall(READ, path.read_text(encoding="utf-8"))}


# --- JSON -------------------------------------------------------------------------------------------------------------

MODEL = ROOT / "models" / "int16.onnx"
FREE = {"versions", "opsets", "operators", "providers", "machine", "counterexample"}  # objects whose names are data
ELSEWHERE = "files[].report"  # which has the fields of another report
WORDS = ("Verdict", "Road", "Status", "Outcome", "Certainty", "Exercise")
NAMES = {str: "string", bool: "true or false", int: "integer", float: "number", list: "list", dict: "object"}


def json_fields() -> dict[str, list[str]]:
    """A section for each report with its fields, and one for the words that fields may say."""
    conversion = made(Conversion, model=None, _proto=None, _folder=None, _write=None, _corrected=None, _fatal=None)
    with tempfile.TemporaryDirectory() as folder:
        runs = real_runs(Path(folder))
    inspected = {"models": [made(Inspection).to_json()]}
    bench = json.loads(table.as_json({"fact": ""}, [made(table.Measurement)]))
    found = {
        f"convert --report, schema {records.SCHEMA}": fields(conversion.to_json()),
        f"convert FOLDER --report, schema {records.SCHEMA}": fields(runs["folder"]),
        f"inspect --json, schema {records.SCHEMA}": fields(inspected, runs["inspect"], runs["unreadable"]),
        f"verify --json, schema {records.SCHEMA}": fields(runs["verify"], conversion.verification.to_json()),
        f"info --json, schema {info.SCHEMA}": fields(runs["info"]),
        "describe": fields(runs["describe"]),
        f"bench --json, schema {table.SCHEMA}": fields(bench),
    }
    for kind, names in record.FIELDS.items():
        lines = [name.replace("?", ", which may be absent") for name in names]
        found[f"conformance --out, schema {record.SCHEMA}, {kind}"] = lines
    words = {word: get_args(getattr(records, word)) for word in WORDS} | {"conformance outcome": OUTCOMES}
    return {f"JSON of padops {name}": lines for name, lines in found.items()} | {
        "words in the JSON": [f"{word}: {' | '.join(said)}" for word, said in words.items()]
    }


def fields(*examples: Any) -> list[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        collect(example, "", found)
    return [f"{path}: {' or '.join(sorted(kinds)) or 'null'}" for path, kinds in found.items()]


def collect(value: Any, path: str, found: dict[str, set[str]]) -> None:
    """Notes the fields of a value below a path."""
    if path:
        found[path] |= {NAMES[type(value)]} if value is not None else set()
    if isinstance(value, dict) and path.rpartition(".")[2] not in FREE and path != ELSEWHERE:
        for name, inner in value.items():
            collect(inner, f"{path}.{name}".lstrip("."), found)
    elif isinstance(value, list):
        for inner in value:
            collect(inner, f"{path}[]", found)


def made(kind: Any, **given: Any) -> Any:
    """A value of a type in which nothing is empty or None; of a dataclass with some fields given."""
    if dataclasses.is_dataclass(kind):
        # Only the types of the fields that are not given: the others may be of packages that are not imported.
        known = {**vars(sys.modules[kind.__module__]), "Mapping": Mapping}
        wanted = [(row.name, row.type) for row in dataclasses.fields(kind) if row.name not in given]
        hints = typing.get_type_hints(dataclasses.make_dataclass("Wanted", wanted), known)
        return kind(**{row.name: given.get(row.name) if row.name in given else made(hints[row.name])
                       for row in dataclasses.fields(kind)})  # fmt: skip
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return made(next(row for row in inner if row is not types.NoneType))
    if origin is typing.Literal:
        return inner[0]
    if origin is tuple:
        if get_origin(inner[0]) is typing.Literal:
            return get_args(inner[0])
        return tuple(map(made, inner)) if ... not in inner else (made(inner[0]),)
    if origin in (dict, Mapping):
        return {"name": made(inner[1])}
    return Path("file") if kind is Path else "text" if kind is Any else kind(1)


def real_runs(folder: Path) -> dict[str, Any]:
    (folder / "in").mkdir()
    shutil.copy(MODEL, folder / "in")
    model, report = folder / "in" / MODEL.name, folder / "report.json"
    run("convert", folder / "in", "-o", folder / "out", "--verify", "--report", report)
    converted = folder / "out" / MODEL.name
    return {"folder": json.loads(report.read_text(encoding="utf-8")),
            "inspect": json.loads(run("inspect", model, "--json", "--providers", "CPUExecutionProvider")),
            "unreadable": json.loads(run("inspect", report, "--json", code=1)),
            "verify": json.loads(run("verify", model, converted, "--json", "--run")),
            "info": json.loads(run("info", "--json")), "describe": json.loads(run("describe"))}  # fmt: skip


def run(*arguments: Any, code: int = 0) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
        assert cli.main([str(argument) for argument in arguments]) == code, printed.getvalue()
    return printed.getvalue()
