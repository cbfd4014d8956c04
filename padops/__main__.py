"""The command ``padops``, and ``python -m padops``."""

import sys

from padops.exits import INTERRUPTED


def main() -> int:
    """Runs the command; an interruption while its modules load ends it in one line, too."""
    try:
        from padops.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
