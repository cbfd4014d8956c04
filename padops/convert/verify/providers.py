"""Compares two models in sessions with other execution providers, each in its own process, which a provider can crash.

``session_process.py`` is the process.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from padops.convert.errors import PadopsError, UsageError, kind_of
from padops.convert.model.document import Document
from padops.convert.model.types import Types
from padops.convert.records import Outcome, OutputComparison, Verification
from padops.convert.sources import SOURCES, find_pads
from padops.convert.verify.bits import Tolerance, compare_output
from padops.convert.verify.callers import other_interface
from padops.convert.verify.choice import Asked
from padops.convert.verify.exercise import Sameness
from padops.convert.verify.feeds import inputs_of, load_inputs
from padops.convert.verify.hints import hints_of, special_values
from padops.convert.verify.sessions import DoesNotRun, Feeds, Outputs, Peer, fed
from padops.convert.verify.trials import Trial, run_trials
from padops.extras import NeedingOnnxruntime
from padops.processes import LateError, Pipes, wait_for
from padops.runtime.provider import CPU, EP_NAMES
from padops.spec.dialects import DOMAIN

if TYPE_CHECKING:
    from padops.convert.verify.compare import Case

Providers = Sequence[str | tuple[str, Mapping[str, Any]]]

ORIGINAL, CONVERTED = "the original", "the converted model"
SECONDS = 600.0  # for one run of the model; the first one compiles it
PADS_SHOWN = 5  # Pads listed for each provider
COMMAND = (sys.executable, "-m", "padops.convert.verify.session_process")


@dataclass(frozen=True)
class Seat:
    """The actual providers of a session.

    Attributes:
        providers: The providers, first choice first.
        runners: The provider of each Pad that onnxruntime lists, by the node's name.
    """

    providers: tuple[str, ...]
    runners: Mapping[str, str]


class Beside:
    """A model in a padops session with some providers, in its own process, until it is closed.

    ``libraries`` has the libraries to register, by provider.
    """

    def __init__(self, path: Path, providers: Providers, libraries: Mapping[str, str]) -> None:
        """Creates the session.

        Raises:
            DoesNotRun: onnxruntime refuses the session, or the process dies.
            PadopsError: The session lacks one of the providers.
        """
        self._gone = ""
        pipe = subprocess.PIPE
        self._pipes = Pipes(
            subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)
        )
        try:
            self.seat = Seat(*self._ask((str(path), list(providers), dict(libraries))))
            names = [_name(entry) for entry in providers]
            if dropped := [name for name in names if name not in self.seat.providers]:
                raise PadopsError(
                    f"onnxruntime has left {' and '.join(dropped)} out of the session, which has "
                    f"{', '.join(self.seat.providers)} alone; register a provider's library first, and see its messages"
                )
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the process with its children."""
        self._pipes.end()

    def run(self, feeds: Feeds) -> Outputs:
        """The outputs by name.

        Raises:
            DoesNotRun: The session refuses the inputs, or the process died or gave no answer in ``SECONDS``.
        """
        outputs: Outputs = self._ask(feeds)
        return outputs

    def _ask(self, question: Any) -> Any:
        def talk(requests: IO[bytes], answers: IO[bytes]) -> Any:
            pickle.dump(question, requests)
            requests.flush()
            return pickle.load(answers)

        if self._gone:
            raise DoesNotRun(self._gone)
        try:
            answer, refusal = self._pipes.within(SECONDS, talk)
        except LateError as error:
            self._gone = f"the process gave {error}"
            raise DoesNotRun(self._gone) from None
        except (BrokenPipeError, EOFError, pickle.UnpicklingError):  # the last if the answer is cut off
            self._gone = f"the process has died ({_end(wait_for(self._pipes.process))})"
            raise DoesNotRun(self._gone) from None
        if refusal:
            raise DoesNotRun(refusal)
        return answer


def check_providers(providers: Any) -> Providers:
    """The caller's providers.

    Raises:
        UsageError: The argument is no list of names, each alone or in a pair with options.
    """
    if isinstance(providers, str) or not isinstance(providers, Sequence):
        raise UsageError(f"providers is {kind_of(providers)}, expected a list of names")
    for entry in providers:
        pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)
        if not isinstance(entry[0] if pair else entry, str):
            raise UsageError(f"providers has {entry!r}, expected a name, or a pair of a name and options")
    if not providers:
        raise UsageError("providers is empty, expected names such as 'CPUExecutionProvider'")
    return list(providers)


def compare_beside(
    documents: tuple[Document, Document], paths: tuple[Path, Path], asked: Asked, providers: Providers
) -> Verification:
    """Runs both models in sessions with these providers and compares every bit of their outputs.

    Raises:
        UsageError: A model is an IR, onnxruntime has no such provider, or the given inputs are not those of the model.
        PadopsError: A session lacks one of the providers.
    """
    from padops.convert.verify.compare import Case

    if any(document.foreign for document in documents):
        raise UsageError("with providers both models run in ONNX Runtime, which runs ONNX models alone")
    message = documents[0].message()
    if noticed := other_interface(message, documents[1].message()):
        return Verification("interface", notes=noticed)
    inputs = inputs_of(message)
    given = None if asked.inputs is None else load_inputs(asked.inputs, inputs)
    hints = hints_of(message, special_values(documents[0].model))
    case = Case(inputs, given, asked.seed, hints, rtol=asked.rtol, atol=asked.atol)
    libraries = _libraries(providers)
    opened: list[Beside | None] = []
    notes: list[str] = []
    with ExitStack() as stack:
        for which, document, path in zip((ORIGINAL, CONVERTED), documents, paths):
            try:
                session = stack.enter_context(closing(Beside(path, providers, libraries)))
            except DoesNotRun as error:
                opened.append(None)
                notes.append(f"{which} does not run with these providers: {error}")
                continue
            opened.append(session)
            notes += _told(which, document, session.seat)
        verification = _compare(opened[0], opened[1], case)
    return replace(verification, notes=(*notes, *verification.notes))


def _libraries(providers: Providers) -> dict[str, str]:
    """The libraries of those providers that this process has registered, by provider.

    Raises:
        UsageError: onnxruntime does not have one of the providers.
    """
    with NeedingOnnxruntime("verifying with providers"):
        import onnxruntime
    devices = onnxruntime.get_ep_devices() if hasattr(onnxruntime, "get_ep_devices") else []
    paths = {device.ep_name: device.ep_metadata.get("library_path", "") for device in devices}
    found = {}
    for name in map(_name, providers):
        if name not in onnxruntime.get_available_providers() and name not in (*paths, *EP_NAMES):
            there = ", ".join(sorted({*onnxruntime.get_available_providers(), *paths}))
            raise UsageError(f"onnxruntime {onnxruntime.__version__} has no provider {name} here; it has {there}")
        if paths.get(name) and name not in EP_NAMES:
            found[name] = paths[name]
    return found


def _name(entry: str | tuple[str, Mapping[str, Any]]) -> str:
    return entry if isinstance(entry, str) else entry[0]


def _end(code: int | None) -> str:
    """How a process ended."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:  # real-time signals have no names
        return f"signal {-code}"


def _told(which: str, document: Document, seat: Seat) -> list[str]:
    """The notes on a session: its providers, and the Pads of each."""
    sites = [site for site, _ in find_pads(document.model, Types(document), SOURCES)]
    pads = [site for site in sites if site.node.op_type == "Pad" or site.node.domain == DOMAIN]
    # onnxruntime does not list the nodes of some providers, nor nodes that an optimizer removed.
    others = [name for name in seat.providers if name not in (*EP_NAMES, CPU)]
    ran: dict[str, list[str]] = defaultdict(list)
    for site in pads:
        ran[seat.runners.get(site.node.name or "", others[0] if others else "no provider")].append(site.path)
    told = [f"{which}: a session of {', '.join(seat.providers)}{'' if pads else ', and no Pad'}"]
    for runner, paths in ran.items():
        more = f" and {len(paths) - PADS_SHOWN} more" if len(paths) > PADS_SHOWN else ""
        told.append(f"{which}: {runner} has {', '.join(paths[:PADS_SHOWN])}{more}")
    return told


def _compare(original: Beside | None, converted: Beside | None, case: Case) -> Verification:
    """As ``compare_beside``, for the created sessions; None for a refused one."""
    notes: list[str] = []
    for which, session in ((ORIGINAL, original), (CONVERTED, converted)):
        if session is None:
            continue
        try:
            trials = run_trials(Peer(session.run), case.turns())
        except DoesNotRun as error:
            notes.append(f"{which} does not run with these inputs: {error}")
            continue
        inputs = fed(trial.feeds for trial in trials)
        if which == CONVERTED:
            return Verification("runs", inputs=inputs, notes=tuple(notes))
        return Verification("fails", inputs=inputs) if converted is None else _outputs(trials, converted, case)
    return Verification("undecided", notes=tuple(notes))


def _outputs(trials: Sequence[Trial], converted: Beside, case: Case) -> Verification:
    """Compares the original's outputs with the converted model's."""
    tolerance = None if case.rtol is None and case.atol is None else Tolerance(case.rtol, case.atol)
    inputs = fed(trial.feeds for trial in trials)
    comparisons: dict[str, OutputComparison] = {}
    sameness: dict[str, Sameness] = defaultdict(Sameness)
    far = False
    for trial in trials:
        try:
            outputs = converted.run(trial.feeds)
        except DoesNotRun as error:
            return Verification("fails", inputs=inputs, notes=(f"{CONVERTED} does not run: {error}",))
        for name, value in trial.outputs.items():
            sameness[name].add(value)
            one = compare_output(name, value, outputs[name], name in trial.unstable)
            if not one.equal:
                far = far or tolerance is None or not tolerance.takes(value, outputs[name])
            if name not in comparisons or comparisons[name].equal:
                comparisons[name] = one
    rounded = not all(one.equal for one in comparisons.values())
    unstable = sorted(set().union(*(trial.unstable for trial in trials)))
    outcome: Outcome = "different" if far else "close" if rounded else "runs" if unstable else "equal"
    told = tuple(replace(one, weak=sameness[one.name].weak if one.equal else "") for one in comparisons.values())
    notes = [f"no element differs by more than {tolerance}"] if outcome == "close" else []
    if unstable:
        notes.append(f"{', '.join(unstable)} of {ORIGINAL} changes from run to run: only types and shapes are compared")
    return Verification(outcome, told, inputs, tuple(notes))
