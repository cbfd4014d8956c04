"""Check the sources with the tools that pyproject.toml pins, each over the whole tree.

    python3 scripts/lint.py [--fix] [ruff-check] [ruff-format] [mypy] [clang-format] [zizmor]

Without names, all tools run. With --fix, tools repair their findings if they can. mypy reads the types of onnxscript,
so the script installs what scripts/test.py --peers installs, too.
"""

import sys

import environment
import help_first  # noqa: F401

CPP = ("padops/csrc", "tests/cpp")
WORKFLOWS = (".github", "action.yml")  # what GitHub runs
ASK_NOBODY = ("--offline", "--no-progress", "--strict-collection", "--persona=pedantic")


def checks(fix: bool = False) -> dict:
    """Returns the command of each tool by its name, to run in the checkout's root with .venv first on the PATH."""
    sources = sorted(path for folder in CPP for path in (environment.ROOT / folder).rglob("*.*"))
    files = [path.relative_to(environment.ROOT) for path in sources if path.suffix in (".cpp", ".h")]
    return {
        "ruff-check": ["ruff", "check", *(["--fix"] if fix else [])],
        "ruff-format": ["ruff", "format", *([] if fix else ["--check"])],
        "mypy": ["python", "-m", "mypy"],
        "clang-format": ["clang-format", *(["-i"] if fix else ["--dry-run", "-Werror"]), *files],
        "zizmor": ["zizmor", *ASK_NOBODY, *WORKFLOWS],
    }


def main(arguments: list) -> int:
    commands = checks("--fix" in arguments)
    names = [argument for argument in arguments if argument != "--fix"]
    unknown = [name for name in names if name not in commands]
    if unknown:
        print("error: no such check: {}; there are {}".format(unknown[0], ", ".join(commands)), file=sys.stderr)
        return 2
    folder = environment.ensure(["lint", "peers", "test"]).parent
    failed = []
    for name in names or commands:
        program, *rest = commands[name]
        print(name, flush=True)
        if environment.hand_over([folder / program, *rest], environment.ROOT):
            failed.append(name)
    if failed:
        print("failed: {}".format(", ".join(failed)), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
