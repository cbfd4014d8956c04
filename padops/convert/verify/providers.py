"""Compares two models in sessions with the execution providers that the caller names.

A provider can crash its process, so each session has a process of its own, and this file is the process's program.
The first request to the process creates the session; each later request runs the session once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from padops.convert.analysis import Analysis
from padops.convert.errors import PadopsError, UsageError, kind_of
from padops.convert.inputs.given import inputs_of, load_inputs
from padops.convert.inputs.pads import hints_of
from padops.convert.model.document import Document
from padops.convert.records import Verification
from padops.convert.verify.compare import check_outputs, close, far_outputs
from padops.convert.verify.interface import Asked, RunInputs, other_interface
from padops.convert.verify.sessions import DoesNotRun, OtherProcess, fed, run_trials
from padops.extras import needing_onnxruntime
from padops.processes import serve
from padops.runtime.ort_values import run_session
from padops.runtime.provider import CPU, EP_NAMES
from padops.spec.dialects import DOMAIN

Providers = Sequence[str | tuple[str, Mapping[str, Any]]]

LEFT_OUT = (
    "onnxruntime has left {} out of the session, which has only {}; register a provider's library first, and see "
    "onnxruntime's messages"
)
ORIGINAL, CONVERTED = "the original", "the converted model"
SECONDS = 600.0  # for one run of the model; the first run compiles it
PROGRAM = ("-m", __name__)
PADS_SHOWN = 5  # Pads listed for each provider


def check_providers(providers: Any) -> None:
    if isinstance(providers, str) or not isinstance(providers, Sequence):
        raise UsageError(f"providers is {kind_of(providers)}, expected a list of names")
    for entry in providers:
        pair = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)
        if not isinstance(entry[0] if pair else entry, str):
            raise UsageError(f"providers has {entry!r}, expected a name, or a pair of a name and options")
    if not providers:
        raise UsageError("providers is empty, expected names such as 'CPUExecutionProvider'")


def compare_beside(
    documents: tuple[Document, Document], paths: tuple[Path, Path], asked: Asked, providers: Providers
) -> Verification:
    """Runs both models in sessions with these providers and compares every bit of their outputs."""
    if any(document.foreign for document in documents):
        raise UsageError("with providers both models run in ONNX Runtime, which runs only ONNX models")
    message = documents[0].proto
    if noticed := other_interface(message, documents[1].proto):
        return Verification("interface", notes=noticed)
    names = [entry if isinstance(entry, str) else entry[0] for entry in providers]
    inputs, libraries = inputs_of(message), _libraries(names)
    given = None if asked.inputs is None else load_inputs(asked.inputs, inputs)
    case = RunInputs(inputs, given, asked, hints_of(message))
    opened: list[OtherProcess | None] = []
    notes: list[str] = []
    with ExitStack() as stack:
        for which, document, path in zip((ORIGINAL, CONVERTED), documents, paths):
            session = stack.enter_context(closing(OtherProcess("the process", SECONDS, PROGRAM)))
            try:
                there, runners = session.ask((str(path), list(providers), libraries))
            except DoesNotRun as error:
                opened.append(None)
                notes.append(f"{which} does not run with these providers: {error}")
                continue
            if dropped := " and ".join(name for name in names if name not in there):
                raise PadopsError(LEFT_OUT.format(dropped, ", ".join(there)))
            opened.append(session)
            notes += _told(which, document, there, runners)
        verification = _compare(opened[0], opened[1], case)
    return replace(verification, notes=(*notes, *verification.notes))


def _libraries(names: Sequence[str]) -> dict[str, str]:
    """Returns the libraries that this process has registered for the providers, by provider."""
    with needing_onnxruntime("verifying with providers"):
        import onnxruntime

        from padops.runtime.placing import check_there
    devices = onnxruntime.get_ep_devices() if hasattr(onnxruntime, "get_ep_devices") else []
    paths = {device.ep_name: device.ep_metadata.get("library_path", "") for device in devices}
    try:
        check_there(names)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return {name: paths[name] for name in names if paths.get(name) and name not in EP_NAMES}


def _told(which: str, document: Document, providers: Sequence[str], runners: Mapping[str, str]) -> list[str]:
    """Returns notes on a session: its providers, and each provider's Pads; ``runners`` maps node names to providers."""
    # onnxruntime does not list the nodes of some providers, nor nodes that an optimizer removed.
    other = next((name for name in providers if name not in (*EP_NAMES, CPU)), "no provider")
    ran: dict[str, list[str]] = defaultdict(list)
    for site in (pad.site for pad in Analysis(document).pads):
        if site.node.op_type == "Pad" or site.node.domain == DOMAIN:
            ran[runners.get(site.node.name or "", other)].append(site.path)
    told = [f"{which}: a session of {', '.join(providers)}{'' if ran else ', and no Pad'}"]
    for runner, paths in ran.items():
        more = f" and {len(paths) - PADS_SHOWN} more" if len(paths) > PADS_SHOWN else ""
        told.append(f"{which}: {runner} has {', '.join(paths[:PADS_SHOWN])}{more}")
    return told


def _compare(original: OtherProcess | None, converted: OtherProcess | None, case: RunInputs) -> Verification:
    """Compares the sessions of two models; a session is None if onnxruntime refused it."""
    notes: list[str] = []
    for which, session in ((ORIGINAL, original), (CONVERTED, converted)):
        if session is None:
            continue
        try:
            trials = run_trials(session, case.turns())
        except DoesNotRun as error:
            notes.append(f"{which} does not run with these inputs: {error}")
            continue
        inputs = fed(trial.feeds for trial in trials)
        if which == CONVERTED:
            return Verification("runs", inputs=inputs, notes=tuple(notes))
        if converted is None:
            return Verification("fails", inputs=inputs)
        try:
            trials = [trial.then(converted) for trial in trials]
        except DoesNotRun as error:
            return Verification("fails", inputs=inputs, notes=(f"{CONVERTED} does not run: {error}",))
        found, tolerance = check_outputs(trials), case.asked.tolerance
        if found.outcome == "different" and tolerance is not None and not far_outputs(trials, None, tolerance):
            return close(found, tolerance, "")
        return found
    return Verification("undecided", notes=tuple(notes))


def _answering() -> Callable[[Any], Any]:
    sessions: list[Any] = []

    def answer(question: Any) -> Any:
        if sessions:
            return _run(sessions[0], question)
        session, seat = _open(*question)
        sessions.append(session)
        return seat

    return answer


def _open(path: str, providers: Sequence[Any], libraries: Mapping[str, str]) -> tuple[Any, tuple[Any, ...]]:
    """Returns the session, its providers in order, and, by node name, the providers reported for Pads."""
    import onnxruntime

    from padops.runtime.model_words import words_of
    from padops.runtime.session import prepare

    for name, library in libraries.items():
        onnxruntime.register_execution_provider_library(name, library)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised and reported, not logged
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    session = onnxruntime.InferenceSession(path, **prepare(path, words_of(path), options, providers)[0])
    parts: list[Any] = getattr(session, "get_provider_graph_assignment_info", list)()
    nodes = [(node, part.ep_name) for part in parts for node in part.get_nodes()]
    runners = {node.name: name for node, name in nodes if node.op_type == "Pad" or node.domain == DOMAIN}
    return session, (tuple(session.get_providers()), runners)


def _run(session: Any, feeds: Mapping[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, run_session(session, feeds, names), strict=True))


if __name__ == "__main__":
    serve(_answering())
