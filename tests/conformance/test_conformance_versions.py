"""Versions of peers: what those do that nobody has recorded is listed apart, and is no failure of padops."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conformance_records import answers, quick

from padops.cli import main
from padops.conformance import cases, divergences, record, runner
from padops.conformance.divergences import EXAMPLES, KNOWN, RECORDED, Divergence, in_range, judged_as, version_key
from padops.conformance.peers import PEERS
from padops.conformance.peers.parts import value_of
from padops.conformance.runner import Process

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
        with pytest.raises(ValueError, match="a range of versions says"):
            Divergence("x", "differ", "P1", "why", "numpy", text)


def test_version_ranges() -> None:
    for version, versions, inside in (
        ("1.31.1", ">=1.25,<1.32", True),
        ("2.13.0+cpu", ">=2.13,<=2.13.0", True),
        ("0.27.0.post1", ">=0.27.0.1,<=0.27.0.1", True),
        ("1.24.4", ">=1.25,<2", False),
        ("1.31.0", ">=1.20,<1.31", False),
        ("2.13.1", ">=2.13,<=2.13.0", False),
        ("1.31.0rc1", ">=1.20,<1.31", False),
        ("", ">=0,<9999", False),
    ):
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


def test_the_command_and_its_reports(
    reporting: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cases, "collect", lambda *given: RANK_0)
    monkeypatch.setattr("padops.conformance.divergences.KNOWN", (GONE,))
    reporting.append({"numpy": "99.0"})
    for strict, code in (([], 0), (["--strict-peers"], 1)):
        assert main(["conformance", "--quick", "--peer", "numpy", "--out", str(tmp_path), *strict]) == code
        out = capsys.readouterr().out
        assert "New behaviour: " in out and "No longer seen there: gone." in out
        assert "numpy numpy 99.0 >=2.1.3,<=2.4.6" in " ".join(out.split())
        assert re.search(r"results, 0 unexpected, 0 stale; of versions not recorded \d+ new, 1 gone$", out.strip())
    count = record.read(tmp_path / "conformance.jsonl").footer["new"]
    text, page, junit = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("report.md", "report.html", "junit.xml")
    )
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
