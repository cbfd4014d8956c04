"""docs/reliability.md: each row's command runs the test that wrote the row, and no other."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from padops.conformance.peers import PEERS, STAMP

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--override-ini", "python_files=long_*.py"]


def commands() -> list[list[str]]:
    """The words of the command of each row."""
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    text = text[: text.index("<!-- /reliability table -->")]
    return [shlex.split(command) for command in re.findall(r"^\|.*\| `(.*)` \|$", text, re.MULTILINE)]


def test_each_row_names_a_test_of_its_own(tmp_path: Path) -> None:
    # Where an environment is absent, its tests are left out.
    for name in (row.environment for row in PEERS.values() if row.isolated):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / STAMP).write_text("{}")
    listed = subprocess.run(
        [*PYTEST, "--collect-only", "-q", "tests/long"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PADOPS_ENVIRONMENTS": str(tmp_path)},
    )
    tests = listed.stdout.splitlines()
    assert listed.returncode == 0 and "tests/long/long_files.py::test_a_full_disk" in tests, listed.stdout
    nodes = []
    for program, long, node in commands():
        assert (program, long) == ("scripts/test.py", "--long")
        nodes.append(node)
    assert nodes and len(set(nodes)) == len(nodes)
    assert set(nodes) - set(tests) == set()


@pytest.mark.parametrize(("harmed", "code"), [(0, 0), (1, 1)])
def test_a_row_is_written_in_the_place_of_the_one_before(harmed: int, code: int, tmp_path: Path) -> None:
    folder, document = tmp_path / "tests" / "long", tmp_path / "docs" / "reliability.md"
    folder.mkdir(parents=True)
    document.parent.mkdir()
    shutil.copy(ROOT / "tests" / "long" / "conftest.py", folder)
    (folder / "long_x.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('kind', ['in place'])\n"
        f"def test_y(tally, kind): tally('much', 1200, {harmed})\n"
    )
    head = "<!-- reliability table -->\n| tried | count | harmed | seconds | command |\n|---|--:|--:|--:|---|\n"
    rows = "| little | 1 | 0 | 2 | `a` |\n", "| much | 3 | 0 | 4 | `b` |\n", "| more | 5 | 0 | 6 | `c` |\n"
    document.write_text(f"before\n{head}{''.join(rows)}<!-- /reliability table -->\nafter\n")
    command = [*PYTEST, "--rootdir", tmp_path, "--record", "tests/long"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == code, ran.stdout + ran.stderr
    row = f"| much | 1,200 | {harmed} | 0 | `scripts/test.py --long 'tests/long/long_x.py::test_y[in place]'` |\n"
    expected = f"before\n{head}{rows[0]}{row}{rows[2]}<!-- /reliability table -->\nafter\n"
    assert document.read_text() == expected
