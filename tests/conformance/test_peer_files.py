"""Files of peers, a test's own and those of the checkout: what they state, and how they are run and known."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cpp_builds import well

from padops.cli import main
from padops.conformance import cases, record, runner
from padops.conformance.divergences import EXAMPLES, KNOWN, RECORDED, add_peers
from padops.conformance.peers import PEERS, SHARING, parts
from padops.conformance.repro import script

# numpy.pad as a file of peers, with a file beside it; without packages of its own it runs where padops runs.
ANOTHER = '''"""One of its own."""

from __future__ import annotations

import numpy as np
from numpy import ndarray as Array, pad as other

from padops.conformance.model import feeds
from padops.conformance.peers.request import Unsupported

from .beside import MODES, same

ENVIRONMENT = {"name": "another", "families": ("onnx",), "function_only": True, "beside": {"name": "padops-another"}}
PACKAGES = ("numpy",)
REFUSALS = (np.exceptions.AxisError, ValueError, MemoryError)
unread = 7


@same
def helper(mode: other) -> Array:
    return {"mode": MODES[mode]}


def pad(data, pairs, mode):
    unused: other = 1
    return np.pad(data, np.array(pairs, np.int64).reshape(-1, 2), **helper(mode))


def arguments(request):
    if request.mode not in MODES:
        raise Unsupported("no")
    return request.data, request.pairs("numpy.pad", may_crop=False), request.mode


def run_beside(request):
    return pad(*arguments(request))
'''
BESIDE = 'MODES = {"reflect": "reflect", "edge": "edge"}\n\n\ndef same(function):\n    return function\n'
WHY = "an array of rank 0 is refused"
EMPTY = {"id": "another-empty", "like": "numpy-empty-axis", "peer": "another", "example": EXAMPLES["numpy-empty-axis"]}
ROWS = [
    {"id": "another-rank-0", "outcome": "error", "rule": "P5", "reason": WHY, "peer": "another", "tags": ["rank-0"],
     "expected": "output", "says": "zero-size array", "example": EXAMPLES["numpy-rank-0"]},
    EMPTY,
    EMPTY | {"id": "elsewhere", "peer": "of another file"},
]  # fmt: skip


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Path]:
    """A file as the page on peers describes it; what the suite knows is as before in the end."""
    kept = [(one, one.copy()) for one in (PEERS, KNOWN, EXAMPLES, RECORDED)]
    (tmp_path / "another.py").write_text(ANOTHER)
    (tmp_path / "beside.py").write_text(BESIDE)
    said = [{"package": "of-another", "recorded": ">=1,<=99", "rows": ROWS}]
    (tmp_path / "known.json").write_text(json.dumps(said))
    yield tmp_path / "another.py"
    for one, before in kept:
        one.clear()
        one.extend(before) if isinstance(one, list) else one.update(before)


def test_a_file_is_run_by_its_path(another: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = another.parent / "out"
    assert main(["conformance", "--quick", "--peer", str(another), "--out", str(out)]) == 1
    whole = record.read(out / record.FILE)
    assert [row["name"] for row in whole.header["peers"]] == ["another", "padops-another"]
    first = [result for result in whole.results if result["peer"] == "another"]
    known = {result["divergence"] for result in first if not result["unexpected"]}
    assert known == {None, "another-rank-0", "another-empty"}
    unexpected = Counter(result["peer"] for result in whole.results if result["unexpected"])
    assert unexpected["padops-another"] > unexpected["another"] + 10, "nothing is known of it"
    shown = next(result for result in first if result["outcome"] == "agree")["repro"]
    assert shown.startswith("padops conformance repro table/") and shown.endswith("another.py")
    capsys.readouterr()
    words = shown.split()
    assert main([*words[1:-1], str(another)]) == 0
    (another.parent / "shown.py").write_text(capsys.readouterr().out)
    assert "the same bits" in well(sys.executable, another.parent / "shown.py")


def test_what_a_file_states(another: Path) -> None:
    row, second = add_peers(another)
    assert (row.name, row.entry_point, row.file) == ("another", f"{another}:run_case", another)
    assert (second.name, second.entry_point) == ("padops-another", f"{another}:run_beside")
    assert not row.environment and add_peers(another.parent) == [row, second]
    mine = [one for one in KNOWN if one.peer == "another"]
    assert [(one.id, one.versions, one.reason) for one in mine] == [
        ("another-rank-0", ">=1,<=99", WHY),
        ("another-empty", ">=1,<=99", next(one.reason for one in KNOWN if one.id == "numpy-empty-axis")),
    ]
    assert "elsewhere" not in EXAMPLES and EXAMPLES["another-empty"] == EXAMPLES["numpy-empty-axis"]
    request = row.prepared(cases.find_case("table/Pad_18/edge/float/1/both/plain/none/absent.flat/dynamic/0"))
    text = script(cases.find_case(request.id), row.name)
    assert "\nREFUSALS = (np.exceptions.AxisError, ValueError, MemoryError)\n" in text and "Needs numpy.\n" in text
    assert "return pad(data, pairs, mode)" in text
    assert 'MODES = {"reflect": "reflect", "edge": "edge"}\n' in text and "def same(function):\n" in text
    assert "\n@same\ndef helper" in text and not {"def arguments", "unread", "unused"} & {*text.split("\n")}
    assert parts.value_of(another, "none") is None and parts.value_of(another, "unread") == 7
    another.write_text(ANOTHER.replace("import numpy as np", "import nowhere as np"))
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        parts.value_of(another, "REFUSALS")


def test_what_a_file_may_not_state(another: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for change, why in (
        (("ENVIRONMENT = ", "OTHER = "), "there is no ENVIRONMENT"),
        (('"name": "another"', '"name": "numpy"'), "another peer is called 'numpy'"),
        (('"function_only": True', '"form": "x"'), "form 'x', expected declared or fixed"),
    ):
        another.write_text(ANOTHER.replace(*change))
        assert main(["conformance", "--quick", "--peer", str(another)]) == 2
        assert why in capsys.readouterr().err and "another" not in PEERS
    another.write_text(ANOTHER)
    for rows in ([{}], [{**EMPTY, "like": "none"}], [{**EMPTY, "more": "x"}], 1):
        said = [{"package": "of-another", "recorded": ">=1,<=99", "rows": rows}]
        (another.parent / "known.json").write_text(json.dumps(said))
        assert main(["conformance", "--quick", "--peer", str(another)]) == 2
        assert "known.json: not a list of known divergences: " in capsys.readouterr().err


def test_what_the_suite_knows_is_read_without_an_implementation() -> None:
    """Each would take seconds to load, if it is installed at all. The package alone knows those beside padops."""
    code = f"""
import sys
from pathlib import Path
from padops.conformance.divergences import KNOWN, add_peers
from padops.conformance.peers import PEERS
assert len(KNOWN) > 100 and not any(row.environment for row in PEERS.values())
add_peers(Path({str(PEERS["tract"].file.parent)!r}))
assert len(KNOWN) > 200
print({{"torch", "tensorflow", "jax", "openvino", "onnxruntime", "cv2", "tract", "tvm"}} & {{*sys.modules}})
"""
    assert well(sys.executable, "-c", code) == "set()\n"


# --- peers with environments of their own -----------------------------------------------------------------------------

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
        assert one.absent.startswith(f"the environment is missing: python3 scripts/peers.py {environment} makes it, ")
