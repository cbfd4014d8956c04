"""Convert the Pads of a model: ``padops convert`` from a checkout.

    python3 scripts/convert.py IN -o OUT [--verify] [--dry-run] [--report FILE.json] ...

It runs in the calling Python if that has padops, else in the checkout's .venv.
"""

import importlib.util
import sys


def main(arguments: list) -> int:
    if all(importlib.util.find_spec(name) for name in ("padops", "onnx_ir")):
        from padops.cli import main as run

        return run(["convert", *arguments])
    import environment
    import help_first  # noqa: F401

    return environment.hand_over([environment.ensure(["convert", "cpu"]), "-m", "padops", "convert", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
