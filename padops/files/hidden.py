"""The folder that files are made in before they are renamed into place.

It lies in the folder that they are for, so that renaming is enough. Its owner holds a lock on it, which goes away with
the process however that ends: a hidden folder without a lock is what a killed process has left, and the next one
sweeps it. Where a file system has no locks, nothing is swept.

The destination is locked, too, but only for the moments in which hidden folders are made and swept and files are put into
place. So no two processes do these at once.
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
FILES, JOURNAL = "files", "made.json"  # all that a hidden folder has in it
LOCK_SECONDS = 30.0  # others hold the lock for milliseconds


def is_hidden(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads into a hidden folder, which means nothing to a user."""
    return any(NAME.fullmatch(part) for part in Path(path).parts)


@contextlib.contextmanager
def hidden_folder(folder: Path) -> Iterator[Path]:
    """A hidden folder in ``folder`` that is gone at the end, whatever happens; first the dead ones are swept.

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
                shutil.rmtree(path, ignore_errors=True)  # the next one sweeps what cannot be removed now
            if lock is not None:
                os.close(lock)


def _make(folder: Path) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=BEGIN, suffix=END, dir=folder))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None  # not the hidden name


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keeps other processes from doing the same in ``folder``, as far as the file system has locks.

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
                raise OSError(errno.EBUSY, f"another process has held a lock on it for {LOCK_SECONDS:g} s", str(folder))
            time.sleep(0.005)
        yield
    finally:
        os.close(lock)  # and so unlocks


def _open(folder: Path) -> int | None:
    """A descriptor to lock; None where there is none, as of a folder that may be written to but not read."""
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:  # what else is wrong, writing says
        return None


def _try_lock(descriptor: int) -> bool | None:
    """Whether the lock has been got; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # such as NFS, which has none on folders
        return None
    return True


def sweep(folder: Path) -> None:
    """Removes the hidden folders of this user whose process is gone, and takes back what it had put into place.

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
    """Writes down what is about to be put into place.

    Args:
        hidden: The hidden folder.
        new: The files that were not there before, relative to the destination.
        folders: Those that have to be made for them, outermost first.
        last: The file that is put into place last; with it, all is done.
    """
    known = {name: identity(hidden / FILES / name) for name in new}
    (hidden / JOURNAL).write_text(json.dumps({"new": known, "folders": list(folders), "last": last}))


def take_back(hidden: Path) -> None:
    """Removes the files and folders that were put into place, unless all were; others' files of these names stay."""
    try:
        noted = json.loads((hidden / JOURNAL).read_text())
    except (FileNotFoundError, ValueError):  # none, or not written to its end: then nothing was put into place
        return
    if not os.path.lexists(hidden / FILES / noted["last"]):
        return
    for name, known in noted["new"].items():
        target = hidden.parent / name
        if not target.is_symlink() and identity(target) == tuple(known):
            with contextlib.suppress(OSError):
                target.unlink()
    for name in reversed(noted["folders"]):
        with contextlib.suppress(OSError):  # somebody else's file is in it
            (hidden.parent / name).rmdir()
