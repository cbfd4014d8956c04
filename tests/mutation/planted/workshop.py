"""A copy of the checkout in which breaks are planted: what it builds, and the tests that look at one source."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from .change import Change
from .coverage_map import DATA, FOLDER, STARTS, CoverageMap, measure
from .relevant import ROOT, Stage, stages_of

LIBRARY = Path("build", "planted", "library")
CHECKS = Path("build", "planted", "checks")
# Quicker to build than what ships, and no less right.
FLAGS = ("-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1")
LONGEST = {"build": 600, "program": 150, "pytest": 600}  # seconds that a stage may take, on a machine that is busy


class Ran(NamedTuple):
    """How a command ended."""

    code: int | None  # None where it took too long
    said: str  # the test that failed, or what it printed last


class Workshop:
    """A copy of the checkout, with an environment of its own and everything built.

    Args:
        folder: Where to put it. What is there already is used again, and brought up to date.
    """

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self._python = folder / "venv" / "bin" / "python"
        self._green: set[Stage] = set()
        _copy_checkout(self.tree)
        _make_environment(folder / "venv", self.tree)
        stated = f"-DSKBUILD_PROJECT_VERSION={version('padops')}"
        for source, build, *more in ((".", LIBRARY, stated), ("tests/cpp", CHECKS)):
            self._must(("cmake", "-S", source, "-B", str(build), *FLAGS, *more))
        self._must(self._command(("build", "padops")))
        self._library = (self.tree / LIBRARY / "libpadops.so").read_bytes()
        self._map: CoverageMap | None = None

    def _must(self, command: tuple[str, ...]) -> None:
        """Runs what must end well, in the time that it has with a break."""
        ran = self._run(command, max(LONGEST.values()))
        if ran.code != 0:
            raise RuntimeError(f"without any break {' '.join(command)} ends with {ran.code}: {ran.said}")

    def tried(self, change: Change) -> tuple[str, str]:
        """Return a break's outcome, ``"killed"``, ``"survived"`` or ``"does not build"``, and the stage that showed it.

        Raises:
            RuntimeError: What fails with the break does so without it.
        """
        path = self.tree / change.file
        source = path.read_text(encoding="utf-8")
        stages = self._stages(change, source)
        path.write_text(change.applied(source), encoding="utf-8")
        try:
            found = self._first_failure(stages)
        finally:
            path.write_text(source, encoding="utf-8")
        if found is None:
            return "survived", ""
        stage, ran = found
        if stage[0] == "build":
            return "does not build", ran.said
        if ran.code == -signal.SIGTERM:
            raise RuntimeError(f"somebody has ended what ran on a break: {' '.join(stage)}")
        self._confirm(stage, ran)
        if ran.code is None:
            return "killed", f"{stage[0]} does not end"
        return "killed", ran.said if ran.code > 0 else f"{stage[0]} ended by signal {-ran.code}"

    def _stages(self, change: Change, source: str) -> list[Stage]:
        """Return what to build and run for a break; for Python, the tests that run its lines, where there are any."""
        if not change.file.endswith(".py"):
            return list(stages_of(change.file))
        if self._map is None:
            if not (self.tree / FOLDER / DATA).is_file():
                measure(self._python, self.tree, self._variables())
            self._map = CoverageMap(self.tree)
        last = source.count("\n", 0, change.end) + 1
        batches = self._map.tests_of(change.file, change.line(source), last)
        return [("build", "padops"), *(("pytest", *tests) for tests in batches)]

    def _variables(self) -> dict[str, str]:
        """The tests' environment without access to the checkout or to compiled code of an earlier break."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
        library = str(self.tree / LIBRARY / "libpadops.so")
        return {**kept, "PADOPS_LIBRARY": library, "PYTHONDONTWRITEBYTECODE": "1"}

    def _first_failure(self, stages: list[Stage]) -> tuple[Stage, Ran] | None:
        for stage in stages:
            ran = self._run(self._command(stage), LONGEST[stage[0]])
            if ran.code != 0:
                return stage, ran
        return None

    def _confirm(self, stage: Stage, ran: Ran) -> None:
        """Makes sure that the test that failed is green without a break; where none has a name, all that ran."""
        test = re.match(r"(?:FAILED|ERROR) (\S+?::[^\[\s]+)", ran.said)
        green = ("pytest", test[1]) if stage[0] == "pytest" and test else stage
        if green in self._green:
            return
        if stage[0] == "program":
            self._must(self._command(("build", stage[1])))
        shipped = self.tree / LIBRARY / "libpadops.so"
        broken = shipped.read_bytes()
        shipped.write_bytes(self._library)
        try:
            self._must(self._command(green))
        finally:
            shipped.write_bytes(broken)
        self._green.add(green)

    def _command(self, stage: tuple[str, ...]) -> tuple[str, ...]:
        kind, *rest = stage
        if kind == "build":
            folder = LIBRARY if rest == ["padops"] else CHECKS
            return ("cmake", "--build", str(folder), "--parallel", "2", "--target", *rest)
        if kind == "program":
            return (str(CHECKS / rest[0]), *rest[1:])
        assert kind == "pytest"
        quick = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
        return (str(self._python), "-m", "pytest", *quick, *rest)

    def _run(self, command: tuple[str, ...], seconds: float) -> Ran:
        """Runs a command in the copy; all that it has started is gone afterwards."""
        running = subprocess.Popen(
            command,
            cwd=self.tree,
            env=self._variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=_limit,
        )
        try:
            said, _ = running.communicate(timeout=seconds)
            code: int | None = running.returncode
        except subprocess.TimeoutExpired:
            said, code = "", None
        finally:
            _end(running)
        return Ran(code, _last_words(said))


def _end(running: subprocess.Popen[str]) -> None:
    """Ends a process and those that it has started in its session."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    running.wait()


def _limit() -> None:
    """Makes the kernel kill this process first when memory runs out; sanitizers need unlimited address space."""
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _last_words(said: str) -> str:
    """The test that failed, or the last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    errors = [line for line in lines if "error:" in line]
    return (failed or errors or lines[-1:] or [""])[0][:300]


def _copy_checkout(tree: Path) -> None:
    """Brings the copy up to date, without what is built or installed.

    Files that are the same stay untouched, so that they are not built again.
    """
    for folder, folders, names in os.walk(ROOT):
        left_out = {"build", ".git", ".venv"} if Path(folder) == ROOT else set()
        folders[:] = set(folders) - left_out - {"__pycache__", ".hypothesis"}
        # In a worktree .git is a file, which would make the copy another place of the checkout's own repository.
        for place in (Path(folder, name) for name in set(names) - {".git"}):
            copied = tree / place.relative_to(ROOT)
            if not copied.is_file() or copied.read_bytes() != place.read_bytes():
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(place, copied)


def _make_environment(folder: Path, tree: Path) -> None:
    """An environment that finds padops in the copy, and everything else where this one has it."""
    if not folder.is_dir():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages / "borrowed.pth").write_text("".join(f"{line}\n" for line in (tree, *others, STARTS)), encoding="utf-8")
