"""What every run of the tests says: which runtime and library it is about, and, at its end, what it did not have.

Tests that compare with another implementation stand in files of their own and import it plainly. ``needs.py`` says what
is left out where the implementation, or a program, is missing; ``rest.py`` has a second run take what a first one left
out.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import needs
import pytest
import rest
import slow

# Without oneDNN TensorFlow 2.21 has no NCHW and no dilations in 3-D, and its MaxPool3D is wrong where a stride is
# longer than its window. Unless it is told, it uses oneDNN on some processors only.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
# Nothing that padops probe has measured here: tests are about the rules of padops, or name a folder.
os.environ["PADOPS_RULES"] = ""

# It forks in a thread when a test imports openvino; the copy may never end, and holds the pipes of this process.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

# Files of a few tests that take minutes. They come first, so that no process is left alone with one at the end.
LONGEST = ("test_property", "test_sanitizers", "test_engine_check")


@pytest.fixture(autouse=True)
def children_parse_as_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """tf2onnx tells the processes that it starts to use protobuf's Python parser, which makes signalling NaNs quiet."""
    monkeypatch.delenv("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", raising=False)


@pytest.fixture(autouse=True, scope="session")
def few_small_inputs() -> Iterator[None]:
    """Of small models, the verifier tries hundreds of small inputs; here fewer."""
    from padops.convert.verify import compare

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare, "MANY", 60)
        yield


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    from command_lines import run

    return partial(run, capsys)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def inspected(here: Path) -> Path:
    from inspected_models import write_models

    write_models(here)
    return here


@pytest.fixture
def unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verifier that proves nothing, so that what runs give is all that there is."""
    from padops.convert.records import ProofRecord
    from padops.convert.verify import choice

    found = ProofRecord("unknown", why="nobody has tried to prove it")
    monkeypatch.setattr(choice, "prove", lambda *given, **more: found)


def pytest_addoption(parser: pytest.Parser) -> None:
    rest.add_options(parser)
    slow.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    import padops

    config.addinivalue_line("markers", "needs(*names): programs and libraries without which the test is left out")
    config.addinivalue_line("markers", "needs_environment(name): compares with a peer that scripts/peers.py makes")
    rest.configure(config)
    # A shell without job control starts ``command &`` with SIGINT ignored, and every process below inherits it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # So that the processes that tests start need not each ask the build tools whether the library is up to date.
    os.environ.setdefault("PADOPS_LIBRARY", padops.get_library_path())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path.suffix != ".py":
        return None
    slow_one = config.getoption("--without-slow") and slow.is_slow(collection_path.relative_to(needs.TESTS).as_posix())
    return True if slow_one or not needs.can_be_imported(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    before = rest.passed_before(config)
    left_out = {item for item in items if item.nodeid in before or needs.needs_of(item) & needs.NOT_HERE}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    rest.mark_incomplete(items, needs.NOT_HERE)


def pytest_collection_finish() -> None:
    """Collects garbage once, and excludes the collected tests, which live until the end, from further collections."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> list[str]:
    import onnxruntime

    import padops

    return [f"onnxruntime {onnxruntime.__version__}: {onnxruntime.__path__[0]}", f"padops: {padops.get_library_path()}"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says at the end what was left out, where the reader of a long run looks."""
    config = terminalreporter.config
    noted = terminalreporter.stats.values() if config.getoption("--note-passed") else ()
    reports = [report for each in noted for report in each if isinstance(report, pytest.TestReport)]
    for line in (*needs.said(), *slow.said(config), *slow.unlisted(reports)):
        terminalreporter.write_line(line)
