"""Known divergences: what they match, and whether they still occur. ``known.json`` has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from padops.conformance.features import TAGS, CaseFeatures
from padops.conformance.record import IDLE, WRONG


@dataclass(frozen=True)
class Divergence:
    """One way in which one peer is known not to follow padops' rules.

    Attributes:
        id: Short and lasting; reports name it.
        outcome: What happens, of ``record.WRONG``, or several where it depends on memory.
        rule: The rule of docs/semantics.md that it is about.
        reason: Why, in a sentence.
        peer: Of ``peers.PEERS``; a peer in another interpreter counts too.
        versions: Of the peer's first package, as recorded: ``">=1.20,<1.31"`` or ``">=1.24,<=1.32.0"``.
        link: Where upstream says or discusses it.
        families: Of operators; empty for all.
        modes: In lower case; empty for all.
        dtypes: Element types; empty for all.
        expected: ``"output"`` or ``"error"``, or empty for both.
        rules: The expected error's; empty for all.
        tags: All of these hold.
        some: One of these holds, unless it is empty.
        without: None of these hold.
        opsets: The oldest and newest opset, or empty for all.
        says: What the peer's message contains; it tells apart what is known from what is new, not which cases match.
    """

    id: str
    outcome: str | tuple[str, ...]
    rule: str
    reason: str
    peer: str
    versions: str
    link: str = ""
    families: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    expected: str = ""
    rules: tuple[str, ...] = ()
    tags: frozenset[str] | set[str] = field(default_factory=frozenset)
    some: frozenset[str] | set[str] = field(default_factory=frozenset)
    without: frozenset[str] | set[str] = field(default_factory=frozenset)
    opsets: tuple[int, ...] = ()
    says: str = ""

    def __post_init__(self) -> None:
        unknown = (self.tags | self.some | self.without) - TAGS.keys()
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
    """Whether a version lies in a range; none that has no number does.

    Raises:
        ValueError: The range is written in another way.
    """
    oldest, newest, included = bounds_of(versions)
    key, last = version_key(version), version_key(newest)
    return version_key(oldest) <= key and (key < last or included and key == last)


@dataclass
class DivergenceTracker:
    """The divergences of one peer, and which of them have been seen.

    Attributes:
        known: Those that concern the peer in its version.
        excused: Whether what they do not explain is new behaviour of the peer, whose version none was recorded with.
        met: How many cases each has matched.
        seen: How many of these came out as it says.
    """

    known: Sequence[Divergence]
    excused: bool = False
    met: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def explain(self, features: CaseFeatures, outcome: str, detail: str = "") -> str | None:
        """The id of the divergence that explains an outcome, or None; ``detail`` is the peer's message."""
        if outcome in IDLE:
            return None
        found = None
        for divergence in self.known:
            if not divergence.matches(features):
                continue
            self.met[divergence.id] = self.met.get(divergence.id, 0) + 1
            if outcome in divergence.outcomes and divergence.says in detail:
                found = found or divergence.id
                self.seen[divergence.id] = self.seen.get(divergence.id, 0) + 1
        return found
