"""Lines for rich's consoles."""

from __future__ import annotations

from typing import Any

from rich import text

from padops.terminal import shown


class Text(text.Text):
    """rich's, of one line: each part is as ``shown`` gives it; rich itself would drop some characters and let others through."""

    def __init__(self, text: str = "", *style: Any, **how: Any) -> None:
        super().__init__(shown(text), *style, **how)

    def append(self, text: Any, style: Any = None) -> Text:
        """As rich's.

        Args:
            text: What is added, a string or another text.
            style: Of a string.
        """
        super().append(shown(text) if isinstance(text, str) else text, style)
        return self
