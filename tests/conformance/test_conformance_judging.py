"""An answer is judged: from a peer that dies for good, with an error of another rule, or with no tensor in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from padops.conformance import cases, judging, record, runner
from padops.conformance.arrays import pack
from padops.conformance.divergences import KNOWN, Divergence
from padops.conformance.features import BEYOND
from padops.conformance.peers import PEERS
from padops.conformance.render.summary import versions_of

QUICK = cases.collect("quick")

ONCE = """
import os
from pathlib import Path
from padops.spec.reference import run

PACKAGES = ("numpy",)
if Path(__file__).with_name("died").exists():
    raise ImportError("it starts only once")

def pad(op, attributes, inputs):
    if op == "Pad_19":
        Path(__file__).with_name("died").touch()
        os.abort()
    return run(op, attributes, inputs)
"""


def written(folder: Path, text: str) -> runner.Peer:
    (folder / "own.py").write_text(text)
    return runner.parse_peer(f"{folder}/own.py:pad")


@pytest.mark.parametrize("first", [0, 3])
def test_a_peer_that_does_not_start_again_is_a_failure_and_not_absent(first: int, tmp_path: Path) -> None:
    """The peer's answers stand, and no divergence explains the missing ones."""
    before = [case for case in QUICK if case.op == "Pad_18"][:first]
    after = [case for case in QUICK if case.op == "Pad_19"][:1] + [case for case in QUICK if case.op == "Pad_21"][:4]
    known = [Divergence("crashes", "crash", "P1", "it is made so", "own:pad", ">=0,<9999", families=("onnx",))]
    (ran,) = runner.run_cases([*before, *after], [written(tmp_path, ONCE)], known)
    assert ran.absent is None and ran.handshake["versions"]["numpy"]
    crashes = 1 if first else 2  # of the first case of a process there is no doubt
    outcomes = [result["outcome"] for result in ran.results]
    assert outcomes == ["agree"] * first + ["crash"] * crashes + ["skipped"] * (5 - crashes)
    last = ran.results[first + crashes - 1]
    assert last["unexpected"] and "did not start again: ImportError: it starts only once" in last["detail"]
    assert record.footer([ran])["exit"] == 1


LABELLED = ("padops-native", "padops-provider", "padops-pyop", "reference")


def test_an_error_of_another_rule_is_a_wrong_answer() -> None:
    """Peers without labels may give any error, and what refuses a model before the provider has no label."""
    item = runner.Prepared.of(cases.find_case("table/Pad_18/reflect/int32/3/negative/one/matrix/repeated.row/fixed/0"))
    assert item.expected.rule == "P8"
    said = "Fail: out of memory [P10]"
    for name in LABELLED:
        assert judging.judge(item, ("refused", "Fail: axes name one axis twice [P8]"), PEERS[name]) == ("agree", "")
        judged = judging.judge(item, ("refused", said), PEERS[name])
        assert judged == ("error", f"{said}; expected an error of [P8]")
    assert judging.judge(item, ("refused", said), PEERS["ort-builtin"]) == ("agree", "")
    before = ("refused", "Node (pad) Op (Pad) [ShapeInferenceError] Axis 0 is referred to more than once.")
    assert judging.judge(item, before, PEERS["padops-provider"]) == ("agree", "")
    assert judging.judge(item, before, PEERS["padops-native"])[0] == "error"


def test_padops_gives_the_label_of_every_rule() -> None:
    of_rule: dict[str, list] = {}
    for item in map(runner.Prepared.of, QUICK):
        of_rule.setdefault(item.expected.rule or "", []).append(item.case)
    chosen = [case for rule, found in of_rule.items() if rule for case in found[:: len(found) // 12 + 1]]
    chosen += [case for case in QUICK if case.op == "NGraphPad_0" and case.mode in ("wrap", "edges", "")]
    ran = runner.run_cases(
        list({case.id: case for case in chosen}.values()), [*map(runner.parse_peer, LABELLED)], KNOWN
    )
    assert [result for one in ran for result in one.results if result["unexpected"]] == []
    assert [one.absent for one in ran] == [None] * 4
    assert {rule for result in ran[0].results for rule in result["rules"]} >= {f"P{i}" for i in range(1, 11)}


NO_TENSORS = [
    ("numpy.zeros(2, 'complex64')", "the output is ndarray of complex64: an array of complex64, which is no element"),
    ("[1, 2]", "the output is list: "),
    ("None", "the output is None"),
]


def test_an_output_that_is_no_tensor_is_an_error_that_says_so(tmp_path: Path) -> None:
    """In one process: it writes down each start."""
    given = ", ".join(text for text, _ in NO_TENSORS)
    peer = written(
        tmp_path,
        "import numpy\nfrom pathlib import Path\nPACKAGES = ('numpy',)\n"
        "Path(__file__).with_name('starts').open('a').write('.')\n"
        f"given = [{given}] * 2\n\ndef pad(op, attributes, inputs):\n    return given.pop(0)\n",
    )
    right = [case for case in QUICK if case.op == "Pad_18" and runner.Prepared.of(case).packed is not None]
    wrong = [case for case in QUICK if case.op == "Pad_18" and runner.Prepared.of(case).packed is None]
    (ran,) = runner.run_cases([*right[:3], *wrong[:3]], [peer], ())
    assert [result["outcome"] for result in ran.results] == ["error"] * 6
    for result, (_, words) in zip(ran.results, NO_TENSORS * 2, strict=True):
        assert result["detail"].startswith(words)
    assert (tmp_path / "starts").read_text() == "."


def test_within() -> None:
    """Only a peer that says so may be off, floats alone, and by so much of the expected number."""
    case = cases.find_case("specification/Pad_18/example-1/float")
    item = runner.Prepared.of(case)
    name, shape, _ = item.packed
    right = item.expected.output

    def judged(off: np.ndarray, peer: str = "ort-qnn") -> str:
        return judging.judge(item, ("output", pack(off)), PEERS[peer])[0]

    assert [row.name for row in PEERS.values() if row.within] == ["ort-qnn", "padops-beside-qnn", "padops-for-qnn"]
    assert (name, right.dtype, bool(right.any())) == ("float", np.float32, True)
    near, far = right * np.float32(1.0019), right * np.float32(1.0021)
    assert [judged(right), judged(near), judged(far)] == ["agree", "agree", "differ"]
    assert judged(near, "ort-openvino") == judged(near, "padops-native") == "differ"
    assert judged(right.reshape(-1)) == judged(right.astype(np.float64)) == "differ"
    nothing = np.where(right == 0, np.float32(1e-30), right)  # of nothing, nothing is a part
    assert judged(nothing) == "differ" and judged(np.full(shape, np.nan, np.float32)) == "differ"
    whole = runner.Prepared.of(cases.find_case("table/Pad_21/edge/int32/1/mixed/plain/none/absent.flat/held/0"))
    off = whole.expected.output.copy()
    off.reshape(-1)[0] += 1
    assert judging.judge(whole, ("output", pack(off)), PEERS["ort-qnn"])[0] == "differ"
    ran = [runner.PeerRun(PEERS[name], {"versions": {"a": "1"}}) for name in ("ort-qnn", "ort-builtin")]
    assert [*map(versions_of, record.header("quick", 0, ran)["peers"])] == ["a 1, within 2e-3", "a 1"]


def test_what_the_standard_leaves_open_may_be_refused() -> None:
    """By the Pads of implementations; padops runs it, and so does what it makes. Other values are wrong everywhere."""
    item = runner.Prepared.of(cases.find_case("specification/Pad_11/example-2/float"))
    judged = {
        name: judging.judge(item, ("refused", "Fail: Pad reflect"), PEERS[name])[0]
        for name in ("ort-builtin", "torch", "padops-native", "padops-provider", "without-pad-tract")
    }
    assert judged == {
        "ort-builtin": "agree", "torch": "agree",
        "padops-native": "error", "padops-provider": "error", "without-pad-tract": "error",
    }  # fmt: skip
    other = ("output", pack(item.expected.output + 1))
    assert {judging.judge(item, other, PEERS[name])[0] for name in judged} == {"differ"}
    assert judging.judge(item, ("broken", "KeyError"), PEERS["ort-builtin"])[0] == "error"


def test_the_class_of_a_case() -> None:
    for id, found in (
        ("table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0", "standard"),
        ("table/Pad_18/reflect/float/2/far/plain/none/absent.flat/dynamic/0", BEYOND),
        ("table/Pad_1/edge/float/3/mixed/empty/none/absent.flat/dynamic/0", BEYOND),  # cropped beyond an empty axis
        ("table/NGraphPad_0/REFLECT/float/2/far/plain/scalar/-/dynamic/0", "standard"),
    ):
        item = runner.Prepared.of(cases.find_case(id))
        assert (item.packed is not None, item.of_class) == (True, found)
