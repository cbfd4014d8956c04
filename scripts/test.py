"""Set up a .venv, fetch the real models, and run the tests. Arguments go to pytest, which runs in the checkout's root.

    python3 scripts/test.py [tests/test_plan.py] [-k PATTERN] [-x] ...
"""

import sys

import environment


def main(arguments: list) -> int:
    python = environment.ensure(["test"])
    environment.step("fetching the real models", [python, environment.ROOT / "scripts" / "fetch_models.py"])
    return environment.hand_over([python, "-m", "pytest", *arguments], environment.ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
