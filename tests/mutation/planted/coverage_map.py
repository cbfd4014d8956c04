"""Which tests run each line of padops' Python: one run of the tests under coverage.py, in the copy.

pytest loads this module as a plugin. The processes that a test starts count as that test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from statistics import mean

import pytest

FOLDER = Path("build", "planted", "lines")
DATA, SECONDS, SETTINGS = "coverage", "seconds.json", "settings.ini"
TEST = "PLANTED_TEST"  # the environment variable with the test that runs
STARTS = "import coverage; coverage.process_startup()"  # a line of a .pth file: each process begins with it
# These start compilers, installers and servers; other tests run padops/convert, too.
NOT_RUN = "csrc bench test_build_wheels.py test_documents.py test_ci.py test_pages.py"
LONGEST = 60.0  # seconds, measured, of the FEW files that are most about a line, and again of the others
FEW = 3


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    from coverage import Coverage

    os.environ[TEST] = item.nodeid.partition("[")[0]
    running = Coverage.current()
    assert running is not None
    if sys.gettrace() is None:  # a test has taken it
        running.stop()
        running.start()
    running.switch_context(os.environ[TEST])
    return (yield)


class Seconds:
    """A plugin of the process that gets all reports: how long each test function takes that passes whole."""

    def __init__(self) -> None:
        self._spent: Counter[str] = Counter()
        self._others: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid.partition("[")[0]
        self._spent[test] += report.duration
        if not report.passed:
            self._others.add(test)

    def pytest_sessionfinish(self) -> None:
        passed = {test: spent for test, spent in self._spent.items() if test not in self._others}
        (FOLDER / SECONDS).write_text(json.dumps(passed), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds())


def measure(python: Path, tree: Path, variables: Mapping[str, str]) -> None:
    """Runs the tests of a tree, on all cores, and keeps which of them ran each line.

    Args:
        python: The interpreter of an environment with STARTS in a .pth file.
        tree: The copy of the checkout.
        variables: The environment of the tests.
    """
    folder = tree / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    kept = (
        "concurrency = multiprocessing, thread",
        "parallel = true",
        "sigterm = true",
        "patch = _exit",
        f"context = ${{{TEST}}}",
    )
    settings = "\n".join(("[run]", "source = padops", *kept, f"data_file = {folder / DATA}", ""))
    (folder / SETTINGS).write_text(settings, encoding="utf-8")
    plugin, left_out = ["-p", __name__], [f"--ignore=tests/{place}" for place in NOT_RUN.split()]
    quiet = ["-q", "-n", str(os.cpu_count()), "--dist", "loadfile", "--no-loadscope-reorder"]
    started = {**variables, "COVERAGE_PROCESS_START": str(folder / SETTINGS)}
    subprocess.run([python, "-m", "pytest", *plugin, *quiet, *left_out], cwd=tree, env=started, check=False)
    subprocess.run([python, "-m", "coverage", "combine", "-q", f"--rcfile={folder / SETTINGS}"], cwd=tree, check=True)


class CoverageMap:
    """Reads what ``measure`` has kept.

    Args:
        tree: The copy of the checkout.
    """

    def __init__(self, tree: Path) -> None:
        from coverage import CoverageData

        self._data = CoverageData(str(tree / FOLDER / DATA))
        self._data.read()
        self._tree = tree
        self._seconds: dict[str, float] = json.loads((tree / FOLDER / SECONDS).read_text(encoding="utf-8"))
        self._lines = sum(map(self._lines_of, self._data.measured_files()), Counter[str]())

    def _lines_of(self, file: str) -> Counter[str]:
        """How many lines of a file each test runs."""
        return Counter(test for found in self._data.contexts_by_lineno(file).values() for test in found)

    def tests_of(self, file: str, first: int, last: int) -> list[list[str]]:
        """Return the test functions that run one of these lines: first those of a few files, then the others.

        Where a line runs only when its module is imported, those that run any line of the file.

        Args:
            file: The source, from the checkout's root.
            first: The first line's number, from 1 on.
            last: The last line's number.
        """
        contexts = self._data.contexts_by_lineno(str(self._tree / file))
        ran = {line: set(found) - {""} for line, found in contexts.items()}
        at_import = any(first <= line <= last and "" in found for line, found in contexts.items())
        found = set().union(*(tests for line, tests in ran.items() if at_import or first <= line <= last))
        about = self._lines_of(str(self._tree / file))
        shares: dict[str, list[float]] = defaultdict(list)  # of a file's tests, in the lines that each runs
        for test in found:
            shares[test.partition("::")[0]].append(about[test] / self._lines[test])
        near = sorted(shares, key=lambda place: -mean(shares[place]))[:FEW]
        quickest = sorted(found & self._seconds.keys(), key=lambda test: (self._seconds[test], test))
        # All tests of these files: a process that several tests ask counts as the test that has started it.
        close = [test for place in near for test in self._seconds if test.partition("::")[0] == place]
        others = [test for test in quickest if test.partition("::")[0] not in near]
        return [batch for batch in (self._within(close), self._within(others)) if batch]

    def _within(self, tests: list[str]) -> list[str]:
        """The first tests that together take no longer than LONGEST; at least one."""
        ends = accumulate(self._seconds[test] for test in tests)
        return [test for test, end in zip(tests, ends, strict=True) if end <= LONGEST] or tests[:1]
