"""What every run of the tests says first: which runtime and library it is about, and which peers it does not have.

Tests that compare with another implementation stand in files of their own and import it plainly. Where ``PADOPS_PEERS``
is set (``scripts/test.py --peers``, and so in CI) all of them run, and a missing peer is a failure. Elsewhere the files of
missing peers are left out, and the header names them.
"""

from __future__ import annotations

import ast
import gc
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import chromium
import pytest

from padops.conformance.peers.environments import is_made, rows_apart

HERE = Path(__file__).parent

# Without oneDNN TensorFlow 2.21 has no NCHW and no dilations in 3-D, and its MaxPool3D is wrong where a stride is longer
# than its window. Unless it is told, it uses oneDNN on some processors only.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"

NEIGHBOURS = {path.stem: path for path in HERE.rglob("*.py") if path.parent.name not in ("mutation", "long")}
PEERS = {"jax", "jax2onnx", "onnxifier", "onnxscript", "openvino", "tensorflow", "tf2onnx", "torch"}


@cache
def peers_of(file: Path) -> frozenset[str]:
    """The peers that a file imports, itself or through its neighbours."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in {name.partition(".")[0] for name in names}:
            neighbour = NEIGHBOURS.get(name)
            found |= peers_of(neighbour) if neighbour else {name} & PEERS
    return frozenset(found)


MISSING = {
    file.relative_to(HERE).as_posix(): missing
    for file in sorted(HERE.rglob("test_*.py"))
    if (missing := sorted(peer for peer in peers_of(file) if find_spec(peer) is None))
}

PROVIDERS = ("ort-openvino", "ort-webgpu", "ort-qnn")  # execution providers that scripts/providers.py asks
NO_CLANG = not os.environ.get("PADOPS_PEERS") and which("clang++") is None
# The type checkers and what else the extra ``lint`` has.
CHECKERS = ("mypy", "basedpyright", "twine", "check_wheel_contents")
UNCHECKED = [] if os.environ.get("PADOPS_PEERS") else [name for name in CHECKERS if find_spec(name) is None]
# Peers with an environment of their own that is neither there nor asked for.
ASKED_FOR = os.environ.get("PADOPS_PEERS", "").split(",")
APART = {row.name: row.environment for row in rows_apart()} | dict.fromkeys(PROVIDERS)
NOT_MADE = [name for name, place in APART.items() if not {name, place} & {*ASKED_FOR} and not is_made(place or name)]
NO_BROWSER = not os.environ.get("PADOPS_PEERS") and not any(map(which, chromium.NAMES))

collect_ignore = [] if os.environ.get("PADOPS_PEERS") else list(MISSING)


# Files of a few tests that take minutes. They come first, so that no process is left alone with one at the end.
LONGEST = ("test_property", "test_sanitizers", "test_engine_check")


@pytest.fixture(autouse=True)
def children_parse_as_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """tf2onnx tells the processes that it starts to use protobuf's Python parser, which makes signalling NaNs quiet."""
    monkeypatch.delenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", raising=False)


@pytest.fixture
def optional_libraries() -> set[str]:
    """Those that other implementations are in, of which some may be missing."""
    return PEERS


def pytest_configure(config: pytest.Config) -> None:
    import padops

    config.addinivalue_line("markers", "needs_environment(name): compares with a peer that scripts/peers.py makes")
    # So that the processes that tests start need not each ask the build tools whether the library is up to date.
    os.environ.setdefault("PADOPS_LIBRARY", padops.get_library_path())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    shown = [item for item in items if NO_BROWSER and "browser" in getattr(item, "fixturenames", ())]
    built = [item for item in items if NO_CLANG and item.name == "test_clang"]
    checked = [
        item for item in items if getattr(item, "callspec", None) and item.callspec.params.get("checker") in UNCHECKED
    ]
    needed = [(item, mark.args[0]) for item in items for mark in item.iter_markers("needs_environment")]
    apart = [item for item, name in needed if name in NOT_MADE]
    left_out = {*shown, *built, *checked, *apart}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.path.stem not in LONGEST)


def pytest_collection_finish() -> None:
    """What thousands of collected tests hold stays until the end: no garbage collection needs to look through it again."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> list[str]:
    import onnxruntime
    from mutation.lacking import LACKING

    import padops

    lines = [
        f"onnxruntime {onnxruntime.__version__}: {onnxruntime.__path__[0]}",
        f"padops: {padops.get_library_path()}",
    ]
    if collect_ignore:
        peers = ", ".join(sorted({peer for name in collect_ignore for peer in MISSING[name]}))
        lines.append(f"NOT COMPARED with {peers}: not installed; left out: {', '.join(collect_ignore)}")
    if NOT_MADE:
        lines.append(
            f"NOT COMPARED with {', '.join(NOT_MADE)}: no environment; scripts/peers.py makes them, and scripts/providers.py those of providers"
        )
    if LACKING:
        lines.append(f"NOT MUTATED: IRs of OpenVINO, for lack of {', '.join(LACKING)}; the kind 'openvino' is left out")
    if NO_BROWSER:
        lines.append("NOT SHOWN in a browser: no chromium on the PATH; the tests of the conformance page are left out")
    if NO_CLANG:
        lines.append("NOT BUILT with clang: no clang++ on the PATH; the check of the engine runs as gcc builds it")
    if UNCHECKED:
        lines.append(f"NOT CHECKED by what a user or an index checks with: {', '.join(UNCHECKED)} not installed")
    return lines
