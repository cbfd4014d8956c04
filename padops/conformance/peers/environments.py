"""The peers in ``isolated/``: each has an environment of its own, which ``python3 scripts/peers.py NAME`` makes.

A file there has a literal ``ENVIRONMENT``, which is read without importing the file, since what it imports is
elsewhere:

- ``name`` and the fields of ``PeerRow`` that are not as usual;
- ``requires``: for pip, each with its version. padops' own files need NumPy, ml_dtypes and onnx there, and the
  converter needs onnx-ir;
- or ``node``: names of npm and their versions, and the program beside the file that asks them, in ``program``; for the
  peers below it gets the key as its argument;
- ``debian``: packages of Debian, which are unpacked in the environment, in ``debian``, and not installed;
- ``provider``: the execution provider of onnxruntime that the environment has, where it is for one. ``within`` is of
  all its peers, too, and so is ``form``;
- ``without_pad``: the same fields of the peer that runs models without Pad there, by ``run_without_pad``, where there
  is one;
- ``beside``: those of the one that runs padops beside the provider, by ``run_beside``;
- ``lowered_for``: those of the one that runs models that padops has lowered for the provider, by ``run_lowered_for``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from padops.conformance.peers.parts import value_of
from padops.conformance.peers.row import ALL, PeerRow

ISOLATED = Path(__file__).with_name("isolated")
# Peers that share the environment, by what ENVIRONMENT calls them: their function, and the families where it names
# none.
SHARING = {
    "without_pad": ("run_without_pad", ALL),
    "beside": ("run_beside", ("onnx",)),
    "lowered_for": ("run_lowered_for", ALL),
}
OF_FILE = ("requires", "debian", "node", "program", *SHARING)  # the rest of ENVIRONMENT is of the row
OF_PROVIDER = ("provider", "within", "form")  # what its peers share
STAMP = "padops-stamp.json"  # scripts/peers.py writes it last


def isolated_rows() -> Iterator[PeerRow]:
    """A row for each file of ``isolated/``, in the order of their names, then those that share an environment."""
    files = {file: environment_of(file) for file in sorted(ISOLATED.glob("[!_]*.py"))}
    for file, stated in files.items():
        yield _row(file, stated, {key: value for key, value in stated.items() if key not in OF_FILE}, "run_case", ())
    for key, (function, families) in SHARING.items():
        shared = [(file, stated, stated[key]) for file, stated in files.items() if key in stated]
        for file, stated, fields in sorted(shared, key=lambda row: str(row[2]["name"])):
            of_provider = {name: stated[name] for name in OF_PROVIDER if "provider" in stated and name in stated}
            yield _row(file, stated, {"families": families, **of_provider, **fields}, function, (key,))


def _row(
    file: Path, stated: dict[str, Any], fields: dict[str, Any], function: str, arguments: tuple[str, ...]
) -> PeerRow:
    if "program" in stated:
        fields |= {"command": ("node", str(ISOLATED / stated["program"]), *arguments)}
    entry_point = "" if "program" in stated else f"isolated.{file.stem}:{function}"
    return PeerRow(entry_point=entry_point, environment=stated["name"], **fields)


def vulkan(prefix: Path) -> tuple[Path, Path]:
    """The folder of the Vulkan in software in WebGPU's environment, and the file that describes it."""
    folder = prefix / "debian" / "usr" / "lib" / "chromium"
    return folder, folder / "vk_swiftshader_icd.json"


def environment_of(file: Path) -> dict[str, Any]:
    """The ``ENVIRONMENT`` of a file.

    Raises:
        ValueError: It has none.
    """
    stated: dict[str, Any] | None = value_of(file, "ENVIRONMENT")
    if stated is None:
        raise ValueError(f"{file}: there is no ENVIRONMENT")
    return stated


def file_of(row: PeerRow) -> Path:
    """The file of a peer of padops' own list."""
    if row.command:
        return Path(row.command[1]).with_suffix(".py")
    return ISOLATED.parent / f"{row.entry_point.split(':')[0].replace('.', '/')}.py"


def environments() -> Path:
    """The folder of the environments: ``PADOPS_ENVIRONMENTS``, or ``build/peers`` of the checkout."""
    stated = os.environ.get("PADOPS_ENVIRONMENTS")
    return Path(stated) if stated else Path(__file__).resolve().parents[3] / "build" / "peers"


def is_made(name: str) -> bool:
    """Whether an environment is there, and whole."""
    return (environments() / name / STAMP).is_file()


def python_of(name: str) -> Path:
    """The interpreter of an environment."""
    return environments() / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
