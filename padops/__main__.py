"""The command ``padops``, and ``python -m padops``."""

import sys

from padops.exits import INTERRUPTED


def main() -> int:
    """Runs the command and returns its exit code; an interrupt during its imports prints one line and returns 130."""
    try:
        from padops.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
