"""Fetch the real models with Pads that the tests and the demo convert: the .onnx files of pinned packages.

    python3 scripts/fetch_models.py [PACKAGE ...]

They lie in $PADOPS_CACHE, else $XDG_CACHE_HOME/padops/models, else ~/.cache/padops/models. Each package and each file
is checked against the SHA-256 written here; what is there already and right is not fetched again, so that a full
cache needs no network. Nothing of a package is run or installed.
"""

from __future__ import annotations

import argparse
import hashlib
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
    """A model that could not be had, or is not the one that was pinned."""


@dataclass(frozen=True)
class Package:
    """One wheel (all of them are pure Python, so any platform gets the same file) and the models in it."""

    version: str
    sha256: str
    folder: str  # in the wheel
    models: Mapping[str, str]  # file in that folder: its SHA-256


PACKAGES: dict[str, Package] = {
    "basic-pitch": Package(
        "0.4.0",
        "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
        "basic_pitch/saved_models/icassp_2022",
        {
            "nmp.onnx": "2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
        },
    ),
    "silero-vad": Package(
        "6.2.3",
        "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
        "silero_vad/data",
        {
            "silero_vad.onnx": "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
            "silero_vad_16k_op15.onnx": "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
            "silero_vad_16k_sequence.onnx": "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
            "silero_vad_half.onnx": "1e0b195ad4806595ef4466f419d16fca7e4afcfc6669b8c0b5f76ea87547c769",
            "silero_vad_op18_ifless.onnx": "7671cd04b004e9076da0d4a7b1a5aec36adf161c39230c1cb94a4fd5db6bbd28",
            "silero_vad_openvino_16k.onnx": "7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
        },
    ),
    "faster-whisper": Package(
        "1.2.1",
        "79a66ad50688c0b794dd501dc340a736992a6342f7f95e5811be60b5224a26a7",
        "faster_whisper/assets",
        {
            "silero_vad_v6.onnx": "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2",
        },
    ),
    "swift-f0": Package(
        "0.3.0",
        "d7240c7c94b1d3e8f0e0cd2701b79be89a0f23a19cd5f944895a6518ecad72f3",
        "swift_f0",
        {
            "model.onnx": "6385e8c2ebc3872e82c9ff5946228de44cd3be77a750ea53698b7dbfe94b0a22",
        },
    ),
    "onnx-asr": Package(
        "0.12.0",
        "5e7ceca454609819ea7833f61e2302e0c8f6ece4f8a78b66c5daba53cb51de4a",
        "onnx_asr/preprocessors/data",
        {
            "gigaam_v2.onnx": "abc06381785bc6c4b76db6bf99803388edca7d44efa5a181eb1c2b894f3ff2f8",
            "kaldi.onnx": "7d0f04ed3aa0775ac690c5bb3680cdef3e68807ee3ce415f0ca47deeeefc9bce",
            "nemo80.onnx": "7ab6b0d1f57832e56f59aa7cab4289de50df7f8d5296cdfd281d9c9b7b8d73e0",
            "nemo128.onnx": "5b4a84c52eeaa615dc46d781cc7e4598f9b432184831d57493c48adcd01371a9",
            "wespeaker.onnx": "4fcc0d9897bf960a304615cdb95ea2831f26dd409fcd1971b4ea831c49256cfd",
            "whisper80.onnx": "8161c22a310df637a56029c037c79c9eb52a211a36b20935a1d0ba32bdb43d8f",
        },
    ),
    "rapidocr": Package(
        "3.10.0",
        "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050",
        "rapidocr/models",
        {
            "PP-OCRv6_det_small.onnx": "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
            "PP-OCRv6_rec_small.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            "ch_ppocr_mobile_v2.0_cls_mobile.onnx": "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        },
    ),
}


def cache_folder() -> Path:
    """Where the models are kept: outside the tree, and one place for all checkouts."""
    if chosen := os.environ.get("PADOPS_CACHE"):
        return Path(chosen).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "padops" / "models"


def fetch(names: Iterable[str] | None = None) -> dict[str, Path]:
    """Get models, from the cache where it has them and else from the package index.

    Args:
        names: Packages, as PACKAGES names them; all of them where None.

    Returns:
        The file of each model, named ``package/file``, such as ``silero-vad/silero_vad.onnx``.

    Raises:
        FetchError: An unknown name, no network, a package or a model whose hash is not the pinned one.
    """
    chosen = list(PACKAGES) if names is None else list(names)
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
    """What is wrong with the models in a folder: nothing where it can be used."""
    faults = []
    for file, expected in package.models.items():
        path = folder / file
        if not path.is_file():
            faults.append(f"{path} is missing")
        elif (actual := sha256(path)) != expected:
            faults.append(f"{path} has the SHA-256 {actual}, expected {expected}")
    return faults


def _fill(folder: Path, name: str, package: Package) -> None:
    """Make the folder anew beside its place and move it there whole, so that a half-made one never carries its name."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        wheel = _download(name, package, work / "wheel")
        (work / "models").mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for file in package.models:
                with archive.open(f"{package.folder}/{file}") as source, (work / "models" / file).open("wb") as target:
                    shutil.copyfileobj(source, target)
        if faults := _faults(work / "models", package):
            raise FetchError(f"{name} {package.version}: {'; '.join(faults)}")
        if folder.exists():
            folder.rename(work / "replaced")
        try:
            (work / "models").rename(folder)
        except OSError:  # another process was as quick as this one: its files are as good
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
    parser.add_argument("package", nargs="*", help=f"one or more of {', '.join(PACKAGES)} (default: all)")
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
