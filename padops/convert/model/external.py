"""The files with a model's external data: finds and checks the files, and places them beside the output."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx
import onnx_ir as ir

from padops.convert.errors import PadopsError
from padops.files.staging import kind_of
from padops.plural import plural

DIGITS = 19  # the digits of the largest possible file size in bytes
LFS = b"version https://git-lfs."  # the first bytes of a Git LFS pointer


@dataclass(frozen=True)
class DataFile:
    """One external file."""

    location: str  # the location that the tensors name
    source: Path
    size: int


@dataclass(frozen=True)
class Placement:
    """The place of a data file beside the output."""

    file: DataFile
    location: str  # the location for the output's tensors
    copied: bool  # whether the file must be copied there; else the file is already there


def entry(tensor: onnx.TensorProto, key: str) -> str | None:
    return next((pair.value for pair in tensor.external_data if pair.key == key), None)


def _check_location(location: str | None, place: str) -> str:
    """Return the location of a tensor's data; refuse a location outside the model's folder."""
    if not location:
        raise PadopsError(f"{place}: its data are external, but no location is given")
    if "\0" in location:
        raise PadopsError(f"{place}: the location {location!r} of its data is not a file name")
    for path in (PurePosixPath(location), PureWindowsPath(location)):
        if path.anchor or ".." in path.parts:
            raise PadopsError(f"{place}: the location {location!r} of its data leads out of the model's folder")
    return location


@dataclass(frozen=True)
class Place:
    """The folder of a model's external data, and the places to which the data's links may lead."""

    folder: Path  # the base of locations: the model's folder, or, if the model is a link, the link's folder
    model: Path | None = None  # the model file; None if the model is an object
    follow_links: bool = False  # whether a symbolic link may lead to any place

    def check_link(self, source: Path, what: str) -> None:
        """Refuse a link that leads out of the allowed folders.

        Without this check, the author of a model could make padops copy any file of this machine to the output. A link
        of a data file may lead into the folder of the model. If the model itself is a link, the data's link may also
        lead into the folder of the model's target. A link in ``snapshots/<revision>/`` of a Hugging Face cache may also
        lead into the cache's ``blobs/``.
        """
        real, folder = Path(os.path.realpath(source)), Path(os.path.realpath(self.folder))
        roots = [folder, *(parent.with_name("blobs") for parent in folder.parents if parent.name == "snapshots")]
        if self.model is not None:
            roots.append(Path(os.path.realpath(self.model)).parent)
        if not self.follow_links and not any(real.is_relative_to(root) for root in roots):
            raise PadopsError(
                f"{what} {source} resolves to {real}, outside the model's folder; pass --follow-links "
                "(follow_links=True; for a session: convert={'follow_links': True}) to allow this"
            )


def check_links(tensors: Iterable[tuple[onnx.TensorProto, str]], place: Place) -> None:
    """Refuse links out of the model's folder; missing files are ignored."""
    for tensor, path in tensors:
        where = f"tensor '{tensor.name}' ({path})"
        source = place.folder / _check_location(entry(tensor, "location"), where)
        if os.path.lexists(source):
            place.check_link(source, f"{where}: its data file")


def refuse_pointer(path: Path, what: str = "") -> None:
    """Refuse a Git LFS pointer, a small text in place of a file that is not fetched; ``what`` begins the error text."""
    with open(path, "rb") as file:
        if file.read(len(LFS)) == LFS:
            raise PadopsError(f"{what}{path} is a Git LFS pointer; git lfs pull fetches the file")


def find_data_files(tensors: Iterable[tuple[onnx.TensorProto, str]], where: Place) -> list[DataFile]:
    """Check and return the files with the tensors' data, each file once, in the order of first use."""
    files: dict[str, DataFile] = {}
    for tensor, path in tensors:
        place = f"tensor '{tensor.name}' ({path})"
        location, offset, length = check_entries(tensor, path)
        if location not in files:
            source = where.folder / location
            if not os.path.lexists(source):
                raise PadopsError(f"{place}: its data file {source} does not exist")
            if not source.is_file():
                raise PadopsError(f"{place}: its data file {source} is {kind_of(source)}")
            where.check_link(source, f"{place}: its data file")
            files[location] = DataFile(location, source, source.stat().st_size)
        if offset + length > files[location].size:
            refuse_pointer(files[location].source, f"{place}: its data file ")
            raise PadopsError(
                f"{place}: its data end at byte {offset + length} of {files[location].source}, which has only "
                f"{files[location].size}"
            )
    return list(files.values())


def check_entries(tensor: onnx.TensorProto, path: str) -> tuple[str, int, int]:
    """Return an external tensor's location, offset and length in bytes; type and dims set the default length."""
    place = f"tensor '{tensor.name}' ({path})"
    location = _check_location(entry(tensor, "location"), place)
    try:
        bits = ir.DataType(tensor.data_type).bitwidth
    except (TypeError, ValueError):
        raise PadopsError(f"{place}: tensors of element type {tensor.data_type} cannot have external data") from None
    expected = (prod(tensor.dims) * bits + 7) // 8
    offset, length = entry(tensor, "offset") or "0", entry(tensor, "length") or str(expected)
    if not all(text.isdecimal() and len(text) <= DIGITS for text in (offset, length)):
        raise PadopsError(
            f"{place}: offset {offset!r:.40} and length {length!r:.40} of its data must be numbers of bytes"
        )
    if int(length) < expected:
        raise PadopsError(
            f"{place}: its data have {plural(int(length), 'byte')}, but dims {list(tensor.dims)} need {expected}"
        )
    return location, int(offset), int(length)


def place_data_files(files: Iterable[DataFile], output: Path, reserved: Path | None) -> list[Placement]:
    """Decide where each data file goes beside ``output``; write nothing.

    If its location is free, a file keeps the location. An existing file with the same bytes is used unchanged. padops
    never overwrites a file: if the name is taken, or ``reserved`` for the report, the copy is named ``<stem of the
    output>.<name>``, with a number if needed.
    """
    taken = {output.name}
    if reserved is not None:
        taken.add(os.path.relpath(os.path.abspath(reserved), os.path.abspath(output.parent)))
    placements: dict[str, Placement] = {}
    for file in files:
        plain = str(PurePosixPath(file.location))  # without "./" and "//", so that one file has one name
        if plain in placements:
            placements[file.location] = replace(placements[plain], file=file, copied=False)
            continue
        folder = (output.parent / plain).parent
        if not (real := Path(os.path.realpath(folder))).is_relative_to(os.path.realpath(output.parent)):
            name = output.parent / plain
            raise PadopsError(f"cannot write {name}: {folder} resolves to {real}, outside the output's folder")
        location, path, number = plain, PurePosixPath(plain), count(2)
        ending = f".{path.name}"
        while location in taken or (copied := _must_copy(file, output.parent / location, output.parent)) is None:
            location = str(path.with_name(name_of(output.stem, ending)))
            ending = f".{next(number)}.{path.name}"
        taken.add(location)
        placements[plain] = Placement(file, location, copied)
    return list(placements.values())


def name_of(stem: str, ending: str) -> str:
    """Return ``stem + ending``; shorten the stem if the name would be too long for a file system."""
    room = 255 - len(os.fsencode(ending))  # bytes; the limit of nearly every file system
    while stem and len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + ending


def _must_copy(file: DataFile, target: Path, folder: Path) -> bool | None:
    """Return True if ``target`` is free, False if it has the file's bytes, and None if it is another file."""
    if not os.path.lexists(target):
        return True
    if not target.is_file() or not Path(os.path.realpath(target)).is_relative_to(os.path.realpath(folder)):
        return None  # a link that leads elsewhere: ONNX Runtime refuses it once the model itself is not a link
    return False if os.path.samefile(file.source, target) or filecmp.cmp(file.source, target, shallow=False) else None


def read_range(tensor: ir.ExternalTensor) -> bytes:
    """Return the bytes of an external tensor, after a check of its location; onnx_ir would refuse a linked file."""
    location = _check_location(os.fspath(tensor.location), f"tensor '{tensor.name}'")
    path = os.path.join(tensor.base_dir, location)
    try:
        with open(path, "rb") as file:
            file.seek(tensor.offset or 0)
            return file.read(tensor.nbytes)
    except OSError as error:
        raise PadopsError(f"tensor '{tensor.name}': its data file {path} cannot be read: {error.strerror}") from error
