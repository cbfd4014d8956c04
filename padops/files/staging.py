"""Files that appear whole or not at all.

padops writes all files into a hidden folder in their destination and then renames them into place, the model last. An
error before the last rename leaves no file behind. padops never overwrites a data file. A killed process may leave its
hidden folder behind, and complete new data files without a model. Before a file replaces another, padops syncs all
staged files to the disk, so that a power failure loses at most one of the two. Otherwise, padops syncs nothing: the
source still exists, and waiting for the disk would take longer than copying.
"""

from __future__ import annotations

import contextlib
import errno
import filecmp
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from padops.files.interrupts import uninterrupted

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HIDDEN = re.compile(r"\.padops-[a-z0-9_]{8}\.part")  # the name of a hidden folder, as ``tempfile.mkdtemp`` makes it
BLOCK = 8 << 20  # bytes that this process copies at a time
PATIENCE = 10  # seconds to wait for a lock, which a program other than padops may hold for its own reasons
KERNEL_BLOCK = 1 << 31  # bytes that the kernel copies at a time; smaller parts take up to twice as long (ext4)

NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
CHANGED = "it has changed while the model was being converted; try again"
TAKEN = "another program has written a file of this name meanwhile; try again"


Identity = tuple[int, int, int, int]  # device, inode, size, time of the last change


def kind_of(path: Path) -> str:
    """Describes a path that does not lead to a regular file."""
    if os.path.isdir(path):
        return "a folder"
    if os.path.islink(path) and not os.path.exists(path):
        return f"a symbolic link to {os.readlink(path)}, which does not exist"
    return "a FIFO, a socket or a device"


def obstacle(path: Path) -> str | None:
    """Returns why padops refuses to write a file at ``path``; None if padops may write it.

    Allowed: a free path, a writable regular file, or a link to such a file. padops replaces nothing else: a device, a
    FIFO, a socket or a dangling link would be lost. Even as root, padops refuses a file without write permission. The
    function does not detect a read-only file system: a later write fails with its own error.
    """
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist"
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path):
        return f"it is {kind_of(path)}; only regular files are replaced"
    disk = os.statvfs(path).f_flag & os.ST_RDONLY if hasattr(os, "statvfs") else 0
    if os.stat(path).st_mode & 0o222 and (disk or os.access(path, os.W_OK)):
        return None
    return "it is read-only; change its permissions, or name another file"


def behind_link(path: Path) -> Path:
    """Returns the file to write for a path: the target of a symbolic link to a file, else the path itself."""
    return Path(os.path.realpath(path)) if os.path.islink(path) and os.path.isfile(path) else path


def refusal(paths: Iterable[Path | None]) -> str | None:
    """Returns the error for the first path that cannot be written; None if all can be. Ignores paths that are None."""
    for path in paths:
        try:
            why = None if path is None else obstacle(path)
        except OSError as error:  # a name that is too long
            why = error.strerror
        if why:
            return f"cannot write {path}: {why}"
    return None


def identity(path: Path) -> Identity | None:
    """Returns a value that changes when a file is replaced or written to; None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class Staging:
    """Files in a hidden folder, laid out as they will be in the destination."""

    def __init__(self, folder: Path, hidden: Path) -> None:
        self.folder = folder  # the destination
        self.hidden = hidden  # the place of the files until ``commit``
        self._locations: list[str] = []
        self._expected: dict[Path, Identity | None] = {}

    def write(self, location: str, content: Iterable[bytes]) -> int:
        """Stages a file for ``location``; returns its size in bytes."""
        self._locations.append(location)
        with open(self._path(location), "xb") as file:
            return sum(file.write(part) for part in content)

    def copy(self, source: Path, location: str) -> Iterator[int]:
        """Stages a copy of a file for ``location``, by the kernel if possible; yields each block's size in bytes."""
        self._locations.append(location)
        with open(source, "rb") as original, open(self._path(location), "xb") as file:
            with contextlib.suppress(AttributeError, OSError):  # not on all systems; real errors show up in write, too
                while count := os.copy_file_range(original.fileno(), file.fileno(), KERNEL_BLOCK):
                    yield count
            while block := original.read(BLOCK):
                file.write(block)
                file.flush()
                yield len(block)

    def borrow(self, source: Path, location: str) -> None:
        """Links (or copies) an already placed file into the hidden folder; ``commit`` does not move the link."""
        path = self._path(location)
        try:
            os.link(os.path.realpath(source), path)
        except OSError:  # a file system without hard links
            shutil.copyfile(source, path)

    def expect(self, path: Path, known: Identity | None) -> None:
        """Makes ``commit`` fail unless ``path`` still has the identity ``known``."""
        self._expected[path] = known

    def commit(self) -> None:
        """Puts all staged files into place, in order, or raises OSError and puts none."""
        *data, last = self._locations  # only the last file may replace another file
        target = self.folder / last
        if os.path.lexists(target):  # the model that replaces it may refer to any new file
            for location in self._locations:
                with open(self.hidden / location, "r+b") as file:
                    os.fsync(file.fileno())
        made: list[Path] = []
        with uninterrupted():
            if why := obstacle(target):
                raise OSError(errno.EEXIST, why, str(target))
            for path, known in self._expected.items():  # the destination may have changed since the files were staged
                if identity(path) != known and not (path == target and _is_already(self.hidden / last, target)):
                    raise OSError(errno.EBUSY, CHANGED, str(path))
            replaced = identity(target)
            parents = {parent for location in self._locations for parent in (self.folder / location).parents}
            folders = sorted((path for path in parents if not os.path.lexists(path)), reverse=True)  # innermost first
            try:
                for location in data:
                    (self.folder / location).parent.mkdir(parents=True, exist_ok=True)
                    made += _put(self.hidden / location, self.folder / location)
                if os.path.lexists(target):
                    shutil.copymode(target, self.hidden / last)
                os.replace(self.hidden / last, target)
            except BaseException:
                if identity(target) != replaced:  # no lock: another process has put its model for these data there
                    raise
                for path in (*made, *folders):
                    with contextlib.suppress(OSError):  # a folder may have other files
                        path.rmdir() if path.is_dir() else path.unlink()
                raise

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Waits until every other conversion into the same folder has left this context, at most ``PATIENCE`` seconds.

        The reason: a failing writer removes its data files and folders, even if another writer already uses them. On
        Windows, on file systems without locks, and for a folder that this process may not read, no conversion waits.
        """
        with contextlib.ExitStack() as lock:
            with contextlib.suppress(OSError):
                if fcntl is not None:
                    descriptor = os.open(self.folder, os.O_RDONLY)
                    lock.callback(os.close, descriptor)
                    lock.callback(fcntl.flock, descriptor, fcntl.LOCK_UN)  # a forked child may have the descriptor, too
                    end = time.monotonic() + PATIENCE
                    while not _is_locked(descriptor) and time.monotonic() < end:
                        time.sleep(0.01)
            yield

    def _path(self, location: str) -> Path:
        path = self.hidden / location
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


@contextlib.contextmanager
def staging(folder: Path, named: Path | None = None) -> Iterator[Staging]:
    """Yields a Staging for files of ``folder``; removes the hidden folder at the end in any case.

    In an OSError for a file in the hidden folder, ``named`` replaces the file's name; if ``named`` is None, the error
    names no file.
    """
    hidden = None
    try:
        with uninterrupted():
            hidden = Path(tempfile.mkdtemp(prefix=".padops-", suffix=".part", dir=folder))
        yield Staging(folder, hidden)
    except OSError as error:
        if not HIDDEN.search(str(error.filename)):
            raise
        raise OSError(error.errno, error.strerror, named and str(named)) from None
    finally:
        if hidden is not None:
            with uninterrupted():
                shutil.rmtree(hidden, ignore_errors=True)


@contextlib.contextmanager
def staged_file(path: Path, texts: Iterable[str | bytes]) -> Iterator[Staging]:
    """Yields a Staging with a file of concatenated texts or bytes; if ``path`` is a link, ``commit`` writes its target.

    Raises OSError if the file cannot be written, or if ``path`` is something other than a regular file.
    """
    if why := obstacle(path):
        raise OSError(errno.EEXIST, why, str(path))
    target = behind_link(path)
    with staging(target.parent, path) as stage:
        # A file name in the texts may not be UTF-8: Python holds its bytes as lone surrogates, which JSON can escape.
        content = (text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace") for text in texts)
        stage.write(target.name, content)
        yield stage


def write_whole(path: Path, texts: Iterable[str | bytes]) -> None:
    """Writes a file of concatenated texts or bytes, whole or not at all; raises OSError as ``staged_file`` does."""
    with staged_file(path, texts) as stage:
        stage.commit()


def _is_locked(descriptor: int) -> bool:
    """Locks a folder; returns False if another process holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _put(staged: Path, target: Path) -> list[Path]:
    """Moves a staged file to ``target`` and returns [target]; returns [] if ``target`` already has the same bytes."""
    try:
        os.link(staged, target)
    except FileExistsError:
        if not _is_already(staged, target):
            raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
        return []
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
        os.rename(staged, target)
    return [target]


def _is_already(staged: Path, target: Path) -> bool:
    """Returns whether a regular file at ``target`` has the bytes of the staged file."""
    return target.is_file() and not target.is_symlink() and filecmp.cmp(staged, target, shallow=False)
