"""``padops convert`` of a folder: each model for itself, one report, the worst exit code; and hostile names."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from command_lines import ESCAPED, FILE, HOSTILE, Cli, hostile, run, save
from onnx import helper
from small_irs import PAD_IR, PAD_IR_WEIGHTS
from small_models import COMPLEX64, FLOAT, external, model, one_pad, pad, tensor
from terminals import AtTerminal

from padops.cli.parsing import models_in
from padops.convert.rewrite import TARGETS
from padops.terminal import shown

PADS = tensor("pads", [0, 0, 0, 1])
MIXED = model(
    [pad(), pad(["c", "pads"], "z", name="complex")], 13, tensors=[PADS],
    inputs=[("x", FLOAT, [2, 3]), ("c", COMPLEX64, [2, 3])], outputs=[("y", FLOAT, None), ("z", COMPLEX64, None)],
)  # fmt: skip


@pytest.fixture
def folder(here: Path) -> Path:
    """Four models, one of them broken and one in a folder, and a file that is none."""
    made = Path("in")
    (made / "deep").mkdir(parents=True)
    save(made / "a.onnx", one_pad(13))
    (made / "broken.onnx").write_bytes(b"no model")
    save(made / "deep" / "b.onnx", one_pad(2))
    save(made / "mixed.onnx", MIXED)
    (made / "notes.txt").write_text("left alone")
    return made


def keep(folder: Path, *names: str) -> None:
    for name in {"a.onnx", "broken.onnx", "deep/b.onnx", "mixed.onnx"} - {*names}:
        (folder / name).unlink()


def contents() -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_a_model_that_fails_stops_no_other(folder: Path, cli: Cli) -> None:
    code, text, err = cli("convert", "in", "out", "--report", "r.json", "--no-fallback")
    assert code == 1
    assert {path for path in contents() if path.parts[0] == "out"} == {
        Path("out", name) for name in ("a.onnx", "deep/b.onnx", "mixed.onnx")
    }
    size = Path("out", "a.onnx").stat().st_size
    assert text.splitlines()[0] == f"in/a.onnx: 1 Pad: 1 converted; wrote out/a.onnx ({size:,} bytes)"
    assert text.splitlines()[-1] == "4 models, 1 failed; 4 Pads: 3 converted, 1 unconverted"
    why = "not an ONNX model: it cannot be parsed as a protobuf message"
    assert err == f"in/broken.onnx: error: {why}\n"
    told = json.loads(Path("r.json").read_text())
    assert (told["exit"], told["counts"]["converted"], told["counts"]["unconverted"]) == (1, 3, 1)
    assert [(row["source"], row["exit"], row["error"]) for row in told["files"]] == [
        ("in/a.onnx", 0, None), ("in/broken.onnx", 1, f"in/broken.onnx: {why}"), ("in/deep/b.onnx", 0, None),
        ("in/mixed.onnx", 0, None),
    ]  # fmt: skip
    assert told["files"][0]["report"]["pads"][0]["mode"] == "constant"


def test_a_folder_that_disappears_ends_no_walk(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As padops' own temporary folders do."""
    for name in ("first", "gone"):
        (here / name).mkdir()
        (here / name / "m.onnx").touch()
    scandir = os.scandir

    def disappearing(path: os.PathLike[str] | str | int) -> object:
        if not isinstance(path, int) and Path(path) != here:
            shutil.rmtree(here / "gone", ignore_errors=True)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", disappearing)
    assert models_in(here) == [here / "first" / "m.onnx"]


@pytest.mark.parametrize("words", ["inspect in --check", "convert in out"])
def test_a_folder_that_cannot_be_read_is_an_error(words: str, folder: Path, cli: Cli, monkeypatch) -> None:
    """A check must not pass because it did not see a model. Root reads every folder, so the system's call refuses."""
    locked, scandir = folder / "locked", os.scandir
    locked.mkdir()

    def refusing(path: os.PathLike[str] | str) -> object:
        if path in (locked, str(locked)):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert cli(*words.split()) == (1, "", f"error: {locked}: Permission denied\n")


def test_irs(here: Path, cli: Cli) -> None:
    """An IR beside a model of its name keeps its suffix; other XML is left alone."""
    Path("in").mkdir()
    save(Path("in", "a.onnx"), one_pad(13))
    for name in ("a", "b"):
        Path("in", f"{name}.xml").write_text(PAD_IR)
        Path("in", f"{name}.bin").write_bytes(PAD_IR_WEIGHTS)
    Path("in", "other.xml").write_text("<annotation/>")
    code, text, err = cli("convert", "in", "out")
    assert (code, err) == (0, "") and "3 models" in text.splitlines()[-1]
    assert sorted(os.listdir("out")) == ["a.onnx", "a.xml.onnx", "b.onnx"]


def test_the_worst_exit_code(folder: Path, cli: Cli) -> None:
    assert cli("convert", "in", "out", "--strict", "-q")[0] == 1  # 0, 1, 0 and 3
    (folder / "broken.onnx").unlink()
    code, out, err = cli("convert", "in", "out", "--strict", "-q")
    assert (code, out) == (3, "") and "1 of 2 Pads stays unconverted" in err
    for _ in range(2):  # again, over the same files
        assert cli("convert", "in", "out", "-q") == (0, "", "")


def test_in_place_and_dry_run(folder: Path, cli: Cli) -> None:
    (folder / "broken.onnx").unlink()
    before = contents()
    assert cli("convert", "in", "--dry-run", "-q") == (0, "", "")
    assert contents() == before
    assert cli("convert", "in", "--in-place", "-q") == (0, "", "")
    after = contents()
    assert [path for path in before if after[path] == before[path]] == [folder / "notes.txt"]


def counts(proved: int = 0, tested: int = 0, different: int = 0, unknown: int = 0, skipped: int = 0) -> dict[str, int]:
    return {"proved": proved, "tested": tested, "different": different, "unknown": unknown, "not verified": skipped}


def line_of(found: dict[str, int]) -> str:
    return "verification: " + ", ".join(f"{number} {word}" for word, number in found.items())


def test_verified(unproved: None, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = helper.make_node("RandomNormalLike", ["p"], ["y"])
    save(folder / "mixed.onnx", model([pad(output="p"), noise], tensors=[tensor("pads", [0, 1, 0, 1])]))
    code, text, err = cli("convert", "in", "out", "--verify", "--run", "--report", "r.json")
    why = "not verified: y of the original changes from run to run: only types and shapes are compared"
    assert code == 1 and Path("out", "mixed.onnx").exists()
    assert f"in/mixed.onnx: warning: {why}; 1 Pad: 1 converted; wrote out/mixed.onnx" in err
    found = counts(tested=2, unknown=1, skipped=1)
    assert text.splitlines()[-1] == line_of(found)
    told = json.loads(Path("r.json").read_text())
    assert told["verification"] == found
    assert [row["warning"] for row in told["files"] if row["exit"] == 5] == [why]
    real = TARGETS["padops"]

    def emit(replacement, found, constants, types) -> None:
        real(replacement, found, constants, types)
        found.node.replace_input_with(1, constants.add(np.array([0, 0, 1, 2]), found, "wrong"))

    monkeypatch.setitem(TARGETS, "padops", emit)
    keep(folder, "a.onnx")
    code, text, err = cli("convert", "in", "other", "--verify", "--run")
    assert (code, err) == (4, "in/a.onnx: error: 1 output differs; y: shape [5, 3] became [3, 5]\n")
    assert text.splitlines()[-1] == line_of(counts(different=1))


def test_verified_strictly(folder: Path, cli: Cli) -> None:
    keep(folder, "a.onnx")
    code, text, err = cli("convert", "in", "out", "--verify", "--strict")
    assert (code, err, text.splitlines()[-1]) == (0, "", line_of(counts(proved=1)))


REPORT = "for a folder, --report must end with .json"
MISTAKES = {"in in/a.onnx": "OUT is a file (in/a.onnx), but IN is a folder (in)",
            "in o --verify --inputs x.npz": "--inputs needs one model, but IN is a folder",
            "in o --jobs 0": "argument --jobs: '0' is not a whole number of at least 1",
            "in --in-place --report in/a.onnx": f"error: in/a.onnx: {REPORT}",
            "in --in-place --report r.json": f"error: r.json: {REPORT}",
            "in out --report out/a.onnx": f"error: out/a.onnx: {REPORT}"}  # fmt: skip


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake(arguments: str, folder: Path, cli: Cli) -> None:
    """A report takes the place of no source, by its name or by a link, and of no output."""
    Path("out").mkdir()
    Path("out", "a.onnx").write_bytes(b"of before")
    Path("r.json").symlink_to(folder / "a.onnx")
    before = contents()
    code, _, err = cli("convert", *arguments.split())
    assert (code, MISTAKES[arguments] in err, contents()) == (2, True, before), err


def test_outputs_beside_and_inside_the_source(folder: Path, cli: Cli) -> None:
    """Into the folder above, every model is converted; into one inside, those of a run before are left out."""
    (folder / "broken.onnx").unlink()
    for _ in range(2):
        code, out, _ = cli("convert", "in/deep", "in")
        assert (code, out.splitlines()[-1]) == (0, "1 model, 0 failed; 1 Pad: 1 converted")
    for _ in range(2):
        code, out, _ = cli("convert", "in", "in/out")
        assert (code, out.splitlines()[-1].split(",")[0]) == (0, "4 models")


def test_models_that_fail_leave_no_folders(folder: Path, cli: Cli) -> None:
    (folder / "broken.onnx").rename(folder / "deep" / "b.onnx")
    assert cli("convert", "in", "new/out")[0] == 1
    assert sorted(os.listdir("new/out")) == ["a.onnx", "mixed.onnx"]
    Path("old").mkdir()
    assert cli("convert", "in/deep", "old/out")[0] == 1
    assert os.listdir("old") == []


# --- processes --------------------------------------------------------------------------------------------------------

# Has the process that reads one of the models end, or wait, wherever it is started: Python runs this file first.
PLANTED = """
import os, sys, time
if "padops.cli.bulk" in sys.orig_argv:
    from padops.convert.model import document
    check = document.check_file
    def planted(path):
        if path.name in ("_dies.onnx", "zz_dies.onnx"):
            os._exit(9)
        if path.name == "_waits.onnx":
            time.sleep(600)
        check(path)
    document.check_file = planted
"""


@pytest.fixture
def planted(folder: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (here / "first").mkdir()
    (here / "first" / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", str(here / "first"), prepend=os.pathsep)
    keep(folder, "a.onnx", "mixed.onnx")
    return folder


def test_a_process_that_dies_takes_no_other_model_with_it(planted: Path, cli: Cli) -> None:
    save(planted / "_dies.onnx", one_pad(13))
    code, out, err = cli("convert", "in", "out", "--jobs", "2")
    died = "the process that converted it has died (exit code 9)"
    assert (code, err) == (1, f"in/_dies.onnx: error: {died}\n")
    assert out.splitlines()[-1].startswith("3 models, 1 failed; 3 Pads: ")
    assert sorted(os.listdir("out")) == ["a.onnx", "mixed.onnx"]


def test_a_model_that_was_done_before_a_process_died_is_not_converted_again(planted: Path, cli: Cli) -> None:
    """Its second conversion would say "already converted"."""
    save(planted / "zz_dies.onnx", one_pad(13))
    code, out, _ = cli("convert", "in", "--in-place", "--jobs", "2")
    assert (code, out.splitlines()[-1]) == (1, "3 models, 1 failed; 3 Pads: 2 converted, 1 unconverted")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_every_process(number: int, code: int, planted: Path, here: Path) -> None:
    save(planted / "_waits.onnx", one_pad(13))
    with AtTerminal("-m", "padops", "convert", "in", "out", "--jobs", "2", cwd=here) as running:
        running.wait_for(lambda: running.said().count("wrote") == 2)
        os.kill(running.process.pid, number)
        assert (running.wait(), running.left()) == (code, [])
        assert running.said().splitlines()[-1] == "interrupted; 2 of 3 converted, none half-written"


# --- names from a model or a folder, which reach the console in one line and move or hide no text ---------------------

# Arguments, the exit code, and how often the escaped name is printed at least.
CASES = [
    (["inspect", "m.onnx"], 0, 1),
    (["convert", "m.onnx", "out.onnx", "--verify", "--run"], 0, 1),
    (["verify", "m.onnx", "other.onnx"], 4, 1),
    (["inspect", "mode.onnx"], 0, 2),
    (["convert", "mode.onnx", "--dry-run"], 3, 2),
    (["convert", "mode.onnx", "out.onnx", "--strict"], 3, 1),
    *((["inspect", f"{place}.onnx"], 1, 1) for place in ("here", "above", "root")),
    *((["convert", f"{place}.onnx", "out.onnx"], 1, 1) for place in ("here", "above", "root")),
    (["verify", "m.onnx", "m.onnx", "--inputs", "x.npz"], 2, 1),
    (["convert", "m.onnx", "out.onnx", "--verify", "--run", "--inputs", "x.npz"], 2, 1),
    (["inspect", f"{FILE}.onnx"], 0, 1),
    (["convert", f"{FILE}.onnx", f"out {FILE}.onnx"], 0, 1),
    (["convert", f"{FILE}.onnx", f"{FILE}/out.onnx"], 1, 1),
    (["inspect", f"broken {FILE}.onnx"], 1, 1),
    (["verify", f"broken {FILE}.onnx", f"broken {FILE}.onnx"], 1, 1),
    (["inspect", f"empty {FILE}"], 1, 1),
    (["inspect", f"folder {FILE}"], 1, 4),
    (["convert", f"folder {FILE}", "out"], 1, 4),
    (["convert", f"folder {FILE}", "out", "--jobs", "2"], 1, 4),
    (["inspect", "m.onnx", f"--{HOSTILE}"], 2, 1),
    (["inspect", f"no {HOSTILE}"], 1, 1),
    (["convert", "m.onnx", "--target", HOSTILE], 2, 1),
    (["bench", "--model", f"no {HOSTILE}"], 1, 0),  # blanks are joined
]


@pytest.fixture
def named(here: Path) -> None:
    for name in (f"empty {FILE}", f"folder {FILE}"):
        Path(name).mkdir()
    made = {"m": hostile(amount=2), "other": hostile(), "mode": hostile(mode=HOSTILE), FILE: hostile(),
            f"folder {FILE}/{FILE}": hostile()}  # fmt: skip
    for name, location in (("here", HOSTILE), ("above", f"../{HOSTILE}"), ("root", f"/{HOSTILE}/w.bin")):
        made[name] = model([pad()], 17, tensors=[external(HOSTILE, location, 4), PADS])
    for name, source in made.items():
        save(Path(f"{name}.onnx"), source)
    for name in (f"broken {FILE}.onnx", f"folder {FILE}/b{FILE}.onnx"):
        Path(name).write_bytes(b"no model")
    np.savez("x.npz", **{f"other {HOSTILE}": np.zeros(3)})


@pytest.mark.parametrize(("arguments", "code", "times"), CASES, ids=lambda value: ascii(value)[:60])
def test_a_console_gets_whole_lines(arguments: list[str], code: int, times: int, named: None, capfd) -> None:
    ended, out, err = run(capfd, *arguments)
    text = out + err
    assert ended == code, text
    assert {letter for letter in text if not letter.isprintable()} == {"\n"}, ascii(text)
    assert not [line for line in text.splitlines() if line.lstrip().startswith("FAKED")], text
    assert text.count(ESCAPED) + text.count(ESCAPED.replace("[", "")) >= times


def test_what_has_no_shape_is_escaped() -> None:
    assert shown(HOSTILE) == ESCAPED
    assert shown("conv/Pad_1 größe 寸法 → «x» 😀") == "conv/Pad_1 größe 寸法 → «x» 😀"
    assert shown("\U000e0041\u00ad\ud800") == r"\U000e0041\xad\ud800"


@pytest.mark.parametrize("words", ["convert m.onnx out.onnx -q --report -", "inspect m.onnx --json"])
def test_json_stays_json(words: str, named: None, capfd: pytest.CaptureFixture[str]) -> None:
    text = run(capfd, *words.split())[1]
    told = json.loads(text)
    assert HOSTILE in told.get("models", [told])[0]["pads"][0]["path"] and text.replace("\n", "").isprintable()
