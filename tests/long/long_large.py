"""Every mode, width and shape of rows with 64 MB, and each mode with 256 MB."""

from __future__ import annotations

from itertools import product

import large_pads

PACKED = 8  # megabytes of elements smaller than a byte, of which NumPy makes one a byte


def test_large_pads(tally) -> None:
    cases = [
        (mode, type_name, layout, PACKED if "int" in type_name and type_name != "uint8" else 64)
        for mode, type_name, layout in product(large_pads.MODES, large_pads.TYPES, large_pads.LAYOUTS)
    ]
    tally("Pads of 64 MB (4 and 2 bits: 8 MB), each mode, width and shape of rows", len(cases), harmed(cases))


def test_largest_pads(tally) -> None:
    cases = [(mode, "float", layout, 256) for mode, layout in product(large_pads.MODES, ("rows", "parts"))]
    tally("Pads of 256 MB, each mode, rows whole and in parts", len(cases), harmed(cases))


def harmed(cases: list[tuple[str, str, str, int]]) -> int:
    said = list(filter(None, (large_pads.harm(*case) for case in cases)))
    print(*said, sep="\n")
    return len(said)
