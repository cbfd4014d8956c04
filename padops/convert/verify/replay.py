"""Inputs of a whole model for which a part of it seems to differ: what a solver found, or a run of the part alone."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import time
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from padops.convert.verify.feeds import Input
from padops.convert.verify.region_draws import LARGEST, Marks, elements_of
from padops.convert.verify.sessions import Feeds, Session
from padops.spec.dtypes import by_name

PATIENCE = 30  # seconds that a run may take which may end its process
ELSEWHERE = 2  # the size of a dim of which an example says nothing


def whole_inputs(inputs: Sequence[Input], example: Mapping[str, Any], seed: int = 0) -> Feeds | None:
    """The inputs of a model that have the values, or the dims, of an example.

    Returns:
        An array for each input, with random elements where the example has none; None where it is about nothing but values inside
        of the model, or does not fit its inputs.
    """
    sizes = {name: value for name, value in example.items() if isinstance(value, int)}
    taken = {row.name for row in inputs}
    said = {name: _said(value) for name, value in named(example).items() if name in taken}
    if not said and not sizes:
        return None
    for row in inputs:
        if row.name not in said:
            continue
        shape = said[row.name][0]
        if row.dims is not None and len(row.dims) != len(shape):
            return None
        for dim, size in zip(row.dims or (), shape):
            if dim is not None and (sizes.setdefault(dim, size) if isinstance(dim, str) else dim) != size:
                return None
    feeds, rng = {}, np.random.default_rng(seed)
    for row in inputs:
        shape, elements = said.get(row.name, (_shape(row, sizes), None))
        if prod(shape) > LARGEST or min(shape, default=0) < 0:
            return None
        if elements is None:
            elements = elements_of(row, shape, Marks(), ELSEWHERE, ELSEWHERE, rng)
        feeds[row.name] = np.asarray(elements).astype(by_name(row.type).numpy).reshape(shape)
    return feeds


def survive(models: Sequence[Path], feeds: Feeds) -> bool:
    """Whether onnxruntime runs models on inputs of rare sizes, or refuses them, and does not die: some of its kernels divide by 0."""
    if not hasattr(os, "fork"):
        return False  # they are not run, then
    child = os.fork()
    if child:
        return _ended_well(child)
    code = 1
    try:  # whatever is raised here, an interrupt among it, must not run what the parent does behind this call
        with open(os.devnull, "w") as nowhere:  # what a dying process prints is nobody's
            os.dup2(nowhere.fileno(), 2)
        faulthandler.disable()
        for path in models:
            with contextlib.suppress(Exception):
                Session(path, True).run(feeds)
        code = 0
    finally:
        os._exit(code)


def _ended_well(child: int) -> bool:
    """Whether a process ends by itself, in time; it is gone afterwards, whatever happens here."""
    end, done, status = time.monotonic() + PATIENCE, 0, 0
    try:
        while not done and time.monotonic() < end:
            time.sleep(0.005)
            done, status = os.waitpid(child, os.WNOHANG)
    finally:
        if not done:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return bool(done) and status == 0


def named(example: Mapping[str, Any]) -> dict[str, Any]:
    """What an example says of each name."""
    dims = example.get("dims")
    if isinstance(dims, Mapping):
        return {str(name): {"dims": list(shape)} for name, shape in dims.items()}
    return dict(example)


def _said(value: Any) -> tuple[tuple[int, ...], np.ndarray | None]:
    """The dims and the elements of one value; None where only the first are known."""
    if isinstance(value, np.ndarray):
        return value.shape, value
    shape = tuple(int(dim) for dim in value["dims"])
    values = value.get("values")
    return shape, None if values is None else np.array(values, object).reshape(shape)


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dim if isinstance(dim, int) else sizes.get(str(dim), ELSEWHERE) for dim in row.dims or ())
