"""Files that appear whole or not at all.

Everything is written into a hidden folder beside its destination and only then renamed into place, the model last.
Whatever goes wrong before, nothing is left behind; no data file is ever overwritten. What is to replace a file is
brought to the disk first, so that not even a power failure loses both; what is new is not: the source is still there,
and waiting for the disk would take longer than copying.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

Progress = Callable[[str, int, int], None]  # what is being done, bytes done, bytes in all

BLOCK = 8 << 20  # bytes that pass through this process at a time
KERNEL_BLOCK = 1 << 31  # and inside the kernel, which takes up to twice as long in small parts (ext4)


class Staging:
    """The hidden folder, laid out as the destination will be.

    Attributes:
        folder: The destination.
        hidden: Where the files are until ``commit``.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.hidden = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=folder))
        self._locations: list[str] = []

    def write(self, location: str, content: Iterable[bytes]) -> int:
        """Stages a file that is to be at ``location``; returns its size."""
        with open(self._prepare(location), "xb") as file:
            return sum(file.write(part) for part in content)

    def copy(self, source: Path, location: str, advance: Callable[[int], None]) -> None:
        """Stages a copy of ``source``, block by block; ``advance`` is told how many bytes each time."""
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

    def commit(self) -> None:
        """Renames every staged file into place, in the order of staging; undoes all of it if one cannot be."""
        replaced = {name for name in self._locations if os.path.lexists(self.folder / name)}
        if replaced:  # by a model that may refer to any of the new files
            for location in self._locations:
                _bring_to_disk(self.hidden / location)
        made: list[Path] = []
        try:
            for location in self._locations:
                target = self.folder / location
                made += _make_folders(target.parent, self.folder)
                if location in replaced:
                    shutil.copymode(target, self.hidden / location)
                os.replace(self.hidden / location, target)
                if location not in replaced:
                    made.append(target)
        except BaseException:
            for path in reversed(made):
                with contextlib.suppress(OSError):  # the first error is the one to tell
                    path.rmdir() if path.is_dir() else path.unlink()
            raise

    def discard(self) -> None:
        """Removes the hidden folder and whatever is still in it."""
        shutil.rmtree(self.hidden)

    def _prepare(self, location: str) -> Path:
        path = self.hidden / location
        path.parent.mkdir(parents=True, exist_ok=True)
        self._locations.append(location)
        return path


@contextlib.contextmanager
def staging(folder: Path, name: str) -> Iterator[Staging]:
    """A staging folder that is gone at the end, whatever happens."""
    stage = Staging(folder, name)
    try:
        yield stage
    finally:
        stage.discard()


def write_whole(path: Path, content: bytes) -> None:
    """Writes one file, whole or not at all."""
    with staging(path.parent, path.name) as stage:
        stage.write(path.name, [content])
        stage.commit()


def _make_folders(path: Path, base: Path) -> list[Path]:
    """The folders between ``base`` and ``path`` that had to be made, outermost first."""
    missing = []
    while path != base and not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir()
    return missing[::-1]


def _copy_blocks(original: IO[bytes], file: IO[bytes]) -> Iterator[int]:
    """Copies to the end of ``original`` and gives the size of each block; inside the kernel, where it can."""
    with contextlib.suppress(AttributeError, OSError):  # not everywhere; what is really wrong, writing says too
        while count := os.copy_file_range(original.fileno(), file.fileno(), KERNEL_BLOCK):
            yield count
    while block := original.read(BLOCK):
        file.write(block)
        file.flush()
        yield len(block)


def _bring_to_disk(path: Path) -> None:
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
