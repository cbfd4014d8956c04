"""``tests/cpp/replay.cpp``, which ``scripts/run_wheels.py`` takes to other machines: here it runs on this one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import onnxruntime
import pytest
import write_cases
from cpp_builds import CHECKS, build

import padops
from padops.conformance import cases
from padops.conformance.features import expect
from padops.conformance.peers.request import Request
from padops.runtime.provider import FIRST_MINOR, runtime_minor

EVERY = [case for case in cases.collect("quick") if not write_cases.since(case)]  # every runtime has their types
CASES = EVERY[::4]
ONE = next(case for case in EVERY if case.opset and expect(case).output is not None and expect(case).output.size)
REFUSED = next(case for case in EVERY if expect(case).rule == "P8")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay")
    return build(folder, "-DCMAKE_BUILD_TYPE=None", source=CHECKS, target="replay") / "replay"


@pytest.fixture
def replay(program: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the program on cases, or on the bytes of a file of cases."""
    (runtime,) = (Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so.*")

    def run(chosen: Iterable[Request] | bytes, library: str = "") -> subprocess.CompletedProcess[str]:
        file = tmp_path / "cases"
        if isinstance(chosen, bytes):
            file.write_bytes(chosen)
        else:
            write_cases.write(file, chosen)
        command = [program, runtime, library or str(padops.get_library_path()), file]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    return run


def one_case(*changes: tuple[bytes, bytes], case: Request = ONE) -> bytes:
    """The file of a case for the operators, with bytes in the place of others that are there once."""
    content = write_cases.blob(write_cases.MAGIC.encode()) + next(write_cases.records_of(case))
    for old, new in changes:
        assert content.count(old) == 1
        content = content.replace(old, new)
    return content


def told(passed: int, failed: int, new: int) -> str:
    return f"onnxruntime {onnxruntime.__version__}: {passed} cases passed, {failed} failed, {new} are too new for it\n"


def test_every_case_passes(replay) -> None:
    done = replay(CASES)
    count = sum(len(list(write_cases.records_of(case))) for case in CASES)
    new = 0 if runtime_minor() >= FIRST_MINOR else count - len(CASES)
    assert (done.returncode, done.stdout, done.stderr) == (0, told(count - new, 0, new), "")
    assert count > len(CASES) > 200


def test_another_bit_is_seen(replay) -> None:
    content = one_case()
    done = replay(content[:-1] + bytes([content[-1] ^ 1]))
    assert (done.returncode, done.stdout) == (1, f"{ONE.id}: other bits\n" + told(0, 1, 0))


def test_another_error_is_seen(replay) -> None:
    done = replay(one_case((b"[P8]", b"[P7]"), case=REFUSED))
    assert done.returncode == 1
    assert "[P8]; expected: [P7]\n" in done.stdout and told(0, 1, 0) in done.stdout
