"""Commands at the foreground of a terminal of their own, and programs that leave processes behind."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

# Runs a command in a new session whose terminal is standard input, so that Ctrl-C there reaches its foreground group.
AT_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
# Seconds, on a machine that has much else to do, for what takes less than one. What a test must not wait for takes
# longer.
PATIENCE = 90
MARK = "PADOPS_TEST_RUN"  # an environment variable: all processes of a run have it, wherever they hang


class AtTerminal:
    """A Python command at a terminal; a context manager that kills what is left of it."""

    def __init__(self, *arguments: object, cwd: Path) -> None:
        self.mark = uuid.uuid4().hex
        self._terminal, there = pty.openpty()
        command = [sys.executable, "-c", AT_TERMINAL, sys.executable, *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdin=there, stdout=there, stderr=there, cwd=cwd, env=os.environ | {MARK: self.mark}
        )
        os.close(there)
        self._said = b""

    def __enter__(self) -> AtTerminal:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._terminal)
        for pid in self.pids():
            os.kill(pid, 9)

    def pids(self) -> list[int]:
        mark, found = f"{MARK}={self.mark}".encode(), []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                its_own = mark in (folder / "environ").read_bytes().split(b"\0")
                if its_own and " Z " not in (folder / "stat").read_text():
                    found.append(int(folder.name))
            except (FileNotFoundError, PermissionError, ProcessLookupError):  # it has ended
                continue
        return found

    def left(self) -> list[int]:
        """Return the processes that outlive the command, after a wait for multiprocessing's resource tracker to end."""
        end = time.monotonic() + PATIENCE
        while (found := self.pids()) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def press_ctrl_c(self) -> None:
        """Sends SIGINT to the terminal's foreground group, as the key does."""
        os.write(self._terminal, b"\x03")

    def wait(self) -> int:
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            self._listen()
            assert time.monotonic() < end, self.said()
        return self.process.wait()

    def wait_for(self, what: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not what():
            self._listen()
            assert self.process.poll() is None and time.monotonic() < end, self.said()

    def said(self) -> str:
        """Return the printed text without codes that colour it or move the cursor."""
        self._listen()
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._said.decode(errors="replace")).replace("\r\n", "\n")

    def _listen(self) -> None:
        while select.select([self._terminal], [], [], 0.02)[0]:
            try:
                part = os.read(self._terminal, 1 << 16)
            except OSError:  # nobody has it open any more
                return
            if not part:
                return
            self._said += part


# --- programs that leave copies of themselves behind, which hold their pipes; and whether a process is still there ---

SOON = 20  # seconds, for what a loaded machine does at once; what holds the pipes lives three times as long
LASTING = 3 * SOON

# A copy of the process that holds its pipes, and outlives it.
FORKS = f"""
import os, sys, time
if not (child := os.fork()):
    time.sleep({LASTING})
    os._exit(0)
print(child, flush=True)
"""
# The same, out of the reach of those who end the group.
FORKS_APART = FORKS.replace("time.sleep(", "os.setsid() or time.sleep(")


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    limit = time.monotonic() + SOON
    while is_there(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not is_there(pid)
