"""Writes cases of the conformance suite with the outputs that the rules give, for ``tests/cpp/replay.cpp``.

    write_cases.py FILE [--quick]

Each case is there as an operator of padops. Those that ONNX has, and that have an output, are there a second time, as
they are, for the execution provider; but for those that ONNX Runtime is known to refuse before it asks the provider.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from padops.conformance import cases
from padops.conformance.arrays import pack
from padops.conformance.divergences import KNOWN
from padops.conformance.features import Prepared, expect
from padops.conformance.model import feeds, make_model
from padops.conformance.peers.request import Request
from padops.spec.dtypes import dtype_of

MAGIC = "padops cases"


def main(arguments: list[str]) -> int:
    chosen = cases.collect("quick" if "--quick" in arguments else "default")
    print(f"wrote {write(Path(arguments[0]), chosen)} cases")
    return 0


def write(path: Path, chosen: Iterable[Request]) -> int:
    """Writes the file; gives how many cases it holds."""
    records = [record for case in chosen for record in records_of(case)]
    path.write_bytes(blob(MAGIC.encode()) + b"".join(records))
    return len(records)


def records_of(case: Request) -> Iterator[bytes]:
    """The case as an operator of padops and, where it is one for the execution provider, as it is."""
    expected = expect(case)
    yield record(case, False, expected.output, f"[{expected.rule}]")
    refused = any(row.matches(Prepared.of(case)) for row in KNOWN if row.peer == "padops-provider")
    if case.opset and expected.output is not None and not refused:
        yield record(case, True, expected.output, "")


def record(case: Request, provider: bool, output: np.ndarray | None, error: str) -> bytes:
    model = make_model(case, standard=provider).SerializeToString()
    fed = feeds(case)
    parts = [blob(case.id.encode()), numbers(case.dtype.since, provider), blob(model), numbers(len(fed))]
    parts += [tensor(name, array) for name, array in fed.items()]
    parts += [blob(error.encode())] if output is None else [blob(b""), tensor("output", output)]
    return b"".join(parts)


def numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def blob(content: bytes) -> bytes:
    return numbers(len(content)) + content


def tensor(name: str, array: np.ndarray) -> bytes:
    packed = pack(array)
    assert packed is not None
    head = blob(name.encode()) + numbers(dtype_of(array).ort, array.ndim, *array.shape)
    if packed[0] == "string":
        return head + numbers(len(packed[2])) + b"".join(blob(text.encode()) for text in packed[2])
    return head + blob(packed[2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
