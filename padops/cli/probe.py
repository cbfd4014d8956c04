"""``padops probe``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.exits import UNDECIDED, USAGE
from padops.files.staging import refusal, write_whole
from padops.terminal import count, fail, progress_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from padops.probe.outcome import Outcome, Seen

ABOUT = (
    "Measure how an execution provider of this machine runs Pads: padops runs small models, each in a process of its "
    "own, which may die, and compares every bit. It writes a file of rules into your configuration folder, where "
    "sessions with the same provider, version and device find it. With --output, it writes another file, which "
    "padops.InferenceSession accepts as rules=, and commands as --rules. Exit codes: 0 done, 1 error, 2 usage, "
    "5 some models are wrong even with these rules."
)


def add_probe(commands: Any) -> None:
    about = "measure how an execution provider runs Pads, and write rules for it"
    parser = commands.add_parser("probe", help=about, description=ABOUT)
    parser.add_argument("provider", metavar="PROVIDER", help="the provider's name, such as WebGpuExecutionProvider")
    parser.add_argument("--library", metavar="FILE", help="the library of a plugin provider, which is not "
                        "built into onnxruntime")  # fmt: skip
    parser.add_argument("--option", type=_pair, action="append", default=[], metavar="NAME=VALUE", dest="own_options",
                        help="an option of the provider, such as backend_path=…; repeatable")  # fmt: skip
    parser.add_argument("--seconds", type=count, default=60, metavar="N", help="the limit for one model; then its "
                        "process is killed (default: %(default)s)")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="RULES.json", help="the file to write (default: padops/rules/"
                        "PROVIDER.json in your configuration folder, or in the folder $PADOPS_RULES)")  # fmt: skip
    parser.set_defaults(run=run_probe)


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not name or not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is no option, expected NAME=VALUE")
    return name, value


def run_probe(options: argparse.Namespace) -> int:
    from padops.probe.outcome import Asked, probe, text_of
    from padops.probe.probes import PROBES
    from padops.runtime.provider import CPU, EP_NAMES, FIRST_MINOR, runtime_minor
    from padops.runtime.provider_rules import file_of, full_names

    if runtime_minor() < FIRST_MINOR:
        return fail(f"padops probe needs onnxruntime 1.{FIRST_MINOR} or newer: older releases lack plugin providers")
    if options.library and not Path(options.library).is_file():
        return fail(f"--library: there is no file {options.library}")
    (name,) = full_names([options.provider])
    if name in (CPU, *EP_NAMES):
        return fail(f"{name} needs no rules; name another provider", USAGE)
    library = str(Path(options.library).resolve()) if options.library else ""
    output = Path(options.output) if options.output else file_of(name)
    try:
        if output is not None and not options.output:
            output.parent.mkdir(parents=True, exist_ok=True)
        if why := refusal([output]):  # before minutes of measuring
            return fail(why)
        with progress_line() as progress:
            advance = lambda done: progress("models", done, len(PROBES))
            found = probe(Asked(name, library, dict(options.own_options), options.seconds), PROBES, advance)
        show(found)
        if output is not None:
            write_whole(output, [text_of(found)])
    except OSError as error:
        return fail(error)
    if output is not None:
        way = f"accepts them with rules={str(output)!r}" if options.output else "finds them by itself"
        say(f"{output}: {len(found.rules)} rules; padops.InferenceSession {way}")
    return UNDECIDED if found.unexplained else 0


def show(found: Outcome) -> None:
    """Prints the provider's results, a line for each condition; then the unexplained results."""
    devices = "".join(f", {device}" for device in found.about["devices"])
    say(f"{found.asked.provider}, {found.version}{devices}: {len(found.seen)} models")
    for when in dict.fromkeys(row.probe.when for row in found.seen):
        rows = [row for row in found.seen if row.probe.when == when]
        say(f"  {when:22} {'; '.join(_told(rows))}")
    if found.beside:
        right = sum(row.does == "right" for row in found.beside)
        asked = f"{len(found.beside)} models that failed, or that padops claims"
        say(f"with padops and these rules beside it: {right} of {asked}, are right")
    say(*(f"unexplained: {line}" for line in found.unexplained))


def _told(rows: Sequence[Seen]) -> Iterator[str]:
    """Yields the count of right models, and the models of each other result, marked if the Pad is not the cause."""
    for does in dict.fromkeys(row.does for row in rows):
        names = [row.probe.name + " (also without it)" * row.is_bare for row in rows if row.does == does]
        yield f"right: {len(names)}" if does == "right" else f"{does}: {', '.join(names)}"
