"""Set up a .venv, fetch the real models, run the tests, and compare with every other Pad on this machine.

    python3 scripts/test.py [--all] [--peers] [--rest]
    python3 scripts/test.py [--peers] tests/spec/test_plan.py [-k PATTERN] [-x] ...
    python3 scripts/test.py --long [tests/long/long_FILE.py[::TEST]] [-k PATTERN] ...

The second form gives its arguments to pytest, which runs in the checkout's root, and ends there. Each core takes files
of its own, unless it is one file alone, or -n says otherwise (-n 0: one process). The third runs the long tests, of
load, files and fuzzing, one after the other, and prints what they count.

The first form leaves out what takes long (tests/processes/slow.py): sanitizers, random cases by the thousand, whole
programs. With --all these run as well, and then the quick conformance run.

With --peers the other implementations (OpenVINO, PyTorch, JAX, TensorFlow; 3 GB) are installed and compared with as
well; so is onnxruntime-web (node and npm), which like nine others has an environment of its own (scripts/peers.py makes
all ten; 3 GB), and the type checkers are installed. All tests run. Without it the run names those that it did not have.

With --rest the tests run that the last run of the first form did not: those that it left out, and those that failed.
Together the two run all tests, each once. The sources must be the same.
"""

import os
import sys

import environment
import help_first  # noqa: F401
import peers

# Peers with environments of their own that --peers asks for; the others take minutes to install.
ASKED_FOR = ("onnxruntime-web", "ort-openvino", "ort-qnn")
PASSED = os.path.join("build", "passed.txt")  # the tests that the last whole run has run; in the checkout

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
    alone = len(_places(arguments)) == 1 and _places(arguments)[0].is_file()  # more processes would only start slowly
    spread = ["-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    if alone or "-n" in arguments:
        spread = []
    # With "=", since pytest takes a file behind a blank for one of tests before it knows the option.
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
    """Why the last whole run says nothing of these sources, or nothing where it does."""
    passed = environment.ROOT / PASSED
    if not passed.is_file():
        return "--rest: there has been no whole run: python3 scripts/test.py"
    for folder in ("padops", "scripts", "tests"):
        for file in sorted((environment.ROOT / folder).rglob("*")):
            if file.suffix in SOURCES and file.stat().st_mtime > passed.stat().st_mtime:
                return f"--rest: {file} is newer than the last whole run: python3 scripts/test.py"
    return ""


def _left_out() -> list:
    """The options that leave out the peers whose environments are neither asked for nor there."""
    wanted = lambda about: peers.is_made(about) or peers.environment_of(about) in ASKED_FOR
    return [f"--without={name}" for name, about in peers.stated().items() if not wanted(about)]


def _places(arguments: list) -> list:
    """The files and folders of tests that the arguments name."""
    values = {i + 1 for i, argument in enumerate(arguments) if argument in ("-k", "-m")}
    places = [argument.split("::")[0] for i, argument in enumerate(arguments) if i not in values]
    return [environment.ROOT / place for place in places if place and (environment.ROOT / place).exists()]


def _long(python, arguments: list) -> int:
    """Run the long tests, or those of them that the arguments name."""
    command = [python, "-m", "pytest", "--override-ini", "python_files=long_*.py", *arguments]
    return environment.hand_over(command if _places(arguments) else [*command, "tests/long"], environment.ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
