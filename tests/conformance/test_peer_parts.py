"""One file makes an implementation; its parts run without the library, and stand in the scripts of wrong answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from padops.conformance import cases
from padops.conformance.known import EXAMPLES, KNOWN
from padops.conformance.peers import PEERS, environments, parts
from padops.conformance.peers.request import Request
from padops.conformance.repro_calls import call_of

ANOTHER = '''"""One of its own."""

from __future__ import annotations

import nowhere
from nowhere.tensors import Tensor as T, other

from padops.conformance.divergences import Divergence
from padops.conformance.model import behind_identity
from padops.conformance.peers.request import Unsupported

ENVIRONMENT = {"name": "another", "families": ("onnx",), "requires": ("nowhere==2",)}
PACKAGES = ("nowhere",)
REFUSALS = (nowhere.Error, ValueError)
MODES = {"constant": 0}
pairs = 7  # not the argument below


@nowhere.quick
def helper(mode: other) -> T:
    return T(MODES[mode])


def pad(data, pairs, mode):
    unused: other = 1
    return behind_identity(helper(mode).pad(data, pairs))


def arguments(request):
    if request.mode not in MODES:
        raise Unsupported("no")
    return request.data, request.pairs("nowhere.pad"), request.mode


RECORDED = ">=2,<=2"
KNOWN = (Divergence("another-x", "differ", "P1", "why", "another", RECORDED),)
'''


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file as the page on peers describes it, whose implementation is not there."""
    (tmp_path / "isolated").mkdir()
    (tmp_path / "isolated" / "another.py").write_text(ANOTHER)
    monkeypatch.setattr(environments, "ISOLATED", tmp_path / "isolated")
    monkeypatch.setattr(parts, "PEERS_FOLDER", tmp_path)
    return tmp_path / "isolated" / "another.py"


def test_one_file_is_an_implementation(another: Path) -> None:
    """Its row, its environment, its versions, its known divergences and its scripts."""
    (row,) = environments.isolated_rows()
    assert (row.name, row.entry_point, row.environment) == ("another", "isolated.another:run_case", "another")
    assert parts.peer_files() == [another] and environments.file_of(row) == another
    assert [(one.id, one.versions) for one in parts.value_of(another, "KNOWN")] == [("another-x", ">=2,<=2")]
    case = cases.find_case("table/Pad_18/constant/float/1/both/plain/none/absent.flat/dynamic/0")
    call = call_of(row, Request.of(row.prepared(case.request())))
    assert call.packages == ("nowhere",) and call.refusals == "(nowhere.Error, ValueError)"
    assert call.run == [f'return pad(data, {Request.of(case.request()).pairs("")}, "constant")']
    assert call.imports == ["import nowhere", "from nowhere.tensors import Tensor as T"]
    assert [text.splitlines()[0] for text in call.shown] == [
        "def behind_identity(model: onnx.ModelProto) -> onnx.ModelProto:",
        'MODES = {"constant": 0}',
        "@nowhere.quick",
        "def pad(data, pairs, mode):",
    ]


def test_a_part_has_what_it_needs_and_no_more(another: Path) -> None:
    part = parts.Part.of(another, ["pad", "REFUSALS", "none"])
    assert [*part.definitions] == ["REFUSALS", "MODES", "helper", "pad"]
    assert parts.value_of(another, "none") is None and parts.value_of(another, "pairs") == 7
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        parts.value_of(another, "REFUSALS")


def test_what_the_suite_knows_is_read_without_an_implementation() -> None:
    """Each would take seconds to load, if it is installed at all."""
    implementations = (
        "torch",
        "tensorflow",
        "jax",
        "openvino",
        "onnxruntime",
        "cv2",
        "tract",
        "tvm",
        "tinygrad",
        "dask",
    )
    code = f"""
import sys
from padops.conformance.known import KNOWN
from padops.conformance.recorded import RECORDED
assert len(KNOWN) > 200 and len(RECORDED) > 15
print([name for name in {implementations} if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert ran.stdout == "[]\n"


def test_the_known_divergences_stand_in_the_order_of_the_peers() -> None:
    assert len({row.id for row in KNOWN}) == len(KNOWN) == len(EXAMPLES)
    order = [[*PEERS].index(row.peer) for row in KNOWN]
    assert order == sorted(order)
    (dask,) = [file for file in parts.peer_files() if file.stem == "dask"]
    assert [row for row in KNOWN if row.peer == "dask"] == [*parts.value_of(dask, "KNOWN")]


def test_arguments_are_those_that_the_suite_gives() -> None:
    """``pad`` of a peer whose implementation is here gives the output of the case with them."""
    from padops.conformance.peers import numpy_pad

    case = cases.find_case("table/Pad_18/reflect/float/2/both/plain/none/absent.flat/dynamic/0")
    request = Request.of(case.request())
    given = parts.value_of(environments.file_of(PEERS["numpy"]), "arguments")(request)
    assert np.array_equal(numpy_pad.pad(*given), numpy_pad.pad(*numpy_pad.arguments(request)))
