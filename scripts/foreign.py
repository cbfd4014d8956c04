"""What run_wheels.py needs of other machines: Debian's Python for aarch64, and packages for other platforms.

All of it is downloaded by this machine's apt-get and pip, unpacked into folders, and used from there.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import environment

ROOT = environment.ROOT
# Those that say what the kernels and the two ways into a session give, and build nothing in C++.
# fmt: off
TESTS = (*(f"csrc/test_{x}" for x in ("describe", "dialect_kernels", "errors", "float16", "inference", "inputs", "interior",
                                      "kernels", "property", "rows")),
         *(f"spec/test_{x}" for x in ("plan", "shapes", "specifications", "specifications_dialects")),
         *(f"runtime/test_{x}" for x in ("provider", "session")))
# fmt: on
# QEMU ends some programs with a fault while their libraries are taken down: the code of the tests is kept before that.
RUN_TESTS = "import os, sys, pytest; code = pytest.main(sys.argv[1:]); sys.stdout.flush(); os._exit(code)"


def unpack_debian(folder: Path) -> Path:
    """Debian's Python for aarch64 and the libraries it needs, unpacked; gives the root to run it in."""
    root = folder / "root"
    if root.is_dir():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "state" / "status").touch()
    settings = {
        "APT::Architecture": '"arm64"',
        "APT::Architectures": '{ "arm64"; }',
        "Dir::State": f'"{folder}/state"',
        "Dir::State::status": f'"{folder}/state/status"',
        "Dir::Cache": f'"{folder}/cache"',
    }
    config = folder / "apt.conf"
    config.write_text("".join(f"{key} {value};\n" for key, value in settings.items()))
    apt = ["env", f"APT_CONFIG={config}", "apt-get", "-o", "APT::Sandbox::User=root"]
    environment.step("asking Debian for its packages for arm64", [*apt, "update"], folder)
    wanted = ["install", "--download-only", "--no-install-recommends", "-y", "python3", "libstdc++6"]
    environment.step("downloading Python for arm64", [*apt, *wanted], folder)
    made = folder / "unpacking"
    for package in sorted((folder / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(made)], check=True)
    made.rename(root)
    return root


def python_of(root: Path) -> Path:
    """The Python in an unpacked system."""
    (found,) = (path for path in (root / "usr" / "bin").glob("python3.*") if path.name[8:].isdigit())
    return found


def python_version(root: Path) -> str:
    """Its version, as pip wants it: 3.11."""
    return python_of(root).name[6:]


def install(site: Path, tag: str, version: str, runtime: str, wheel: Path) -> Path:
    """A wheel of padops, an onnxruntime and what the tests need, for another platform; gives the folder."""
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    command += ["--target", site, "--only-binary", ":all:", "--implementation", "cp", "--python-version", version]
    for platform in platforms(tag):
        command += ["--platform", platform]
    wanted = [f"{wheel}[convert]", f"onnxruntime=={runtime}", "pytest", "hypothesis"]
    environment.step(f"installing onnxruntime {runtime} for {tag}", [*command, *wanted], site.parent)
    return site


def platforms(tag: str) -> list:
    """The names of platforms whose wheels run where those of a tag do."""
    if not tag.startswith("manylinux_2_"):
        return [tag]
    newest, processor = tag.split("_", 3)[2:]
    return [f"manylinux2014_{processor}", *(f"manylinux_2_{glibc}_{processor}" for glibc in range(17, int(newest) + 1))]


def test_command(root: Path, site: Path, checkout: Path) -> list:
    """How the tests are run by the Python of an unpacked system.

    They get a folder without the package's sources: what they import is what the wheel has installed.
    """
    shutil.rmtree(checkout, ignore_errors=True)
    for name in ("tests", "models", "scripts"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, checkout / name)
    chosen = [f"tests/{name}.py" for name in TESTS]
    code = f"import sys; sys.path.insert(0, {str(site)!r}); {RUN_TESTS}"
    return [python_of(root), "-c", code, "-q", "-p", "no:cacheprovider", *chosen]
