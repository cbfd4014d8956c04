"""The exit codes of the command ``padops``; docs/contributing.md promises these numbers."""

from __future__ import annotations

DONE = 0
ERROR = 1
USAGE = 2
LEFT = 3
DIFFERENT = 4
UNDECIDED = 5
INTERRUPTED = 130  # as shells report a command that Ctrl-C ended
TERMINATED = 143  # as shells report a command that SIGTERM ended

WORST_FIRST = (DIFFERENT, ERROR, USAGE, LEFT, UNDECIDED, DONE)  # a wrong result is worse than none
