"""Inputs of a whole model for which a part seems to differ, by the solver or by a run of the part in isolation."""

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
from padops.convert.verify.part_inputs import LARGEST, Marks, elements_of
from padops.convert.verify.sessions import Feeds, Session
from padops.spec.dtypes import by_name

PATIENCE = 30  # seconds for a run in a child process
ELSEWHERE = 2  # the size of a dim that an example does not give


def whole_inputs(inputs: Sequence[Input], example: Mapping[str, Any], seed: int = 0) -> Feeds | None:
    """A model's inputs with the values, or only the dims, of an example.

    An example has arrays by name; or ``{"dims": [...], "values": [...]}`` by name, with or without values; or
    ``"dims"`` with all names' dims. An integer is the size of a dynamic dim.

    Returns:
        An array for each input, random if the example has no elements; None if the example has only inner values, or
        does not fit the inputs.
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
    """Whether onnxruntime runs or refuses these inputs without a crash: some kernels divide by 0 for rare sizes."""
    if not hasattr(os, "fork"):
        return False  # without fork, they are not run
    child = os.fork()
    if child:
        return _ended_well(child)
    code = 1
    try:  # no exception, not even an interrupt, may return from this call in the child
        with open(os.devnull, "w") as nowhere:  # a crash must not print to the user's terminal
            os.dup2(nowhere.fileno(), 2)
        faulthandler.disable()
        for path in models:
            with contextlib.suppress(Exception):
                Session(path, True).run(feeds)
        code = 0
    finally:
        os._exit(code)


def _ended_well(child: int) -> bool:
    """Whether a child process ends in time with exit code 0; otherwise it is killed."""
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
    """The entries of an example, by name."""
    dims = example.get("dims")
    if isinstance(dims, Mapping):
        return {str(name): {"dims": list(shape)} for name, shape in dims.items()}
    return dict(example)


def _said(value: Any) -> tuple[tuple[int, ...], np.ndarray | None]:
    """The dims and the elements of one value; None for unknown elements."""
    if isinstance(value, np.ndarray):
        return value.shape, value
    shape = tuple(int(dim) for dim in value["dims"])
    values = value.get("values")
    return shape, None if values is None else np.array(values, object).reshape(shape)


def _shape(row: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(dim if isinstance(dim, int) else sizes.get(str(dim), ELSEWHERE) for dim in row.dims or ())
