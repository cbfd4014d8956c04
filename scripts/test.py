"""Set up a .venv, fetch the real models, run the tests, and compare with every other Pad on this machine.

    python3 scripts/test.py [--all] [--peers] [--rest]
    python3 scripts/test.py [--peers] tests/spec/test_plan.py [-k PATTERN] [-x] ...
    python3 scripts/test.py --long [tests/long/long_FILE.py[::TEST]] [-k PATTERN] ...

The second form passes its arguments to pytest, in the checkout's root, and runs nothing else. Each core runs its own
files, unless there is only one file, or -n is given (-n 0: one process). The third form runs the long tests (releases,
fuzzing, more of other tests) one after the other, and prints their counts.

The first form skips the slow tests (tests/processes/slow.py): sanitizers, thousands of random cases, whole programs.
--all runs the slow tests, too, and then the quick conformance run.

--peers also installs the other implementations (OpenVINO, PyTorch, JAX, TensorFlow; 3 GB), onnxruntime-web (node and
npm) and the type checkers, and compares with them. onnxruntime-web and nine other implementations have their own
environments (scripts/peers.py makes all ten; 3 GB). All tests run. Without --peers, the run names the implementations
that it lacked.

--rest runs the tests that the last run of the first form skipped or failed. Together, both runs cover all tests, each
once. The sources must not change between the runs.
"""

import os
import sys

import environment
import help_first  # noqa: F401
import peers

# Peers with their own environments that --peers makes; the others take minutes to install.
ASKED_FOR = ("onnxruntime-web", "ort-openvino", "ort-qnn")
PASSED = os.path.join("build", "passed.txt")  # the tests that the last whole run has passed; in the checkout

SOURCES = (".py", ".cpp", ".h", ".inc")


def main(arguments: list) -> int:
    compares = "--peers" in arguments
    if compares:
        arguments = [argument for argument in arguments if argument != "--peers"]
        os.environ["PADOPS_PEERS"] = ",".join(ASKED_FOR)
    every = compares or "--all" in arguments
    arguments = [argument for argument in arguments if argument != "--all"]
    rest = "--rest" in arguments
    if rest:
        arguments = [argument for argument in arguments if argument != "--rest"]
        why = "--rest is for a run of all tests" if arguments else _stale()
        if why:
            print(f"error: {why}", file=sys.stderr)
            return 2
    python = environment.ensure(["lint", "peers", "test"] if compares else ["test"])
    if compares:
        peers.main(list(ASKED_FOR))
    environment.step("fetching the real models", [python, environment.ROOT / "scripts" / "fetch_models.py"])
    if "--long" in arguments:
        return _long(python, [argument for argument in arguments if argument != "--long"])
    alone = len(_places(arguments)) == 1 and _places(arguments)[0].is_file()  # more processes would only cost time
    spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    if alone or "-n" in arguments:
        spread = []
    # With "=", since pytest would treat a file after a blank as a test file before it knows the option.
    which = [f"--without-passed={PASSED}" if rest else f"--note-passed={PASSED}"] if not arguments else []
    every = every or rest or bool(arguments)
    which += [] if every else ["--without-slow"]
    failed = environment.hand_over([python, "-m", "pytest", *spread, *which, *arguments], environment.ROOT)
    if failed or arguments or not every:
        return failed
    print("scripts/conformance.py --quick", flush=True)
    required = ["--require-peers", *_left_out()] if compares else []
    script = environment.ROOT / "scripts" / "conformance.py"
    return environment.hand_over([python, script, "--quick", *required], environment.ROOT)


def _stale() -> str:
    """Return why the last whole run does not apply to these sources; "" if it does."""
    passed = environment.ROOT / PASSED
    if not passed.is_file():
        return "--rest: there has been no whole run: python3 scripts/test.py"
    for folder in ("padops", "scripts", "tests"):
        for file in sorted((environment.ROOT / folder).rglob("*")):
            if file.suffix in SOURCES and file.stat().st_mtime > passed.stat().st_mtime:
                return f"--rest: {file} is newer than the last whole run: python3 scripts/test.py"
    return ""


def _left_out() -> list:
    """Return the options that exclude peers whose environments neither exist nor are requested."""
    wanted = lambda about: peers.is_made(about) or peers.environment_of(about) in ASKED_FOR
    return [f"--without={name}" for name, about in peers.stated().items() if not wanted(about)]


def _places(arguments: list) -> list:
    """Return the test files and folders in the arguments."""
    values = {i + 1 for i, argument in enumerate(arguments) if argument in ("-k", "-m")}
    places = [argument.split("::")[0] for i, argument in enumerate(arguments) if i not in values]
    return [environment.ROOT / place for place in places if place and (environment.ROOT / place).exists()]


def _long(python, arguments: list) -> int:
    """Run the long tests, or only those in the arguments."""
    command = [python, "-m", "pytest", "--capture=no", "--override-ini", "python_files=long_*.py", *arguments]
    return environment.hand_over(command if _places(arguments) else [*command, "tests/long"], environment.ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
