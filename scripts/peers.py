"""Make the environments of the peers in scripts/isolated/; padops conformance compares with the ones that exist.

    python3 scripts/peers.py [NAME ...]
    python3 scripts/peers.py --list

Without names, the script makes all. Each file of scripts/isolated/ lists its environment's packages and versions; other
peers may share the environment. All files go only into build/peers/NAME, or into the folder PADOPS_ENVIRONMENTS. An
environment that already has these versions stays. A peer in JavaScript needs node and npm.
"""

import ast
import json
import os
import shutil
import sys
from pathlib import Path

import environment
import help_first  # noqa: F401

ISOLATED = environment.ROOT / "scripts" / "isolated"
SHARING = ("without_pad", "beside", "lowered_for")  # peers that share the environment, by their key in ENVIRONMENT
STAMP = "padops-stamp.json"  # written last: padops ignores an environment without it


def stated() -> dict:
    """Return the ENVIRONMENT of each file, by the peer's name."""
    found = {}
    for file in sorted(ISOLATED.glob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ENVIRONMENT":
                about = ast.literal_eval(node.value)
                found[about["name"]] = about
    shared = {about[key]["name"]: about["name"] for about in found.values() for key in SHARING if key in about}
    return {**found, **{name: {"name": name, "environment": shared[name]} for name in sorted(shared)}}


def environment_of(about: dict) -> str:
    """Return the name of a peer's environment: its own, unless it shares the environment of another peer."""
    return about.get("environment", about["name"])


def folder_of(name: str) -> Path:
    """Return the folder of an environment."""
    environments = os.environ.get("PADOPS_ENVIRONMENTS") or environment.ROOT / "build" / "peers"
    return Path(environments).resolve() / name


def is_made(about: dict) -> bool:
    """Return whether a peer's environment exists and is complete."""
    return (folder_of(environment_of(about)) / STAMP).is_file()


def ensure(name: str, about: dict) -> None:
    """Create an environment, unless it exists with these versions.

    Raises:
        SystemExit: A step failed; its output has been printed.
    """
    folder = folder_of(name)
    wanted = {"requires": list(about.get("requires", [])), "node": about.get("node", {}), "python": sys.version}
    if about.get("debian"):
        wanted["debian"] = list(about["debian"])
    if about.get("node"):
        del wanted["python"]
    try:
        if json.loads((folder / STAMP).read_text()) == wanted:
            return
    except (FileNotFoundError, ValueError):
        pass
    if folder.exists():
        shutil.rmtree(str(folder))
    folder.mkdir(parents=True)
    if about.get("node"):
        _install_for_node(name, folder, about["node"])
    else:
        base = (
            getattr(sys, "_base_executable", None) or sys.executable
        )  # the caller may be a virtual environment itself
        environment.step(f"{name}: creating its environment", [base, "-m", "venv", folder], folder)
        pip = [environment.interpreter(folder), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        environment.step(f"{name}: installing {', '.join(about['requires'])}", [*pip, *about["requires"]], folder)
    if about.get("debian"):
        _unpack_from_debian(name, folder, about["debian"])
    (folder / STAMP).write_text(json.dumps(wanted))


def _unpack_from_debian(name: str, folder: Path, packages: tuple) -> None:
    """Unpacks Debian's packages into an environment, under debian/, without installing them."""
    missing = [tool for tool in ("apt-get", "dpkg") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"error: {name} needs {' and '.join(missing)} of Debian, which are not on the PATH")
    unpacked = folder / "debian"
    unpacked.mkdir()
    environment.step(f"{name}: downloading {', '.join(packages)}", ["apt-get", "download", *packages], unpacked)
    for package in sorted(unpacked.glob("*.deb")):
        environment.step(f"{name}: unpacking {package.name}", ["dpkg", "-x", package, unpacked], unpacked)
        package.unlink()


def _install_for_node(name: str, folder: Path, packages: dict) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        sys.exit(f"error: {name} needs node and npm, which are not on the PATH")
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
    # Packages' install scripts would fetch builds for graphics cards, which are not used here.
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund"]
    what = ", ".join(f"{package} {version}" for package, version in packages.items())
    environment.step(f"{name}: installing {what}", [npm, "install", *quiet], folder)


def main(arguments: list) -> int:
    peers = stated()
    if arguments == ["--list"]:
        for name, about in peers.items():
            print(f"{name}: {folder_of(environment_of(about)) if is_made(about) else 'not made'}")
        return 0
    unknown = [name for name in arguments if name not in peers]
    if unknown:
        print("error: no such peer: {}; there are {}".format(unknown[0], ", ".join(peers)), file=sys.stderr)
        return 2
    for name in dict.fromkeys(environment_of(peers[peer]) for peer in arguments or peers):
        ensure(name, peers[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
