"""``padops info``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from padops.cli.console import make_console, show_wrapped

if TYPE_CHECKING:
    from rich.console import Console


def add_info(commands: Any) -> None:
    """Adds the command to those of ``padops``."""
    parser = commands.add_parser("info", help="print versions, the library and its operators; check that one runs")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from padops.convert.records import versions
    from padops.runtime.library import get_library_path
    from padops.runtime.session import describe

    console = make_console()
    for name, version in versions().items():
        console.print(f"{name:24} {version or 'not installed'}")
    try:
        console.print(f"{'library':24} {get_library_path()}", soft_wrap=True)
        _show_types(console, describe())
    except (OSError, RuntimeError) as error:  # RuntimeError: a rebuild has failed
        print(f"error: {error}", file=sys.stderr)
        return 1
    return _self_check(console)


def _show_types(console: Console, described: dict[str, Any]) -> None:
    """The operators that have the same element types, and below them which these are: the fewest first."""
    from rich.text import Text

    together: dict[frozenset[str], list[str]] = {}
    for op in described["ops"]:
        together.setdefault(frozenset(op["types"]), []).append(op["name"])
    ops, types = len(described["ops"]), len(described["types"])
    header = f"domain {described['domain']}, version {described['version']}: {ops} operators, {types} element types"
    console.print(Text(header, "bold"))
    before: frozenset[str] = frozenset()
    for has, names in sorted(together.items(), key=lambda row: len(row[0])):
        new = " ".join(
            row["name"] for row in described["types"] if row["name"] in has - (before if before < has else set())
        )
        show_wrapped(console, [", ".join(names)], 2, style="")
        show_wrapped(console, [("and " if before and before < has else "") + new], 6)
        before = has


def _self_check(console: Console) -> int:
    """Converts a model that ONNX Runtime refuses, runs it there, and compares it with the reference."""
    from onnx import parser

    from padops.convert import PadopsError, convert

    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> '
        "check (int16[2, 3] x) => (int16[2, 8] y) "
        '<int64[4] pads = {0, 2, 0, 3}> { y = Pad <mode = "reflect"> (x, pads) }'
    )
    try:
        verification = convert(model, verify=True).verification
    except PadopsError as error:
        print(f"error: the self-check failed: {error}", file=sys.stderr)
        return 1
    assert verification is not None
    console.print(f"self-check: padops::Pad_18 of int16 in a session: {verification.outcome} to the reference")
    return 0
