"""What the verification of two model files costs, in a process where nothing else takes memory.

``python tests/processes/proof_size.py ORIGINAL CONVERTED``: a line of JSON. It reads all bytes of the folders of both
first, each file once, which says how long reading and hashing them takes at least.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path

import padops

BLOCK = 1 << 22  # bytes that are read at once


def megabytes(name: str) -> float:
    """A figure of this process: ``VmHWM`` is the most memory that it has had, ``VmRSS`` what it has."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


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


def main(original: str, converted: str) -> None:
    started = time.process_time()
    count = hash_all([Path(original), Path(converted)])
    hashed = time.process_time()
    before = megabytes("VmRSS")
    verification = padops.verify(original, converted)
    seconds = time.process_time() - hashed
    figures = {"verdict": verification.verdict, "why": verification.unproved, "bytes": count}
    figures |= {"hashing": hashed - started, "seconds": seconds, "before": before, "peak": megabytes("VmHWM")}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
