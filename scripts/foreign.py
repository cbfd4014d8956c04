"""Gets run_wheels.py's parts for other machines: Debian's Python for aarch64, and packages for other platforms.

This machine's apt-get and pip download them; they are unpacked into folders and used there.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import environment

ROOT = environment.ROOT


def unpack_debian(folder: Path) -> Path:
    """Unpacks Debian's Python for aarch64 with its libraries; returns the root to run it in."""
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
    """Returns the Python in an unpacked system."""
    (found,) = (path for path in (root / "usr" / "bin").glob("python3.*") if path.name[8:].isdigit())
    return found


def python_version(root: Path) -> str:
    """Returns the version of the Python in an unpacked system, in pip's form: 3.11."""
    return python_of(root).name[6:]


def install(site: Path, tag: str, version: str, runtime: str, wheel: Path) -> Path:
    """Unpacks padops' wheel, onnxruntime and the tests' packages for another platform; returns the folder."""
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    command += ["--target", site, "--only-binary", ":all:", "--implementation", "cp", "--python-version", version]
    for platform in platforms(tag):
        command += ["--platform", platform]
    wanted = [f"{wheel}[convert]", f"onnxruntime=={runtime}", "pytest", "hypothesis"]
    environment.step(f"installing onnxruntime {runtime} for {tag}", [*command, *wanted], site.parent)
    return site


def platforms(tag: str) -> list:
    """Returns the platform tags whose wheels run on the platform of a tag."""
    if not tag.startswith("manylinux_2_"):
        return [tag]
    newest, processor = tag.split("_", 3)[2:]
    return [f"manylinux2014_{processor}", *(f"manylinux_2_{glibc}_{processor}" for glibc in range(17, int(newest) + 1))]


def copy_tests(checkout: Path) -> Path:
    """Copies the tests to a folder without the package's sources, so that they import the installed package.

    Returns the script that runs a selection of tests.
    """
    shutil.rmtree(checkout, ignore_errors=True)
    for name in ("tests", "models", "scripts"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, checkout / name)
    return checkout / "scripts" / "wheel_tests.py"
