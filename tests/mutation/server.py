"""Runs commands of padops in forked children with limits of time and memory; ``runner.py`` starts it as a process.

It imports everything once, so that a child costs milliseconds. Each line on standard input is a request, each line on
standard output what became of it; both are JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from importlib import import_module
from typing import Any

MEMORY = 2 << 30  # bytes of address space beyond what the server itself has
CPU_SECONDS = 10  # of the processor: on a busy machine the clock runs faster than the work
CLOCK_SECONDS = 300
# Everything that a command may import later.
MODULES = ("onnx.inliner", "onnx.reference.ops", "onnxruntime", "padops.cli", "padops.convert", "padops.convert.ir",
           "padops.convert.verify.compare")  # fmt: skip
RAISED = 70  # the exit code of a child that an exception ended


def main() -> None:
    for name in MODULES:
        import_module(name)
    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    """Runs one command in a child; says how it ended and what it printed as an error."""
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            _run(request, errors.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        return {"code": code, "said": errors.read().decode(errors="replace")}


def _run(request: dict[str, Any], errors: int) -> None:
    """The child: runs the command and ends the process."""
    code = RAISED
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for old, new in ((nothing, 0), (nothing, 1), (errors, 2)):
            os.dup2(old, new)
        os.chdir(request["folder"])
        tempfile.tempdir = request["temporary"]
        _limit()
        from padops.cli import main as command

        code = command(request["arguments"])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _limit() -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(CLOCK_SECONDS)


if __name__ == "__main__":
    main()
