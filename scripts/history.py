"""Run the conformance suite on each release of each implementation, and show the changes between releases.

    python3 scripts/history.py [--only PACKAGE[==VERSION]] [--keep] [--work DIR] [--out FILE.json]
    python3 scripts/history.py --list
    python3 scripts/history.py --show FILE.json [--svg PICTURE.svg]

Each release runs in an environment that uv (or npm) creates; the script then removes it. Results stay in --work, so a
second call continues the first. The script needs a Python that has padops. Exit codes: 0 done, 1 a release has no
environment, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import help_first  # noqa: F401

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import history_page as page
from history_measure import digest_of, measure, releases, suite

from padops.conformance.runner import CutShort
from padops.exits import USAGE
from padops.files.interrupts import end_process, exit_code
from padops.files.staging import write_whole
from padops.plural import plural
from padops.terminal import fail, say

SCHEMA = 1


def write(path: Path, told: Iterable[dict[str, Any]]) -> None:
    """Writes the results of releases, one line each, in the order of ``history_measure.FOLLOWED``."""
    order = {release.name: i for i, release in enumerate(releases())}
    ordered = sorted(told, key=lambda one: order.get(f"{one['package']}=={one['version']}", len(order)))
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in ordered)
    write_whole(path, [f'{{"schema": {SCHEMA}, "releases": [\n{lines}\n]}}\n'])


def read(path: Path) -> list[dict[str, Any]]:
    """Reads the result of each release, in the form that ``measure`` returns.

    Raises:
        ValueError: ``write`` has not written the file.
        OSError: The file cannot be read.
    """
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: not a history: {error}") from error
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{path}: not a history of schema {SCHEMA}")
    told: list[dict[str, Any]] = content["releases"]
    return told


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE[==VERSION]")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--work", default="build/history", metavar="DIR")
    parser.add_argument("--out", metavar="FILE")
    parser.add_argument("--show", metavar="FILE")
    parser.add_argument("--svg", metavar="PICTURE")
    options = parser.parse_args(arguments)
    try:
        if options.show:
            told = read(Path(options.show))
            print(page.markdown(told), end="")
            if options.svg:
                write_whole(Path(options.svg), [page.svg(told)])
            return 0
        chosen = _chosen(options.only)
    except OSError as error:
        return fail(error)
    except ValueError as error:
        return fail(error, USAGE)
    try:
        return _measure(options, chosen)
    except CutShort as cut:
        say(f"interrupted: {options.work} keeps what has been measured, and a second call goes on there", stderr=True)
        return exit_code(cut.ending)


def _chosen(only: list[str]) -> list[Any]:
    """Returns the requested releases.

    Raises:
        ValueError: There is no such package or release.
    """
    every = list(releases())
    names = {release.name for release in every} | {release.package for release in every}
    if unknown := [name for name in only if name not in names]:
        packages = ", ".join(dict.fromkeys(release.package for release in every))
        raise ValueError(f"--only {unknown[0]}: no such release; --list prints those of {packages}")
    return [release for release in every if not only or release.name in only or release.package in only]


def _measure(options: argparse.Namespace, chosen: list[Any]) -> int:
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
            say(f"{release.name}: {page.agreement(told):.1%} of {plural(page.run_of(told), 'case', ',')} agree")
    if options.out:
        places = [results / f"{release.package}-{release.version}.json" for release in releases()]
        found = [told for place in places if (told := _kept(place, digest)) is not None]
        write(Path(options.out), found)
        say(f"{plural(len(found), 'release')} in {options.out}")
    return 1 if absent else 0


def _kept(place: Path, digest: str) -> dict[str, Any] | None:
    """Returns an earlier result for the same cases, or None."""
    if not place.is_file():
        return None
    told: dict[str, Any] = json.loads(place.read_bytes())
    return told if told["cases"] == digest else None


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end_process)
    sys.exit(main(sys.argv[1:]))
