"""Times whole models, converted by padops and original, on the same inputs."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from padops.bench.runner import Measurement, OutputsDiffer, bits_of, measure
from padops.bench.sessions import session

_SIZE = 16000  # the size that is tried first for open dims: a second of speech


def measure_model(path: Path, threads: int, seconds: float) -> list[Measurement]:
    """Times a model as it is (``built-in``) and converted (``padops``).

    Raises:
        OutputsDiffer: The converted model gives other bits than the original.
        padops.PadopsError: The model cannot be read, converted or fed.
    """
    import padops

    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, path.name)
        padops.convert(path, output)
        converted = session(str(output), threads, registered=True)
        original = stock_session(path, threads)
        feeds = feeds_for(path, original)
        expected, given = original.run(None, feeds), converted.run(None, feeds)
    if list(map(bits_of, expected)) != list(map(bits_of, given)):
        raise OutputsDiffer(f"{path}: the converted model's outputs differ from the original's")
    calls = {"padops": partial(converted.run, None, feeds), "built-in": partial(original.run, None, feeds)}
    return measure(short_name(path), sum(np.asarray(a).nbytes for a in given), threads, calls, seconds)


def short_name(path: Path) -> str:
    """The name of a model in a table: its file, with the folder if one is named."""
    return str(Path(*path.parts[-2:]))


def stock_session(source: Path, threads: int) -> Any:
    """A session of a model as it is.

    Raises:
        padops.PadopsError: onnxruntime refuses the model, so there is nothing to compare with.
    """
    from padops.convert import PadopsError

    try:
        return session(str(source), threads, registered=False)
    except Exception as error:  # onnxruntime's errors have no common base
        raise PadopsError(f"stock onnxruntime does not run {source}: {error}") from error


def feeds_for(source: Path, original: Any) -> dict[str, np.ndarray]:
    """Random inputs that a model takes.

    Raises:
        padops.PadopsError: The model runs on none of the inputs that were tried.
    """
    import onnx
    import onnx_ir as ir

    from padops.convert import PadopsError
    from padops.convert.inputs.given import inputs_of
    from padops.convert.inputs.pads import hints_of, special_values
    from padops.convert.inputs.random_inputs import FIRST, random_inputs

    message = onnx.load(source, load_external_data=False)
    refusal: Exception | None = None
    hints = hints_of(message, special_values(ir.from_proto(message)))
    for feeds in random_inputs(inputs_of(message), 0, FIRST.index(_SIZE), hints):
        try:
            original.run(None, feeds)
            return feeds
        except Exception as error:  # onnxruntime's errors have no common base
            refusal = error
    raise PadopsError(f"{source} runs on none of the inputs that were tried: {refusal}")
