"""A run over many breaks: which are planted, and what became of each."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from . import cpp_changes, python_changes
from .change import Change
from .equivalent import reason_of
from .relevant import ROOT
from .workshop import Workshop

FOLDERS = ("padops/csrc", "padops/convert")
# What the proofs and the runtime's own header look at, and what old systems lack.
LEFT_OUT = ("ort_abi.h", "provider_abi.h", "ort_abi_check.cpp", "glibc_floor.cpp")


@dataclass(frozen=True)
class Outcome:
    """What became of one break.

    Attributes:
        file: Of the source, from the checkout's root.
        number: Of the line.
        line: The line as it is.
        became: The line with the break.
        outcome: ``"killed"``, ``"survived"``, ``"does not build"`` or ``"equivalent"``.
        by: The test that failed, or why the break changes nothing.
        seconds: How long it took.
    """

    file: str
    number: int
    line: str
    became: str
    outcome: str
    by: str
    seconds: float

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is found by where lines have moved."""
        return self.file, self.line, self.became


def sources_of(folder: str) -> list[Path]:
    """The sources of a folder in which breaks are planted, from the checkout's root, in order."""
    found = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".cpp", ".h", ".py"))
    return [path.relative_to(ROOT) for path in found if path.name not in LEFT_OUT]


def changes_of(path: Path) -> Iterator[Change]:
    """All breaks of one source."""
    changes = python_changes.changes if path.suffix == ".py" else cpp_changes.changes
    return changes(path.as_posix(), (ROOT / path).read_text(encoding="utf-8"))


def drawn(count: int, seed: int, folders: Sequence[str] = FOLDERS) -> list[Change]:
    """So many breaks, as many of each folder.

    Those with the least hashes: where a source changes, the breaks of the others stay.
    """
    chosen: list[Change] = []
    for i, folder in enumerate(folders):
        named: dict[Change, str] = {}
        for path in sources_of(folder):
            source = (ROOT / path).read_text(encoding="utf-8")
            named |= {change: f"{seed} {change.file} {change.lines(source)}" for change in changes_of(path)}
        share = count * (i + 1) // len(folders) - count * i // len(folders)
        chosen += sorted(sorted(named), key=lambda change: hashlib.sha256(named[change].encode()).digest())[:share]
    return sorted(chosen)


def outcomes(changes: Sequence[Change], folder: Path, results: Path, again: Sequence[str] = ()) -> Iterator[Outcome]:
    """Tries breaks one after the other.

    Args:
        changes: The breaks.
        folder: Of the copy in which they are planted.
        results: A file to which each outcome is added, and whose outcomes are taken for those that were tried before.
        again: The outcomes that are not taken from there.

    Yields:
        One outcome for each break, in order.
    """
    lines = results.read_text(encoding="utf-8").splitlines() if results.is_file() else []
    last = {row.key: row for row in (Outcome(**json.loads(line)) for line in lines)}
    known = {key: row for key, row in last.items() if row.outcome not in again}
    workshop = None
    for change in changes:
        source = (ROOT / change.file).read_text(encoding="utf-8")
        line, became = change.lines(source)
        start = time.monotonic()
        if reason := reason_of(change.file, line, became):
            found = ("equivalent", reason)
        elif row := known.get((change.file, line, became)):
            yield row
            continue
        else:
            workshop = workshop or Workshop(folder)
            found = workshop.tried(change)
        row = Outcome(change.file, change.line(source), line, became, *found, round(time.monotonic() - start, 1))
        results.parent.mkdir(parents=True, exist_ok=True)
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        yield row
