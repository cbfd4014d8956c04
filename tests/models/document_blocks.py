"""The code blocks of README.md and docs/, and what their pages say they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([
    *(ROOT / f"{name}.md" for name in "README CONTRIBUTING SECURITY CHANGELOG".split()),
    *(ROOT / "docs").rglob("*.md"),
])  # fmt: skip
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
DATA = ("text", "json")  # languages of what is read, not run


@dataclass(frozen=True)
class Block:
    """One block of a page."""

    page: str  # from the checkout's root
    line: int  # where its code begins
    language: str
    code: str
    reason: str | None  # why it cannot run here, as a comment before it says

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language})"


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    return [
        Block(name, text.count("\n", 0, found.start("code")) + 1, found["language"], found["code"], found["reason"])
        for found in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, with the lines that the page shows below it."""
    for part in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, shown


def printed(block: Block) -> list[str]:
    """The comments behind, or below, each ``print`` of a Python block: what it prints."""
    found, printing = [], False
    for line in block.code.splitlines():
        if printing and (comment := re.match(r"# (.*)", line)):
            found.append(comment[1])
        else:
            printing = "print(" in line
            found += re.findall(r"^\s*print\(.*\)\s+# (.*)", line)
    return found


def agrees(said: str, real: str) -> bool:
    """Whether a line is the one that the page shows: any number of blanks is one, and … is anything."""
    parts = [re.escape(" ".join(part.split())) for part in said.split("…")]
    return re.fullmatch(".*".join(parts), " ".join(real.split())) is not None
