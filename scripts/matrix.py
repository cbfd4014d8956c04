"""Run padops' wheel on every pair of ONNX Runtime and Python that it is for, with the lowest dependencies and the newest.

    python3 scripts/matrix.py [--only TEXT] [--record] [--keep]

Builds the wheel, then installs it for each Python into an environment of its own under build/matrix (one at a time, taken
away when its runtimes have had their turn), and runs there, for each onnxruntime: the self-check, ``padops convert
--verify`` of every sample in models/, and a choice of the tests. Nothing counts that does not end with the exit code that
it should. "Lowest" is what pyproject.toml names, or the first version from there on that has a wheel for that Python.

--only runs the cells whose name contains TEXT, such as "1.20.1" or "python 3.13, lowest". --record writes each row into
docs/matrix.md as soon as it is known, in the place of the one before.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import environment

ROOT = environment.ROOT
WORK = ROOT / "build" / "matrix"
DOCUMENT = ROOT / "docs" / "matrix.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
RUNTIMES = ("1.20.1", "1.22.1", "1.24.4", "1.27.0", "newest")
RUNTIME = "onnxruntime"
VERSION = "from importlib.metadata import version;"
# Those whose expectations hold for every runtime and every version of NumPy and onnx that padops is for.
# fmt: off
TESTS = ("spec/test_specifications", "spec/test_specifications_dialects", "spec/test_shapes", "csrc/test_errors",
         "csrc/test_inference", "csrc/test_load", *(f"runtime/test_{x}" for x in ("session", "provider_versions", "pyop")),
         *(f"convert/sources/test_convert_{x}" for x in ("places", "functions", "everything_else")))
# fmt: on
EXAMPLES = "200"
# Samples with element types that came later than the oldest runtime: the release that first reads them.
FIRST_READ = {"pad_23.onnx": "1.24", "pad_24.onnx": "1.27", "pad_25.onnx": "1.27"}
ROWS = ("<!-- matrix -->\n", "<!-- /matrix -->\n")
VERSIONS = ("<!-- versions -->\n", "<!-- /versions -->\n")
ROWS_HEAD = "| cell | models run | tests passed | result | seconds |\n|---|--:|--:|---|--:|\n"
VERSIONS_HEAD = "| environment | versions |\n|---|---|\n"


def main() -> int:
    """Every chosen cell, one after the other.

    Returns:
        0 where no cell failed; cells that cannot exist do not fail.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="the cells whose name contains it")
    parser.add_argument("--record", action="store_true", help="write the rows into docs/matrix.md")
    parser.add_argument("--keep", action="store_true", help="leave the environments under build/matrix")
    options = parser.parse_args()
    WORK.parent.mkdir(exist_ok=True)
    with environment._alone(WORK.parent):  # another one would take this one's environments away
        wheel = build()
        copy_tests()
        cells = [(version, lowest) for version in PYTHONS for lowest in (True, False)]
        failed = sum(run_environment(*cell, wheel, options) for cell in cells)
    return 1 if failed else 0


def run_environment(version: str, lowest: bool, wheel: Path, options: argparse.Namespace) -> int:
    """The cells of one Python with one set of dependencies; how many of them failed."""
    place = f"python {version}, {'lowest' if lowest else 'newest'}"
    names = {runtime: f"{place}, {RUNTIME} {runtime}" for runtime in RUNTIMES}
    wanted = [runtime for runtime in RUNTIMES if options.only in names[runtime]]
    if not wanted:
        return 0
    python = find_python(version)
    if python is None:
        for runtime in wanted:
            tell(options, names[runtime], "", "", f"not run: this machine has no Python {version}", 0)
        return 0
    venv = WORK / f"python{version}-{'lowest' if lowest else 'newest'}"
    cell = Cell(python, venv, wheel, lowest)
    try:
        return sum(run_cell(names[runtime], runtime, cell, options) for runtime in wanted)
    finally:
        if not options.keep:
            shutil.rmtree(venv, ignore_errors=True)


class Cell:
    """One environment, and what to do in it."""

    def __init__(self, python: str, venv: Path, wheel: Path, lowest: bool):
        self.python, self.venv, self.wheel, self.lowest = python, venv, wheel, lowest
        self.interpreter = environment.interpreter(venv)

    def install(self, runtime: str):
        """Put the wheel, its dependencies and one onnxruntime in place; what went wrong, or None."""
        if not self.interpreter.exists():
            ran = call([self.python, "-m", "venv", "--without-pip", self.venv])
            if ran.returncode:
                return last_line(ran)
        pins = [f"{name}=={first}" for name, first in self.lowest_versions().items()] if self.lowest else []
        wanted = [f"{self.wheel}[convert,pyop]", f"{RUNTIME}=={runtime}", *pins, "pytest", "hypothesis"]
        pip = [self.python, "-m", "pip", "--python", self.venv, "--disable-pip-version-check", "--no-input", "--quiet"]
        ran = call([*pip, "install", "--only-binary", ":all:", "--no-compile", *wanted])
        return last_line(ran) if ran.returncode else None

    def lowest_versions(self) -> dict:
        found = {}
        version = re.search(r"3\.\d+", self.venv.name).group()
        for name, minimum, excluded, before in dependencies():
            if name == RUNTIME or (before and number(version) >= number(before)):
                continue
            usable = [v for v in wheels(self.python, name) if number(v) >= number(minimum) and v != excluded]
            found[name] = usable[0] if usable else minimum  # which pip then refuses, and says why
        return found

    def versions(self) -> str:
        names = [name for name, _, _, before in dependencies() if name != RUNTIME and self.has(name)]
        code = f"{VERSION} print(', '.join(n + ' ' + version(n) for n in {names}))"
        return call([self.interpreter, "-c", code]).stdout.strip()

    def has(self, name: str) -> bool:
        return call([self.interpreter, "-c", f"{VERSION} version({name!r})"]).returncode == 0

    def command(self, *arguments) -> subprocess.CompletedProcess:
        return call([self.interpreter, *arguments], WORK / "checkout")


def run_cell(name: str, runtime: str, cell: Cell, options: argparse.Namespace) -> int:
    """One onnxruntime in an environment; 1 where it failed."""
    start = time.monotonic()
    has = wheels(cell.python, RUNTIME)
    version = has[-1] if runtime == "newest" else runtime
    if version not in has:
        tell(options, name, "", "", f"not run: onnxruntime {version} has no wheel for this Python", 0)
        return 0
    told = f"{name} ({version})" if runtime == "newest" else name
    wrong = cell.install(version)
    if wrong:
        tell(options, told, "", "", f"not installed: {wrong}", time.monotonic() - start)
        return 1
    place = name.rpartition(",")[0]
    if options.record:
        record(VERSIONS, VERSIONS_HEAD, place, f"| {place} | {cell.versions()} |\n")
    models, refused, bad = convert_samples(cell, version)
    passed, failures = run_tests(cell)
    wrong = [*ask_info(cell, version), *bad, *failures]
    result = "failed: " + "; ".join(wrong) if wrong else "passed"
    if refused:
        result += f"; the runtime is too old for the types of {', '.join(refused)}"
    tell(options, told, models, passed, result, time.monotonic() - start)
    return 1 if wrong else 0


def ask_info(cell: Cell, version: str) -> list:
    """What is wrong with ``padops info``, which runs a Pad and names the runtime that ran it."""
    ran = cell.command("-m", "padops", "info")
    if ran.returncode:
        return [f"info: exit code {ran.returncode}: {last_line(ran)}"]
    (named,) = re.findall(r"^onnxruntime +(\S+)$", ran.stdout, re.M) or ["of no version"]
    return [] if named == version else [f"info names onnxruntime {named}, not {version}"]


def convert_samples(cell: Cell, version: str) -> tuple:
    """Convert and verify each model in models/; of those that the runtime is too old for, only convert.

    Returns:
        How many of how many ran, the names of those that the runtime is too old for, and what failed.
    """
    ran, refused, wrong = 0, [], []
    samples = sorted((WORK / "checkout" / "models").glob("*.onnx"))
    for sample in samples:
        runs = number(version) >= number(FIRST_READ.get(sample.name, "0"))
        done = cell.command("-m", "padops", "convert", sample, "-o", WORK / "converted.onnx", *["--verify"] * runs)
        ran += runs and done.returncode == 0
        refused += [] if runs else [sample.name]
        if done.returncode:
            wrong.append(f"{sample.name}: exit code {done.returncode}: {last_line(done)}")
    return f"{ran} of {len(samples)}", refused, wrong


def run_tests(cell: Cell) -> tuple:
    """Run the chosen tests; how many passed, and what failed."""
    chosen = [f"tests/{name}.py" for name in TESTS if name != "runtime/test_pyop" or cell.has("onnxruntime-extensions")]
    ran = cell.command("-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    counted = re.search(r"(\d+) passed", ran.stdout)
    if ran.returncode == 0 and counted:
        return counted.group(1), []
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.M)
    print(ran.stdout[-4000:] + ran.stderr[-2000:], flush=True)
    return counted.group(1) if counted else "", [f"tests: exit code {ran.returncode}", *names[:3]]


def build() -> Path:
    """Build the wheel; one for all cells, for it knows no Python and no runtime."""
    python = environment.ensure(["test"])
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    command = [python, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", WORK, "--quiet"]
    environment.step("building the wheel", [*command, f"--config-settings=build-dir={ROOT / 'build' / 'wheel'}"])
    (wheel,) = WORK.glob("*.whl")
    assert "-py3-none-" in wheel.name, wheel.name
    return wheel


def copy_tests() -> None:
    """Give the tests a folder without the package's sources: what they import is what the wheel has installed."""
    for name in ("tests", "models", "scripts"):
        shutil.copytree(ROOT / name, WORK / "checkout" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, WORK / "checkout" / name)


def find_python(version: str):
    """A working interpreter of a version, on the PATH or from pyenv."""
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for python in filter(None, [shutil.which(f"python{version}"), *found]):
        ran = call([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        if ran.returncode == 0 and ran.stdout.strip() == version:
            return str(python)
    return None


def dependencies() -> list:
    """Name, minimum, excluded version and the Python before which it is needed, as pyproject.toml has them."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = "".join(re.findall(r"^(?:dependencies|convert|cpu|pyop) = \[\n(.*?)^\]", text, re.M | re.S))
    found = re.findall(r'^ *"([\w-]+)>=([\d.]+)(?:,!=([\d.]+))?(?:; python_version < \'([\d.]+)\')?",', listed, re.M)
    if len(found) != len(listed.splitlines()):
        sys.exit("error: a dependency in pyproject.toml has a form that this script cannot read")
    return found


@cache
def wheels(python: str, name: str) -> tuple:
    """The releases of a package that have a wheel for a Python, lowest first: pip names them where none is right."""
    probe = [python, "-m", "pip", "install", "--dry-run", "--no-deps", "--only-binary", ":all:", f"{name}==0.0.0.1"]
    ran = call([*probe, "--ignore-installed", "--disable-pip-version-check"])
    told = re.search(r"from versions: ([^)]*)\)", ran.stderr)
    if told is None:
        sys.exit(f"error: pip does not tell the versions of {name}: {last_line(ran)}")
    listed = [version for version in told.group(1).split(", ") if re.fullmatch(r"[\d.]+", version)]
    return tuple(sorted(listed, key=number))


def number(version: str) -> tuple:
    """A version to compare; 1.20 and 1.20.0 are the same."""
    return tuple(int(part) for part in re.sub(r"(\.0)+$", "", version).split("."))


def call(command: list, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """Run a command, without what leads a Python elsewhere."""
    misleading = (*environment.MISLEADING, "PADOPS_LIBRARY")
    variables = {key: value for key, value in os.environ.items() if key not in misleading}
    variables["PADOPS_EXAMPLES"] = EXAMPLES
    return subprocess.run(
        [str(part) for part in command], cwd=str(folder), env=variables, capture_output=True, encoding="utf-8",
        errors="replace", check=False,
    )  # fmt: skip


def last_line(ran: subprocess.CompletedProcess) -> str:
    """The last line of what a command said, fit for a table; pip's last error where it names one."""
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["nothing was said"])[-1].replace("|", "/")[:200]


def tell(options, name: str, models: str, passed: str, result: str, seconds: float) -> None:
    """Print the row of a cell, and record it."""
    row = f"| {name} | {models} | {passed} | {result} | {seconds:.0f} |\n"
    print(row, end="", flush=True)
    if options.record:
        record(ROWS, ROWS_HEAD, re.sub(r" \(.*", "", name), row)


def record(markers: tuple, head: str, name: str, row: str) -> None:
    """Put a row between the markers, in the place of the one of the same name; the rows stay in order."""
    before, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(markers[0])
    table, end, after = rest.partition(markers[1])
    if not (begin and end):
        sys.exit(
            f"error: {DOCUMENT} has not the lines {markers[0].strip()} and {markers[1].strip()}, one after the other"
        )
    rows = {re.sub(r" \(.*", "", old.split(" | ")[0][2:]): old for old in table[len(head) :].splitlines(keepends=True)}
    rows[name] = row
    ordered = [rows[key] for key in sorted(rows, key=in_order)]
    DOCUMENT.write_text(before + markers[0] + head + "".join(ordered) + markers[1] + after, encoding="utf-8")


def in_order(name: str) -> tuple:
    """Python by Python, the lowest first, in the order of the runtimes."""
    python, dependencies, *runtime = name.split(", ")
    runtime = runtime[0].split()[1] if runtime else ""
    return PYTHONS.index(python.split()[1]), dependencies, RUNTIMES.index(runtime) if runtime else 0


if __name__ == "__main__":
    sys.exit(main())
