"""Runs a model in ONNX Runtime on the CPU, or in another runtime, on sets of inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from padops.convert.errors import PadopsError
from padops.convert.verify.bits import Value, describe_difference
from padops.extras import NeedingOnnxruntime
from padops.runtime import pyop
from padops.runtime.ort_values import run_session
from padops.spec import pyop_node
from padops.spec.bits import dtype_of
from padops.spec.dialects import DOMAIN

if TYPE_CHECKING:
    import onnxruntime

EXTENSIONS = {"ai.onnx.contrib", "com.microsoft.extensions"}  # the domains of onnxruntime-extensions
DATA_FOLDER = "session.model_external_initializers_file_folder_path"  # for a model in memory

PATIENCE = 10  # seconds; then no further attempt is made at a set of inputs

Feeds = dict[str, np.ndarray]
Outputs = dict[str, Value]


class DoesNotRun(Exception):
    """ONNX Runtime refuses a model, or its inputs; ``feeds`` has the inputs that it refused last."""

    def __init__(self, message: str, feeds: Sequence[Feeds] = ()) -> None:
        super().__init__(message)
        self.feeds = tuple(feeds)


class Session:
    """A model in ONNX Runtime, on the CPU."""

    def __init__(self, path: Path, optimised: bool, instead: onnx.ModelProto | None = None) -> None:
        """Creates the session; a model ``instead`` of the file's has its external data beside the file.

        Raises:
            DoesNotRun: ONNX Runtime refuses the model.
            PadopsError: A library that the model needs is missing.
            DependencyError: There is no onnxruntime, or it is too old.
        """
        # Python's form of bytes that are no UTF-8
        if any("\udc80" <= character <= "\udcff" for character in str(path)):
            raise PadopsError(f"cannot verify {str(path)!a}: ONNX Runtime opens no file whose name is not UTF-8")
        with NeedingOnnxruntime("verifying a model"):
            import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised and reported, not logged
        _register(options, domains_of(path))
        if not optimised:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        if instead is not None:
            options.add_session_config_entry(DATA_FOLDER, str(path.parent.resolve()))
        try:
            source = str(path) if instead is None else instead.SerializeToString()
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise DoesNotRun(one_line(error)) from error
        self._quiet = onnxruntime.RunOptions()
        self._quiet.log_severity_level = 4

    def run(self, feeds: Feeds, wanted: Sequence[str] | None = None) -> Outputs:
        """All outputs, or the wanted ones, by name.

        Raises:
            DoesNotRun: ONNX Runtime or a Python kernel fails; the message is theirs.
        """
        names = [output.name for output in self._session.get_outputs()] if wanted is None else list(wanted)
        with pyop.collected() as failed:
            try:
                outputs = dict(zip(names, run_session(self._session, feeds, names, self._quiet), strict=True))
            except Exception as error:  # as above
                raise DoesNotRun(one_line(error)) from error
        if failed:
            raise DoesNotRun(failed[0].message)
        return outputs


class OtherRuntime:
    """Another runtime, or another process, in the form of a session."""

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self._run = run

    def ask(self, question: Any) -> Any:
        """The answer of the runtime.

        Raises:
            DoesNotRun: The runtime raised an exception.
        """
        try:
            return self._run(question)
        except Exception as error:  # another runtime's exceptions can be of any type
            raise DoesNotRun(one_line(error)) from error

    def run(self, feeds: Feeds) -> Outputs:
        """The outputs by name.

        Raises:
            DoesNotRun: The runtime raised an exception.
        """
        outputs: Outputs = self.ask(feeds)
        return outputs


@dataclass(frozen=True)
class Trial:
    """One set of inputs and the model's outputs; ``unstable`` outputs change from run to run."""

    feeds: Feeds
    outputs: Outputs
    unstable: frozenset[str]


def run_trials(session: Session | OtherRuntime, turns: Iterable[Iterable[Feeds]]) -> list[Trial]:
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


def domains_of(path: Path) -> set[str]:
    """The domains that a model imports."""
    return {row.domain for row in onnx.load(path, load_external_data=False).opset_import}


def _register(options: onnxruntime.SessionOptions, domains: set[str]) -> None:
    """Registers the libraries of these domains that padops knows."""
    from padops.runtime.session import register

    try:
        if DOMAIN in domains:
            register(options)
        if pyop_node.DOMAIN in domains:
            register(options, backend="pyop")  # which brings onnxruntime-extensions along
        elif domains & EXTENSIONS:
            from padops.runtime.pyop import extensions_library as get_library_path

            options.register_custom_ops_library(get_library_path())
    except (FileNotFoundError, ImportError, RuntimeError) as error:
        raise PadopsError(f"cannot verify: {error}") from error


def one_line(error: Exception) -> str:
    """The message of an exception, in one line."""
    return " ".join(str(error).split())


def fed(feeds: Iterable[Feeds]) -> tuple[str, ...]:
    """The types and shapes of each set of inputs, for the report."""
    return tuple(
        ", ".join(f"{name}: {dtype_of(array).name}{list(array.shape)}" for name, array in one.items()) for one in feeds
    )
