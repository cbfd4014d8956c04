"""Build the documentation into build/site, and fail over every warning: a broken link, a page that the navigation lacks.

    python3 scripts/docs.py [--serve]

It sets up a .venv with the extra ``docs``. With --serve the pages are shown at a local address and follow the sources.
"""

import sys

import environment


def main(arguments: list) -> int:
    if arguments not in ([], ["--serve"]):
        print(f"error: unknown argument: {arguments[-1]}; there is --serve", file=sys.stderr)
        return 2
    folder = environment.ensure(["docs"]).parent
    job = ["serve"] if arguments else ["build", "--strict", "--clean", "--quiet"]
    code = environment.hand_over([folder / "mkdocs", *job], environment.ROOT)
    if not code and not arguments:
        print(f"built {environment.ROOT / 'build' / 'site' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
