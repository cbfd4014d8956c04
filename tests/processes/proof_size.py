"""What the verification of two model files, or a session of one, costs where nothing else takes memory.

``proof_size.py ORIGINAL CONVERTED`` prints a line of JSON. It reads all bytes of the folders of both first, each file
once, which says how long reading and hashing them takes at least. ``proof_size.py MODEL`` runs a session on ``[0]``.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

import numpy as np

import padops

BLOCK = 1 << 22  # bytes that are read at once


def hash_all(paths: list[Path]) -> int:
    """Reads all files in the folders of these, each once, and hashes them; gives the number of bytes."""
    count = 0
    for file in sorted({file for path in paths for file in path.parent.iterdir() if file.is_file()}):
        digest = hashlib.sha256()
        with file.open("rb") as opened:
            while block := opened.read(BLOCK):
                digest.update(block)
                count += len(block)
    return count


def main(*models: str) -> None:
    if len(models) == 1:
        session = padops.InferenceSession(models[0])
        (row,) = session.run(None, {"i": np.array([0])})
        figures = {"row": row.tolist(), "statuses": [record.status for record in session.padops_records]}
    else:
        started = time.process_time()
        count = hash_all([*map(Path, models)])
        hashed = time.process_time()
        found = padops.verify(*models)
        figures = {"verdict": found.verdict, "why": found.unproved, "bytes": count, "hashing": hashed - started}
        figures["seconds"] = time.process_time() - hashed
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    figures["peak"] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024  # megabytes
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
