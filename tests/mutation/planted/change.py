"""One break in one source file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Change:
    """Other text in the place of some.

    Attributes:
        file: The path from the checkout's root, with slashes.
        start: Where the text begins that is replaced, in characters of the file.
        end: Where it ends.
        text: What stands there instead.
        kind: What was done, such as ``"comparison"``.
    """

    file: str
    start: int
    end: int
    text: str
    kind: str

    def applied(self, source: str) -> str:
        """The file's text with the break in it."""
        return source[: self.start] + self.text + source[self.end :]

    def line(self, source: str) -> int:
        """The number of the line that it begins in, from 1 on."""
        return source.count("\n", 0, self.start) + 1

    def lines(self, source: str) -> tuple[str, str]:
        """The lines that it touches, as they are and as they become, each in one line without indentation."""
        first = source.rfind("\n", 0, self.start) + 1
        last = source.find("\n", self.end)
        last = len(source) if last < 0 else last
        became = source[first : self.start] + self.text + source[self.end : last]
        return " ".join(source[first:last].split()), " ".join(became.split())
