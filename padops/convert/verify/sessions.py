"""Runs a model in ONNX Runtime on the CPU, or in another runtime, on sets of inputs."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from padops.convert.errors import PadopsError
from padops.convert.inputs.given import Feeds
from padops.convert.inputs.pads import all_nodes
from padops.convert.verify.bits import Value, describe_difference
from padops.convert.verify.build import RANDOM
from padops.extras import needing_onnxruntime
from padops.processes import Pickled
from padops.runtime import pyop
from padops.runtime.ort_values import run_session
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN
from padops.spec.dtypes import dtype_of

if TYPE_CHECKING:
    import onnxruntime

LARGE = 1 << 24  # bytes; for larger model files, one run after a proof is enough
EXTENSIONS = {"ai.onnx.contrib", "com.microsoft.extensions"}  # the domains of onnxruntime-extensions
DATA_FOLDER = "session.model_external_initializers_file_folder_path"  # for a model in memory
MOST_ATTEMPTS = 120  # the most attempts at one set of inputs
NO_MEMORY = re.compile("Failed to allocate memory|bad.?alloc")
BLAME = -1  # differs from the number of every attempt
Outputs = dict[str, Value]


class DoesNotRun(Exception):
    """A runtime refuses a model or its inputs; ``feeds`` has the last refused inputs. The error text is one line."""

    def __init__(self, message: str, feeds: Sequence[Feeds] = ()) -> None:
        super().__init__(" ".join(message.split()))
        self.feeds = tuple(feeds)


class NoMemory(DoesNotRun, MemoryError):
    """There is not enough memory for some inputs, so the failure says nothing about the model."""


class Session:
    def __init__(self, model: Model, optimised: bool, library: bool = True, profile: Path | None = None) -> None:
        """Creates the session; ``library`` registers padops' operators, ``profile`` is the profile's path prefix."""
        if any("\udc80" <= character <= "\udcff" for character in str(model.path)):  # bytes that are not UTF-8
            raise PadopsError(f"cannot verify {str(model.path)!a}: ONNX Runtime opens only files with a UTF-8 name")
        with needing_onnxruntime("verifying a model"):
            import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised and reported, not logged
        domains = {row.domain for row in (model.instead or model.message).opset_import}
        _register(options, domains - (set() if library else {DOMAIN}))
        if not optimised:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        if profile is not None:
            options.enable_profiling, options.profile_file_prefix = True, str(profile)
        if model.instead is not None:
            options.add_session_config_entry(DATA_FOLDER, str(model.path.parent.resolve()))
        try:
            source = str(model.path) if model.instead is None else model.instead.SerializeToString()
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise DoesNotRun(str(error)) from error
        self._quiet = onnxruntime.RunOptions()
        self._quiet.log_severity_level = 4

    def run(self, feeds: Feeds) -> Outputs:
        names = [output.name for output in self._session.get_outputs()]
        with pyop.collected() as failed:
            try:
                outputs = dict(zip(names, run_session(self._session, feeds, names, self._quiet), strict=True))
            except Exception as error:  # onnxruntime's exceptions have no common base class
                lacks = isinstance(error, MemoryError) or NO_MEMORY.search(str(error))
                raise (NoMemory if lacks else DoesNotRun)(str(error)) from error
        if failed:
            raise DoesNotRun(failed[0].message)
        return outputs

    def within_memory(self, trials: Sequence[Trial]) -> list[Trial]:
        """Runs the model on each trial's inputs; skips trials that lack memory; raises NoMemory if no trial is left."""
        ran: list[Trial] = []
        for trial in trials:
            try:
                ran.append(trial.then(self))
            except NoMemory:
                if trial is trials[-1] and not ran:
                    raise
        return ran

    def end_profiling(self) -> str:
        return Path(self._session.end_profiling()).read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Model:
    """A model's file and content; ``instead`` is a model that runs in its place, with the same external data."""

    path: Path
    message: onnx.ModelProto
    instead: onnx.ModelProto | None = None

    def session(self, optimised: bool, library: bool = True) -> Session:
        """Returns a session of the model. Raises DoesNotRun if ONNX Runtime refuses the model."""
        return Session(self, optimised, library)

    @property
    def is_stable(self) -> bool:
        """Whether no node draws random numbers."""
        return not any(node.op_type in RANDOM or node.op_type == "Dropout" for node in all_nodes(self.message))

    @property
    def is_large(self) -> bool:
        return self.path.stat().st_size > LARGE


class OtherProcess(Pickled):
    """Runs a model in another process; has a session's ``run`` method. A refusal raises ``DoesNotRun``."""

    def ask(self, question: Any) -> Any:
        try:
            return super().ask(question)
        except RuntimeError as error:
            raise DoesNotRun(str(error)) from error

    def run(self, feeds: Feeds) -> Outputs:
        return dict(self.ask(feeds))


@dataclass(frozen=True)
class Trial:
    """One set of inputs and the outputs of both models; ``unstable`` outputs change from run to run."""

    feeds: Feeds
    outputs: Outputs
    unstable: frozenset[str]
    after: Outputs = field(default_factory=dict)  # the outputs of the converted model

    def then(self, session: Session | OtherProcess) -> Trial:
        """Runs the converted model's session on the trial's inputs; returns the trial with the outputs in ``after``."""
        return replace(self, after=session.run(self.feeds))


class Risks:
    """Records each attempt before the run, which may crash a copy of the process. All copies share the record."""

    def __init__(self) -> None:
        self._now = memoryview(mmap.mmap(-1, 8)).cast("q")
        self._made = 0
        self.left_out: set[int] = set()  # the attempts that have crashed a process
        self.blamed = False  # whether the converted model crashed the process, on inputs that the original survives

    def begin(self) -> bool:
        """Records an attempt; returns False if the same attempt has crashed a process before."""
        self._made += 1
        if self._made in self.left_out:
            return False
        self._now[0] = self._made
        return True

    def end(self) -> None:
        """Records that the process has survived the attempt."""
        self._now[0] = 0

    @contextmanager
    def blame(self) -> Iterator[None]:
        """Records, for a ``with`` block, that only the converted model runs."""
        self._now[0] = BLAME
        try:
            yield
        finally:
            self.end()

    def learn(self) -> bool:
        """Marks an attempt that crashed a copy of this process, to be skipped; returns False if none is recorded."""
        last = self._now[0]
        self.end()
        self.blamed = last == BLAME
        self.left_out |= {last} - {0, BLAME}
        return last > 0


def run_trials(
    session: Session | OtherProcess,
    turns: Iterable[Iterable[Feeds]],
    is_stable: bool = False,
    risks: Risks | None = None,
) -> list[Trial]:
    """Runs a model on each turn's first accepted inputs; if not ``is_stable``, a second run finds unstable outputs."""
    trials, risks, unstable = list[Trial](), risks or Risks(), frozenset[str]()
    refusal = DoesNotRun("there are no inputs to run the model on")
    for attempts in turns:
        for feeds in islice(attempts, MOST_ATTEMPTS):
            if not risks.begin():
                refusal = DoesNotRun("onnxruntime ends its process", (feeds,))
                continue
            try:
                outputs = session.run(feeds)
            except DoesNotRun as error:
                refusal = DoesNotRun(str(error), (feeds,))
                continue
            finally:
                risks.end()
            if not trials and not is_stable:
                again = session.run(feeds)
                unstable = frozenset(name for name in outputs if describe_difference(outputs[name], again[name]))
            trials.append(Trial(feeds, outputs, unstable))
            break
    if not trials:
        raise refusal
    return trials


def _register(options: onnxruntime.SessionOptions, domains: set[str]) -> None:
    from padops.runtime.session import register

    try:
        if DOMAIN in domains:
            register(options)
        if pyop_node.DOMAIN in domains:
            register(options, backend="pyop")  # also registers onnxruntime-extensions
        elif domains & EXTENSIONS:
            options.register_custom_ops_library(pyop.extensions_library())
    except (FileNotFoundError, ImportError, RuntimeError) as error:
        raise PadopsError(f"cannot verify: {error}") from error


def fed(feeds: Iterable[Feeds]) -> tuple[str, ...]:
    """Returns the types and shapes of each set of inputs, for the report."""
    rows = ([f"{name}: {dtype_of(array).name}{list(array.shape)}" for name, array in one.items()] for one in feeds)
    return tuple(map(", ".join, rows))
