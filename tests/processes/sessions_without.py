"""Sessions where the packages of an extra are not installed.

    python sessions_without.py EXTRA FOLDER

makes a ``padops.InferenceSession`` of each model in a folder of models with their inputs, in a process that cannot
import what the extra brings, runs it, and prints a line of JSON: for each the bytes of its first output in hexadecimal
digits, or the class of the error and its text.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from padops.extras import EXTRAS


class Absent:
    """The packages, to whoever imports them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self._names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main(extra: str, folder: str) -> None:
    sys.meta_path.insert(0, Absent(EXTRAS[extra]))  # type: ignore[arg-type]  # it finds nothing
    import numpy as np
    import onnxruntime

    import padops

    logging.disable()
    told = {}
    for path in sorted(Path(folder).glob("*/m.onnx")):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        try:
            with np.load(path.parent / "inputs.npz") as inputs:
                output = padops.InferenceSession(path, options).run(None, dict(inputs))[0]
            told[path.parent.name] = ["output", output.tobytes().hex()]
        except Exception as error:
            told[path.parent.name] = [type(error).__name__, str(error)]
    assert not set(EXTRAS[extra]) & set(sys.modules), "something of the extra was imported"
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
