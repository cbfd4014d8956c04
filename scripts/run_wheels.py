"""Run the wheels for other machines on this one: Linux on aarch64 under QEMU, Windows in Wine.

    python3 scripts/run_wheels.py [TARGET ...] [--wheels DIR] [--no-tests]

Runs the wheels of scripts/build_wheels.py. For each target, the same compiler builds the checks of tests/cpp. These run
on the target:

- engine_check, the engine on 20,000 random Pads;
- replay, which loads the wheel's library into ONNX Runtime's own library for that machine, as operators and as an
  execution provider, and compares each case of the conformance suite, bit by bit.

On aarch64 the self-check and scripts/wheel_tests.py follow, in Debian's Python with the wheel installed; that takes
twenty minutes, and --no-tests skips it. Downloads go into build/run_wheels; from the system, only QEMU, Wine and
apt-get are used.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import build_wheels
import environment
import foreign
import wheel_tests

ROOT = environment.ROOT
WORK = ROOT / "build" / "run_wheels"
CHECKS = ("engine_check", "replay")


class Machine(NamedTuple):
    """The emulated machine of a target.

    emulator: The program, empty for this machine itself.
    package: Its package in Debian and Ubuntu.
    onnxruntime: The newest release that runs there.
    library: A pattern of the runtime's path in its wheel.
    """

    emulator: str
    package: str
    onnxruntime: str
    library: str


LINUX_LIBRARY = "onnxruntime/capi/libonnxruntime.so.*"
MACHINES = {
    "linux-x86_64": Machine("", "", "1.32.0", LINUX_LIBRARY),
    "linux-aarch64": Machine("qemu-aarch64", "qemu-user", "1.24.4", LINUX_LIBRARY),
    "windows-amd64": Machine("wine", "wine64 wine", "1.32.0", "onnxruntime/capi/onnxruntime.dll"),
}
# Tests that cannot pass in QEMU: it cannot start its Python a second time; and ONNX Runtime's own Pad, which the last
# test compares, crashes there.
NOT_IN_QEMU = (
    "spec/test_shapes.py::test_no_schema_is_left_when_python_ends",
    "spec/test_shapes.py::test_onnx_reference_still_imports",
    "csrc/test_property.py::test_pads[Pad_]",
)


def main(arguments: list) -> int:
    """Run the chosen targets; return 1 if a check failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"some of {', '.join(MACHINES)} (default: all)")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", metavar="DIR", help="where the wheels are")
    parser.add_argument("--no-tests", action="store_true", help="leave out the tests in Python")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.targets if name not in MACHINES]:
        parser.error(f"there is no target {unknown[0]!r}: expected some of {', '.join(MACHINES)}")
    targets = options.targets or list(MACHINES)
    wheels = {name: find_wheel(name, options.wheels) for name in targets}
    for name in targets:
        find_emulator(MACHINES[name])
    tools = build_wheels.tools()
    python = environment.ensure(["test"])
    cases = WORK / "cases"
    WORK.mkdir(parents=True, exist_ok=True)
    environment.step("writing the cases", [python, ROOT / "tests" / "processes" / "write_cases.py", cases], ROOT)
    failed = []
    for name in targets:
        runs = run_target(name, wheels[name], tools, cases, not options.no_tests)
        failed += [] if all(run.good for run in runs) else [name]
    print(f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(targets)}")
    return 1 if failed else 0


def find_wheel(name: str, folder: Path) -> Path:
    """Returns the wheel of a target."""
    found = sorted(folder.glob(f"*-{build_wheels.TARGETS[name].tag}.whl"))
    if len(found) != 1:
        sys.exit(
            f"error: {folder} has {len(found)} wheels for {name}, expected one; "
            f"make it with: python3 scripts/build_wheels.py {name}"
        )
    return found[0]


def find_emulator(machine: Machine) -> None:
    """End if a machine's emulator is missing, and print the command that installs it."""
    if machine.emulator and not shutil.which(machine.emulator):
        sys.exit(
            f"error: there is no {machine.emulator}; on Debian and Ubuntu install it with: "
            f"apt-get install --no-install-recommends {machine.package}"
        )


class Run(NamedTuple):
    """The result of a check: its name, whether it passed, its count, its time."""

    check: str
    good: bool
    result: str
    seconds: float


def run_target(name: str, wheel: Path, tools: Path, cases: Path, tests: bool) -> list:
    """Runs the checks of one target."""
    machine = MACHINES[name]
    folder = WORK / name
    folder.mkdir(exist_ok=True)
    programs = build_checks(name, tools)
    system = foreign.unpack_debian(folder / "debian") if machine.emulator.startswith("qemu") else None
    prefix = [machine.emulator, *(["-L", system] if system else [])] if machine.emulator else []
    version = foreign.python_version(system) if system else ".".join(map(str, sys.version_info[:2]))
    site = foreign.install(folder / "site", build_wheels.TARGETS[name].tag, version, machine.onnxruntime, wheel)
    (runtime,) = site.glob(machine.library)
    (library,) = (site / "padops").glob("libpadops.*")
    engine, replay = (programs / f"{check}{'.exe' if machine.emulator == 'wine' else ''}" for check in CHECKS)
    runs = [
        run("engine_check", [*prefix, engine, "--every-way"], r"^\d+ cases passed"),
        run("replay", [*prefix, replay, runtime, library, cases], r"^onnxruntime .* passed, 0 failed.*"),
    ]
    if system and tests:
        python = [*prefix, foreign.python_of(system)]
        runs.append(run("padops info", [*python, "-m", "padops", "info"], r"^self-check: .*", site))
        runs.append(run_tests([*python, foreign.copy_tests(folder / "checkout")], site))
    return runs


def run_tests(command: list, site: Path) -> Run:
    """Runs the tests in Python, each file in its own process, so that no file breaks another."""
    left_out = [f"--deselect=tests/{test}" for test in NOT_IN_QEMU]
    runs = [run(f"tests/{name}.py", [*command, name, *left_out], r"\d+ passed", site) for name in wheel_tests.CHOSEN]
    count = sum(int(run.result.split()[0]) for run in runs if run.good)
    bad = [run.check for run in runs if not run.good]
    result = f"{count} passed" + (f"; failed: {', '.join(bad)}" if bad else "")
    return Run("scripts/wheel_tests.py", not bad, result, sum(run.seconds for run in runs))


def build_checks(name: str, tools: Path) -> Path:
    """Builds the checks of tests/cpp for a target; returns their folder."""
    toolchain = build_wheels.write_toolchain(tools, build_wheels.TARGETS[name], build_wheels.WORK / name)
    folder = build_wheels.WORK / name / "checks"
    configure = ["cmake", "-G", "Ninja", "-S", ROOT / "tests" / "cpp", "-B", folder, "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
    environment.step(f"{name}: configuring the checks", configure, build_wheels.WORK)
    build = ["cmake", "--build", folder, "--target", *CHECKS]
    environment.step(f"{name}: building the checks", build, build_wheels.WORK)
    return folder


def run(check: str, command: list, wanted: str, site: Path = None) -> Run:
    """Run a program: it must exit with 0, and its output must match ``wanted``. ``site`` is for programs in Python."""
    start = time.monotonic()
    parts = [str(part) for part in command]
    print("$ " + " ".join(short(part) for part in parts), flush=True)
    variables = {**environment.variables(WORK), "WINEPREFIX": str(WORK / "wine"), "WINEDEBUG": "-all"}
    if site is not None:
        variables.update(PYTHONPATH=str(site), PADOPS_EXAMPLES="50")
    ran = subprocess.run(
        parts, cwd=str(WORK), env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    told = re.findall(wanted, ran.stdout, re.M)
    good = ran.returncode == 0 and len(told) == 1
    if not good:
        print(ran.stdout[-10_000:], file=sys.stderr)
    done = Run(check, good, told[0] if good else f"failed: exit code {ran.returncode}", time.monotonic() - start)
    print(f"  {done.result} ({done.seconds:.0f} s)", flush=True)
    return done


def short(part: str) -> str:
    """Returns a path relative to the root of the checkout."""
    return part.replace(f"{ROOT}/", "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
