"""The conformance suite itself: what it runs, how it judges, and that nothing incomplete reads as green."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conformance_records import prepared, quick

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
NO_IDS = [
    *("", "table", "table/Pad_18", "random/Pad_18/x/1", "specification/none", "nowhere/1"),
    *(f"random/Pad_18/{numbers}" for numbers in ("007/1", "7/ 1", "+7/1", "7/1_0", "7/\u0661")),
    *(TABLE.format(2, "00"), TABLE.format("02", 0), TABLE.format(" 2", 0), TABLE.format(2, "0\n")),
]


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


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN_PEER)
    return path


def test_peers_of_the_users_own(own: Path) -> None:
    chosen = quick()[::25] + [case for case in quick() if case.op in ("Pad_18", "Pad_19")][:40:4]
    names = ("right", "unwilling", "wrong", "crashing")
    found = {}
    for one in runner.run_cases(chosen, [runner.parse_peers(f"{own}:{name}")[0] for name in names], KNOWN):
        assert one.absent is None and one.handshake["versions"]["numpy"] and len(one.results) == len(chosen)
        found[one.peer.name] = {(row["op"], row["outcome"]) for row in one.results if row["outcome"] != "agree"}
    assert found["own:right"] == set() and {outcome for _, outcome in found["own:unwilling"]} == {"unsupported"}
    assert (found["own:wrong"], found["own:crashing"]) == ({("Pad_18", "differ")}, {("Pad_19", "crash")})


def test_absent_peers_fail_where_they_are_required(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own.write_text("import a_module_that_is_not_there")
    peers = [runner.parse_peers(f"{own}:right")[0], runner.parse_peers("numpy@/no/such/python")[0]]
    ran = runner.run_cases(quick()[:3], peers, KNOWN)
    assert "a_module_that_is_not_there" in ran[0].absent and "/no/such/python" in ran[1].absent
    assert record.footer(ran)["exit"] == 1  # nothing ran
    header = record.header("quick", 0, ran)
    assert header["peers"] == [] and [row["name"] for row in header["absent"]] == [one.peer.name for one in ran]
    rows = {"reference": PEERS["reference"], "gone": Peer("gone", f"{own}:right", ("ngraph",))}
    for options, code in (([], 0), (["--require-peers"], 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("padops.conformance.peers.PEERS", rows)
            patch.setattr("padops.conformance.runner.PEERS", rows)
            patch.setattr("padops.conformance.divergences.KNOWN", ())
            patch.setattr(cases, "collect", lambda *given: quick()[:3])
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


def test_names_of_peers(own: Path) -> None:
    for text in ("nobody", "nobody@python", "numpy:pad", "own.py:1", "own.py:f g", "own.p", "", "/none/own.py:f"):
        other = f"there is no peer {text!r}: expected one of {', '.join(PEERS)} or PATH.py:function"
        with pytest.raises(ValueError) as caught:
            runner.parse_peers(text)
        assert str(caught.value) == (f"peer {text!r}: there is no file /none/own.py" if "none" in text else other)
    (folder := own.parent / "me@home").mkdir()
    path = own.rename(folder / own.name)
    for python in ("", "@/no/such/python", "@/a@b/c.py:f"):
        peer = runner.parse_peers(f"{path}:right{python}")[0]
        assert (peer.name, peer.entry_point) == (f"own:right{python}", f"{path}:right")
        assert peer.python == (python[1:] or None)


def test_unlisted_and_stale_divergences_fail(own: Path) -> None:
    name = f"{own.stem}:wrong"
    listed = Divergence("seen", "differ", "P2", "it is made so", name, ALL, families=("onnx",), expected="output")
    stale = Divergence("not-seen", "crash", "P2", "it is not so", name, ALL, families=("onnx",))
    other = Divergence("later", "crash", "P2", "it is not so", name, ">=1000,<1001")
    peers = runner.parse_peers(f"{own}:wrong")
    chosen = [case for case in quick() if case.op == "Pad_18"][::4]
    for known, unexpected, left in (([], True, []), ([listed, other], False, []), ([listed, stale], False, [stale.id])):
        ran = runner.run_cases(chosen, peers, known)
        footer = record.footer(ran)
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
