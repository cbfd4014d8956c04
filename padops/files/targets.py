"""Checks the paths that padops is to write to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

LONGEST_NAME = 255  # bytes; the limit of nearly every file system

Identity = tuple[int, int, int, int]  # device, inode, size, time of the last change


def kind_of(path: Path) -> str:
    """Describes what a path that is no regular file leads to."""
    if os.path.isdir(path):
        return "a folder"
    if os.path.islink(path) and not os.path.exists(path):
        return f"a symbolic link to {os.readlink(path)}, which does not exist"
    return "a FIFO, a socket or a device"


def obstacle(path: Path) -> str | None:
    """Returns why no file can be written here, or None. Allowed: no file, a writable regular file, or a link to one.

    padops replaces nothing else: a device, a FIFO or a socket would be lost, and a dangling link promises a file of
    another name. Root could write a read-only file, against the owner's will. A read-only file system does not count:
    writing fails on it with its own error.
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
    """A value that changes when a file is replaced or written to; None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def name_of(stem: str, ending: str) -> str:
    """``stem + ending``, with the stem shortened if the name would be too long for a file system."""
    room = LONGEST_NAME - len(os.fsencode(ending))
    while stem and len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + ending
