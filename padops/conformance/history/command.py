"""``padops conformance history``: measures releases, and shows what they changed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from padops.exits import USAGE
from padops.files.interrupts import exit_code
from padops.plural import plural
from padops.terminal import fail, say

ABOUT = (
    "Run the suite on each minor release of ONNX Runtime, onnx, OpenVINO, TensorFlow, JAX, NumPy and others, each in "
    "an environment that uv (or npm) makes and that is removed again. What a release did stays in --work: a second "
    "call continues where the first ended. Exit codes: 0 done, 1 a release has no environment, 2 usage."
)
WORK = "build/history"
ALL = "1/1"  # of the shards


def add_history(subparsers: Any) -> None:
    """Adds ``padops conformance history``."""
    parser = subparsers.add_parser("history", help="run the suite on release after release", description=ABOUT)
    parser.add_argument(
        "--only", action="append", default=[], metavar="PACKAGE[==VERSION]",
        help="only this package, or this release (may be repeated)",
    )  # fmt: skip
    parser.add_argument("--shard", default=ALL, metavar="I/N", help="every N-th release, from the I-th on")
    parser.add_argument("--list", action="store_true", help="print the releases, and which of them have been measured")
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    parser.add_argument("--work", metavar="DIR", default=WORK, help=f"environments and results (default: {WORK})")
    parser.add_argument("--out", metavar="FILE", help="write all that has been measured into this JSON file")
    parser.add_argument("--show", metavar="FILE", help="measure nothing: print the tables of such a file")
    parser.add_argument("--svg", metavar="PICTURE", help="with --show: draw them as well")
    parser.set_defaults(run=run_history)


def run_history(options: argparse.Namespace) -> int:
    """Does what the options say."""
    from padops.conformance.history.data import HistoryError
    from padops.conformance.report import parse_shard
    from padops.conformance.runner import CutShort

    measuring = any((options.only, options.list, options.keep, options.out, options.shard != ALL, options.work != WORK))
    contradictions = {
        "--svg needs --show FILE": options.svg and not options.show,
        "--show measures nothing: it excludes every option but --svg": options.show and measuring,
        "--list measures nothing: it excludes --keep": options.list and options.keep,
    }
    if why := next((text for text, holds in contradictions.items() if holds), None):
        return fail(why, USAGE)
    try:
        if options.show:
            return _show(options)
        shard, chosen = parse_shard(options.shard), _chosen(options.only)
        return _measure(options, chosen[shard[0] - 1 :: shard[1]])
    except (HistoryError, OSError) as error:
        return fail(error)
    except ValueError as error:
        return fail(error, USAGE)
    except CutShort as cut:
        say(f"interrupted: {options.work} keeps what has been measured, and a second call goes on there", stderr=True)
        return exit_code(cut.ending)


def _chosen(only: list[str]) -> list[Any]:
    """The releases that are asked for.

    Raises:
        ValueError: There is no such package or release.
    """
    from padops.conformance.history.measure import releases

    every = list(releases())
    names = {release.name for release in every} | {release.package for release in every}
    if unknown := [name for name in only if name not in names]:
        packages = ", ".join(dict.fromkeys(release.package for release in every))
        raise ValueError(f"--only {unknown[0]}: no such release; --list prints those of {packages}")
    return [release for release in every if not only or release.name in only or release.package in only]


def _measure(options: argparse.Namespace, chosen: list[Any]) -> int:
    from padops.conformance.history import data
    from padops.conformance.history.measure import digest_of, measure, releases, suite
    from padops.conformance.history.page import agreement, run_of
    from padops.files.staging import write_whole

    work, cases = Path(options.work), suite()
    results, digest, absent = work / "results", digest_of(cases), 0
    for release in chosen:
        place = results / f"{release.package}-{release.version}.json"
        told = _kept(place, digest)
        if told is None and not options.list:
            told = measure(release, cases, work, options.keep)
            if "absent" not in told:
                results.mkdir(parents=True, exist_ok=True)
                write_whole(place, [json.dumps(told) + "\n"])
        if told is None:
            say(f"{release.name}: not measured")
        elif "absent" in told:
            absent += 1
            say(f"{release.name}: absent: {told['absent']}")
        else:
            say(f"{release.name}: {agreement(told):.1%} of {plural(run_of(told), 'case', ',')} agree")
    if options.out:
        places = [results / f"{release.package}-{release.version}.json" for release in releases()]
        found = [told for place in places if (told := _kept(place, digest)) is not None]
        data.write(Path(options.out), found)
        say(f"{plural(len(found), 'release')} in {options.out}")
    return 1 if absent else 0


def _kept(place: Path, digest: str) -> dict[str, Any] | None:
    """What has been measured already with the same cases, or None."""
    from padops.conformance.history.data import fault_of

    try:
        told = json.loads(place.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return told if not fault_of(told) and told["cases"] == digest else None


def _show(options: argparse.Namespace) -> int:
    from padops.conformance.history import data, page
    from padops.files.staging import write_whole

    told = data.read(Path(options.show))
    for line in page.markdown(told).splitlines():
        say(line)
    if options.svg:
        write_whole(Path(options.svg), [page.svg(told)])
    return 0
