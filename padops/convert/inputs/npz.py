"""Reads the arrays of an ``.npz``; all headers are checked before any element is read or memory is taken.

``numpy.load`` does not guard against damaged files: it raises errors of zlib, zipfile and the tokenizer, reads a header
of four gigabytes before it rejects it, and takes whatever memory a header of a hundred bytes asks for.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tokenize
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from padops.convert.errors import PadopsError, library_errors
from padops.convert.ir.reader import ask_for, too_large
from padops.plural import plural

MAGIC = b"\x93NUMPY"  # the first bytes of an array
LONGEST_HEADER = 10_012  # bytes, those of its length among them; NumPy's own limit is 10,000
MOST_MEMBERS = 4096  # arrays in a file; models have hundreds of inputs at most
POINTER = 8  # the least bytes of a text as a Python object
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # the compression methods that NumPy writes
# Errors of zipfile and NumPy for damaged files, in addition to those of any library.
DAMAGES = (zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError, EOFError, OSError, RuntimeError)


@dataclass(frozen=True)
class _Member:
    """One array of the archive, by its header; its elements start at byte ``begin``."""

    entry: zipfile.ZipInfo
    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


Headers = Mapping[str, tuple[np.dtype, tuple[int, ...]]]  # element type and shape of each array


def read_npz(path: Path, check: Callable[[Headers], None], wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """Reads all arrays; ``check`` may reject the headers before any element is read.

    ``wanted`` are the names of arrays for the error's example of how a file is written.

    Raises:
        PadopsError: ``numpy.savez`` did not write the file, it is damaged, or there is not enough memory.
    """
    part = f"the inputs in {path}"
    if os.path.exists(path) and not os.path.isfile(path):
        raise PadopsError(f"{part} cannot be read: it is not a file")
    with library_errors(part, *DAMAGES):
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                raise PadopsError(f"{path} has one array without a name; save inputs with numpy.savez")
        if not zipfile.is_zipfile(path):
            arrays = ", ".join([json.dumps(str(path)), *(f"{name}=..." for name in wanted)])
            raise PadopsError(f"{path} is no .npz file; numpy.savez({arrays}) writes one")
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_MEMBERS:
                raise PadopsError(f"{part} have {len(entries)} arrays, more than {MOST_MEMBERS}")
            members = [_member(archive, entry, part) for entry in entries]
            if twice := [name for name, count in Counter(member.name for member in members).items() if count > 1]:
                raise PadopsError(f"{part} have '{twice[0]}' twice")
            check({member.name: (member.dtype, member.shape) for member in members})
            _check_memory(members, part)
            return {member.name: _array(archive, member, part) for member in members}


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, part: str) -> _Member:
    """Reads the header of an array."""
    name = entry.filename.removesuffix(".npy")
    what = f"'{name}' in {part}"
    if entry.compress_type not in METHODS:
        raise PadopsError(f"{what} is compressed by method {entry.compress_type}; save inputs with numpy.savez")
    with library_errors(what, *DAMAGES), archive.open(entry) as stream, _quiet():
        head = io.BytesIO(stream.read(LONGEST_HEADER))
        version, _ = np.lib.format.read_magic(head)
        if version not in (1, 2):
            raise PadopsError(f"{what} is of version {version} of NumPy's format, expected 1 or 2")
        read = np.lib.format.read_array_header_1_0 if version == 1 else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(head)
    member = _Member(entry, name, dtype, shape, head.tell())
    _check_member(member, what)
    return member


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses NumPy's warnings about headers that Python 2 wrote."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _check_member(member: _Member, what: str) -> None:
    """Rejects an array that is no tensor, or whose bytes do not fit its header."""
    if member.dtype.hasobject:
        raise PadopsError(
            f"{what} holds Python objects, which are not loaded, since they could run code; save numbers or strings"
        )
    if member.dtype.names is not None or member.dtype.subdtype is not None:
        raise PadopsError(f"{what} has elements of the structured type {member.dtype}, which no tensor has")
    if min(member.shape, default=0) < 0:
        raise PadopsError(f"{what} has the shape {list(member.shape)}")
    if wrong := too_large(member.shape):
        raise PadopsError(f"{what} has {wrong}")
    there = member.entry.file_size - member.begin
    if member.bytes != there:
        raise PadopsError(
            f"{what} is damaged: {member.dtype} of shape {list(member.shape)} has {plural(member.bytes, 'byte')}, "
            f"but {there} are there"
        )


def _check_memory(members: Sequence[_Member], part: str) -> None:
    """Rejects arrays that do not fit into memory."""
    texts = sum(prod(member.shape) * POINTER for member in members if member.dtype.kind == "U")
    ask_for(sum(member.bytes for member in members) + texts, f"{part} need")


def _array(archive: zipfile.ZipFile, member: _Member, part: str) -> np.ndarray:
    with library_errors(f"'{member.name}' in {part}", *DAMAGES), archive.open(member.entry) as stream, _quiet():
        return np.lib.format.read_array(stream, allow_pickle=False)
