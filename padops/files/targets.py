"""What may be written where."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

BLOCK = 1 << 20  # bytes that are compared at a time
LONGEST_NAME = 255  # bytes; what nearly every file system takes

Identity = tuple[int, int, int, int]  # device, inode, size, time of the last change

KINDS = {
    stat.S_IFREG: "a regular file",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


def kind_of(path: Path) -> str:
    """What a path leads to, in words: ``"a FIFO"``, ``"a symbolic link to x, which does not exist"``.

    Raises:
        OSError: Nothing is there, or it cannot be looked at.
    """
    mode = os.lstat(path).st_mode
    if not stat.S_ISLNK(mode):
        return KINDS.get(stat.S_IFMT(mode), "no regular file")
    try:
        behind = os.stat(path).st_mode
    except FileNotFoundError:
        return f"a symbolic link to {os.readlink(path)}, which does not exist"
    return f"a symbolic link to {KINDS.get(stat.S_IFMT(behind), 'no regular file')}"


def obstacle(path: Path) -> str | None:
    """Why no file can be written here, or None: it may be absent, a regular file that may be written, or a link to one.

    Everything else stays as it is: a device, a FIFO or a socket that a file took the place of would be gone, and behind
    a link that leads nowhere somebody expects a file of that name.

    Raises:
        OSError: The path cannot be looked at.
    """
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist"
    if not os.path.lexists(path):
        return None
    kind = kind_of(path)
    if kind == "a folder":
        return "it is a folder"
    if kind.endswith("a regular file"):
        return READ_ONLY if _is_read_only(path) else None
    return f"it is {kind}; only regular files are replaced"


READ_ONLY = "it is read-only; change its permissions, or name another file"


def _is_read_only(path: Path) -> bool:
    """Whether a file is to stay as it is: nobody may write it, or this user may not. Root could; the file's owner says no.

    Of a file system that is read-only, writing itself says so.
    """
    if not os.stat(path).st_mode & 0o222:
        return True
    disk = os.statvfs(path).f_flag & os.ST_RDONLY if hasattr(os, "statvfs") else 0
    return not disk and not os.access(path, os.W_OK)


def behind_link(path: Path) -> Path:
    """What is really written where this path is: of a symbolic link to a file its target."""
    return Path(os.path.realpath(path)) if os.path.islink(path) and os.path.isfile(path) else path


def refusal(paths: Iterable[Path | None]) -> str | None:
    """What to tell of the first of these that cannot be written; None where all can be, or are None.

    Raises:
        OSError: One of them cannot be looked at.
    """
    for path in paths:
        if path is not None and (why := obstacle(path)):
            return f"cannot write {path}: {why}"
    return None


def identity(path: Path) -> Identity | None:
    """What changes when a file is replaced or written to; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files have the same content."""
    if one.stat().st_size != other.stat().st_size:
        return False
    with open(one, "rb") as left, open(other, "rb") as right:
        while chunk := left.read(BLOCK):
            if chunk != right.read(BLOCK):
                return False
    return True


def name_of(stem: str, ending: str) -> str:
    """``stem + ending``, the stem cut where a file system would not take as long a name."""
    room = LONGEST_NAME - len(os.fsencode(ending))
    while stem and len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + ending
