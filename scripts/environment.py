"""Creates, repairs and updates the .venv of demo.py and test.py with the standard library alone.

This file and its two callers keep to the syntax of Python 3.6, so that an old Python reaches the message below.
"""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

OLDEST = (3, 10)
if sys.version_info < OLDEST:
    sys.exit(
        f"error: padops needs Python {'.'.join(map(str, OLDEST))} or newer; {sys.executable} is "
        f"Python {sys.version.split()[0]}. Call this script with a newer one, such as: python3.12 {sys.argv[0]}"
    )

ROOT = Path(__file__).resolve().parent.parent
# The sources of an installation.
SOURCES = ("pyproject.toml", "CMakeLists.txt", "padops/csrc", "padops/include", "padops/rules")
BUILD_TOOLS = ("scikit-build-core", "cmake", "ninja")
ENDS_UP_ELSEWHERE = ("PIP_PREFIX", "PIP_ROOT", "PIP_TARGET")  # settings that keep pip from installing into .venv
STAMP, UNFINISHED = (
    "padops-stamp.json",
    "padops-unfinished",
)  # in .venv: the hash of its sources; the mark of an unfinished set-up
MISLEADING = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")  # the caller's, not .venv's


def ensure(extras=(), root: Path = ROOT) -> Path:
    """Return the Python of a .venv that has this checkout installed, editable, with the extras.

    A stamp in .venv has a hash of its sources; if they are unchanged, this takes a tenth of a second. A .venv that is
    broken, or whose set-up was killed, is created anew; a working .venv without a stamp gets the installation.

    Args:
        extras: Required extras of pyproject.toml. Extras installed before stay.
        root: The checkout.

    Returns:
        The path of the interpreter.

    Raises:
        SystemExit: A step failed; its output has been printed.
    """
    venv = root / ".venv"
    with _alone(root):
        wanted = {"root": str(root), "sources": fingerprint(root), "extras": sorted(extras)}
        stamp = read_stamp(venv)
        if up_to_date(stamp, wanted) and _works(venv):
            return interpreter(venv)
        wanted["extras"] = sorted({*extras, *stamp.get("extras", [])})
        if not _sound(venv):
            _create(venv)
        _install(venv, wanted)
        if not _works(venv):  # pip trusted incomplete packages
            _create(venv)
            _install(venv, wanted)
            if not _works(venv):
                sys.exit(f"error: padops is installed in {venv} but cannot be imported there")
        (venv / STAMP).write_text(json.dumps(wanted))
        (venv / UNFINISHED).unlink()
    return interpreter(venv)


def interpreter(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint(root: Path) -> str:
    """Hashes everything that an editable installation does not update by itself."""
    digest = hashlib.sha256()
    for source in SOURCES:
        path = root / source
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                content = file.read_bytes()
                digest.update(f"{file.relative_to(root).as_posix()}\0{len(content)}\0".encode() + content)
    for module in sorted((root / "padops").rglob("*.py")):  # the installation records the path of each
        digest.update(f"{module.relative_to(root).as_posix()}\0".encode())
    return digest.hexdigest()


def read_stamp(venv: Path) -> dict:
    """Reads the stamp of .venv; empty if the set-up is unfinished or not by this script."""
    if (venv / UNFINISHED).exists():
        return {}
    try:
        stamp = json.loads((venv / STAMP).read_text())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def up_to_date(stamp: dict, wanted: dict) -> bool:
    same = all(stamp.get(key) == wanted[key] for key in ("root", "sources"))
    return same and set(wanted["extras"]) <= set(stamp.get("extras", []))


def variables(venv: Path) -> dict:
    """Return the caller's environment variables, without variables that would lead Python or pip out of .venv."""
    kept = {key: value for key, value in os.environ.items() if key not in MISLEADING + ENDS_UP_ELSEWHERE}
    path = os.pathsep.join([str(interpreter(venv).parent), os.environ.get("PATH", os.defpath)])
    return {**kept, "PATH": path, "VIRTUAL_ENV": str(venv), "PIP_USER": "0", **compiled_in(venv / "bytecode")}


def compiled_in(folder: Path) -> dict:
    """Return variables that make Python compile each source once, into a folder: else each process would compile it."""
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


def step(label: str, command: list, root: Path = ROOT) -> None:
    """Run one command of the set-up; print a line with its time, and its output only if it fails."""
    print(f"{label} ... ", end="", flush=True)
    start = time.monotonic()
    result = subprocess.run(
        [str(part) for part in command],
        cwd=str(root),
        env=variables(root / ".venv"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    print(f"{time.monotonic() - start:.1f} s", flush=True)
    if result.returncode:
        print(result.stdout, file=sys.stderr)
        sys.exit(f"error: {label}: exit code {result.returncode}; its output is above")


def hand_over(command: list, folder: Path = None) -> int:
    """Run the job on the terminal, in a folder or the caller's, and return its exit code."""
    sys.stdout.flush()
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt != signal.SIG_IGN:
        # The terminal also sends the signal to the job, which ends by itself. An exception here could come between the
        # job's end and its exit code, which the system returns only once.
        signal.signal(signal.SIGINT, lambda number, frame: None)
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        process = subprocess.Popen([str(part) for part in command], env=variables(ROOT / ".venv"), cwd=folder)
        signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())  # sent to this process alone
        code = process.wait()
        return code if code >= 0 else 128 - code
    finally:
        signal.signal(signal.SIGTERM, terminate)
        signal.signal(signal.SIGINT, interrupt)


def _ask(venv: Path, question: str) -> bool:
    """Return whether .venv's Python runs these statements to their end."""
    if not interpreter(venv).exists():
        return False
    command = [str(interpreter(venv)), "-I", "-c", question]
    return subprocess.run(command, env=variables(venv), cwd=str(venv), capture_output=True).returncode == 0


def _sound(venv: Path) -> bool:
    """Return whether .venv can get an installation: a virtual environment, with pip, whose set-up was not killed."""
    question = (
        "import sys, os, pip\n"
        f"assert sys.version_info >= {OLDEST} and sys.prefix != sys.base_prefix\n"
        f"assert os.path.samefile(sys.prefix, {str(venv)!r})"
    )
    return not (venv / UNFINISHED).exists() and _ask(venv, question)


def _works(venv: Path) -> bool:
    return _ask(venv, "import padops; assert padops.get_library_path()")


def _create(venv: Path) -> None:
    if venv.exists():
        shutil.rmtree(str(venv))
    venv.mkdir()
    (venv / UNFINISHED).touch()
    base = getattr(sys, "_base_executable", None) or sys.executable  # the caller may be a virtual environment itself
    step("creating .venv", [base, "-m", "venv", venv], venv.parent)


def _install(venv: Path, wanted: dict) -> None:
    what = ".[{}]".format(",".join(wanted["extras"])) if wanted["extras"] else "."
    with contextlib.suppress(FileNotFoundError):
        (venv / STAMP).unlink()
    fresh = (venv / UNFINISHED).exists()
    (venv / UNFINISHED).touch()
    pip = [interpreter(venv), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    try:
        # The editable install later rebuilds itself with the same tools, so they must stay in .venv.
        step("installing the build tools", [*pip, *BUILD_TOOLS], venv.parent)
        command = [*pip, "--no-build-isolation", "--editable", what]
        step(f"building and installing padops ({what})", command, venv.parent)
    except SystemExit:
        if not fresh:  # pip failed but left the old packages: keep them
            (venv / UNFINISHED).unlink()
        raise


@contextlib.contextmanager
def _alone(root: Path):
    """Let only one set-up of a checkout run at a time, if the system has flock."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = os.open(str(root), os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another set-up of this checkout to end", flush=True)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
