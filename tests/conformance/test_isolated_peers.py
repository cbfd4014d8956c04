"""Peers with environments of their own, each as its known divergences say."""

from __future__ import annotations

from pathlib import Path

import pytest
from conformance_records import quick

from padops.conformance import cases, runner
from padops.conformance.divergences import EXAMPLES, KNOWN
from padops.conformance.peers import PEERS, SHARING, parts

ISOLATED = sorted(name for name, row in PEERS.items() if row.environment)
FILES = sorted({PEERS[name].file for name in ISOLATED})


def test_each_file_of_the_checkout_is_a_peer() -> None:
    assert (len(FILES), len(ISOLATED)) == (10, 21)
    for file in FILES:
        about = parts.value_of(file, "ENVIRONMENT")
        assert all("==" in text for text in about.get("requires", ())), f"{file.name}: a package has no version"
        assert len({"requires", "node"} & about.keys()) == 1, f"{file.name}: one environment"
        if "program" in about:
            assert file.with_name(about["program"]).is_file()
        else:
            assert parts.has(file, "pad") and parts.has(file, "arguments")
            assert all(parts.has(file, SHARING[key][0]) for key in SHARING.keys() & about)


def test_without_an_environment_it_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADOPS_ENVIRONMENTS", str(tmp_path))
    case = cases.find_case("specification/Pad_11/example-2/float")
    for one in runner.run_cases([case], [runner.parse_peers(name)[0] for name in ISOLATED], KNOWN):
        environment = one.peer.environment
        assert one.absent.startswith(f"it has no environment: python3 scripts/peers.py {environment} makes it, and ")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ISOLATED])
def test_each_is_as_known(name: str) -> None:
    examples = [EXAMPLES[row.id] for row in KNOWN if row.peer == name]
    chosen = list({case.id: case for case in [*map(cases.find_case, examples), *quick()[::60]]}.values())
    (ran,) = runner.run_cases(chosen, runner.parse_peers(name), KNOWN, "exhaustive")
    assert ran.absent is None, ran.absent
    assert [(result["case"], result["detail"]) for result in ran.results if result["unexpected"]] == []
    assert all(ran.seen.values()) and any(result["outcome"] == "agree" for result in ran.results)
