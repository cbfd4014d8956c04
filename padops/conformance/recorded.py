"""Versions of peers that the known divergences were not recorded with: what these do otherwise is no failure of padops.

A newer version is judged as the newest that was recorded, an older one as the oldest. What the divergences do not
explain then is its new behaviour, and is listed apart. Once its results have been looked at, and the divergences
changed where they have to be, its version becomes an end of ``RECORDED`` in the peer's file.
"""

from __future__ import annotations

from collections.abc import Mapping

from padops.conformance.divergences import bounds_of, in_range, version_key
from padops.conformance.peers import PEERS, PeerRow
from padops.conformance.peers.parts import peer_files, value_of
from padops.extras import RUNTIMES

# By the distribution that a peer names first.
_STATED = [(value_of(file, "PACKAGES")[0], value_of(file, "RECORDED")) for file in peer_files()]
RECORDED: dict[str, str] = {package: versions for package, versions in _STATED if versions}
OTHER_NAMES = {"tensorflow-cpu": "tensorflow", "onnx-weekly": "onnx"}  # of the same package


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
