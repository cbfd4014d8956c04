"""The hidden folder that files are made in before they are renamed into place.

It is inside the destination folder, so that renaming is enough. Its process holds a lock on it, which ends with the
process in any case. So a hidden folder without a lock is left from a killed process, and the next process sweeps it. If
a file system has no locks, nothing is swept.

The destination is locked, too, but only while hidden folders are made and swept and while files are put into place. So
no two processes do these at once.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from padops.files.interrupts import uninterrupted
from padops.files.targets import identity

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module or None, which an import cannot say

BEGIN, END = ".padops-", ".part"
NAME = re.compile(r"\.padops-[a-z0-9_]{8}\.part")  # as ``tempfile.mkdtemp`` makes it
FILES, JOURNAL = "files", "made.json"  # the only entries of a hidden folder
LOCK_SECONDS = 30.0  # to wait for the lock; other processes hold it for milliseconds


def is_hidden(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads into a hidden folder, so that errors should not show it to users."""
    return any(NAME.fullmatch(part) for part in Path(path).parts)


@contextlib.contextmanager
def hidden_folder(folder: Path) -> Iterator[Path]:
    """A new hidden folder in ``folder``, removed at the end in any case. Folders of dead processes are swept first.

    Raises:
        OSError: It cannot be made.
    """
    path, lock = None, None
    try:
        with locked(folder), uninterrupted():
            sweep(folder)
            path = _make(folder)
            lock = _open(path)
            if lock is not None:
                _try_lock(lock)
            (path / FILES).mkdir()
        yield path
    finally:
        with uninterrupted():
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)  # the next process sweeps what remains
            if lock is not None:
                os.close(lock)


def _make(folder: Path) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=BEGIN, suffix=END, dir=folder))
    except OSError as error:
        raise OSError(error.errno, error.strerror) from None  # callers name their file, not the hidden one


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of ``folder``, which excludes other processes; without effect if the file system has no locks.

    Raises:
        OSError: Another process has kept the lock for too long.
    """
    lock = _open(folder)
    if lock is None:
        yield
        return
    try:
        end = time.monotonic() + LOCK_SECONDS
        while _try_lock(lock) is False:
            if time.monotonic() > end:
                raise OSError(errno.EBUSY, f"another process has kept its folder locked for {LOCK_SECONDS:g} s")
            time.sleep(0.005)
        yield
    finally:
        os.close(lock)  # and so unlocks


def _open(folder: Path) -> int | None:
    """A descriptor to lock; None if there is none, for example for a folder that can be written but not read."""
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:  # other errors show up when the files are written
        return None


def _try_lock(descriptor: int) -> bool | None:
    """Whether the lock was obtained; None if there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # for example NFS, which has no locks on folders
        return None
    return True


def sweep(folder: Path) -> None:
    """Removes this user's hidden folders of dead processes, and takes back the files that they had put into place.

    The caller has locked ``folder``.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(path: Path) -> None:
    lock = _open(path)
    if lock is None:
        return
    try:
        own = not hasattr(os, "geteuid") or os.fstat(lock).st_uid == os.geteuid()
        if own and _try_lock(lock) and set(os.listdir(path)) <= {FILES, JOURNAL}:
            take_back(path)
            shutil.rmtree(path)
    finally:
        os.close(lock)


def note(hidden: Path, new: Sequence[str], folders: Sequence[str], last: str) -> None:
    """Writes the journal: the files that are about to be put into place, relative to the destination.

    ``new`` files did not exist before, ``folders`` have to be made for them, outermost first; the file ``last``, put
    into place last, completes the work.
    """
    known = {name: identity(hidden / FILES / name) for name in new}
    (hidden / JOURNAL).write_text(json.dumps({"new": known, "folders": list(folders), "last": last}))


def take_back(hidden: Path) -> None:
    """Removes the files and folders that were put into place, unless all were; others' files with these names stay."""
    try:
        noted = json.loads((hidden / JOURNAL).read_text())
    except (FileNotFoundError, ValueError):  # no journal, or an incomplete one: then nothing was put into place
        return
    if not os.path.lexists(hidden / FILES / noted["last"]):
        return
    for name, known in noted["new"].items():
        target = hidden.parent / name
        if not target.is_symlink() and identity(target) == tuple(known):
            with contextlib.suppress(OSError):
                target.unlink()
    for name in reversed(noted["folders"]):
        with contextlib.suppress(OSError):  # the folder has files of others
            (hidden.parent / name).rmdir()
