"""Run the cases of this archive on a backend of ONNX, and compare its outputs with the expected ones, bit by bit.

    python ARCHIVE BACKEND [--only TEXT] [--out FILE.json]

ARCHIVE is the .zip, or the folder that it was extracted into. BACKEND is a module, or a Python file, with a function
``prepare(model, device)`` as in onnx.backend: its result has ``run(inputs)``. ``onnxruntime.backend`` is such a module.
The model is a ModelProto, or its bytes if onnx is not installed. The program needs only NumPy beside the backend;
without ml_dtypes, it skips and counts the cases of types that NumPy lacks.

A backend may refuse a case "beyond the standard", but must return the output of a "standard" case. The cases run in
another process: if that process ends, the case is a crash, and a new process runs the next case.

Exit codes: 0 every case that was not skipped is right, 1 some are not, 2 the archive or the backend cannot be used.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import unittest
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent  # the archive itself, or a folder
OUTCOMES = ("agree", "differ", "refused", "crash", "skipped")
LIMIT = 120  # seconds for one case
SHOWN = 20  # kinds of wrong cases


class Archive:
    """The cases, and their files."""

    def __init__(self) -> None:
        zipped = None if HERE.is_dir() else zipfile.ZipFile(HERE)
        self.read: Callable[[str], bytes] = zipped.read if zipped else lambda name: (HERE / name).read_bytes()
        self.manifest = json.loads(self.read("manifest.json"))
        self.cases = self.manifest["cases"]

    def check(self) -> None:
        """Ends the program if a file differs from the manifest."""
        for name, expected in self.manifest["sha256"].items():
            if hashlib.sha256(self.read(name)).hexdigest() != expected:
                stop(f"{name} is not the file of the manifest: its SHA-256 differs")

    def type_of(self, number: int) -> tuple[np.dtype, int]:
        """Returns NumPy's type of an ONNX type, and the bits of an element.

        Raises:
            unittest.SkipTest: Neither NumPy nor ml_dtypes has the type.
        """
        name, scalar, bits = self.manifest["types"][str(number)]
        if hasattr(np, scalar):
            return np.dtype(getattr(np, scalar)), bits
        try:
            return np.dtype(getattr(importlib.import_module("ml_dtypes"), scalar)), bits
        except (ImportError, AttributeError):
            raise unittest.SkipTest(f"neither NumPy nor ml_dtypes has {name}") from None

    def tensor(self, name: str) -> tuple[np.ndarray, int]:
        """Returns a TensorProto as an array, and the bits of an element: 0 for strings."""
        dims, number, raw, strings = [], 0, b"", []
        for field, value in fields(self.read(name)):
            if field == 1:
                dims.append(value)
            elif field == 2:
                number = value
            elif field == 6:
                strings.append(value.decode())
            elif field == 9:
                raw = value
        dtype, bits = self.type_of(number)
        if not bits:
            return np.array(strings, object).reshape(dims), bits
        flat: np.ndarray = np.frombuffer(raw, np.uint8).copy()  # some backends refuse read-only arrays
        if bits < 8:  # the first element of a byte is in its low bits
            flat = (flat[:, None] >> np.arange(0, 8, bits, dtype=np.uint8) & ((1 << bits) - 1)).reshape(-1)
            flat = flat[: int(np.prod(dims, dtype=np.int64))].astype(np.uint8)
        return flat.view(dtype).reshape(dims), bits


def fields(content: bytes) -> Iterator[tuple[int, Any]]:
    """Yields the fields of a protobuf message: each field's number, and an integer or bytes."""
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = content[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(content):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:  # tensors of the archive have only bytes
            size = varint()
            yield key >> 3, content[place : place + size]
            place += size


def bits_of(array: np.ndarray, bits: int) -> Any:
    """Returns a key that is the same for two outputs if they are equal."""
    if not bits:
        return array.tolist()
    raw: np.ndarray = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return (raw & ((1 << bits) - 1) if bits < 8 else raw).tobytes()


def run_case(archive: Archive, name: str, prepare: Callable[..., Any]) -> tuple[str, str]:
    """Returns the outcome of a case, and a note on it."""
    place = f"cases/{name}"
    model: Any = archive.read(f"{place}/model.onnx")
    if importlib.util.find_spec("onnx"):
        model = importlib.import_module("onnx").load_model_from_string(model)
    try:
        row = archive.cases[name]
        inputs = [archive.tensor(f"{place}/test_data_set_0/input_{i}.pb")[0] for i in range(row["inputs"])]
        wanted, bits = archive.tensor(f"{place}/test_data_set_0/output_0.pb")
        got = np.asarray(prepare(model, "CPU").run(inputs)[0])
    except unittest.SkipTest as error:
        return "skipped", str(error)
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}"
    same_type = got.dtype == wanted.dtype or not bits and got.dtype.kind in "OUT"
    if not same_type or got.shape != wanted.shape:
        return "differ", f"{got.dtype}{list(got.shape)}, expected {wanted.dtype}{list(wanted.shape)}"
    if bits_of(got, bits) != bits_of(wanted, bits):
        return "differ", f"other values in {wanted.dtype}{list(wanted.shape)}"
    return "agree", ""


def answer(backend: str) -> None:
    """Runs the cases named on standard input, and prints a line of JSON for each."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the backend's output must not mix with the lines
    archive = Archive()
    if backend.endswith(".py"):
        spec = importlib.util.spec_from_file_location("backend", backend)
        assert spec is not None and spec.loader is not None  # true for every such file
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(backend)
    print(json.dumps(module.prepare.__name__), file=answers, flush=True)
    for name in sys.stdin.read().split():
        print(json.dumps(run_case(archive, name, module.prepare)), file=answers, flush=True)


def ask(backend: str, names: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yields the outcome of each case, from as many processes as needed."""
    while names:
        child = subprocess.Popen(
            [sys.executable, str(HERE), backend, "--answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdin is not None and child.stdout is not None  # pipes
        started, waiting = False, list(names)
        with (
            contextlib.suppress(BrokenPipeError),
            child.stdin as names_in,
        ):  # an unusable backend reads nothing
            names_in.write("\n".join(names).encode())
        threading.Thread(target=bury, args=[child], daemon=True).start()
        timer = threading.Timer(LIMIT, end, [child])
        timer.start()
        for line in child.stdout:
            timer.cancel()
            timer = threading.Timer(LIMIT, end, [child])
            timer.start()
            if started:
                yield waiting.pop(0), tuple(json.loads(line))
            started = True
        timer.cancel()
        code = child.wait()
        if not started:
            stop(f"the backend {backend} cannot be used")
        if waiting:
            yield waiting.pop(0), ("crash", f"the process ended with {code}")
        names = waiting


def bury(child: subprocess.Popen[bytes]) -> None:
    """Waits for the end of a process, and kills its children, which may hold its pipe for ever."""
    child.wait()
    end(child)


def end(child: subprocess.Popen[bytes]) -> None:
    """Kills a process, if it still runs, and its children."""
    child.kill()
    with contextlib.suppress(AttributeError, ProcessLookupError, PermissionError):  # some systems have no groups
        os.killpg(child.pid, signal.SIGKILL)


def stop(why: str) -> None:
    """Ends with exit code 2."""
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


def main() -> int:
    """Runs the cases and prints the outcomes of each class."""
    parser = argparse.ArgumentParser(
        prog="python ARCHIVE", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("backend", metavar="BACKEND")
    parser.add_argument("--only", default="", metavar="TEXT", help="the cases whose names contain TEXT")
    parser.add_argument("--out", metavar="FILE.json", help="write the outcome of each case")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer(options.backend)
        return 0
    archive = Archive()
    archive.check()
    cases = archive.cases
    found = dict(ask(options.backend, [name for name in sorted(cases) if options.only in name]))
    allowed = {name for name, (outcome, _) in found.items() if outcome in ("agree", "skipped")
               or outcome == "refused" and cases[name]["class"] != "standard"}  # fmt: skip
    print(f"{'':20}", *(f"{title:>8}" for title in ("cases", *OUTCOMES)))
    for kind in sorted({cases[name]["class"] for name in found}, reverse=True):
        counts = Counter(outcome for name, (outcome, _) in found.items() if cases[name]["class"] == kind)
        print(f"{kind:20}", *(f"{count:8,}" for count in (counts.total(), *(counts[title] for title in OUTCOMES))))
    wrong: dict[tuple[str, str], list[str]] = {}
    for name, (outcome, why) in found.items():
        if name not in allowed:
            wrong.setdefault((outcome, re.sub(r"\d+", "#", " ".join(why.split()))[:120]), []).append(name)
    for (outcome, why), names in sorted(wrong.items())[:SHOWN]:
        print(f"{outcome} ({len(names):,}): {why}; {names[0]} {' '.join(cases[names[0]]['rules'])}")
    if len(wrong) > SHOWN:
        print(f"and {sum(map(len, wrong.values())):,} wrong in all")
    if options.out:
        rows = {name: {**cases[name], "outcome": outcome, "why": why} for name, (outcome, why) in found.items()}
        Path(options.out).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
