"""The command ``padops``, and ``python -m padops``."""

import sys

from padops.exits import INTERRUPTED


def main() -> int:
    """Runs the command; an interruption while the modules load also ends with one line and the exit code."""
    try:
        from padops.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
