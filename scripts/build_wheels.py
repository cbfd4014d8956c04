"""Build padops' wheel for each platform, on this machine alone, and check its contents.

    python3 scripts/build_wheels.py [TARGET ...] [--out DIR]
    python3 scripts/build_wheels.py --check WHEEL ...

Without targets, the script builds all wheels, into dist/. The compiler is Zig's, which comes from PyPI with the C
libraries of all targets. The first build of a target compiles its C++ library, which takes minutes; later builds take
seconds. The tools go into build/wheels. The script checks each wheel: its library has the target's format and
processor, exports only the entry points, needs only the system's libraries and no newer glibc than the wheel's name
promises, and is small; auditwheel confirms the name for Linux. --check checks wheels that were built elsewhere.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import environment

ROOT = environment.ROOT
WORK = ROOT / "build" / "wheels"
TOOLS = (
    "auditwheel==6.8.2", "cmake==4.4.4", "lief==1.0.0", "ninja==1.13.2", "py-rattler-build==0.73.0",
    "scikit-build-core==1.1.2", "twine==7.0.0", "wheel==0.48.0", "ziglang==0.17.1",
)  # fmt: skip
EXPORTS = ROOT / "padops" / "csrc" / "linux" / "exports.map"  # lists the functions that every target exports
SBOM = "sboms/padops.cdx.json"  # below .dist-info
EPOCH = str(315_532_800)  # 1980: the earliest time that a zip file can have
MAX_BYTES = 1 << 20  # the most bytes of a library; each target's library has under half of them


class Target(NamedTuple):
    """A platform.

    system, processor: CMake's names.
    triple: Zig's name, with the oldest supported version of the C library or of the system.
    tag: The platform in the wheel's name.
    machine: lief's names for the library's format and processor.
    system_libraries: A pattern of the libraries that the library may need.
    """

    system: str
    processor: str
    triple: str
    tag: str
    machine: str
    system_libraries: str


ADDED_BY_ZIG = {"_mh_dylib_header", "__dso_handle"}  # Zig's linker for macOS exports the library's address
LIBC = r"lib(c|dl|m|pthread)\.so\.\d|ld-linux-[\w-]+\.so\.\d"
APPLE = r"/usr/lib/lib(System\.B|c\+\+\.1)\.dylib"
WINDOWS = r"(?i)(kernel32|ntdll|api-ms-win-crt-[\w-]+)\.dll"
TARGETS = {
    "linux-x86_64": Target("Linux", "x86_64", "x86_64-linux-gnu.2.28", "manylinux_2_28_x86_64", "ELF X86_64", LIBC),
    "linux-aarch64": Target(
        "Linux", "aarch64", "aarch64-linux-gnu.2.28", "manylinux_2_28_aarch64", "ELF AARCH64", LIBC
    ),
    "macos-arm64": Target("Darwin", "arm64", "aarch64-macos.11.0", "macosx_11_0_arm64", "MACHO ARM64", APPLE),
    "macos-x86_64": Target("Darwin", "x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64", "MACHO X86_64", APPLE),
    "windows-amd64": Target("Windows", "AMD64", "x86_64-windows-gnu", "win_amd64", "PE AMD64", WINDOWS),
    "windows-arm64": Target("Windows", "ARM64", "aarch64-windows-gnu", "win_arm64", "PE ARM64", WINDOWS),
}


def main(arguments: list) -> int:
    """Build and check the wheels; return 1 if a wheel is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"some of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR", help="where the wheels go")
    parser.add_argument("--check", action="store_true", help="only check existing wheels")
    options = parser.parse_args(arguments)
    if options.check and not options.targets:
        parser.error("--check needs the wheels to check")
    if not options.check and (unknown := [name for name in options.targets if name not in TARGETS]):
        parser.error(f"there is no target {unknown[0]!r}: expected some of {', '.join(TARGETS)}")
    if options.check and all(unreadable(Path(name)) for name in options.targets):
        return inside(options.targets)  # needs no tools
    python = tools()
    if options.check:
        wheels = [Path(name) for name in options.targets]
    else:
        wheels = [build(python, name, options.out.resolve()) for name in options.targets or TARGETS]
    command = [python, Path(__file__).resolve(), "--inside", *wheels]
    return environment.hand_over(command)


def tools() -> Path:
    """Returns the Python of the environment with the tools; creates the environment if it is missing."""
    venv = WORK / ".venv"  # environment.step() looks for programs here
    stamp = venv / "padops-tools"
    wanted = "\n".join(TOOLS)
    if not stamp.is_file() or stamp.read_text() != wanted:
        WORK.mkdir(parents=True, exist_ok=True)
        environment.step("creating an environment for the tools", [sys.executable, "-m", "venv", "--clear", venv], WORK)
        pip = [environment.interpreter(venv), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        environment.step("installing the tools", [*pip, *TOOLS], WORK)
        stamp.write_text(wanted)
    return environment.interpreter(venv)


def build(python: Path, name: str, out: Path, root: Path = ROOT) -> Path:
    """Builds a target's wheel. The build writes this machine's tag; afterwards, the target's tag replaces that tag."""
    target = TARGETS[name]
    folder = (WORK if root == ROOT else root / "build") / name
    toolchain = write_toolchain(python, target, folder)
    os.environ.setdefault("SOURCE_DATE_EPOCH", EPOCH)  # the time of the files in the wheel, RECORD included
    with tempfile.TemporaryDirectory(dir=str(folder)) as made:
        command = [python, "-m", "pip", "wheel", root, "--no-deps", "--no-build-isolation", "--wheel-dir", made]
        command += [f"--config-settings=build-dir={folder / 'build'}"]
        command += [f"--config-settings=cmake.args=-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
        environment.step(f"{name}: building", command, WORK)
        (wheel,) = Path(made).glob("*.whl")
        retag = [python, "-m", "wheel", "tags", "--remove", "--platform-tag", target.tag, wheel]
        environment.step(f"{name}: naming it {target.tag}", retag, WORK)
        (wheel,) = Path(made).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return wheel.replace(out / wheel.name)


def compiler(python: Path) -> str:
    """Returns the path of Zig's program among the tools."""
    code = "import ziglang; print(ziglang.__path__[0])"
    folder = subprocess.run([str(python), "-c", code], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return (Path(folder.strip()) / ("zig.exe" if os.name == "nt" else "zig")).as_posix()


def write_toolchain(python: Path, target: Target, folder: Path) -> Path:
    """Writes CMake's toolchain file into the target's folder; a changed file rebuilds all."""
    zig = compiler(python)
    toolchain = folder / "toolchain.cmake"
    text = TOOLCHAIN.format(target=target, zig=zig, linked=folder / "new.o" if target.system == "Darwin" else "")
    if not toolchain.is_file() or toolchain.read_text() != text:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if target.system == "Darwin":
            hide_operators(zig, target, folder / "new.o")
        toolchain.write_text(text)
    return toolchain


TOOLCHAIN = """# scripts/build_wheels.py writes this.
set(CMAKE_SYSTEM_NAME {target.system})
set(CMAKE_SYSTEM_PROCESSOR {target.processor})
set(CMAKE_CXX_COMPILER "{zig}" c++)
set(CMAKE_CXX_COMPILER_TARGET {target.triple})
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-s {linked}")
"""


def hide_operators(zig: str, target: Target, made: Path) -> None:
    """Compile Zig's own ``new`` and ``delete`` into an object file that hides them, to be linked first.

    Zig's C++ library exports both, and its linker for macOS has no list of exports. A library that exports them
    replaces other libraries' operators, or uses the operators of another library.
    """
    source = Path(zig).parent / "lib" / "libcxx" / "src"
    command = [zig, "c++", f"--target={target.triple}", "-std=c++23", "-O2", "-c", source / "new.cpp", "-o", made]
    hidden = '-D_LIBCPP_OVERRIDABLE_FUNC_VIS=__attribute__((visibility("hidden")))'
    command += [f"-I{source}", "-D_LIBCPP_BUILDING_LIBRARY", hidden, "-fvisibility-global-new-delete=source"]
    environment.step(f"{target.tag}: compiling the operators new and delete", command, WORK)


def inside(wheels: list) -> int:
    """Checks the wheels, in the environment of the tools; returns 1 if a wheel is wrong."""
    failed = 0
    for wheel in map(Path, wheels):
        wrong = wrong_with(wheel)
        print(f"{wheel.name}: {'; '.join(wrong) if wrong else f'right, {wheel.stat().st_size:,} bytes'}")
        failed += bool(wrong)
    return 1 if failed else 0


def unreadable(wheel: Path) -> str:
    """Returns why a wheel cannot be checked; "" if it can be."""
    if not wheel.is_file():
        return "it is no file" if wheel.exists() else "it does not exist"
    if not re.fullmatch(r"padops-[^-]+-[^-]+-[^-]+-[^-]+\.whl", wheel.name):
        return "its name is not that of a wheel of padops: padops-VERSION-py3-none-PLATFORM.whl"
    return "" if zipfile.is_zipfile(wheel) else "it is not a whole zip file"


def wrong_with(wheel: Path) -> list:
    """Lists a wheel's errors."""
    if why := unreadable(wheel):
        return [why]
    try:
        return wrong_within(wheel)
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        return [f"it is damaged: {error}"]


def wrong_within(wheel: Path) -> list:
    """Lists the errors of a wheel that is a zip file."""
    tags = wheel.stem.split("-")[-1]
    target = next((target for target in TARGETS.values() if target.tag in tags.split(".")), None)
    if target is None:
        return [f"its platform {tags!r} is none of {', '.join(target.tag for target in TARGETS.values())}"]
    with zipfile.ZipFile(wheel) as archive:
        if damaged := archive.testzip():
            return [f"{damaged} is damaged"]
        libraries = [name for name in archive.namelist() if re.search(r"\.(so|dll|dylib|pyd)\b", name)]
        suffix = ".dll" if target.system == "Windows" else ".so"
        if libraries != [f"padops/libpadops{suffix}"]:
            return [f"its libraries are {libraries}"]
        wrong = wrong_with_library(archive.read(libraries[0]), target)
        about = {name.partition(".dist-info/")[2]: name for name in archive.namelist()}
        if missing := [part for part in ("WHEEL", "RECORD", SBOM) if part not in about]:
            return [*wrong, f"it has no .dist-info/{' and no .dist-info/'.join(missing)}"]
        told = set(re.findall(r"^Tag: (.*)$", archive.read(about["WHEEL"]).decode(), re.M))
        if told != {f"py3-none-{tag}" for tag in tags.split(".")}:
            wrong.append(f"its WHEEL file has the tags {', '.join(sorted(told))}, its name has others")
    return wrong + (audit(wheel, target.tag) if target.system == "Linux" else [])


def wrong_with_library(content: bytes, target: Target) -> list:
    """Lists a library's errors."""
    library = read_library(content)
    if library is None:
        return ["its library is of no format that is known"]
    wrong = []
    if library.machine != target.machine:
        wrong.append(f"its library is {library.machine}, expected {target.machine}")
    wanted = set(re.findall(r"(\w+);", EXPORTS.read_text().partition("local:")[0]))
    if library.exported != wanted:
        wrong.append(f"its library exports {sorted(library.exported)}, expected {sorted(wanted)}")
    if foreign := [name for name in library.needed if not re.fullmatch(target.system_libraries, name)]:
        wrong.append(f"its library needs {', '.join(foreign)}")
    newest = tuple(map(int, target.triple.split("gnu.")[1].split("."))) if target.system == "Linux" else ()
    if newer := [v for v in library.versions if not v.startswith("GLIBC_") or numbers(v) > newest]:
        wrong.append(f"its library needs {', '.join(sorted(newer))}")
    if not library.signed:
        wrong.append("its library has no signature, without which no Mac with this processor loads it")
    if len(content) > MAX_BYTES:
        wrong.append(f"its library has {len(content):,} bytes, expected at most {MAX_BYTES:,}")
    return wrong


class Library(NamedTuple):
    """A library's format, processor and exported names, and the libraries and symbol versions that it needs."""

    machine: str
    exported: set
    needed: list
    versions: set = frozenset()
    signed: bool = True


def read_library(content: bytes):
    """Reads a library with lief; None if lief cannot."""
    import lief

    lief.logging.disable()  # lief logs parts that a library for macOS need not have
    binary = lief.parse(list(content))
    if isinstance(binary, lief.ELF.Binary):
        versions = {str(v.name) for s in binary.symbols_version_requirement for v in s.get_auxiliary_symbols()}
        exported = {symbol.name for symbol in binary.exported_symbols}
        return Library(f"ELF {binary.header.machine_type.name}", exported, list(binary.libraries), versions)
    if isinstance(binary, lief.PE.Binary):
        exported = {entry.name for entry in binary.get_export().entries} if binary.has_exports else set()
        return Library(f"PE {binary.header.machine.name}", exported, [library.name for library in binary.imports])
    if isinstance(binary, lief.MachO.Binary):
        processor = binary.header.cpu_type.name
        shown = binary.dyld_exports_trie or binary.dyld_info  # newer linkers write the trie
        exported = {entry.symbol.name.removeprefix("_") for entry in shown.exports} - ADDED_BY_ZIG if shown else set()
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB  # the name of the library itself
        needed = [library.name for library in binary.libraries if library.command != own]
        signed = binary.has_code_signature or processor != "ARM64"
        return Library(f"MACHO {processor}", exported, needed, signed=signed)
    return None


def numbers(version: str) -> tuple:
    return tuple(map(int, re.findall(r"\d+", version)))


def audit(wheel: Path, tag: str) -> list:
    """Lists auditwheel's objections to a wheel for Linux: promises of the name that the wheel does not keep."""
    ran = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    told = re.search(r'platform tag(?: to|:) "([^"]*)"', " ".join(ran.stdout.split()))
    if told is None:
        return [f"auditwheel: {(ran.stdout + ran.stderr).strip()[-300:]}"]
    return [] if numbers(told[1])[:2] <= numbers(tag)[:2] else [f"auditwheel allows it as {told[1]} alone"]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(sys.argv[2:]))
    sys.exit(main(sys.argv[1:]))
