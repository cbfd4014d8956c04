"""Run padops' wheel on every supported pair of ONNX Runtime and Python, with the lowest and the newest dependencies.

    python3 scripts/matrix.py [--only TEXT | --ci] [--keep]

Builds the wheel, then installs it for each Python into an environment under build/matrix, one at a time, and removes
the environment afterwards. There it runs, for each onnxruntime: the self-check, ``padops convert --verify`` of the
samples in models/, and a selection of the tests. Each must end with the right exit code. "Lowest" is the choice of ``uv
pip install --resolution lowest-direct``: the version in pyproject.toml, or the first later version with a wheel for
that Python.

--only runs the cells whose name contains TEXT, such as "1.20.1" or "python 3.13, lowest". --ci runs the two cells that
each change must pass: the oldest onnxruntime with the lowest dependencies, and a middle release with the newest, both
on this script's Python; a cell that cannot exist fails. scripts/test.py tests the newest onnxruntime.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from itertools import groupby
from pathlib import Path

import environment

ROOT = environment.ROOT
WORK = ROOT / "build" / "matrix"
BYTECODE = WORK / "bytecode"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
RUNTIMES = ("1.20.1", "1.22.1", "1.24.4", "1.27.0", "newest")
RUNTIME = "onnxruntime"
THIS = "{}.{}".format(*sys.version_info)
CI = ((THIS, True, "1.20.1"), (THIS, False, "1.24.4"))
EXTRAS = ("cpu", "convert", "pyop")
TOLD = ("numpy", "ml-dtypes", "onnx", "onnx-ir", "onnxruntime-extensions")  # the packages of the extras
TOOLS = ("pytest>=8", "pytest-xdist>=3.8", "hypothesis>=6.160")
# Tests that pass with every supported runtime and every supported version of NumPy and onnx.
KERNELS = ("kernels", "inputs", "errors", "describe", "load")
# fmt: off
TESTS = (*(f"csrc/test_{x}" for x in KERNELS),
         *(f"spec/test_{x}" for x in ("specifications", "shapes")),
         *(f"runtime/test_{x}" for x in ("session", "pyop")),
         "convert/matchers/test_convert_functions", "test_any_session")
# fmt: on
PROVIDER_TESTS = ("runtime/test_provider", "runtime/test_inference_session")
FIRST_WITH_PROVIDER = "1.24"
# Samples whose originals fail on older releases of onnxruntime, which wrap out of bounds or lack the element types.
UNVERIFIED = {"pad_19.onnx": "1.31", "pad_23.onnx": "1.24", "pad_24.onnx": "1.27", "pad_25.onnx": "1.27"}


def main() -> int:
    """Run every chosen cell, one after the other.

    Returns:
        0 if no cell failed. A cell that cannot exist fails only with --ci.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--only", default="", metavar="TEXT", help="the cells whose name contains it")
    chosen.add_argument("--ci", action="store_true", help="the two cells that each change must pass")
    parser.add_argument("--keep", action="store_true", help="leave the environments under build/matrix")
    options = parser.parse_args()
    only = options.only.partition(" (")[0]  # a row of the table also has a version in parentheses
    everything = [(version, lowest, runtime) for version in PYTHONS for lowest in (True, False) for runtime in RUNTIMES]
    cells = CI if options.ci else [cell for cell in everything if only in name_of(*cell)]
    if not cells:
        parser.error(f"argument --only: no cell has {options.only!r} in its name, such as {name_of(*CI[0])!r}")
    WORK.parent.mkdir(exist_ok=True)
    with environment._alone(WORK.parent):  # another run would remove this run's environments
        wheel = build()
        copy_tests()
        told = []
        for place, group in groupby(cells, key=lambda cell: cell[:2]):
            told += run_environment(*place, [runtime for _, _, runtime in group], wheel, options.keep)
    return 1 if "failed" in told or (options.ci and "not run" in told) else 0


def name_of(version: str, lowest: bool, runtime: str) -> str:
    """Return the name of a cell."""
    return f"python {version}, {'lowest' if lowest else 'newest'}, {RUNTIME} {runtime}"


def run_environment(version: str, lowest: bool, runtimes: list, wheel: Path, keep: bool) -> list:
    """Run the cells of one Python and one set of dependencies; return "passed", "failed" or "not run" for each cell."""
    if (python := find_python(version)) is None:
        tell(f"python {version}", "", "", f"not run: this machine has no Python {version}", 0)
        return ["not run"]
    venv = WORK / f"python{version}-{'lowest' if lowest else 'newest'}"
    cell = Cell(python, venv, wheel, lowest)
    try:
        return [run_cell(name_of(version, lowest, runtime), runtime, cell) for runtime in runtimes]
    finally:
        if not keep:
            shutil.rmtree(venv, ignore_errors=True)


class Cell:
    """One environment and its checks."""

    def __init__(self, python: str, venv: Path, wheel: Path, lowest: bool):
        self.python, self.venv, self.wheel, self.lowest = python, venv, wheel, lowest
        self.interpreter = environment.interpreter(venv)

    def install(self, runtime: str):
        """Install the wheel, its dependencies and one onnxruntime; return the error, or None."""
        uv = environment.interpreter(ROOT / ".venv").with_name("uv")
        pip = [uv, "pip", "install", "--quiet", "--python", self.venv, "--only-binary", ":all:"]
        resolution = "lowest-direct" if self.lowest else "highest"
        extras = [word for extra in EXTRAS for word in ("--extra", extra)]
        names = ["--requirements", ROOT / "pyproject.toml", f"{RUNTIME}=={runtime}"]
        pinned = [*extras, "--resolution", resolution, *names]
        made = [] if self.interpreter.exists() else [[uv, "venv", "--quiet", "--python", self.python, self.venv]]
        for command in (*made, [*pip, *pinned], [*pip, self.wheel, *TOOLS]):
            ran = call(command)
            if ran.returncode:
                return last_line(ran)
        shutil.rmtree(BYTECODE, ignore_errors=True)  # it may belong to another version
        return None

    def versions(self) -> str:
        """Return the versions of the dependencies, for the table."""
        return ", ".join(f"{name} {version}" for name in TOLD if (version := self.version(name)))

    def version(self, name: str) -> str:
        """Return the version of a package; "" if it is not installed."""
        code = f"from importlib.metadata import version; print(version({name!r}))"
        return call([self.interpreter, "-c", code]).stdout.strip()

    def command(self, *arguments) -> subprocess.CompletedProcess:
        return call([self.interpreter, *arguments], WORK / "checkout")


def run_cell(name: str, runtime: str, cell: Cell) -> str:
    """Run one onnxruntime in an environment; return "passed", "failed" or "not run"."""
    start = time.monotonic()
    has = wheels(cell.python, RUNTIME)
    version = has[-1] if runtime == "newest" else runtime
    if version not in has:
        tell(name, "", "", f"not run: onnxruntime {version} has no wheel for this Python", 0)
        return "not run"
    told = f"{name} ({version})" if runtime == "newest" else name
    wrong = cell.install(version)
    if wrong:
        tell(told, "", "", f"not installed: {wrong}", time.monotonic() - start)
        return "failed"
    place = name.rpartition(",")[0]
    print(f"{place}: {cell.versions()}", flush=True)
    models, bad = convert_samples(cell, version)
    passed, failures = run_tests(cell, version)
    wrong = [*ask_info(cell, version), *bad, *failures]
    result = "failed: " + "; ".join(wrong) if wrong else "passed"
    tell(told, models, passed, result, time.monotonic() - start)
    return "failed" if wrong else "passed"


def ask_info(cell: Cell, version: str) -> list:
    """Return the error in the output of ``padops info``, which runs a Pad and prints its runtime."""
    ran = cell.command("-m", "padops", "info")
    if ran.returncode:
        return [f"info: exit code {ran.returncode}: {last_line(ran)}"]
    (named,) = re.findall(r"^onnxruntime +(\S+)$", ran.stdout, re.M) or ["of no version"]
    return [] if named == version else [f"info names onnxruntime {named}, not {version}"]


def convert_samples(cell: Cell, version: str) -> tuple:
    """Convert and verify the models in models/, except UNVERIFIED, which the runtime gets wrong.

    Returns:
        The counts of verified and of all models, and the failures.
    """
    samples = sorted((WORK / "checkout" / "models").glob("*.onnx"))
    later = {name for name, first in UNVERIFIED.items() if number(version) < number(first)}
    wrong, good = [], 0
    for options, chosen in (
        (["--verify", "--run"], [sample for sample in samples if sample.name not in later]),
        ([], [sample for sample in samples if sample.name in later]),
    ):
        if not chosen:
            continue
        with tempfile.TemporaryDirectory(dir=str(WORK)) as folder:
            source, report = Path(folder, "samples"), Path(folder, "report.json")
            source.mkdir()
            for sample in chosen:
                shutil.copy(str(sample), str(source))
            done = cell.command(
                "-m", "padops", "convert", source, "-o", Path(folder, "out"), "--report", report, *options
            )
            told = json.loads(report.read_text(encoding="utf-8"))["files"] if report.exists() else []
        failed = [f"{Path(one['source']).name}: {one['error']}" for one in told if one["exit"]]
        if done.returncode or len(told) != len(chosen):
            wrong += failed or [f"{' '.join(['convert', *options])}: exit code {done.returncode}: {last_line(done)}"]
        elif options:
            good = len(told)
    return f"{good} of {len(samples)}", wrong


def run_tests(cell: Cell, version: str) -> tuple:
    """Run the chosen tests; return the number that passed, and the failures."""
    provider = PROVIDER_TESTS if number(version) >= number(FIRST_WITH_PROVIDER) else ()
    python_kernel = cell.version("onnxruntime-extensions") != ""
    chosen = [f"tests/{name}.py" for name in (*TESTS, *provider) if python_kernel or name != "runtime/test_pyop"]
    spread = ["-n", os.cpu_count(), "--dist", "loadfile"]
    ran = cell.command("-m", "pytest", "-q", "-p", "no:cacheprovider", *spread, *chosen)
    counted = re.search(r"(\d+) passed", ran.stdout)
    if ran.returncode == 0 and counted:
        return counted.group(1), []
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M)
    print(ran.stdout[-4000:] + ran.stderr[-2000:], flush=True)
    return counted.group(1) if counted else "", [f"tests: exit code {ran.returncode}", *names[:3]]


def build() -> Path:
    """Build one wheel for all cells, since it depends on no Python and no runtime."""
    python = environment.ensure(["test"])
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    command = [python, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", WORK, "--quiet"]
    with environment._alone(ROOT):  # another script could change .venv meanwhile
        environment.step("building the wheel", [*command, f"--config-settings=build-dir={ROOT / 'build' / 'wheel'}"])
    (wheel,) = WORK.glob("*.whl")
    assert "-py3-none-" in wheel.name, wheel.name
    return wheel


def copy_tests() -> None:
    """Copy the tests to a folder without the package's sources, so that they import the installed wheel."""
    for name in ("tests", "models", "scripts"):
        shutil.copytree(ROOT / name, WORK / "checkout" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, WORK / "checkout" / name)


def find_python(version: str):
    """Return a working interpreter of a version, on the PATH or from pyenv; None if there is none."""
    if version == THIS:
        return getattr(sys, "_base_executable", None) or sys.executable
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for python in filter(None, [shutil.which(f"python{version}"), *found]):
        ran = call([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        if ran.returncode == 0 and ran.stdout.strip() == version:
            return str(python)
    return None


@cache
def wheels(python: str, name: str) -> tuple:
    """Return the releases of a package with a wheel for a Python, lowest first: pip lists them if none matches."""
    probe = [python, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary", ":all:", f"{name}==0.0.0.1"]
    ran = call([*probe, "--ignore-installed", "--disable-pip-version-check"])
    told = re.search(r"from versions: ([^)]*)\)", ran.stderr)
    if told is None:
        sys.exit(f"error: pip does not tell the versions of {name}: {last_line(ran)}")
    listed = [version for version in told.group(1).split(", ") if re.fullmatch(r"[\d.]+", version)]
    return tuple(sorted(listed, key=number))


def number(version: str) -> tuple:
    """Return a version as numbers to compare; 1.20 and 1.20.0 are the same."""
    return tuple(int(part) for part in re.sub(r"(\.0)+$", "", version).split("."))


def call(command: list, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """Run a command, without variables that lead a Python elsewhere."""
    misleading = (*environment.MISLEADING, "PADOPS_LIBRARY")
    variables = {key: value for key, value in os.environ.items() if key not in misleading}
    variables |= environment.compiled_in(BYTECODE)
    return subprocess.run(
        [str(part) for part in command], cwd=str(folder), env=variables, capture_output=True, encoding="utf-8",
        errors="replace", check=False,
    )  # fmt: skip


def last_line(ran: subprocess.CompletedProcess) -> str:
    """Return the last error of pip or uv, else the last line of a command's output, in a form that fits a table."""
    lines = [line.strip() for line in (ran.stdout + ran.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR: ", "error: ", "cause: "))]
    return (errors or lines or ["nothing was said"])[-1].replace("|", "/")[:200]


def tell(name: str, models: str, passed: str, result: str, seconds: float) -> None:
    """Print the row of a cell."""
    print(f"| {name} | {models} | {passed} | {result} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
