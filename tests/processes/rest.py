"""Two runs that together run every test once: the first notes what has passed, the second runs all the rest.

What was left out is not noted, but what was run. So nothing is lost: a test that the first run did not have, left out,
skipped, or ran without one of the libraries that it compares with (``adapts_to``), the second one runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

WITHOUT = "without"  # a property of a report: the test ran without something that it compares with


class Passed:
    """A plugin of the process that gets all reports; writes the names of the tests that passed whole, a line each."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._passed: set[str] = set()
        self._others: set[str] = set()
        file.unlink(missing_ok=True)  # so that a run that is killed leaves no older one's

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed or WITHOUT in dict(report.user_properties):
            self._others.add(report.nodeid)
        elif report.when == "call":
            self._passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}\n" for name in sorted(self._passed - self._others)]
        self._file.write_text("".join(lines), encoding="utf-8")


def add_options(parser: pytest.Parser) -> None:
    parser.addoption("--note-passed", metavar="FILE", help="write down which tests have passed")
    parser.addoption("--without-passed", metavar="FILE", help="run all tests but those that FILE says have passed")


def configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "adapts_to(*libraries): compares with those of them that are there")
    file = config.getoption("--without-passed")
    if file and not Path(file).is_file():
        raise pytest.UsageError(f"--without-passed: there is no {file}: a run with --note-passed writes it")
    if config.getoption("--note-passed") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Passed(Path(config.getoption("--note-passed"))))


def passed_before(config: pytest.Config) -> set[str]:
    file = config.getoption("--without-passed")
    return set(Path(file).read_text(encoding="utf-8").splitlines()) if file else set()


def mark_incomplete(items: Iterable[pytest.Item], not_here: set[str]) -> None:
    for item in items:
        if any(not_here.intersection(mark.args) for mark in item.iter_markers("adapts_to")):
            item.user_properties.append((WITHOUT, True))
