"""A hook of mkdocs: what the pages need so that a phone shows the whole of a table, and names break where words end.

The style sheet stacks the rows of a table that has ``data-stacked``: each cell shows the heading of its column, which
``data-label`` holds. ``docs/style.css`` has the widths.
"""

import html as markup
import re

STACKED = 4  # tables of so many columns do not fit beside each other on a phone
TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td\b([^>]*)>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
OPTION = re.compile(r"<code>(--?[^\s<]+)")
NAME = re.compile(r"(?<=<code>)[\w.]+(?=[<(])")


def on_page_content(html: str, **_: object) -> str:
    """The page with labels in wide tables, unbroken options, and dotted names that break behind their dots."""
    html = TABLE.sub(lambda found: _labelled(found[1]), html)
    html = OPTION.sub(r'<code><span class="option">\1</span>', html)
    return NAME.sub(lambda found: found[0].replace(".", ".<wbr>"), html)


def _labelled(rows: str) -> str:
    """A table; if it is wide, each cell has its column's heading."""
    headings = [markup.unescape(TAG.sub("", heading)).strip() for heading in HEADING.findall(rows)]
    if len(headings) < STACKED:
        return f"<table>{rows}</table>"

    def label(row: re.Match) -> str:
        left = iter(headings)

        def made(cell: re.Match) -> str:
            return f'<td data-label="{markup.escape(next(left, ""))}"{cell[1]}><div>{cell[2]}</div></td>'

        return CELL.sub(made, row[0])

    return f"<table data-stacked>{ROW.sub(label, rows)}</table>"
