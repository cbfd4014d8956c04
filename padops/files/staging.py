"""Files that appear whole or not at all.

Everything is written into a hidden folder beside its destination and only then renamed into place, the model last.
Whatever goes wrong before, nothing is left behind; no data file is ever overwritten. What is to replace a file is
brought to the disk first, so that not even a power failure loses both; what is new is not: the source is still there,
and waiting for the disk would take longer than copying.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from padops.files.hidden import FILES, hidden_folder, is_hidden, locked, note, sweep, take_back
from padops.files.interrupts import uninterrupted
from padops.files.targets import Identity, behind_link, identity, obstacle, same_bytes

BLOCK = 8 << 20  # bytes that pass through this process at a time
KERNEL_BLOCK = 1 << 31  # and inside the kernel, which takes up to twice as long in small parts (ext4)

NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
CHANGED = "it has changed while the model was being converted; try again"
TAKEN = "another program has written a file of this name meanwhile; try again"


class Staging:
    """Files in a hidden folder, laid out as they will be in the destination.

    Attributes:
        folder: The destination.
        hidden: Where the files are until ``commit``.
    """

    def __init__(self, folder: Path, hidden: Path) -> None:
        self.folder = folder
        self.hidden = hidden / FILES
        self._locations: list[str] = []
        self._expected: dict[Path, Identity | None] = {}

    def write(self, location: str, content: Iterable[bytes]) -> int:
        """Stages a file that is to be at ``location``; returns its size."""
        with open(self._prepare(location), "xb") as file:
            return sum(file.write(part) for part in content)

    def copy(self, source: Path, location: str, advance: Callable[[int], None]) -> None:
        """Stages a copy of a file, block by block.

        Args:
            source: The file.
            location: Where the copy is to be, relative to the destination.
            advance: Called with the bytes of each block.
        """
        with open(source, "rb") as original, open(self._prepare(location), "xb") as file:
            for count in _copy_blocks(original, file):
                advance(count)

    def borrow(self, source: Path, location: str) -> None:
        """Makes a file that is already at its destination visible here; ``commit`` passes it over."""
        path = self.hidden / location
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(os.path.realpath(source), path)
        except OSError:  # a file system without hard links
            shutil.copyfile(source, path)

    def expect(self, path: Path, known: Identity | None) -> None:
        """Has ``commit`` refuse unless ``path`` is still the file that it was when ``known`` was its identity."""
        self._expected[path] = known

    def commit(self) -> None:
        """Puts every staged file into place, in the order of staging; undoes all of it if one cannot be.

        Only the last one may replace a file.

        Raises:
            OSError: One of them cannot be put into place, or a file is not what it was expected to be.
        """
        *data, last = self._locations
        if os.path.lexists(self.folder / last):  # a model, which may refer to any of the new files
            for location in self._locations:
                with open(self.hidden / location, "r+b") as file:
                    os.fsync(file.fileno())
        with locked(self.folder), uninterrupted():
            sweep(self.folder)
            self._check(self.folder / last)
            if data:  # a single file needs no note, and no room for one: with it, all is done
                note(self.hidden.parent, data, self._missing_folders(), last)
            try:
                for location in data:
                    (self.folder / location).parent.mkdir(parents=True, exist_ok=True)
                    _put(self.hidden / location, self.folder / location)
                if os.path.lexists(self.folder / last):
                    shutil.copymode(self.folder / last, self.hidden / last)
                os.replace(self.hidden / last, self.folder / last)
            except BaseException:
                take_back(self.hidden.parent)
                raise

    def _check(self, target: Path) -> None:
        """Refuses what has come about since the files were staged."""
        if why := obstacle(target):
            raise OSError(errno.EEXIST, why, str(target))
        for path, known in self._expected.items():
            if identity(path) != known and not (path == target and _is_already(self.hidden / target.name, target)):
                raise OSError(errno.EBUSY, CHANGED, str(path))

    def _missing_folders(self) -> list[str]:
        """The folders that the files need and that are not there, outermost first."""
        parents = {parent for location in self._locations for parent in Path(location).parents}
        missing = [parent for parent in parents if not os.path.lexists(self.folder / parent)]
        return [str(parent) for parent in sorted(missing, key=lambda parent: len(parent.parts))]

    def _prepare(self, location: str) -> Path:
        path = self.hidden / location
        path.parent.mkdir(parents=True, exist_ok=True)
        self._locations.append(location)
        return path


@contextlib.contextmanager
def staging(folder: Path) -> Iterator[Staging]:
    """A staging folder that is gone at the end, whatever happens."""
    with hidden_folder(folder) as hidden:
        yield Staging(folder, hidden)


@contextlib.contextmanager
def staged_file(path: Path, texts: Iterable[str]) -> Iterator[Staging]:
    """One text file that is ready, of texts in a row; ``commit`` puts it into place, and of a symbolic link its target.

    Raises:
        OSError: It cannot be written, or something is there that is no regular file.
    """
    if why := obstacle(path):
        raise OSError(errno.EEXIST, why, str(path))
    path = behind_link(path)
    with staging(path.parent) as stage:
        # A file's name need not be UTF-8. Python has its other bytes as lone surrogates, and JSON has escapes for those.
        stage.write(path.name, (text.encode("utf-8", "backslashreplace") for text in texts))
        yield stage


def write_whole(path: Path, texts: Iterable[str]) -> None:
    """Writes one text file, of texts in a row, whole or not at all.

    Raises:
        OSError: As of ``staged_file``.
    """
    try:
        with staged_file(path, texts) as stage:
            stage.commit()
    except OSError as error:
        if error.filename is None or is_hidden(error.filename):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def _put(staged: Path, target: Path) -> None:
    """Moves a file to where none is; one with the same bytes, which another process has written, may be there."""
    try:
        os.link(staged, target)
    except FileExistsError:
        if not _is_already(staged, target):
            raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
        os.rename(staged, target)
    else:
        os.unlink(staged)


def _is_already(staged: Path, target: Path) -> bool:
    """Whether a regular file at ``target`` has the bytes of the staged one."""
    return target.is_file() and not target.is_symlink() and same_bytes(staged, target)


def _copy_blocks(original: IO[bytes], file: IO[bytes]) -> Iterator[int]:
    """Copies to the end of ``original`` and gives the size of each block; inside the kernel, where it can."""
    with contextlib.suppress(AttributeError, OSError):  # not everywhere; what is really wrong, writing says too
        while count := os.copy_file_range(original.fileno(), file.fileno(), KERNEL_BLOCK):
            yield count
    while block := original.read(BLOCK):
        file.write(block)
        file.flush()
        yield len(block)
