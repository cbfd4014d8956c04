"""Compare padops with every other Pad on this machine: ``padops conformance`` from a checkout.

    python3 scripts/conformance.py [--quick] [--peer NAME[@PYTHON]] [--out DIR] ...

It also has the peers of scripts/isolated/, whose environments scripts/peers.py makes. It runs in the calling Python if
that has padops, else in the checkout's .venv.
"""

import importlib.util
import sys
from pathlib import Path

ISOLATED = Path(__file__).resolve().parent / "isolated"


def main(arguments: list) -> int:
    if all(importlib.util.find_spec(name) for name in ("padops", "onnx", "onnxruntime")):
        from padops.cli import main as run
        from padops.conformance.divergences import add_peers

        add_peers(ISOLATED)
        return run(["conformance", *arguments])
    import environment
    import help_first  # noqa: F401

    return environment.hand_over([environment.ensure(["conformance", "cpu"]), __file__, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
