"""Lines for rich's consoles."""

from __future__ import annotations

from typing import Any

from rich import text

from padops.terminal import shown


class Text(text.Text):
    """rich's Text in one line, each part escaped by ``shown``; rich itself drops some characters and keeps others."""

    def __init__(self, text: str = "", *style: Any, **how: Any) -> None:
        super().__init__(shown(text), *style, **how)

    def append(self, text: Any, style: Any = None) -> Text:
        """Appends a string or a Text, as rich's method does."""
        super().append(shown(text) if isinstance(text, str) else text, style)
        return self
