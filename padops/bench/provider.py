"""The execution provider on models that are left as they are, against onnxruntime without padops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from padops.bench import sessions
from padops.bench.models import feeds_for, short_name, stock_session
from padops.bench.networks import TINY_SHAPE, convolutions, tiny_pads
from padops.bench.runner import Measurement, OutputsDiffer, bits_of, measure
from padops.bench.session_tables import STOCK
from padops.spec.dialects import DOMAIN

AGAIN = "stock, again"  # the same once more: as far from 1 as its ratio is, chance alone takes the others
DISPATCH, CREATION = "dispatch of a tiny Pad", "a session, created and released"
PADS = 1000  # in the chain whose time is divided by them: a run's own cost is a hundredth of theirs

Make = Callable[[bytes | str, int], Any]  # a session, of a model and a number of threads

DEFAULT: dict[str, Make] = {"padops.InferenceSession": sessions.inference_session}
_NEEDED, _NATIVE = {"claim": "needed"}, {"float16": "native"}
CLAIMS = DEFAULT | {"claim=needed": partial(sessions.inference_session, provider_options=_NEEDED)}
FLOAT16 = CLAIMS | {
    "float16=native": partial(sessions.inference_session, provider_options=_NATIVE),
    "claim=needed, float16=native": partial(sessions.inference_session, provider_options=_NEEDED | _NATIVE),
}
# Convolutions keep float32 between them where the Pads do, so their bits are others with these: numbers around 1, each
# rounded to float16 a few times more.
OTHER_BITS = ("float16=native", "claim=needed, float16=native")
TOLERANCE = 8 * float(np.finfo(np.float16).eps)


def measure_chosen(name: str, threads: int, seconds: float) -> list[Measurement]:
    """Times one of ``MEASURED``.

    Raises:
        OutputsDiffer: A model gives other bits with the provider than without.
        padops.PadopsError: onnxruntime is too old for the provider.
    """
    _register()
    return MEASURED[name](name, threads, seconds)


def measure_model(path: Path, threads: int, seconds: float) -> list[Measurement]:
    """Times a model that stock onnxruntime runs.

    Raises:
        OutputsDiffer: The model gives other bits with the provider than without.
        padops.PadopsError: onnxruntime is too old for the provider, or the model cannot be fed.
    """
    _register()
    feeds = feeds_for(path, stock_session(path, threads))
    return _runs(short_name(path), str(path), feeds, DEFAULT, threads, seconds)


def _register() -> None:
    """Registers the library, once a process, so no session pays for it."""
    from padops.convert import PadopsError
    from padops.runtime.provider import register_provider_library

    try:
        register_provider_library()
    except RuntimeError as error:
        raise PadopsError(str(error)) from error


def _dispatch(name: str, threads: int, seconds: float) -> list[Measurement]:
    """One Pad of a long chain, so that hardly anything but the way to a kernel and its own work counts."""
    standard, converted = tiny_pads(PADS), tiny_pads(PADS, DOMAIN)
    built = {
        STOCK: sessions.session(standard, threads, registered=False),
        "provider": sessions.provided(standard, threads),
        "operators": sessions.session(converted, threads, registered=True),
    }
    feeds = {"x": np.ones(TINY_SHAPE, np.float32)}
    taken = _timed(name, built, feeds, threads, seconds)
    return [replace(one, median=one.median / PADS, spread=one.spread / PADS) for one in taken]


def _creation(name: str, threads: int, seconds: float) -> list[Measurement]:
    """Options and session of a model of one Pad; the library is registered, or loaded by another session, already."""
    model = tiny_pads(1)
    made: dict[str, Make] = {
        STOCK: partial(sessions.session, registered=False),
        "operators": partial(sessions.session, registered=True),
        "provider": sessions.provided,
        **DEFAULT,
    }
    calls = {by: partial(make, model, threads) for by, make in made.items()}
    return measure(name, 0, threads, calls, seconds)


def _network(dtype: str, made: Mapping[str, Make], name: str, threads: int, seconds: float) -> list[Measurement]:
    model, feeds = convolutions(dtype)
    return _runs(name, model, feeds, made, threads, seconds)


MEASURED: dict[str, Callable[[str, int, float], list[Measurement]]] = {
    DISPATCH: _dispatch,
    CREATION: _creation,
    "convolutions float": partial(_network, "float", CLAIMS),
    "convolutions float16": partial(_network, "float16", FLOAT16),
}


def _runs(
    name: str,
    model: bytes | str,
    feeds: Mapping[str, np.ndarray],
    made: Mapping[str, Make],
    threads: int,
    seconds: float,
) -> list[Measurement]:
    """One model, stock and with padops."""
    built = {by: sessions.session(model, threads, registered=False) for by in (STOCK, AGAIN)}
    return _timed(name, built | {by: make(model, threads) for by, make in made.items()}, feeds, threads, seconds)


def _timed(
    name: str, built: Mapping[str, Any], feeds: Mapping[str, np.ndarray], threads: int, seconds: float
) -> list[Measurement]:
    """Runs of sessions that must all give what the stock one gives; ``OTHER_BITS`` nearly so."""
    expected = [np.asarray(output) for output in built[STOCK].run(None, feeds)]
    for by, session in built.items():
        given = [np.asarray(output) for output in session.run(None, feeds)]
        same = partial(_are_equal, exactly=by not in OTHER_BITS)
        if len(given) != len(expected) or not all(map(same, given, expected)):
            raise OutputsDiffer(f"{name}: {by} does not give what stock onnxruntime gives")
    calls = {by: partial(session.run, None, feeds) for by, session in built.items()}
    return measure(name, sum(output.nbytes for output in expected), threads, calls, seconds)


def _are_equal(given: np.ndarray, expected: np.ndarray, exactly: bool) -> bool:
    if (given.dtype, given.shape) != (expected.dtype, expected.shape):
        return False
    if exactly:
        return bits_of(given) == bits_of(expected)
    return np.allclose(given, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
