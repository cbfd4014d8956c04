"""Build everything that a release of padops publishes, twice, and install each artefact in a new environment.

    python3 scripts/release.py --dry-run [TARGET ...] [--out DIR]

Nothing is published from here: .github/workflows/wheels.yml publishes, for a tag. The sources are the last commit's.
The artefacts go into DIR (dist):

- the sdist, and a wheel for each target of scripts/build_wheels.py (default: all);
- the wheel ``onnxruntime-ep-padops``, with the names that onnxruntime's guidance requires of a plugin's package;
- the NuGet package, with the libraries of all targets and a source in C#;
- for each target a zip of the library, its C header and its CMake package;
- the recipe for conda, the pages, the archive of cases, and SHA256SUMS.

Two rounds, in two folders, must make the same bytes. Then twine and scripts/build_wheels.py check the sdist and the
wheels. The script installs the sdist and this machine's wheels into new environments and runs the self-check there; for
the sdist, it also runs scripts/wheel_tests.py. CMake must find the package in the zip, and a parser must accept the
recipe. With PADOPS_REPOSITORY=ADDRESS, the metadata and the recipe have the address.
"""

import argparse
import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import build_wheels
import environment
import help_first  # noqa: F401

ROOT, WORK = environment.ROOT, environment.ROOT / "build" / "release"
PARTS = ROOT / "scripts" / "release"
REPOSITORY = os.environ.get("PADOPS_REPOSITORY", "")
NUGET = "Padops.ML.OnnxRuntime.EP"
RIDS = {
    "linux-x86_64": "linux-x64", "linux-aarch64": "linux-arm64", "macos-arm64": "osx-arm64",
    "macos-x86_64": "osx-x64", "windows-amd64": "win-x64", "windows-arm64": "win-arm64",
}  # fmt: skip
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />
  {}
</Types>
"""
RELATIONS = """<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{}.nuspec" Id="R1" />
</Relationships>
"""


def main(arguments: list) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(RIDS)} (default: all)")
    parser.add_argument("--dry-run", action="store_true", required=True, help="publish nothing; always required")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.targets if name not in RIDS]:
        parser.error(f"there is no target {unknown[0]!r}: expected some of {', '.join(RIDS)}")
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    if changed:  # the artefacts would mix the commit with the changes
        print(f"error: commit first; git status lists uncommitted files: {len(changed.splitlines())}", file=sys.stderr)
        return 1
    os.environ.setdefault("SOURCE_DATE_EPOCH", build_wheels.EPOCH)
    tools, python = build_wheels.tools(), environment.ensure(["docs", "test"])
    rounds = []
    for number in (1, 2):
        source, out = export(WORK / f"source-{number}"), WORK / f"round-{number}"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        make(source, out, options.targets or list(RIDS), tools, python)
        rounds.append({path.name: path.read_bytes() for path in sorted(out.iterdir())})
    if other := [name for name in rounds[0] if rounds[0][name] != rounds[1].get(name)]:
        sys.exit(f"error: the second round made other bytes: {', '.join(other)}")
    wrong = check(WORK / "round-1", tools)
    options.out.mkdir(parents=True, exist_ok=True)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in rounds[0].items()}
    for name, content in rounds[0].items():
        (options.out / name).write_bytes(content)
        print(f"{sums[name][:16]}… {len(content):>10,} bytes  {name}")
    (options.out / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


def export(folder: Path) -> Path:
    """Copies the last commit, with the repository's address, if given, in its metadata."""
    shutil.rmtree(folder, ignore_errors=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    tarfile.open(fileobj=io.BytesIO(archive)).extractall(folder)
    if REPOSITORY:
        project = folder / "pyproject.toml"
        urls = f'[project.urls]\nRepository = "{REPOSITORY}"\nChangelog = "{REPOSITORY}/blob/main/CHANGELOG.md"\n\n'
        project.write_text(project.read_text().replace("[project.scripts]", f"{urls}[project.scripts]"))
    return folder


def make(source: Path, out: Path, targets: list, tools: Path, python: Path) -> None:
    """Builds all artefacts from one copy of the sources."""
    sdist = f"from scikit_build_core.build import build_sdist; build_sdist({str(out)!r})"
    environment.step("sdist", [tools, "-c", sdist], source)
    project = (source / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.*)"', project, re.M)[1]
    about = {"VERSION": version, "ID": NUGET, "DESCRIPTION": re.search(r'^description = "(.*)"', project, re.M)[1]}
    libraries = {}
    for name in targets:
        with zipfile.ZipFile(build_wheels.build(tools, name, out, source)) as wheel:
            parts = {
                part: wheel.read(part) for part in wheel.namelist() if re.match(r"padops/(lib|include/|cmake/)", part)
            }
        write_zip(out / f"padops-{version}-{name}.zip", {**parts, "padops/LICENSE": (ROOT / "LICENSE").read_bytes()})
        library = next(part for part in parts if part.startswith("padops/lib"))
        libraries[f"runtimes/{RIDS[name]}/native/{Path(library).name}"] = parts[library]
    write_ep_wheel(out, about)
    write_nuget(out, about, libraries)
    (package,) = out.glob("*.tar.gz")
    about["SHA256"] = hashlib.sha256(package.read_bytes()).hexdigest()
    about["URL"] = f"{REPOSITORY}/releases/download/v{version}/{package.name}" if REPOSITORY else package.name
    (out / "recipe.yaml").write_text(filled("recipe.yaml", about))
    cases = [python, ROOT / "scripts" / "export_cases.py", out / f"padops-{version}-cases.zip"]
    environment.step("cases", cases, ROOT)
    environment.step("pages", [sys.executable, ROOT / "scripts" / "docs.py"], ROOT)
    pages = {path.relative_to(ROOT / "build").as_posix(): path.read_bytes()
             for path in sorted((ROOT / "build" / "site").rglob("*")) if path.is_file()}  # fmt: skip
    write_zip(out / f"padops-{version}-docs.zip", pages)


def filled(name: str, about: dict) -> str:
    """Returns the text of a file of scripts/release, with its words between two @ replaced."""
    text = (PARTS / name).read_text(encoding="utf-8")
    for word, value in about.items():
        text = text.replace(f"@{word}@", value)
    return text


def write_zip(path: Path, content: dict) -> None:
    """Writes a zip file of these parts, in this order, without the time of the build."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in content.items():
            entry = zipfile.ZipInfo(name)  # dated 1980
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, part, zipfile.ZIP_DEFLATED)


def write_ep_wheel(out: Path, about: dict) -> None:
    """Writes the wheel with the name of a plugin's package, which needs padops in the same version."""
    folder = f"onnxruntime_ep_padops-{about['VERSION']}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: onnxruntime-ep-padops\nVersion: {about['VERSION']}\n"
    metadata += "Summary: The execution provider of padops: every Pad operator, native in ONNX Runtime\nLicense: MIT\n"
    metadata += f"Requires-Python: >=3.10\nRequires-Dist: padops=={about['VERSION']}\n"
    metadata += "Description-Content-Type: text/markdown\n\n`import onnxruntime_ep_padops` has `get_library_path()`, "
    metadata += "`get_ep_name()` and `get_ep_names()` of [padops](https://pypi.org/project/padops).\n"
    content = {
        "onnxruntime_ep_padops/__init__.py": (PARTS / "ep_init.py").read_bytes(),
        f"{folder}/METADATA": metadata.encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nGenerator: padops\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, part in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(part).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(part)}\n"
    content[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n".encode()
    write_zip(out / f"onnxruntime_ep_padops-{about['VERSION']}-py3-none-any.whl", content)


def write_nuget(out: Path, about: dict, libraries: dict) -> None:
    """Writes the NuGet package: the libraries by platform, and the source that finds them."""
    header = (ROOT / "padops" / "include" / "padops.h").read_text(encoding="utf-8")
    names = re.findall(r'_PROVIDER "\w+"', header)
    code = filled("Padops.cs", {"NAMES": ", ".join(name.partition(" ")[2] for name in names)})
    content = {
        f"{NUGET}.nuspec": filled("padops.nuspec", about).encode(),
        "README.md": (ROOT / "README.md").read_bytes(),
        "contentFiles/cs/any/Padops.cs": code.encode(),
        **libraries,
    }
    kinds = sorted({Path(name).suffix[1:] for name in content})
    rows = [f'<Default Extension="{kind}" ContentType="application/octet" />' for kind in kinds]
    first = {
        "[Content_Types].xml": TYPES.format("\n  ".join(rows)).encode(),
        "_rels/.rels": RELATIONS.format(NUGET).encode(),
    }
    write_zip(out / f"{NUGET}.{about['VERSION']}.nupkg", {**first, **content})


def check(out: Path, tools: Path) -> list:
    """Lists the artefacts' errors."""
    (sdist,) = out.glob("*.tar.gz")
    wheels, plugin = sorted(out.glob("padops-*.whl")), next(out.glob("onnxruntime_ep_padops-*.whl"))
    recipe = "import rattler_build, sys; rattler_build.Stage0Recipe.from_file(sys.argv[1])"
    steps = {
        "twine": [tools, "-m", "twine", "check", "--strict", sdist, *wheels, plugin],
        "wheels": [tools, ROOT / "scripts" / "build_wheels.py", "--inside", *wheels],
        "recipe": [tools, "-c", recipe, out / "recipe.yaml"],
    }
    wrong = [f"{name}: exit code {code}" for name, step in steps.items() if (code := environment.hand_over(step))]
    here = [wheel for wheel in wheels if "manylinux" in wheel.name and os.uname().machine in wheel.name]
    with tarfile.open(sdist) as archive:
        archive.extractall(WORK)
    unpacked = WORK / sdist.name.removesuffix(".tar.gz")
    tests = ["hypothesis", "pytest"]
    wrong += installed("the sdist", [f"{sdist}[cpu,convert]", *tests], [unpacked / "scripts" / "wheel_tests.py"])
    for wheel in here:
        asks = "import onnxruntime, onnxruntime_ep_padops as ep; "
        asks += "onnxruntime.register_execution_provider_library('padops', ep.get_library_path()); "
        asks += "assert set(ep.get_ep_names()) <= {device.ep_name for device in onnxruntime.get_ep_devices()}"
        wrong += installed("the wheels", [f"{wheel}[cpu,convert]", plugin], ["-c", asks])
        wrong += found_by_cmake(next(out.glob(f"padops-*-linux-{os.uname().machine}.zip")), tools)
    return wrong


def installed(name: str, packages: list, then: list) -> list:
    """Lists the errors of packages in a new environment: of padops' self-check, and of one more command."""
    venv = WORK / "installed"
    environment.step(f"{name}: a new environment", [sys.executable, "-m", "venv", "--clear", venv], WORK)
    python = environment.interpreter(venv)
    environment.step(f"{name}: installing", [python, "-m", "pip", "install", "-q", *packages], WORK)
    for command in (["-m", "padops", "info"], then):
        ran = subprocess.run([str(part) for part in (python, *command)], cwd=WORK, stdout=subprocess.DEVNULL)
        if ran.returncode:
            return [f"{name}: {command[-1]}: exit code {ran.returncode}"]
    return []


def found_by_cmake(package: Path, tools: Path) -> list:
    """Lists the errors of compiling a program of the pages with find_package(padops) alone."""
    folder = WORK / "program"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    stand_in = ROOT / "tests" / "cpp" / "stand_in"
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\nproject(program CXX)\nfind_package(padops 0.1 REQUIRED)\n"
        f"add_library(program OBJECT {ROOT}/tests/cpp/provider.cpp)\n"
        f"target_include_directories(program PRIVATE {stand_in})\n"
        "target_link_libraries(program PRIVATE padops::padops)\n"
    )
    cmake = tools.with_name("cmake")
    for command in ([cmake, "-S", folder, "-B", folder / "build", f"-Dpadops_ROOT={folder / 'padops'}"],
                    [cmake, "--build", folder / "build"]):  # fmt: skip
        if code := environment.hand_over(command):
            return [f"{package.name}: CMake: exit code {code}"]
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
