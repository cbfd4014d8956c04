"""Every known divergence of a real Pad from the rules of docs/semantics.md, and the versions that they are recorded of.

``known.json`` has them by package; one beside a file of peers has those of its peers. A row has the fields of
``Divergence``, and ``example``, the id of a case that shows it. One that is ``like`` another, by its id, has the fields
of that one where it says nothing else. Without ``versions`` it is of all that are recorded. Of several rows that match,
the first one that the outcome fits counts.

Versions that nothing was recorded of are no failure of padops: a newer one is judged as the newest that was recorded,
an older one as the oldest. What the divergences do not explain then is its new behaviour, and is listed apart. Once its
results have been looked at, and the divergences changed where they have to be, its version becomes an end of
``recorded``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from padops.conformance.features import TAGS, CaseFeatures
from padops.conformance.peers import PEERS, PeerRow, rows_of
from padops.conformance.peers.parts import has
from padops.conformance.record import IDLE, WRONG
from padops.extras import RUNTIMES


@dataclass(frozen=True)
class Divergence:
    """One way in which one peer is known not to follow padops' rules."""

    id: str  # short and lasting; reports name it
    outcome: str | tuple[str, ...]  # what happens, of ``record.WRONG``, or several where it depends on memory
    rule: str  # the rule of docs/semantics.md that it is about
    reason: str  # why, in a sentence
    peer: str  # of ``peers.PEERS``; a peer in another interpreter counts too
    versions: str  # of the peer's first package, as recorded: ``">=1.20,<1.31"`` or ``">=1.24,<=1.32.0"``
    link: str = ""  # where upstream says or discusses it
    families: tuple[str, ...] = ()  # of operators; empty for all
    modes: tuple[str, ...] = ()  # in lower case; empty for all
    dtypes: tuple[str, ...] = ()  # element types; empty for all
    expected: str = ""  # ``"output"`` or ``"error"``, or empty for both
    rules: tuple[str, ...] = ()  # the expected error's; empty for all
    tags: frozenset[str] | set[str] = field(default_factory=frozenset)  # all of these hold
    some: frozenset[str] | set[str] = field(default_factory=frozenset)  # one of these holds, unless it is empty
    without: frozenset[str] | set[str] = field(default_factory=frozenset)  # none of these hold
    opsets: tuple[int, ...] = ()  # the oldest and newest opset, or empty for all
    # What the peer's message contains; it tells apart what is known from what is new, not which cases match.
    says: str = ""

    def __post_init__(self) -> None:
        unknown = (self.tags | self.some | self.without) - TAGS
        if unknown or not self.outcomes <= {*WRONG}:
            raise ValueError(f"divergence {self.id}: unknown {unknown or self.outcomes}")
        bounds_of(self.versions)

    @property
    def outcomes(self) -> set[str]:
        """``outcome`` as a set."""
        return {self.outcome} if isinstance(self.outcome, str) else set(self.outcome)

    def concerns(self, peer: str, version: str) -> bool:
        """Whether it is about a peer of this version."""
        return self.peer == peer.split("@")[0] and in_range(version, self.versions)

    def matches(self, features: CaseFeatures) -> bool:
        """Whether it is about a case."""
        return (
            (not self.families or features.family in self.families)
            and (not self.modes or features.mode in self.modes)
            and (not self.dtypes or features.dtype in self.dtypes)
            and (not self.expected or features.expected == self.expected)
            and (not self.rules or features.rule in self.rules)
            and self.tags <= features.tags
            and (not self.some or bool(self.some & features.tags))
            and not self.without & features.tags
            and (not self.opsets or self.opsets[0] <= features.opset <= self.opsets[1])
        )


def version_key(version: str) -> tuple[int, ...]:
    """``"2.13.0+cpu"`` as ``(2, 13, 0)``, ``"0.27.0.post1"`` as ``(0, 27, 0, 1)``."""
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:4])


def bounds_of(versions: str) -> tuple[str, str, bool]:
    """The ends of a range, and whether the second belongs to it: ``">=1.20,<1.31"`` as ``("1.20", "1.31", False)``.

    Raises:
        ValueError: The range is written in another way.
    """
    match = re.fullmatch(r">=(\d+(?:\.\d+)*),<(=?)(\d+(?:\.(?:dev)?\d+)*)", versions)
    if match is None:
        raise ValueError(f"a range of versions says {versions!r}, expected >=VERSION,<VERSION or >=VERSION,<=VERSION")
    return match[1], match[3], bool(match[2])


def in_range(version: str, versions: str) -> bool:
    """Whether a version lies in a range; none that has no number does."""
    oldest, newest, included = bounds_of(versions)
    key, last = version_key(version), version_key(newest)
    return version_key(oldest) <= key and (key < last or included and key == last)


@dataclass
class DivergenceTracker:
    """The divergences of one peer, and which of them have been seen."""

    known: Sequence[Divergence]  # those that concern the peer in its version
    # Whether what they do not explain is new behaviour of the peer, whose version none was recorded with.
    excused: bool = False
    # Of each that has matched a case, how many cases came out as it says.
    seen: dict[str, int] = field(default_factory=dict)

    def explain(self, features: CaseFeatures, outcome: str, detail: str = "") -> str | None:
        """The id of the divergence that explains an outcome, or None; ``detail`` is the peer's message."""
        if outcome in IDLE:
            return None
        found = None
        for divergence in self.known:
            if not divergence.matches(features):
                continue
            fits = outcome in divergence.outcomes and divergence.says in detail
            found = found or (divergence.id if fits else None)
            self.seen[divergence.id] = self.seen.get(divergence.id, 0) + fits
        return found

    @property
    def not_seen(self) -> list[str]:
        """Divergences that do not occur: their cases ran, and none came out as they say."""
        return [id for id, count in self.seen.items() if not count]


KNOWN: list[Divergence] = []  # in the order of the peers
# A case that shows each known divergence: it is part of every run, so that one that has gone is noticed.
EXAMPLES: dict[str, str] = {}
RECORDED: dict[str, str] = {}  # versions, by the distribution that a peer names first
OTHER_NAMES = {"tensorflow-cpu": "tensorflow", "onnx-weekly": "onnx"}  # of the same package


def _add(file: Path) -> None:
    """Adds the divergences of a file that are of peers in ``PEERS``."""
    by_id, examples = {row.id: row for row in KNOWN}, {**EXAMPLES}
    try:
        for group in json.loads(file.read_text(encoding="utf-8")):
            RECORDED[group["package"]] = group["recorded"]
            for said in group["rows"]:
                examples[said["id"]] = said.pop("example")
                like = vars(by_id[said.pop("like")]) if "like" in said else {}
                made = {name: _plain(name, value) for name, value in said.items()}
                by_id[said["id"]] = Divergence(**{**like, "versions": group["recorded"], **made})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file}: no known divergences: {type(error).__name__}: {error}") from error
    KNOWN[:] = sorted((row for row in by_id.values() if row.peer in PEERS), key=lambda row: [*PEERS].index(row.peer))
    EXAMPLES.update((row.id, examples[row.id]) for row in KNOWN)


def _plain(name: str, value: Any) -> Any:
    return value if isinstance(value, str) else (frozenset if name in ("tags", "some", "without") else tuple)(value)


_add(Path(__file__).with_name("known.json"))


def add_peers(place: Path) -> list[PeerRow]:
    """Adds the peers of a file, or of all files of a folder, to ``PEERS``, with what is known of them.

    Raises:
        ValueError: The file has no ``ENVIRONMENT``, or padops has another peer of such a name.
    """
    files = [file for file in sorted(place.glob("*.py")) if has(file, "ENVIRONMENT")] if place.is_dir() else [place]
    rows = [*rows_of(files)]
    for row in rows:
        if row.name in PEERS and PEERS[row.name].entry_point != row.entry_point:
            raise ValueError(f"{row.file}: there is another peer {row.name!r}")
    PEERS.update({row.name: row for row in rows})
    file = (place if place.is_dir() else place.parent) / "known.json"
    if file.is_file():
        _add(file)
    return rows


def first_of(row: PeerRow, versions: Mapping[str, str]) -> tuple[str, str]:
    """The first package of a peer, as ``RECORDED`` calls it, and its version; or two empty texts."""
    package, version = next(iter(versions.items()), ("", ""))
    package = OTHER_NAMES.get(package, package)
    return (RUNTIMES[0] if package in RUNTIMES and not row.provider else package), version


def judged_as(row: PeerRow, versions: Mapping[str, str]) -> str:
    """The version by which divergences are chosen: the peer's own, or the nearest that was recorded.

    Of the peer's packages, the first counts.
    """
    package, version = first_of(row, versions)
    if package not in RECORDED or in_range(version, RECORDED[package]):
        return version
    oldest, newest, _ = bounds_of(RECORDED[package])
    return oldest if version_key(version) < version_key(oldest) else newest


def not_recorded(row: PeerRow, versions: Mapping[str, str]) -> str:
    """The versions that were recorded, where a peer's own is none of them and excuses it; else an empty text.

    Nothing excuses padops' own peers: what they do in a new runtime, padops must know. Nor is anything recorded of a
    peer of the user's own.
    """
    package, version = first_of(row, versions)
    known = PEERS.get(row.name)
    if row.ours or known is None or known.entry_point != row.entry_point or package not in RECORDED:
        return ""
    return "" if in_range(version, RECORDED[package]) else RECORDED[package]
