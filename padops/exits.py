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

MEANINGS = {
    DONE: "done",
    ERROR: "an error; padops conformance: not all is as expected",
    USAGE: "wrong arguments",
    LEFT: "a Pad is left, refused by onnxruntime, or breaks a rule",
    DIFFERENT: "the models do different things, or the results of a Pad are wrong",
    UNDECIDED: "undecided",
    INTERRUPTED: "Ctrl-C has ended the command",
    TERMINATED: "SIGTERM has ended the command",
}
