"""The conformance suite itself: what it runs, its options, and that nothing incomplete reads as green."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from conformance_records import answers, own_peer, prepared, quick
from terminals import AtTerminal

from padops.cli import main
from padops.conformance import cases, record, runner
from padops.conformance.divergences import EXAMPLES, KNOWN, Divergence
from padops.conformance.features import Prepared, expect
from padops.conformance.peers import PEERS, Peer
from padops.spec.dialects import OPS

ALL = ">=0,<9999"  # every version
RULES = {*(f"P{i}" for i in range(1, 11)), "S1"}


def test_ids_are_unique_and_make_the_case_again() -> None:
    assert len({case.id for case in quick()}) == len(quick())
    for case in quick():
        assert repr(cases.find_case(case.id).sent()) == repr(case.sent())


def test_an_id_means_one_case_forever() -> None:
    case = cases.find_case("table/Pad_18/reflect/float/2/both/plain/none/some.flat/dynamic/0")
    assert (case.data.shape, case.inputs[1].tolist(), case.inputs[3].tolist()) == ((3, 4), [2, 2, 2, 2], [0, 1])
    assert case.data.view(np.uint32)[0, :2].tolist() == [378147536, 1112695953]
    drawn = cases.find_case("random/OpenVINOPad_12/0/7")
    assert (drawn.dtype.name, drawn.data.shape) == ("float8e5m2fnuz", (4, 6, 6, 3))
    assert drawn.inputs[1].tolist() == [-3, 2, 0, 0]


TABLE = "table/Pad_18/reflect/float/{}/both/plain/none/absent.flat/dynamic/{}"
# Other spellings of a case's numbers would draw another case.
NO_IDS = [*("", "table", "table/Pad_18", "random/Pad_18/x/1", "specification/none", "nowhere/1"),
          *(f"random/Pad_18/{numbers}" for numbers in ("007/1", "7/ 1", "+7/1", "7/1_0", "7/\u0661")),
          *(TABLE.format(2, "00"), TABLE.format("02", 0), TABLE.format(" 2", 0), TABLE.format(2, "0\n"))]  # fmt: skip


def test_an_id_that_is_none() -> None:
    for id in NO_IDS:
        with pytest.raises(ValueError, match="no case is called"):
            cases.find_case(id)


def test_levels_hold_each_other_and_every_rule() -> None:
    assert [*map(list, zip(*cases.LEVELS.values()))] == [sorted(row) for row in zip(*cases.LEVELS.values())]
    for name in ("Pad_18", "OpenVINOPad_12"):
        few, more = ({case.id for case in cases.table.cases([name], *counts, 0)} for counts in ((1, 1), (3, 4)))
        assert few < more
    assert {rule for one in prepared() for rule in one.rules} >= RULES
    combinations = {(case.op, case.mode, case.dtype.name) for case in quick()}
    for op in OPS.values():
        assert {(op.name, mode.lower(), dtype) for mode in op.modes for dtype in op.types} <= combinations


def test_the_rules_give_the_outputs_of_upstream_and_an_output_for_each_printed_example() -> None:
    assert all(expect(case).output is not None for case in cases.specification())
    assert len(cases.upstream()) == 11
    for case, output in cases.upstream().values():
        assert expect(case).output.tobytes() == output.tobytes(), case.id


OWN_PEER = """
import os
from padops.spec.reference import run

PACKAGES = ("numpy",)

def right(op, attributes, inputs):
    return run(op, attributes, inputs)

def wrong(op, attributes, inputs):
    output = run(op, attributes, inputs).copy()
    if op == "Pad_18" and output.size:
        output[...] = output.reshape(-1)[0]
    return output

def crashing(op, attributes, inputs):
    if op == "Pad_19":
        os.abort()
    return right(op, attributes, inputs)

def unwilling(op, attributes, inputs):
    raise NotImplementedError("not mine")
"""


def test_peers_of_the_users_own(tmp_path: Path) -> None:
    chosen = quick()[::25] + [case for case in quick() if case.op in ("Pad_18", "Pad_19")][:40:4]
    names = ("right", "unwilling", "wrong", "crashing")
    found = {}
    for one in runner.run_cases(chosen, [own_peer(tmp_path, OWN_PEER, name) for name in names], KNOWN):
        assert one.absent is None and one.handshake["versions"]["numpy"] and len(one.results) == len(chosen)
        found[one.peer.name] = {(row["op"], row["outcome"]) for row in one.results if row["outcome"] != "agree"}
    assert found["own:right"] == set() and {outcome for _, outcome in found["own:unwilling"]} == {"unsupported"}
    assert (found["own:wrong"], found["own:crashing"]) == ({("Pad_18", "differ")}, {("Pad_19", "crash")})


def test_absent_peers_fail_where_they_are_required(tmp_path: Path, capsys, monkeypatch) -> None:
    own = own_peer(tmp_path, "import a_module_that_is_not_there")
    peers = [own, runner.parse_peers("numpy@/no/such/python")[0]]
    ran = runner.run_cases(quick()[:3], peers, KNOWN)
    assert "a_module_that_is_not_there" in ran[0].absent and "/no/such/python" in ran[1].absent
    assert record.footer(ran)["exit"] == 1  # nothing ran
    header = record.header("quick", 0, ran)
    assert header["peers"] == [] and [row["name"] for row in header["absent"]] == [one.peer.name for one in ran]
    rows = {"reference": PEERS["reference"], "gone": Peer("gone", own.entry_point, ("ngraph",))}
    for name, value in (("peers.PEERS", rows), ("runner.PEERS", rows), ("divergences.KNOWN", ())):
        monkeypatch.setattr(f"padops.conformance.{name}", value)
    monkeypatch.setattr(cases, "collect", lambda *given: quick()[:3])
    for options, code in (([], 0), (["--require-peers"], 1)):
        assert main(["conformance", "--quick", *options]) == code
        told = capsys.readouterr()
        assert "a_module_that_is_not_there" in told.out
        assert ("error: absent, and required: gone\n" in told.err) == bool(code)


def test_a_part_of_padops_is_never_absent() -> None:
    present = runner.PeerRun(runner.parse_peers("numpy")[0], {"python": "3", "versions": {}})
    present.results = [{"unexpected": False, "new": False}]
    codes = {
        name: record.footer([present, runner.PeerRun(runner.parse_peers(name)[0], absent="no library")])["exit"]
        for name, row in PEERS.items()
        if not row.environment
    }
    assert {name for name, code in codes.items() if code} == {"padops-native", "reference"}


def test_names_of_peers(tmp_path: Path) -> None:
    for text in ("nobody", "nobody@python", "numpy:pad", "own.py:1", "own.py:f g", "own.p", "", "/none/own.py:f"):
        other = f"there is no peer {text!r}: expected one of {', '.join(PEERS)} or PATH.py:function"
        with pytest.raises(ValueError) as caught:
            runner.parse_peers(text)
        assert str(caught.value) == (f"peer {text!r}: there is no file /none/own.py" if "none" in text else other)
    (path := tmp_path / "me@home" / "own.py").parent.mkdir()
    path.touch()
    for python in ("", "@/no/such/python", "@/a@b/c.py:f"):
        peer = runner.parse_peers(f"{path}:right{python}")[0]
        assert (peer.name, peer.entry_point) == (f"own:right{python}", f"{path}:right")
        assert peer.python == (python[1:] or None)


def test_unlisted_and_stale_divergences_fail(tmp_path: Path) -> None:
    name = "own:wrong"
    listed = Divergence("seen", "differ", "P2", "it is made so", name, ALL, families=("onnx",), expected="output")
    stale = Divergence("not-seen", "crash", "P2", "it is not so", name, ALL, families=("onnx",))
    other = Divergence("later", "crash", "P2", "it is not so", name, ">=1000,<1001")
    peer = own_peer(tmp_path, OWN_PEER, "wrong")
    chosen = [case for case in quick() if case.op == "Pad_18"][::4]
    for known, unexpected, left in (([], True, []), ([listed, other], False, []), ([listed, stale], False, [stale.id])):
        footer = record.footer([answers(peer, chosen, known)])
        assert (footer["unexpected"] > 0, footer["stale"]) == (unexpected, left)
        assert footer["exit"] == (1 if unexpected or left else 0)


def test_divergence_file() -> None:
    assert [divergence.id for divergence in KNOWN] == list(dict.fromkeys(divergence.id for divergence in KNOWN))
    assert {divergence.id for divergence in KNOWN} == EXAMPLES.keys()
    for divergence in KNOWN:
        case = cases.find_case(EXAMPLES[divergence.id])
        item = Prepared.of(case)
        assert divergence.matches(item) and PEERS[divergence.peer].takes(item), divergence.id
        assert divergence.peer not in ("padops-native", "padops-pyop", "reference"), divergence.id
        assert divergence.rule in RULES and divergence.reason, divergence.id
    with pytest.raises(ValueError, match="unknown"):
        Divergence("x", "differ", "P1", "", "numpy", ALL, tags={"no-such-tag"})


# --- the options of the command --------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cases are chosen by, and what the runner is given; it runs the peer ``reference`` on three cases."""
    given: dict[str, Any] = {}
    run_cases = runner.run_cases

    def chosen(level: str, seed: int = 0, always: Any = ()) -> list:
        given.update(collected=level, seed=seed, always=list(always))
        return [*quick()[:3]]

    def run(found: list, peers: list, known: Any, level: str, *rest: Any, **more: Any) -> list:
        given.update(peers=[peer.name for peer in peers], level=level)
        return run_cases(found, runner.parse_peers("reference"), known, level, *rest, **more)

    monkeypatch.setattr(cases, "collect", chosen)
    monkeypatch.setattr(runner, "run_cases", run)
    return given


@pytest.mark.parametrize(
    ("options", "level", "seed"),
    [([], "default", 0), (["--quick"], "quick", 0), (["--exhaustive", "--seed", "7"], "exhaustive", 7)],
)
def test_the_level_and_the_seed(options: list[str], level: str, seed: int, asked: dict, tmp_path: Path) -> None:
    assert main(["conformance", *options, "--out", str(tmp_path)]) == 0
    wanted = {"collected": level, "level": level, "seed": seed, "always": list(EXAMPLES.values()), "peers": list(PEERS)}
    assert asked == wanted
    header = record.read(tmp_path / record.FILE).header
    assert (header["level"], header["seed"]) == (level, seed)


def test_a_seed_is_another_suite() -> None:
    ids = [{case.id for case in cases.table.cases(["Pad_18"], 1, 1, seed)} for seed in (0, 7, 7)]
    assert ids[0] != ids[1] == ids[2]


def test_without_leaves_peers_out(asked: dict[str, Any]) -> None:
    assert main(["conformance", "--quick", "--without", "torch", "--without", "padops-pyop"]) == 0
    assert asked["peers"] == [name for name in PEERS if name not in ("torch", "padops-pyop")]


NAMED = "needs all peers: omit --peer and --peer-command"


@pytest.mark.parametrize(("words", "said"), [
    ("--quick --without nobody", f"there is no peer 'nobody' to leave out; there are {', '.join(PEERS)}"),
    ("--without torch --peer torch", f"--without {NAMED}"),
    ("--require-peers --peer-command mine", f"--require-peers {NAMED}"),
    ("show r.jsonl --format html --out d", "--format is for standard output, but --out writes every form"),
])  # fmt: skip
def test_wrong_options(words: str, said: str, asked: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", *words.split()]) == 2
    assert capsys.readouterr().err == f"error: {said}\n" and asked == {}


def test_a_file_without_the_function(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "mine.py").write_text("def pad(op, attributes, inputs):\n    raise KeyError(op)\n\nother = 3\n")
    monkeypatch.setattr(cases, "collect", lambda *given: list(map(cases.find_case, EXAMPLES.values()))[:30])
    for function in ("nof", "other", "pad"):
        assert main(["conformance", "--quick", "--peer", f"{path}:{function}"]) == 1
        said, told = f"AttributeError: {path} has no function {function}; it has pad", capsys.readouterr().out
        assert (function == "pad") != (f"mine:{function} {said}" in " ".join(told.split()))
    lines = [line for line in told.splitlines() if "KeyError" in line]
    assert len(lines) == len({line.split("KeyError")[1] for line in lines}) > 0, "each once"


# --- Ctrl-C and SIGTERM end a run with all of its processes, and what was measured is kept ---------------------------

# Answers three cases. With the fourth it has a child, and neither ends for ten minutes.
SLOW = """
import subprocess, time
from pathlib import Path
import padops
PACKAGES = ("numpy",)
count = 0

def {name}(op, attributes, inputs):
    global count
    count += 1
    if count == 4:
        child = subprocess.Popen(["sleep", "600"])
        Path(__file__).with_name("{name}.begun").write_text(str(child.pid))
        time.sleep(600)
    return padops.run_reference(op, attributes, inputs)
"""
# The command, with cases that take no seconds to make.
COMMAND = """
import sys
from padops import cli
from padops.conformance import cases
cases.collect = lambda *asked: list(cases.table.cases(["Pad_2"], 1, 1, 0))
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_run(number: signal.Signals, tmp_path: Path) -> None:
    out, names = tmp_path / "report", ("slow", "slower")
    for name in names:
        (tmp_path / f"{name}.py").write_text(SLOW.format(name=name))
    peers = [f"--peer={tmp_path / name}.py:{name}" for name in names]
    with AtTerminal("-c", COMMAND, "conformance", "--out", out, *peers, "--peer=reference", cwd=tmp_path) as run:
        run.wait_for(lambda: all((tmp_path / f"{name}.begun").exists() for name in names))
        assert len(run.pids()) >= 5, "the command, two workers and a child of each"
        run.press_ctrl_c() if number == signal.SIGINT else os.kill(run.process.pid, number)  # the command alone
        code, left, said = run.wait(), run.left(), run.said()
    assert (code, left) == (128 + number, [])
    whole = record.read(out / record.FILE)
    assert f"interrupted: {len(whole.results)} results; {out} has the results until then, marked as cut short" in said
    assert "Traceback" not in said and "nothing has been" not in said
    assert whole.footer["exit"] == 1 and set(whole.footer["cut_short"]) == {"slow:slow", "slower:slower"}
    mine = [result for result in whole.results if result["peer"] == "slow:slow"]
    assert len(mine) == 3 and whole.footer["cut_short"]["slow:slow"] > 10
    assert {result["outcome"] for result in whole.results} == {"agree"}, "what was not asked is no crash"
    assert "Cut short: " in (out / "report.md").read_text()
    assert '<p class="verdict bad">cut short</p>' in (out / "report.html").read_text()
    suites = ElementTree.parse(out / "junit.xml").getroot()
    assert suites.find("testsuite[@name='run']/testcase/failure").get("type") == "cut short"


# --- a report that something has changed is refused with its file, or rendered: never a traceback --------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run, with results of every kind that these peers give."""
    folder = tmp_path_factory.mktemp("report")
    chosen = [case for case in quick() if case.op in ("Pad_18", "OpenVINOPad_12")][::23]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "collect", lambda *given: chosen)
        main(["conformance", "--quick", "--peer=numpy", "--peer=reference", f"--out={folder}"])
    content = (folder / "conformance.jsonl").read_bytes()
    assert all(f'"outcome": "{outcome}"'.encode() in content for outcome in ("agree", "error", "unsupported"))
    return content


def shown(content: bytes, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of ``show`` of every form, and what it says."""
    (folder / "changed.jsonl").write_bytes(content)
    capsys.readouterr()
    code = main(["conformance", "show", str(folder / "changed.jsonl"), "--out", str(folder / "out")])
    return code, capsys.readouterr().err


DEEP = "[" * 100_000 + "]" * 100_000


def test_what_no_line_may_say(report: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, first, *rest = report.split(b"\n")
    deep = first.replace(b'"detail": ', b'"detail": ' + DEEP.encode() + b', "more": ')
    for lines, at, words in (
        ([head.replace(b'"schema": 2', b'"schema": 1'), first, *rest], 1, "schema is 1, expected 2"),
        ([head.replace(b'"header"', b'"other"'), first, *rest], 1, "not a whole report: "),
        ([head, deep, *rest], 2, "not a whole report: "),
        *(
            ([head, line, *rest], 2, "not a ")
            for line in (b'{"kind": "result", "detail": "\xff"}', b'{"rank": 1', b"[1]", b"null", b"9" * 5000)
        ),
        ([head, first, *rest[:-3]], 0, "not a whole report: there is no footer at the end"),
        ([head, *rest], 0, "but the footer counts"),
    ):
        code, told = shown(b"\n".join(lines), tmp_path, capsys)
        place = f"error: {tmp_path}/changed.jsonl:{at}: " if at else ""
        assert code == 1 and place + words in told and told.count("\n") == 1, told
    assert not (tmp_path / "out").exists()


VALUES = ["1e400", "-1", "[]", "{}", "null", "true", '"x"', '"\\ud800\\u0000"', str(10**40), "NaN", "0.5", DEEP]


def mutant(rng: random.Random, content: bytes) -> bytes:
    """A report with one thing changed: a byte, a line, or a value somewhere in an object."""
    lines = content.rstrip(b"\n").split(b"\n")
    i = rng.choice([0, len(lines) - 1, rng.randrange(len(lines))])
    how = rng.choice(["byte", "byte", "cut", "line", "twice", "value", "value", "value", "value", "gone"])
    if how == "byte":
        at = rng.randrange(len(lines[i]))
        lines[i] = lines[i][:at] + bytes([rng.randrange(256)]) + lines[i][at + rng.randrange(2) :]
    elif how == "cut":
        lines[i] = lines[i][: rng.randrange(len(lines[i]))]
    elif how == "line":
        del lines[i]
    elif how == "twice":
        lines.insert(rng.randrange(len(lines)), lines[i])
    else:
        said = json.loads(lines[i])
        inner: Any = said
        while True:
            key = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
            if not isinstance(inner[key], (dict, list)) or not inner[key] or rng.random() < 0.4:
                break
            inner = inner[key]
        if how == "gone":
            del inner[key]
        else:
            inner[key] = "THE VALUE"
        lines[i] = json.dumps(said).encode().replace(b'"THE VALUE"', rng.choice(VALUES).encode())
    return b"\n".join(lines) + b"\n"


def test_mutants_are_refused_or_rendered(report: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng, seen = random.Random(24), Counter[int]()
    for count in range(150):
        code, told = shown(mutant(rng, report), tmp_path, capsys)
        assert (code, told) == (0, "") or code == 1 and "changed.jsonl" in told and told.count("\n") == 1, (count, told)
        seen[code] += 1
    assert min(seen[0], seen[1]) > 10, seen
