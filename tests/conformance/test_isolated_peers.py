"""Peers with environments of their own: what their files state, and that each is as its known divergences say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from padops.conformance import cases, runner
from padops.conformance.known import EXAMPLES, KNOWN
from padops.conformance.peers import PEERS, environments

ISOLATED = sorted(name for name, row in PEERS.items() if row.isolated)
FILES = sorted(environments.ISOLATED.glob("[!_]*.py"))


def functions_of(file: Path) -> set[str]:
    """The names to which a module binds functions, by ``def`` or by assignment."""
    nodes = ast.parse(file.read_text()).body
    assigned = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    names = [name for target in assigned for name in ast.walk(target) if isinstance(name, ast.Name)]
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | {name.id for name in names}


def test_each_file_is_a_peer() -> None:
    assert (len(FILES), len(ISOLATED)) == (10, 21)
    stated = [environments.environment_of(file) for file in FILES]
    shared = [about[key]["name"] for about in stated for key in environments.SHARING if key in about]
    assert sorted([*(about["name"] for about in stated), *shared]) == ISOLATED
    assert {PEERS[name].environment for name in ISOLATED} == {
        "dask",
        "onnxruntime-web",
        "onnxruntime-web-webgpu",
        "opencv",
        "ort-openvino",
        "ort-qnn",
        "ort-webgpu",
        "tinygrad",
        "tract",
        "tvm",
    }
    for file, about in zip(FILES, stated):
        for text in about.get("requires", ()):
            assert "==" in text, f"{file.name}: {text} has no version"
        assert len({"requires", "node"} & about.keys()) == 1, f"{file.name}: one environment"
        if "program" in about:
            assert (environments.ISOLATED / about["program"]).is_file()
        else:
            functions = functions_of(file)
            assert {"pad", "arguments"} <= functions or "run_case" in functions
            assert {environments.SHARING[key][0] for key in environments.SHARING.keys() & about} <= functions


def test_a_new_file_is_a_new_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "ISOLATED", tmp_path)
    (tmp_path / "another.py").write_text('ENVIRONMENT = {"name": "another", "families": ("onnx",), "requires": ()}\n')
    (row,) = environments.isolated_rows()
    assert (row.name, row.entry_point, row.environment) == ("another", "isolated.another:run_case", "another")
    sharing = 'ENVIRONMENT = {"name": "b", "families": (), "without_pad": {"name": "s", "forks": True}}\n'
    (tmp_path / "b.py").write_text(sharing)
    assert [(row.name, row.environment, row.entry_point) for row in environments.isolated_rows()][1:] == [
        ("b", "b", "isolated.b:run_case"),
        ("s", "b", "isolated.b:run_without_pad"),
    ]
    (tmp_path / "another.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match="there is no ENVIRONMENT"):
        list(environments.isolated_rows())


@pytest.mark.parametrize("name", ISOLATED)
def test_without_an_environment_it_is_absent(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADOPS_ENVIRONMENTS", str(tmp_path))
    case = cases.find_case("specification/Pad_11/example-2/float")
    (ran,) = runner.run_cases([case], [runner.parse_peer(name)], KNOWN)
    assert ran.absent == f"it has no environment: python3 scripts/peers.py {PEERS[name].environment} makes it"


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_environment(name)) for name in ISOLATED])
def test_each_is_as_known(name: str) -> None:
    """The example of each known divergence, and some cases beside them."""
    examples = [EXAMPLES[row.id] for row in KNOWN if row.peer == name]
    chosen = list({case.id: case for case in [*map(cases.find_case, examples), *cases.collect("quick")[::60]]}.values())
    (ran,) = runner.run_cases(chosen, [runner.parse_peer(name)], KNOWN, "exhaustive")
    assert ran.absent is None, ran.absent
    assert [(result["case"], result["detail"]) for result in ran.results if result["unexpected"]] == []
    assert ran.stale == [] and any(result["outcome"] == "agree" for result in ran.results)
