"""One conversion, ended in the middle again and again, and what must hold after each time."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

from external_data import save, write_floats
from killed import Ended, Runner, contents
from small_models import external

SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}
CODES = {"KILL": -signal.SIGKILL, "TERM": 128 + signal.SIGTERM, "INT": 130}
KINDS = ("into a new folder", "over an older one", "in place")


def make_source(folder: Path, elements: int = 4) -> Path:
    """A model with data of so many elements in two files, one of them in a folder."""
    numbers = range(elements)
    write_floats(folder / "a.bin", *numbers)
    write_floats(folder / "deep" / "b.bin", *reversed(numbers))
    tensors = [external("a", "a.bin", elements), external("b", "deep/b.bin", elements)]
    return save(folder, tensors, "m.onnx", elements)


class Trial:
    """One conversion, as often as it is ended: into a new folder, over an older model there, or in place."""

    def __init__(self, runner: Runner, tmp_path: Path, kind: str, elements: int = 4) -> None:
        self.runner, self.kind, self.folder = runner, kind, tmp_path / "out"
        source = make_source(tmp_path / "in", elements)
        self.before: dict[str, bytes] = {}
        if kind == "in place":
            self.before = {name: data for name, data in contents(tmp_path / "in").items() if data is not None}
            self.arguments: tuple[object, ...] = ("convert", self.folder / "m.onnx", "--in-place", "-q")
        else:
            self.arguments = ("convert", source, "-o", self.folder / "m.onnx", "-q")
        if kind == "over an older one":
            self.before = {"m.onnx": b"what was there", "own.txt": b"somebody else's"}
        self.arguments += ("--no-fallback", "--report", self.folder / "r.json")
        self.prepare()
        self.ended = self.run()
        assert self.ended.code == 0, self.ended.said
        self.after = contents(self.folder)

    def prepare(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for name, data in self.before.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(data)
        self.folder.mkdir(exist_ok=True)

    def run(self, **how: object) -> Ended:
        return self.runner.run(*self.arguments, below=str(self.folder), **how)

    def check(self, ended: Ended) -> None:
        """What must hold after a run that was ended, and after the next one."""
        found = {name: data for name, data in contents(self.folder).items() if data is not None}
        new = found.get("m.onnx") == self.after["m.onnx"]
        assert new or found.get("m.onnx") == self.before.get("m.onnx"), ended
        if new:  # then with all its data
            assert all(found[name] == data for name, data in self.after.items() if name.endswith(".bin")), ended
        if ended.code >= 0:  # it could clear up
            assert (ended.code == 0) == new, ended
            kept = set(self.after if new else self.before) | {"r.json"}
            assert set(contents(self.folder)) - {"deep"} <= kept, ended
            assert not new or "r.json" in found, ended
        for name, data in self.before.items():
            assert name == "m.onnx" or found[name] == data, ended
        again = self.run()
        assert again.code == 0, again.said
        found = contents(self.folder)
        if ended.code < 0:  # a killed run may leave its hidden folder
            found = {name: data for name, data in found.items() if not name.startswith(".padops-")}
        assert found.keys() == self.after.keys(), ended
        assert all(data == self.after[name] for name, data in found.items() if name != "r.json"), ended
