"""Roads that are wrong, to see that ``road_server.py`` and ``road_findings.py`` find each kind of wrong road."""

from __future__ import annotations

import os
import time

import numpy as np
import roads
from road_models import RoadModel


def other_bit(drawn: RoadModel, level: str) -> list[np.ndarray]:
    """The lowest bit of the last element is another one."""
    outputs = roads.library(drawn, level)
    last = outputs[-1]
    if last.dtype == object:
        outputs[-1] = np.array([*last.reshape(-1)[:-1].tolist(), "?"] if last.size else [], object).reshape(last.shape)
    elif last.size:
        content = bytearray(last.tobytes())
        content[-last.dtype.itemsize] ^= 1
        outputs[-1] = np.frombuffer(bytes(content), last.dtype).reshape(last.shape)
    return outputs


def dying(drawn: RoadModel, level: str) -> list[np.ndarray]:
    os.abort()


def silent(drawn: RoadModel, level: str) -> list[np.ndarray]:
    """Gives something for whatever is broken."""
    return [np.zeros(1, np.float32)] if isinstance(drawn.expected, str) else drawn.expected


def refusing(drawn: RoadModel, level: str) -> list[np.ndarray]:
    raise RuntimeError("it does not work")


def endless(drawn: RoadModel, level: str) -> list[np.ndarray]:
    while True:
        time.sleep(1)


PLANTS: dict[str, roads.Road] = {row.__name__: row for row in (other_bit, dying, silent, refusing, endless)}
