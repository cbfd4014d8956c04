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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from padops.conformance.divergences import Divergence, bounds_of, in_range, version_key
from padops.conformance.peers import PEERS, PeerRow, rows_of
from padops.conformance.peers.parts import has
from padops.extras import RUNTIMES

KNOWN: list[Divergence] = []  # in the order of the peers
# A case that shows each known divergence: it is part of every run, so that one that has gone is noticed.
EXAMPLES: dict[str, str] = {}
RECORDED: dict[str, str] = {}  # versions, by the distribution that a peer names first
OTHER_NAMES = {"tensorflow-cpu": "tensorflow", "onnx-weekly": "onnx"}  # of the same package


def _add(file: Path) -> None:
    """Adds the divergences of a file that are of peers in ``PEERS``.

    Raises:
        ValueError: The file says what it may not.
    """
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


_add(Path(__file__).with_suffix(".json"))


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
