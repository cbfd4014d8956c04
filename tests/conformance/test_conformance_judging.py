"""How answers are judged: a death, an error of another rule, a refusal that the peer does not state, no tensor.

A refusal is a stated kind of answer: an exception of another kind is a fault, and agrees with nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conformance_records import answers, own_peer, prepared, quick
from document_blocks import ROOT, blocks

from padops.cli import main
from padops.conformance import cases, judging, record, runner
from padops.conformance.arrays import pack
from padops.conformance.divergences import KNOWN, Divergence
from padops.conformance.features import BEYOND, Prepared
from padops.conformance.peers import PEERS
from padops.conformance.render.summary import versions_of

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


def judge(item: Prepared, answer: tuple, peer: str) -> tuple[str, str]:
    return judging.judge(item, answer, PEERS[peer])


def item(name: str) -> Prepared:
    return Prepared.of(cases.find_case(name))


@pytest.mark.parametrize("first", [0, 3])
def test_a_peer_that_does_not_start_again_is_a_failure_and_not_absent(first: int, tmp_path: Path) -> None:
    """The peer's answers stand, and no divergence explains the missing ones."""
    of_op = {op: [case for case in quick() if case.op == op] for op in ("Pad_18", "Pad_19", "Pad_21")}
    chosen = of_op["Pad_18"][:first] + of_op["Pad_19"][:1] + of_op["Pad_21"][:4]
    known = [Divergence("crashes", "crash", "P1", "it is made so", "own:pad", ">=0,<9999", families=("onnx",))]
    ran = answers(own_peer(tmp_path, ONCE), chosen, known)
    assert ran.handshake["versions"]["numpy"]
    crashes = 1 if first else 2  # of the first case of a process there is no doubt
    outcomes = [result["outcome"] for result in ran.results]
    assert outcomes == ["agree"] * first + ["crash"] * crashes + ["skipped"] * (5 - crashes)
    last = ran.results[first + crashes - 1]
    assert last["unexpected"] and "did not start again: ImportError: it starts only once" in last["detail"]
    assert record.footer([ran])["exit"] == 1


LABELLED = ("padops-native", "padops-provider", "padops-pyop", "reference")


def test_an_error_of_another_rule_is_a_wrong_answer() -> None:
    """Peers without labels may give any error, and what refuses a model before the provider has no label."""
    twice = item("table/Pad_18/reflect/int32/3/negative/one/matrix/repeated.row/fixed/0")
    assert twice.expected.rule == "P8"
    said = "Fail: out of memory [P10]"
    for name in LABELLED:
        assert judge(twice, ("refused", "Fail: axes name one axis twice [P8]"), name) == ("agree", "")
        assert judge(twice, ("refused", said), name) == ("error", f"{said}; expected an error of [P8]")
    assert judge(twice, ("refused", said), "ort-builtin") == ("agree", "")
    before = ("refused", "Node (pad) Op (Pad) [ShapeInferenceError] Axis 0 is referred to more than once.")
    assert judge(twice, before, "padops-provider") == ("agree", "")
    assert judge(twice, before, "padops-native")[0] == "error"


def test_padops_gives_the_label_of_every_rule() -> None:
    of_rule: dict[str, list] = {}
    for one in prepared():
        of_rule.setdefault(one.expected.rule or "", []).append(one.case)
    chosen = {case.id: case for rule, found in of_rule.items() if rule for case in found[:: len(found) // 12 + 1]}
    chosen |= {case.id: case for case in quick() if case.op == "NGraphPad_0" and case.mode in ("wrap", "edges", "")}
    ran = runner.run_cases([*chosen.values()], [runner.parse_peers(name)[0] for name in LABELLED], KNOWN)
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
    peer = own_peer(
        tmp_path,
        "import numpy\nfrom pathlib import Path\nPACKAGES = ('numpy',)\n"
        "Path(__file__).with_name('starts').open('a').write('.')\n"
        f"given = [{', '.join(text for text, _ in NO_TENSORS)}] * 2\n\n"
        "def pad(op, attributes, inputs):\n    return given.pop(0)\n",
    )
    of_op = [one for one in prepared() if one.case.op == "Pad_18"]
    halves = ([one.case for one in of_op if (one.packed is None) is wrong][:3] for wrong in (False, True))
    found = answers(peer, sum(halves, [])).results
    assert [result["outcome"] for result in found] == ["error"] * 6
    for result, (_, words) in zip(found, NO_TENSORS * 2, strict=True):
        assert result["detail"].startswith(words)
    assert (tmp_path / "starts").read_text() == "."


def test_within() -> None:
    """Only a peer that says so may be off, floats alone, and by so much of the expected number."""
    floats = item("specification/Pad_18/example-1/float")
    right = floats.expected.output
    assert [row.name for row in PEERS.values() if row.within] == ["ort-qnn", "padops-beside-qnn", "padops-for-qnn"]
    assert (right.dtype, bool(right.any())) == (np.float32, True)
    near, far = right * np.float32(1.0019), right * np.float32(1.0021)
    nothing = np.where(right == 0, np.float32(1e-30), right)  # of nothing, nothing is a part
    for output, peer, outcome in (
        (right, "ort-qnn", "agree"),
        (near, "ort-qnn", "agree"),
        (far, "ort-qnn", "differ"),
        (near, "ort-openvino", "differ"),
        (near, "padops-native", "differ"),
        (right.reshape(-1), "ort-qnn", "differ"),
        (right.astype(np.float64), "ort-qnn", "differ"),
        (nothing, "ort-qnn", "differ"),
        (np.full(right.shape, np.nan, np.float32), "ort-qnn", "differ"),
    ):
        assert judge(floats, ("output", pack(output)), peer)[0] == outcome
    whole = item("table/Pad_21/edge/int32/1/mixed/plain/none/absent.flat/held/0")
    off = whole.expected.output.copy()
    off.reshape(-1)[0] += 1
    assert judge(whole, ("output", pack(off)), "ort-qnn")[0] == "differ"
    ran = [runner.PeerRun(PEERS[name], {"versions": {"a": "1"}}) for name in ("ort-qnn", "ort-builtin")]
    assert [*map(versions_of, record.header("quick", 0, ran)["peers"])] == ["a 1, within 2e-3", "a 1"]


def test_what_the_standard_leaves_open_may_be_refused() -> None:
    """By the Pads of implementations; padops runs it, and so does what it makes. Other values are wrong everywhere."""
    beyond = item("specification/Pad_11/example-2/float")
    other = ("output", pack(beyond.expected.output + 1))
    for name, outcome in (
        *((name, "agree") for name in ("ort-builtin", "torch")),
        *((name, "error") for name in ("padops-native", "padops-provider", "without-pad-tract")),
    ):
        assert judge(beyond, ("refused", "Fail: Pad reflect"), name)[0] == outcome
        assert judge(beyond, other, name)[0] == "differ"
    assert judge(beyond, ("broken", "KeyError"), "ort-builtin")[0] == "error"


FAILING = "REFUSALS = {}\n\ndef pad(op, attributes, inputs):\n    raise {}('of its own')\n"


@pytest.mark.parametrize(
    ("stated", "raised", "outcome"),
    [
        ("()", "TypeError", "error"),
        ("(ValueError,)", "TypeError", "error"),
        ("(ValueError,)", "ValueError", "agree"),
        ("ArithmeticError", "ZeroDivisionError", "agree"),  # a type alone, and a kind of it
        ("(TypeError,)", "NotImplementedError", "unsupported"),
    ],
)
def test_only_what_a_peer_states_is_its_refusal(stated: str, raised: str, outcome: str, tmp_path: Path) -> None:
    """Such a peer gets no case right that has an output, whatever it states."""
    errors = [one.case for one in prepared() if one.packed is None][::20]
    right = [one.case for one in prepared() if one.packed is not None and one.of_class != BEYOND][::90]
    assert len(errors) > 20 and len(right) > 10
    found = answers(own_peer(tmp_path, FAILING.format(stated, raised)), [*errors, *right]).results
    expected = [outcome] * len(errors) + ["error" if outcome == "agree" else outcome] * len(right)
    assert [result["outcome"] for result in found] == expected
    if outcome == "error":
        assert {result["detail"] for result in found} == {f"{raised}: of its own"}


def test_a_statement_that_names_no_exceptions(tmp_path: Path) -> None:
    for stated, shown in (("(1,)", "1"), ("(SystemExit,)", "SystemExit")):
        (ran,) = runner.run_cases(quick()[:1], [own_peer(tmp_path, FAILING.format(stated, "ValueError"))], ())
        assert re.search(rf"TypeError: REFUSALS has .*{re.escape(shown)}.*, expected types of exceptions", ran.absent)


def test_every_peer_states_its_refusals() -> None:
    files = {row.file for row in PEERS.values() if not row.command}
    assert len(files) > 14
    for module in files:
        text = module.read_text(encoding="utf-8")
        assigned = re.findall(r"^REFUSALS = \((.+)\)", text, re.M)
        assert len(assigned) + len(re.findall(r"^from .* import .*\bREFUSALS\b", text, re.M)) == 1, module
        assert not {"Exception", "BaseException", "TypeError"} & {*" ".join(assigned).replace(",", " ").split()}, module


def test_an_error_of_numpy_is_no_refusal_of_onnxruntime() -> None:
    """onnxruntime gives an output that NumPy has no array of: a wrong answer, not an error of onnxruntime."""
    case = cases.find_case("table/Pad_2/edge/double/3/huge/empty/value/absent.flat/dynamic/0")
    (result,) = answers("ort-builtin", [case]).results
    assert result["outcome"] == "error" and result["detail"].startswith("ValueError: array is too big")


def test_the_example_of_the_page_is_a_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "conformance.md"
    (example,) = [block for block in blocks(page) if block.language == "python"]
    (command,) = re.findall(r"`padops (conformance .*mine\.py[^`]*)`", page.read_text(encoding="utf-8"))
    (tmp_path / "mine.py").write_text(example.code)
    monkeypatch.chdir(tmp_path)
    chosen = [case for case in quick() if case.op in ("Pad_11", "Pad_13", "Pad_18")]
    monkeypatch.setattr(cases, "collect", lambda *given: chosen)
    assert main(command.split()) == 0
    ran = [result for result in record.read("report/conformance.jsonl").results if result["outcome"] != "unsupported"]
    assert {(result["outcome"], result["op"]) for result in ran} == {("agree", "Pad_11"), ("agree", "Pad_13")}
    refused = sum(item(result["case"]).packed is None for result in ran)
    assert refused > 5 and len(ran) - refused > 20
