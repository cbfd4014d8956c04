"""The public surface is what ``tests/public_surface.txt`` says: what goes out of it, or into it, is written down.

    python tests/test_promises.py

writes the list anew, and the tables of ``docs/contributing.md``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "models"))  # as pytest has it, for the command above

import public_surface
from public_json import json_fields
from public_surface import ROOT, changes, sections_of, text_of

from padops import exits

LIST = Path(__file__).parent / "public_surface.txt"
COMMAND = "python tests/test_promises.py"
PAGE = ROOT / "docs" / "contributing.md"


@pytest.fixture(scope="module")
def names() -> dict[str, list[str]]:
    return public_surface.surface()


@pytest.fixture(scope="module")
def reports() -> dict[str, list[str]]:
    return json_fields()


def unlisted(now: dict[str, list[str]], is_json: bool) -> str:
    listed = sections_of(LIST.read_text(encoding="utf-8"))
    of_json = set(listed) - set(public_surface.SECTIONS)
    told = changes({title: rows for title, rows in listed.items() if (title in of_json) == is_json}, now)
    rest = f"{COMMAND} writes the list anew; CHANGELOG.md needs a line for users"
    return "\n".join(["the public surface has changed:", *told, rest]) if told else ""


def test_the_names_are_those_of_the_list(names: dict[str, list[str]]) -> None:
    assert tuple(names) == public_surface.SECTIONS
    assert not (told := unlisted(names, is_json=False)), told


def test_the_fields_are_those_of_the_list(reports: dict[str, list[str]]) -> None:
    assert not (told := unlisted(reports, is_json=True)), told


def test_the_list_is_in_order(names: dict[str, list[str]], reports: dict[str, list[str]]) -> None:
    assert LIST.read_text(encoding="utf-8") == text_of(names | reports), f"{COMMAND} writes it anew"


def tables(reports: dict[str, list[str]]) -> dict[str, str]:
    titles = [title.removeprefix("JSON of padops ").split(", ") for title in reports]
    schemas = {title[0]: title[1].removeprefix("schema ") for title in titles if len(title) > 1}
    rows = "".join(f"| `padops {name}` | {number} |\n" for name, number in schemas.items())
    return {"schemas": f"| JSON of | schema |\n|---|--:|\n{rows}"}


def parts(page: str, mark: str) -> tuple[str, str, str]:
    begin, end = f"<!-- {mark} -->\n", f"<!-- /{mark} -->"
    before, _, rest = page.partition(begin)
    within, _, behind = rest.partition(end)
    return before + begin, within, end + behind


def test_the_page_has_the_numbers(reports: dict[str, list[str]]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for mark, table in tables(reports).items():
        assert parts(page, mark)[1] == table, f"{COMMAND} writes the tables of {PAGE.name} anew"


def test_the_page_names_what_there_is(names: dict[str, list[str]]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    codes = page.partition("### Exit codes")[2].partition("\n### ")[0]
    numbers = [str(code) for name, code in vars(exits).items() if isinstance(code, int)]
    assert re.findall(r"^\| (\d+) \|", codes, re.M) == numbers
    variables = page.partition("### Environment variables")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([A-Z_]+)`", variables, re.M)) == names["environment variables"]
    entries = [line.split()[1] for line in names["execution providers and session configuration"] if "entry " in line]
    assert len(entries) == 4 and [entry for entry in entries if f"`{entry}`" not in page] == []


if __name__ == "__main__":
    found = json_fields()
    LIST.write_text(text_of(public_surface.surface() | found), encoding="utf-8")
    for name, rows in tables(found).items():
        head, _, tail = parts(PAGE.read_text(encoding="utf-8"), name)
        PAGE.write_text(head + rows + tail, encoding="utf-8")
