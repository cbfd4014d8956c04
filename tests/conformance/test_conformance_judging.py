"""How answers are judged: deaths, errors of other rules, refusals that are not stated, no tensors; and new versions.

A refusal is a stated kind of answer: an exception of another kind is a fault, and agrees with nothing.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conformance_records import answers, own_peer, prepared, quick
from document_blocks import ROOT, blocks

from padops.cli import main
from padops.conformance import cases, divergences, judging, record, runner
from padops.conformance.arrays import pack
from padops.conformance.divergences import EXAMPLES, KNOWN, RECORDED, Divergence, in_range, judged_as, version_key
from padops.conformance.features import BEYOND, Prepared
from padops.conformance.peers import PEERS
from padops.conformance.peers.parts import value_of
from padops.conformance.render.summary import versions_of
from padops.conformance.runner import Process

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
    ("numpy.zeros(2, 'complex64')", "the output is ndarray of complex64: complex64 is not an element type of Pad"),
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
    for output, peer, outcome in ((right, "ort-qnn", "agree"),
                                  (near, "ort-qnn", "agree"),
                                  (far, "ort-qnn", "differ"),
                                  (near, "ort-openvino", "differ"),
                                  (near, "padops-native", "differ"),
                                  (right.reshape(-1), "ort-qnn", "differ"),
                                  (right.astype(np.float64), "ort-qnn", "differ"),
                                  (nothing, "ort-qnn", "differ"),
                                  (np.full(right.shape, np.nan, np.float32), "ort-qnn", "differ")):  # fmt: skip
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
    agreeing = ("ort-builtin", "torch")
    for name in (*agreeing, "padops-native", "padops-provider", "without-pad-tract"):
        outcome = "agree" if name in agreeing else "error"
        assert judge(beyond, ("refused", "Fail: Pad reflect"), name)[0] == outcome
        assert judge(beyond, other, name)[0] == "differ"
    assert judge(beyond, ("broken", "KeyError"), "ort-builtin")[0] == "error"


FAILING = "REFUSALS = {}\n\ndef pad(op, attributes, inputs):\n    raise {}('of its own')\n"


@pytest.mark.parametrize(("stated", "raised", "outcome"), [
    ("()", "TypeError", "error"),
    ("(ValueError,)", "TypeError", "error"),
    ("(ValueError,)", "ValueError", "agree"),
    ("ArithmeticError", "ZeroDivisionError", "agree"),  # a type alone, and a kind of it
    ("(TypeError,)", "NotImplementedError", "unsupported"),
])  # fmt: skip
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
        assert re.search(rf"TypeError: REFUSALS has .*{re.escape(shown)}.*, expected exception types", ran.absent)


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


# --- versions: what those do that nobody has recorded is listed apart, and is no failure of padops -------------------

RANK_0 = [case for case in quick() if case.data.ndim == 0 and case.op == "Pad_18"]
GONE = Divergence("gone", "crash", "P5", "it was so", "numpy", ">=2,<=2.4.6", tags={"rank-0"})


@pytest.fixture
def reporting(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The versions that every peer says it has, in the last element."""
    said: list[dict[str, str]] = []
    start = Process.start
    monkeypatch.setattr(Process, "start", lambda process: {**start(process), "versions": said[-1]})
    return said


def test_every_divergence_has_a_range_within_the_recorded_versions() -> None:
    ranges = {row.id: row.versions for row in KNOWN}
    for folder in (Path(divergences.__file__).parent, Path(__file__).parents[2] / "scripts" / "isolated"):
        for group in json.loads((folder / "known.json").read_text(encoding="utf-8")):
            oldest, newest, _ = divergences.bounds_of(group["recorded"])
            assert group["recorded"] in {ranges[row["id"]] for row in group["rows"]}
            for row in group["rows"]:
                first, last, _ = divergences.bounds_of(ranges[row["id"]])
                assert version_key(oldest) <= version_key(first) <= version_key(last) <= version_key(newest), row["id"]
    for text in ("~=1.0", "", ">=1.20", "<1.31", ">=1,<2,<3"):
        with pytest.raises(ValueError, match="a range of versions is"):
            Divergence("x", "differ", "P1", "why", "numpy", text)


def test_version_ranges() -> None:
    for version, versions, inside in (("1.31.1", ">=1.25,<1.32", True),
                                      ("2.13.0+cpu", ">=2.13,<=2.13.0", True),
                                      ("0.27.0.post1", ">=0.27.0.1,<=0.27.0.1", True),
                                      ("1.24.4", ">=1.25,<2", False),
                                      ("1.31.0", ">=1.20,<1.31", False),
                                      ("2.13.1", ">=2.13,<=2.13.0", False),
                                      ("1.31.0rc1", ">=1.20,<1.31", False),
                                      ("", ">=0,<9999", False)):  # fmt: skip
        assert in_range(version, versions) is inside, version


def test_the_pinned_versions_are_recorded() -> None:
    stated = [value_of(file, "ENVIRONMENT") for file in {row.file for row in PEERS.values() if row.environment}]
    pinned = [re.sub(r"\[.*\]", "", text).split("==") for about in stated for text in about.get("requires", ())]
    pinned += [row for about in stated for row in about.get("node", {}).items()]
    checked = {name: in_range(version, RECORDED[name]) for name, version in pinned if name in RECORDED}
    assert len(checked) == 12 and all(checked.values()), checked
    wheels = re.findall(r'"(openvino|torch)==([\d.]+)"', (Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert len(wheels) == 2 and all(in_range(version, RECORDED[name]) for name, version in wheels)


def test_a_version_is_judged_as_the_nearest_recorded_one() -> None:
    for version in ("2.13.0+cpu", "2.15.0", "2.13.1", "1.0", "3.0.0.dev2"):
        right = (version, "") if version == "2.13.0+cpu" else ("2.13.0", RECORDED["torch"])
        assert judged_as(PEERS["torch"], {"torch": version, "other": "0"}) == right


def test_nothing_excuses_padops_or_a_peer_of_the_users_own(tmp_path: Path) -> None:
    excused = lambda peer, versions: judged_as(peer, versions)[1]
    (tmp_path / "numpy.py").write_text("")
    own = runner.parse_peers(f"{tmp_path}/numpy.py:pad")[0]
    assert excused(PEERS["numpy"], {"numpy": "99"}) and not excused(own, {"numpy": "99"})
    assert not excused(replace(own, name="numpy"), {"numpy": "99"})
    ours = {name for name, row in PEERS.items() if row.ours}
    assert ours == {"reference", *(name for name in PEERS if name.startswith("padops-"))} and len(ours) == 14
    for name in ("onnxruntime", "onnxruntime-gpu"):
        assert excused(PEERS["ort-builtin"], {name: "9.0"}) == RECORDED["onnxruntime"]
        assert not any(excused(PEERS[peer], {name: "9.0"}) for peer in ours)
    # The package of a provider is what counts for its peers, whatever the runtime beside it is.
    newer = {"onnxruntime-qnn": "9.0", "onnxruntime": "1.32.0"}
    assert excused(PEERS["ort-qnn"], newer) == RECORDED["onnxruntime-qnn"]
    older = {"onnxruntime-qnn": "2.7.0", "onnxruntime": "9.0"}
    assert judged_as(PEERS["padops-beside-qnn"], older)[0] == "2.7.0"


def outcome(version: str, known: list[Divergence], said: list[dict[str, str]]) -> tuple[runner.PeerRun, list[int]]:
    said.append({"numpy": version})
    ran = answers("numpy", RANK_0, known)
    return ran, [record.footer([ran], strict=strict)["exit"] for strict in (False, True)]


def test_new_behaviour_is_listed_apart_and_fails_only_a_strict_run(reporting: list[dict[str, str]]) -> None:
    ran, codes = outcome("99.0", [GONE], reporting)
    assert codes == [0, 1] and ran.seen == {"gone": 0}
    assert {result["new"] for result in ran.results if result["outcome"] == "error"} == {True}
    assert not any(result["unexpected"] for result in ran.results)
    footer = record.footer([ran])
    assert (footer["unexpected"], footer["stale"], footer["gone"]) == (0, [], ["gone"]) and footer["new"] > 3

    ran, codes = outcome("2.4.6", [GONE], reporting)
    footer = record.footer([ran])
    assert codes == [1, 1] and footer["unexpected"] > 3
    assert (footer["stale"], footer["new"], footer["gone"]) == (["gone"], 0, [])


def test_what_is_as_in_the_newest_recorded_version_is_known(reporting: list[dict[str, str]]) -> None:
    ran, codes = outcome("99.0", [row for row in KNOWN if row.peer == "numpy"], reporting)
    assert codes == [0, 0] and "numpy-rank-0" in {result["divergence"] for result in ran.results}


def test_padops_in_a_new_runtime_is_never_excused(reporting: list[dict[str, str]]) -> None:
    reporting.append({"onnxruntime": "99.0"})
    int32 = cases.find_case(EXAMPLES["provider-int32-axes"])
    for known, said in (((), (True, False, None)), (KNOWN, (False, False, int32.id))):
        (result,) = answers("padops-provider", [int32], known).results
        shown = EXAMPLES.get(result["divergence"])
        assert (result["unexpected"], result["new"], shown) == said


def test_the_command_and_its_reports(reporting: list[dict[str, str]], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(cases, "collect", lambda *given: RANK_0)
    monkeypatch.setattr("padops.conformance.divergences.KNOWN", (GONE,))
    reporting.append({"numpy": "99.0"})
    for strict, code in (([], 0), (["--strict-peers"], 1)):
        assert main(["conformance", "--quick", "--peer", "numpy", "--out", str(tmp_path), *strict]) == code
        out = capsys.readouterr().out
        assert "New behaviour: " in out and "No longer seen there: gone." in out
        assert "numpy numpy 99.0 >=2.1.3,<=2.4.6" in " ".join(out.split())
        assert re.search(r"results, 0 unexpected, 0 stale; in versions not recorded: \d+ new, 1 gone$", out.strip())
    count = record.read(tmp_path / "conformance.jsonl").footer["new"]
    names = ("report.md", "report.html", "junit.xml")
    text, page, junit = ((tmp_path / name).read_text(encoding="utf-8") for name in names)
    assert "## New behaviour" in text and "## Unexpected" not in text and "No longer seen there: gone." in text
    assert "| numpy | numpy 99.0 | &gt;=2.1.3,&lt;=2.4.6 |" in text
    assert re.search(rf"\| numpy \| numpy 99.0 \| .* \| 0 \| 0 \| {count} \| 0 \|", text)
    assert "<h2>New behaviour" in page and "<h2>Unexpected" not in page
    assert junit.count('type="new"') > 0 and junit.count('type="gone"') == 1


# The module without which a peer is absent, and not wrong in all of its cases.
MODULES = {
    "padops-pyop": "onnxruntime_extensions", "padops-lowered": "onnx_ir", "without-pad-reference": "onnx_ir",
    "ort-builtin": "onnxruntime", "openvino-1": "openvino", "torch": "torch", "tensorflow": "tensorflow",
}  # fmt: skip


def test_an_implementation_that_is_not_there_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])))
    gone = {PEERS[name].entry_point: module for name, module in MODULES.items()}
    hide = f"import sys\nsys.modules.update((name, None) for peer, name in {gone}.items() if peer in sys.orig_argv)\n"
    (tmp_path / "sitecustomize.py").write_text(hide)
    for one in runner.run_cases(RANK_0[:1], [runner.parse_peers(name)[0] for name in MODULES], ()):
        assert one.handshake is None and one.results == [] and MODULES[one.peer.name] in one.absent
