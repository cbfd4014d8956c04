"""Runs commands of padops in forked children with limits of time and memory; ``runner.py`` starts it as a process.

It imports everything once, so that a child costs milliseconds. Each line on standard input is a request, each line on
standard output what became of it; both are JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "processes"))

from children import in_child

MEMORY = 2 << 30  # bytes of address space beyond what the server itself has
CPU_SECONDS = 10  # of the processor: on a busy machine the clock runs faster than the work
CLOCK_SECONDS = 300
# Everything that a command may import later.
MODULES = ("onnx.inliner", "onnx.reference.ops", "onnxruntime", "padops.cli", "padops.convert", "padops.convert.ir",
           "padops.convert.verify.compare")  # fmt: skip


def main() -> None:
    for name in MODULES:
        import_module(name)
    for line in sys.stdin:
        print(json.dumps(_serve(json.loads(line))), flush=True)


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    """Runs one command in a child; says how it ended and what it printed as an error."""
    size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    with tempfile.TemporaryFile() as errors:
        codes, ended = in_child(_run(request, errors.fileno()), CLOCK_SECONDS, size + MEMORY)
        errors.seek(0)
        return {"code": codes[0] if codes else None, "ended": ended, "said": errors.read().decode(errors="replace")}


def _run(request: dict[str, Any], errors: int) -> Iterator[int]:
    """The exit code of a command, in the child."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for old, new in ((nothing, 0), (nothing, 1), (errors, 2)):
        os.dup2(old, new)
    os.chdir(request["folder"])
    tempfile.tempdir = request["temporary"]
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    from padops.cli import main as command

    try:
        yield command(request["arguments"])
    except SystemExit as end:
        yield end.code if isinstance(end.code, int) else int(end.code is not None)


if __name__ == "__main__":
    main()
