"""scripts/peers.py: an environment for each peer, made once, and whole or not there; without a network."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from padops.conformance import peers as environments

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, which installs nothing: ``ran`` has the commands, and each of ``failing`` in one of them fails."""
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setenv("PADOPS_ENVIRONMENTS", str(tmp_path))
    module = importlib.import_module("peers")
    module.ran, module.failing = [], ()

    def step(label: str, command: list, root: Path) -> None:
        module.ran.append([str(part) for part in command])
        if any(text in module.ran[-1] for text in module.failing):
            raise SystemExit(f"error: {label}")

    monkeypatch.setattr(module.environment, "step", step)
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/bin/{name}")
    return module


def test_it_reads_what_padops_reads(script: ModuleType) -> None:
    rows = {name: row for name, row in environments.PEERS.items() if row.environment}
    assert script.stated().keys() == rows.keys()
    for file in {row.file for row in rows.values()}:
        about = environments.value_of(file, "ENVIRONMENT")
        assert script.stated()[about["name"]] == about
    assert {name: script.environment_of(about) for name, about in script.stated().items()} == {
        name: row.environment for name, row in rows.items()
    }
    assert script.STAMP == environments.STAMP
    assert script.folder_of("tract") == environments.environments() / "tract"


def test_an_environment_is_made_once_and_whole(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Peers share one."""
    script.failing = ("pip",)
    with pytest.raises(SystemExit):
        script.main(["tract"])
    assert not environments.is_made("tract")
    script.ran, script.failing = [], ()
    assert script.main(["without-pad-tract"]) == 0
    (venv, pip) = script.ran
    assert venv[1:3] == ["-m", "venv"] and pip[0] == str(environments.python_of("tract"))
    assert set(script.stated()["tract"]["requires"]) <= set(pip)
    assert [environments.is_made(name) for name in ("tract", "without-pad-tract", "tvm")] == [True, False, False]
    assert script.main(["tract", "without-pad-tract"]) == 0 and len(script.ran) == 2
    assert script.main(["--list"]) == 0
    listed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert listed["without-pad-tract"] == listed["tract"] == str(script.folder_of("tract"))
    assert listed["dask"] == "not made"
    assert script.main([]) == 0
    assert sum("venv" in command for command in script.ran) == 8


def test_files_of_debian_are_unpacked(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script.ensure("new", {"requires": ("numpy==2.4.6",), "debian": ("one",)})
    assert script.ran[-1] == ["apt-get", "download", "one"] and environments.is_made("new")
    package = tmp_path / "other" / "debian" / "one.deb"
    monkeypatch.setattr(script.environment, "step", lambda label, command, root: fetched(command))
    unpacked: list[list[str]] = []

    def fetched(command: list) -> None:
        unpacked.append([*map(str, command)])
        if command[0] == "apt-get":
            package.write_bytes(b"")

    (tmp_path / "other").mkdir()
    script._unpack_from_debian("other", tmp_path / "other", ("one",))
    assert unpacked[-1] == ["dpkg", "-x", str(package), str(package.parent)] and not package.exists()
    monkeypatch.setattr(script.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="new needs apt-get and dpkg of Debian"):
        script._unpack_from_debian("new", tmp_path / "new", ("one",))


def test_other_versions_make_it_anew(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script.main(["onnxruntime-web"])
    old = script.folder_of("onnxruntime-web") / "old"
    old.touch()
    newer = {"onnxruntime-web": {"name": "onnxruntime-web", "node": {"onnxruntime-web": "99.0"}}}
    monkeypatch.setattr(script, "stated", lambda: newer)
    assert script.main([]) == 0 and not old.exists() and len(script.ran) == 2
    assert '"onnxruntime-web": "99.0"' in (script.folder_of("onnxruntime-web") / "package.json").read_text()
    assert all("--ignore-scripts" in command for command in script.ran)
    assert script.main(["mnn"]) == 2
    assert "no such peer: mnn; there are onnxruntime-web" in capsys.readouterr().err
    newer["onnxruntime-web"]["node"]["onnxruntime-web"] = "100.0"
    monkeypatch.setattr(script.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="onnxruntime-web needs node and npm"):
        script.main([])
