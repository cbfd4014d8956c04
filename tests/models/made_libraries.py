"""Small libraries for Linux and Windows, which hold names and nothing that runs: for the checks of wheels."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

ENTRY_POINTS = ("CreateEpFactories", "RegisterCustomOps", "ReleaseEpFactory", "padops_describe")


def elf(folder: Path, exports: Sequence[str] = ENTRY_POINTS, needed: str = "libc.so.6", version: str = "") -> bytes:
    """For this machine; ``version``: of a symbol of the library that it needs, such as ``"GLIBC_2.28"``."""
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
