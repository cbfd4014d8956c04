"""The known divergences of Pad implementations from docs/semantics.md, and the versions with which they were recorded.

``known.json`` lists the divergences by package; a ``known.json`` beside a peer's file lists the divergences of that
file's peers. A row has the fields of ``Divergence``. If a row has ``like``, the id of another row, that row provides
the missing fields, except ``versions``. A row without ``versions`` covers all recorded versions. If several rows match
a case, the first row that fits the outcome counts.

If the version of a peer is outside of ``recorded``, the divergences of the nearest recorded version apply. An
unexplained fault then counts as new behaviour, not as unexpected; ``judged_as`` has the exceptions. To record the
version, review the results, update the divergences, and extend ``recorded`` to include the version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from padops.conformance.features import TAGS, WRONG, Prepared
from padops.conformance.peers import PEERS, Peer, rows_of
from padops.conformance.peers.parts import has
from padops.extras import RUNTIMES


@dataclass(frozen=True)
class Divergence:
    """One known way in which one peer breaks padops' rules."""

    id: str  # short and lasting; reports name it
    outcome: str | Collection[str]  # one of ``features.WRONG``, or several if the outcome depends on memory
    rule: str  # the affected rule of docs/semantics.md
    reason: str  # the reason, in a sentence
    peer: str  # a name in ``peers.PEERS``; covers this peer in every interpreter
    versions: str  # of the peer's first package, as recorded: ``">=1.20,<1.31"`` or ``">=1.24,<=1.32.0"``
    link: str = ""  # upstream's statement or discussion
    families: Collection[str] = ()  # of operators; empty for all
    modes: Collection[str] = ()  # in lower case; empty for all
    dtypes: Collection[str] = ()  # element types; empty for all
    expected: str = ""  # ``"output"`` or ``"error"``, or empty for both
    rules: Collection[str] = ()  # the rules of the expected error; empty for all
    tags: Collection[str] = ()  # all of these hold
    some: Collection[str] = ()  # at least one of these holds; empty for no condition
    without: Collection[str] = ()  # none of these hold
    opsets: Sequence[int] = ()  # the oldest and newest opset, or empty for all
    # A part of the peer's message. It separates known from new behaviour, and does not affect which cases match.
    says: str = ""
    example: str = ""  # a case of every run that shows the divergence, to detect that it no longer occurs

    def __post_init__(self) -> None:
        if unknown := {*self.tags, *self.some, *self.without} - TAGS or self.outcomes - {*WRONG}:
            raise ValueError(f"divergence {self.id}: unknown {unknown}")
        bounds_of(self.versions)

    @property
    def outcomes(self) -> set[str]:
        return {self.outcome} if isinstance(self.outcome, str) else {*self.outcome}

    def matches(self, item: Prepared) -> bool:
        case, expected = item.case, "error" if item.packed is None else "output"
        return (
            (not self.families or item.family in self.families)
            and (not self.modes or case.mode in self.modes)
            and (not self.dtypes or case.dtype.name in self.dtypes)
            and (not self.expected or expected == self.expected)
            and (not self.rules or item.expected.rule in self.rules)
            and item.tags.issuperset(self.tags)
            and (not self.some or not item.tags.isdisjoint(self.some))
            and item.tags.isdisjoint(self.without)
            and (not self.opsets or self.opsets[0] <= case.opset <= self.opsets[1])
        )


def version_key(version: str) -> tuple[int, ...]:
    """Convert a version to numbers: ``"2.13.0+cpu"`` to ``(2, 13, 0)``, ``"0.27.0.post1"`` to ``(0, 27, 0, 1)``."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:4])


def bounds_of(versions: str) -> tuple[str, str, bool]:
    """Return the ends of a range, and whether the range includes its upper end.

    ``">=1.20,<1.31"`` becomes ``("1.20", "1.31", False)``.
    """
    match = re.fullmatch(r">=(\d+(?:\.\d+)*),<(=?)(\d+(?:\.(?:dev)?\d+)*)", versions)
    if match is None:
        raise ValueError(f"a range of versions is {versions!r}, expected >=VERSION,<VERSION or >=VERSION,<=VERSION")
    return match[1], match[3], bool(match[2])


def in_range(version: str, versions: str) -> bool:
    """Return whether a version lies in a range; a version without a number never does."""
    oldest, newest, included = bounds_of(versions)
    key, last = version_key(version), version_key(newest)
    return version_key(oldest) <= key and (key < last or included and key == last)


KNOWN: list[Divergence] = []  # in the order of the peers
EXAMPLES: dict[str, str] = {}  # the example of each divergence, by id
RECORDED: dict[str, str] = {}  # versions, by the distribution that a peer names first
OTHER_NAMES = {"tensorflow-cpu": "tensorflow", "onnx-weekly": "onnx"}  # of the same package


def _add(file: Path) -> None:
    """Add a file's divergences to ``KNOWN``; leave out divergences of peers that are not in ``PEERS``."""
    by_id = {row.id: row for row in KNOWN}
    try:
        for group in json.loads(file.read_text(encoding="utf-8")):
            RECORDED[group["package"]] = group["recorded"]
            for said in group["rows"]:
                like = vars(by_id[said.pop("like")]) if "like" in said else {}
                by_id[said["id"]] = Divergence(**{**like, "versions": group["recorded"], **said})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: not a list of known divergences: {type(error).__name__}: {error}") from error
    KNOWN[:] = sorted((row for row in by_id.values() if row.peer in PEERS), key=lambda row: [*PEERS].index(row.peer))
    EXAMPLES.update((row.id, row.example) for row in KNOWN)


_add(Path(__file__).with_name("known.json"))


def add_peers(place: Path) -> list[Peer]:
    """Add the peers of a file, or of all files of a folder, to ``PEERS``, with their known divergences."""
    files = [file for file in sorted(place.glob("*.py")) if has(file, "ENVIRONMENT")] if place.is_dir() else [place]
    rows = [row for file in files for row in rows_of(file)]
    for row in rows:
        if row.name in PEERS and PEERS[row.name].entry_point != row.entry_point:
            raise ValueError(f"{row.file}: another peer is called {row.name!r}")
    PEERS.update({row.name: row for row in rows})
    file = (place if place.is_dir() else place.parent) / "known.json"
    if file.is_file():
        _add(file)
    return rows


def judged_as(peer: Peer, versions: Mapping[str, str]) -> tuple[str, str]:
    """Return the version that selects a peer's divergences, and then the recorded versions.

    The recorded versions are "" if no fault counts as new. A fault of padops' own peers is unexpected, not new: padops
    must be right in a new runtime, too. A fault of a user's peer is not new either, because no divergences are recorded
    for this peer.
    """
    package, version = next(iter(versions.items()), ("", ""))
    package = RUNTIMES[0] if package in RUNTIMES and not peer.provider else OTHER_NAMES.get(package, package)
    recorded = RECORDED.get(package, "")
    if not recorded or in_range(version, recorded):
        return version, ""
    oldest, newest, _ = bounds_of(recorded)
    nearest = oldest if version_key(version) < version_key(oldest) else newest
    return nearest, "" if peer.ours or not peer.is_listed else recorded
