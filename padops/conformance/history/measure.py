"""What one release does with the cases of the suite, as counts."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from padops.conformance import cases, runner
from padops.conformance.case import Case
from padops.conformance.history import environment
from padops.conformance.history.releases import Release
from padops.conformance.judging import Peer
from padops.conformance.known import KNOWN
from padops.conformance.peers import PEERS
from padops.conformance.record import WRONG

LEVEL = "quick"
AGREES, NOT_RUN = "a", "n"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZbcdefghijklmopqrstuvwxyz0123456789!#$%&()*+,-./:;<=>?@[]^_{|}~"  # of what is wrong


def suite() -> list[Case]:
    """The cases of a quick run for each release, without the examples of known divergences, which change."""
    return cases.collect(LEVEL)


def digest_of(suite: Sequence[Case]) -> str:
    """What is another one as soon as other cases are asked."""
    return hashlib.sha256("\n".join(case.id for case in suite).encode()).hexdigest()[:16]


def measure(release: Release, suite: Sequence[Case], folder: Path, keep: bool = False) -> dict[str, Any]:
    """Makes a release's environment, runs the suite there, and removes it.

    Args:
        release: Which.
        suite: The cases.
        folder: Where the environment goes.
        keep: Whether it stays.

    Returns:
        ``peer``, ``package``, ``version``, ``cases`` (their digest), and either ``absent``, why it does not run, or
        what :func:`told_of` gives.
    """
    row, place = PEERS[release.peer], folder / f"{release.package}-{release.version}"
    told = {
        "peer": release.peer,
        "package": release.package,
        "version": release.version,
        "cases": digest_of(suite),
    }
    try:
        environment.make(release, bool(row.command), place)
        # The environment stands for the peer's own: an absolute path takes the place of the folder of all environments.
        peer = Peer(release.name, replace(row, environment=str(place.resolve())))
        (ran,) = runner.run_cases(suite, [peer], KNOWN, LEVEL)
    except environment.NoEnvironment as error:
        return {**told, "absent": str(error)}
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    if ran.handshake is None:
        return {**told, "absent": str(ran.absent)}
    return {**told, **told_of(ran.results)}


def told_of(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answers to the cases, a letter each.

    Args:
        results: As in a report, in the order of the cases.

    Returns:
        ``cells``: for each operator and mode the letters of its cases; ``a`` agrees, ``n`` was not run, the others are
            in
        ``classes``: for each an outcome, a blank, and the id of the known divergence or another name.
    """
    cells: dict[str, str] = {}
    letters: dict[str, str] = {}
    for result in results:
        outcome, cell = result["outcome"], f"{result['op']} {result['mode'] or 'no mode'}"
        if outcome in WRONG:
            name = f"{outcome} {result['divergence'] or result['mode'] or 'no mode'}"
            letter = letters.setdefault(name, LETTERS[len(letters)])
        else:
            letter = AGREES if outcome == "agree" else NOT_RUN
        cells[cell] = cells.get(cell, "") + letter
    return {"cells": dict(sorted(cells.items())), "classes": {letter: name for name, letter in letters.items()}}
