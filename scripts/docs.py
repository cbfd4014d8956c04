"""Build the documentation into build/site; fail on every warning, and on files that a page would fetch from the
network.

    python3 scripts/docs.py [--serve]

It sets up a .venv with the extra ``docs``. A warning is a broken link or anchor, or a page that the navigation lacks.
With --serve, a local server shows the pages and follows the sources.
"""

import os
import re
import sys
from pathlib import Path

import environment
import help_first  # noqa: F401

SITE = environment.ROOT / "build" / "site"
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=\"?((?:https?:)?//[^\"\s>]+)")


def main(arguments: list) -> int:
    if arguments not in ([], ["--serve"]):
        print(f"error: unknown argument: {arguments[-1]}; there is --serve", file=sys.stderr)
        return 2
    folder = environment.ensure(["docs"]).parent
    os.environ["NO_MKDOCS_2_WARNING"] = "1"  # the theme's advertisement of its successor
    if arguments:
        return environment.hand_over([folder / "mkdocs", "serve"], environment.ROOT)
    code = environment.hand_over([folder / "mkdocs", "build", "--strict", "--clean"], environment.ROOT)
    if code:
        return code
    found = fetched(SITE)
    for page, address in found:
        print(f"error: {page} fetches {address}", file=sys.stderr)
    print("{} pages in {}".format(len(list(SITE.rglob("*.html"))), SITE))
    return 1 if found else 0


def fetched(site: Path) -> list:
    """Lists the addresses that pages load by themselves, with their pages: a reader may have no network."""
    pages = sorted(site.rglob("*.html"))
    return [(page.relative_to(site), at) for page in pages for at in FETCHED.findall(page.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
