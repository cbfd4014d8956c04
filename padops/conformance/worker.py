"""The process of one peer: reads cases from its standard input and answers each on its standard output.

The peer's Python may not have padops installed, so this file imports ``padops`` from the folder above. It does not add
a folder to ``sys.path``, because Python could then import another runtime from that folder.

Messages are pickles of plain types. The first describes the peer. Each later message answers a case: ``("output",
array)``, ``("refused", text)`` for an exception in the peer's ``REFUSALS``, ``("broken", text)`` for another exception,
``("unsupported", text)`` or ``("skipped", text)``. A process with children sends ``("died", code)`` when a child dies.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import pickle
import sys
import traceback
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, Any


def send(stream: IO[bytes], message: Any) -> None:
    pickle.dump(message, stream, protocol=4)
    stream.flush()


def _load(name: str, place: str | Path, folders: list[str] | None = None) -> ModuleType:
    """Import a ``.py`` file as the module ``name``; for a package, ``folders`` contain its other modules."""
    spec = importlib.util.spec_from_file_location(name, place, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None  # every .py file has both
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


Kinds = tuple[type[BaseException], ...]


def _load_peer(entry_point: str) -> tuple[Any, Kinds, dict[str, str]]:
    """Return the peer's function, the exceptions with which it refuses cases, and the versions of its packages."""
    from padops.conformance.peers.request import Refused
    from padops.extras import names_of, version_of
    from padops.spec.plan import PadError

    place, _, function = entry_point.rpartition(":")
    if not place.endswith(".py"):
        module = importlib.import_module(f"padops.conformance.peers.{place}")
    else:
        folder = ModuleType("users")  # lets the file import its neighbours, as in "from .other import name"
        folder.__path__ = [str(Path(place).parent)]
        sys.modules["users"] = folder
        module = _load("users.peer", place)
    run = getattr(module, function, None)
    if place.endswith(".py") and not hasattr(module, "ENVIRONMENT"):
        if not callable(run):
            own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
            raise AttributeError(f"{place} has no function {function}; it has {', '.join(own) or 'none'}")
        given = lambda request: (request.op, dict(request.attributes), list(request.inputs))  # as padops.run_reference
        run = partial(_pad, SimpleNamespace(pad=run, arguments=given, UNSUPPORTED=(NotImplementedError,)))
    elif run is None:
        run = partial(_pad, module)
    stated = getattr(module, "REFUSALS", ())
    refusals = tuple(stated) if isinstance(stated, (tuple, list)) else (stated,)
    if wrong := [kind for kind in refusals if not (isinstance(kind, type) and issubclass(kind, Exception))]:
        raise TypeError(f"REFUSALS has {wrong[0]!r}, expected exception types")
    stated = getattr(module, "PACKAGES", ())
    packages = stated[function] if isinstance(stated, dict) else tuple(stated)
    if function in ("run_without_pad", "run_lowered_for"):  # these use the converter
        packages = (*packages, "onnx-ir")
    for name in {"onnx-ir", "onnxruntime-extensions"} & {*packages}:  # no peer's file imports these at its top level
        importlib.import_module(name.replace("-", "_"))
    versions = {name: version_of(name) for package in packages for name in names_of(package)}
    return run, (Refused, PadError, *refusals), {name: text for name, text in versions.items() if text is not None}


def _pad(module: Any, request: Any) -> Any:
    """Run ``pad`` of a peer's file; raise Unsupported for errors that the file's ``UNSUPPORTED`` lists."""
    from padops.conformance.peers.request import unsupported_where

    given = module.arguments(request)
    with unsupported_where(getattr(module, "UNSUPPORTED", ())):
        return module.pad(*given)


def _answer(run: Any, refusals: Kinds, sent: dict[str, Any]) -> tuple[str, Any]:
    from padops.conformance.arrays import pack
    from padops.conformance.peers.request import Request, Skipped, Unsupported

    try:
        output = run(Request.of(sent))
    except (Unsupported, Skipped) as error:
        return type(error).__name__.lower(), str(error)
    except Exception as error:
        stated = isinstance(error, refusals)  # any other exception is a mistake, which must not pass for a refusal
        return "refused" if stated else "broken", f"{type(error).__name__}: {error}"
    try:
        return "output", pack(output)
    except (AttributeError, TypeError, ValueError) as error:
        kind = f"{type(output).__name__}{f' of {output.dtype}' if hasattr(output, 'dtype') else ''}"
        return "broken", f"the output is {kind}: {error}"


def _serve(run: Any, refusals: Kinds, questions: IO[bytes], answers: IO[bytes], forks: bool) -> None:
    """Answer all cases; with ``forks``, in a child process, because a fork after a crash is faster than a new start."""
    while forks and (child := os.fork()):
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if not code:
            return
        send(answers, ("died", code))
    with contextlib.suppress(EOFError):
        while True:
            send(answers, _answer(run, refusals, pickle.load(questions)))
    if forks:
        os._exit(0)


def main() -> int:
    """Run the peer ``argv[1]``, in children if ``argv[2]`` is ``fork``."""
    del sys.path[0]  # this folder, whose files are not top-level modules
    own = Path(__file__).resolve().parent.parent  # instead of an installed padops
    _load("padops", own / "__init__.py", [str(own)])
    from padops.processes import own_pipes

    questions, answers = own_pipes()  # an implementation's output must not mix with the answers
    try:
        run, refusals, versions = _load_peer(sys.argv[1])
    except Exception as error:
        traceback.print_exc()
        send(answers, {"absent": f"{type(error).__name__}: {error}"})
        return 0
    send(answers, {"python": sys.version.split()[0], "versions": versions})
    _serve(run, refusals, questions, answers, sys.argv[2:] == ["fork"] and hasattr(os, "fork"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
