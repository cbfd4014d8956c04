"""Runs a model on sets of inputs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from padops.convert.verify.bits import describe_difference
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Peer, Session

PATIENCE = 10  # seconds; then no further attempt is made at a set of inputs


@dataclass(frozen=True)
class Trial:
    """One set of inputs and the model's outputs; ``unstable`` outputs change from run to run."""

    feeds: Feeds
    outputs: Outputs
    unstable: frozenset[str]


def run_trials(session: Session | Peer, turns: Iterable[Iterable[Feeds]]) -> list[Trial]:
    """Runs a model on the first attempt of each turn that it takes; the very first runs twice.

    Raises:
        DoesNotRun: It takes no attempt, or none in time; with the last attempt and its error.
    """
    begin = time.monotonic()
    trials: list[Trial] = []
    refusal = DoesNotRun("there is nothing to feed it with")
    unstable: frozenset[str] = frozenset()
    for attempts in turns:
        for feeds in attempts:
            try:
                outputs = session.run(feeds)
            except DoesNotRun as error:
                refusal = DoesNotRun(str(error), (feeds,))
                if time.monotonic() - begin > PATIENCE:
                    break
                continue
            if not trials:
                again = session.run(feeds)
                unstable = frozenset(name for name in outputs if describe_difference(outputs[name], again[name]))
            trials.append(Trial(feeds, outputs, unstable))
            break
    if not trials:
        raise refusal
    return trials
