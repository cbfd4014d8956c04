"""Small libraries for Linux, macOS and Windows, which hold names and nothing that runs: for the checks of wheels."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

ENTRY_POINTS = ("CreateEpFactories", "RegisterCustomOps", "ReleaseEpFactory", "padops_describe")
ARM64 = 0x0100000C


def elf(folder: Path, exports: Sequence[str] = ENTRY_POINTS, needed: str = "libc.so.6", version: str = "") -> bytes:
    """For this machine, made by the compiler.

    Args:
        folder: Where to make it.
        exports: The names that it shows.
        needed: A library that it needs.
        version: A symbol version of that library that it needs, such as ``"GLIBC_2.28"``.
    """
    (folder / "needed.c").write_text("int wanted(void) { return 1; }\n")
    (folder / "needed.map").write_text(f"{version} {{ global: wanted; }};\n" if version else "{ global: wanted; };\n")
    shown = "".join(f"int {name}(void) {{ return wanted(); }}\n" for name in exports)
    (folder / "made.c").write_text(f"int wanted(void);\n{shown}")
    shared = ["gcc", "-shared", "-fPIC", "-nostdlib"]
    commands = [
        [*shared, "needed.c", "-Wl,--version-script=needed.map", f"-Wl,-soname,{needed}", "-o", "needed.so"],
        [*shared, "made.c", "needed.so", "-o", "made.so"],
    ]
    for command in commands:
        subprocess.run(command, cwd=folder, check=True)
    return (folder / "made.so").read_bytes()


def macho(
    exports: Sequence[str] = ENTRY_POINTS,
    needed: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    processor: int = ARM64,
    signed: bool = True,
) -> bytes:
    """For macOS: the load commands, and the tree of the names that it shows."""
    shown = export_tree(exports)
    named = [load_command(0xD, "@rpath/libpadops.so"), *(load_command(0xC, name) for name in needed)]
    size = sum(map(len, named)) + 72 + 48 + 16 * signed
    at, end = 32 + size, len(shown) + 8
    head = struct.pack("<8I", 0xFEEDFACF, processor, 0, 6, len(named) + 2 + signed, size, 0, 0)
    segment = struct.pack("<2I16s4Q4I", 0x19, 72, b"__LINKEDIT", at, end, at, end, 1, 1, 0, 0)
    names = struct.pack("<12I", 0x80000022, 48, *[0] * 8, at, len(shown))
    signature = struct.pack("<4I", 0x1D, 16, at + len(shown), 8) if signed else b""
    return head + b"".join(named) + segment + names + signature + shown + b"\0" * 8


def load_command(kind: int, name: str) -> bytes:
    """The name of a library: of this one (0xD), or of one that it needs (0xC)."""
    raw = name.encode() + b"\0"
    raw += b"\0" * (-len(raw) % 8)
    return struct.pack("<6I", kind, 24 + len(raw), 24, 0, 0, 0) + raw


def export_tree(names: Sequence[str]) -> bytes:
    """A root with a leaf for each name; C names have an underscore before them."""
    leaf = bytes([2, 0, 0x10, 0])  # its size, no flags, the address, no children
    first = 2 + sum(len(name) + 4 for name in names)
    places = [first + i * len(leaf) for i in range(len(names))]
    edges = [
        f"_{name}\0".encode() + bytes([place & 0x7F | 0x80, place >> 7]) for name, place in zip(names, places)
    ]  # the place in two bytes of seven bits
    return bytes([0, len(names)]) + b"".join(edges) + leaf * len(names)


def pe(
    exports: Sequence[str] = ENTRY_POINTS, needed: Sequence[str] = ("KERNEL32.dll",), machine: str = "AMD64"
) -> bytes:
    """For Windows."""
    import lief

    made = lief.PE.Factory.create(lief.PE.PE_TYPE.PE32_PLUS).get()
    made.header.machine = getattr(lief.PE.Header.MACHINE_TYPES, machine)
    made.set_export(lief.PE.Export("libpadops.dll", [lief.PE.ExportEntry(name, 0x1000) for name in exports]))
    for name in needed:
        made.add_import(name).add_entry("wanted")
    settings = lief.PE.Builder.config_t()
    settings.exports = settings.imports = True
    return bytes(made.write_to_bytes(settings))
