"""Programs in C++: ``tests/cpp/replay.cpp`` runs the library in any runtime from a file of cases, without Python, too.

``scripts/run_wheels.py`` takes that program to other machines.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import oldest_runtime
import onnxruntime
import write_cases
from conformance_records import quick
from cpp_builds import CHECKS, ROOT, build, said
from parsed_models import model

import padops
from padops.conformance.features import expect
from padops.conformance.peers.request import Request
from padops.runtime.provider import FIRST_MINOR, runtime_minor

EVERY = [case for case in quick() if not case.dtype.since]  # every runtime has their types
ONE = next(case for case in EVERY if case.opset and expect(case).output is not None and expect(case).output.size)
REFUSED = next(case for case in EVERY if expect(case).rule == "P8")


def replay(file: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program on a file of cases."""
    (runtime,) = (Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")
    program = build(ROOT / "build" / "replay", "-DCMAKE_BUILD_TYPE=None", source=CHECKS, target="replay") / "replay"
    return said(program, runtime, padops.get_library_path(), file)


def one_case(case: Request) -> bytes:
    """The file of a case for the operators."""
    return write_cases.blob(write_cases.MAGIC.encode()) + next(write_cases.records_of(case))


def told(passed: int, failed: int, new: int) -> str:
    return f"onnxruntime {onnxruntime.__version__}: {passed} cases passed, {failed} failed, {new} are too new for it\n"


def test_every_case_passes(tmp_path: Path) -> None:
    file, chosen = tmp_path / "cases", EVERY[::4]
    count = write_cases.write(file, chosen)
    done = replay(file)
    new = 0 if runtime_minor() >= FIRST_MINOR else count - len(chosen)
    assert (done.returncode, done.stdout, done.stderr) == (0, told(count - new, 0, new), "")
    assert count > len(chosen) > 200


def test_another_bit_and_another_error_are_seen(tmp_path: Path) -> None:
    file, content = tmp_path / "cases", one_case(ONE)
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    done = replay(file)
    assert (done.returncode, done.stdout) == (1, f"{ONE.id}: other bits\n" + told(0, 1, 0))
    content = one_case(REFUSED)
    assert content.count(b"[P8]") == 1
    file.write_bytes(content.replace(b"[P8]", b"[P7]"))
    done = replay(file)
    assert done.returncode == 1
    assert "[P8]; expected: [P7]\n" in done.stdout and told(0, 1, 0) in done.stdout


LONG = '({0}[2, 3] x) => ({0}[2, 9] y) <int64[4] p = {{0, 4, 0, 2}}> {{ y = Pad <mode = "reflect"> (x, p) }}'


def run(program: str, package: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Builds a program beside the runtime of a wheel, which comes without the links to it, and runs m.onnx with it."""
    runtime = next(package.glob("capi/libonnxruntime.so.*"))
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / name).symlink_to(runtime)
    build(folder, f"-DORT_LIBRARY={folder / 'libonnxruntime.so'}", source=CHECKS, target=program)
    return said(folder / program, padops.get_library_path(), folder / "m.onnx")


def test_load(tmp_path: Path) -> None:
    """A reflection longer than the data, which ONNX Runtime alone refuses."""
    padops.convert(model(LONG.format("float"), 17), tmp_path / "m.onnx")
    done = run("load", Path(onnxruntime.__file__).parent, tmp_path)
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", [*"123212321", *"456545654"])


def test_a_runtime_that_takes_no_provider(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(model(LONG.format("int16")))
    done = run("provider", oldest_runtime.install() / "onnxruntime", tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"needs onnxruntime 1.24 or newer, this is {oldest_runtime.VERSION}" in done.stderr
